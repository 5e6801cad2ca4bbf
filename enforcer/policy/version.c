/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the version of libwardpolicy. */
#include "enforcer/policy/version.h"

const char *ward_policy_version(void)
{
	return WARD_VERSION;
}
