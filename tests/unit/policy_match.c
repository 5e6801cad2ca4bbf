/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The automaton against a naive matcher, and what must hold of every policy: on random patterns,
 * policies and paths over a small alphabet, so that they meet often.
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/automaton.h"
#include "enforcer/policy/policy.h"
#include "tests/support/policies.h"
#include "tests/support/suite.h"

#define HEAD "[policy]\nversion = 1\n"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DISTINCT_NAMES 50000U /* each step takes ten times as long */
#define PAIR_ROUNDS 240U
#else
#define DISTINCT_NAMES 1000000U
#define PAIR_ROUNDS 1020U /* of 2,000 pairs */
#endif

/* --- the naive matcher: text against text, by recursion --- */

static bool naive_set(const char **p, unsigned char c)
{
	const char *s = *p + 1;
	bool negated = *s == '!', found = false;
	s += negated;
	do {
		unsigned char lo = (unsigned char)*s++, hi = lo;
		if (s[0] == '-' && s[1] != ']') {
			hi = (unsigned char)s[1];
			s += 2;
		}
		found = found || (c >= lo && c <= hi);
	} while (*s != ']');
	*p = s + 1;
	return found != negated;
}

static bool naive_name(const char *p, const char *name)
{
	if (!*p)
		return !*name;
	if (*p == '*')
		return naive_name(p + 1, name) || (*name && naive_name(p, name + 1));
	if (!*name)
		return false;
	if (*p == '[') {
		bool hit = naive_set(&p, (unsigned char)*name);
		return hit && naive_name(p, name + 1);
	}
	return (*p == '?' || *p == *name) && naive_name(p + 1, name + 1);
}

/* Do the components match a prefix of the names (the pattern covers what is beneath)? */
static bool naive_path(char *const *comps, size_t n, char *const *names, size_t m)
{
	if (n == 0)
		return true;
	if (strcmp(comps[0], "**") == 0) {
		if (n == 1)
			return m > 0;
		for (size_t skip = 0; skip <= m; skip++)
			if (naive_path(comps + 1, n - 1, names + skip, m - skip))
				return true;
		return false;
	}
	return m > 0 && naive_name(comps[0], names[0]) &&
	       naive_path(comps + 1, n - 1, names + 1, m - 1);
}

static size_t split(char *s, char **v)
{
	size_t n = 0;
	for (char *t = strtok(s, "/"); t; t = strtok(NULL, "/"))
		v[n++] = t;
	return n;
}

static bool naive(const char *pattern, const char *path)
{
	char a[5200], b[512], *comps[64], *names[64];
	snprintf(a, sizeof(a), "%s%s", pattern[0] == '/' ? "" : "**/", pattern);
	snprintf(b, sizeof(b), "%s", path);
	size_t n = split(a, comps);
	return naive_path(comps, n, names, split(b, names));
}

/* --- random texts --- */

static void random_glob(char *out)
{
	static const char *const parts[] = {
		"a", "b", "c", ".", "*", "?", "[ab]", "[!a]", "[a-c]", "[!b-c]"};
	size_t n = 1 + rnd(4);
	out[0] = 0;
	for (size_t i = 0; i < n; i++) {
		const char *part = parts[rnd(sizeof(parts) / sizeof(parts[0]))];
		size_t len = strlen(out);
		if (part[0] == '*' && len && out[len - 1] == '*')
			part = "a";
		strcat(out, part);
	}
	if (strcmp(out, ".") == 0 || strcmp(out, "..") == 0)
		strcpy(out, "a");
}

static void random_pattern(char *out)
{
	size_t n = 1 + rnd(4);
	strcpy(out, rnd(2) ? "/" : "");
	for (size_t i = 0; i < n; i++) {
		char glob[64];
		random_glob(glob);
		if (i)
			strcat(out, "/");
		if (rnd(5) == 0)
			strcat(out, "**");
		else if (rnd(2))
			strcat(out, glob);
		else
			strcat(out, rnd(2) ? "a" : "b");
	}
}

static void random_path(char *out)
{
	static const char letters[] = "abcd.";
	size_t n = 1 + rnd(5);
	out[0] = 0;
	for (size_t i = 0; i < n; i++) {
		char name[8];
		size_t len = 1 + rnd(4);
		for (size_t k = 0; k < len; k++)
			name[k] = letters[rnd(5)];
		name[len] = 0;
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			strcpy(name, "a");
		strcat(out, "/");
		strcat(out, name);
	}
}

