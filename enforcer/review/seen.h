/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a session sees files and names, as paths beneath its directories. Each file's path is found
 * once. A session can make more levels than a path can name: such files have none here.
 */
#pragma once

#include "enforcer/review/journal_read.h"

struct ward_seen_place;
struct ward_seen_path;

struct ward_seen {
	const struct ward_journal *j;	/* borrowed */
	struct ward_seen_place *places; /* of the host's files that the journal knows, sorted */
	size_t n_places;
	struct ward_seen_path *paths; /* by file */
};

/* -ENOMEM; clear it also then. */
int ward_seen_init(struct ward_seen *s, const struct ward_journal *j) ward_must_check;
void ward_seen_clear(struct ward_seen *s);
/*
 * The path of a file, or of a name: *ret is the caller's. -ENOENT: the session does not see it;
 * -ENAMETOOLONG: its path has PATH_MAX bytes or more; -ENOMEM.
 */
int ward_seen_file(
	struct ward_seen *s, uint32_t file, char **ret, size_t *ret_root) ward_must_check;
int ward_seen_name(struct ward_seen *s, const struct ward_journal_name *n, char **ret,
	size_t *ret_root) ward_must_check;
/* dir/name; "" is the root. NULL: no memory. */
char *ward_seen_join(const char *dir, const char *name);
