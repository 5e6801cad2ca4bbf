/* SPDX-License-Identifier: Apache-2.0 */
/* Quotas as numbers, one thing after the other and by sixteen threads at once. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/clock.h"
#include "enforcer/policy/policy.h"
#include "fs/quota/quota.h"
#include "tests/support/policies.h"
#include "tests/support/quotas.h"
#include "tests/support/suite.h"

static uint64_t used(struct ward_quotas *q, struct ward_quota_domain *d, uint64_t limit)
{
	struct ward_quota_room room;

	ward_quota_room(q, d, &room);
	return limit - room.bytes_free;
}

static struct ward_quota_file *make(
	struct ward_quotas *q, struct ward_quota_domain *d, uint64_t ino, uint64_t bytes)
{
	struct ward_quota_hit hit = {.error = 0};
	struct ward_quota_file *f;

	ck_assert_int_eq(ward_quota_make(q, d, bytes, &hit), 0);
	f = quotas_get(q, d, ino);
	ward_quota_made(q, f, bytes, true);
	return f;
}

/* What a write of n bytes at the end does; returns how many fitted. */
static uint64_t write_end(struct ward_quotas *q, struct ward_quota_file *f, uint64_t *size,
	uint64_t n, int *ret_error)
{
	struct ward_quota_hit hit = {.error = 0};
	uint64_t got = *size;
	int r;

	ward_quota_lock(q, f, true);
	r = ward_quota_grow(q, f, *size, *size + n, *size + 1, &got, &hit);
	ck_assert_int_eq(-r, hit.error);
	if (r == 0) {
		n = got - *size;
		*size = got;
		ward_quota_settle(q, f, got);
	} else {
		n = 0;
	}
	ward_quota_unlock(q, f);
	if (ret_error)
		*ret_error = hit.error;
	return n;
}

START_TEST(places)
{
	struct ward_quotas *q =
		quotas_of(QUOTAS_HEAD "[quota /w]\ngrowth = 9\n[quota /w/a/b]\nfiles = 1\n");
	bool splits;
	struct ward_quota_domain *w, *b;

	ck_assert_ptr_null(quotas_at(q, "", &splits));
	ck_assert_ptr_null(quotas_at(q, "x", &splits));
	ck_assert(!splits);
	w = quotas_at(q, "w", &splits);
	ck_assert_ptr_nonnull(w);
	ck_assert(splits);
	/* On the way to one, and beside it. */
	ck_assert_ptr_eq(quotas_at(q, "wa", &splits), w);
	ck_assert(splits);
	ck_assert_ptr_eq(quotas_at(q, "wax", &splits), w);
	ck_assert(!splits);
	b = quotas_at(q, "wab", &splits);
	ck_assert_ptr_ne(b, w);
	ck_assert(!splits);
	ck_assert_ptr_eq(quotas_at(q, "wabcd", &splits), b);
	ck_assert_uint_eq(ward_quota_wants(w), WARD_QUOTA_WANT_FILES | WARD_QUOTA_WANT_WRITES);
	ck_assert_uint_eq(ward_quota_wants(b), WARD_QUOTA_WANT_FILES | WARD_QUOTA_WANT_WRITES);
	ck_assert_uint_eq(ward_quota_wants(NULL), 0);
	ward_quotas_free(q);
	q = quotas_of(QUOTAS_HEAD);
	ck_assert(!ward_quotas_any(q));
	ck_assert_ptr_null(quotas_at(q, "w", NULL));
	ward_quotas_free(q);
}
END_TEST

