/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grants: what they add to a decision and what they never add, their ends, their uses. Each refusal
 * has its control: the same request is allowed where nothing stands against the grant.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/policy/explain.h"
#include "enforcer/policy/grants.h"
#include "tests/support/policies.h"
#include "tests/support/suite.h"

#define HEAD "[policy]\nversion = 1\n[tree /w]\nsource = tmpfs:1M\n"
#define RULES "[files]\nread = /w\nhide = /w/hidden\nwrite = /w/src\nread = /w/src/fixed\n"

static char write_docs[] = "/w/docs/**";

static struct ward_grant a_grant(char *pattern, uint32_t rights)
{
	return (struct ward_grant){.rights = rights, .pattern = pattern, .issuer = (char *)"test"};
}

static const struct ward_grant_held *give(struct ward_grants *s, struct ward_grant g)
{
	const struct ward_grant_held *given = NULL;
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_msg(ward_grants_add(s, &g, &given, &err) == 0, "%s", err.text);
	return given;
}

static struct ward_granted match(struct ward_grants *s, const char *path, uint64_t now)
{
	struct ward_granted m;
	ck_assert_int_eq(ward_grants_match(s, path, strlen(path), 7, now, &m), 0);
	return m;
}

/* Asks for rights on path at `now`, with what the set gives there. */
static struct ward_decision ask(const struct ward_policy *p, struct ward_grants *s,
	enum ward_action action, const char *path, uint32_t rights, uint64_t now)
{
	const struct ward_granted m = match(s, path, now);
	struct ward_request req = {.action = action, .rights = rights, .grants = &m};
	req.state = policy_walk(p, path);
	struct ward_decision d = ward_policy_decide(p, &req, NULL);
	ward_policy_state_put(p, req.state);
	return d;
}

static enum ward_verdict may_write(
	const struct ward_policy *p, struct ward_grants *s, const char *path)
{
	return ask(p, s, WARD_ACTION_ACCESS, path, WARD_RIGHT_WRITE, 10).verdict;
}

START_TEST(adds_to_the_base)
{
	struct ward_policy *p = policy_of(HEAD RULES);
	struct ward_grants *s = NULL;
	ck_assert_int_eq(ward_grants_new(&s), 0);
	ck_assert(!ward_grants_any(s));
	ck_assert_int_eq(may_write(p, s, "/w/docs/a"), WARD_VERDICT_DENY);
	const struct ward_grant_held *g = give(s, a_grant(write_docs, WARD_RIGHTS_ALL));
	ck_assert(ward_grants_any(s));
	struct ward_decision d = ask(p, s, WARD_ACTION_ACCESS, "/w/docs/a", WARD_RIGHT_WRITE, 10);
	ck_assert_int_eq(d.verdict, WARD_VERDICT_ALLOW);
	ck_assert_uint_eq(d.by_grant, WARD_RIGHT_WRITE);
	ck_assert_ptr_eq(d.rule, &g->rule);
	ck_assert_int_eq(
		ask(p, s, WARD_ACTION_CREATE, "/w/docs/new", 0, 10).verdict, WARD_VERDICT_ALLOW);
	/* beside it, and the directory that the pattern does not cover */
	ck_assert_int_eq(may_write(p, s, "/w/docsX"), WARD_VERDICT_DENY);
	ck_assert_int_eq(may_write(p, s, "/w/docs"), WARD_VERDICT_DENY);
	ck_assert_int_eq(may_write(p, s, "/w/other/docs/a"), WARD_VERDICT_DENY);
	/* what a rule gives is no use of a grant */
	d = ask(p, s, WARD_ACTION_ACCESS, "/w/docs/a", WARD_RIGHT_READ, 10);
	ck_assert_uint_eq(d.by_grant, 0);
	ck_assert(d.rule != &g->rule);
	ward_grants_free(s);
	ward_policy_unref(p);
}
END_TEST

