/* SPDX-License-Identifier: Apache-2.0 */
/* Names the symbolic links in the project at hand that lead past rules. */
#include "enforcer/cli/policy/check_links.h"

#include <errno.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/explain.h"
#include "enforcer/session/tree/links_above.h"

/* Levels of directories; each holds a descriptor. */
#define DEPTH_MAX 16

struct told {
	ward_finding_fn fn;
	void *user;
};

static int say(void *user, const char *path, const struct ward_rule *rule)
{
	const struct told *t = user;
	ward_cleanup(ward_buf_clear) struct ward_buf what = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	ward_rule_text(rule, &what);
	ward_buf_printf(&why,
		"%s is a symbolic link: programs of the host that follow it find what the link "
		"leads to, and the rule does not hold there",
		path);
	int r = ward_buf_error(&what);
	if (r == 0)
		r = ward_buf_error(&why);
	if (r < 0)
		return r;
	const struct ward_finding f = {.file = rule->file,
		.line = rule->line,
		.what = ward_buf_str(&what),
		.why = ward_buf_str(&why),
		.fix = "name what the link leads to in a rule as well, or make it a directory"};
	t->fn(t->user, &f);
	return 0;
}

int ward_check_links(const struct ward_policy_place *place, const struct ward_policy *p,
	ward_finding_fn fn, void *user)
{
	static const struct ward_links_bounds most = {DEPTH_MAX, WARD_CHECK_LINKS_MAX};
	struct told t = {fn, user};
	bool all = true;
	if (!place->in_project)
		return 0;
	int r = ward_links_above(p, place->project.fd, "/workspace", &most, say, &t, &all);
	if (r == 0 && !all) {
		const struct ward_finding f = {.note = true,
			.file = place->project.path,
			.what = "symbolic links",
			.why = "the project has many files: not all were looked at",
			.fix = ""};
		fn(user, &f);
	}
	return r;
}