START_TEST(to_the_byte)
{
	struct ward_quotas *q =
		quotas_of(QUOTAS_HEAD "[quota /w]\ngrowth = 100\n[quota /w/a]\ngrowth = 30\n");
	struct ward_quota_domain *w = quotas_at(q, "w", NULL), *a = quotas_at(q, "wa", NULL);
	struct ward_quota_file *f = make(q, w, 1, 0), *g = make(q, a, 2, 0);
	uint64_t sf = 0, sg = 0;
	int error;

	ck_assert_uint_eq(write_end(q, f, &sf, 60, NULL), 60);
	ck_assert_uint_eq(write_end(q, g, &sg, 31, &error), 30);
	ck_assert_int_eq(error, 0);
	ck_assert_uint_eq(write_end(q, g, &sg, 1, &error), 0);
	ck_assert_int_eq(error, EDQUOT);
	ck_assert_uint_eq(write_end(q, f, &sf, 11, &error), 10);
	ck_assert_uint_eq(used(q, w, 100), 100);
	/* The inner one has room, the outer one has none. */
	ward_quota_seen(q, g, 30);
	ward_quota_settle(q, g, 5);
	ck_assert_uint_eq(used(q, a, 30), 5);
	sg = 5;
	ck_assert_uint_eq(write_end(q, f, &sf, 30, &error), 25);
	ck_assert_uint_eq(write_end(q, g, &sg, 1, &error), 0);
	ck_assert_int_eq(error, EDQUOT);
	/* In use while it is open, and then no more. */
	ward_quota_gone(q, f, false);
	ck_assert_uint_eq(used(q, w, 100), 100);
	ward_quota_put(q, f);
	ck_assert_uint_eq(used(q, w, 100), 5);
	ward_quota_put(q, g);
	ward_quotas_free(q);
}
END_TEST

START_TEST(what_was_there_before)
{
	struct ward_quotas *q = quotas_of(QUOTAS_HEAD "[quota /w]\ngrowth = 100\n");
	struct ward_quota_domain *w = quotas_at(q, "w", NULL);
	struct ward_quota_file *f = quotas_get(q, w, 1);
	uint64_t size = 1000;

	/* It grows by what is added; what is cut off it makes no room beyond that. */
	ck_assert_uint_eq(write_end(q, f, &size, 10, NULL), 10);
	ck_assert_uint_eq(used(q, w, 100), 10);
	ward_quota_settle(q, f, 0);
	ck_assert_uint_eq(used(q, w, 100), 0);
	size = 0;
	ck_assert_uint_eq(write_end(q, f, &size, 5000, NULL), 1100);
	ck_assert_uint_eq(used(q, w, 100), 100);
	/* Others make it larger, and smaller: not the session's. */
	ward_quota_seen(q, f, 2000);
	ck_assert_uint_eq(used(q, w, 100), 100);
	ward_quota_seen(q, f, 1950);
	ck_assert_uint_eq(used(q, w, 100), 50);
	ward_quota_seen(q, f, 100);
	ck_assert_uint_eq(used(q, w, 100), 0);
	size = 100;
	ck_assert_uint_eq(write_end(q, f, &size, 5000, NULL), 100);
	ward_quota_put(q, f);
	/* Remembered while nobody uses it; removed, it gives back its own share. */
	ck_assert_uint_eq(used(q, w, 100), 100);
	f = quotas_get(q, w, 1);
	ward_quota_gone(q, f, false);
	ward_quota_put(q, f);
	ck_assert_uint_eq(used(q, w, 100), 0);
	f = quotas_get(q, w, 9);
	ward_quota_seen(q, f, UINT64_C(10) << 30);
	ward_quota_gone(q, f, false);
	ward_quota_put(q, f);
	f = make(q, w, 10, 0);
	size = 0;
	ck_assert_uint_eq(write_end(q, f, &size, UINT64_C(10) << 30, NULL), 100);
	ward_quota_put(q, f);
	ward_quotas_free(q);
}
END_TEST