START_TEST(matches_as_the_naive_matcher)
{
	/* memory: plenty; hardly any, so that most states are single ones; none */
	static const size_t memory[] = {64 << 20, 6000, 0};
	size_t matched = 0, pairs = 0;
	for (unsigned round = 0; round < PAIR_ROUNDS; round++) {
		enum { N = 20 };
		char text[N][256];
		struct ward_pattern pats[N];
		for (size_t i = 0; i < N; i++) {
			struct ward_err err = WARD_ERR_INIT;
			random_pattern(text[i]);
			ck_assert_msg(ward_pattern_parse(text[i], false, &pats[i], &err) == 0,
				"%s: %s", text[i], err.text);
		}
		struct ward_automaton *a = NULL;
		extern void nothing(const void *, const struct ward_automaton *,
			const struct ward_state *, struct ward_outcome *);
		ck_assert_int_eq(
			ward_automaton_new(pats, N, nothing, NULL, memory[round % 3], &a), 0);
		for (size_t k = 0; k < 100; k++) {
			char path[256];
			random_path(path);
			const struct ward_state *s = ward_automaton_root(a);
			for (const char *c = path; *c;) {
				size_t n = strcspn(c + 1, "/");
				const struct ward_state *next = NULL;
				ck_assert_int_eq(ward_automaton_step(a, s, c + 1, n, &next), 0);
				ward_state_put(s);
				s = next;
				c += 1 + n;
			}
			for (uint32_t i = 0, h = 0; i < N; i++, pairs++) {
				bool hit = h < s->n_hits && ward_state_hits(s)[h] == i;
				h += hit;
				matched += hit;
				ck_assert_msg(hit == naive(text[i], path), "%s on %s: %d", text[i],
					path, hit);
			}
			ward_state_put(s);
		}
		ward_automaton_free(a);
		for (size_t i = 0; i < N; i++)
			ward_pattern_clear(&pats[i]);
	}
	/* the pairs are of both kinds, or nothing was tested */
	ck_assert_uint_gt(matched, pairs / 50);
	ck_assert_uint_lt(matched, pairs - pairs / 50);
}
END_TEST

void nothing(const void *ctx, const struct ward_automaton *a, const struct ward_state *s,
	struct ward_outcome *ret);
void nothing(const void *ctx, const struct ward_automaton *a, const struct ward_state *s,
	struct ward_outcome *ret)
{
	(void)ctx;
	(void)a;
	(void)s;
	*ret = (struct ward_outcome){.give = 0};
}

/* --- properties --- */

static void random_rules(char *out, const char *section, bool guard)
{
	static const char *const verbs[] = {
		"hide", "deny", "read", "append", "ask", "noexec", "write"};
	size_t n = 1 + rnd(5);
	sprintf(out, HEAD "[%s]\n", section);
	for (size_t i = 0; i < n; i++) {
		char pattern[256];
		random_pattern(pattern);
		sprintf(out + strlen(out), "%s = %s\n", verbs[rnd(guard ? 6 : 7)], pattern);
	}
}

static struct ward_policy *compile(const struct ward_source_text *s, size_t n)
{
	struct ward_policy *p = NULL;
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_msg(ward_policy_compile(s, n, &p, &err) == 0, "%s", err.text);
	return p;
}

static struct ward_source_text source(enum ward_source_kind kind, const char *text)
{
	return (struct ward_source_text){kind, ward_source_name(kind), text, strlen(text)};
}

