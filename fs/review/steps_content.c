/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contents at a step back. What nobody has open gets the kept file as its object, by a name more:
 * nothing is copied before it is written to. What somebody has open is written to in place, so that
 * handles and mappings see it: one file of the kernel's cannot have two files beneath it.
 *
 * The journal has said by then where each content is (`C`), until `D`: whoever reads the journal
 * next does what is cut short here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/fd.h"
#include "fs/review/review_internal.h"

/* A symbolic link is never open; a directory is always changed in place. */
static bool in_place(struct ward_review *rv, const struct ward_review_file *f)
{
	return S_ISDIR(f->type) ||
	       (!f->borrowed && S_ISREG(f->type) && ward_steps_is_open(rv, f, F_WRLCK));
}

static bool kept_at(const struct ward_review_file *f, uint32_t step)
{
	return f->kept && f->kept->step >= step;
}

/* What is there now is what step `before` has: by a name more, or a copy where it goes on. */
static int keep_now(struct ward_review *rv, struct ward_review_file *f, uint32_t before, bool copy)
{
	char name[WARD_STEPS_NAME], object[WARD_REVIEW_NAME];
	uint64_t bytes = 0, taken;
	int r = 0;

	ward_review_object_name(f, object);
	ward_steps_name(before, f, name);
	if (!kept_at(f, before)) {
		/* All is counted once more when the step back has ended. */
		if (copy)
			r = ward_size_take_copy(rv, f, &taken);
		if (r < 0)
			return r;
		if (copy)
			r = ward_review_clone(rv->objects_fd, object, rv->steps.fd, name, &bytes);
		else if (syscall(SYS_renameat2, rv->objects_fd, object, rv->steps.fd, name, 0) < 0)
			r = -errno;
		if (r == 0)
			r = ward_steps_add_kept(rv, f, before, false, bytes);
		if (r == 0)
			f->kept->borrowed = f->borrowed && !copy;
		return r;
	}
	if (!copy && unlinkat(rv->objects_fd, object, 0) < 0 && errno != ENOENT)
		r = -errno;
	return r;
}

/* The kept name of this inode is to stay what it is. */
static int detach(struct ward_review *rv, struct ward_review_file *f)
{
	char copy[] = "detached", object[WARD_REVIEW_NAME];
	uint64_t bytes, taken;
	int r;

	if (!f->shared)
		return 0;
	r = ward_size_take_copy(rv, f, &taken);
	if (r < 0)
		return r;
	ward_review_object_name(f, object);
	r = ward_review_clone(rv->objects_fd, object, rv->steps.fd, copy, &bytes);
	if (r == 0)
		r = ward_steps_detach(rv, f, copy);
	(void)unlinkat(rv->steps.fd, copy, 0);
	return r;
}

static int overwrite(struct ward_review *rv, struct ward_review_file *f, int from)
{
	char object[WARD_REVIEW_NAME];
	int r = detach(rv, f);

	if (r < 0)
		return r;
	ward_review_object_name(f, object);
	return ward_review_overwrite(from, rv->objects_fd, object);
}

static int restore_kept(struct ward_review *rv, struct ward_review_file *f,
	const struct ward_review_kept *k, uint32_t before)
{
	char name[WARD_STEPS_NAME], object[WARD_REVIEW_NAME];
	ward_cleanup_fd int from = -1;
	const bool there = f->staged && !f->no_object;
	uint64_t bytes;
	int r;

	ward_steps_name(k->step, f, name);
	ward_review_object_name(f, object);
	if (there && in_place(rv, f)) {
		r = keep_now(rv, f, before, true);
		if (r == 0 &&
			(from = openat(rv->steps.fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)) < 0)
			r = -errno;
		return r < 0 ? r : overwrite(rv, f, from);
	}
	r = there ? keep_now(rv, f, before, false) : 0;
	/* Else that step would have what a later one keeps. */
	if (!f->staged && f->has_lower && !kept_at(f, before))
		r = ward_steps_add_kept(rv, f, before, true, 0);
	/* What an earlier step back left there while the file was the host's again. */
	if (r == 0 && !there)
		(void)unlinkat(rv->objects_fd, object, S_ISDIR(f->type) ? AT_REMOVEDIR : 0);
	f->shared = f->borrowed = false;
	if (r == 0 && !S_ISDIR(f->type) &&
		linkat(rv->steps.fd, name, rv->objects_fd, object, 0) == 0)
		f->shared = !(f->borrowed = k->borrowed);
	else if (r == 0)
		r = ward_review_clone(rv->steps.fd, name, rv->objects_fd, object, &bytes);
	return r < 0 ? r : ward_steps_known_anew(rv, f);
}

/*
 * The kept content comes from what the host's file had before the host changed it, and the session
 * has staged it once more since. The journal says a base that no file has, so an apply sees the
 * host's change.
 */
