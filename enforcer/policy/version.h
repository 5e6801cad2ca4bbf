/* SPDX-License-Identifier: Apache-2.0 */
/* libwardpolicy: the policy without the filesystem. Which version a program runs with. */
#pragma once

/* "MAJOR.MINOR.PATCH"; static. */
const char *ward_policy_version(void);