START_TEST(taking_away_never_widens)
{
	size_t less = 0;
	for (unsigned round = 0; round < SUITE_ROUNDS(1500U); round++) {
		char base[4096], other[4096];
		random_rules(base, "files", false);
		bool guard = rnd(2);
		random_rules(other, guard ? "guard" : "files", guard);
		enum ward_source_kind kind = rnd(2)	       ? WARD_SOURCE_FLOOR
					     : guard && rnd(2) ? WARD_SOURCE_RUN
							       : WARD_SOURCE_PROJECT;
		const struct ward_source_text s[] = {
			source(WARD_SOURCE_BASE, base), source(kind, other)};
		struct ward_policy *p = compile(s, 1), *q = compile(s, 2);
		for (size_t k = 0; k < 30; k++) {
			char path[256];
			random_path(path);
			uint32_t before = policy_rights(p, path), after = policy_rights(q, path);
			ck_assert_msg(!(after & ~before), "%s: %x %x\n%s%s", path, before, after,
				base, other);
			less += before != after;
		}
		ward_policy_unref(p);
		ward_policy_unref(q);
	}
	ck_assert_uint_gt(less, SUITE_ROUNDS(1000U));
}
END_TEST

START_TEST(order_of_what_takes_away_does_not_matter)
{
	for (unsigned round = 0; round < SUITE_ROUNDS(500U); round++) {
		char base[4096], a[4096], b[4096];
		random_rules(base, "files", false);
		random_rules(a, "files", false);
		random_rules(b, "files", false);
		const struct ward_source_text s[] = {source(WARD_SOURCE_BASE, base),
			source(WARD_SOURCE_FLOOR, a), source(WARD_SOURCE_PROJECT, b)};
		const struct ward_source_text t[] = {source(WARD_SOURCE_PROJECT, a),
			source(WARD_SOURCE_BASE, base), source(WARD_SOURCE_FLOOR, b)};
		struct ward_policy *p = compile(s, 3), *q = compile(t, 3);
		for (size_t k = 0; k < 50; k++) {
			char path[256];
			random_path(path);
			ck_assert_uint_eq(policy_rights(p, path), policy_rights(q, path));
		}
		ward_policy_unref(p);
		ward_policy_unref(q);
	}
}
END_TEST

/* Everything allowed was granted. Everything visible can be reached through its directories. */
START_TEST(allowed_is_granted_and_reachable)
{
	size_t visible = 0, passages = 0;
	for (unsigned round = 0; round < SUITE_ROUNDS(1500U); round++) {
		char base[4096], floor[4096];
		random_rules(base, "files", false);
		random_rules(floor, "files", false);
		const struct ward_source_text s[] = {
			source(WARD_SOURCE_BASE, base), source(WARD_SOURCE_FLOOR, floor)};
		struct ward_policy *p = compile(s, 1 + rnd(2));
		for (size_t k = 0; k < 30; k++) {
			char path[256];
			random_path(path);
			const struct ward_state *st = policy_walk(p, path);
			struct ward_request req = {.action = WARD_ACTION_ACCESS,
				.rights = 1U + rnd(WARD_RIGHTS_ALL),
				.state = st};
			struct ward_decision d = ward_policy_decide(p, &req, NULL);
			if (d.verdict == WARD_VERDICT_ALLOW)
				ck_assert_uint_eq(req.rights & ~d.granted, 0);
			else
				ck_assert_int_ne(d.error, 0);
			bool seen = st->outcome.give & WARD_RIGHT_STAT;
			ward_policy_state_put(p, st);
			visible += seen;
			while (seen && strrchr(path, '/') != path) {
				*strrchr(path, '/') = 0;
				st = policy_walk(p, path);
				req = (struct ward_request){.action = WARD_ACTION_ACCESS,
					.rights = WARD_RIGHT_STAT | WARD_RIGHT_LIST,
					.flags = WARD_REQUEST_DIR,
					.state = st};
				passages += !(st->outcome.give & WARD_RIGHT_STAT);
				d = ward_policy_decide(p, &req, NULL);
				ck_assert_msg(
					d.verdict == WARD_VERDICT_ALLOW, "%s\n%s", path, base);
				ward_policy_state_put(p, st);
			}
		}
		ward_policy_unref(p);
	}
	ck_assert_uint_gt(visible, SUITE_ROUNDS(1000U));
	ck_assert_uint_gt(passages, SUITE_ROUNDS(100U));
}
END_TEST

