/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner's policy file for a project, read and written with the owner's rights. It is written
 * whole, and only if it loads.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/cli/place/policy_place.h"

/*
 * Appends the file's text to b. 1: got it, 0: there is none. -EINVAL: no regular file;
 * -EFBIG: more than a policy may have.
 */
int ward_owner_file_get(const char *file, const struct ward_identity *id, struct ward_buf *b,
	struct ward_err *err) ward_must_check;

/*
 * Makes text the content of the place's owner file, the owner's and readable by nobody else, with
 * the directories above it. It is loaded first, with the other sources that hold here: *ret_after
 * is that (clear it with ward_policy_place_clear() also on failure). replace: an existing file may
 * be replaced, else -EEXIST. On failure the file is as it was.
 */
int ward_owner_file_put(const struct ward_policy_place *place, const struct ward_buf *text,
	bool replace, struct ward_policy_place *ret_after, struct ward_err *err) ward_must_check;