START_TEST(shows_the_way)
{
	static char deep[] = "/w/hidden/a/b";
	struct ward_policy *p = policy_of(HEAD RULES);
	struct ward_grants *s = NULL;
	ck_assert_int_eq(ward_grants_new(&s), 0);
	const struct ward_granted none = match(s, "/w/hidden", 1);
	ck_assert(!none.passage && !none.rights);
	(void)give(s, a_grant(deep, WARD_RIGHT_READ));
	const struct ward_granted way = match(s, "/w/hidden", 1);
	ck_assert(way.passage);
	struct ward_request req = {.action = WARD_ACTION_ACCESS,
		.rights = WARD_RIGHT_LIST,
		.flags = WARD_REQUEST_DIR,
		.state = policy_walk(p, "/w/hidden")};
	ck_assert_int_eq(ward_policy_decide(p, &req, NULL).verdict, WARD_VERDICT_HIDE);
	req.grants = &way;
	ck_assert_int_eq(ward_policy_decide(p, &req, NULL).verdict, WARD_VERDICT_ALLOW);
	ward_policy_state_put(p, req.state);
	ck_assert_int_eq(ask(p, s, WARD_ACTION_ACCESS, "/w/hidden/a/c", WARD_RIGHT_STAT, 1).verdict,
		WARD_VERDICT_HIDE);
	ck_assert_int_eq(ask(p, s, WARD_ACTION_ACCESS, "/w/hidden/a/b", WARD_RIGHT_READ, 1).verdict,
		WARD_VERDICT_ALLOW);
	ward_grants_free(s);
	ward_policy_unref(p);
}
END_TEST

START_TEST(lifts_nothing)
{
	static const char *const against[] = {"[guard]\ndeny = docs/a\n",
		"[guard]\nread = /w/docs\n", "[guard]\nhide = a\n", "[files floor]\nread = /w\n",
		"[files floor]\nwrite = /w\nread = /w/docs\n", "[guard]\nsecret = a\n"};
	for (size_t i = 0; i < sizeof(against) / sizeof(*against); i++) {
		char text[512];
		snprintf(text, sizeof(text), HEAD RULES "%s", against[i]);
		struct ward_policy *control = policy_of(HEAD RULES), *p = policy_of(text);
		struct ward_grants *s = NULL;
		ck_assert_int_eq(ward_grants_new(&s), 0);
		(void)give(s, a_grant(write_docs, WARD_RIGHTS_ALL));
		ck_assert_int_eq(may_write(control, s, "/w/docs/a"), WARD_VERDICT_ALLOW);
		struct ward_decision d =
			ask(p, s, WARD_ACTION_ACCESS, "/w/docs/a", WARD_RIGHT_WRITE, 10);
		ck_assert_msg(d.verdict != WARD_VERDICT_ALLOW, "%s", against[i]);
		ck_assert_uint_eq(d.by_grant, 0);
		/* named: not the base, which would have given way */
		ck_assert_msg(d.rule && (d.rule->guard || d.rule->source == WARD_SOURCE_FLOOR),
			"%s", against[i]);
		ward_grants_free(s);
		ward_policy_unref(p);
		ward_policy_unref(control);
	}
}
END_TEST

/* A move or a second name must not bring anything to where a grant gives more. */
static struct ward_decision between(const struct ward_policy *p, struct ward_grants *s,
	enum ward_action action, const char *from, const char *to, uint32_t flags)
{
	const struct ward_granted a = match(s, from, 10), b = match(s, to, 10);
	struct ward_request req = {.action = action,
		.flags = flags,
		.state = policy_walk(p, from),
		.state2 = policy_walk(p, to),
		.grants = &a,
		.grants2 = &b};
	struct ward_decision d = ward_policy_decide(p, &req, NULL);
	ward_policy_state_put(p, req.state);
	ward_policy_state_put(p, req.state2);
	return d;
}

