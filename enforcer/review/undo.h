/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of an undo share: undo.c has the order and contents, undo_names.c the names. */
#pragma once

#include "enforcer/review/applied.h"
#include "enforcer/review/moved.h"
#include "enforcer/review/shifts.h"
#include "enforcer/review/swap.h"

#define WARD_BACK_CHANGED "the project's file has changed since it was applied"

/* Of a dry run over several applies: records, by what they displaced and by where they are. */
struct ward_back_later {
	size_t *by_base, *by_path, n_base, n_path; /* owned */
};

struct ward_undoing {
	struct ward_undo *u;
	int undo;
	struct ward_undo_log log;
	struct ward_swap_place place;
	struct ward_review_changes ways; /* the renames, the other way round; v is owned */
	struct ward_moved moved;	 /* of them */
	struct ward_shifts names;	 /* of the records [low, high); v is owned */
	size_t low, high;
	struct ward_back_later later;
	bool *apart; /* of each record: it is of no unit; owned */
	bool shared; /* one of several threads has it, which leaves out what writes to the log */
};

struct ward_back {
	struct ward_undoing *w;
	size_t i;
	const struct ward_done *d;
	struct ward_swapping s;
	char at[PATH_MAX]; /* where the name is by now, if a directory above it went back before */
};

/* --- of undo.c --- */

/* It is over, and what is to be said; or by an errno of what. */
void ward_back_end(struct ward_back *b, enum ward_apply_end how, const char *fmt, ...)
	ward_printf(3, 4);
void ward_back_errno(struct ward_back *b, int r, const char *what);
/* By the error of a step (swap.h). */
void ward_back_fail(struct ward_back *b, int r);
/* It is as before: at dir and name (NULL: nowhere) stands what stood there. */
void ward_back_undone(struct ward_back *b, int dir, const char *name);
/* The same, of an undo that was ended before it could say so, or of somebody else. */
void ward_back_already(struct ward_back *b, int dir, const char *name, const char *why);
/* Calls fn for record i, unless the look at its directory ends it. */
void ward_back_one(struct ward_undoing *w, size_t i, void (*fn)(struct ward_back *b));
/* What is done to take back the change. */
typedef void (*ward_back_fn)(struct ward_back *b);
ward_back_fn ward_back_way(const struct ward_change *c);
/* True: nothing is to be done, and it is said. */
bool ward_back_dry(struct ward_back *b);
bool ward_back_same(const struct ward_review_base *a, const struct ward_review_base *b);
/* Is it what stood there before the apply? */
bool ward_back_stood(const struct ward_back *b, const struct ward_review_base *now, mode_t type);

/* --- of undo_content.c --- */

/*
 * Takes records back, some of [low, *high) from its end, that depend on no others; *high is the
 * first one of them. What has no end after that is to be taken back by itself.
 */
void ward_back_content(struct ward_undoing *w, const bool *wanted, size_t low, size_t *high);

/* --- of undo_names.c --- */

void ward_back_mode(struct ward_back *b);
/*
 * Names of the records [low, high), all of one apply, as far as they are wanted. only_aside: only
 * where one of them is beside its place, of an apply that was ended. 0 or -ENOMEM.
 */
int ward_back_names(struct ward_undoing *w, const bool *wanted, size_t low, size_t high,
	bool only_aside) ward_must_check;
/* What it keeps for a look at where files are. */
void ward_back_names_end(struct ward_undoing *w);
/* Is it of them? */
bool ward_back_is_name(const struct ward_change *c);

/* --- of undo_later.c: nothing of it is so unless the run is dry --- */

/* 0 or -ENOMEM; clear it in any case. */
int ward_back_later_find(struct ward_undoing *w) ward_must_check;
void ward_back_later_clear(struct ward_undoing *w);
/* The first record of an apply after that of record i that displaced or moved the file; or NULL. */
const struct ward_done *ward_back_later_base(
	const struct ward_undoing *w, size_t i, const struct ward_review_base *file);
/* A file of an apply after that of record i came to the path. */
bool ward_back_later_came(const struct ward_undoing *w, size_t i, size_t root, const char *path);
/* What the record put at its name comes back there, as it was. */
bool ward_back_later_as_was(const struct ward_back *b);
