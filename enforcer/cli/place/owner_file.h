/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner's policy file for a project, read and written with the owner's rights. It is written
 * whole, and only if it loads.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/cli/place/policy_place.h"

/* How a file begins that `policy add` or `policy edit` makes. */
#define WARD_OWNER_FILE_NEW "[policy]\nversion = 1\nextends = medium\n"

/*
 * Appends the file's text to b. 1: got it, 0: there is none. -EINVAL: no regular file;
 * -EFBIG: more than a policy may have.
 */
int ward_owner_file_get(const char *file, const struct ward_identity *id, struct ward_buf *b,
	struct ward_err *err) ward_must_check;

/* Makes the directories above file, the owner's alone. With the owner's rights. */
int ward_owner_file_dirs(const char *file, struct ward_err *err) ward_must_check;

/* A change of the owner's file. */
struct ward_owner_change {
	const struct ward_buf *text; /* the new text; NULL: remove the file */
	/* What the change was made from; a file that says something else by now is -ESTALE. Empty:
	 * there was no file. NULL: whatever it says. */
	const struct ward_buf *was;
	bool replace; /* a file that is there may be replaced, else -EEXIST */
	bool undo;    /* the text is the last one of the history, which it leaves */
	/* Asked before the file changes, with what would be in force; negative: it stays. NULL: not
	 * asked. */
	int (*judge)(void *user, const struct ward_policy_place *after, struct ward_err *err);
	void *user;
};

/*
 * Makes that text the content of the place's owner file, the owner's and readable by nobody else,
 * with the directories above it. It is loaded first, with the other sources that hold here:
 * *ret_after is that (clear it with ward_policy_place_clear() also on failure). What the file said
 * goes into its history (owner_history.h). On failure the file is as it was. -EBUSY: another
 * wardfs changes it.
 */
int ward_owner_file_change(const struct ward_policy_place *place,
	const struct ward_owner_change *change, struct ward_policy_place *ret_after,
	struct ward_err *err) ward_must_check;
