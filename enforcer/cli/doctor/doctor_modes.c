/* SPDX-License-Identifier: Apache-2.0 */
/* What of the modes works on this host: each is tried as a whole. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/doctor/doctor.h"
#include "enforcer/modes/modes.h"
#include "enforcer/session/guard/helper.h"

static int wait_for_exit(struct ward_confined *c)
{
	/* Ten seconds at most: `true` waits for nothing. */
	for (int i = 0; i < 1000; i++) {
		struct ward_sandbox_event ev;
		int r = ward_mode_next(c, &ev);
		if (r < 0)
			return r;
		if (ev.kind == WARD_SANDBOX_EXITED)
			return ev.value == 0 ? 0 : -EIO;
		if (ev.kind != WARD_SANDBOX_NOTHING && ev.kind != WARD_SANDBOX_STOPPED)
			return -EIO;
		usleep(10000);
	}
	return -ETIMEDOUT;
}

/* One tree, no helpers, running `true`. failed: what the line says where that cannot be. */
static void try_mode(const struct ward_mode *m, enum ward_check_status failed, struct ward_check *c)
{
	ward_cleanup_free char *init = NULL;
	char name[] = "true", path[] = "PATH=/usr/bin:/bin";
	char *argv[] = {name, NULL}, *envp[] = {path, NULL};
	struct ward_err err = WARD_ERR_INIT;
	struct ward_confined *confined = NULL;
	bool root = geteuid() == 0;
	struct ward_sandbox_tree tree = {.path = "/workspace"};
	if (ward_helper_program("wardfs-init", &init, &err) < 0) {
		ward_check_say(c, failed, "install all of wardfs (meson install)", "%s", err.text);
		return;
	}
	/* As root the command gets the id of nobody: any id but 0 tests the mode. */
	uid_t uid = root ? 65534 : geteuid();
	gid_t gid = root ? 65534 : getegid();
	struct ward_sandbox_spec spec = {.init_program = init,
		.root = root,
		.owner_uid = uid,
		.owner_gid = gid,
		.agent_uid = uid,
		.agent_gid = gid,
		.user_name = "doctor",
		.hostname = "doctor",
		.trees = &tree,
		.n_trees = 1,
		.tmp_bytes = WARD_UNLIMITED,
		.processes = WARD_UNLIMITED,
		.open_files = WARD_UNLIMITED,
		.file_size = WARD_UNLIMITED,
		.seccomp = WARD_SECCOMP_DEFAULT,
		.argv = argv,
		.envp = envp,
		.cwd = "/",
		.stdio = {-1, -1, -1}};
	int r = ward_mode_create(m, &spec, &confined, &err);
	struct ward_probe_result probes[WARD_PROBE_COUNT_];
	enum ward_probe_verdict verdicts[WARD_PROBE_COUNT_];
	if (r == 0)
		r = ward_mode_probe(confined, probes, verdicts, &err);
	if (r == 0)
		r = ward_mode_start(confined, &err);
	if (r == 0)
		r = wait_for_exit(confined);
	ward_mode_free(confined);
	if (r == 0)
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"a sandbox with a tree ran `true`; its probes succeeded");
	else
		ward_check_say(c, failed, "see the lines above", "%s",
			err.text[0] ? err.text : strerror(-r));
}

/* The programs that the mode starts exist, and its walls work. */
static void try_runtime(const struct ward_mode *m, struct ward_check *c)
{
	ward_cleanup(ward_mode_found_clear) struct ward_mode_found found = WARD_RUNTIME_FOUND_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	struct ward_err why = WARD_ERR_INIT;
	ward_cleanup_free char *own = NULL;
	if (ward_helper_program("", &own, &why) < 0) {
		ward_check_say(c, WARD_CHECK_UNUSABLE, NULL, "%s", why.text);
		return;
	}
	const struct ward_mode_host h = {
		.home = getenv("HOME"), .path = getenv("PATH"), .own = own};
	if (ward_mode_look(m, &h, &found, &text, &why) < 0) {
		ward_check_say(c, WARD_CHECK_UNUSABLE, NULL, "%s", why.text);
		return;
	}
	try_mode(m, WARD_CHECK_UNUSABLE, c);
	if (found.program && c->status == WARD_CHECK_OK)
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"a sandbox with a tree ran `true`; its probes succeeded; %s %s%s",
			m->takes & WARD_TAKES_ENGINE ? "the engine is" : "scripts run under",
			found.program, ward_buf_str(&text));
}

void ward_check_whole(struct ward_check *c)
{
	try_mode(ward_mode_find(WARD_DEFAULT_MODE), WARD_CHECK_MISSING, c);
}

size_t ward_check_modes(struct ward_check ret[WARD_CHECK_MODES_MAX])
{
	size_t n = 0;
	for (const struct ward_mode *m = ward_modes; m->word && n < WARD_CHECK_MODES_MAX; m++) {
		struct ward_check *c = &ret[n++];
		struct ward_err why = WARD_ERR_INIT;
		snprintf(c->own_name, sizeof(c->own_name), "mode %s", m->word);
		c->name = c->own_name;
		if (ward_mode_usable(m, &why) < 0)
			ward_check_say(c, WARD_CHECK_UNUSABLE, NULL, "%s", why.text);
		else if (m->strictness == 0)
			ward_check_say(c, WARD_CHECK_OK, NULL,
				"picks one of the modes that work here; wardfs risk shows which");
		else
			try_runtime(m, c);
	}
	return n;
}
