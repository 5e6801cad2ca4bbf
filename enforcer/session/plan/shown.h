/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of the host that a session sees as they are ([system] read, --read FILE): no guard stands
 * between, so what the policy's guards, floor and project file say about each is asked before it is
 * shown, at every name that it has for them: where it is shown, what the kernel calls it, and what
 * a tree that serves its directory calls it.
 */
#pragma once

#include "enforcer/policy/policy.h"

struct ward_run_plan;

struct ward_shown_file {
	char *real;			/* what the kernel calls it, owned; NULL: nothing there */
	unsigned type;			/* S_IF… bits; 0: nothing there */
	uint32_t rights;		/* what is left, of all that can be given */
	const struct ward_rule *closed; /* what keeps it from being shown, the policy's; or NULL */
};

/*
 * sources: for each tree of p's settings its absolute host path, or NULL. path and at (or NULL) are
 * where it would be shown, path also where it is on the host. Opens names with the caller's rights.
 * What is there and cannot be reached by them counts as not there. Fills *ret; real is the
 * caller's. -ENOMEM; -EINVAL: a name too long.
 */
int ward_shown_look(const struct ward_policy *p, const char *const *sources, const char *path,
	const char *at, struct ward_shown_file *ret) ward_must_check;

/*
 * A path of the host as the policy has it, as the owner means it: home (or NULL) for "~", project
 * for ".". *ret is the caller's. -EINVAL; -ENOMEM.
 */
int ward_shown_path(const char *text, const char *home, const char *project, char **ret,
	struct ward_err *err) ward_must_check;

/* What [system] read shows at a path, read-only. */
struct ward_shown_by {
	bool shown;	 /* the path is named, or beneath what is */
	bool there;	 /* something is, and is no link out of what is shown */
	uint32_t rights; /* of all that is shown with it */
	size_t entry;	 /* index in the settings' system_read */
};

/*
 * Whether [system] read shows the path, which is in no tree, with the caller's rights: as the start
 * of a session does it. sources as for ward_shown_look(), home and project as for
 * ward_shown_path(). -EINVAL; -ENOMEM.
 */
int ward_shown_find(const struct ward_policy *p, const char *const *sources, const char *home,
	const char *project, const char *path, struct ward_shown_by *ret,
	struct ward_err *err) ward_must_check;

/*
 * Asks policy about each of the plan's reads, with the owner's rights, and fills ret, which has as
 * many. -EINVAL names the file and the rule if one is closed.
 */
int ward_shown_check(const struct ward_run_plan *p, const struct ward_policy *policy,
	struct ward_shown_file *ret, struct ward_err *err) ward_must_check;

/* The same for a policy that takes the place of the plan's while the session runs: what is shown
 * stays shown, so -EINVAL also where a right is taken that a file is shown with. */
int ward_shown_recheck(const struct ward_run_plan *p, const struct ward_policy *policy,
	struct ward_err *err) ward_must_check;