START_TEST(holes_space_attributes)
{
	struct ward_quotas *q = quotas_of(QUOTAS_HEAD "[quota /w]\ngrowth = 100\nfile = 5000\n");
	struct ward_quota_domain *w = quotas_at(q, "w", NULL);
	struct ward_quota_file *f = quotas_get(q, w, 1);
	struct ward_quota_hit hit = {.error = 0};
	uint64_t before, got, size = 1000;
	int error;

	ck_assert_int_eq(ward_quota_holes(q, f, 1000, 101, &hit), -EDQUOT);
	ck_assert(!ward_quota_knows_holes(q, f));
	ck_assert_int_eq(ward_quota_holes(q, f, 1000, 60, &hit), 0);
	ck_assert(ward_quota_knows_holes(q, f));
	ck_assert_uint_eq(used(q, w, 100), 60);
	/* Beyond the end: taken, not twice, and gone with what is cut. */
	ck_assert_int_eq(ward_quota_keep(q, f, 1000, 1041, &before, &hit), -EDQUOT);
	ck_assert_int_eq(ward_quota_keep(q, f, 1000, 1030, &before, &hit), 0);
	ck_assert_uint_eq(before, 0);
	ck_assert_uint_eq(used(q, w, 100), 90);
	ck_assert_uint_eq(write_end(q, f, &size, 30, NULL), 30);
	ck_assert_uint_eq(used(q, w, 100), 90);
	ward_quota_settle(q, f, 1000);
	ward_quota_kept(q, f, 0);
	ck_assert_uint_eq(used(q, w, 100), 60);
	ck_assert_int_eq(ward_quota_extra(q, f, 40, &hit), 0);
	ck_assert_int_eq(ward_quota_extra(q, f, 1, &hit), -EDQUOT);
	ck_assert_str_eq(hit.rule, "[quota /w] growth = 100");
	ck_assert_str_eq(hit.place, "f:8");
	ck_assert_str_eq(hit.path, "/w");
	ck_assert_str_eq(hit.name, "growth");
	ck_assert_uint_eq(hit.used, 100);
	ck_assert_uint_eq(hit.limit, 100);
	/* Never less than nothing: what was there before gives nothing back. */
	ck_assert_int_eq(ward_quota_extra(q, f, -400, &hit), 0);
	ck_assert_uint_eq(used(q, w, 100), 60);
	ward_quota_put(q, f);

	/* The size of one file: what is larger already stays, and does not grow. */
	f = quotas_get(q, w, 2);
	size = 6000;
	ck_assert_uint_eq(write_end(q, f, &size, 1, &error), 0);
	ck_assert_int_eq(error, EFBIG);
	ward_quota_put(q, f);
	f = quotas_get(q, w, 3);
	ward_quota_seen(q, f, 4990);
	hit.error = 0;
	ck_assert_int_eq(ward_quota_grow(q, f, 4990, 5020, 4991, &got, &hit), 0);
	ck_assert_uint_eq(got, 5000);
	ward_quota_settle(q, f, got);
	ck_assert_int_eq(ward_quota_grow(q, f, 5000, 5001, 5001, &got, &hit), -EFBIG);
	ward_quota_put(q, f);
	ward_quotas_free(q);
}
END_TEST

