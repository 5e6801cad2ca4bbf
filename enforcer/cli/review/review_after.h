/* SPDX-License-Identifier: Apache-2.0 */
/* The project as it will be with a session's staged changes, by path: nothing of it is made. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "enforcer/cli/review/review_find.h"

enum ward_after_kind {
	WARD_AFTER_NONE = 0,
	WARD_AFTER_DIR,
	WARD_AFTER_LINK,
	WARD_AFTER_OTHER,
};

/* With all changes; with none (n = 0, no `moved`), as it is. */
struct ward_after {
	const struct ward_review_meant *m;
	const struct ward_review_changes *changes;
	size_t root; /* that paths are relative to */
	/*
	 * What changes remove or move away stands, too: an apply may refuse these changes, and an
	 * agent can see to that. For questions of which "it is there" is the careful answer.
	 */
	bool keep;
	const struct ward_change **moved; /* owned; what is renamed, by where it was */
	size_t n_moved;
};

/* Room for `moved` is made here. -ENOMEM. */
int ward_after_init(struct ward_after *ret, const struct ward_review_meant *m) ward_must_check;
void ward_after_clear(struct ward_after *a);

/* What is renamed from path (of that directory); NULL: nothing. */
const struct ward_change *ward_after_moved(
	const struct ward_after *a, size_t root, const char *path);

/*
 * What path will be; ret (PATH_MAX) gets what a link says. Above path there have to be directories
 * and no links, as ward_after_go() says paths.
 */
enum ward_after_kind ward_after_at(const struct ward_after *a, const char *path, char *ret);

/* What the change puts at its path; ret as above. */
enum ward_after_kind ward_after_of(
	const struct ward_after *a, const struct ward_change *c, char *ret);

/* Called for each link on a way, with its path. */
typedef void ward_after_visit_fn(void *arg, const char *path);
/*
 * Goes where a link at path leads that says text; visit: NULL, or called on the way. False: that is
 * out of the project. What cannot be told counts as out, and so does a step up from what is no
 * directory yet: a later session could put a link there.
 */
bool ward_after_go(const struct ward_after *a, const char *path, const char *text,
	char ret[PATH_MAX], ward_after_visit_fn *visit, void *arg);

/* Takes the last name off the path. False: there was none. */
bool ward_after_up(char path[PATH_MAX]);

/* Is path this directory, or beneath it? "" is the directory of all. */
bool ward_after_beneath(const char *path, const char *dir);
