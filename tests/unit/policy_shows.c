/* SPDX-License-Identifier: Apache-2.0 */
/* ward_policy_shows_all(): where it says yes, no rule hides the path or anything beneath it. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/policy/policy.h"
#include "tests/support/policies.h"
#include "tests/support/suite.h"

#define HEAD "[policy]\nversion = 1\n"
#define NAMES "abc"
#define DEPTH 4U

static bool shows_all(const struct ward_policy *p, const char *path)
{
	const struct ward_state *s = policy_walk(p, path);
	bool all = ward_policy_shows_all(s);
	ward_policy_state_put(p, s);
	return all;
}

/* Is the path seen, whatever stands there? */
static bool seen(const struct ward_policy *p, const char *path)
{
	const struct ward_state *s = policy_walk(p, path);
	bool every = true;
	for (unsigned f = 0; f < WARD_FACT_OWN && every; f++) {
		const struct ward_request req = {.action = WARD_ACTION_ACCESS,
			.rights = WARD_RIGHT_STAT,
			.state = s,
			.fact = (enum ward_fact)f};
		every = ward_policy_decide(p, &req, NULL).verdict == WARD_VERDICT_ALLOW;
	}
	ward_policy_state_put(p, s);
	return every;
}

/* Everything that can be named beneath path (room for more) with a few names. */
static bool seen_beneath(const struct ward_policy *p, char *path, unsigned depth)
{
	const size_t len = strlen(path);
	bool every = seen(p, path);
	for (const char *n = NAMES; *n && depth && every; n++) {
		path[len] = '/';
		path[len + 1] = *n;
		path[len + 2] = 0;
		every = seen_beneath(p, path, depth - 1);
	}
	path[len] = 0;
	return every;
}

START_TEST(where_rules_can_hide)
{
	struct ward_policy *p = policy_of(HEAD
		"[files]\nread = /w\nwrite = /w/open\nhide = /w/half/*/key\ndeny = /w/shut\n"
		"ask = /w/open/a\nhide = /w/gone\nread = /w/gone/back\n[guard]\nread = *.git\n");
	static const struct {
		const char *path;
		bool all;
	} want[] = {{"/w/open", true}, {"/w/open/a", true}, {"/w/shut", true},
		{"/w/gone/back", true}, {"/w/half", false}, {"/w/half/x", false},
		{"/w/half/x/y", true}, {"/w", false}, {"/w/gone", false}, {"/", false},
		{"/elsewhere", false}};
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		ck_assert_msg(shows_all(p, want[i].path) == want[i].all, "%s", want[i].path);
	ward_policy_unref(p);
	p = policy_of(HEAD "[files]\nwrite = /w\nhide = *.pem\n");
	ck_assert(!shows_all(p, "/w"));
	ward_policy_unref(p);
	p = policy_of(HEAD "[files]\nwrite = /w\n[guard]\nsecret = .env\n");
	ck_assert(!shows_all(p, "/w"));
	ward_policy_unref(p);
}
END_TEST

static void add_rules(char *text, const char *section, unsigned n, unsigned first)
{
	static const char *const verbs[] = {
		"write", "read", "deny", "ask", "append", "hide", "secret"};
	strcat(text, section);
	for (unsigned i = 0; i < n; i++) {
		sprintf(text + strlen(text), "%s = ", verbs[first + rnd((rnd(3) ? 5 : 7) - first)]);
		for (unsigned k = 0, m = 1 + rnd(3), floats = !rnd(5); k < m; k++) {
			static const char *const parts[] = {"a", "b", "c", "?", "**", "[ab]"};
			sprintf(text + strlen(text), "%s%s", k || !floats ? "/" : "",
				parts[rnd(k + 1 < m ? 6 : 4)]);
		}
		strcat(text, "\n");
	}
}

START_TEST(yes_is_never_wrong)
{
	unsigned yes = 0, no = 0, hidden = 0;
	for (unsigned round = 0; round < SUITE_ROUNDS(3000); round++) {
		char text[1024] = HEAD;
		add_rules(text, "[files]\nwrite = /a\nwrite = /b\n", rnd(5), 0);
		add_rules(text, "[guard]\n", rnd(3), 1);
		struct ward_policy *p = policy_of(text);
		for (unsigned i = 0; i < 8; i++) {
			char path[32] = "";
			for (unsigned k = 0, n = 1 + rnd(2); k < n; k++)
				sprintf(path + strlen(path), "/%c", NAMES[rnd(3)]);
			const bool all = shows_all(p, path), every = seen_beneath(p, path, DEPTH);
			ck_assert_msg(!all || every, "%s:\n%s", path, text);
			yes += all;
			no += !all;
			hidden += !every;
		}
		ward_policy_unref(p);
	}
	/* Both were met, and most of what says no does hide something. */
	ck_assert_uint_gt(yes, no / 20);
	ck_assert_uint_gt(hidden, no / 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_shows");
	TCase *t = tcase_create("all");
	tcase_set_timeout(t, 280);
	tcase_add_test(t, where_rules_can_hide);
	tcase_add_test(t, yes_is_never_wrong);
	suite_add_tcase(s, t);
	return suite_run(s);
}