START_TEST(names_and_mappings)
{
	struct ward_quotas *q = quotas_of(QUOTAS_HEAD "[quota /w]\ngrowth = 100\nfiles = 3\n");
	const struct ward_quota_id id = {.dev = 1, .ino = 1, .btime_ns = 7};
	struct ward_quota_domain *w = quotas_at(q, "w", NULL);
	struct ward_quota_file *f = make(q, w, 1, 0), *g;
	struct ward_quota_hit hit = {.error = 0};
	struct ward_quota_room room;
	uint64_t size = 0;

	ck_assert_uint_eq(write_end(q, f, &size, 50, NULL), 50);
	/* Further names count as names; the bytes are there once. */
	ck_assert_int_eq(ward_quota_link(q, f, &hit), 0);
	ck_assert_int_eq(ward_quota_link(q, f, &hit), 0);
	ck_assert_int_eq(ward_quota_link(q, f, &hit), -EDQUOT);
	ck_assert_int_eq(ward_quota_make(q, w, 0, &hit), -EDQUOT);
	ck_assert_uint_eq(used(q, w, 100), 50);
	ward_quota_unlink(q, f);
	ward_quota_unlink(q, f);
	ward_quota_room(q, w, &room);
	ck_assert_uint_eq(room.files_free, 2);
	/* Mapped: not given back with the last handle, but when it is forgotten. */
	ward_quota_mappable(q, f);
	ck_assert(ward_quota_maybe_mapped(q, f));
	ward_quota_gone(q, f, true);
	ward_quota_put(q, f);
	ck_assert_uint_eq(used(q, w, 100), 50);
	ward_quota_unhold(q, &id);
	ck_assert_uint_eq(used(q, w, 100), 0);
	ward_quota_unhold(q, &id);
	/* Forgotten first, closed then. */
	f = make(q, w, 1, 20);
	ward_quota_gone(q, f, true);
	ward_quota_unhold(q, &id);
	ck_assert_uint_eq(used(q, w, 100), 20);
	ward_quota_put(q, f);
	ck_assert_uint_eq(used(q, w, 100), 0);
	/* Made without a name, and named. */
	ck_assert_int_eq(ward_quota_make(q, w, 0, &hit), 0);
	f = quotas_get(q, w, 2);
	ward_quota_made(q, f, 0, false);
	ward_quota_named(q, f);
	size = 0;
	ck_assert_uint_eq(write_end(q, f, &size, 7, NULL), 7);
	ward_quota_put(q, f);
	ck_assert_uint_eq(used(q, w, 100), 7);
	/* Links of what was there before count, and no more goes back than was taken. */
	g = quotas_get(q, w, 3);
	ck_assert_int_eq(ward_quota_link(q, g, &hit), 0);
	ward_quota_unlink(q, g);
	ward_quota_unlink(q, g);
	ward_quota_put(q, g);
	ward_quota_room(q, w, &room);
	ck_assert_uint_eq(room.files_free, 2);
	ck_assert_uint_eq(room.files, 3);
	ward_quotas_free(q);
}
END_TEST

START_TEST(reload)
{
	struct ward_quotas *q =
		quotas_of(QUOTAS_HEAD "[quota /w]\ngrowth = 100\n[quota /w/a]\ngrowth = 50\n");
	struct ward_quota_domain *w = quotas_at(q, "w", NULL), *a = quotas_at(q, "wa", NULL), *b;
	struct ward_quota_file *f = make(q, a, 1, 0);
	struct ward_policy *p;
	uint64_t size = 0;
	int error;

	ck_assert_uint_eq(write_end(q, f, &size, 40, NULL), 40);
	ward_quota_put(q, f);
	/* Less than is in use; a new one; one that is gone. */
	p = policy_of(QUOTAS_HEAD "[quota /w]\ngrowth = 30\n[quota /w/a/b]\ngrowth = 10\n");
	ck_assert_int_eq(ward_quotas_reload(q, ward_policy_settings(p)), 0);
	ward_policy_unref(p);
	ck_assert_ptr_eq(quotas_at(q, "w", NULL), w);
	ck_assert_ptr_eq(quotas_at(q, "wa", NULL), a);
	b = quotas_at(q, "wab", NULL);
	ck_assert_ptr_ne(b, a);
	ck_assert_uint_eq(ward_quota_wants(a), ward_quota_wants(w));
	f = quotas_get(q, a, 1);
	ck_assert_uint_eq(write_end(q, f, &size, 1, &error), 0);
	ck_assert_int_eq(error, EDQUOT);
	ward_quota_put(q, f);
	/* The files of the new one count when it is used next. */
	f = quotas_get(q, b, 1);
	ward_quota_settle(q, f, 0);
	size = 0;
	ck_assert_uint_eq(write_end(q, f, &size, 99, NULL), 10);
	ward_quota_put(q, f);
	/* None at all: everything goes on uncounted, and comes back with what is there. */
	p = policy_of(QUOTAS_HEAD);
	ck_assert_int_eq(ward_quotas_reload(q, ward_policy_settings(p)), 0);
	ward_policy_unref(p);
	ck_assert(!ward_quotas_any(q));
	p = policy_of(QUOTAS_HEAD "[quota /w]\ngrowth = 11\n");
	ck_assert_int_eq(ward_quotas_reload(q, ward_policy_settings(p)), 0);
	ward_policy_unref(p);
	ck_assert_uint_eq(used(q, w, 11), 10);
	ward_quotas_free(q);
}
END_TEST

