/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two names of one directory: where ward_policy_reveals() says no, nothing beneath the second name
 * has a right that the first name's guards, floor or project file take. Random policies.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/policy.h"
#include "tests/support/policies.h"
#include "tests/support/suite.h"

#define HEAD                                                                                       \
	"[policy]\nversion = 1\n[tree /w]\nsource = tmpfs:1M\n[tree /o]\nsource = tmpfs:1M\n"      \
	"[files]\nwrite = /w\n"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROUNDS 1000U
#else
#define ROUNDS 10000U
#endif

static bool reveals(const struct ward_policy *p, const char *first, const char *second)
{
	const struct ward_rule *rule = NULL;
	const struct ward_state *a = policy_walk(p, first), *b = policy_walk(p, second);
	bool r = ward_policy_reveals(p, a, b, WARD_SOURCES_ALL, &rule);
	ck_assert(r == (rule != NULL));
	ward_policy_state_put(p, a);
	ward_policy_state_put(p, b);
	return r;
}

START_TEST(known_answers)
{
	static const struct {
		const char *rules;
		bool reveals;
	} v[] = {
		{"write = /o\n", false},
		{"write = /o\n[guard]\ndeny = secret\n", false},
		{"write = /o\n[guard]\ndeny = /w/secret\n", true},
		{"write = /o\n[guard]\ndeny = /w/secret\ndeny = /o/secret\n", true},
		{"read = /o/public\n[guard]\nread = /w/secret\n", false},
		{"write = /o/public\n[guard]\nread = /w/secret\n", true},
		{"read = /o\n[guard]\nhide = /w\n", true},
		{"read = /o\nnoexec = /w\n", true},
		{"write = /o\n[guard]\ndeny = /o/secret\n", false},
		{"[guard]\ndeny = /w/secret\n", false},
		{"write = /o\n[files floor]\ndeny = /w/**/secret\n", true},
		{"write = /o\n[files floor]\ndeny = secret\nread = /o/secret\n", true},
		{"write = /o\n[files floor]\nread = /o/secret\n", false},
	};
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		char text[512];
		snprintf(text, sizeof(text), HEAD "%s", v[i].rules);
		struct ward_policy *p = policy_of(text);
		ck_assert_msg(reveals(p, "/w", "/o") == v[i].reveals, "%s", v[i].rules);
		ck_assert(!reveals(p, "/w", "/w"));
		ward_policy_unref(p);
	}
}
END_TEST

/* Everything beneath the two, as deep as rules go. *ret_less: names where the first one's are less.
 */
static void nothing_more(const struct ward_policy *p, const struct ward_state *first,
	const struct ward_state *second, unsigned depth, const char *text, size_t *ret_less)
{
	static const char *const names[] = {"a", "b", "c"};
	const struct ward_rule *rule = NULL;
	uint32_t ceiling = ward_policy_ceiling(p, first, WARD_RIGHTS_ALL, &rule);
	uint32_t rights = ward_policy_rights(p, second);
	ck_assert_msg(!(rights & ~ceiling), "%s", text);
	*ret_less += ceiling != WARD_RIGHTS_ALL;
	for (size_t i = 0; depth < 3 && i < sizeof(names) / sizeof(*names); i++) {
		const struct ward_state *a = NULL, *b = NULL;
		ck_assert_int_eq(ward_policy_step(p, first, names[i], 1, &a), 0);
		ck_assert_int_eq(ward_policy_step(p, second, names[i], 1, &b), 0);
		nothing_more(p, a, b, depth + 1, text, ret_less);
		ward_policy_state_put(p, a);
		ward_policy_state_put(p, b);
	}
}

static void add_rules(struct ward_buf *b, unsigned n, bool guard)
{
	static const char *const verbs[] = {
		"hide", "deny", "read", "append", "noexec", "write", "ask"};
	static const char *const names[] = {"a", "b", "c", "*", "**"};
	for (unsigned i = 0; i < n; i++) {
		unsigned where = rnd(5);
		ward_buf_printf(b, "%s = %s", verbs[guard ? rnd(5) : rnd(rnd(8) ? 6 : 7)],
			where < 2   ? "/w/"
			: where < 4 ? "/o/"
				    : "");
		if (rnd(3) == 0)
			ward_buf_printf(b, "%s/", names[rnd(5)]);
		ward_buf_printf(b, "%s\n", names[rnd(4)]);
	}
}

START_TEST(no_means_nothing_more)
{
	size_t yes = 0, no = 0, less = 0;
	for (unsigned round = 0; round < ROUNDS; round++) {
		ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
		ward_buf_puts(&text, HEAD);
		if (rnd(2))
			ward_buf_puts(&text, "read = /o\n");
		add_rules(&text, rnd(3), false);
		ward_buf_puts(&text, "[guard]\n");
		add_rules(&text, rnd(2), true);
		ward_buf_puts(&text, "[files floor]\n");
		add_rules(&text, rnd(3), false);
		struct ward_policy *p = policy_of(ward_buf_str(&text));
		if (reveals(p, "/w", "/o")) {
			yes++;
		} else {
			const struct ward_state *a = policy_walk(p, "/w"),
						*b = policy_walk(p, "/o");
			no++;
			nothing_more(p, a, b, 0, ward_buf_str(&text), &less);
			ward_policy_state_put(p, a);
			ward_policy_state_put(p, b);
		}
		ward_policy_unref(p);
	}
	ck_assert_uint_gt(yes, ROUNDS / 20);
	ck_assert_uint_gt(no, ROUNDS / 20);
	ck_assert_uint_gt(less, ROUNDS / 20);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_reveal");
	TCase *t = tcase_create("all");
	tcase_set_timeout(t, 280);
	tcase_add_test(t, known_answers);
	tcase_add_test(t, no_means_nothing_more);
	suite_add_tcase(s, t);
	return suite_run(s);
}
