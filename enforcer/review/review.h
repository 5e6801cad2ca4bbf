/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session of review has staged, for people: read from its journal (fs/review/journal.h),
 * shown, applied to the project, taken back, or thrown away. Nothing here runs while the session
 * does.
 *
 * reviews/SESSION in the state directory belongs to the session's owner:
 *   journal, objects/, bases/
 *                       what wardfs-fs wrote
 *   parts/              what an apply puts in the place of objects, while it runs
 *   views/              steps, while a command looks at them
 *   undo/               what applies displaced, and how to put it back (applied.h)
 */
#pragma once

#include <limits.h>
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

/*
 * Of a session that has ended: puts contents in place that a step back named in the journal, and
 * that were not there yet when wardfs-fs ended. Before anything of it is read; can be called again.
 * The caller acts as the owner.
 */
int ward_reviews_finish(int dir_fd, struct ward_err *err) ward_must_check;

/* A step of the session (fs/review/steps.h). */
struct ward_review_step {
	uint32_t id, uid;
	char kind;
	uint64_t time_ns;
	char name[256]; /* "": none */
};
/* Those that were not given up, oldest first: the caller's (free(3)). */
int ward_reviews_steps(int dir_fd, struct ward_review_step **ret, size_t *ret_n,
	struct ward_err *err) ward_must_check;

/*
 * What a session begins with that goes on where another one was (run --from): from_fd: what that
 * one staged, step: at which step ("": at its end; a number or a name). Writes `branch` into to_fd,
 * for wardfs-fs (fs/review/journal.h), and objects/, which are further names of the other ones.
 * Neither session writes to those. The caller acts as the owner. -ENOENT: no such step.
 */
int ward_reviews_branch(
	int from_fd, const char *step, int to_fd, struct ward_err *err) ward_must_check;

/*
 * A step of a session that has ended, as a store: *ret_fd reads as the store dir_fd does, and has
 * the session as it was then. It lies in that store, and shares its files. What applies did is not
 * in it. The caller acts as the owner. *ret_fd: ward_reviews_view_drop() while it is open, also as
 * the owner; what a command that was killed leaves, the next one removes. -ENOENT: no such step.
 */
int ward_reviews_view(
	int dir_fd, const char *step, int *ret_fd, struct ward_err *err) ward_must_check;
void ward_reviews_view_drop(int dir_fd, int view_fd);

/* --- what --- */

/* SHA-256 in hexadecimal, with its NUL. */
#define WARD_REVIEW_DIGEST_SIZE 65U

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
	char *host; /* where the host has the file of `base`; NULL: at `path` */
	size_t host_root;
	mode_t type;	 /* S_IFMT bits of what it is, or was */
	mode_t mode;	 /* permissions that it has; of what was removed, had */
	uint64_t size;	 /* of content */
	uint32_t object; /* its content is objects/N; 0: the host's file has it */
	char content[WARD_REVIEW_DIGEST_SIZE]; /* of that, of ward_changes_digest(); else "" */
	/* The same of its attributes of `user` and its ACLs (content.h); "": it has none. */
	char attributes[WARD_REVIEW_DIGEST_SIZE];
	uint32_t kept; /* of a file that the host had: its content may be there by this number */
	bool merged;   /* it is in the host's file of `base` already, with what the host changed */
	bool moved;    /* the same session renamed it: the host's then has another ctime */
	/*
	 * An apply displaced the file, so that its ctime tells nothing: an undo that was ended may
	 * have put it back, and not said so. The digest that it had then, or "-"; else "".
	 */
	char displaced[WARD_REVIEW_DIGEST_SIZE];
	bool has_base; /* there is a file of the host's to be compared: */
	struct ward_review_base base;
	struct ward_review_base seen; /* the same, as the journal has it */
	uint32_t seen_kept;	      /* and `kept` */
};

struct ward_review_changes {
	char **roots; /* the host's directories */
	size_t n_roots;
	struct ward_change *v; /* by path */
	size_t n;
	size_t n_added, n_modified, n_removed, n_renamed;
	size_t n_discarded; /* that are in it no more: ward_changes_discard() */
	size_t n_deep; /* and so many whose path has PATH_MAX bytes or more: nothing applies them */
};

