/* SPDX-License-Identifier: Apache-2.0 */
/* Which package of the distribution brought a file. For the files of this folder alone. */
#pragma once

#include "enforcer/base/err.h"

/*
 * path: absolute, without links. dir: where dpkg keeps its lists, NULL for its own place. *ret is
 * the caller's, NULL where no list has the path, where there are no lists, or where another than
 * root could have written them. Reads at most 64 MiB. -ENOMEM.
 */
int ward_package_find(const char *dir, const char *path, char **ret) ward_must_check;
