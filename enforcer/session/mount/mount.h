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
	const char *from;	       /* SESSION[@STEP] to begin with: staged; or NULL */
	bool review;		       /* changes are staged, also where the policy wants less */
	bool allow_other;	       /* as root: every user of the host, each with its own ids */
	void (*say)(const char *text); /* what the owner should know, also at the end; or NULL */
};

/*
 * Mounts and serves until unmounted. ready is called once when the mount can be used (the caller
 * goes to the background then). Returns the exit status; err has text unless it is 0.
 */
int ward_mount(const struct ward_mount_options *o, void (*ready)(void *), void *ready_arg,
	struct ward_err *err);

/* What an unmounting leaves. */
struct ward_umount_left {
	char *session; /* owned; it has not ended, or `silent`; NULL: none that is known */
	bool silent;   /* it did not answer, and the mount may have been its own */
	bool foreign;  /* something served the mount, and no session of the caller's said it did */
	char *staged;  /* owned: a line on what it staged; NULL: nothing, or it has not ended */
};

/*
 * Unmounts a mount of wardfs: through its supervisor, or directly if the supervisor has ended.
 * lazy: also while in use, or while a session does not answer. Waits until the session has ended,
 * 30 seconds at most (lazily: 3). *ret_left: the caller's, also on failure. -EBUSY: in use, or it
 * may be the mount of a session that does not answer; -EEXIST: something else is mounted on top;
 * -EINVAL: no mount of wardfs is there.
 */
int ward_umount(const char *mountpoint, bool lazy, struct ward_umount_left *ret_left,
	struct ward_err *err) ward_must_check;
