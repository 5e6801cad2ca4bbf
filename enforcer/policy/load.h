/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding and reading a session's policy sources; the only part of the policy that does I/O.
 *
 *   base     --policy FILE|PROFILE, else projects/<name>.policy in $XDG_CONFIG_HOME/wardfs for this
 *            project, else the profile `medium`; with the profile or file that it `extends`
 *   floor    /etc/wardfs/floor.policy
 *   project  .wardfs.policy in the tree
 *   run      made from the command line's --read, --write, --hide, …
 */
#pragma once

#include "enforcer/policy/policy.h"

struct ward_budget; /* base/budget.h */
struct ward_known;  /* policy/known.h */

/* Beneath the owner's home: where the shipped profiles keep the state of agents. */
#define WARD_AGENTS_PLACE "/.local/share/wardfs/agents"

/*
 * A base as texts, from where it is found to where it is loaded: `wardfs policy reload` reads it
 * with its caller's rights, the session's supervisor puts the other sources on top.
 */
struct ward_base {
	struct ward_buf text[2]; /* 0: the base; 1: what it extends */
	struct ward_buf file[2]; /* display names; of an absent second one empty */
};
#define WARD_BASE_INIT ((struct ward_base){0})
void ward_base_clear(struct ward_base *b);
/* What --policy NAME stands for, with what it extends. Errors as ward_policy_find(). */
int ward_base_find(const char *name, struct ward_base *ret, struct ward_err *err) ward_must_check;
/* The same, with a shipped profile in place of `medium` where that is extended (stand_in of struct
 * ward_load); NULL: none. */
int ward_base_find_as(const char *name, const char *stand_in, struct ward_base *ret,
	struct ward_err *err) ward_must_check;
/* As one blob, and back: a message (ipc/msg.h) of type "WBAS", u32 n, n times str file, bytes text.
 * The blob may come from anybody: -EBADMSG. */
int ward_base_encode(const struct ward_base *b, struct ward_buf *ret) ward_must_check;
int ward_base_decode(const void *blob, size_t len, struct ward_base *ret) ward_must_check;
/* Longest such blob. */
#define WARD_BASE_MAX ((size_t)9 << 20)

/* A directory that is served beside the one at served_at. Borrowed. */
struct ward_load_tree {
	const char *path; /* inside */
	const char *host; /* absolute host path */
	int fd;		  /* the directory */
};

struct ward_load {
	const struct ward_base *base; /* in place of `policy`; or NULL */
	/* Floor and project file of this one are meant, not those on the disk; or NULL. */
	const struct ward_policy *like;
	/* Percentages refer to the host as this policy found it, not as it is now; or NULL. */
	const struct ward_policy *host_of;
	const char *policy; /* --policy, or NULL */
	/* A shipped profile that stands for `medium` where no --policy is given: as the default,
	 * and where the owner's file extends that; or NULL. */
	const char *stand_in;
	const char *config_home; /* $XDG_CONFIG_HOME or ~/.config of the owner; NULL: none */
	int tree_fd;		 /* directory of the project, for .wardfs.policy; -1: none */
	const char *tree_path;	 /* its absolute host path, NULL: none */
	/* Inside: the only tree that is served, and it is the project (`wardfs mount --tree`).
	 * NULL: the project is /workspace, and the policy's other trees are served as well. */
	const char *served_at;
	/* With served_at: what is served besides, at most WARD_POLICY_TREES_MAX - 1. */
	const struct ward_load_tree *others;
	size_t n_others;
	const char *home; /* the owner's, for sources of trees; NULL: none */
	/* Repositories of earlier starts, which are guarded as well; gets those that are found. Or
	 * NULL. */
	struct ward_known *known;
	const char *floor;    /* NULL: /etc/wardfs/floor.policy; tests give another */
	const char *run_text; /* text of the run source, ordinary policy text; or NULL */
	const char *run_name; /* what messages call that source; NULL: "command line" */
	/*
	 * Or NULL. Called with what the sources say; text that it appends to b counts as if it had
	 * stood at the end of run_text. 0 or a negative errno with err set.
	 */
	int (*more)(
		void *user, const struct ward_policy *p, struct ward_buf *b, struct ward_err *err);
	void *user;
	struct ward_budget *budget; /* the loader's own: what reading all of this may cost */
};

/* Loads and compiles all sources. Errors as ward_policy_compile(), and -ENOENT, -EACCES, … */
int ward_policy_load(
	const struct ward_load *l, struct ward_policy **ret, struct ward_err *err) ward_must_check;

/*
 * What --policy NAME stands for: a shipped profile, or a file (also one of the name of a profile,
 * if it is written with a '/'). Fills ret_text with its text and ret_file with its display name
 * (absolute for a file). config_home and the like play no part. -ENOENT, -EINVAL, …
 */
int ward_policy_find(const char *name, struct ward_buf *ret_text, struct ward_buf *ret_file,
	struct ward_err *err) ward_must_check;

/* Loads one file or profile alone as base, with what it extends. For `policy check`. */
int ward_policy_load_alone(
	const char *name, struct ward_policy **ret, struct ward_err *err) ward_must_check;

/*
 * Appends the name, without directory, of the owner's file for the project at this absolute path:
 * '/' becomes '-'; letters, digits, ':', '_' and '.' stay (a '.' in front does not); every other
 * byte becomes \xNN, so that different paths have different names. A name that would be too long
 * for a directory becomes "long-" and the SHA-256 of the path. Ends in ".policy". -EINVAL: not
 * absolute.
 */
int ward_project_file_name(const char *tree_path, struct ward_buf *b) ward_must_check;

/* Appends the path behind such a name. -EINVAL: not such a name, or a path that a name cannot
 * contain. */
int ward_project_file_path(const char *name, struct ward_buf *b) ward_must_check;

/*
 * May anything in the tree at this sandbox path be changed? *ret is true as well where only a look
 * at each path could tell. -ENOMEM, -EINVAL.
 */
int ward_policy_may_change(
	const struct ward_policy *p, const char *tree, bool *ret) ward_must_check;

/*
 * A tree's source (struct ward_tree) as an absolute host path: "." is the project, "~/x" in the
 * owner's home, what else is relative lies in the project. NULL home or project: -EINVAL where it
 * is needed. Appends to b.
 */
int ward_tree_source_resolve(const char *source, const char *home, const char *project,
	struct ward_buf *b, struct ward_err *err) ward_must_check;

/* A shipped profile's text (embedded from conf/profiles at build time), or NULL. */
const char *ward_profile_text(const char *name, size_t *ret_len);
/* Name of the i-th shipped profile, or NULL past the end. */
const char *ward_profile_name(size_t i);
