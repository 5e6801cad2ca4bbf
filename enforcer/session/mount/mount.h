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
	bool allow_other;	       /* as root: every user of the host, each with its own ids */
	void (*say)(const char *text); /* what the owner should know; NULL: nobody listens */
};

/*
 * Mounts and serves until unmounted. ready is called once when the mount can be used (the caller
 * goes to the background then). Returns the exit status; err has text unless it is 0.
 */
int ward_mount(const struct ward_mount_options *o, void (*ready)(void *), void *ready_arg,
	struct ward_err *err);

/*
 * Unmounts a mount of wardfs: through its supervisor, or directly if the supervisor has ended.
 * lazy: also while in use. Waits until the session has ended, 30 seconds at most (lazily: 3). The
 * name of a session that has not is *ret_goes_on, the caller's; else that is untouched. -EBUSY: in
 * use; -EEXIST: something else is mounted on top; -EINVAL: no mount of wardfs is there.
 */
int ward_umount(const char *mountpoint, bool lazy, char **ret_goes_on,
	struct ward_err *err) ward_must_check;
