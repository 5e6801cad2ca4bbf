/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [review] size: the bytes that the staged files and the copies of steps take together.
 *
 * A staged file counts with its apparent size, with space that fallocate(2) keeps beyond the end,
 * extended attributes that the session set, and the target of a link that it made. A mapping fills
 * holes unseen, and makes no file larger. What the host's file had in it (journal.h: bases) and
 * what a step keeps counts as far as it has blocks, since nobody writes to it; a step that shares a
 * staged file counts once. What another session has staged, and this one goes on from
 * (WARD_REVIEW_BRANCH), counts from the first change of it on.
 *
 * Bytes are taken before they are used. Of a file without a name they are given back when the
 * kernel forgets it: nobody has it open or mapped by then.
 */
#pragma once

#include "fs/review/review.h"

struct ward_review_size_calls {
	/* At least so many bytes, and up to `want`: *ret. -EDQUOT. */
	int (*take)(void *user, uint64_t least, uint64_t want, uint64_t *ret);
	void (*give)(void *user, uint64_t bytes);
	/* So many are in use, whatever the limit says: more than before, or all in all. */
	void (*add)(void *user, uint64_t bytes);
	void (*set)(void *user, uint64_t bytes);
	/* A request had to be refused because of that file; the negative errno that it gets. */
	int (*refuse)(void *user, const struct ward_file_id *id, mode_t type);
	/* The same in words. */
	void (*say)(void *user, struct ward_err *err);
	/* ward_review_forgotten() is to be called when the kernel forgets that file. False: it does
	 * not know of it. */
	bool (*hold)(void *user, const struct ward_file_id *id, mode_t type);
	void *user;
};

/* Before anything is staged. */
void ward_review_count(struct ward_review *rv, const struct ward_review_size_calls *calls);
/* The kernel has forgotten the file. Any lock may be held. */
void ward_review_forgotten(struct ward_review *rv, const struct ward_file_id *id);

/* A staged file that is about to change its size: nobody else does it meanwhile. */
struct ward_review_growth {
	struct ward_review_file *file; /* NULL: it is not counted */
	uint64_t size;
	bool hold; /* it has no name */
};
int ward_review_grow_begin(
	struct ward_review *rv, int fd, struct ward_review_growth *ret) ward_must_check;
/* It is to reach `want` bytes; *ret: how many it may, at least `least`. -EDQUOT. */
int ward_review_grow(struct ward_review *rv, struct ward_review_growth *g, uint64_t least,
	uint64_t want, uint64_t *ret) ward_must_check;
/* It is done. kept: space is kept up to there; 0: as before. */
void ward_review_grow_end(
	struct ward_review *rv, struct ward_review_growth *g, int fd, uint64_t kept);
/* Extended attributes of the staged file of fd took so many more bytes (which have been taken), or
 * less. */
void ward_review_extra(struct ward_review *rv, int fd, int64_t delta);
