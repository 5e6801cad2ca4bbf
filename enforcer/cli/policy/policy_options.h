/* SPDX-License-Identifier: Apache-2.0 */
/* Options that several verbs of `wardfs policy` have. */
#pragma once

#include <argp.h>
#include <stdbool.h>

struct policy_options {
	const char *policy; /* --policy; NULL: what holds here */
	bool json;
};

/* The row of --policy; that of --json says what each verb prints. */
#define POLICY_OPTION                                                                              \
	{                                                                                          \
		"policy", 'p', "FILE|PROFILE", 0, "Base policy, as for wardfs run", 0              \
	}

/* Takes -p and -j, as far as the verb lists them; ARGP_ERR_UNKNOWN: it is neither. */
error_t policy_option_take(int key, const char *arg, struct policy_options *o);
