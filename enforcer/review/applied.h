/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What applies of a session have done to the project, and what they displaced: undo/ beside the
 * journal, with kept files that are named by a number, and `log`. Version 2; version 1 has no I.
 *
 * `log` is text in the form of the journal (fs/review/journal.h):
 *
 *   J 2                    the first entry: the version
 *   R ROOT PATH            as in the journal
 *   B TIME UNTIL UID MANIFEST
 *                          an apply begins: when (ns of the epoch), how long kept files stay
 *                          (seconds of it), who, and the digest of what is staged
 *   A N KIND TYPE MODE SIZE ROOT PATH FROM-ROOT FROM BASE BEFORE
 *                          about to be done: a change, as in review.h. The host has BASE, with the
 *                          content BEFORE; "-": nothing. Of what is removed, FROM is its path in
 *                          the changes where an apply had moved it from there
 *   H N KIND               what comes is not what is staged: 1, hunks of it; 2, it was merged with
 *                          what the host has
 *   P N BASE CONTENT       what comes to the name is BASE, with this content. Without a P, nothing
 *                          of content came. Once more behind an H, when it stands there
 *   I N                    what comes is written into the file itself (in_place.h)
 *   X N                    it was not done
 *   E TIME                 the apply is over
 *   U N BASE TIME          it was undone, and BASE stands there again; "-": nothing does
 *
 * N counts from 1. On disk are an A before what it announces, and its P before a file is displaced.
 */
#pragma once

#include "enforcer/review/review.h"

/* Opens undo/ beneath the store dir_fd, makes it if make. The caller's, or a negative errno. */
int ward_applied_dir(int dir_fd, bool make) ward_must_check;
/* The log, to be written to. */
struct ward_undo_log {
	int fd;		      /* -1: nothing is written */
	struct ward_buf line; /* what is not written yet */
	bool holds;
	int error; /* sticky */
};
/* Goes on behind its last whole line; begins one that is empty, with these directories. */
int ward_undo_log_open(
	int undo_fd, char *const *roots, size_t n_roots, struct ward_undo_log *ret) ward_must_check;
void ward_undo_log_close(struct ward_undo_log *l);
/* Each appends a line. ward_undo_log_error() says whether all have been written. */
void ward_undo_log_begin(struct ward_undo_log *l, const struct ward_step *s);
void ward_undo_log_about(
	struct ward_undo_log *l, uint32_t number, const struct ward_change *c, const char *before);
void ward_undo_log_part(struct ward_undo_log *l, uint32_t number, enum ward_part_kind kind);
void ward_undo_log_in_place(struct ward_undo_log *l, uint32_t number);
void ward_undo_log_ready(struct ward_undo_log *l, uint32_t number,
	const struct ward_review_base *after, const char *content);
void ward_undo_log_off(struct ward_undo_log *l, uint32_t number);
void ward_undo_log_end(struct ward_undo_log *l);
void ward_undo_log_undone(
	struct ward_undo_log *l, uint32_t number, const struct ward_review_base *again);
int ward_undo_log_error(struct ward_undo_log *l) ward_must_check;
/* What was written is on disk. */
int ward_undo_log_sync(struct ward_undo_log *l) ward_must_check;
/* Lines are written together, later, from now on; or not any more, and those until now are. */
void ward_undo_log_hold(struct ward_undo_log *l, bool holds);
/*
 * Lines of one of several threads: nothing of *ret is written until it is joined, behind what the
 * log has by then.
 */
void ward_undo_log_fork(struct ward_undo_log *ret);
void ward_undo_log_join(struct ward_undo_log *l, struct ward_undo_log *of);
