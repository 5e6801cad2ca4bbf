/* SPDX-License-Identifier: Apache-2.0 */
/* mount(2) of /dev/fuse on a directory of the host, and its way back. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

struct ward_fusemount {
	char *path;	 /* absolute path of the mount point, owned */
	uint64_t mnt_id; /* STATX_MNT_ID, so that nothing else is ever unmounted */
	bool by_helper;	 /* mounted by fusermount3(1), which must unmount too */
};

/*
 * Mounts on the directory `mountpoint`. With the right to mount (root, or root of an own user
 * namespace) by mount(2); else through fusermount3(1) where it is installed. allow_other: with
 * default_permissions, so that the kernel checks the modes for each user. *ret_fd is /dev/fuse, the
 * caller's.
 */
int ward_fusemount(const char *mountpoint, uid_t uid, gid_t gid, bool allow_other,
	struct ward_fusemount *ret, int *ret_fd, struct ward_err *err) ward_must_check;

/*
 * Asks for the attributes of the mount's root, once it is served: the kernel takes the root for uid
 * 0's until then, and in an own user namespace refuses every create in it (HAS_UNMAPPED_ID(),
 * fs/namei.c). In a process of its own, so that the caller waits at most a minute (-ETIMEDOUT) and
 * not for as long as the server takes. Other errors: -errno of stat(2).
 */
int ward_fusemount_meet(const struct ward_fusemount *m, struct ward_err *err) ward_must_check;

/* What -EEXIST of ward_fusemount_undo() means: of the mount point's path. */
#define WARD_FUSEMOUNT_COVERED                                                                     \
	"something else is mounted on top of %s: unmount that first (umount), then try again"

/*
 * -EBUSY while in use and not lazy; -EEXIST: something else is mounted on top. 0 also if it is gone
 * already.
 */
int ward_fusemount_undo(
	const struct ward_fusemount *m, bool lazy, struct ward_err *err) ward_must_check;
/* Fills the rest of *m for the mount that is at m->path now (its supervisor is gone). */
int ward_fusemount_adopt(struct ward_fusemount *m, struct ward_err *err) ward_must_check;
void ward_fusemount_clear(struct ward_fusemount *m);

/*
 * Is it in the caller's mount namespace, if only beneath another mount, where no path leads to it?
 * Its mnt_id counts.
 */
bool ward_fusemount_is_here(const struct ward_fusemount *m);
/* True if a mount of ours is visible at this absolute path (mountinfo, proc(5)). */
bool ward_fusemount_is_ours(const char *path);
