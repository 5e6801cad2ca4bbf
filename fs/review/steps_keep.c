/* SPDX-License-Identifier: Apache-2.0 */
/* What a step keeps: of names what they led to, of files what was in them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/fd.h"
#include "fs/review/review_internal.h"

/* Files opened to write that are not looked at before a mark, and how many are at a time. */
#define WRITERS_LEFT 64U
#define TRIM 2U
/* Names that one change needs room for. */
#define ROOM 4U

/* --- names --- */

int ward_steps_room(struct ward_review *rv)
{
	struct ward_steps_all *s = &rv->steps;
	const size_t more = s->room_undo ? s->room_undo * 2 : 256;
	void *v;

	if (s->room_undo - s->n_undo >= ROOM)
		return 0;
	v = reallocarray(s->undo, more, sizeof(*s->undo));
	if (!v)
		return -ENOMEM;
	s->undo = v;
	s->room_undo = more;
	return 0;
}

void ward_steps_note(struct ward_review *rv, struct ward_review_file *dir, char *name,
	struct ward_review_file *before, struct ward_review_file *was)
{
	rv->steps.undo[rv->steps.n_undo++] =
		(struct ward_review_undo){.dir = dir, .before = before, .was = was, .name = name};
}

/* --- files --- */

struct ward_review_kept *ward_steps_kept_from(const struct ward_review_file *f, uint32_t step)
{
	struct ward_review_kept *found = NULL;

	if (f->born >= step)
		return NULL;
	for (struct ward_review_kept *k = f->kept; k && k->step >= step; k = k->next)
		found = k;
	return found;
}

static bool has_kept(const struct ward_review_file *f, uint32_t step)
{
	return f->kept && f->kept->step >= step;
}

int ward_steps_add_kept(struct ward_review *rv, struct ward_review_file *f, uint32_t step,
	bool lower, uint64_t bytes)
{
	struct ward_review_kept *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	*k = (struct ward_review_kept){.next = f->kept,
		.step = step,
		.lower = lower,
		.bytes = bytes,
		.lower_ctime = f->lower_ctime};
	f->kept = k;
	rv->steps.bytes += bytes;
	return 0;
}

bool ward_steps_holds(const struct ward_review *rv, const struct ward_review_file *f)
{
	const uint32_t last = rv->steps.last;

	if (!last || f->born >= last)
		return false;
	return S_ISDIR(f->type) || !has_kept(f, last);
}

bool ward_steps_may_return(const struct ward_review *rv, const struct ward_review_file *f)
{
	return f->born < rv->steps.last;
}

bool ward_steps_lingers(struct ward_review *rv, const struct ward_review_file *f)
{
	return S_ISREG(f->type) && ward_steps_may_return(rv, f) &&
	       ward_steps_is_open(rv, f, F_WRLCK);
}

bool ward_steps_needs(const struct ward_review *rv, const struct ward_review_file *f, bool attrs)
{
	const uint32_t last = rv->steps.last;

	if (f->borrowed)
		return true;
	if (!last || !f->staged || f->no_object || (S_ISDIR(f->type) && !attrs))
		return false;
	return f->shared || (f->born < last && !has_kept(f, last));
}

void ward_steps_staged(struct ward_review *rv, struct ward_review_file *f)
{
	const uint32_t last = rv->steps.last;

	rv->steps.changes++;
	atomic_fetch_add(&rv->steps.all, 1);
	/* Without memory a step back leaves it staged, with the content of then. */
	if (last && !has_kept(f, last))
		(void)!ward_steps_add_kept(rv, f, last, true, 0);
}

/*
 * Descriptors of the object that goes lead to it still. What is asked by them is asked of the file.
 */
void ward_steps_leave_alias(struct ward_review *rv, struct ward_review_file *f)
{
	struct ward_review_file *g = f->hashed ? calloc(1, sizeof(*g)) : NULL;

	ward_review_unhash_object(rv, f);
	if (!g)
		return;
	g->type = f->type;
	g->object = f->object;
	g->alias = f;
	g->hashed = true;
	ward_review_hash_object(rv, g);
}

/* The object is another inode. */
int ward_steps_known_anew(struct ward_review *rv, struct ward_review_file *f)
{
	char object[WARD_REVIEW_NAME];
	struct statx stx;
	int r;

	ward_review_object_name(f, object);
	r = ward_review_statx(rv->objects_fd, object, &stx);
	if (r < 0)
		return r;
	ward_steps_leave_alias(rv, f);
	f->object = ward_review_key_of(&stx);
	f->copied_ctime = (struct timespec){0};
	ward_review_hash_object(rv, f);
	f->hashed = f->staged = true;
	f->no_object = false;
	return 0;
}

