/* SPDX-License-Identifier: Apache-2.0 */
/* Staged files that change their size, as far as there is room (review_size.h). */
#include <errno.h>
#include <string.h>

#include "fs/review/review_internal.h"

static pthread_mutex_t *lock_of(struct ward_review *rv, const struct ward_review_file *f)
{
	return &rv->size.files[f->number % WARD_SIZE_LOCKS];
}

/* The file whose object fd leads to; NULL: there is none. */
static struct ward_review_file *object_of(struct ward_review *rv, int fd)
{
	struct ward_review_file *f;
	struct ward_review_key key;
	struct statx stx;

	if (!rv->size.counts || ward_review_statx(fd, "", &stx) < 0)
		return NULL;
	key = ward_review_key_of(&stx);
	pthread_rwlock_rdlock(&rv->lock);
	f = ward_review_by_key(rv, &key);
	if (f && (!f->hashed || memcmp(&f->object, &key, sizeof(key)) != 0 || f->borrowed))
		f = NULL;
	pthread_rwlock_unlock(&rv->lock);
	return f;
}

int ward_review_grow_begin(struct ward_review *rv, int fd, struct ward_review_growth *ret)
{
	struct ward_review_file *f = object_of(rv, fd);
	struct statx stx;
	int r;

	*ret = (struct ward_review_growth){.file = NULL};
	if (!f)
		return 0;
	pthread_mutex_lock(lock_of(rv, f));
	r = ward_review_statx(fd, "", &stx);
	if (r < 0) {
		pthread_mutex_unlock(lock_of(rv, f));
		return r;
	}
	ret->file = f;
	ret->size = stx.stx_size;
	ret->hold = !f->staged && !stx.stx_nlink;
	return 0;
}

int ward_review_grow(struct ward_review *rv, struct ward_review_growth *g, uint64_t least,
	uint64_t want, uint64_t *ret)
{
	struct ward_review_file *f = g->file;
	uint64_t has, got = 0;
	int r;

	if (!f || want <= g->size) {
		*ret = want;
		return 0;
	}
	pthread_mutex_lock(&rv->size.lock);
	has = f->bytes > f->extra ? f->bytes - f->extra : 0;
	pthread_mutex_unlock(&rv->size.lock);
	if (want <= has) {
		*ret = want;
		return 0;
	}
	r = rv->size.calls.take(
		rv->size.calls.user, least > has ? least - has : 0, want - has, &got);
	if (r < 0)
		return r;
	pthread_mutex_lock(&rv->size.lock);
	f->bytes += got;
	pthread_mutex_unlock(&rv->size.lock);
	*ret = has + got;
	return 0;
}

void ward_review_grow_end(
	struct ward_review *rv, struct ward_review_growth *g, int fd, uint64_t kept)
{
	struct ward_review_file *f = g->file;
	uint64_t had, now;
	struct statx stx;

	if (!f)
		return;
	/* Of a file that cannot be looked at, what was taken stays taken. */
	if (ward_review_statx(fd, "", &stx) == 0) {
		pthread_mutex_lock(&rv->size.lock);
		had = f->bytes;
		/* Space beyond the end goes with what is cut off. */
		if (stx.stx_size < g->size)
			f->keep_end = 0;
		f->keep_end = kept > f->keep_end ? kept : f->keep_end;
		now = f->keep_end > stx.stx_size ? f->keep_end : stx.stx_size;
		f->bytes = now += f->extra;
		pthread_mutex_unlock(&rv->size.lock);
		if (now < had)
			ward_size_give(rv, had - now);
		else if (now > had)
			rv->size.calls.add(rv->size.calls.user, now - had);
	}
	pthread_mutex_unlock(lock_of(rv, f));
	if (g->hold) {
		ward_size_await(rv, f);
		ward_size_hold(rv);
	}
}

void ward_review_extra(struct ward_review *rv, int fd, int64_t delta)
{
	ward_cleanup_fd int own = -1;
	struct ward_review_file *f;
	uint64_t less = 0;

	if (!rv->size.counts || !delta)
		return;
	f = object_of(rv, ward_review_shown(rv, fd, &own) == 0 ? own : fd);
	if (!f) {
		if (delta > 0)
			ward_size_give(rv, (uint64_t)delta);
		return;
	}
	pthread_mutex_lock(&rv->size.lock);
	if (delta > 0) {
		f->extra += (uint64_t)delta;
		f->bytes += (uint64_t)delta;
	} else {
		less = (uint64_t)-delta < f->extra ? (uint64_t)-delta : f->extra;
		f->extra -= less;
		f->bytes -= less;
	}
	pthread_mutex_unlock(&rv->size.lock);
	ward_size_give(rv, less);
}
