/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session sees of the host as it is ([system] read, --read FILE): no guard stands between,
 * but for single files (single_files.h). So what the policy's guards, floor and project file say
 * about each is asked before it is shown, at every name that it has for them: where it is shown,
 * what the kernel calls it, and what a tree calls it that serves the place where it lies, whatever
 * mount it is reached by.
 *
 * A directory in a tree is not shown so at all: no rule would decide about what lies beneath it.
 */
#pragma once

#include <sys/types.h>

#include "enforcer/base/mounts.h"
#include "enforcer/policy/policy.h"
#include "enforcer/session/plan/tree_spots.h"

struct ward_run_plan;

struct ward_shown_file {
	/* O_PATH, owned: while it is open the kernel gives its inode number to nobody else. -1:
	 * nothing there */
	int fd;
	char *real; /* what the kernel calls it, owned; NULL: nothing there */
	struct ward_spot spot;
	unsigned type; /* S_IF… bits; 0: nothing there */
	bool linked;   /* a regular file with other names */
	bool named;    /* by the owner or the caller, not by a shipped profile or a mode
			  (single_files.h) */
	dev_t dev;     /* with ino: what was looked at is what is shown */
	ino_t ino;
	uint32_t rights;		/* what is left, of all that can be given */
	const struct ward_rule *closed; /* what keeps it from being shown, the policy's; or NULL */
	int served; /* a directory that this tree serves, of the policy's; -1: none */
	int links;  /* a tree with `hardlinks = deny`, one of whose files it may be; -1: none */
};

#define WARD_SHOWN_FILE_INIT                                                                       \
	((struct ward_shown_file){.fd = -1, .rights = WARD_RIGHTS_ALL, .served = -1, .links = -1})
void ward_shown_file_clear(struct ward_shown_file *s);

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
 * Does the server of each path in [system] read (shown) answer? Nobody could end the wait of a
 * sandbox that is set up with a path whose server went away. -ETIMEDOUT: err names it; -ENOMEM.
 */
int ward_shown_reach(const struct ward_strings *shown, const char *home, const char *project,
	struct ward_err *err) ward_must_check;

/*
 * Whether [system] read shows the path, which is in no tree, with the caller's rights: as the start
 * of a session does it. trees as for ward_shown_look(), home and project as for
 * ward_shown_path(). -EINVAL; -ENOMEM.
 */
int ward_shown_find(const struct ward_policy *p, const struct ward_tree_spots *trees,
	const char *home, const char *project, const char *path, struct ward_shown_by *ret,
	struct ward_err *err) ward_must_check;

/*
 * path and at (or NULL) are where it would be shown, path also where it is on the host; trees: of
 * p. Opens path with the caller's rights. What is there and cannot be reached by them counts as not
 * there. *ret is the caller's. -ENOMEM; -EINVAL: a name too long.
 */
int ward_shown_look(const struct ward_policy *p, const struct ward_tree_spots *trees,
	const char *path, const char *at, struct ward_shown_file *ret) ward_must_check;

/*
 * Asks the plan's policy about each of its reads, with the owner's rights, and fills p->shown.
 * -EINVAL names the file and the rule if one is closed.
 */
int ward_shown_check(struct ward_run_plan *p, struct ward_err *err) ward_must_check;

/* The same for a policy that takes the place of the plan's while the session runs: what is shown
 * stays shown, so -EINVAL also where a right is taken that a file is shown with. */
int ward_shown_recheck(const struct ward_run_plan *p, const struct ward_policy *policy,
	struct ward_err *err) ward_must_check;