START_TEST(churn)
{
	struct ward_quotas *q =
		quotas_of(QUOTAS_HEAD "[quota /w]\nchurn = 10/m\n[quota /w/a]\nchurn = 4/s\n");
	struct ward_quota_domain *w = quotas_at(q, "w", NULL), *a = quotas_at(q, "wa", NULL);
	struct ward_quota_hit hit = {.error = 0};
	uint64_t now = 1000 * WARD_NS_PER_SEC;
	unsigned n = 0;

	ck_assert_uint_eq(ward_quota_wants(w), WARD_QUOTA_WANT_FILES | WARD_QUOTA_WANT_CHURN);
	for (int i = 0; i < 6; i++)
		n += ward_quota_churn(q, a, now, &hit) == 0;
	ck_assert_uint_eq(n, 4);
	ck_assert_int_eq(hit.error, EDQUOT);
	ck_assert_str_eq(hit.rule, "[quota /w/a] churn = 4/s");
	/* The outer quota does not count what the inner one refused. */
	for (int i = 0; i < 10; i++)
		n += ward_quota_churn(q, w, now, &hit) == 0;
	ck_assert_uint_eq(n, 10);
	ck_assert_str_eq(hit.rule, "[quota /w] churn = 10/m");
	now += 2 * WARD_NS_PER_SEC;
	ck_assert_int_eq(ward_quota_churn(q, a, now, &hit), -EDQUOT);
	now += 61 * WARD_NS_PER_SEC;
	ck_assert_int_eq(ward_quota_churn(q, a, now, &hit), 0);
	/* In no minute more than ten, however they fall. */
	uint64_t times[1000];
	size_t k = 0;
	srand(5);
	for (int i = 0; i < 3000 && k < 1000; i++) {
		now += (uint64_t)(rand() % 3000) * 1000000;
		if (ward_quota_churn(q, w, now, &hit) == 0)
			times[k++] = now;
	}
	ck_assert_uint_gt(k, 100);
	for (size_t i = 10; i < k; i++)
		ck_assert_uint_ge(times[i] - times[i - 10], 60 * WARD_NS_PER_SEC);
	ward_quotas_free(q);
}
END_TEST