/*
 * Reads the journal in the directory dir_fd: what is to be done to the host for it to be what the
 * session saw. Files that were staged and are as before are no changes, as far
 * as their content was compared before until_ns (CLOCK_MONOTONIC; 0: there is no such time).
 * -EBADMSG: it is damaged; -E2BIG: more than a person looks at. *ret is the caller's.
 */
int ward_changes_read(int dir_fd, uint64_t until_ns, struct ward_review_changes *ret,
	struct ward_err *err) ward_must_check;
/* Only `roots` of it: which directories of the host the session served. */
int ward_changes_roots(
	int dir_fd, struct ward_review_changes *ret, struct ward_err *err) ward_must_check;
void ward_changes_clear(struct ward_review_changes *c);
/*
 * Throws these (`wanted`, one for each) away: no ward_changes_read() has them any more. To disk.
 * The caller acts as the owner.
 */
int ward_changes_discard(int dir_fd, const struct ward_review_changes *c, const bool *wanted,
	struct ward_err *err) ward_must_check;
/* The change of this kind at this path; NULL: there is none. Borrowed from c. */
struct ward_change *ward_changes_find(const struct ward_review_changes *c, size_t root,
	const char *path, enum ward_change_kind kind);
/*
 * What a person approves: SHA-256 over each change with the identity of the host's file and the
 * content of what replaces it, in hexadecimal. Fills `content` of each change. -errno: an object
 * cannot be read.
 */
int ward_changes_digest(int dir_fd, struct ward_review_changes *c,
	char ret[WARD_REVIEW_DIGEST_SIZE], struct ward_err *err) ward_must_check;
/*
 * Is the path one of git's own state, which comes as a whole: objects, references, the index, and
 * what git notes of them? What names programs or other directories (config, hooks, alternates) is
 * not.
 */
bool ward_change_is_git_state(const char *path);
/* Do both say the same of one path? Both have their digests. */
bool ward_changes_same(const struct ward_change *a, const struct ward_change *b);
/*
 * Appends the hunks that make the content of b of that of a; the lines are the bytes of the files.
 * 1: one of them is no text, or has no content of its own. The caller acts as the owner.
 */
int ward_changes_difference(int dir_a, const struct ward_change *a, int dir_b,
	const struct ward_change *b, struct ward_buf *ret) ward_must_check;
/* "added", as people read it. */
const char *ward_change_word(enum ward_change_kind kind);
/* "14 files changed, 3 added, 1 removed", the caller's; NULL: no memory. */
char *ward_changes_line(const struct ward_review_changes *c);

/*
 * Copies the files (`wanted`) that have content of their own into the directory top, without setuid
 * and setgid; names lead through no link. *ret_n: how many. The caller acts as the owner.
 */
int ward_changes_export(int dir_fd, const struct ward_review_changes *c, const bool *wanted,
	int top, size_t *ret_n, struct ward_err *err) ward_must_check;

/*
 * What stands at path beneath root_fd on the host now: its st_mode, and what a link says (less
 * than size bytes, NUL). No link on the way is followed, and no other mount entered. -errno.
 */
int ward_review_host_look(
	int root_fd, const char *path, mode_t *ret_mode, char *ret_to, size_t size) ward_must_check;
/*
 * Calls fn for every name beneath the directory path of root_fd: with its path relative to that
 * directory, its type, and the text if it is a link, else "". fn returns false to end it. *left is
 * how many names may still be looked at, and is counted down. levels: how many directories below
 * each other are entered at most, and what cannot be is passed over; 0: all are. 0: fn saw all; 1:
 * fn ended it; -E2BIG: there are more names, or too many levels; -errno: a directory cannot be
 * read.
 */
int ward_review_host_beneath(int root_fd, const char *path, unsigned levels, size_t *left,
	bool (*fn)(void *arg, const char *path, mode_t type, const char *to),
	void *arg) ward_must_check;

/*
 * For each change the number of the unit that it is of (units.h), from 1, or 0: it stands alone.
 * outside: changes that are no members (NULL: all can be). ret has room for c->n. -ENOMEM.
 */
int ward_units_find(
	const struct ward_review_changes *c, const bool *outside, uint32_t *ret) ward_must_check;

