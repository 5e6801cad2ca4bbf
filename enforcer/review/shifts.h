/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that change together: files and directories that go from one place to another, directories
 * that are made, and directories that are removed. A place is a path beneath a directory that
 * changes its own place, or beneath a root. So a file is found while directories above it move.
 *
 * Each change is one system call that places one file for good. Whatever makes room for it goes
 * first. Two that change places are exchanged. In a longer circle, or where a directory goes into
 * what was beneath it, one of them waits beside its place under a name of ours, and is found there
 * by whoever goes on after this process was killed.
 */
#pragma once

#include "enforcer/review/swap.h"

enum ward_shift_kind {
	WARD_SHIFT_STAYS = 0, /* nothing is done to it: others are found by way of it */
	WARD_SHIFT_MOVES,
	WARD_SHIFT_COMES, /* a directory; from is NULL */
	WARD_SHIFT_GOES,  /* a directory; to is NULL */
};

enum ward_shift_end {
	WARD_SHIFT_NONE = 0, /* not wanted */
	WARD_SHIFT_READY,    /* nothing is in the way */
	WARD_SHIFT_DONE,
	WARD_SHIFT_THERE,  /* it is done already */
	WARD_SHIFT_LOST,   /* error: nothing, or another file (-ESTALE), is where it comes from */
	WARD_SHIFT_TAKEN,  /* another file has its name */
	WARD_SHIFT_APART,  /* the directory that it comes to is not there: error */
	WARD_SHIFT_FULL,   /* the directory that goes has other files in it */
	WARD_SHIFT_RACED,  /* somebody changed it at this moment: it was put back */
	WARD_SHIFT_ASTRAY, /* it could not be put back */
	WARD_SHIFT_FAILED, /* error */
};

struct ward_shift_place {
	size_t node; /* SIZE_MAX: beneath the root itself */
	size_t root;
	const char *rest; /* the path beneath that */
	bool aside;	  /* beside it, under a name of ours */
};

struct ward_shift {
	enum ward_shift_kind kind;
	bool wanted;
	mode_t type;
	uint64_t ino;
	size_t from_root, to_root;
	const char *from, *to; /* borrowed */
	size_t tag;	       /* the caller's */

	/* What comes of it. */
	enum ward_shift_end end;
	int error;

	/* Of shifts.c: where it comes from and goes to, is by the plan, and is on the host. */
	struct ward_shift_place of, goal, at, real;
	bool found, tried[2], final, over, visiting, pinned, gone;
};

struct ward_shifts;
struct ward_shift_ops {
	/*
	 * Is the file at name in dir the one of n? there: the name is where n goes to. moved: it
	 * was renamed since it was looked at.
	 */
	bool (*is)(void *arg, const struct ward_shift *n, bool there, bool moved, int dir,
		const char *name);
	/* Makes and removes a directory. 0 or a negative errno. */
	int (*make)(void *arg, const struct ward_shift *n, int dir, const char *name);
	int (*remove)(void *arg, const struct ward_shift *n, int dir, const char *name);
	/* The file that has this path before all changes goes by itself: it is in nobody's way. */
	bool (*goes)(void *arg, size_t root, const char *path);
	/* It is done: it stands at name in dir (-1: it is gone). NULL: nobody asks. */
	void (*done)(void *arg, const struct ward_shift *n, int dir, const char *name);
};

struct ward_shifts {
	const struct ward_shift_ops *ops;
	void *arg;
	const int *roots; /* borrowed; -1: not this one */
	uint64_t key;	  /* of names of ours */
	/*
	 * They go back to where they were at first; a directory that stays away takes its files
	 * there. Else nothing comes to a directory that did not get to its own place.
	 */
	bool back;
	struct ward_shift *v; /* the caller's, for as long as this is used */
	size_t n;

	size_t *by_from, *by_to, *by_place, n_from, n_to, n_place; /* owned */
	struct ward_swap_place one, two;
	bool planning;
};

/* Finds out where each is. 0 or -ENOMEM; clear it in any case. */
int ward_shifts_find(struct ward_shifts *ns) ward_must_check;
/* Which of them can be done: READY, or another end. Nothing is changed. */
void ward_shifts_plan(struct ward_shifts *ns);
/* Does those that are READY. */
void ward_shifts_go(struct ward_shifts *ns);
void ward_shifts_clear(struct ward_shifts *ns);
/* Is one of them beside its place? */
bool ward_shifts_is_aside(const struct ward_shifts *ns);
/* Where the host has by now what is to have this path after all changes. -ENOENT: nowhere yet. */
int ward_shifts_now(const struct ward_shifts *ns, size_t root, const char *path, char ret[PATH_MAX],
	size_t *ret_root) ward_must_check;
/* Does what stands at the place that is to have this path leave it? Before ward_shifts_go(). */
bool ward_shifts_leaves(const struct ward_shifts *ns, size_t root, const char *path);
/* The path where v[i] came from, as the host has it now, beneath *ret_root. -ENAMETOOLONG. */
int ward_shifts_origin(const struct ward_shifts *ns, size_t i, char ret[PATH_MAX],
	size_t *ret_root) ward_must_check;
