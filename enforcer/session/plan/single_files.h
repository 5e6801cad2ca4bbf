/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single files of the host that a session reads: --read FILE, and [system] read of a regular file,
 * in the policy of the owner or of the run. wardfs-fs serves them, as it serves trees: each look
 * is decided and recorded, at the path at which the command sees the file. All of them are one tree
 * of wardfs-fs, and the command sees nothing else of that tree: pid 1 mounts each file at its place
 * (sandbox/init/files.c).
 *
 * Not so what a shipped profile names (tool chains), certificates that are passed on (ca_files.h),
 * directories, and modes without a view of their own: these are bind mounts, and not recorded.
 *
 * The file is the one that was looked at when the session started. One that replaces it on the host
 * (rename(2)) is not seen; what is written into it is.
 */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/session/plan/plan.h"

/*
 * While the policy loads, with the owner's rights: appends a line of [files] that lets each be
 * read, for guards, floor and project file to take from. -EINVAL; -ENOMEM.
 */
int ward_single_files_grant(const struct ward_run_plan *p, const struct ward_policy *policy,
	struct ward_buf *b, struct ward_err *err) ward_must_check;

/* Does wardfs-fs serve the plan's read i? After ward_shown_check(). */
bool ward_single_file(const struct ward_run_plan *p, size_t i);

/*
 * Makes the backing, p->single_files, where there are any: a tmpfs with the path of each, on which
 * the file is mounted, read-only. -ESTALE: one was replaced since it was looked at. What mounting
 * fails with.
 */
int ward_single_files_open(struct ward_run_plan *p, struct ward_err *err) ward_must_check;
