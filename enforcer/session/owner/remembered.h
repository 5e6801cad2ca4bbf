/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where it is kept which repositories the starts of an owner's sessions found (policy/known.h):
 *
 *   STATE/guards/UID/NAME-HASH    of one tree; NAME and HASH are those of its path on the host
 *
 * UID is the owner, STATE is HOME/.local/state/wardfs of the owner, whatever state directory a
 * session has: so all sessions of an owner share it. Root acts there as the owner. What cannot be
 * written there goes into the caller's state directory. What either of them has counts.
 *
 * A file is a row of texts that each end with a NUL:
 *
 *   "wardfs-guards 1"    first
 *   "t PATH"             second: the tree, absolute
 *   "g PATH", "b PATH"   a git directory, a bare repository: relative to the tree, "." for itself
 *   "e ."                there were more than a file has room for: all of the tree is guarded
 *
 *   STATE/guards/UID/.moves       what the owner's sessions share while they rename
 *                                 (fs/base/shared_moves.h)
 *
 * No path has an empty name, "." or ".." in it. A file that is anything else refuses the start.
 * Files are replaced as a whole, under the lock of `lock` beside them (flock(2)).
 */
#pragma once

#include "enforcer/policy/known.h"
#include "enforcer/session/owner/identity.h"

/* Of one file, and of all files of an owner together. Forgetting has the first bound alone. */
#define WARD_REMEMBERED_FILE_MAX ((size_t)1 << 20)
#define WARD_REMEMBERED_ALL_MAX ((size_t)16 << 20)

/*
 * Adds what is remembered for this owner, of all trees. state: the caller's state directory, which
 * need not be there. -EINVAL, -EFBIG: a file that cannot be believed; or an errno. err names it.
 */
int ward_remembered_read(const struct ward_identity *id, const char *state, struct ward_known *k,
	struct ward_err *err) ward_must_check;

/*
 * Keeps what is known of each tree that was searched, but for what is gone. Makes directories that
 * are missing. Nothing is written where nothing has changed. If the files of an owner come near to
 * their bound, those of trees that are gone are dropped.
 */
int ward_remembered_write(const struct ward_identity *id, const char *state,
	const struct ward_known *k, struct ward_err *err) ward_must_check;

/*
 * Forgets the repository at this absolute path of the host, or, with beneath, all beneath it.
 * *ret_n: how many entries there were.
 */
int ward_remembered_forget(const struct ward_identity *id, const char *state, const char *path,
	bool beneath, size_t *ret_n, struct ward_err *err) ward_must_check;

/*
 * The file that the sessions of this owner share while they rename, made where it is missing, open
 * for reading and writing. *ret_fd: the caller's. -EIO: it cannot be opened, or not be locked; err
 * names it.
 */
int ward_remembered_moves(const struct ward_identity *id, const char *state, int *ret_fd,
	struct ward_err *err) ward_must_check;

/*
 * The directory of HOME in which this is kept for the owner, which no session may change; the
 * caller's. state: the caller's state directory. NULL: it lies there alone, or memory is short.
 */
char *ward_remembered_place(const struct ward_identity *id, const char *state);
