/* SPDX-License-Identifier: Apache-2.0 */
/* What lies in reviews/SESSION. */
#pragma once

#include "enforcer/base/err.h"

/*
 * Removes the directory name in at with all that is in it: at most DEPTH_MAX levels, as nothing of
 * ours has more. A negative errno: some of it is still there.
 */
int ward_reviews_remove_tree(int at, const char *name) ward_must_check;
