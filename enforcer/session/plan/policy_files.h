/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a policy (--policy FILE and what it extends) are what the next session obeys: where
 * they lie in a tree, the session may at most read them, and the links that lead to them.
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
