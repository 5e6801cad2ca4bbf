/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The literal lists of a policy: what has the right is listed as given and not as taken. Random
 * policies; known answers say what the lists may leave out.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/outline.h"
#include "tests/support/policies.h"
#include "tests/support/suite.h"

#define HEAD                                                                                       \
	"[policy]\nversion = 1\n[tree /w]\nsource = tmpfs:1M\n[tree /o]\nsource = tmpfs:1M\n"      \
	"[files]\n"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROUNDS 200U
#else
#define ROUNDS 1000U
#endif

/* "/w -/w/x": what is given, and with a minus what is taken. Not in /workspace, where built-in
 * guards are. */
static void outline_text(const struct ward_outline *o, char *ret, size_t size)
{
	size_t n = 0;
	ret[0] = '\0';
	for (size_t i = 0; i < o->n && n < size; i++)
		if (strncmp(o->v[i].path, "/workspace", 10) != 0)
			n += (size_t)snprintf(ret + n, size - n, "%s%s%s", n ? " " : "",
				o->v[i].deny ? "-" : "", o->v[i].path);
}

START_TEST(known_answers)
{
	static const struct {
		const char *rules;
		const char *want; /* of WRITE */
	} v[] = {
		{"", ""},
		{"read = /w\n", ""},
		{"write = /w\n", "/w"},
		{"write = /w\nread = /w/docs\n", "/w -/w/docs"},
		{"write = /w\nwrite = /w/docs\n", "/w"},
		{"read = /w/docs\nwrite = /w\n", "/w"},
		{"write = /w\nread = /w/docs\nwrite = /w/docs/*/x\n", "/w"},
		{"write = /w/**/x\nread = /w/docs\n", "/w -/w/docs"},
		{"write = /w\nread = docs\n", "/w"},
		{"write = x\nread = /w/docs\n", "/ -/w/docs"},
		{"write = /w\nwrite = /o\n[guard]\nhide = /o/s\n", "/o -/o/s /w"},
		{"write = /w\n[guard]\nread = /w/a\n[files]\nwrite = /w/a\n", "/w -/w/a"},
		{"write = /w\nnoexec = /w/a\n", "/w"},
		{"write = /w\n[files floor]\nread = /w/a\n", "/w -/w/a"},
	};
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		char text[512], got[512];
		struct ward_outline o;
		snprintf(text, sizeof(text), HEAD "%s", v[i].rules);
		struct ward_policy *p = policy_of(text);
		ck_assert_int_eq(ward_policy_outline(p, WARD_RIGHT_WRITE, &o), 0);
		outline_text(&o, got, sizeof(got));
		ck_assert_msg(strcmp(got, v[i].want) == 0, "%s: %s", v[i].rules, got);
		ward_outline_clear(&o);
		ward_policy_unref(p);
	}
}
END_TEST

static bool covers(const char *above, const char *path)
{
	size_t n = strlen(above);
	return strcmp(above, "/") == 0 ||
	       (strncmp(path, above, n) == 0 && (path[n] == '/' || path[n] == '\0'));
}

static void look(const struct ward_policy *p, const struct ward_outline *o, uint32_t right,
	const char *path, unsigned depth, const char *text, size_t *ret_given)
{
	static const char *const names[] = {"a", "b", "c"};
	bool given = false, taken = false;
	for (size_t i = 0; i < o->n; i++) {
		given |= !o->v[i].deny && covers(o->v[i].path, path);
		taken |= o->v[i].deny && covers(o->v[i].path, path);
	}
	if (policy_rights(p, path) & right) {
		ck_assert_msg(given && !taken, "%s: %s", path, text);
		++*ret_given;
	}
	for (size_t i = 0; depth < 4 && i < sizeof(names) / sizeof(*names); i++) {
		char child[64];
		snprintf(child, sizeof(child), "%s/%s", path, names[i]);
		look(p, o, right, child, depth + 1, text, ret_given);
	}
}

static void add_rules(struct ward_buf *b, unsigned n, bool guard)
{
	static const char *const verbs[] = {"hide", "deny", "read", "append", "noexec", "write"};
	static const char *const names[] = {"a", "b", "c", "*", "**"};
	for (unsigned i = 0; i < n; i++) {
		unsigned where = rnd(5);
		ward_buf_printf(b, "%s = %s", verbs[rnd(guard ? 5 : 6)],
			where < 2   ? "/w/"
			: where < 4 ? "/o/"
				    : "");
		for (unsigned k = rnd(3); k > 0; k--)
			ward_buf_printf(b, "%s/", names[rnd(5)]);
		ward_buf_printf(b, "%s\n", names[rnd(4)]);
	}
}

START_TEST(never_less)
{
	static const uint32_t rights[] = {WARD_RIGHT_READ, WARD_RIGHT_WRITE};
	size_t given = 0, taken = 0;
	for (unsigned round = 0; round < ROUNDS; round++) {
		ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
		struct ward_outline o;
		uint32_t right = rights[rnd(2)];
		ward_buf_puts(&text, HEAD);
		if (rnd(2))
			ward_buf_puts(&text, "write = /w\nread = /o\n");
		add_rules(&text, rnd(5), false);
		ward_buf_puts(&text, "[guard]\n");
		add_rules(&text, rnd(2), true);
		struct ward_policy *p = policy_of(ward_buf_str(&text));
		ck_assert_int_eq(ward_policy_outline(p, right, &o), 0);
		look(p, &o, right, "/w", 0, ward_buf_str(&text), &given);
		look(p, &o, right, "/o", 0, ward_buf_str(&text), &given);
		for (size_t i = 0; i < o.n; i++)
			taken += o.v[i].deny;
		ward_outline_clear(&o);
		ward_policy_unref(p);
	}
	ck_assert_uint_gt(given, ROUNDS / 2);
	ck_assert_uint_gt(taken, ROUNDS / 20);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_outline");
	TCase *t = tcase_create("all");
	tcase_set_timeout(t, 280);
	tcase_add_test(t, known_answers);
	tcase_add_test(t, never_less);
	suite_add_tcase(s, t);
	return suite_run(s);
}