static void put_stale(struct ward_review *rv, struct ward_review_file *f,
	const struct ward_review_kept *k, struct ward_buf *line)
{
	ward_cleanup_fd int lower = -1;
	char kept[WARD_REVIEW_NAME];
	struct statx base = {.stx_mode = f->type};

	if (ward_review_open_lower(rv, f, O_PATH, &lower) == 0)
		(void)!ward_review_statx(lower, "", &base);
	base.stx_mtime = base.stx_ctime = (struct statx_timestamp){.tv_sec = 0};
	ward_review_object_name(f, kept);
	ward_review_base_drop(rv, kept);
	ward_review_put_staged(line, f, &base);
	f->lower_ctime = k->lower_ctime;
}

static bool is_stale(const struct ward_review_file *f, const struct ward_review_kept *k)
{
	return f->has_lower && !S_ISDIR(f->type) &&
	       (k->lower_ctime.tv_sec != f->lower_ctime.tv_sec ||
		       k->lower_ctime.tv_nsec != f->lower_ctime.tv_nsec);
}

/* The host's file counts again, with what it has by now. */
static int restore_lower(
	struct ward_review *rv, struct ward_review_file *f, uint32_t before, struct ward_buf *line)
{
	ward_cleanup_fd int lower = -1;
	const bool there = !f->no_object;
	struct statx base;
	int r = 0;

	if (there && in_place(rv, f) && ward_review_open_lower(rv, f, O_PATH, &lower) == 0 &&
		ward_review_statx(lower, "", &base) == 0) {
		r = keep_now(rv, f, before, true);
		if (r == 0)
			r = overwrite(rv, f, lower);
		if (r == 0 && !S_ISDIR(f->type))
			ward_review_put_staged(line, f, &base);
		f->lower_ctime = ward_review_time(&base.stx_ctime);
		return r;
	}
	if (S_ISDIR(f->type))
		return 0;
	if (there)
		r = keep_now(rv, f, before, false);
	if (r < 0)
		return r;
	ward_steps_leave_alias(rv, f);
	f->staged = f->shared = f->borrowed = false;
	return 0;
}

/* Bytes that the content takes beyond those of the object, which are given back before. */
static int count_room(
	struct ward_review *rv, const struct ward_review_file *f, int from, uint64_t *io_bytes)
{
	char object[WARD_REVIEW_NAME];
	struct statx then, now;
	int r = ward_review_statx(from, "", &then);

	ward_review_object_name(f, object);
	if (r == 0)
		r = ward_review_statx(rv->objects_fd, object, &now);
	if (r == 0 && S_ISREG(f->type) && then.stx_blocks > now.stx_blocks)
		*io_bytes += (then.stx_blocks - now.stx_blocks) * 512;
	if (r == 0 && S_ISREG(f->type) && then.stx_size > now.stx_size)
		r = ward_size_take(rv, then.stx_size - now.stx_size);
	return r;
}

int ward_steps_prepare(struct ward_review *rv, struct ward_review_file *f,
	const struct ward_review_kept *k, uint32_t before, uint64_t *io_bytes)
{
	char name[WARD_STEPS_NAME];
	ward_cleanup_fd int from = -1;
	int r;

	if (!f->staged || f->no_object || !in_place(rv, f) || (k->lower && S_ISDIR(f->type)))
		return 0;
	ward_steps_name(k->step, f, name);
	if (k->lower)
		r = ward_review_open_lower(rv, f, O_PATH, &from);
	else
		r = (from = openat(rv->steps.fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)) < 0
			    ? -errno
			    : 0;
	/* The host's file is gone: it is not written over. */
	if (r < 0)
		return k->lower ? 0 : r;
	r = keep_now(rv, f, before, true);
	if (r == 0)
		r = detach(rv, f);
	return r == 0 ? count_room(rv, f, from, io_bytes) : r;
}

/* The object is away, and what was to come in its place is not there. */
static void put_again(struct ward_review *rv, struct ward_review_file *f, uint32_t before)
{
	struct ward_review_kept *k = f->kept;
	char name[WARD_STEPS_NAME], object[WARD_REVIEW_NAME];

	ward_review_object_name(f, object);
	if (faccessat(rv->objects_fd, object, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return;
	ward_steps_name(before, f, name);
	if (linkat(rv->steps.fd, name, rv->objects_fd, object, 0) == 0) {
		f->shared = true;
	} else if (k && k->step == before &&
		   syscall(SYS_renameat2, rv->steps.fd, name, rv->objects_fd, object, 0) == 0) {
		rv->steps.bytes -= k->bytes;
		f->kept = k->next;
		free(k);
	}
}

void ward_steps_left(struct ward_review *rv, struct ward_review_file *f,
	const struct ward_review_kept *k, uint32_t before, struct ward_buf *line)
{
	if (!f->staged || f->no_object || S_ISDIR(f->type))
		return;
	put_again(rv, f, before);
	/* The journal says by now that it is the host's. */
	if (k->lower)
		put_stale(rv, f, k, line);
}

int ward_steps_restore(struct ward_review *rv, struct ward_review_file *f,
	const struct ward_review_kept *k, uint32_t before, struct ward_buf *line)
{
	if (k->lower)
		return restore_lower(rv, f, before, line);
	/* What is kept of now has the base of now: that goes first. */
	const bool stale = is_stale(f, k);
	int r = restore_kept(rv, f, k, before);
	if (r == 0 && stale)
		put_stale(rv, f, k, line);
	return r;
}
