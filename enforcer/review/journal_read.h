/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a session (fs/review/journal.h) as it is after its last line. */
#pragma once

#include "enforcer/review/review.h"

struct ward_journal_file {
	bool known, has_lower, staged, has_base;
	mode_t type;
	size_t root;
	char *path;		      /* the host's */
	struct ward_review_base base; /* as it was first seen, or copied */
	uint32_t entry;		      /* 1 + index of the first name that leads to it; 0: none */
	bool left;		      /* its place on the host leads elsewhere, or to nothing */
};

struct ward_journal_name {
	uint32_t dir, file, was; /* 0: nothing */
	uint32_t seq;
	char *name;
};

struct ward_journal {
	char **roots;
	size_t n_roots;
	struct ward_journal_file *files; /* by number */
	size_t n_files;
	struct ward_journal_name
		*names; /* those that differ from the host's, by directory and name */
	size_t n_names;
};

/* -EBADMSG: damaged. A last line without its end is left out. *ret is the caller's. */
int ward_journal_read(int dir_fd, struct ward_journal *ret, struct ward_err *err) ward_must_check;
void ward_journal_clear(struct ward_journal *j);
