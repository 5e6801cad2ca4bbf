/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are renamed or linked to where the policy takes the right to write: nobody else may
 * have them open for writing, neither another session nor a program of the host, and so nobody may
 * have them mapped. What this session has open, writers.h knows; this asks the kernel for a lease
 * (fcntl(2), F_SETLEASE with F_RDLCK). It gives none while somebody has the file open for writing.
 * While the lease lasts, an open for writing waits, or fails with EAGAIN. So nobody comes in
 * between the look and the new name.
 */
#pragma once

#include "fs/base/fs.h"
#include "fs/request/fs_records.h"

/* What one look may cost, of a directory with all beneath it. */
#define WARD_ALONE_FILES_MAX 1024U
#define WARD_ALONE_NAMES_MAX 10000U
#define WARD_ALONE_TIME_NS UINT64_C(200000000)

struct ward_alone {
	int *fds; /* with a lease each */
	size_t n, room;
};

#define WARD_ALONE_INIT ((struct ward_alone){.fds = NULL})

/*
 * RENAME of name of dir to name2 of dir2, whose backings are fds; from: what is there; to: what is
 * exchanged with it, else NULL. 0: nobody else can write to what loses the right, until
 * ward_alone_end(). -EXDEV, with a record: somebody can, or it cannot be known: the file system has
 * no leases, the file is another user's or cannot be read, a bound is met. -ENOMEM. renames_lock
 * held for writing.
 */
int ward_alone_rename(struct ward_op *op, const struct ward_record_paths *paths, const int fds[2],
	const struct ward_file *from, const struct ward_file *to,
	struct ward_alone *a) ward_must_check;
/* The same for LINK: node, open as fd, gets a further name. */
int ward_alone_link(struct ward_op *op, const struct ward_record_paths *paths, int fd,
	const struct ward_file *file, struct ward_alone *a) ward_must_check;
/* Gives the leases back. Also after a failure, and more than once. */
void ward_alone_end(struct ward_alone *a);
