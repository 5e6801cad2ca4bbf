/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What git tracks, read from its index (policy/gitindex.h). No program is run and nothing is
 * waited for: an agent may have written every file of the repository.
 */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/session/owner/identity.h"

/*
 * Appends the names of the files that git tracks in the directory dir (absolute), relative to dir,
 * each ended by NUL. Nothing where no repository is: in dir or above it, as git looks for one, also
 * where `.git` is a file that names the git directory. Acts with the owner's rights. Directories
 * that a sparse index leaves out are not named. Negative errno and err set: the index cannot be
 * read: no regular file, too large (-EFBIG), damaged (-EBADMSG).
 */
int ward_git_tracked(const struct ward_identity *id, const char *dir, struct ward_buf *names,
	struct ward_err *err) ward_must_check;
