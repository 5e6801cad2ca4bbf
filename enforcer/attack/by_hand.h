/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts that a person makes: a shell in the sandbox, with the observer's world around it. */
#pragma once

#include "enforcer/attack/world.h"

/*
 * Starts /bin/sh in the sandbox (argv: its command line; NULL: none), in the workspace, with the
 * caller's terminal. The facts (facts.h) are its variables fact_KEY, and `./attempt NAME` in the
 * workspace makes one attempt. Waits for the shell. Afterwards prints which targets outside are not
 * as they were. 0, or -1 with what failed in why. sandbox: what it is called.
 */
int ward_by_hand(struct ward_world *w, char *const *argv, const char *sandbox, char *why,
	size_t size) ward_must_check;

/*
 * The side in the sandbox: makes the attempt of this name, or what it does in a second session if
 * later is true, and prints how it ended. facts: a file as facts.h writes it. Returns the exit
 * status: 0 it succeeded, 1 it was refused, 2 usage, 3 an earlier step was refused.
 */
int ward_by_hand_try(const char *facts, const char *name);
