/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves of directories that what exists beneath decides: trees in memory, random policies. What is
 * allowed after a look gives nothing that exists a right it did not have; bounds refuse.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/policy.h"
#include "tests/support/policies.h"
#include "tests/support/suite.h"

#define HEAD "[policy]\nversion = 1\n[files]\nwrite = /\n"

/* --- a tree in memory --- */

struct node {
	char name[8];
	bool dir;
	struct node *child, *next;
};

struct cursor {
	const struct node *dir, *at;
};

static unsigned opened, closed, opened_most;
static int fails_with; /* what open says, if not 0 */

static struct cursor *cursor(const struct node *dir)
{
	struct cursor *c = malloc(sizeof(*c));
	ck_assert_ptr_nonnull(c);
	*c = (struct cursor){dir, dir->child};
	return c;
}

static int open_dir(void *user, void *dir, const char *name, void **ret)
{
	(void)user;
	if (fails_with)
		return fails_with;
	for (const struct node *n = ((struct cursor *)dir)->dir->child; n; n = n->next)
		if (strcmp(n->name, name) == 0) {
			*ret = cursor(n);
			opened++;
			if (opened - closed > opened_most)
				opened_most = opened - closed;
			return 0;
		}
	return -ENOENT;
}

static int next_entry(void *user, void *dir, char name[WARD_LOOK_NAME_SIZE], bool *ret_is_dir)
{
	struct cursor *c = dir;
	(void)user;
	if (!c->at)
		return 0;
	strcpy(name, c->at->name);
	*ret_is_dir = c->at->dir;
	c->at = c->at->next;
	return 1;
}

static void close_dir(void *user, void *dir)
{
	(void)user;
	closed++;
	free(dir);
}

static const struct ward_look_ops ops = {.open = open_dir, .next = next_entry, .close = close_dir};

static struct node *add(struct node *dir, const char *name, bool is_dir)
{
	struct node *n = calloc(1, sizeof(*n));
	ck_assert_ptr_nonnull(n);
	snprintf(n->name, sizeof(n->name), "%s", name);
	n->dir = is_dir;
	n->next = dir->child;
	dir->child = n;
	return n;
}

static void clear(struct node *dir)
{
	while (dir->child) {
		struct node *n = dir->child;
		dir->child = n->next;
		clear(n);
		free(n);
	}
}

/* --- policies --- */

static struct ward_policy *compile(const char *rules)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, HEAD "%s", rules);
	return policy_of(ward_buf_str(&b));
}

enum outcome { NO = 0, AFTER_LOOK, AT_ONCE };

/* What a file system does: decide, look, decide again. */
static enum outcome move(
	const struct ward_policy *p, const char *from, const char *to, const struct node *tree)
{
	const struct ward_state *s = policy_walk(p, from), *d = policy_walk(p, to);
	struct ward_request req = {
		.action = WARD_ACTION_RENAME, .flags = WARD_REQUEST_DIR, .state = s, .state2 = d};
	struct ward_decision first = ward_policy_decide(p, &req, NULL);
	enum outcome out = first.verdict == WARD_VERDICT_ALLOW ? AT_ONCE : NO;
	ck_assert(!first.look || (first.verdict == WARD_VERDICT_DENY && first.error == EXDEV));
	if (first.look) {
		struct cursor *c = cursor(tree);
		int r = ward_policy_look(p, s, d, &ops, NULL, c);
		free(c);
		req.flags |= WARD_REQUEST_LOOKED;
		struct ward_decision second = ward_policy_decide(p, &req, NULL);
		ck_assert_int_eq(second.verdict, WARD_VERDICT_ALLOW);
		ck_assert(!second.look);
		out = r == 0 ? AFTER_LOOK : NO;
		ck_assert(r == 0 || r == -EXDEV || r == fails_with);
	}
	ward_policy_state_put(p, s);
	ward_policy_state_put(p, d);
	return out;
}

