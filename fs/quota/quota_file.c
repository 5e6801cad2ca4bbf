/* SPDX-License-Identifier: Apache-2.0 */
/* Files in domains: what each is charged, and when that is given back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/quota/quota_internal.h"

static size_t hash(const struct ward_quota_id *id)
{
	const uint64_t h = (id->ino ^ (id->dev << 32)) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(h >> 20);
}

static bool same(const struct ward_quota_id *a, const struct ward_quota_id *b)
{
	return a->ino == b->ino && a->btime_ns == b->btime_ns && a->dev == b->dev;
}

/* Locked, as all that is static here. */
static struct ward_quota_file *find(const struct ward_quotas *q, const struct ward_quota_id *id)
{
	struct ward_quota_file *f = q->files[hash(id) & q->mask];

	while (f && !same(&f->id, id))
		f = f->next;
	return f;
}

static void grow_table(struct ward_quotas *q)
{
	const size_t size = (q->mask + 1) * 2;
	struct ward_quota_file **v;

	if (q->n_files <= q->mask || !(v = calloc(size, sizeof(struct ward_quota_file *))))
		return; /* longer chains, nothing worse */
	for (size_t i = 0; i <= q->mask; i++) {
		struct ward_quota_file *f, *next;

		for (f = q->files[i]; f; f = next) {
			struct ward_quota_file **at = &v[hash(&f->id) & (size - 1)];

			next = f->next;
			f->next = *at;
			*at = f;
		}
	}
	free(q->files);
	q->files = v;
	q->mask = size - 1;
}

/* The charge for this file. */
static uint64_t due(const struct ward_quota_file *f)
{
	const uint64_t end = f->kept > f->size ? f->kept : f->size;

	return (end > f->baseline ? end - f->baseline : 0) + f->extra;
}

static void recharge(struct ward_quota_file *f)
{
	const uint64_t now = due(f);

	ward_quota_charge(f->domain, (int64_t)(now - f->bytes), 0);
	f->bytes = now;
}

static void drop(struct ward_quotas *q, struct ward_quota_file *f)
{
	struct ward_quota_file **at = &q->files[hash(&f->id) & q->mask];

	ward_quota_charge(f->domain, -(int64_t)f->bytes, -(int64_t)f->names);
	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	q->n_files--;
	free(f);
}

/* Nobody uses it: is there anything to remember? */
static void settle_use(struct ward_quotas *q, struct ward_quota_file *f)
{
	if (f->refs || (f->gone && f->held))
		return;
	if (f->gone ||
		(!f->made && !f->bytes && !f->names && (!f->known || f->size >= f->baseline)))
		drop(q, f);
}

void ward_quota_files_clear(struct ward_quotas *q)
{
	for (size_t i = 0; q->files && i <= q->mask; i++)
		while (q->files[i]) {
			struct ward_quota_file *f = q->files[i];

			q->files[i] = f->next;
			free(f);
		}
	free(q->files);
}

int ward_quota_get(struct ward_quotas *q, struct ward_quota_domain *d,
	const struct ward_quota_id *id, struct ward_quota_file **ret)
{
	struct ward_quota_file *f;

	pthread_mutex_lock(&q->lock);
	f = find(q, id);
	if (!f && (f = calloc(1, sizeof(*f)))) {
		struct ward_quota_file **at;

		f->id = *id;
		f->domain = d;
		grow_table(q);
		at = &q->files[hash(id) & q->mask];
		f->next = *at;
		*at = f;
		q->n_files++;
	}
	if (f && f->domain != d && !f->gone) {
		ward_quota_charge(f->domain, -(int64_t)f->bytes, -(int64_t)f->names);
		f->domain = d;
		ward_quota_charge(f->domain, (int64_t)f->bytes, (int64_t)f->names);
	}
	if (f)
		f->refs++;
	pthread_mutex_unlock(&q->lock);
	if (!f)
		return -ENOMEM;
	*ret = f;
	return 0;
}

void ward_quota_put(struct ward_quotas *q, struct ward_quota_file *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&q->lock);
	f->refs--;
	settle_use(q, f);
	pthread_mutex_unlock(&q->lock);
}

void ward_quota_made(struct ward_quotas *q, struct ward_quota_file *f, uint64_t bytes, bool named)
{
	pthread_mutex_lock(&q->lock);
	/* A number that the host gave away again, on a file system that keeps no time of birth. */
	ward_quota_charge(f->domain, -(int64_t)f->bytes, -(int64_t)f->names);
	f->baseline = f->size = f->kept = 0;
	f->known = f->made = f->holes = true;
	f->gone = !named;
	f->held = f->mappable = false;
	f->extra = f->bytes = bytes;
	f->names = 1;
	pthread_mutex_unlock(&q->lock);
}

