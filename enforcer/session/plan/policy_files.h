/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a policy (--policy FILE and what it extends) are what the next session obeys: where
 * they lie in a tree, the session may at most read them, and the links that lead to them. A bind
 * mount of what lies in a tree is the same place.
 */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/policy/policy.h"

/*
 * Appends a [guard] for the files that p was loaded from and that lie in its trees, as they are
 * found with the caller's rights; nothing where none does. home and project as in
 * ward_tree_source_resolve(). -ENOMEM, -EINVAL (a tree's source that means nothing); -EIO where it
 * is unknown what leads to a file.
 */
int ward_policy_files_guard(const struct ward_policy *p, const char *home, const char *project,
	struct ward_buf *text, struct ward_err *err) ward_must_check;

/*
 * Appends a [guard] for a directory of wardfs' own where a tree serves it and p gives none of the
 * forbidden rights there: no grant, no answer and no later policy shall give them either. Hides it
 * if reading is forbidden; else it may be read. Where p gives them, ward_places_check() refuses. As
 * above otherwise.
 */
int ward_own_dir_guard(const struct ward_policy *p, const char *home, const char *project,
	const char *dir, uint32_t forbidden, struct ward_buf *text,
	struct ward_err *err) ward_must_check;