START_TEST(moves_gain_nothing)
{
	struct ward_policy *p = policy_of(HEAD RULES "read = /w/src/d/fixed\nask = /w/src/asked\n");
	struct ward_grants *s = NULL;
	ck_assert_int_eq(ward_grants_new(&s), 0);
	/* controls: without the grant nothing may come there; within src it may */
	ck_assert_int_eq(between(p, s, WARD_ACTION_RENAME, "/w/src/a", "/w/src/b", 0).verdict,
		WARD_VERDICT_ALLOW);
	ck_assert_int_eq(
		between(p, s, WARD_ACTION_RENAME, "/w/src/a", "/w/docs/a", 0).error, EACCES);
	(void)give(s, a_grant(write_docs, WARD_RIGHTS_ALL));
	struct ward_decision d = between(p, s, WARD_ACTION_RENAME, "/w/src/a", "/w/docs/a", 0);
	ck_assert_int_eq(d.verdict, WARD_VERDICT_ALLOW);
	ck_assert_uint_eq(d.by_grant, 0);
	ck_assert(d.by_grant2 & WARD_RIGHT_CREATE);
	/* what may only be read gets no name where it could be written */
	ck_assert_int_eq(
		between(p, s, WARD_ACTION_LINK, "/w/src/fixed", "/w/docs/x", 0).error, EXDEV);
	ck_assert_int_eq(between(p, s, WARD_ACTION_LINK, "/w/src/a", "/w/docs/x", 0).verdict,
		WARD_VERDICT_ALLOW);
	/* a directory takes along what the rules on names beneath it do not show */
	ck_assert_int_eq(
		between(p, s, WARD_ACTION_RENAME, "/w/src/d", "/w/docs/d", WARD_REQUEST_DIR).error,
		EXDEV);
	/* nor does what stands under a grant get a name at which it keeps rights after the grant */
	ck_assert_int_eq(between(p, s, WARD_ACTION_RENAME, "/w/docs/a", "/w/docs/b", 0).verdict,
		WARD_VERDICT_ALLOW);
	ck_assert_int_eq(
		between(p, s, WARD_ACTION_RENAME, "/w/docs/a", "/w/src/z", 0).error, EXDEV);
	ck_assert_int_eq(between(p, s, WARD_ACTION_LINK, "/w/docs/a", "/w/src/z", 0).error, EXDEV);
	ck_assert_int_eq(
		between(p, s, WARD_ACTION_RENAME, "/w/docs/a", "/w/src/z", WARD_REQUEST_EXCHANGE)
			.error,
		EXDEV);
	/* what was asked about has been answered: it may go */
	ck_assert_int_eq(between(p, s, WARD_ACTION_RENAME, "/w/src/asked", "/w/src/z", 0).verdict,
		WARD_VERDICT_ASK);
	static char asked[] = "/w/src/asked";
	(void)give(s, a_grant(asked, WARD_RIGHTS_ALL));
	ck_assert_int_eq(between(p, s, WARD_ACTION_RENAME, "/w/src/asked", "/w/src/z", 0).verdict,
		WARD_VERDICT_ALLOW);
	/* nobody makes a symbolic link by a grant */
	ck_assert_int_eq(
		ask(p, s, WARD_ACTION_CREATE, "/w/docs/l", 0, 10).verdict, WARD_VERDICT_ALLOW);
	const struct ward_granted m = match(s, "/w/docs/l", 10);
	struct ward_request req = {.action = WARD_ACTION_CREATE,
		.flags = WARD_REQUEST_SYMLINK,
		.state = policy_walk(p, "/w/docs/l"),
		.root = policy_walk(p, "/w"),
		.grants = &m};
	ck_assert_int_eq(ward_policy_decide(p, &req, NULL).error, EACCES);
	ward_policy_state_put(p, req.state);
	ward_policy_state_put(p, req.root);
	ward_grants_free(s);
	ward_policy_unref(p);
}
END_TEST

START_TEST(links_need_it_at_each_name)
{
	struct ward_policy *p = policy_of(HEAD RULES);
	struct ward_grants *s = NULL;
	ck_assert_int_eq(ward_grants_new(&s), 0);
	(void)give(s, a_grant(write_docs, WARD_RIGHTS_ALL));
	const struct ward_state *here = policy_walk(p, "/w/docs/a");
	const struct ward_state *other[] = {policy_walk(p, "/w/b")};
	struct ward_granted m = match(s, "/w/docs/a", 10), m2 = match(s, "/w/b", 10);
	struct ward_request req = {.action = WARD_ACTION_ACCESS,
		.rights = WARD_RIGHT_WRITE,
		.state = here,
		.grants = &m};
	ck_assert_int_eq(ward_policy_decide(p, &req, NULL).verdict, WARD_VERDICT_ALLOW);
	req.others = other;
	req.n_others = 1;
	ck_assert_int_eq(ward_policy_decide(p, &req, NULL).verdict, WARD_VERDICT_DENY);
	req.other_grants = &m2;
	ck_assert_int_eq(ward_policy_decide(p, &req, NULL).verdict, WARD_VERDICT_DENY);
	static char b[] = "/w/b";
	(void)give(s, a_grant(b, WARD_RIGHTS_ALL));
	m2 = match(s, "/w/b", 10);
	ck_assert_int_eq(ward_policy_decide(p, &req, NULL).verdict, WARD_VERDICT_ALLOW);
	ward_policy_state_put(p, here);
	ward_policy_state_put(p, other[0]);
	ward_grants_free(s);
	ward_policy_unref(p);
}
END_TEST

