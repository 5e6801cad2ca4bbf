/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies on the backing beneath a directory before its rename, where the rules alone do not say
 * whether something there would gain a right (ward_decision.look).
 */
#pragma once

#include "fs/base/fs.h"

/* The renamer and all who need renames_lock wait meanwhile. */
#define WARD_CONTAIN_TIME_NS UINT64_C(200000000)

/*
 * Looks beneath the directory `name` of dirfd, which is to go from state src to dst. 0: nothing
 * that exists gains; -EXDEV: something does, or it cannot be known (a bound of ward_policy_look()
 * or WARD_CONTAIN_TIME_NS is met, a directory cannot be read). renames_lock held for writing:
 * nothing can be moved or linked there through this tree meanwhile; what the host makes there at
 * that moment is not seen.
 */
int ward_contain_walk(const struct ward_fs_tree *tree, const struct ward_state *src,
	const struct ward_state *dst, int dirfd, const char *name) ward_must_check;
