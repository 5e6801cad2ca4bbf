/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/policy/version.h"

const char *ward_policy_version(void)
{
	return WARD_VERSION;
}
