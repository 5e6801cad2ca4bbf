/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The staged layer of a review session: what the session changes goes into a store of the session's
 * state directory, and the host's files stay as they are.
 *
 * The layer stands beneath kernel/backing.c, which asks it before the host's files. Everything
 * above sees one tree: the policy, quotas and records work as without review. Two things make it:
 *
 *   objects/N   One staged file each: content, mode, times, attributes. It is made when a file of
 *               the host is first opened for writing, or made anew. All names of a file lead to
 *               one object, so hard links stay one file.
 *   journal     The changes of names, a line each (journal.h): this name in that directory now
 *               leads to file N, or to nothing. A renamed directory is one such line.
 *
 * A directory that the host has is reached by a descriptor of the host's; its object, if there is
 * one, has mode, times and attributes alone. A directory that the session made is its object.
 *
 * What a file is known by does not change when it is staged: inode number, time of birth, number of
 * links, and the times until it is written to.
 *
 * Functions return 0, a negative errno, or WARD_REVIEW_LOWER: the layer has nothing to say, the
 * host's file is what counts. All may be called by any thread; the lock is the layer's own and is
 * not held while content is copied.
 */
#pragma once

#include <linux/stat.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/err.h"
#include "fs/base/backing_file.h"

#define WARD_REVIEW_LOWER 1

struct ward_review;
struct ward_review_file;

/*
 * The layer with the empty store beneath the directory store_fd (borrowed, must outlive it), for
 * as long as the process lives. It acts as that does: with the identity that serves.
 */
int ward_review_new(int store_fd, struct ward_review **ret, struct ward_err *err) ward_must_check;
/*
 * What is in the directory root_fd (borrowed) is staged; or it is written to as without review,
 * although it may be on the device of a tree that is. Trees come in the order of the session.
 */
int ward_review_add_root(
	struct ward_review *rv, int root_fd, bool stages, struct ward_err *err) ward_must_check;
/*
 * After the roots: what the session begins with, where it goes on from another one. Without a
 * `branch` in the store there is nothing to do. -EBADMSG: it is damaged; -ESTALE: it is of other
 * trees.
 */
int ward_review_load(struct ward_review *rv, struct ward_err *err) ward_must_check;
/*
 * fn(user, id) is called, without a lock, when the host's file id was staged: descriptors that are
 * open on it are to be exchanged (ward_review_fresh()).
 */
void ward_review_on_staged(
	struct ward_review *rv, void (*fn)(void *user, const struct ward_file_id *id), void *user);

/* name below dirfd; "" is the directory itself. */
int ward_review_stat(
	struct ward_review *rv, int dirfd, const char *name, struct ward_file *ret) ward_must_check;
/* file was read from stx, of the host or of an object: makes it what the session sees. */
void ward_review_show(struct ward_review *rv, const struct statx *stx, struct ward_file *file);
/* openat2(2) as ward_backing_open() does it. */
int ward_review_open(struct ward_review *rv, int dirfd, const char *name, int flags, mode_t mode,
	int *ret_fd) ward_must_check;
/* The file of fd once more. */
int ward_review_reopen(struct ward_review *rv, int fd, int flags, int *ret_fd) ward_must_check;
/* fd leads to the host's file, and that is staged: *ret_fd, the caller's, leads to the object. */
int ward_review_shown(struct ward_review *rv, int fd, int *ret_fd) ward_must_check;
/* Who may change attributes, as the kernel has it. */
enum ward_review_need {
	WARD_REVIEW_OWNER = 0, /* else -EPERM */
	WARD_REVIEW_WRITER,    /* or the owner; else -EACCES */
};
/*
 * The same; stages the file if it is not yet, before its attributes are changed. What is staged is
 * ours, so that the kernel would let us: `need` is asked of what the session sees.
 */
int ward_review_own(
	struct ward_review *rv, int fd, enum ward_review_need need, int *ret_fd) ward_must_check;
/* Makes an open descriptor of a file that has been staged since, or gone back to what it was at a
 * step, lead to what the session sees, with the same rights. */
int ward_review_fresh(struct ward_review *rv, int fd) ward_must_check;
/* May another file come in its place? One of the host's that may be staged one day; or one that was
 * removed, and may come back by a step back. */
bool ward_review_unstaged(struct ward_review *rv, int fd);
/* The host's file of a staged one, to be locked: locks taken before it was staged are there. -1:
 * there is none. The caller's. */
int ward_review_lock_fd(struct ward_review *rv, int fd);

int ward_review_make(struct ward_review *rv, int dirfd, const char *name, mode_t mode,
	const char *target) ward_must_check;
int ward_review_unlink(
	struct ward_review *rv, int dirfd, const char *name, bool dir) ward_must_check;
int ward_review_there(struct ward_review *rv, int dirfd, const char *name) ward_must_check;
int ward_review_rename(struct ward_review *rv, int dirfd, const char *name, int dirfd2,
	const char *name2, unsigned flags) ward_must_check;
int ward_review_link(struct ward_review *rv, int fd, int dirfd, const char *name) ward_must_check;

/*
 * A name was removed or renamed: of the file that is answered, none is known any more that the host
 * has it by. NULL: there is no such file. If it has further ones, they are to be looked at
 * (ward_review_stat()), until one was found. After the last one, the journal would not have what
 * becomes of the file.
 */
struct ward_review_file *ward_review_unplaced(
	struct ward_review *rv, struct ward_file_id *ret_id, mode_t *ret_type);
bool ward_review_still_unplaced(struct ward_review *rv, const struct ward_review_file *f);

/*
 * All entries of a directory, as getdents64(2) has them. The offset of an entry follows from its
 * name, so that a listing can go on where it was.
 */
struct ward_review_entries {
	char *v; /* the holder's, free(3) */
	size_t len, at;
};
/* Those of the directory fd, open to read. */
int ward_review_list(
	struct ward_review *rv, int fd, struct ward_review_entries *ret) ward_must_check;
/* 1: the next one, *ret_name within it, its DT_ type; 0: no more. */
int ward_review_next(
	struct ward_review_entries *e, const char **ret_name, uint8_t *ret_type) ward_must_check;

/* What was staged so far survives a power cut, as far as each file was synced. */
int ward_review_sync(struct ward_review *rv) ward_must_check;
