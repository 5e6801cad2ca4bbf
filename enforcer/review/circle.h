/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three or more names whose files change places in a circle. No system call does that at once: with
 * each exchange of two names one more file gets to where it belongs, and the first name has what
 * waits. Where a circle stands follows from which file has which name, so it goes on, or back, from
 * there.
 */
#pragma once

#include "enforcer/review/review.h"

/* A name, and the file that it has before: that goes to the next one, and the last to the first. */
struct ward_circle_name {
	size_t root;
	const char *path; /* beneath it; borrowed */
	const struct ward_review_base *base;
	mode_t type;
	size_t tag; /* the caller's */
};

struct ward_circle {
	const int *roots;	    /* borrowed */
	struct ward_circle_name *v; /* the caller's; ward_circle_begin() puts the first one first */
	size_t n;
	/* Is this the file of v[i]? moved: it may have been renamed since it was looked at. */
	bool (*is)(void *arg, const struct ward_circle_name *name,
		const struct ward_review_base *now, mode_t type, bool moved);
	void *arg;
};

/* One of several that may be of a circle: the file goes from (from_root, from) to (root, path). */
struct ward_circle_move {
	size_t from_root, root;
	const char *from, *path;
	const struct ward_review_base *base;
	mode_t type;
	size_t tag;
};
/*
 * Calls fn for each circle of three or more among them, which it sorts. The names are borrowed for
 * the time of the call. 0 or -ENOMEM.
 */
int ward_circle_find(struct ward_circle_move *v, size_t n,
	void (*fn)(void *arg, struct ward_circle_name *names, size_t n), void *arg) ward_must_check;

/* Begins at the name that sorts first, so that everybody who looks at the circle does. */
void ward_circle_begin(struct ward_circle *c);
/*
 * *ret: how many files are where they go to, 0 to n - 1; with n - 1 the last one is, too. -ESTALE:
 * it is no stage of it, somebody else was there; or a negative errno of a directory.
 */
int ward_circle_look(const struct ward_circle *c, size_t *ret) ward_must_check;
/*
 * From *at to the stage `to`. *at is where it stands then. -ESTALE: somebody changed a file at this
 * moment, which was put back; -EBUSY: it could not be; or a negative errno.
 */
int ward_circle_go(const struct ward_circle *c, size_t *at, size_t to) ward_must_check;
