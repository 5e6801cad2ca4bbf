/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the options that several verbs of `wardfs policy` have. */
#include "enforcer/cli/policy/policy_options.h"

error_t policy_option_take(int key, const char *arg, struct policy_options *o)
{
	switch (key) {
	case 'p':
		o->policy = arg;
		return 0;
	case 'j':
		o->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}
