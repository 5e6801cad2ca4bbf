/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The side of wardfs-attack that a sandbox runs. It reads lines from standard input and answers on
 * standard output, a line each:
 *
 *   observer                inside
 *                           hello TOKEN
 *   ready NAME [later]      ready              (a process called "TOKEN8-try" waits)
 *   go                      did PROOF | not ERRNO | unready ERRNO | died SIGNAL
 *   over                    over               (that process has ended)
 *   end of input            (exits)
 */
#pragma once

/*
 * Runs until its input ends. facts: a file as facts.h writes it; settings: more lines of it that
 * take precedence. Returns the exit status: 0, or 2 where facts or input are wrong.
 */
int ward_attack_inside(const char *facts, char *const *settings);
