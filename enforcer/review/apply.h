/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of an apply share: apply.c has the order, the others each change. */
#pragma once

#include "enforcer/review/applied.h"
#include "enforcer/review/moved.h"
#include "enforcer/review/shifts.h"
#include "enforcer/review/swap.h"
#include "enforcer/review/units.h"

#define WARD_APPLY_SAYS_OTHER "the project has another file of this name"
#define WARD_APPLY_SAYS_CHANGED "the project's file has changed since"

struct ward_applying {
	struct ward_apply *a;
	int undo; /* kept files; -1: nothing is changed (dry) */
	struct ward_undo_log log;
	uint32_t next;	  /* the number of the next change */
	uint32_t *number; /* of each change in the log; 0: it is not there */
	bool *ready;	  /* it has been looked at, and waits to be done */
	bool *in_place;	  /* what comes is written into the file itself */
	uint64_t *came;	  /* the inode that was put there */
	uint32_t *unit;	  /* as ward_units_find() has it */
	struct ward_moved moved;
	struct ward_swap_place place;  /* of `undo`, or in a dry run of none */
	struct ward_unit_dir journals; /* of the directory in `place` */
	struct ward_applied done;      /* what applies before did; owned */
	uint64_t *kept; /* inodes of names that are kept, of files with several; owned */
	size_t n_kept;
	bool kept_known;
	bool shared; /* one of several threads has it: it changes no number and writes no log */
	struct ward_shifts names; /* directories, and names of the host's files; v is owned */
};

/* One change while it is worked on. */
struct ward_one {
	struct ward_applying *w;
	size_t i;
	const struct ward_change *c;
	struct ward_change own; /* what c is, if another content comes, or it is elsewhere */
	char at[PATH_MAX];	/* where the host's file is, if it is elsewhere */
	enum ward_part_kind part;
	struct ward_swapping s;
};

/* 0, or the change is ended already. The last one is over with it. */
int ward_one_begin(struct ward_applying *w, size_t i, struct ward_one *o) ward_must_check;

/* Names: what is to go, is looked at (and kept); it goes. */
void ward_one_look_gone(struct ward_one *o);
void ward_one_remove(struct ward_one *o);
/* A further name of a file. */
void ward_one_link(struct ward_one *o);
/* What a look at the content of a change found. */
struct ward_one_look {
	bool writes; /* it is to come */
	char before[WARD_REVIEW_DIGEST_SIZE];
};
/* Content: looked at; where it is to come, in the log; made ready; put there. */
void ward_one_look_content(struct ward_one *o, struct ward_one_look *ret);
void ward_one_announce(struct ward_one *o, const struct ward_one_look *look);
void ward_one_write(struct ward_one *o);
/* Where `shared`, what has to be written in place stays ready. */
void ward_one_put(struct ward_one *o);
/* What was made ready is not needed. */
void ward_one_drop(struct ward_one *o);
/* It was put there or removed, and is taken back: what it goes together with could not be. */
void ward_one_back(struct ward_one *o);
/* Permissions of a directory. */
void ward_one_mode(struct ward_one *o);

/* Is it the content of a file that comes? */
bool ward_apply_has_content(const struct ward_change *c);
/* Looks at all content that is wanted, and makes ready what is to come. 0 or -ENOMEM. */
int ward_apply_content_write(struct ward_applying *w, const bool *wanted) ward_must_check;
/*
 * Puts there what is ready, has this order (units.h), is of no unit and is not written in place.
 * Some of it can be ready after that: it is to be written in place, or there was no memory.
 */
void ward_apply_content_put(struct ward_applying *w, unsigned order);

/*
 * Directories, and names of the host's files: which of those that are wanted can be done, which is
 * said of the others; they are in the log from now on; they are done. The end of it in any case.
 * Files that go have been looked at before. 0 or -ENOMEM.
 */
int ward_apply_names_plan(struct ward_applying *w, const bool *wanted) ward_must_check;
void ward_apply_names_go(struct ward_applying *w);
void ward_apply_names_end(struct ward_applying *w);
/* Is it one of them? */
bool ward_apply_names_has(const struct ward_change *c);

/* --- of apply_one.c and apply_names.c --- */

/* It is over, and what is to be said; or by an errno of what. */
void ward_one_ended(struct ward_one *o, enum ward_apply_end how, const char *fmt, ...)
	ward_printf(3, 4);
void ward_one_failed(struct ward_one *o, int r, const char *what);
/* The log has it from now on; before: the digest of what the host has, or "-". */
void ward_one_log(struct ward_one *o, const char *before);
bool ward_one_is_there(const struct ward_one *o);
/* In a dry run: what stands there would have gone before. */
bool ward_one_goes_first(const struct ward_one *o);
/* Another name of it that came or went changed its st_ctime; so did one that was renamed. */
bool ward_one_has_moved(const struct ward_change *c, const struct ward_review_base *now);
/*
 * Is it what the session saw? Of a directory neither size nor times tell anything: what is in it is
 * looked at. `moved`: ctime may be another one.
 */
bool ward_one_is_base(
	const struct ward_change *c, const struct ward_review_base *now, mode_t type, bool moved);
/* Its content came by way of another name that it has, in an apply before. */
bool ward_one_came_in_place(
	const struct ward_one *o, const struct ward_review_base *now, mode_t type);
/*
 * Does its content come into the file itself, because the host is to keep other names of it? Names
 * that the apply took out do not count.
 */
bool ward_one_has_links(struct ward_one *o, const struct ward_review_base *now);
/* Finds the names that the apply took out, for several threads to ask that. */
void ward_apply_links_know(struct ward_applying *w);
/* Does the name have the object's content and permissions? */
bool ward_one_has_object(const struct ward_one *o, const struct ward_review_base *now, mode_t type,
	const char *object);
/*
 * The file came to path in an apply before, and then its new content, as another file. there: what
 * stands at o's name, which need not be path.
 */
bool ward_one_came_with_content(const struct ward_one *o, size_t root, const char *path,
	const struct ward_review_base *there, mode_t type);
/* What is to go went in an apply before, and what comes to its name has come. */
bool ward_one_is_replaced(
	const struct ward_one *o, const struct ward_review_base *now, mode_t type);
/* Has the apply settled it, so that nothing is to be done any more? */
bool ward_apply_is_settled(const struct ward_applying *w, size_t i);