/* A directory moved with leave gives nothing anywhere beneath that it did not give before. */
START_TEST(a_move_never_widens)
{
	size_t allowed = 0, different = 0;
	for (unsigned round = 0; round < SUITE_ROUNDS(3000U); round++) {
		char base[4096], floor[4096];
		random_rules(base, "files", false);
		strcat(base, "write = /\n");
		random_rules(base + strlen(base), "files", false);
		char *again = strstr(base + 1, HEAD);
		memset(again, '\n', strlen(HEAD));
		random_rules(floor, "guard", true);
		const struct ward_source_text s[] = {
			source(WARD_SOURCE_BASE, base), source(WARD_SOURCE_FLOOR, floor)};
		struct ward_policy *p = compile(s, 1 + rnd(2));
		char src[256], dst[256];
		random_path(src);
		random_path(dst);
		const struct ward_state *a = policy_walk(p, src), *b = policy_walk(p, dst);
		struct ward_request req = {.action = WARD_ACTION_RENAME,
			.flags = WARD_REQUEST_DIR,
			.state = a,
			.state2 = b};
		struct ward_decision d = ward_policy_decide(p, &req, NULL);
		allowed += d.verdict == WARD_VERDICT_ALLOW;
		for (size_t k = 0; d.verdict == WARD_VERDICT_ALLOW && k < 100; k++) {
			char x[256], y[256], suffix[128];
			random_path(suffix);
			snprintf(x, sizeof(x), "%.100s%.100s", src, suffix);
			snprintf(y, sizeof(y), "%.100s%.100s", dst, suffix);
			uint32_t before = policy_rights(p, x), after = policy_rights(p, y);
			different += before != after;
			ck_assert_msg(!(after & ~before), "%s %s\n%s%s", x, y, base, floor);
			/* what could not be made there directly is not brought there either */
			if (before & WARD_RIGHT_CREATE)
				ck_assert_msg(after & WARD_RIGHT_CREATE, "%s %s\n%s%s", x, y, base,
					floor);
		}
		ward_policy_state_put(p, a);
		ward_policy_state_put(p, b);
		ward_policy_unref(p);
	}
	ck_assert_uint_gt(allowed, SUITE_ROUNDS(300U));
	/* also between places that are not the same, or the relation was not tested */
	ck_assert_uint_gt(different, SUITE_ROUNDS(50U));
}
END_TEST

/* --- hostile patterns and names --- */

START_TEST(hostile_patterns_stay_bounded)
{
	/* exponential for a matcher that backtracks, and for an automaton without bound */
	char text[8192] = HEAD "[files]\nwrite = /\n";
	for (int i = 0; i < 40; i++) {
		strcat(text, "deny = *a");
		for (int k = 0; k < i; k++)
			strcat(text, "?");
		strcat(text, "\nhide = a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b\n");
	}
	const struct ward_source_text s = source(WARD_SOURCE_BASE, text);
	struct ward_policy *p = compile(&s, 1);
	for (unsigned i = 0; i < 600; i++) {
		char path[202];
		path[0] = '/';
		for (size_t k = 1; k < 201; k++)
			path[k] = (char)('a' + rnd(2));
		path[201] = 0;
		bool denied = false;
		for (size_t k = 0; k < 40; k++)
			denied = denied || path[200 - k] == 'a';
		size_t letters = 0;
		for (const char *c = path; *c; c++)
			letters += *c == 'a';
		bool hidden = path[1] == 'a' && path[200] == 'b' && letters >= 15;
		uint32_t r = policy_rights(p, path);
		/* of the two verbs the later line decides; the last deny stands behind all but one
		 */
		if (hidden)
			ck_assert_uint_eq(r, 0);
		else
			ck_assert_uint_eq(
				r, denied ? (WARD_RIGHT_STAT | WARD_RIGHT_LIST) : WARD_RIGHTS_ALL);
	}
	ward_policy_unref(p);
}
END_TEST

/* "/w/aa*a*…a", and "the i-th letter from the end is an a". */
static void hostile_pattern(unsigned i, char *out)
{
	strcpy(out, i % 2 ? "*a" : "/w/a");
	for (unsigned k = 0; k < i / 2; k++)
		strcat(out, i % 2 ? "?" : "a*");
	strcat(out, i % 2 ? "?" : "a");
}

/* A million distinct names, each of which meets other patterns: nothing grows past the
 * bound, and the answers stay right. */
