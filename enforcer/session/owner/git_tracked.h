/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What git tracks, read from its index (policy/gitindex.h). No program is run and nothing is
 * waited for: an agent may have written every file of the repository.
 */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/session/owner/identity.h"

/* An index of millions of files stays below. */
#define WARD_GIT_INDEX_MAX ((size_t)512 << 20)

/* One file that git tracks. Borrowed during the call. */
struct ward_git_entry {
	uint32_t mode;		     /* S_IF… bits and permissions, as git has them */
	const unsigned char *digest; /* of its content as git has it: 20 bytes of SHA-1, or 32 */
	unsigned digest_len;
	const char *name; /* relative to the directory that was asked about */
};
typedef int ward_git_entry_fn(void *user, const struct ward_git_entry *e);
/*
 * Calls fn for each file that git tracks in the directory dir (absolute), in the order of the
 * index; a conflict has up to three entries of one name. Acts with the rights of the process. No
 * repository: 0. Errors as below, and what fn returns; what was told by then stays told.
 */
int ward_git_entries(
	const char *dir, size_t index_max, ward_git_entry_fn *fn, void *user) ward_must_check;

/*
 * Appends the names of the files that git tracks in the directory dir (absolute), relative to dir,
 * each ended by NUL. Nothing where no repository is: in dir or above it, as git looks for one, also
 * where `.git` is a file that names the git directory. Acts with the owner's rights. Directories
 * that a sparse index leaves out are not named. Negative errno and err set: the index cannot be
 * read: no regular file, too large (-EFBIG), damaged (-EBADMSG).
 */
int ward_git_tracked(const struct ward_identity *id, const char *dir, struct ward_buf *names,
	struct ward_err *err) ward_must_check;
