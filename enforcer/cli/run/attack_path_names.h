/* SPDX-License-Identifier: Apache-2.0 */
/* Names that a policy's rules mean, and their neighbours, which they do not mean. Pure. */
#pragma once

#include "enforcer/policy/policy.h"

/* More names are not tried; the caller says so. */
#define WARD_PATH_NAMES_MAX 3000

struct ward_path_name {
	char *path;		      /* owned; relative to /workspace */
	const struct ward_rule *rule; /* whose name or neighbour it is */
	const char *how;	      /* "name", "case", …: a constant */
};

struct ward_path_names {
	struct ward_path_name v[WARD_PATH_NAMES_MAX];
	size_t n, left_out;
};

/*
 * For each rule on /workspace: names that its pattern means, and neighbours by byte, case, Unicode
 * form, depth and trailing characters. No name stands in the way of another. -ENOMEM.
 */
int ward_path_names_of(const struct ward_policy *p, struct ward_path_names *ret) ward_must_check;
void ward_path_names_clear(struct ward_path_names *n);