/* --- done --- */

enum ward_apply_end {
	WARD_APPLY_NONE = 0, /* not asked for */
	WARD_APPLY_DONE,
	WARD_APPLY_ALREADY,  /* the host has it: of an apply before */
	WARD_APPLY_CONFLICT, /* the host has changed it since, or something it needs was not done */
	WARD_APPLY_REFUSED,  /* today's policy, or a rule of ours */
	WARD_APPLY_FAILED,
};

/* Content that comes in the place of what is staged: hunks of it, or what it was merged to. */
enum ward_part_kind {
	WARD_PART_NONE = 0, /* the object comes, whole */
	WARD_PART_HUNKS,    /* the rest stays staged */
	WARD_PART_MERGED,   /* nothing is left to be done */
};
struct ward_part {
	enum ward_part_kind kind;
	mode_t mode;
	uint64_t size;
	char content[WARD_REVIEW_DIGEST_SIZE];
	struct ward_review_base base; /* merged: the file of the host's that it replaces */
};

struct ward_apply {
	int dir_fd;   /* of what was staged, */
	int place_fd; /* and of what applies of it have done: the same, unless dir_fd is a view */
	/* With their digests. The bases of files that an undo put back are brought up to date. */
	struct ward_review_changes *changes;
	int roots[16];		   /* the session's directories, O_PATH; -1: not this one */
	enum ward_apply_end *ends; /* one for each change; those that are not NONE are left */
	char (*why)[128];	   /* what is to be said of each */
	/*
	 * One for each change: it is of no unit (units.h), although its path says so. NULL: all
	 * are. Members of a unit that are not wanted, or have an end already, keep all of it back.
	 */
	const bool *outside;
	const struct ward_part *parts; /* one for each change; NULL: none is a part */
	bool dry;
	uint32_t by;	  /* user id of who applies, */
	uint64_t until_s; /* until when what it displaces is kept: both for the log */
	char manifest[WARD_REVIEW_DIGEST_SIZE];
};

/*
 * Makes the host what the session saw, as far as it was asked (`wanted`, one for each change). Each
 * file is compared with the one that the session saw right before it is replaced, and what was
 * displaced once more after that: a file is as before or as after, at any moment. What was
 * displaced is kept for ward_undo(). Can be called again: it does what is left. The caller acts as
 * the owner. 0, whatever came of each change; or what kept all from being begun, or from reaching
 * the disk.
 */
int ward_apply(struct ward_apply *a, const bool *wanted, struct ward_err *err) ward_must_check;

/*
 * Makes content ready that comes in the place of the object of c: bytes, with permissions and the
 * attributes of the object. ward_apply() removes it. The caller acts as the owner.
 */
int ward_part_write(int dir_fd, const struct ward_change *c, enum ward_part_kind kind, mode_t mode,
	const struct ward_buf *bytes, struct ward_part *ret) ward_must_check;
/* As the digests of content: of bytes. */
void ward_part_digest(const struct ward_buf *bytes, char ret[WARD_REVIEW_DIGEST_SIZE]);

/* --- undone --- */

/* A change that was applied, or was about to be. */
struct ward_done {
	struct ward_change c; /* its object is 0; content: that of what came */
	char before[WARD_REVIEW_DIGEST_SIZE];
	bool has_after;
	struct ward_review_base after;
	size_t step;   /* the apply that it is of */
	bool off;      /* not done */
	bool in_place; /* the file itself was written to; what is kept is a copy */
	bool undone;
	enum ward_part_kind part;
	size_t event; /* its place among all that was done and undone */
	bool has_again;
	struct ward_review_base again; /* what stands there since it was undone */
};

/* One apply. */
struct ward_step {
	uint64_t begun_ns, until_s, ended_s;
	uint32_t uid;
	char manifest[WARD_REVIEW_DIGEST_SIZE];
};

struct ward_applied {
	char **roots;
	size_t n_roots;
	struct ward_done *v; /* number N is v[N - 1] */
	size_t n;
	struct ward_step *steps;
	size_t n_steps;
};

/*
 * What the applies of a session have done. undo_fd: the directory that ward_applied_open() gives.
 * -ENOENT: there was none. -EBADMSG: damaged. *ret is the caller's.
 */