START_TEST(rate)
{
	struct ward_quotas *q =
		quotas_of(QUOTAS_HEAD "[quota /w]\nrate = 1K/s\n[quota /w/a]\nrate = 60/m\n");
	struct ward_quota_domain *w = quotas_at(q, "w", NULL), *a = quotas_at(q, "wa", NULL);
	const uint64_t s = WARD_NS_PER_SEC, now = 50 * s;

	/* The first does not wait; who comes next, for it. */
	ck_assert_uint_eq(ward_quota_delay(q, w, 1024, now), 0);
	ck_assert_uint_eq(ward_quota_delay(q, w, 512, now), s);
	ck_assert_uint_eq(ward_quota_delay(q, w, 1, now), 3 * s / 2);
	/* Time that passed is paid for; none is saved up. */
	ck_assert_uint_eq(ward_quota_delay(q, w, 1024, now + 10 * s), 0);
	ck_assert_uint_eq(ward_quota_delay(q, w, 0, now + 10 * s), s);
	/* The slower of two decides. */
	ck_assert_uint_eq(ward_quota_delay(q, a, 3, now + 20 * s), 0);
	ck_assert_uint_eq(ward_quota_delay(q, a, 1, now + 20 * s), 3 * s);
	/* Unwritten bytes go back, and no more than is owed. */
	ward_quota_undelay(q, a, 1, now + 20 * s);
	ck_assert_uint_eq(ward_quota_delay(q, a, 0, now + 20 * s), 3 * s);
	ward_quota_undelay(q, a, 100, now + 20 * s);
	ck_assert_uint_eq(ward_quota_delay(q, a, 1, now + 20 * s), 0);
	ck_assert_uint_eq(ward_quota_delay(q, w, UINT64_MAX, now + 30 * s), 0);
	ck_assert_uint_gt(ward_quota_delay(q, w, 1, now + 30 * s), 1000 * s);
	ck_assert_uint_eq(ward_quota_delay(q, NULL, 1, now), 0);
	ward_quotas_free(q);
}
END_TEST

/*
 * Writers come, wait, are killed while they wait: at no moment is more written than the rate gives
 * since the first, and one write.
 */
START_TEST(rate_held)
{
	enum { WRITERS = 400, MOST = 1000 };
	struct ward_quotas *q = quotas_of(QUOTAS_HEAD "[quota /w]\nrate = 1000/s\n");
	struct ward_quota_domain *w = quotas_at(q, "w", NULL);
	const uint64_t ms = WARD_NS_PER_SEC / 1000, begin = 50 * WARD_NS_PER_SEC;
	struct {
		uint64_t due, bytes;
	} v[WRITERS];

	srand(1);
	for (unsigned round = 0; round < 50; round++) {
		uint64_t now = begin + round * 10000 * WARD_NS_PER_SEC;
		const uint64_t first = now;

		for (size_t i = 0; i < WRITERS; i++) {
			now += (uint64_t)(rand() % 3) * 100 * ms;
			v[i].bytes = (uint64_t)(rand() % MOST) + 1;
			v[i].due = now + ward_quota_delay(q, w, v[i].bytes, now);
			/* One of those that still wait, if there is any. */
			const size_t k = (size_t)rand() % (i + 1);

			if (rand() % 3 && v[k].due > now && v[k].bytes) {
				ward_quota_undelay(q, w, v[k].bytes, now);
				v[k].bytes = 0;
			}
		}
		for (size_t i = 0; i < WRITERS; i++) {
			uint64_t sum = 0;

			for (size_t k = 0; k < WRITERS; k++)
				sum += v[k].due <= v[i].due ? v[k].bytes : 0;
			/* A byte a millisecond. */
			ck_assert_uint_le(sum, (v[i].due - first) / ms + MOST);
		}
	}
	ward_quotas_free(q);
}
END_TEST

/* --- at once --- */

#define THREADS 16
#define ROUNDS 3000
#define LIMIT 100000U

static struct ward_quotas *shared;
static struct ward_quota_domain *shared_domain;
static struct ward_quota_file *shared_file;
static uint64_t shared_size;
static atomic_uint_fast64_t sum;
static atomic_bool over;

static void look(void)
{
	struct ward_quota_room r;

	ward_quota_room(shared, shared_domain, &r);
	if (r.bytes_free > LIMIT)
		atomic_store(&over, true);
}