/*
 * All kept contents that are the inode of objects/N become the file `copy` in steps/, whose name
 * goes.
 */
int ward_steps_detach(struct ward_review *rv, struct ward_review_file *f, const char *copy)
{
	const char *made = "linked";
	char name[WARD_STEPS_NAME], object[WARD_REVIEW_NAME];
	const int fd = rv->steps.fd;
	struct statx own, stx;
	int r;

	ward_review_object_name(f, object);
	r = ward_review_statx(rv->objects_fd, object, &own);
	for (const struct ward_review_kept *k = f->kept; r == 0 && f->shared && k; k = k->next) {
		ward_steps_name(k->step, f, name);
		if (k->lower || ward_review_statx(fd, name, &stx) < 0 || stx.stx_ino != own.stx_ino)
			continue;
		(void)unlinkat(fd, made, 0);
		if (linkat(fd, copy, fd, made, 0) < 0 ||
			syscall(SYS_renameat2, fd, made, fd, name, 0) < 0)
			r = -errno;
		/* A rename of one file to another name of it does nothing. */
		(void)unlinkat(fd, made, 0);
	}
	if (r == 0)
		f->shared = false;
	return r;
}

/*
 * The copy becomes the object. What it was, another session has, and the last step. Locked for
 * writing.
 */
static int take_over(struct ward_review *rv, struct ward_review_file *f, const char *copy)
{
	const uint32_t last = rv->steps.last;
	char object[WARD_REVIEW_NAME], name[WARD_STEPS_NAME];
	int r = 0;

	ward_review_object_name(f, object);
	ward_steps_name(last, f, name);
	if (last && f->born < last && !has_kept(f, last)) {
		if (linkat(rv->objects_fd, object, rv->steps.fd, name, 0) < 0)
			return -errno;
		r = ward_steps_add_kept(rv, f, last, false, 0);
		if (r == 0)
			f->kept->borrowed = true;
	}
	if (r == 0 && syscall(SYS_renameat2, rv->objects_fd, copy, rv->objects_fd, object, 0) < 0)
		r = -errno;
	if (r == 0)
		r = ward_steps_known_anew(rv, f);
	if (r == 0) {
		f->borrowed = false;
		rv->steps.changes++;
	}
	return r;
}

/* Before the first change of what another session has, too. No lock is held. */
static int own(struct ward_review *rv, struct ward_review_file *f)
{
	char copy[WARD_REVIEW_NAME], object[WARD_REVIEW_NAME];
	uint64_t bytes = 0, taken = 0;
	struct statx stx;
	bool mine;
	int r;

	(void)snprintf(copy, sizeof(copy), "c%u", atomic_fetch_add(&rv->next_copy, 1));
	ward_review_object_name(f, object);
	r = ward_review_statx(rv->objects_fd, object, &stx);
	if (r == 0 && S_ISREG(stx.stx_mode))
		r = ward_size_take(rv, taken = stx.stx_size);
	if (r < 0)
		return ward_size_refuse(rv, f, r);
	r = ward_review_clone(rv->objects_fd, object, rv->objects_fd, copy, &bytes);
	if (r < 0) {
		ward_size_give(rv, taken);
		return r;
	}
	pthread_rwlock_wrlock(&rv->lock);
	mine = f->borrowed;
	if (mine)
		r = take_over(rv, f, copy);
	if (r == 0 && mine) {
		ward_size_object(rv, f, taken);
		taken = 0;
	}
	atomic_fetch_add(&rv->steps.all, 1);
	pthread_rwlock_unlock(&rv->lock);
	ward_size_give(rv, taken);
	(void)unlinkat(rv->objects_fd, copy, 0);
	if (r == 0 && rv->on_staged)
		rv->on_staged(rv->user, &f->id);
	return r;
}

/* The copy takes its place. *io_taken: what that takes has been taken; the rest of it stays. Locked
 * for writing. */
