/* SPDX-License-Identifier: Apache-2.0 */
/* Tells of what is odd about a policy. */
#include "enforcer/policy/check_say.h"

#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/explain.h"

static void say(const struct ward_checker *c, const char *file, unsigned line, const char *what,
	const char *why, const char *fix)
{
	const struct ward_finding f = {.about = c->about,
		.file = file,
		.line = line,
		.what = what,
		.why = why,
		.fix = fix};
	c->fn(c->user, &f);
}

void ward_checker_say_rule(
	const struct ward_checker *c, const struct ward_rule *r, const char *why, const char *fix)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_rule_text(r, &b);
	say(c, r->file, r->line, ward_buf_str(&b), why, fix);
}

void ward_checker_say_entry(
	const struct ward_checker *c, const struct ward_entry *e, const char *why, const char *fix)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_entry_name(&b, e);
	ward_buf_printf(&b, " = %s", e->value);
	say(c, e->file, e->line, ward_buf_str(&b), why, fix);
}

bool ward_checker_lies_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);
	while (n > 1 && dir[n - 1] == '/')
		n--;
	if (n == 1 && *dir == '/')
		return *path == '/';
	return strncmp(path, dir, n) == 0 && (path[n] == '/' || !path[n]);
}

int ward_checker_rights(const struct ward_policy *p, const char *path, struct ward_decision *ret)
{
	const struct ward_state *s = NULL;
	int r = ward_policy_walk(p, path, strlen(path), &s);
	if (r < 0)
		return r;
	const struct ward_request req = {
		.action = WARD_ACTION_ACCESS, .rights = WARD_RIGHT_WRITE, .state = s};
	*ret = ward_policy_decide(p, &req, NULL);
	ward_state_put(s);
	return 0;
}
