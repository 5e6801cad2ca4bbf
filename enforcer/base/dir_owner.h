/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making files as the owner of the directory that they lie in. What root makes in another user's
 * directory would be root's, and that user's next command could not open it. What has the name
 * already may be a second name of a file that the user may not write to. Between begin and end this
 * thread acts on files with the ids of the directory (setfsuid(2): the kernel takes the file
 * capabilities away as well). Does nothing unless root calls, for a directory that is not root's.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

struct ward_dir_owner {
	bool active;
	uid_t uid; /* for files, to be restored */
	gid_t gid;
};

/* 0 or a negative errno; with an error nothing has changed. */
int ward_dir_owner_begin(int dir_fd, struct ward_dir_owner *ret) ward_must_check;
/* Idempotent. Ends the process where the old ids cannot be restored: it must not go on with half.
 */
void ward_dir_owner_end(struct ward_dir_owner *o);
