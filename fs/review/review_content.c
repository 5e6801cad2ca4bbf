/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of small files of the host is kept as the session found it: what an apply compares
 * with, and merges from. Where it is missing, a merge is refused, and nothing else fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "fs/review/review_internal.h"

bool ward_review_same_times(const struct statx *a, const struct statx *b)
{
	return a->stx_size == b->stx_size && a->stx_mtime.tv_sec == b->stx_mtime.tv_sec &&
	       a->stx_mtime.tv_nsec == b->stx_mtime.tv_nsec &&
	       a->stx_ctime.tv_sec == b->stx_ctime.tv_sec &&
	       a->stx_ctime.tv_nsec == b->stx_ctime.tv_nsec;
}

bool ward_review_base_begin(
	struct ward_review *rv, int from, off_t size, char ret[WARD_REVIEW_NAME])
{
	ward_cleanup_fd int to = -1;
	int r;

	if (size > WARD_REVIEW_BASE_MAX)
		return false;
	(void)snprintf(ret, WARD_REVIEW_NAME, "c%u", atomic_fetch_add(&rv->next_copy, 1));
	to = openat(rv->bases_fd, ret, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (to < 0)
		return false;
	r = ward_review_copy_content(from, to, size);
	if (r >= 0)
		return true;
	(void)unlinkat(rv->bases_fd, ret, 0);
	return false;
}

void ward_review_base_drop(struct ward_review *rv, const char *begun)
{
	(void)unlinkat(rv->bases_fd, begun, 0);
}

bool ward_review_base_keep(
	struct ward_review *rv, const struct ward_review_file *f, const char *begun)
{
	char name[WARD_REVIEW_NAME];

	ward_review_object_name(f, name);
	if (syscall(SYS_renameat2, rv->bases_fd, begun, rv->bases_fd, name, RENAME_NOREPLACE) == 0)
		return true;
	ward_review_base_drop(rv, begun);
	return false;
}
