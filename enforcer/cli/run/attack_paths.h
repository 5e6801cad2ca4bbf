/* SPDX-License-Identifier: Apache-2.0 */
/* `wardfs attack --path-rules POLICY`: every operation on names that a policy's rules mean. */
#pragma once

/* argv as `wardfs attack` got it. Returns the exit status. */
int ward_attack_paths(int argc, char **argv);
