/* SPDX-License-Identifier: Apache-2.0 */
/* Quotas as numbers: steps at random against a model that adds up everything again. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/policy/policy.h"
#include "fs/quota/quota.h"
#include "tests/support/quotas.h"
#include "tests/support/suite.h"

#define FILES 24
#define DOMAINS 3
#define NONE UINT64_MAX

struct model_file {
	struct ward_quota_file *f; /* NULL: not in use */
	int domain;
	bool there, made, held;
	uint64_t ino, base, size, kept, extra, names;
};

static const struct {
	uint64_t growth, files, file;
	int above;
} limits[DOMAINS] = {{10000, 30, NONE, -1}, {4000, NONE, 1500, 0}, {1000, 6, NONE, 1}};

struct model {
	struct ward_quotas *q;
	struct ward_quota_domain *d[DOMAINS];
	struct model_file v[FILES];
	uint64_t next_ino;
};

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t charge(const struct model_file *f)
{
	const uint64_t end = max(f->size, f->kept);

	return f->there ? (end > f->base ? end - f->base : 0) + f->extra : 0;
}

static bool is_in(int d, int of)
{
	while (d >= 0 && d != of)
		d = limits[d].above;
	return d == of;
}

static void sums(const struct model *m, int d, uint64_t *bytes, uint64_t *names)
{
	*bytes = *names = 0;
	for (int i = 0; i < FILES; i++) {
		if (!m->v[i].there || !is_in(m->v[i].domain, d))
			continue;
		*bytes += charge(&m->v[i]);
		*names += m->v[i].names;
	}
}

/* How many bytes, and names, more there is room for. */
static void room(const struct model *m, int d, uint64_t *ret_bytes, uint64_t *ret_names)
{
	*ret_bytes = *ret_names = NONE;
	for (; d >= 0; d = limits[d].above) {
		uint64_t bytes, names;

		sums(m, d, &bytes, &names);
		if (limits[d].growth - bytes < *ret_bytes)
			*ret_bytes = limits[d].growth - bytes;
		if (limits[d].files != NONE && limits[d].files - names < *ret_names)
			*ret_names = limits[d].files - names;
	}
}

static uint64_t file_limit(int d)
{
	uint64_t limit = NONE;

	for (; d >= 0; d = limits[d].above)
		limit = limits[d].file < limit ? limits[d].file : limit;
	return limit;
}

static void agree(const struct model *m)
{
	for (int d = 0; d < DOMAINS; d++) {
		struct ward_quota_room got;
		uint64_t bytes, names;

		ward_quota_room(m->q, m->d[d], &got);
		room(m, d, &bytes, &names);
		ck_assert_uint_eq(got.bytes_free, bytes);
		ck_assert_uint_eq(got.files_free, names);
	}
}

static void step_new(struct model *m, struct model_file *f, uint64_t n)
{
	const int d = (int)(n % DOMAINS);
	struct ward_quota_hit hit = {.error = 0};
	uint64_t bytes, names;
	int r;

	n %= 60;
	*f = (struct model_file){.domain = d, .ino = m->next_ino++};
	if (n % 3 == 0) { /* there already */
		f->f = quotas_get(m->q, m->d[d], f->ino);
		f->base = f->size = n * 50;
		ward_quota_seen(m->q, f->f, f->size);
		f->there = true;
		return;
	}
	room(m, d, &bytes, &names);
	r = ward_quota_make(m->q, m->d[d], n, &hit);
	ck_assert_int_eq(r == 0, names >= 1 && bytes >= n);
	if (r < 0)
		return;
	f->f = quotas_get(m->q, m->d[d], f->ino);
	ward_quota_made(m->q, f->f, n, true);
	f->there = f->made = true;
	f->extra = n;
	f->names = 1;
}

static void step_grow(struct model *m, struct model_file *f, uint64_t n)
{
	const uint64_t want = f->size + n % 2000 + 1;
	struct ward_quota_hit hit = {.error = 0};
	uint64_t bytes, names, most, got = 0;
	int r;

	room(m, f->domain, &bytes, &names);
	most = max(max(f->base, f->size), f->kept) + bytes;
	if (most > file_limit(f->domain))
		most = max(file_limit(f->domain), f->size);
	r = ward_quota_grow(m->q, f->f, f->size, want, f->size + 1, &got, &hit);
	ck_assert_int_eq(r == 0, most > f->size);
	if (r < 0)
		return;
	ck_assert_uint_eq(got, want < most ? want : most);
	/* the disk is full half-way, now and then */
	f->size = n % 7 ? got : f->size + (got - f->size) / 2;
	ward_quota_settle(m->q, f->f, f->size);
}

