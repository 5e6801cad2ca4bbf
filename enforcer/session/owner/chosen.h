/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which directories an owner has made projects of: those with a policy file of theirs for the path,
 * or, since a session was there, with a home that is kept for it. Both lie where no agent writes.
 */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/session/owner/identity.h"

/* The directory of kept homes in the state directory (home/home.h). */
#define WARD_CHOSEN_HOMES "homes"
/* Appends the directory of that owner's kept home for the project at this path. */
void ward_chosen_home_dir(struct ward_buf *b, const char *state, uid_t uid, const char *project);

/* Appends NAME-HASH of a path: by the one people find theirs, by the other no two are the same. */
void ward_chosen_name(struct ward_buf *b, const char *path);

struct ward_chosen {
	struct ward_identity id; /* the owner, as far as that is known before the project is */
	char *config;		 /* the owner's configuration directory, owned; NULL: none */
	char *state;		 /* state directory, owned */
};

/*
 * user: of --user, or NULL; uid: whose the current directory is (identity.h). An owner who cannot
 * be found has chosen nothing; later steps find that out again. Clear it with ward_chosen_clear()
 * also on failure.
 */
int ward_chosen_begin(
	struct ward_chosen *c, const char *user, uid_t uid, struct ward_err *err) ward_must_check;
/* Is there a policy file of the owner's for the directory at this absolute path? 1, 0; -ENOMEM. */
int ward_chosen_policy(const struct ward_chosen *c, const char *path) ward_must_check;
/*
 * The caller entered a directory by one path, and its real path is another one (both absolute, no
 * name empty, "." or ".."). Finds a directory that is on the first path, is not on the second, and
 * has a policy file. *ret is the caller's; NULL: none. -ENOMEM.
 */
int ward_chosen_left(const struct ward_chosen *c, const char *entered, const char *real,
	char **ret) ward_must_check;
/*
 * A directory beneath dir (open, called path) that there is a policy file for, and to which
 * symbolic links lead now; the same.
 */
int ward_chosen_linked(
	const struct ward_chosen *c, int dir, const char *path, char **ret) ward_must_check;
/* Is a home kept for it, as a session leaves one? 1, 0; -ENOMEM. */
int ward_chosen_home(const struct ward_chosen *c, const char *path) ward_must_check;

/*
 * In the directory of a kept home: paths relative to the project, each ended by a NUL, of the
 * directories beneath it that looked like projects before the first session with this home. No
 * session made them, so each is a project of its own. The session that makes the home writes the
 * list.
 */
#define WARD_CHOSEN_BEFORE "before"
#define WARD_CHOSEN_BEFORE_MAX ((size_t)1 << 20)
/*
 * Of those of the home for the project at home_of, the nearest one that the absolute path is, or is
 * beneath of. *ret_levels: how many levels below it the path is. 1; 0: none; -ENOMEM.
 */
int ward_chosen_before(const struct ward_chosen *c, const char *home_of, const char *path,
	size_t *ret_levels) ward_must_check;
void ward_chosen_clear(struct ward_chosen *c);
