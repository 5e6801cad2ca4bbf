/* SPDX-License-Identifier: Apache-2.0 */
/* What a program of the owner's gets that a session starts outside of itself. */
#pragma once

#include <stdbool.h>

#include "enforcer/session/owner/identity.h"

struct ward_outside {
	const char *path; /* argv[0]; and what is executed where program is -1 */
	int program;	  /* O_PATH: this very file, whatever is at path now; -1: what is at path */
	const struct ward_identity *id; /* as its owner; NULL: as this process */
	int input;			/* its standard input */
	int output;			/* its standard output; -1: /dev/null */
	bool dies;			/* with this process */
};

/*
 * In the child of a process with threads, which may do system calls only: becomes the program. It
 * has no other descriptors of ours (where `program` is given, that is its descriptor 3: the
 * interpreter of a script reads it), PATH, LANG and the owner's HOME in its environment, no
 * terminal, "/" as its directory, and cannot gain rights where it is the owner's. Never returns:
 * 127 where something fails.
 */
void ward_outside_become(const struct ward_outside *o) __attribute__((noreturn));