bool ward_quota_is_made(struct ward_quotas *q, const struct ward_quota_file *f)
{
	bool made;

	pthread_mutex_lock(&q->lock);
	made = f->made;
	pthread_mutex_unlock(&q->lock);
	return made;
}

struct ward_quota_domain *ward_quota_domain_of(
	struct ward_quotas *q, const struct ward_quota_file *f)
{
	struct ward_quota_domain *d;

	pthread_mutex_lock(&q->lock);
	d = f->domain;
	pthread_mutex_unlock(&q->lock);
	return d;
}

static void seen(struct ward_quota_file *f, uint64_t size)
{
	if (!f->known) {
		f->baseline = f->size = size;
		f->known = true;
	} else if (size > f->size) {
		f->baseline += size - f->size;
		f->size = size;
		recharge(f);
	} else if (size < f->size) {
		/* What is gone was the session's first, as far as it lay at the end. */
		f->size = size;
		f->kept = 0;
		recharge(f);
		if (f->baseline > size)
			f->baseline = size;
	}
}
void ward_quota_seen(struct ward_quotas *q, struct ward_quota_file *f, uint64_t size)
{
	pthread_mutex_lock(&q->lock);
	seen(f, size);
	pthread_mutex_unlock(&q->lock);
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static uint64_t reach(const struct ward_quota_file *f)
{
	uint64_t end = f->baseline > f->size ? f->baseline : f->size;

	return f->kept > end ? f->kept : end;
}

/* Up to where it may come, of want; the hit is that of the limit that is met first. */
static int room_for(struct ward_quota_file *f, uint64_t want, uint64_t least, uint64_t *ret,
	struct ward_quota_hit *hit)
{
	struct ward_quota_domain *full;
	uint64_t left;

	full = ward_quota_tightest(f->domain, WARD_QUOTA_FILE, &left);
	if (full && left < want) {
		/* A file that is larger already stays so. */
		want = left > f->size ? left : f->size;
		if (want < least)
			return ward_quota_refuse(full, WARD_QUOTA_FILE, EFBIG, hit);
	}
	full = ward_quota_tightest(f->domain, WARD_QUOTA_GROWTH, &left);
	if (full && add(reach(f), left) < want) {
		want = add(reach(f), left);
		if (want < least)
			return ward_quota_refuse(full, WARD_QUOTA_GROWTH, EDQUOT, hit);
	}
	*ret = want;
	return 0;
}

int ward_quota_grow(struct ward_quotas *q, struct ward_quota_file *f, uint64_t size, uint64_t want,
	uint64_t least, uint64_t *ret_got, struct ward_quota_hit *hit)
{
	uint64_t got = 0;
	int r;

	pthread_mutex_lock(&q->lock);
	seen(f, size);
	r = room_for(f, want, least, &got, hit);
	if (r == 0) {
		f->size = got > size ? got : size;
		recharge(f);
		*ret_got = got;
	}
	pthread_mutex_unlock(&q->lock);
	return r;
}

void ward_quota_settle(struct ward_quotas *q, struct ward_quota_file *f, uint64_t size)
{
	pthread_mutex_lock(&q->lock);
	/* More than was taken: others wrote meanwhile, which is theirs. */
	if (f->known && size > f->size)
		seen(f, size);
	f->size = size;
	recharge(f);
	pthread_mutex_unlock(&q->lock);
}

int ward_quota_keep(struct ward_quotas *q, struct ward_quota_file *f, uint64_t size, uint64_t end,
	uint64_t *ret_before, struct ward_quota_hit *hit)
{
	uint64_t got;
	int r = 0;

	pthread_mutex_lock(&q->lock);
	seen(f, size);
	*ret_before = f->kept;
	if (end > size && end > f->kept) {
		r = room_for(f, end, end, &got, hit);
		if (r == 0) {
			f->kept = end;
			recharge(f);
		}
	}
	pthread_mutex_unlock(&q->lock);
	return r;
}

void ward_quota_kept(struct ward_quotas *q, struct ward_quota_file *f, uint64_t end)
{
	pthread_mutex_lock(&q->lock);
	f->kept = end;
	recharge(f);
	pthread_mutex_unlock(&q->lock);
}

int ward_quota_holes(struct ward_quotas *q, struct ward_quota_file *f, uint64_t size,
	uint64_t holes, struct ward_quota_hit *hit)
{
	struct ward_quota_domain *full;
	uint64_t left;
	int r = 0;

	pthread_mutex_lock(&q->lock);
	seen(f, size);
	if (!f->holes) {
		holes = holes < f->baseline ? holes : f->baseline;
		full = ward_quota_tightest(f->domain, WARD_QUOTA_GROWTH, &left);
		if (full && left < holes) {
			r = ward_quota_refuse(full, WARD_QUOTA_GROWTH, EDQUOT, hit);
		} else {
			f->baseline -= holes;
			f->holes = true;
			recharge(f);
		}
	}
	pthread_mutex_unlock(&q->lock);
	return r;
}

bool ward_quota_knows_holes(struct ward_quotas *q, const struct ward_quota_file *f)
{
	bool known;

	pthread_mutex_lock(&q->lock);
	known = f->holes;
	pthread_mutex_unlock(&q->lock);
	return known;
}

int ward_quota_extra(
	struct ward_quotas *q, struct ward_quota_file *f, int64_t delta, struct ward_quota_hit *hit)
{
	struct ward_quota_domain *full;
	uint64_t left;
	int r = 0;

	pthread_mutex_lock(&q->lock);
	if (delta < 0) {
		const uint64_t less = (uint64_t)-delta;

		f->extra -= less < f->extra ? less : f->extra;
		recharge(f);
	} else {
		full = ward_quota_tightest(f->domain, WARD_QUOTA_GROWTH, &left);
		if (full && left < (uint64_t)delta) {
			r = ward_quota_refuse(full, WARD_QUOTA_GROWTH, EDQUOT, hit);
		} else {
			f->extra += (uint64_t)delta;
			recharge(f);
		}
	}
	pthread_mutex_unlock(&q->lock);
	return r;
}

int ward_quota_link(struct ward_quotas *q, struct ward_quota_file *f, struct ward_quota_hit *hit)
{
	struct ward_quota_domain *full;
	uint64_t left;
	int r = 0;

	pthread_mutex_lock(&q->lock);
	full = ward_quota_tightest(f->domain, WARD_QUOTA_FILES, &left);
	if (full && left < 1) {
		r = ward_quota_refuse(full, WARD_QUOTA_FILES, EDQUOT, hit);
	} else {
		ward_quota_charge(f->domain, 0, 1);
		f->names++;
	}
	pthread_mutex_unlock(&q->lock);
	return r;
}

void ward_quota_named(struct ward_quotas *q, struct ward_quota_file *f)
{
	pthread_mutex_lock(&q->lock);
	f->gone = false;
	pthread_mutex_unlock(&q->lock);
}

void ward_quota_unlink(struct ward_quotas *q, struct ward_quota_file *f)
{
	pthread_mutex_lock(&q->lock);
	if (f->names) {
		ward_quota_charge(f->domain, 0, -1);
		f->names--;
	}
	pthread_mutex_unlock(&q->lock);
}

void ward_quota_gone(struct ward_quotas *q, struct ward_quota_file *f, bool held)
{
	pthread_mutex_lock(&q->lock);
	f->gone = true;
	f->held = held;
	pthread_mutex_unlock(&q->lock);
}

void ward_quota_lost(struct ward_quotas *q, const struct ward_quota_id *id)
{
	struct ward_quota_file *f;

	pthread_mutex_lock(&q->lock);
	f = find(q, id);
	if (f)
		f->gone = f->held = true;
	pthread_mutex_unlock(&q->lock);
}

void ward_quota_unhold(struct ward_quotas *q, const struct ward_quota_id *id)
{
	struct ward_quota_file *f;

	pthread_mutex_lock(&q->lock);
	f = find(q, id);
	if (f && f->held) {
		f->held = false;
		settle_use(q, f);
	}
	pthread_mutex_unlock(&q->lock);
}

void ward_quota_mappable(struct ward_quotas *q, struct ward_quota_file *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&q->lock);
	f->mappable = true;
	pthread_mutex_unlock(&q->lock);
}

bool ward_quota_maybe_mapped(struct ward_quotas *q, const struct ward_quota_file *f)
{
	bool maybe;

	pthread_mutex_lock(&q->lock);
	maybe = f->mappable;
	pthread_mutex_unlock(&q->lock);
	return maybe;
}

static pthread_rwlock_t *lock_of(struct ward_quotas *q, const struct ward_quota_file *f)
{
	return &q->locks[hash(&f->id) % WARD_QUOTA_LOCKS];
}

void ward_quota_lock(struct ward_quotas *q, const struct ward_quota_file *f, bool write)
{
	if (write)
		pthread_rwlock_wrlock(lock_of(q, f));
	else
		pthread_rwlock_rdlock(lock_of(q, f));
}

void ward_quota_unlock(struct ward_quotas *q, const struct ward_quota_file *f)
{
	pthread_rwlock_unlock(lock_of(q, f));
}

void ward_quota_inherit_lock(struct ward_quotas *q, bool write)
{
	if (write)
		pthread_rwlock_wrlock(&q->inherit);
	else
		pthread_rwlock_rdlock(&q->inherit);
}

void ward_quota_inherit_unlock(struct ward_quotas *q)
{
	pthread_rwlock_unlock(&q->inherit);
}
