/* SPDX-License-Identifier: Apache-2.0 */
/* What goes, and everything counted once more (review_size.h). */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/review/review_internal.h"

void ward_size_gone(struct ward_review *rv, struct ward_review_file *f)
{
	struct ward_review_kept *k = NULL;

	if (!rv->size.counts || !f->bytes)
		return;
	if (f->shared)
		k = ward_size_shared(rv, f);
	if (k) {
		pthread_mutex_lock(&rv->size.lock);
		k->counted += f->bytes;
		f->bytes = f->keep_end = f->extra = 0;
		pthread_mutex_unlock(&rv->size.lock);
	} else if (S_ISREG(f->type) && ward_steps_is_open(rv, f, F_WRLCK)) {
		ward_size_await(rv, f);
	} else {
		ward_size_object(rv, f, 0);
	}
}

/* What f has of its own. Locked for writing. */
static uint64_t count_again(struct ward_review *rv, struct ward_review_file *f)
{
	char name[WARD_STEPS_NAME];
	struct statx stx;
	uint64_t sum = 0, ino = 0, before = 0;

	if (f->staged && !f->no_object) {
		ward_review_object_name(f, name);
		if (f->borrowed || S_ISDIR(f->type) ||
			ward_review_statx(rv->objects_fd, name, &stx) < 0) {
			f->bytes = f->keep_end = f->extra = 0;
		} else {
			ino = stx.stx_ino;
			f->keep_end = f->keep_end > stx.stx_size ? f->keep_end : 0;
			f->bytes = (f->keep_end ? f->keep_end : stx.stx_size) + f->extra;
		}
	} else if (!f->held) {
		f->bytes = f->keep_end = f->extra = 0;
	}
	sum += f->bytes;
	for (struct ward_review_kept *k = f->kept; k; k = k->next) {
		k->counted = 0;
		ward_steps_name(k->step, f, name);
		if (k->lower || k->borrowed || !S_ISREG(f->type) ||
			ward_review_statx(rv->steps.fd, name, &stx) < 0 || stx.stx_ino == ino ||
			stx.stx_ino == before)
			continue;
		before = stx.stx_ino;
		sum += k->counted = ward_size_kept(&stx);
	}
	ward_review_object_name(f, name);
	if (f->base_bytes && faccessat(rv->bases_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		f->base_bytes = 0;
	return sum + f->base_bytes;
}

void ward_size_recount(struct ward_review *rv)
{
	uint64_t sum = 0;

	if (!rv->size.counts)
		return;
	pthread_mutex_lock(&rv->size.lock);
	for (struct ward_review_file *f = rv->all; f; f = f->all_next)
		sum += count_again(rv, f);
	pthread_mutex_unlock(&rv->size.lock);
	rv->size.calls.set(rv->size.calls.user, sum);
}