START_TEST(what_exists_decides)
{
	struct ward_policy *p = compile("deny = /a/secret\nappend = /a/d/log\nread = /b/keep\n"
					"hide = /a/h/x\nnoexec = /c/tool\n");
	struct node tree = {.dir = true};
	ck_assert_int_eq(move(p, "/a", "/x", &tree), AFTER_LOOK);
	ck_assert_int_eq(move(p, "/y", "/x", &tree), AT_ONCE);
	add(&tree, "f", false);
	struct node *d = add(&tree, "d", true);
	add(d, "f", false);
	ck_assert_int_eq(move(p, "/a", "/x", &tree), AFTER_LOOK);
	/* deeper: what may only be appended to */
	add(d, "log", false);
	ck_assert_int_eq(move(p, "/a", "/x", &tree), NO);
	ck_assert_int_eq(move(p, "/c", "/x", &tree), AFTER_LOOK);
	add(&tree, "tool", false);
	ck_assert_int_eq(move(p, "/c", "/x", &tree), NO);
	clear(&tree);
	/* hidden */
	add(add(&tree, "h", true), "x", true);
	ck_assert_int_eq(move(p, "/a", "/x", &tree), NO);
	clear(&tree);
	add(&tree, "secret", true);
	ck_assert_int_eq(move(p, "/a", "/x", &tree), NO);
	/* what could be made here and not there is for the rules alone */
	clear(&tree);
	ck_assert_int_eq(move(p, "/x", "/b", &tree), NO);
	ck_assert_int_eq(move(p, "/b", "/x", &tree), AFTER_LOOK);
	ward_policy_unref(p);
}
END_TEST

START_TEST(exchanges_need_both_ways)
{
	struct ward_policy *p = compile("deny = /a/s\nnoexec = /b/t\n");
	const struct ward_state *s = policy_walk(p, "/a"), *d = policy_walk(p, "/b");
	struct ward_request req = {.action = WARD_ACTION_RENAME,
		.flags = WARD_REQUEST_DIR | WARD_REQUEST_DST_EXISTS | WARD_REQUEST_DST_DIR |
			 WARD_REQUEST_EXCHANGE,
		.state = s,
		.state2 = d};
	/* /a/s cannot be created where /b/s can: a loss, one way */
	struct ward_decision first = ward_policy_decide(p, &req, NULL);
	ck_assert_int_eq(first.error, EXDEV);
	ck_assert(!first.look);
	ward_policy_state_put(p, s);
	s = policy_walk(p, "/c");
	req.state = s;
	/* /c gains nothing at /b; /b/t gains at /c */
	first = ward_policy_decide(p, &req, NULL);
	ck_assert_int_eq(first.error, EXDEV);
	ck_assert(first.look);
	req.flags &= ~(uint32_t)(WARD_REQUEST_DST_DIR);
	ck_assert_int_eq(ward_policy_decide(p, &req, NULL).verdict, WARD_VERDICT_ALLOW);
	ward_policy_state_put(p, s);
	ward_policy_state_put(p, d);
	ward_policy_unref(p);
}
END_TEST

START_TEST(bounds_refuse)
{
	struct ward_policy *p = compile("deny = /a/**/secret\ndeny = /a/s0\n");
	struct node tree = {.dir = true};
	for (unsigned i = 0; i < WARD_LOOK_ENTRIES_MAX; i++)
		add(&tree, "f", false);
	ck_assert_int_eq(move(p, "/a", "/x", &tree), AFTER_LOOK);
	add(&tree, "f", false);
	ck_assert_int_eq(move(p, "/a", "/x", &tree), NO);
	clear(&tree);
	opened = closed = opened_most = 0;
	struct node *at = &tree;
	for (unsigned i = 0; i < WARD_LOOK_DEPTH_MAX; i++)
		at = add(at, "d", true);
	ck_assert_int_eq(move(p, "/a", "/x", &tree), AFTER_LOOK);
	ck_assert_uint_eq(opened_most, WARD_LOOK_DEPTH_MAX);
	add(at, "d", true);
	ck_assert_int_eq(move(p, "/a", "/x", &tree), NO);
	ck_assert_uint_eq(opened, closed);
	/* what cannot be read cannot be known */
	fails_with = -EACCES;
	ck_assert_int_eq(move(p, "/a", "/x", &tree), NO);
	fails_with = 0;
	clear(&tree);
	/* where the rules say that nothing beneath can gain, nothing is opened */
	opened = 0;
	at = add(&tree, "d", true);
	ward_policy_unref(p);
	p = compile("deny = /a/secret\n");
	for (unsigned i = 0; i < 100; i++)
		at = add(at, "d", true);
	ck_assert_int_eq(move(p, "/a", "/x", &tree), AFTER_LOOK);
	ck_assert_uint_eq(opened, 0);
	clear(&tree);
	ward_policy_unref(p);
}
END_TEST

/* --- random --- */

