/* SPDX-License-Identifier: Apache-2.0 */
/* Which container engines this host has: where, which version, and what wardfs can use each for. */
#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/cli/doctor/doctor.h"
#include "enforcer/container/container.h"

#define VERSION_MAX 48

/* "runc version 1.1.5+ds1", "Docker version 20.10.24, build 1", "kata-runtime  : 3.2.0": what is
 * behind the last of these words. */
static int version(const char *program, char ret[VERSION_MAX])
{
	ward_cleanup(ward_buf_clear) struct ward_buf said = WARD_BUF_INIT;
	char text[256];
	const struct ward_engine_question q = {
		.program = program, .word = "--version", .uid = geteuid(), .gid = getegid()};
	int r = ward_engine_ask(&q, &said);
	if (r < 0)
		return r;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(ward_buf_str(&said), "\n"),
		ward_buf_str(&said));
	const char *at = strstr(text, "version ");
	at = at ? at + strlen("version ") : strchr(text, ':');
	at = at ? at + strspn(at, ": ") : "";
	size_t n = 0;
	while (n + 1 < VERSION_MAX &&
		(isalnum((unsigned char)at[n]) || (at[n] && strchr(".+~-", at[n]))))
		n++;
	snprintf(ret, VERSION_MAX, "%.*s", (int)n, at);
	return n ? 0 : -ENOMSG;
}

static void check(const struct ward_engine *e, struct ward_check *c)
{
	ward_cleanup(ward_engine_found_clear) struct ward_engine_found f = WARD_ENGINE_FOUND_INIT;
	struct ward_err why = WARD_ERR_INIT;
	char number[VERSION_MAX] = "";
	snprintf(c->own_name, sizeof(c->own_name), "engine %s", ward_engine_word(e));
	c->name = c->own_name;
	int r = ward_engine_locate(e, &f, &why);
	if (r == -ENOENT) {
		ward_check_say(c, WARD_CHECK_OPTIONAL,
			"to use it with mode docker or wardfs-oci, install it", "not installed");
		return;
	}
	if (r < 0) {
		ward_check_say(c, WARD_CHECK_UNUSABLE, NULL, "%s", why.text);
		return;
	}
	r = version(f.program, number);
	/* podman looks itself up before it answers anything. */
	if (r < 0 && r != -ETIMEDOUT && !getpwuid(geteuid()))
		ward_check_say(c, WARD_CHECK_UNUSABLE,
			"run wardfs as a user of the host, or add an entry for this uid",
			"%s does not run for uid %u, which has no entry in /etc/passwd", f.program,
			(unsigned)geteuid());
	else if (r < 0)
		ward_check_say(c, WARD_CHECK_UNUSABLE, "reinstall it", "%s --version %s", f.program,
			r == -ETIMEDOUT ? "does not return" : "does not print a version");
	else if (ward_engine_why_not(e))
		ward_check_say(c, WARD_CHECK_UNUSABLE, ward_engine_instead(e),
			"%s, version %s: not for mode docker: %s", f.program, number,
			ward_engine_why_not(e));
	else
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"%s, version %s: for mode docker and for wardfs-oci", f.program, number);
}

size_t ward_check_engines(struct ward_check ret[WARD_CHECK_ENGINES_MAX])
{
	const struct ward_engine *e = NULL;
	size_t n = 0;
	size_t usable = 0;
	for (; n < WARD_CHECK_ENGINES_MAX && (e = ward_engine_at(n)); n++) {
		check(e, &ret[n]);
		usable += ret[n].status == WARD_CHECK_OK;
	}
	if (n && !usable && !ret[0].fix)
		ret[0].fix = "apt-get install runc (or crun, runsc); mode docker alone needs one";
	return n;
}
