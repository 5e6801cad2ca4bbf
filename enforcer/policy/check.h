/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is odd about a policy that compiles: rules that can never decide (exact: shadow.h), and
 * things that people regret. Pure. What needs the disk (files that git tracks) is looked at by
 * `wardfs policy check`.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/policy/policy.h"

/* The subject of a finding, for callers that count findings in another way. */
enum ward_finding_about {
	WARD_ABOUT_POLICY = 0,
	WARD_ABOUT_HOST_EXECUTED, /* files that the host executes later can be written */
	WARD_ABOUT_REACH,	  /* [network] reaches hosts that nobody has named, or anyone's */
};

struct ward_finding {
	enum ward_finding_about about;
	bool note;	  /* what could not be looked at: no reason to act */
	bool advice;	  /* the line does what it says and is not too wide: how it reads inside */
	const char *file; /* borrowed from the policy */
	unsigned line;
	const char *what; /* of the rule or key: "[files] read = /x" */
	const char *why;
	const char *fix;
};

typedef void (*ward_finding_fn)(void *user, const struct ward_finding *f);

/* Calls fn for each finding, in no particular order; strings live during the call. -ENOMEM. */
int ward_policy_check(const struct ward_policy *p, ward_finding_fn fn, void *user) ward_must_check;

/* The same without what compares rules with each other, which takes some milliseconds. */
int ward_policy_check_regrets(
	const struct ward_policy *p, ward_finding_fn fn, void *user) ward_must_check;

/* Is that sandbox path a directory of the project? */
typedef bool (*ward_is_dir_fn)(void *user, const char *path);

/*
 * Rules of the owner's for one directory that show there what the shipped profile refuses by name,
 * such as *.pem. The caller looks at the disk: of a file, no rule shows more than the file.
 */
int ward_policy_check_shown(const struct ward_policy *p, ward_is_dir_fn is_dir, ward_finding_fn fn,
	void *user) ward_must_check;

/* Where the source of the tree at this sandbox path is set; where it is not, where the base begins.
 * Borrowed. */
void ward_policy_tree_place(
	const struct ward_policy *p, const char *path, const char **ret_file, unsigned *ret_line);
