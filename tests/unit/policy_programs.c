/* SPDX-License-Identifier: Apache-2.0 */
/* [process] exec: what a list of programs decides, and what two lists allow together. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/policy.h"
#include "tests/support/policies.h"
#include "tests/support/suite.h"

#define HEAD "[policy]\nversion = 1\n"
#define FILES "[files]\nwrite = /workspace\n"

static int compile(
	const char *base, const char *floor, struct ward_policy **ret, struct ward_err *err)
{
	struct ward_source_text s[] = {{.kind = WARD_SOURCE_BASE, .file = "base", .text = base},
		{.kind = WARD_SOURCE_FLOOR, .file = "floor", .text = floor}};
	s[0].len = strlen(base);
	s[1].len = floor ? strlen(floor) : 0;
	return ward_policy_compile(s, floor ? 2 : 1, ret, err);
}

static struct ward_policy *both(const char *base, const char *floor)
{
	struct ward_policy *p = NULL;
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_msg(compile(base, floor, &p, &err) == 0, "%s", err.text);
	return p;
}

static enum ward_listed listed(const struct ward_policy *p, const char *path)
{
	const struct ward_state *s = policy_walk(p, path);
	enum ward_listed l = ward_policy_listed(p, s);
	ward_policy_state_put(p, s);
	return l;
}

static struct ward_decision execute(const struct ward_policy *p, const char *path)
{
	const struct ward_state *s = policy_walk(p, path);
	const struct ward_request req = {
		.action = WARD_ACTION_ACCESS, .rights = WARD_RIGHT_EXEC, .state = s};
	struct ward_decision d = ward_policy_decide(p, &req, NULL);
	ward_policy_state_put(p, s);
	return d;
}

static int move(const struct ward_policy *p, const char *from, const char *to, bool dir)
{
	const struct ward_state *a = policy_walk(p, from), *b = policy_walk(p, to);
	const struct ward_request req = {.action = WARD_ACTION_RENAME,
		.flags = dir ? WARD_REQUEST_DIR : 0,
		.state = a,
		.state2 = b};
	int e = ward_policy_decide(p, &req, NULL).error;
	ward_policy_state_put(p, a);
	ward_policy_state_put(p, b);
	return e;
}

START_TEST(without_a_list_everything_is_one)
{
	struct ward_policy *p = both(HEAD FILES, NULL);
	ck_assert(!ward_policy_has_programs(p));
	ck_assert_int_eq(listed(p, "/usr/bin/id"), WARD_LISTED);
	ck_assert_int_eq(execute(p, "/workspace/x").verdict, WARD_VERDICT_ALLOW);
	ward_policy_unref(p);
}
END_TEST

START_TEST(only_what_is_listed_has_the_right)
{
	struct ward_policy *p = both(HEAD FILES "[process]\nexec = /usr/bin/[ab]*\nexec = "
						"/workspace/bin\nexec = /workspace/**/run\n",
		NULL);
	ck_assert_int_eq(listed(p, "/usr/bin/awk"), WARD_LISTED);
	ck_assert_int_eq(listed(p, "/usr/bin/cat"), WARD_LISTED_NOT);
	ck_assert_int_eq(listed(p, "/usr/bin"), WARD_LISTED_BENEATH);
	ck_assert_int_eq(listed(p, "/tmp"), WARD_LISTED_NOT);
	ck_assert_int_eq(execute(p, "/workspace/bin/deep/tool").verdict, WARD_VERDICT_ALLOW);
	ck_assert_int_eq(execute(p, "/workspace/a/b/run").verdict, WARD_VERDICT_ALLOW);
	struct ward_decision d = execute(p, "/workspace/x");
	ck_assert_int_eq(d.verdict, WARD_VERDICT_DENY);
	ck_assert_int_eq(d.error, EACCES);
	/* where the list begins, and nothing but that right */
	ck_assert_str_eq(ward_rule_section(d.rule), "process");
	ck_assert_uint_eq(d.rule->line, 6);
	ck_assert_uint_eq(d.granted, WARD_RIGHTS_ALL & ~WARD_RIGHT_EXEC);
	ward_policy_unref(p);
}
END_TEST

START_TEST(nothing_is_moved_into_the_list)
{
	struct ward_policy *none = both(HEAD FILES, NULL);
	struct ward_policy *p = both(
		HEAD FILES "[process]\nexec = /workspace/bin\nexec = /workspace/t/*/run\n", NULL);
	static const struct {
		const char *from, *to;
		bool dir;
		int error;
	} moves[] = {{"/workspace/x", "/workspace/bin/x", false, EXDEV},
		{"/workspace/d", "/workspace/bin/d", true, EXDEV},
		{"/workspace/d", "/workspace/bin", true, EXDEV},
		/* what is beneath would be, by its name there */
		{"/workspace/d", "/workspace/t/d", true, EXDEV},
		{"/workspace/t/a", "/workspace/t/b", true, 0},
		{"/workspace/bin/x", "/workspace/x", false, 0},
		{"/workspace/bin/d", "/workspace/d", true, 0},
		{"/workspace/x", "/workspace/y", false, 0}};
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		ck_assert_int_eq(move(none, moves[i].from, moves[i].to, moves[i].dir), 0);
		ck_assert_msg(move(p, moves[i].from, moves[i].to, moves[i].dir) == moves[i].error,
			"%s to %s", moves[i].from, moves[i].to);
	}
	ward_policy_unref(none);
	ward_policy_unref(p);
}
END_TEST

