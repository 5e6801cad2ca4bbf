/* SPDX-License-Identifier: Apache-2.0 */
/* The side of `wardfs attack --path-rules` that the session runs. */
#pragma once

/*
 * Reads lines "OPERATION HEX-OF-PATH HEX-OF-OTHER" from standard input and makes each operation,
 * relative to the current directory. Answers each with a line: "did PROOF" or "not ERRNO"; PROOF is
 * what a read brought, or "-". Returns the exit status: 2, if a line is none of these.
 */
int ward_attack_paths_inside(void);