static void count_end(void *user, struct ward_grant_held *g, enum ward_grant_end end)
{
	unsigned *n = user;
	n[end]++;
}

static struct ward_grant glass(char *lifts)
{
	struct ward_grant g = a_grant(write_docs, WARD_RIGHTS_ALL);
	g.lifts = lifts;
	g.reason = (char *)"why";
	g.until_ns = 100;
	return g;
}

START_TEST(break_glass_lifts_what_it_names)
{
	static const struct {
		const char *guard, *lifts;
		bool yes;
	} rows[] = {
		{"[guard]\ndeny = docs/a\n", "deny = docs/a", true},
		{"[guard]\nread = /w/docs\n", "read = /w/docs", true},
		{"[guard]\nhide = a\n", "hide = a", true},
		{"[guard]\nsecret = a\n", "secret = a", true},
		{"[guard]\ndeny = a\nhide = docs/*\n", "deny = a\nhide = docs/*", true},
		{"[guard]\ndeny = a\nhide = docs/*\n", "deny = a", false},
		{"[guard]\nsecret = a\nsecret = docs/a\n", "secret = a", false},
		{"[guard]\ndeny = docs/a\n", "deny = docs/", false},
		{"[guard]\ndeny = docs/a\n", "hide = docs/a", false},
		{"[guard]\ndeny = docs/a\n", "deny = docs/a ", false},
		{"[guard]\ndeny = docs/a\n", "deny = docs/ab", false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[512], lifts[64];
		snprintf(text, sizeof(text), HEAD RULES "%s", rows[i].guard);
		snprintf(lifts, sizeof(lifts), "%s", rows[i].lifts);
		struct ward_policy *p = policy_of(text);
		struct ward_grants *s = NULL;
		ck_assert_int_eq(ward_grants_new(&s), 0);
		const struct ward_grant_held *plain = give(s, a_grant(write_docs, WARD_RIGHTS_ALL));
		ck_assert_int_ne(may_write(p, s, "/w/docs/a"), WARD_VERDICT_ALLOW);
		const struct ward_grant_held *g = give(s, glass(lifts));
		const struct ward_decision d =
			ask(p, s, WARD_ACTION_ACCESS, "/w/docs/a", WARD_RIGHT_WRITE, 10);
		ck_assert_msg((d.verdict == WARD_VERDICT_ALLOW) == rows[i].yes, "%s: %s",
			rows[i].guard, rows[i].lifts);
		/* the one that gives it is named and used, not the other one */
		ck_assert(!rows[i].yes || (d.rule == &g->rule && d.by_glass & WARD_RIGHT_WRITE));
		ck_assert_int_ne(
			ask(p, s, WARD_ACTION_ACCESS, "/w/docs/a", WARD_RIGHT_WRITE, 100).verdict,
			WARD_VERDICT_ALLOW);
		ck_assert_int_eq(ward_grants_revoke(s, plain->grant.id), 0);
		/* where no guard is, it is an ordinary grant, and none beside its pattern */
		ck_assert_int_ne(may_write(p, s, "/w/other/docs/a"), WARD_VERDICT_ALLOW);
		ward_grants_free(s);
		ward_policy_unref(p);
	}
}
END_TEST

START_TEST(break_glass_leaves_the_floor)
{
	static const char base[] = HEAD RULES "[guard]\ndeny = docs/a\n";
	static const char *const floors[] = {"[policy]\nversion = 1\n",
		"[policy]\nversion = 1\n[guard]\ndeny = docs/a\n",
		"[policy]\nversion = 1\n[files]\nread = /w/docs\n",
		"[policy]\nversion = 1\n[guard]\nsecret = a\n"};
	for (size_t i = 0; i < sizeof(floors) / sizeof(*floors); i++) {
		const struct ward_source_text v[] = {
			{WARD_SOURCE_BASE, "f", base, sizeof(base) - 1},
			{WARD_SOURCE_FLOOR, "floor", floors[i], strlen(floors[i])}};
		char lifts[] = "deny = docs/a\nsecret = a\nread = /w/docs";
		struct ward_policy *p = NULL;
		struct ward_grants *s = NULL;
		struct ward_err err = WARD_ERR_INIT;
		ck_assert_int_eq(ward_policy_compile(v, 2, &p, &err), 0);
		ck_assert_int_eq(ward_grants_new(&s), 0);
		(void)give(s, glass(lifts));
		ck_assert_int_eq(may_write(p, s, "/w/docs/a") == WARD_VERDICT_ALLOW, i == 0);
		ck_assert_int_eq(ward_policy_may_lift(p, "deny = docs/a", &err), 0);
		ck_assert_int_eq(ward_policy_may_lift(p, "deny = docs/b", &err), -EPERM);
		ck_assert_int_eq(ward_policy_may_lift(p, "secret = a", &err), -EPERM);
		ward_grants_free(s);
		ward_policy_unref(p);
	}
}
END_TEST

/* A file with a name outside of what is lifted keeps the guard; the name does not move away. */
START_TEST(break_glass_keeps_names)
{
	char one[] = "deny = docs/a";
	struct ward_policy *p =
		policy_of(HEAD "[files]\nwrite = /w\n[guard]\ndeny = docs/a\ndeny = b\n");
	struct ward_grants *s = NULL;
	ck_assert_int_eq(ward_grants_new(&s), 0);
	(void)give(s, glass(one));
	const struct ward_granted at = match(s, "/w/docs/a", 10), none = match(s, "/w/x", 10);
	const struct ward_state *a = policy_walk(p, "/w/docs/a"), *x = policy_walk(p, "/w/x");
	const struct ward_state *b = policy_walk(p, "/w/b");
	struct ward_request req = {.action = WARD_ACTION_ACCESS,
		.rights = WARD_RIGHT_WRITE,
		.state = a,
		.grants = &at,
		.others = &x,
		.other_grants = &none,
		.n_others = 1};
	ck_assert_int_eq(ward_policy_decide(p, &req, NULL).verdict, WARD_VERDICT_ALLOW);
	req.others = &b;
	ck_assert_int_eq(ward_policy_decide(p, &req, NULL).verdict, WARD_VERDICT_DENY);
	struct ward_request move = {.action = WARD_ACTION_RENAME,
		.state = a,
		.grants = &at,
		.state2 = x,
		.grants2 = &none};
	ck_assert_int_eq(ward_policy_decide(p, &move, NULL).error, EXDEV);
	move.action = WARD_ACTION_LINK;
	ck_assert_int_eq(ward_policy_decide(p, &move, NULL).error, EXDEV);
	/* The control: a name that no guard covers. */
	move.state = x;
	move.grants = &none;
	ck_assert_int_eq(ward_policy_decide(p, &move, NULL).verdict, WARD_VERDICT_ALLOW);
	ward_policy_state_put(p, a);
	ward_policy_state_put(p, b);
	ward_policy_state_put(p, x);
	ward_grants_free(s);
	ward_policy_unref(p);
}
END_TEST

START_TEST(ends_exactly)
{
	struct ward_policy *p = policy_of(HEAD RULES);
	struct ward_grants *s = NULL;
	unsigned ends[4] = {0};
	ck_assert_int_eq(ward_grants_new(&s), 0);
	struct ward_grant g = a_grant(write_docs, WARD_RIGHTS_ALL);
	g.from_ns = 100;
	g.until_ns = 200;
	const struct ward_grant_held *given = give(s, g);
	ck_assert_uint_eq(ward_grants_next_end(s), 200);
	for (uint64_t now = 98; now < 203; now++)
		ck_assert_int_eq(
			ask(p, s, WARD_ACTION_ACCESS, "/w/docs/a", WARD_RIGHT_WRITE, now).verdict ==
				WARD_VERDICT_ALLOW,
			now >= 100 && now < 200);
	ck_assert(ward_held_holds(given, 199) && !ward_held_holds(given, 200));
	ward_grants_ended(s, 199, count_end, ends);
	ck_assert_uint_eq(ends[WARD_GRANT_EXPIRED], 0);
	ward_grants_ended(s, 200, count_end, ends);
	ward_grants_ended(s, 300, count_end, ends);
	ck_assert_uint_eq(ends[WARD_GRANT_EXPIRED], 1);
	ck_assert(!ward_grants_any(s));
	/* whatever a clock says later */
	ck_assert_int_eq(ward_held_end(given, 150), WARD_GRANT_EXPIRED);
	ck_assert_int_eq(ward_grants_revoke(s, given->grant.id), -ENOENT);
	given = give(s, a_grant(write_docs, WARD_RIGHTS_ALL));
	ck_assert_int_eq(may_write(p, s, "/w/docs/a"), WARD_VERDICT_ALLOW);
	ck_assert_int_eq(ward_grants_revoke(s, given->grant.id), 0);
	ck_assert_int_eq(may_write(p, s, "/w/docs/a"), WARD_VERDICT_DENY);
	ck_assert_int_eq(ward_grants_revoke(s, given->grant.id), -ENOENT);
	ward_grants_free(s);
	ward_policy_unref(p);
}
END_TEST

START_TEST(uses_are_exact)
{
	struct ward_policy *p = policy_of(HEAD RULES);
	struct ward_grants *s = NULL;
	unsigned ends[4] = {0};
	ck_assert_int_eq(ward_grants_new(&s), 0);
	struct ward_grant g = a_grant(write_docs, WARD_RIGHTS_ALL);
	g.uses = 3;
	const struct ward_grant_held *given = give(s, g);
	struct ward_granted m = match(s, "/w/docs/a", 1);
	/* several rights of one grant are one use; stat and list are no use */
	ck_assert_int_eq(ward_grants_use(&m, WARD_RIGHT_STAT | WARD_RIGHT_LIST, 1), 0);
	ck_assert_uint_eq(ward_held_left(given), 3);
	for (uint32_t left = 3; left-- > 0;) {
		ck_assert_int_eq(ward_grants_use(&m, WARD_RIGHT_READ | WARD_RIGHT_WRITE, 1), 0);
		ck_assert_uint_eq(ward_held_left(given), left);
	}
	ck_assert_int_eq(ward_grants_use(&m, WARD_RIGHT_WRITE, 1), -EDQUOT);
	ck_assert_int_eq(may_write(p, s, "/w/docs/a"), WARD_VERDICT_DENY);
	/* what was opened stays so, and can be seen */
	ck_assert(ward_held_holds(given, 1));
	ck_assert_int_eq(match(s, "/w/docs/a", 1).rights, WARD_RIGHT_STAT | WARD_RIGHT_LIST);
	ward_grants_ended(s, 1, count_end, ends);
	ward_grants_ended(s, 1, count_end, ends);
	ck_assert_uint_eq(ends[WARD_GRANT_SPENT], 1);
	ck_assert_int_eq(ward_grants_revoke(s, given->grant.id), 0);
	ward_grants_ended(s, 1, count_end, ends);
	ck_assert_uint_eq(ends[WARD_GRANT_REVOKED], 1);
	ck_assert(!ward_held_holds(given, 1));
	ward_grants_free(s);
	ward_policy_unref(p);
}
END_TEST

START_TEST(bad_ones_are_refused)
{
	static char *const patterns[] = {
		(char *)"docs", (char *)"/", (char *)"/**/docs", (char *)"/w/[", (char *)""};
	struct ward_grants *s = NULL;
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_int_eq(ward_grants_new(&s), 0);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		const struct ward_grant g = a_grant(patterns[i], WARD_RIGHT_READ);
		ck_assert_msg(ward_grants_add(s, &g, NULL, &err) == -EINVAL, "%s", patterns[i]);
	}
	struct ward_grant g = a_grant(write_docs, 0);
	ck_assert_int_eq(ward_grants_add(s, &g, NULL, &err), -EINVAL);
	g.rights = WARD_RIGHT_READ;
	g.host = (char *)"example.org";
	ck_assert_int_eq(ward_grants_add(s, &g, NULL, &err), -EINVAL);
	g.host = NULL;
	g.from_ns = g.until_ns = 5;
	ck_assert_int_eq(ward_grants_add(s, &g, NULL, &err), -EINVAL);
	g.until_ns = 6;
	ck_assert_int_eq(ward_grants_add(s, &g, NULL, &err), 0);
	ward_grants_free(s);
}
END_TEST

