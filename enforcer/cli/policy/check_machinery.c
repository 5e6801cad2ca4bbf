/* SPDX-License-Identifier: Apache-2.0 */
/* Looks whether this host has what a policy needs. */
#include "enforcer/cli/policy/check_machinery.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/doctor/doctor.h"
#include "enforcer/cli/run/run_dry.h"

/* "FILE:LINE: [section] key = value" of struct ward_settings. */
static int say_unavailable(const char *entry, ward_finding_fn fn, void *user)
{
	const char *what = strstr(entry, ": [");
	unsigned line = 0;
	ward_cleanup_free char *file = what ? strndup(entry, (size_t)(what - entry)) : strdup("");
	char *number = file ? strrchr(file, ':') : NULL;
	if (!file)
		return -ENOMEM;
	if (number && sscanf(number + 1, "%u", &line) == 1)
		*number = 0;
	const struct ward_finding f = {.file = file,
		.line = line,
		.what = what ? what + 2 : entry,
		.why = "wardfs does not enforce this yet, so 'wardfs run' refuses the policy",
		.fix = "take the line out; wardfs-policy(5) says which values work"};
	fn(user, &f);
	return 0;
}

struct missing {
	const char *file; /* of the base */
	ward_finding_fn fn;
	void *user;
};

static void say_missing(const struct missing *m, const char *why, const char *fix)
{
	const struct ward_finding f = {
		.file = m->file, .what = "this host", .why = why, .fix = fix};
	m->fn(m->user, &f);
}

/* What the rehearsal does not come to: a line of `wardfs doctor` each. Returns whether all is
 * there.
 */
static bool try_lines(const struct missing *m, const struct ward_settings *s)
{
	struct ward_check c[2] = {{.name = "/dev/fuse"}, {.name = "the system's writer"}};
	const size_t n = s->writer == WARD_WRITER_SYSTEM ? 2 : 1;
	bool all = true;
	ward_check_device(&c[0]);
	if (n == 2)
		ward_check_audit_writer(&c[1]);
	for (size_t i = 0; i < n; i++) {
		if (c[i].status == WARD_CHECK_OK)
			continue;
		all = false;
		say_missing(m, c[i].tried, c[i].fix);
	}
	return all;
}

int ward_check_machinery(const struct ward_policy_place *place, const char *policy,
	const struct ward_policy *p, ward_finding_fn fn, void *user)
{
	const struct ward_settings *s = ward_policy_settings(p);
	struct ward_source_text base = {.file = "policy"};
	struct ward_err err = WARD_ERR_INIT;
	int r = 0;
	for (size_t i = 0; r == 0 && i < s->unavailable.n; i++)
		r = say_unavailable(s->unavailable.v[i], fn, user);
	if (r < 0 || s->unavailable.n || !place->in_project)
		return r;
	(void)!ward_policy_source(p, WARD_SOURCE_BASE, &base);
	const struct missing m = {base.file, fn, user};
	(void)!ward_out_flush(); /* children would print it once more */
	if (!try_lines(&m, s))
		return 0;
	r = ward_run_dry_try(policy, &err);
	/* The other checks report faults of the policy itself. */
	if (r < 0 && r != -EINVAL && r != -ENOENT && r != -ENOMEM)
		say_missing(&m, err.text,
			strstr(err.text, "fix: ") ? NULL : "wardfs doctor tells what is missing");
	return r == -ENOMEM ? r : 0;
}
