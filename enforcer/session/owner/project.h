/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The project that a command is about: the nearest directory upwards for which the owner has a
 * policy file; else the nearest with a kept home, as a session leaves one, or the outermost with a
 * `.wardfs.policy`, of both the outer one; else the nearest with a `.git`; else the current one.
 * Beneath a kept home, a directory that had a `.git` or a `.wardfs.policy` before the first session
 * there is a project of its own (WARD_CHOSEN_BEFORE).
 * What is in a project an agent may have put there, so no mark beneath one counts. The account that
 * chose is the one whose session it becomes: with root as the caller, and nobody named, that is the
 * owner of each directory, so what one account keeps chooses no directory of another. A mark counts
 * where it is of the directory's owner or the caller, in a directory of the caller or of the owner
 * of the current directory (others could plant it in a shared place above); "/", the caller's home
 * and the owner's are never a project, and neither are the system's own directories, such as /usr.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/* Why path is the project. */
enum ward_project_by {
	WARD_PROJECT_BY_NOTHING = 0, /* it is just where we stand */
	WARD_PROJECT_BY_MARK,	     /* `.git`, or with WARD_PROJECT_NEAREST `.wardfs.policy` */
	WARD_PROJECT_BY_FILE,	     /* its `.wardfs.policy` */
	WARD_PROJECT_BY_HOME,	     /* a session left a home */
	WARD_PROJECT_BY_BEFORE,	     /* it was one before the first session around it */
	WARD_PROJECT_BY_POLICY,	     /* the owner has a policy for it */
};

struct ward_project {
	int fd;	    /* O_PATH directory, owned */
	char *path; /* its absolute host path, owned */
	char *cwd;  /* the current directory's absolute host path, owned: path itself or beneath */
	uid_t uid;  /* who owns the directory */
	char *nearer; /* a directory nearer than path whose mark or home does not count, owned;
			 NULL: none */
	enum ward_project_by by;
};

enum ward_project_which {
	WARD_PROJECT_OWNERS = 0, /* as above */
	WARD_PROJECT_NEAREST,	 /* the nearest mark: what the owner is about to make a project */
};

/*
 * user: of --user, or NULL. -EPERM for "/", the homes themselves and directories such as /usr.
 * -EACCES: a mark above would decide, in a directory that everybody may write (a session can have
 * made it so); never with WARD_PROJECT_NEAREST, which passes over it. -EACCES as well: the caller
 * came by a symbolic link in the place of a directory that the owner has a policy for. `err` is not
 * NULL.
 */
int ward_project_find(const char *user, enum ward_project_which which, struct ward_project *ret,
	struct ward_err *err) ward_must_check;
void ward_project_clear(struct ward_project *p);

/*
 * Where the project's `.git` is a file, as in a work tree of git's or a submodule: the absolute
 * path of the git directory that it names, for a message (nothing is opened by it; the caller's).
 * NULL: not so.
 */
char *ward_project_git_elsewhere(const struct ward_project *p);

/*
 * Where the caller came to the project by symbolic links: the absolute path of its top as they
 * entered it, by pwd (PWD of the environment, or NULL), which says that it is the current directory
 * (the caller's). NULL: by the path itself, or pwd is not about it, or memory is short.
 */
char *ward_project_entered(const struct ward_project *p, const char *pwd);

/* The part of path beneath dir ("" for dir itself), or NULL. Both absolute and normalised. */
const char *ward_path_beneath(const char *path, const char *dir);