static void step_outside(struct model *m, struct model_file *f, uint64_t n)
{
	const uint64_t size = n % 3000;

	if (size > f->size) {
		f->base += size - f->size;
	} else if (size < f->size) {
		f->kept = 0;
		f->base = f->base < size ? f->base : size;
	}
	f->size = size;
	ward_quota_seen(m->q, f->f, size);
}

static void step_names(struct model *m, struct model_file *f, uint64_t n)
{
	struct ward_quota_hit hit = {.error = 0};
	uint64_t bytes, names;
	int r;

	if (n % 2) {
		room(m, f->domain, &bytes, &names);
		r = ward_quota_link(m->q, f->f, &hit);
		ck_assert_int_eq(r == 0, names >= 1);
		f->names += r == 0;
	} else {
		ward_quota_unlink(m->q, f->f);
		f->names -= f->names > 0;
	}
}

static void step_space(struct model *m, struct model_file *f, uint64_t n)
{
	struct ward_quota_hit hit = {.error = 0};
	uint64_t bytes, names, before;
	const int64_t delta = (int64_t)(n % 200) - 100;
	int r;

	room(m, f->domain, &bytes, &names);
	if (n % 3 == 0) {
		r = ward_quota_extra(m->q, f->f, delta, &hit);
		ck_assert_int_eq(r == 0, delta < 0 || bytes >= (uint64_t)delta);
		if (r == 0)
			f->extra = delta < 0 && (uint64_t)-delta > f->extra
					   ? 0
					   : f->extra + (uint64_t)delta;
	} else if (n % 3 == 1) {
		const uint64_t end = f->size + n % 500;

		r = ward_quota_keep(m->q, f->f, f->size, end, &before, &hit);
		ck_assert_uint_eq(before, f->kept);
		if (r == 0 && end > f->size && end > f->kept)
			f->kept = end;
	} else {
		f->kept = 0;
		f->size = n % (f->size + 1);
		ward_quota_settle(m->q, f->f, f->size);
		ward_quota_kept(m->q, f->f, 0);
	}
}

static void step_end(struct model *m, struct model_file *f, uint64_t n)
{
	const struct ward_quota_id id = {.dev = 1, .ino = f->ino, .btime_ns = 7};

	switch (n % 4) {
	case 0: /* removed */
		ward_quota_gone(m->q, f->f, false);
		ward_quota_put(m->q, f->f);
		f->there = false;
		break;
	case 1: /* removed while it is mapped */
		ward_quota_gone(m->q, f->f, true);
		ward_quota_put(m->q, f->f);
		agree(m);
		ward_quota_unhold(m->q, &id);
		f->there = false;
		break;
	default: /* closed, and opened again */
		ward_quota_put(m->q, f->f);
		agree(m);
		/* Nothing is remembered of what owes nothing: it is as it is from then on. */
		if (!f->made && !charge(f) && !f->names && f->size >= f->base) {
			f->base = f->size;
			f->kept = 0;
		}
		f->f = quotas_get(m->q, m->d[f->domain], f->ino);
		ward_quota_seen(m->q, f->f, f->size);
		break;
	}
}

START_TEST(as_the_model)
{
	static void (*const steps[])(struct model *, struct model_file *, uint64_t) = {
		step_grow, step_grow, step_outside, step_names, step_space, step_end};
	struct model m = {.next_ino = 1};

	srand((unsigned)_i + 1);
	m.q = quotas_of(
		QUOTAS_HEAD "[quota /w]\ngrowth = 10000\nfiles = 30\n[quota /w/a]\ngrowth = 4000\n"
			    "file = 1500\n[quota /w/a/b]\ngrowth = 1000\nfiles = 6\n");
	m.d[0] = quotas_at(m.q, "w", NULL);
	m.d[1] = quotas_at(m.q, "wa", NULL);
	m.d[2] = quotas_at(m.q, "wab", NULL);
	for (int i = 0; i < 20000; i++) {
		struct model_file *f = &m.v[rand() % FILES];
		const uint64_t n = (uint64_t)rand();

		if (!f->there)
			step_new(&m, f, n);
		else
			steps[rand() % (int)(sizeof(steps) / sizeof(*steps))](&m, f, n);
		agree(&m);
	}
	for (int i = 0; i < FILES; i++)
		if (m.v[i].there)
			ward_quota_put(m.q, m.v[i].f);
	ward_quotas_free(m.q);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fs_quota_model");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, as_the_model, 0, 8);
	suite_add_tcase(s, t);
	return suite_run(s);
}
