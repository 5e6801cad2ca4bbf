/* SPDX-License-Identifier: Apache-2.0 */
/* Puts what was learned into the owner's file beside the owner's own lines. */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/* The comments around what was learned: the next time it is added to. */
#define LEARN_BEGINS "; Learned by wardfs learn. Your own lines below this block decide over it."
#define LEARN_ENDS "; End of what wardfs learn wrote."

/*
 * Appends to ret the text of the owner's file, have, with the [files] lines of the proposal that it
 * lacks. They come before the owner's own lines, which go on deciding; what was learned before
 * stays. Guards and staged trees that it lacks come at the end. file: for messages. -EEXIST: what
 * was learned before and what was learned now do not fit into one file.
 */
int learn_merge(const char *file, const struct ward_buf *have, const struct ward_buf *proposal,
	struct ward_buf *ret, struct ward_err *err) ward_must_check;
/* What the policy `text` stages ([tree] changes) is staged under the proposal, too. */
void learn_put_trees(const char *file, const struct ward_buf *text, struct ward_buf *b);
