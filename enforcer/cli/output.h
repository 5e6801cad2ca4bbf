/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a command writes where -o says. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/*
 * Opens path for writing, empty, made with this mode where it is not there; the descriptor is the
 * caller's. replace: what is there is emptied; else it is -EEXIST. Under sudo a file that is made
 * in a directory of the invoking user's is that user's, as what `run` writes is. The error names
 * path.
 */
int ward_output_open(const char *path, mode_t mode, bool replace, int *ret_fd,
	struct ward_err *err) ward_must_check;
