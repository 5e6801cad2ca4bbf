/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the owner's policy file for a project: whole, and only if it loads. */
#pragma once

#include <stdbool.h>

#include "enforcer/cli/policy_place.h"

/*
 * Makes text the file's content, the owner's and readable by nobody else, with the directories
 * above it. It is loaded first, with the other sources that hold here: *ret_after is that (clear it
 * with ward_place_clear() also on failure). replace: an existing file may be replaced, else
 * -EEXIST. On failure the file is as it was.
 */
int ward_owner_file_put(const char *file, const struct ward_buf *text, bool replace,
	const struct ward_identity *id, struct ward_place *ret_after,
	struct ward_err *err) ward_must_check;