START_TEST(travels_whole)
{
	struct ward_grant g = a_grant(write_docs, WARD_RIGHT_READ), got;
	g.reason = (char *)"why";
	g.until_ns = 9;
	g.uses = 4;
	struct ward_msg m;
	ward_msg_init(&m, 1);
	ward_grant_put(&m, &g);
	for (size_t len = 8; len < m.buf.len; len++) {
		struct ward_msg_reader r;
		ward_msg_reader_init(&r, m.buf.data, len);
		ck_assert_int_eq(ward_grant_get(&r, &got), -EBADMSG);
	}
	struct ward_msg_reader r;
	ward_msg_reader_init(&r, m.buf.data, m.buf.len);
	ck_assert_int_eq(ward_grant_get(&r, &got), 0);
	ck_assert_int_eq(ward_msg_done(&r), 0);
	ck_assert_str_eq(got.pattern, g.pattern);
	ck_assert_str_eq(got.reason, "why");
	ck_assert_uint_eq(got.uses, 4);
	ck_assert_uint_eq(got.until_ns, 9);
	ck_assert_ptr_null(got.host);
	ward_grant_clear(&got);
	ward_msg_clear(&m);
}
END_TEST

static enum ward_verdict connects(
	const struct ward_policy *p, const char *to, struct ward_grant_held **ret)
{
	struct ward_buf place = WARD_BUF_INIT, text = WARD_BUF_INIT;
	enum ward_verdict v = ward_policy_connect_by(p, to, false, ret, &place, &text);
	ward_buf_clear(&place);
	ward_buf_clear(&text);
	return v;
}