int ward_applied_read(int undo_fd, struct ward_applied *ret, struct ward_err *err) ward_must_check;
void ward_applied_clear(struct ward_applied *a);
/* The same of the store dir_fd: 0 and nothing in it, where there was no apply. */
int ward_applied_of(int dir_fd, struct ward_applied *ret, struct ward_err *err) ward_must_check;
/*
 * What stands on the host by what was applied and undone is what the session saw: the bases of
 * changes are brought up to date. parts: only of those of which a part is applied.
 */
int ward_applied_know_again(
	struct ward_review_changes *c, const struct ward_applied *a, bool parts) ward_must_check;
/*
 * Removes what is kept beneath the state directory for undo of applies whose time is over, and the
 * places of sessions that have nothing else left. Goes on where one of them cannot be read.
 */
void ward_applied_expire(int state_fd, uint64_t now_s);
/* Removes what is staged; what applies have displaced stays for ward_undo(). */
int ward_reviews_discard(int state_fd, const char *session, struct ward_err *err) ward_must_check;

struct ward_undo {
	int dir_fd;
	struct ward_applied *applied;
	int roots[16];		   /* as in ward_apply; by the directories of `applied` */
	enum ward_apply_end *ends; /* one for each change of `applied` */
	char (*why)[128];
	bool dry;
};
/*
 * Takes back what was applied, as far as it was asked. A file goes only if it is what the apply put
 * there, and what was displaced comes back only as it was. Can be called again. As ward_apply().
 */
int ward_undo(struct ward_undo *u, const bool *wanted, struct ward_err *err) ward_must_check;

/* --- kept --- */

/* What is kept of larger contents is not looked at. */
#define WARD_KEPT_MAX ((off_t)64 << 20)

/* A content that is looked for. */
struct ward_kept {
	char digest[WARD_REVIEW_DIGEST_SIZE];
	bool has_size, found;
	uint64_t size;
	struct ward_buf text; /* if it is found */
};
/*
 * Fills the sizes that the log of applies has of these digests. dir_fd: the store of a session.
 * Nothing is found without its size: a session can have many files.
 */
int ward_kept_sizes(
	int dir_fd, struct ward_kept *v, size_t n, struct ward_err *err) ward_must_check;
/*
 * Looks for them among what a session staged, what its steps have, and what applies displaced. What
 * is found has that digest. What cannot be read is passed over.
 */
int ward_kept_find(int dir_fd, struct ward_kept *v, size_t n, struct ward_err *err) ward_must_check;
void ward_kept_clear(struct ward_kept *v, size_t n);

/* --- merged --- */

/*
 * The host has changed a file that the session changed, too: makes what both changed ready, in the
 * place of what is staged. dry: it is only looked at. *ret is untouched unless it is 1.
 * 1: *ret has it; 0: the host's file is what the session saw, or the change is of no text; -errno:
 * it does not merge, and why says it. The caller acts as the owner.
 */
int ward_merge_try(int dir_fd, const int *roots, const struct ward_change *c, bool dry,
	struct ward_part *ret, char why[128]) ward_must_check;

/* --- as a patch --- */

/* Changes as git-diff(1) writes them, with content. */
struct ward_patch {
	int dir_fd; /* of what is staged */
	const struct ward_review_changes *changes;
	const struct ward_applied *applied;
	int roots[16]; /* as in ward_apply */
	/*
	 * For `git apply`: bytes as they are, binary files in whole, each file of a renamed
	 * directory by itself. Else for people: binary files are named alone, and what git has no
	 * word for is said in words.
	 */
	bool exact;
	size_t n_left; /* exact: changes that git has no word for */
};

/*
 * Appends the change in text. Names stand in quotes where they have control characters, as git does
 * it; lines of content are what they are. -ESTALE: neither the project nor what was kept has what
 * the session saw; or a negative errno of reading.
 */
int ward_patch_put(
	struct ward_patch *p, const struct ward_change *c, struct ward_buf *ret) ward_must_check;
/* The content before and after of a file that was changed. The same errors. */
int ward_patch_texts(const struct ward_patch *p, const struct ward_change *c, struct ward_buf *old,
	struct ward_buf *new) ward_must_check;
