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

#include "enforcer/attack/attack.h"

/* Longest answer of an attempt, with its NUL. */
#define WARD_SAID_SIZE 128

/*
 * Makes one attempt in a process of its own, without an observer. True with said as the observer
 * hears it ("did PROOF", "not ERRNO", "unready ERRNO", "died SIGNAL"), or false: no process.
 */
bool ward_attack_try(ward_attempt_fn *act, const struct ward_facts *f, char said[WARD_SAID_SIZE]);

/* Reads the facts of a run from a file: 0, or 2 where they are wrong. The caller clears them. */
int ward_attack_facts(struct ward_facts *f, const char *file);

/*
 * Runs until its input ends. facts: a file as facts.h writes it; settings: more lines of it that
 * take precedence. Returns the exit status: 0, or 2 where facts or input are wrong.
 */
int ward_attack_inside(const char *facts, char *const *settings);
