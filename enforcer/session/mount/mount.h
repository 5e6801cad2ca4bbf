/* SPDX-License-Identifier: Apache-2.0 */
/* The guard alone on a mount point: no sandbox, only decisions and trail. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"

/* As the command line gives them; all borrowed. */
struct ward_mount_options {
	const char *policy;
	const char *tree; /* sandbox path that the source stands for; NULL: /workspace */
	const char *session;
	const char *source;
	const char *mountpoint;
	bool allow_other; /* as root: every user of the host, each with its own ids */
};

/*
 * Mounts and serves until unmounted. ready is called once when the mount can be used (the caller
 * goes to the background then). Returns the exit status; err has text unless it is 0.
 */
int ward_mount(const struct ward_mount_options *o, void (*ready)(void *), void *ready_arg,
	struct ward_err *err);

/*
 * Unmounts a mount of wardfs: through its supervisor, or directly if the supervisor has ended.
 * lazy: also while in use. -EBUSY: in use; -EINVAL: no mount of wardfs is there.
 */
int ward_umount(const char *mountpoint, bool lazy, struct ward_err *err) ward_must_check;
