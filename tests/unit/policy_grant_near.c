/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set of grants against a linear search over the same grants: random patterns and paths of few
 * letters, so that they meet often. What covers a path must be the same; what covers it, or lies
 * beneath it, must be near; a path whose neighbours are far must be far somewhere, or nothing was
 * tested. And a reader beside a writer never misses what was there all the time.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/policy/grants.h"
#include "enforcer/policy/pattern.h"
#include "tests/support/suite.h"

#define GRANTS 60
#define ROUNDS 200
#define PATHS 200

static uint64_t seed;

/* SplitMix64: the same numbers in each run. */
static unsigned any(unsigned n)
{
	uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (unsigned)((z ^ z >> 31) % n);
}

/* A name of up to ten letters; few of them begin differently. */
static void name(struct ward_buf *b)
{
	for (unsigned n = 1 + any(any(4) ? 2 : 10); n > 0; n--)
		ward_buf_putc(b, any(20) ? (char)('a' + any(2)) : (char)(128 + any(128)));
}

static void path(struct ward_buf *b)
{
	ward_buf_clear(b);
	for (unsigned n = any(30) ? 1 + any(5) : 0; n > 0; n--) {
		ward_buf_putc(b, '/');
		name(b);
	}
	if (!b->len)
		ward_buf_putc(b, '/');
}

/* Some have wildcards, some escapes; "" where none can be a grant's. */
static void pattern(struct ward_buf *b)
{
	static const char *const wild[] = {"*", "?", "a*", "[ab]", "\\*", "b?a", "ab\\[", "[!a]"};
	ward_buf_clear(b);
	for (unsigned n = 1 + any(5); n > 0; n--) {
		ward_buf_putc(b, '/');
		if (any(6) == 0 && b->len > 1)
			ward_buf_puts(b, "**/");
		if (any(4) == 0)
			ward_buf_puts(b, wild[any(8)]);
		else
			name(b);
	}
	if (any(4) == 0)
		ward_buf_puts(b, "/**");
}

struct set {
	struct ward_grants *s;
	struct ward_pattern patterns[GRANTS];
	const struct ward_grant_held *held[GRANTS];
	bool ended[GRANTS];
	size_t n;
};

static void fill(struct set *t, size_t n)
{
	struct ward_buf b = WARD_BUF_INIT;
	*t = (struct set){.n = 0};
	ck_assert_int_eq(ward_grants_new(&t->s), 0);
	for (unsigned tries = 0; t->n < n && tries < 10 * GRANTS; tries++) {
		pattern(&b);
		const struct ward_grant g = {.rights = any(2) ? WARD_RIGHT_READ : WARD_RIGHT_WRITE,
			.pattern = b.data,
			.issuer = (char *)"test"};
		struct ward_err err = WARD_ERR_INIT;
		if (ward_grants_add(t->s, &g, &t->held[t->n], &err) < 0)
			continue;
		ck_assert_int_eq(ward_pattern_parse(b.data, false, &t->patterns[t->n++], &err), 0);
	}
	ck_assert_uint_eq(t->n, n);
	ward_buf_clear(&b);
}

static void end_some(struct set *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (any(3))
			continue;
		ck_assert_int_eq(ward_grants_revoke(t->s, t->held[i]->grant.id), 0);
		t->ended[i] = true;
	}
	ward_grants_ended(t->s, 1, NULL, NULL);
}

static void clear(struct set *t)
{
	for (size_t i = 0; i < t->n; i++)
		ward_pattern_clear(&t->patterns[i]);
	ward_grants_free(t->s);
}

/* Rights of all that covers the path, one after the other. */
static uint32_t linear(const struct set *t, const struct ward_buf *p)
{
	uint32_t rights = 0;
	for (size_t i = 0; i < t->n; i++)
		if (!t->ended[i] && ward_pattern_covers_path(&t->patterns[i], p->data, p->len))
			rights |= t->held[i]->grant.rights | WARD_RIGHT_STAT | WARD_RIGHT_LIST;
	return rights;
}

/* How many of these paths were far from all, and how many were covered. */
struct count {
	size_t far, covered;
};

static void compare(const struct set *t, const struct ward_buf *p, struct count *c)
{
	struct ward_granted m;
	const uint32_t rights = linear(t, p);
	const bool near = ward_grants_near(t->s, p->data, p->len);
	ck_assert_int_eq(ward_grants_match(t->s, p->data, p->len, 7, 1, &m), 0);
	ck_assert_msg(
		m.rights == rights, "%s: %x, and by linear search %x", p->data, m.rights, rights);
	ck_assert_msg(near || !(m.rights || m.passage), "%s is far", p->data);
	c->covered += rights != 0;
	c->far += !near;
	if (!rights)
		return;
	/* Directories above a covered path can be passed, so they are near as well. */
	for (size_t len = p->len; len > 1; len--)
		ck_assert(p->data[len - 1] != '/' || ward_grants_near(t->s, p->data, len - 1));
	ck_assert(ward_grants_near(t->s, "/", 1));
}

