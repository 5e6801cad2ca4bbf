/* SPDX-License-Identifier: Apache-2.0 */
/* Trees that somebody else filled: removed without following a link or leaving the file system. */
#pragma once

#include "enforcer/base/err.h"

/* The name in dir, and what is beneath it. -ENOENT: there is none. */
int ward_image_tree_remove(int dir, const char *name) ward_must_check;
/* All that is in the directory. */
int ward_image_tree_empty(int dir) ward_must_check;
