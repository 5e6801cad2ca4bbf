/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what the store takes (review_size.h). */
#include "fs/review/review_size.h"

#include <errno.h>
#include <sys/stat.h>

#include "fs/review/review_internal.h"

void ward_review_count(struct ward_review *rv, const struct ward_review_size_calls *calls)
{
	rv->size.calls = *calls;
	rv->size.counts = true;
}

int ward_size_take(struct ward_review *rv, uint64_t bytes)
{
	uint64_t got;
	int r;

	if (!rv->size.counts || !bytes)
		return 0;
	r = rv->size.calls.take(rv->size.calls.user, bytes, bytes, &got);
	return r == -EDQUOT ? WARD_SIZE_FULL : r;
}

void ward_size_give(struct ward_review *rv, uint64_t bytes)
{
	if (rv->size.counts && bytes)
		rv->size.calls.give(rv->size.calls.user, bytes);
}

int ward_size_refuse(struct ward_review *rv, const struct ward_review_file *f, int r)
{
	return r == WARD_SIZE_FULL ? rv->size.calls.refuse(rv->size.calls.user, &f->id, f->type)
				   : r;
}

int ward_size_refuse_fd(struct ward_review *rv, int fd, int r)
{
	const struct ward_review_file *f;
	struct ward_review_key key;
	struct ward_file_id id;
	struct statx stx;

	if (r != WARD_SIZE_FULL)
		return r;
	if (ward_review_statx(fd, "", &stx) < 0)
		return -EDQUOT;
	key = ward_review_key_of(&stx);
	pthread_rwlock_rdlock(&rv->lock);
	f = ward_review_by_key(rv, &key);
	id = f ? f->id : (struct ward_file_id){.ino = key.ino, .btime_ns = key.btime_ns};
	pthread_rwlock_unlock(&rv->lock);
	return rv->size.calls.refuse(rv->size.calls.user, &id, stx.stx_mode & S_IFMT);
}

int ward_size_say(struct ward_review *rv, int r, const char *what, struct ward_err *err)
{
	if (r != WARD_SIZE_FULL)
		return ward_err_sys(err, r, "%s", what);
	rv->size.calls.say(rv->size.calls.user, err);
	return -EDQUOT;
}

void ward_size_object(struct ward_review *rv, struct ward_review_file *f, uint64_t bytes)
{
	uint64_t had;

	if (!rv->size.counts)
		return;
	pthread_mutex_lock(&rv->size.lock);
	had = f->bytes;
	f->bytes = bytes;
	f->keep_end = f->extra = 0;
	pthread_mutex_unlock(&rv->size.lock);
	ward_size_give(rv, had);
}

uint64_t ward_size_kept(const struct statx *stx)
{
	const uint64_t blocks = (uint64_t)stx->stx_blocks * 512;

	if (!S_ISREG(stx->stx_mode))
		return 0;
	return blocks < stx->stx_size ? blocks : stx->stx_size;
}

int ward_size_take_copy(struct ward_review *rv, const struct ward_review_file *f, uint64_t *ret)
{
	char object[WARD_REVIEW_NAME];
	struct statx stx;
	int r;

	*ret = 0;
	if (!rv->size.counts)
		return 0;
	ward_review_object_name(f, object);
	r = ward_review_statx(rv->objects_fd, object, &stx);
	if (r < 0)
		return r;
	r = ward_size_take(rv, ward_size_kept(&stx));
	if (r == 0)
		*ret = ward_size_kept(&stx);
	return r;
}

/* Some kept content of f that is the file ino, but for `but`; NULL: there is none. */
static struct ward_review_kept *same_kept(const struct ward_review *rv,
	const struct ward_review_file *f, uint64_t ino, const struct ward_review_kept *but)
{
	char name[WARD_STEPS_NAME];
	struct statx stx;

	for (struct ward_review_kept *k = f->kept; k; k = k->next) {
		if (k == but || k->lower || k->borrowed)
			continue;
		ward_steps_name(k->step, f, name);
		if (ward_review_statx(rv->steps.fd, name, &stx) == 0 && stx.stx_ino == ino)
			return k;
	}
	return NULL;
}

struct ward_review_kept *ward_size_shared(
	const struct ward_review *rv, const struct ward_review_file *f)
{
	return rv->size.counts ? same_kept(rv, f, f->object.ino, NULL) : NULL;
}

/* --- without a name --- */

void ward_size_await(struct ward_review *rv, struct ward_review_file *f)
{
	pthread_mutex_lock(&rv->size.lock);
	if (!f->held) {
		f->held = f->held_new = true;
		f->held_next = rv->size.held;
		rv->size.held = f;
		atomic_store(&rv->size.any_held, true);
		atomic_store(&rv->size.any_new, true);
	}
	pthread_mutex_unlock(&rv->size.lock);
}

/* Takes f from the list: what has to be given back. Locked: size.lock. */
static uint64_t let_go(struct ward_review *rv, struct ward_review_file **at)
{
	struct ward_review_file *f = *at;
	uint64_t bytes = 0;

	*at = f->held_next;
	f->held = f->held_new = false;
	atomic_store(&rv->size.any_held, rv->size.held != NULL);
	/* It may have got a name meanwhile. */
	if (!f->staged || f->no_object) {
		bytes = f->bytes;
		f->bytes = f->keep_end = f->extra = 0;
	}
	return bytes;
}

void ward_review_forgotten(struct ward_review *rv, const struct ward_file_id *id)
{
	uint64_t bytes = 0;

	if (!atomic_load(&rv->size.any_held))
		return;
	pthread_mutex_lock(&rv->size.lock);
	for (struct ward_review_file **at = &rv->size.held; *at; at = &(*at)->held_next)
		if (ward_file_id_equal(&(*at)->id, id)) {
			bytes = let_go(rv, at);
			break;
		}
	pthread_mutex_unlock(&rv->size.lock);
	ward_size_give(rv, bytes);
}

static struct ward_review_file *next_new(struct ward_review *rv)
{
	struct ward_review_file *f;

	pthread_mutex_lock(&rv->size.lock);
	for (f = rv->size.held; f && !f->held_new; f = f->held_next)
		;
	if (f)
		f->held_new = false;
	else
		atomic_store(&rv->size.any_new, false);
	pthread_mutex_unlock(&rv->size.lock);
	return f;
}

void ward_size_hold(struct ward_review *rv)
{
	struct ward_review_file *f;

	while (atomic_load(&rv->size.any_new) && (f = next_new(rv))) {
		const struct ward_file_id id = f->id;

		/* Whoever has it open came by its node, unless it is one of ours. */
		if (!rv->size.calls.hold(rv->size.calls.user, &id, f->type))
			ward_review_forgotten(rv, &id);
	}
}

/* --- steps --- */

void ward_size_drop_kept(struct ward_review *rv, struct ward_review_file *f,
	struct ward_review_kept *k, const char *name)
{
	struct ward_review_kept *other = NULL;
	struct statx stx;

	if (!k->counted)
		return;
	if (ward_review_statx(rv->steps.fd, name, &stx) == 0 && stx.stx_nlink > 1)
		other = same_kept(rv, f, stx.stx_ino, k);
	if (other)
		other->counted += k->counted;
	else
		ward_size_give(rv, k->counted);
	k->counted = 0;
}