START_TEST(agrees_with_a_linear_search)
{
	struct ward_buf p = WARD_BUF_INIT;
	struct count c = {0}, after = {0};
	seed = 1;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct set t;
		fill(&t, any(GRANTS) + 1);
		for (unsigned i = 0; i < PATHS; i++) {
			path(&p);
			compare(&t, &p, &c);
		}
		end_some(&t);
		for (unsigned i = 0; i < PATHS; i++) {
			path(&p);
			compare(&t, &p, &after);
		}
		clear(&t);
	}
	/* Both happened, often. */
	ck_assert_uint_gt(c.far, ROUNDS);
	ck_assert_uint_gt(c.covered, ROUNDS);
	ck_assert_uint_gt(after.far, c.far);
	ward_buf_clear(&p);
}
END_TEST

START_TEST(far_is_found_among_many)
{
	char text[64];
	struct ward_grants *s = NULL;
	struct ward_grant g = {
		.rights = WARD_RIGHT_WRITE, .pattern = text, .issuer = (char *)"test"};
	ck_assert_int_eq(ward_grants_new(&s), 0);
	ck_assert(!ward_grants_near(s, "/w/a", 4));
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "/w/module%u/docs/**", i);
		ck_assert_int_eq(ward_grants_add(s, &g, NULL, NULL), 0);
	}
	static const char *const far[] = {
		"/w/main.c", "/w/module7/src", "/w/module7x", "/w/module1000/docs/a", "/x", "/wa"};
	for (size_t i = 0; i < sizeof(far) / sizeof(*far); i++)
		ck_assert_msg(!ward_grants_near(s, far[i], strlen(far[i])), "%s", far[i]);
	static const char *const near[] = {"/", "/w", "/w/module7", "/w/module7/docs",
		"/w/module7/docs/a/b/c", "/w/module999/docs/a"};
	for (size_t i = 0; i < sizeof(near) / sizeof(*near); i++)
		ck_assert_msg(ward_grants_near(s, near[i], strlen(near[i])), "%s", near[i]);
	ward_grants_free(s);
}
END_TEST

struct race {
	struct ward_grants *s;
	_Atomic bool done;
	size_t far, missed;
};

static void *read_on(void *user)
{
	struct race *r = user;
	static const char mine[] = "/w/stays/for/ever", other[] = "/w/other";
	while (!atomic_load(&r->done)) {
		r->missed += !ward_grants_near(r->s, mine, strlen(mine));
		r->far += !ward_grants_near(r->s, other, strlen(other));
	}
	return NULL;
}

START_TEST(a_reader_beside_a_writer_misses_nothing)
{
	struct race r = {.far = 0};
	pthread_t reader;
	char text[] = "/w/stays/**", id[WARD_GRANT_ID_SIZE];
	struct ward_buf b = WARD_BUF_INIT;
	struct ward_grant g = {
		.rights = WARD_RIGHT_READ, .pattern = text, .issuer = (char *)"test"};
	const struct ward_grant_held *held;
	seed = 2;
	ck_assert_int_eq(ward_grants_new(&r.s), 0);
	ck_assert_int_eq(ward_grants_add(r.s, &g, NULL, NULL), 0);
	ck_assert_int_eq(pthread_create(&reader, NULL, read_on, &r), 0);
	for (unsigned i = 0; i < 400; i++) {
		ward_buf_clear(&b);
		ward_buf_puts(&b, "/w/s");
		for (unsigned n = any(100); n > 0; n--) {
			name(&b);
			if (any(3) == 0)
				ward_buf_putc(&b, '/');
			name(&b);
		}
		g.pattern = b.data;
		ck_assert_int_eq(ward_grants_add(r.s, &g, &held, NULL), 0);
		strcpy(id, held->grant.id);
		if (any(3) == 0)
			continue;
		ck_assert_int_eq(ward_grants_revoke(r.s, id), 0);
		if (any(4) == 0)
			ward_grants_ended(r.s, 1, NULL, NULL);
	}
	atomic_store(&r.done, true);
	pthread_join(reader, NULL);
	ck_assert_uint_eq(r.missed, 0);
	ck_assert_uint_gt(r.far, 0);
	ward_buf_clear(&b);
	ward_grants_free(r.s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_grant_near");
	TCase *t = tcase_create("all");
	tcase_set_timeout(t, 300);
	tcase_add_test(t, agrees_with_a_linear_search);
	tcase_add_test(t, far_is_found_among_many);
	tcase_add_test(t, a_reader_beside_a_writer_misses_nothing);
	suite_add_tcase(s, t);
	return suite_run(s);
}
