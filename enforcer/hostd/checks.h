/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is looked at before anything is registered. The kernel opens a registered file again with
 * the flags of each later open and checks no permission: a descriptor that was opened for reading,
 * or with O_PATH, becomes one for writing. So a file is registered for writing only if its user can
 * open it for reading and writing now, and else from a mount that is read-only.
 *
 * All of this is done with the user's fsuid, fsgid and groups in force, and without capabilities
 * but where it says so.
 */
#pragma once

#include <sys/types.h>

#include "enforcer/base/err.h"
#include "enforcer/hostd/bounds.h"
#include "enforcer/hostd/mount_table.h"

/*
 * A detached mount of the file system in which each FUSE connection has a directory, owned by its
 * user (Documentation/filesystems/fuse.rst). The descriptor, the caller's, or a negative errno.
 * Takes CAP_SYS_ADMIN.
 */
int ward_host_fusectl(void) ward_must_check;

/*
 * fd is /dev/fuse (character device 10:229) with a connection, and the connection is that user's.
 * -EBADF: it is not; -EPERM: it is another user's, or none's.
 */
int ward_check_fuse(int fd, int fusectl, uid_t uid, struct ward_host_fuse *ret) ward_must_check;

/*
 * file is a regular file on a mount of the table, opened with O_RDWR exactly, and the user can open
 * it like that again. *ret: the same file, O_PATH, the caller's. -EBADF: it was not opened so;
 * -EXDEV: it lies elsewhere; -ESTALE: another one was opened; or what open(2) says.
 */
int ward_check_writable(struct ward_mount_table *mounts, int file, int *ret) ward_must_check;

/*
 * file is one that was opened with O_RDONLY exactly, and the user can open it like that again by
 * its path beneath dir. *ret: the same file, O_PATH, on a read-only mount of dir that nobody else
 * has. Errors as above; -ENOENT: it does not lie beneath dir. Takes CAP_SYS_ADMIN, in the permitted
 * set.
 */
int ward_check_readable(
	struct ward_mount_table *mounts, int file, int dir, int *ret) ward_must_check;