START_TEST(memory_stays_bounded)
{
	enum { N = 24 };
	static const size_t bound = 1 << 20;
	struct ward_pattern pats[N];
	struct ward_automaton *a = NULL;
	char text[N][64];
	for (unsigned i = 0; i < N; i++) {
		hostile_pattern(i, text[i]);
		ck_assert_int_eq(ward_pattern_parse(text[i], false, &pats[i], NULL), 0);
	}
	ck_assert_int_eq(ward_automaton_new(pats, N, nothing, NULL, bound, &a), 0);
	const struct ward_state *w = NULL;
	ck_assert_int_eq(ward_automaton_step(a, ward_automaton_root(a), "w", 1, &w), 0);
	size_t before = ward_automaton_memory(a), most = 0;
	for (unsigned i = 0; i < DISTINCT_NAMES; i++) {
		char path[32] = "/w/", *name = path + 3;
		const struct ward_state *s = NULL;
		for (unsigned k = 0; k < 20; k++)
			name[k] = i >> k & 1 ? 'a' : 'b';
		ck_assert_int_eq(ward_automaton_step(a, w, name, 20, &s), 0);
		/* every so often against the naive matcher */
		for (uint32_t k = 0, h = 0; i % 4999 == 0 && k < N; k++) {
			bool hit = h < s->n_hits && ward_state_hits(s)[h] == k;
			h += hit;
			ck_assert_msg(hit == naive(text[k], path), "%s on %s", text[k], path);
		}
		ward_state_put(s);
		if (i % 1000 == 0 && ward_automaton_memory(a) > most)
			most = ward_automaton_memory(a);
	}
	/* the first states are there in any case, whatever the bound */
	ck_assert_uint_le(most, bound + before);
	/* and it was met, or nothing was tested */
	ck_assert_uint_gt(most, bound / 2);
	ward_state_put(w);
	ward_automaton_free(a);
	for (unsigned i = 0; i < N; i++)
		ward_pattern_clear(&pats[i]);
}
END_TEST

struct threads {
	struct ward_policy *p;
	uint32_t want[26];
	unsigned wrong;
};

static void *steps(void *arg)
{
	struct threads *t = arg;
	unsigned wrong = 0;
	for (unsigned i = 0; i < 26 * 400; i++) {
		char path[64];
		snprintf(path, sizeof(path), "/%c/%c%u/%c", 'a' + i % 26, 'a' + i % 26, i / 26,
			'a' + i % 26);
		const struct ward_state *s = NULL;
		if (ward_policy_walk(t->p, path, strlen(path), &s) < 0 ||
			ward_policy_rights(t->p, s) != t->want[i % 26])
			wrong++;
		ward_policy_state_put(t->p, s);
	}
	__atomic_fetch_add(&t->wrong, wrong, __ATOMIC_RELAXED);
	return NULL;
}

START_TEST(threads_see_the_same)
{
	char text[8192] = HEAD "[files]\n";
	struct threads t = {.wrong = 0};
	static const char *const verbs[] = {"hide", "deny", "read", "write"};
	static const uint32_t give[] = {0, 3, 15, WARD_RIGHTS_ALL};
	for (unsigned i = 0; i < 26; i++) {
		sprintf(text + strlen(text), "%s = /%c/%c*/?\n", verbs[i % 4], 'a' + i, 'a' + i);
		t.want[i] = give[i % 4];
	}
	const struct ward_source_text s = source(WARD_SOURCE_BASE, text);
	t.p = compile(&s, 1);
	pthread_t id[4];
	for (size_t i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&id[i], NULL, steps, &t), 0);
	for (size_t i = 0; i < 4; i++)
		pthread_join(id[i], NULL);
	ck_assert_uint_eq(t.wrong, 0);
	ward_policy_unref(t.p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_match");
	TCase *t = tcase_create("all");
	tcase_set_timeout(t, 280);
	tcase_add_test(t, matches_as_the_naive_matcher);
	tcase_add_test(t, taking_away_never_widens);
	tcase_add_test(t, order_of_what_takes_away_does_not_matter);
	tcase_add_test(t, allowed_is_granted_and_reachable);
	tcase_add_test(t, a_move_never_widens);
	tcase_add_test(t, hostile_patterns_stay_bounded);
	tcase_add_test(t, memory_stays_bounded);
	tcase_add_test(t, threads_see_the_same);
	suite_add_tcase(s, t);
	return suite_run(s);
}
