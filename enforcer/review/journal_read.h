/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a session (fs/review/journal.h) as it is after its last line. */
#pragma once

#include "enforcer/review/review.h"

/* A further place on the host; `path` of the file is one that the session sees, if there is one. */
struct ward_journal_place {
	struct ward_journal_place *next;
	size_t root;
	char *path;
	bool left;
};

struct ward_journal_file {
	bool known, has_lower, staged, has_base;
	mode_t type;
	size_t root;
	char *path;		      /* the host's */
	struct ward_review_base base; /* as it was first seen, or copied */
	uint32_t entry;		      /* 1 + index of the first name that leads to it; 0: none */
	bool left;		      /* its place on the host leads elsewhere, or to nothing */
	struct ward_journal_place *places;
};

/* A step (fs/review/steps.h). */
struct ward_journal_step {
	uint32_t id;
	char kind; /* its letter */
	uint64_t time_ns;
	uint32_t uid;
	char *name;	/* "": none */
	size_t n_names; /* that had changed before, of all lines */
	bool off;	/* given up since */
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
	struct ward_journal_step *steps;
	size_t n_steps;
	size_t n_backs;
	/* Contents that a step back was about to put in place: pairs of a file and a step. */
	uint32_t *owed;
	size_t n_owed;
};

/*
 * -EBADMSG: damaged. A last line without its end is left out. *ret is the caller's.
 */
int ward_journal_read(int dir_fd, struct ward_journal *ret, struct ward_err *err) ward_must_check;
/* The same as it was at a step. -ENOENT: there is none, or it was given up. */
int ward_journal_read_step(
	int dir_fd, uint32_t step, struct ward_journal *ret, struct ward_err *err) ward_must_check;
/* Only `roots` of it. Nobody has looked whether the rest is damaged. */
int ward_journal_roots(int dir_fd, struct ward_journal *ret, struct ward_err *err) ward_must_check;
void ward_journal_clear(struct ward_journal *j);
