/* SPDX-License-Identifier: Apache-2.0 */
/* Where `wardfs policy` is called: the project, its owner, the policy in force, and paths in it. */
#pragma once

#include <stdbool.h>

#include "enforcer/policy/known.h"
#include "enforcer/policy/load.h"
#include "enforcer/session/owner/identity.h"
#include "enforcer/session/owner/project.h"

struct ward_policy_place {
	bool in_project;
	char *no_project;	       /* owned: why there is no project. NULL: there is one */
	enum ward_project_which which; /* how the project was found */
	struct ward_project project;
	struct ward_identity id;
	char *config_home; /* owned; NULL: none */
	bool shared;	   /* owner_file is that of another project, and holds here too */
	char *owner_file;  /* owned: the owner's file for this project, NULL: no project */
	struct ward_policy *policy;
	struct ward_known known; /* repositories that are guarded */
	char **sources; /* owned: absolute host path of each tree's source, NULL for tmpfs */
};

/*
 * Fills *ret. policy: --policy or NULL. Outside of any project (in "/" or the home) the policy
 * holds nevertheless; it then has no project file. Clear it with ward_policy_place_clear() also on
 * failure.
 */
int ward_policy_place_find(
	const char *policy, struct ward_policy_place *ret, struct ward_err *err) ward_must_check;
/* The same in silence, and of the nearest mark where that is wanted; the first one says on stderr
 * which mark does not count (ward_project_say()). */
int ward_policy_place_look(const char *policy, enum ward_project_which which,
	struct ward_policy_place *ret, struct ward_err *err) ward_must_check;
/* The same, with policy in the place of the owner's file: what a change of that file leads to. */
int ward_policy_place_would(const char *policy, enum ward_project_which which,
	struct ward_policy_place *ret, struct ward_err *err) ward_must_check;
/* Says on stderr that the policy is that of another project; NULL: nothing. */
void ward_shared_say(const char *file);
/* Says on stderr that a nearer directory is not taken for the project, and what makes it one. */
void ward_project_say(const struct ward_project *project);
/* Refuses where the owner has no file for this place: -ENOENT, and why. */
int ward_policy_place_need(
	const struct ward_policy_place *place, struct ward_err *err) ward_must_check;
/* Outside of any project: says on stderr what an answer is about. */
void ward_policy_place_say_none(const struct ward_policy_place *place);
/* With --policy, a line would have to go into the file that it names: makes that owner_file, or
 * words for it where it names a shipped profile. -ENOMEM. */
int ward_policy_place_named(struct ward_policy_place *place, struct ward_err *err) ward_must_check;
void ward_policy_place_clear(struct ward_policy_place *p);

/*
 * The sandbox path of what the user wrote: a sandbox path stays, a host path in a tree's source is
 * translated, a relative one is seen from the current directory; where that is in no tree, from
 * /workspace. "." and ".." are taken away. *ret_dir: ended in '/'. -EINVAL: leads above "/".
 */
int ward_policy_place_path(const struct ward_policy_place *p, const char *arg, char **ret,
	bool *ret_dir, struct ward_err *err) ward_must_check;

/* Is this sandbox path in a tree, or on the way to one? The guard is asked about no other. */
bool ward_policy_place_in_tree(const struct ward_policy_place *p, const char *path);

/* The host path behind a sandbox path, the caller's; NULL: in no tree that is on the host. */
char *ward_policy_place_host(const struct ward_policy_place *p, const char *path);

/* What is at this sandbox path on the host now: S_IF… bits of its mode, 0 for nothing. */
unsigned ward_policy_place_type(const struct ward_policy_place *p, const char *path);
