/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes inodes of a FUSE mount go bad in the kernel (fs/handle/retired_inodes.h says why and when):
 * asks for the attributes of each by its number, which wardfs-fs answers with what no inode has. A
 * file handle of the mount holds the number (fs/fuse/inode.c: fuse_encode_fh(), FILEID_INO64_GEN);
 * with it an inode is found that no path leads to any more (open_by_handle_at(2),
 * CAP_DAC_READ_SEARCH).
 *
 * For a short-lived process of its own: while its descriptors are open the mount stays, and a file
 * system that does not answer holds it up.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/*
 * Opens the roots of n mounts (absolute paths), as uid and gid, the only ones who may enter them,
 * and keeps of its rights CAP_DAC_READ_SEARCH alone. ret_fds are the caller's.
 */
int ward_revoke_open(char *const *paths, size_t n, uid_t uid, gid_t gid, int *ret_fds,
	struct ward_err *err) ward_must_check;

/* One inode of the mount of fd. 0 also where the kernel does not have it any more. */
int ward_revoke(int fd, uint64_t number) ward_must_check;