static void random_names(struct ward_buf *b, size_t n, bool wild)
{
	static const char *const names[] = {"a", "b", "c", "d", "*", "[ab]", "?"};
	for (size_t i = 0; i < n; i++)
		ward_buf_printf(b, "/%s", names[rnd(wild && rnd(4) == 0 ? 7 : 4)]);
}

static void random_tree(struct node *dir, unsigned depth)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	for (size_t i = 0; i < 4; i++)
		if (rnd(3) == 0) {
			struct node *n = add(dir, names[i], depth < 3 && rnd(2));
			if (n->dir)
				random_tree(n, depth + 1);
		}
}

static uint32_t rights_of(const struct ward_policy *p, const struct ward_state *s, bool dir)
{
	const struct ward_request req = {
		.action = WARD_ACTION_ACCESS, .flags = dir ? WARD_REQUEST_DIR : 0, .state = s};
	return ward_policy_decide(p, &req, NULL).granted;
}

/* Insists that nothing in the tree gains; *ret_less counts what loses, so that both places differ.
 */
static void nothing_gains(const struct ward_policy *p, const struct node *dir, const char *from,
	const char *to, const char *rules, size_t *ret_less)
{
	for (const struct node *n = dir->child; n; n = n->next) {
		char x[256], y[256];
		snprintf(x, sizeof(x), "%.200s/%s", from, n->name);
		snprintf(y, sizeof(y), "%.200s/%s", to, n->name);
		const struct ward_state *s = policy_walk(p, x), *d = policy_walk(p, y);
		uint32_t before = rights_of(p, s, n->dir), after = rights_of(p, d, n->dir);
		ck_assert_msg(
			!(after & ~before), "%s -> %s: %x %x\n%s", x, y, before, after, rules);
		*ret_less += before != after;
		ward_policy_state_put(p, s);
		ward_policy_state_put(p, d);
		nothing_gains(p, n, x, y, rules, ret_less);
	}
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROUNDS 5000U /* each takes several times as long */
#else
#define ROUNDS 20000U
#endif

START_TEST(a_look_never_widens)
{
	static const char *const verbs[] = {
		"hide", "deny", "read", "append", "noexec", "write", "ask"};
	size_t by_look = 0, refused = 0, less = 0;
	for (unsigned round = 0; round < ROUNDS; round++) {
		ward_cleanup(ward_buf_clear) struct ward_buf rules = WARD_BUF_INIT;
		ward_cleanup(ward_buf_clear) struct ward_buf from = WARD_BUF_INIT;
		ward_cleanup(ward_buf_clear) struct ward_buf to = WARD_BUF_INIT;
		unsigned n = 1 + rnd(4);
		for (unsigned i = 0; i < n; i++) {
			ward_buf_printf(&rules, "%s = ", verbs[rnd(rnd(8) ? 6 : 7)]);
			random_names(&rules, 2 + rnd(3), true);
			ward_buf_puts(&rules, "\n");
		}
		if (rnd(2)) {
			ward_buf_printf(&rules, "[guard]\n%s = ", verbs[rnd(5)]);
			random_names(&rules, 2 + rnd(2), true);
			ward_buf_puts(&rules, "\n");
		}
		random_names(&from, 1 + rnd(2), false);
		random_names(&to, 1 + rnd(2), false);
		struct ward_policy *p = compile(ward_buf_str(&rules));
		struct node tree = {.dir = true};
		random_tree(&tree, 0);
		enum outcome o = move(p, ward_buf_str(&from), ward_buf_str(&to), &tree);
		by_look += o == AFTER_LOOK;
		refused += o == NO;
		if (o != NO)
			nothing_gains(p, &tree, ward_buf_str(&from), ward_buf_str(&to),
				ward_buf_str(&rules), &less);
		clear(&tree);
		ward_policy_unref(p);
	}
	ck_assert_uint_gt(by_look, ROUNDS / 40);
	ck_assert_uint_gt(refused, ROUNDS / 40);
	ck_assert_uint_gt(less, ROUNDS / 100);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_look");
	TCase *t = tcase_create("all");
	tcase_set_timeout(t, 280);
	tcase_add_test(t, what_exists_decides);
	tcase_add_test(t, exchanges_need_both_ways);
	tcase_add_test(t, bounds_refuse);
	tcase_add_test(t, a_look_never_widens);
	suite_add_tcase(s, t);
	return suite_run(s);
}