START_TEST(hosts)
{
	struct ward_policy *p = policy_of(
		HEAD RULES "[network]\nmode = allowlist\nallow = a.example\ndeny = bad.example\n");
	struct ward_grants *s = NULL;
	struct ward_grant_held *by = NULL;
	struct ward_grant g = {.issuer = (char *)"test", .host = (char *)"b.example:8443"};
	ck_assert_int_eq(ward_grants_new(&s), 0);
	ward_policy_use_grants(p, s);
	ck_assert_int_eq(connects(p, "b.example:8443", &by), WARD_VERDICT_DENY);
	const struct ward_grant_held *given = give(s, g);
	ck_assert_int_eq(connects(p, "b.example:8443", &by), WARD_VERDICT_ALLOW);
	ck_assert_ptr_eq(by, given);
	ck_assert_int_eq(connects(p, "b.example:443", &by), WARD_VERDICT_DENY);
	ck_assert_int_eq(connects(p, "a.example:443", &by), WARD_VERDICT_ALLOW);
	ck_assert_ptr_null(by);
	struct ward_reach reach;
	ward_policy_reach(p, "b.example", &reach);
	ck_assert_uint_eq(reach.n_tcp, 1);
	/* a `deny` stays */
	g.host = (char *)"bad.example:443";
	(void)give(s, g);
	ck_assert_int_eq(connects(p, "bad.example:443", &by), WARD_VERDICT_DENY);
	ck_assert_int_eq(ward_grants_revoke(s, given->grant.id), 0);
	ck_assert_int_eq(connects(p, "b.example:8443", &by), WARD_VERDICT_DENY);
	ward_policy_unref(p);
	ward_grants_free(s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_grants");
	TCase *t = tcase_create("all");
	tcase_add_test(t, adds_to_the_base);
	tcase_add_test(t, shows_the_way);
	tcase_add_test(t, lifts_nothing);
	tcase_add_test(t, moves_gain_nothing);
	tcase_add_test(t, links_need_it_at_each_name);
	tcase_add_test(t, break_glass_lifts_what_it_names);
	tcase_add_test(t, break_glass_leaves_the_floor);
	tcase_add_test(t, break_glass_keeps_names);
	tcase_add_test(t, ends_exactly);
	tcase_add_test(t, uses_are_exact);
	tcase_add_test(t, bad_ones_are_refused);
	tcase_add_test(t, travels_whole);
	tcase_add_test(t, hosts);
	suite_add_tcase(s, t);
	return suite_run(s);
}