/* Either alone, both, and how it is written down as one. */
START_TEST(two_lists_allow_what_both_allow)
{
	static const struct {
		const char *base, *floor, *yes, *no;
	} pairs[] = {
		{"", "exec = /usr/bin/git\n", "/usr/bin/git", "/usr/bin/id"},
		{"exec = /usr/bin/git\n", "", "/usr/bin/git", "/usr/bin/id"},
		{"exec = /usr/bin/git\nexec = /opt/x\n", "exec = /usr/bin/*\n", "/usr/bin/git",
			"/opt/x"},
		{"exec = /usr/bin/*\n", "exec = /usr/bin/git\nexec = /opt/x\n", "/usr/bin/git",
			"/usr/bin/id"},
		{"exec = /usr/bin/*\n", "exec = /usr\n", "/usr/bin/id", "/usr/lib/x"},
		{"exec = /usr/bin/g?t\nexec = /bin/sh\n", "exec = /usr/bin/g?t\n", "/usr/bin/git",
			"/bin/sh"},
		/* not seen at once from the patterns: then not at all */
		{"exec = /usr/bin/g*\nexec = /bin/sh\n", "exec = /usr/bin/*t\nexec = /bin/sh\n",
			"/bin/sh", "/usr/bin/git"},
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char base[256] = HEAD FILES "[process]\n", floor[256] = HEAD "[process]\n";
		strcat(base, pairs[i].base);
		strcat(floor, pairs[i].floor);
		struct ward_policy *p = both(base, floor);
		ck_assert_msg(listed(p, pairs[i].yes) == WARD_LISTED, "%zu: %s", i, pairs[i].yes);
		ck_assert_msg(listed(p, pairs[i].no) != WARD_LISTED, "%zu: %s", i, pairs[i].no);
		ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
		ck_assert_int_eq(ward_policy_show(p, &text), 0);
		struct ward_policy *again = both(ward_buf_str(&text), NULL);
		ck_assert_str_eq(ward_policy_digest(p), ward_policy_digest(again));
		ck_assert_int_eq(listed(again, pairs[i].yes), WARD_LISTED);
		ward_policy_unref(again);
		ward_policy_unref(p);
	}
}
END_TEST

START_TEST(what_noexec_closes_as_a_whole)
{
	struct ward_policy *p = both(HEAD FILES
		"noexec = /workspace/a b\nnoexec = /data\nnoexec = *.sh\nnoexec = dl\n"
		"noexec = /workspace/x*\nnoexec = /workspace/**/y\nnoexec = /w\\*\n"
		"noexec = /z/**\n[guard]\nnoexec = /\ndeny = /q\n",
		HEAD "[files]\nnoexec = /floor\n");
	static const char *const expected[] = {"/workspace/a b", "/data", "/w*", "/", "/floor"};
	const size_t n = sizeof(expected) / sizeof(*expected);
	char **v = NULL;
	ck_assert_int_eq(ward_policy_noexec(p, &v), 0);
	for (size_t i = 0; i < n; i++) {
		ck_assert_ptr_nonnull(v[i]);
		ck_assert_str_eq(v[i], expected[i]);
		free(v[i]);
	}
	ck_assert_ptr_null(v[n]);
	free(v);
	/* The control: beneath them the policy gives no right to execute. */
	ck_assert_int_eq(execute(p, "/data/x/y").granted & WARD_RIGHT_EXEC, 0);
	ward_policy_unref(p);
}
END_TEST

START_TEST(lists_without_anything_in_common_are_an_error)
{
	struct ward_policy *p = NULL;
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_int_eq(compile(HEAD "[process]\nexec = /usr/bin/git\n",
				 HEAD "[process]\nexec = /usr/bin/id\n", &p, &err),
		-EINVAL);
	ck_assert_msg(strstr(err.text, "no program in common"), "%s", err.text);
	ck_assert_int_eq(compile(HEAD "[process]\nexec = git\n", NULL, &p, &err), -EINVAL);
	ck_assert_msg(strstr(err.text, "/usr/bin/git"), "%s", err.text);
	ck_assert_ptr_null(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_programs");
	TCase *t = tcase_create("all");
	tcase_add_test(t, without_a_list_everything_is_one);
	tcase_add_test(t, only_what_is_listed_has_the_right);
	tcase_add_test(t, nothing_is_moved_into_the_list);
	tcase_add_test(t, two_lists_allow_what_both_allow);
	tcase_add_test(t, what_noexec_closes_as_a_whole);
	tcase_add_test(t, lists_without_anything_in_common_are_an_error);
	suite_add_tcase(s, t);
	return suite_run(s);
}
