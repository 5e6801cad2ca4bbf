/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which FUSE connections have backing ids, and how many, over all users and processes of the
 * service. An id stays until somebody closes it, or until nobody has /dev/fuse of its connection
 * open: after the unmount its user may still have it. So one process registers for a connection,
 * and it is counted until that process has closed all of its ids. Where the process was killed
 * before that, it is counted until the mount is gone.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

struct ward_host_bounds;

/* Shared with the children that are forked later. fusectl: of ward_host_fusectl(). -ENOMEM. */
int ward_host_bounds_new(int fusectl, struct ward_host_bounds **ret) ward_must_check;

/* A FUSE connection: its number, and the inode of its directory, since numbers are used again. */
struct ward_host_fuse {
	uint32_t number;
	uint32_t ino;
};

/*
 * It is the calling process's from now on, without ids. *ret is its place for the calls below.
 * -EBUSY: another process has it or had it; -EUSERS: the user has as many as may be
 * (WARD_HOST_USER_MAX), or all users together have.
 */
int ward_host_bounds_claim(struct ward_host_bounds *b, struct ward_host_fuse fuse, uid_t uid,
	size_t *ret) ward_must_check;
/* More ids for it: *ret is how many it may have now, and more than before. -ENOSPC: it, its user,
 * or all users together have as many as may be. */
int ward_host_bounds_grow(struct ward_host_bounds *b, size_t place, uint32_t *ret) ward_must_check;
/* All of its ids are closed: it is nobody's any more. */
void ward_host_bounds_release(struct ward_host_bounds *b, size_t place);