/* Files of its own, and one that all write to. */
static void *writer(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;
	const uint64_t ino = 100 + seed;
	uint64_t size = 0;
	struct ward_quota_file *f = make(shared, shared_domain, ino, 0);

	for (int i = 0; i < ROUNDS; i++) {
		const uint64_t n = (uint64_t)rand_r(&seed) % 400 + 1;

		if (n % 5 == 0) {
			ward_quota_lock(shared, f, true);
			size = size * (n % 3) / 3;
			ward_quota_settle(shared, f, size);
			ward_quota_unlock(shared, f);
		} else if (n % 11 == 0) {
			struct ward_quota_hit hit = {.error = 0};
			uint64_t got;

			ward_quota_lock(shared, shared_file, true);
			if (ward_quota_grow(shared, shared_file, shared_size, shared_size + n,
				    shared_size + 1, &got, &hit) == 0) {
				shared_size = got;
				ward_quota_settle(shared, shared_file, got);
			}
			ward_quota_unlock(shared, shared_file);
		} else if (n % 13 == 0) {
			ward_quota_gone(shared, f, false);
			ward_quota_put(shared, f);
			f = make(shared, shared_domain, ino, 0);
			size = 0;
		} else {
			(void)write_end(shared, f, &size, n, NULL);
		}
		look();
	}
	atomic_fetch_add(&sum, size);
	ward_quota_put(shared, f);
	return NULL;
}

START_TEST(sixteen_at_once)
{
	pthread_t threads[THREADS];

	shared = quotas_of(QUOTAS_HEAD "[quota /w]\ngrowth = 100000\n");
	shared_domain = quotas_at(shared, "w", NULL);
	shared_file = make(shared, shared_domain, 1, 0);
	shared_size = 0;
	atomic_store(&sum, 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, writer, (void *)(i + 1)), 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert(!atomic_load(&over));
	ck_assert_uint_eq(used(shared, shared_domain, LIMIT), atomic_load(&sum) + shared_size);
	ward_quota_put(shared, shared_file);
	ward_quotas_free(shared);
}
END_TEST

START_TEST(shown)
{
	struct ward_quotas *q = quotas_of(QUOTAS_HEAD
		"[quota /w]\ngrowth = 1K\nrate = 5/s\nchurn = 3/m\n[quota /w/a\"]\nfiles = 2\n");
	struct ward_quota_file *f = make(q, quotas_at(q, "w", NULL), 1, 0);
	struct ward_buf b = WARD_BUF_INIT;
	uint64_t size = 0;

	ck_assert_uint_eq(write_end(q, f, &size, 24, NULL), 24);
	ck_assert_int_eq(ward_quotas_show(q, 1, 4096, &b), 0);
	ck_assert_ptr_nonnull(strstr(ward_buf_str(&b),
		"{\"path\":\"/w\",\"growth\":{\"limit\":1024,\"used\":24,\"refused\":0},"
		"\"rate\":{\"limit\":5,\"per\":1,\"delayed\":0},"
		"\"churn\":{\"limit\":3,\"per\":60,\"used\":0,\"refused\":0}}"));
	ck_assert_ptr_nonnull(strstr(ward_buf_str(&b), "\"/w/a\\\"\""));
	ck_assert_ptr_nonnull(strstr(ward_buf_str(&b), "],\"more\":0}"));
	ward_buf_clear(&b);
	/* Changes that found no room are counted. */
	ck_assert_int_eq(ward_quotas_show(q, 1, 80, &b), 0);
	ck_assert_uint_le(b.len, 80);
	ck_assert_str_eq(ward_buf_str(&b), "{\"quotas\":[],\"more\":2}");
	ward_buf_clear(&b);
	ward_quota_put(q, f);
	ward_quotas_free(q);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fs_quota");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 120);
	tcase_add_test(t, places);
	tcase_add_test(t, to_the_byte);
	tcase_add_test(t, what_was_there_before);
	tcase_add_test(t, holes_space_attributes);
	tcase_add_test(t, names_and_mappings);
	tcase_add_test(t, reload);
	tcase_add_test(t, churn);
	tcase_add_test(t, rate);
	tcase_add_test(t, rate_held);
	tcase_add_test(t, sixteen_at_once);
	tcase_add_test(t, shown);
	suite_add_tcase(s, t);
	return suite_run(s);
}
