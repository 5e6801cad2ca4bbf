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

struct ward_load {
	const char *policy;	 /* --policy, or NULL */
	const char *config_home; /* $XDG_CONFIG_HOME or ~/.config of the owner; NULL: none */
	int tree_fd;		 /* directory of the project, for .wardfs.policy; -1: none */
	const char *tree_path;	 /* its absolute host path, NULL: none */
	const char *floor;	 /* NULL: /etc/wardfs/floor.policy; tests give another */
	const char *run_text;	 /* text of the run source (see ward_run_text in load.c), or NULL */
};

/* Loads and compiles all sources. Errors as ward_policy_compile(), and -ENOENT, -EACCES, … */
int ward_policy_load(
	const struct ward_load *l, struct ward_policy **ret, struct ward_err *err) ward_must_check;

/* A shipped profile's text (embedded from conf/profiles at build time), or NULL. */
const char *ward_profile_text(const char *name, size_t *ret_len);
/* Name of the i-th shipped profile, or NULL past the end. */
const char *ward_profile_name(size_t i);
