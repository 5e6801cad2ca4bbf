/* SPDX-License-Identifier: Apache-2.0 */
/* Terminals that the observer holds the other end of. */
#pragma once

#include <stdint.h>

#include "enforcer/base/err.h"

struct ward_terminal {
	int master, slave; /* -1: there is none */
};
#define WARD_TERMINAL_NONE                                                                         \
	{                                                                                          \
		.master = -1, .slave = -1                                                          \
	}

/* A new one. 0, or -1 with errno. */
int ward_terminal_open(struct ward_terminal *ret) ward_must_check;
void ward_terminal_close(struct ward_terminal *t);

/* Its path, of at least 32 bytes, or "". */
const char *ward_terminal_path(const struct ward_terminal *t, char ret[32]);

/* Puts it in its first state: this line is typed, nothing else is there to be read. */
void ward_terminal_prepare(const struct ward_terminal *t, const char *typed);

/* A number that differs if what is typed, printed or set there has changed. */
uint64_t ward_terminal_scene(const struct ward_terminal *t);