static int place(struct ward_review *rv, struct ward_review_file *f, const char *copy,
	uint64_t bytes, uint64_t *io_taken)
{
	struct ward_review_kept *shared = f->shared ? ward_size_shared(rv, f) : NULL;
	const uint32_t last = rv->steps.last;
	const int fd = rv->steps.fd;
	char name[WARD_STEPS_NAME];
	int r = 0;

	ward_steps_name(last, f, name);
	if (f->born < last && !has_kept(f, last)) {
		if (rv->steps.bytes + bytes > WARD_STEPS_KEPT_MAX)
			return -EDQUOT;
		/* Of a directory a name more is none. */
		if (S_ISDIR(f->type) ? syscall(SYS_renameat2, fd, copy, fd, name, 0) < 0
				     : linkat(fd, copy, fd, name, 0) < 0)
			return -errno;
		r = ward_steps_add_kept(rv, f, last, false, bytes);
		if (r < 0)
			(void)unlinkat(fd, name, S_ISDIR(f->type) ? AT_REMOVEDIR : 0);
		rv->steps.changes++;
		shared = r == 0 ? f->kept : NULL;
	}
	if (r == 0 && f->shared)
		r = ward_steps_detach(rv, f, copy);
	if (r == 0 && shared) {
		shared->counted += *io_taken;
		*io_taken = 0;
	}
	return r;
}

int ward_steps_keep(struct ward_review *rv, struct ward_review_file *f, bool attrs)
{
	char copy[WARD_REVIEW_NAME], object[WARD_REVIEW_NAME];
	uint64_t bytes = 0, taken = 0;
	int r;

	if (f->borrowed)
		return own(rv, f);
	r = ward_size_take_copy(rv, f, &taken);
	if (r < 0)
		return ward_size_refuse(rv, f, r);
	(void)snprintf(copy, sizeof(copy), "c%u", atomic_fetch_add(&rv->next_copy, 1));
	ward_review_object_name(f, object);
	r = ward_review_clone(rv->objects_fd, object, rv->steps.fd, copy, &bytes);
	if (r < 0) {
		ward_size_give(rv, taken);
		return r;
	}
	pthread_rwlock_wrlock(&rv->lock);
	/* Whoever was faster may be writing by now: the copy is of no use then. */
	if (ward_steps_needs(rv, f, attrs))
		r = place(rv, f, copy, bytes, &taken);
	atomic_fetch_add(&rv->steps.all, 1);
	ward_steps_trim(rv);
	pthread_rwlock_unlock(&rv->lock);
	ward_size_give(rv, taken);
	(void)unlinkat(rv->steps.fd, copy, S_ISDIR(f->type) ? AT_REMOVEDIR : 0);
	return r;
}

/* --- who can write --- */

void ward_steps_opened(struct ward_review *rv, struct ward_review_file *f)
{
	struct ward_steps_all *s = &rv->steps;

	atomic_fetch_add(&s->all, 1);
	if (!S_ISREG(f->type) || atomic_exchange(&f->opened, true))
		return;
	pthread_mutex_lock(&s->writers_lock);
	if (s->n_writers == s->room_writers) {
		const size_t more = s->room_writers ? s->room_writers * 2 : 256;
		void *v = reallocarray(s->writers, more, sizeof(*s->writers));

		if (v) {
			s->writers = v;
			s->room_writers = more;
		}
	}
	if (s->n_writers < s->room_writers)
		s->writers[s->n_writers++] = f;
	else
		s->writers_lost = true;
	pthread_mutex_unlock(&s->writers_lock);
}

/*
 * The kernel grants a lease for reading only if nobody has the file open to write, which a mapping
 * counts as, and one for writing only if nobody has it open (fcntl(2)). What it does not say counts
 * as open.
 */
bool ward_steps_is_open(struct ward_review *rv, const struct ward_review_file *f, int lease)
{
	ward_cleanup_fd int fd = -1;
	const int r = ward_review_open_object(rv, f, O_RDONLY, &fd);

	if (r < 0)
		return r != -ENOENT;
	/* It ends with the descriptor. */
	return fcntl(fd, F_SETLEASE, lease) < 0;
}

void ward_steps_trim(struct ward_review *rv)
{
	struct ward_steps_all *s = &rv->steps;

	pthread_mutex_lock(&s->writers_lock);
	for (size_t i = 0; i < TRIM && s->n_writers > WRITERS_LEFT; i++) {
		struct ward_review_file *f = s->writers[0];

		s->writers[0] = s->writers[--s->n_writers];
		s->writers[s->n_writers] = f;
		if (ward_steps_is_open(rv, f, F_RDLCK))
			s->n_writers++;
		else
			atomic_store(&f->opened, false);
	}
	pthread_mutex_unlock(&s->writers_lock);
}
