/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that mean something only together: the state of a git repository, a database with its
 * journals. They are applied together or not at all. review.h has ward_units_find().
 */
#pragma once

#include "enforcer/review/review.h"

/*
 * In which order content of git comes: objects, then the rest, then references, then HEAD, and the
 * index last, so that nothing names what is not there. 0 to WARD_UNIT_ORDERS - 1.
 */
#define WARD_UNIT_ORDERS 5U
unsigned ward_unit_order(const char *path);
/* The git directory that the path is in, with its last slash: so many bytes; 0: in none. */
size_t ward_unit_git(const char *path);
/* Has the directory a lock of git's for the file name ("index.lock")? */
bool ward_unit_locked(int dir, const char *name);
/* What is known of the journals in one directory. All zeros: nothing. */
struct ward_unit_dir {
	uint64_t of;	/* the caller's word for the directory */
	unsigned asked; /* so often */
	bool none;
};

/* Has a database at name in dir a journal that no change of the session's is about? */
bool ward_unit_in_use(const struct ward_review_changes *c, const struct ward_change *of, int dir,
	const char *name, struct ward_unit_dir *known);
