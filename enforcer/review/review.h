/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session of review has staged, for people: read from its journal (fs/review/journal.h),
 * shown, applied to the project, or thrown away. Nothing here runs while the session does.
 *
 * reviews/SESSION in the state directory belongs to the session's owner:
 *   journal, objects/   what wardfs-fs wrote
 *   undo/               what an apply displaced, and how to put it back (applied.c)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/* --- where --- */

/*
 * Makes reviews/SESSION beneath the state directory (O_PATH), for the owner. *ret_fd: O_PATH, the
 * caller's.
 */
int ward_reviews_make(int state_fd, const char *session, uid_t uid, gid_t gid, int *ret_fd,
	struct ward_err *err) ward_must_check;
/* Opens it to read; -ENOENT: nothing was staged, or it was thrown away. */
int ward_reviews_open(int state_fd, const char *session, int *ret_fd) ward_must_check;
/* Removes it with all that is in it. */
int ward_reviews_remove(int state_fd, const char *session, struct ward_err *err) ward_must_check;

/* --- what --- */

/* What a file of the host was when the session saw it. */
struct ward_review_base {
	uint64_t dev, ino, btime_ns, size, mtime_ns, ctime_ns;
	uint32_t mode, nlink, uid, gid;
};

enum ward_change_kind {
	WARD_CHANGE_NONE = 0,
	WARD_CHANGE_ADDED,
	WARD_CHANGE_MODIFIED, /* content, or what it is */
	WARD_CHANGE_MODE,     /* the permissions alone */
	WARD_CHANGE_REMOVED,
	WARD_CHANGE_RENAMED,
	WARD_CHANGE_LINKED, /* a further name for a file */
};

struct ward_change {
	enum ward_change_kind kind;
	size_t root; /* of the session's directories */
	char *path;  /* relative to it; of what was removed, the host's */
	char *from;  /* of what was renamed or linked: where the host has it; else NULL */
	size_t from_root;
	mode_t type;	 /* S_IFMT bits of what it is, or was */
	mode_t mode;	 /* permissions that it has; of what was removed, had */
	uint64_t size;	 /* of content */
	uint32_t object; /* its content is objects/N; 0: the host's file has it */
	bool moved;	 /* the same session renamed it: the host's then has another ctime */
	bool has_base;	 /* there is a file of the host's to be compared: */
	struct ward_review_base base;
};

struct ward_review_changes {
	char **roots; /* the host's directories */
	size_t n_roots;
	struct ward_change *v; /* by path */
	size_t n;
	size_t n_added, n_modified, n_removed, n_renamed;
};

/*
 * Reads the journal in the directory dir_fd: what is to be done to the host for it to be what the
 * session saw. Files that were staged and are as before are no changes. -EBADMSG: it is damaged.
 * *ret is the caller's.
 */
int ward_changes_read(
	int dir_fd, struct ward_review_changes *ret, struct ward_err *err) ward_must_check;
void ward_changes_clear(struct ward_review_changes *c);
/*
 * What a person approves: SHA-256 over each change with the identity of the host's file and the
 * content of what replaces it, in hexadecimal. -errno: an object cannot be read.
 */
#define WARD_REVIEW_DIGEST_SIZE 65U
int ward_changes_digest(int dir_fd, const struct ward_review_changes *c,
	char ret[WARD_REVIEW_DIGEST_SIZE], struct ward_err *err) ward_must_check;
/* "added", as people read it. */
const char *ward_change_word(enum ward_change_kind kind);
/* "14 files changed, 3 added, 1 removed", the caller's; NULL: no memory. */
char *ward_changes_line(const struct ward_review_changes *c);

/* --- done --- */

enum ward_apply_end {
	WARD_APPLY_NONE = 0, /* not asked for */
	WARD_APPLY_DONE,
	WARD_APPLY_ALREADY,  /* the host has it: of an apply before */
	WARD_APPLY_CONFLICT, /* the host has changed it since, or something it needs was not done */
	WARD_APPLY_REFUSED,  /* today's policy, or a rule of ours */
	WARD_APPLY_FAILED,
};

struct ward_apply {
	int dir_fd; /* of what was staged */
	const struct ward_review_changes *changes;
	int roots[16];		   /* the session's directories, O_PATH; -1: not this one */
	enum ward_apply_end *ends; /* one for each change; those that are not NONE are left */
	char (*why)[128];	   /* what is to be said of each */
	bool dry;
};

/*
 * Makes the host what the session saw, as far as it was asked (`wanted`, one for each change). Each
 * file is compared with the one that the session saw right before it is replaced, and what was
 * displaced once more after that: a file is as before or as after, at any moment. Can be called
 * again: it does what is left. The caller acts as the owner. 0, whatever came of each change; or
 * what kept all from being begun.
 */
int ward_apply(struct ward_apply *a, const bool *wanted, struct ward_err *err) ward_must_check;
