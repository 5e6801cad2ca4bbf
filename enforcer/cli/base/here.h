/* SPDX-License-Identifier: Apache-2.0 */
/* The project around the current directory, as records and running sessions name theirs. */
#pragma once

#include <stdbool.h>

struct ward_here {
	char *project; /* escaped (base/escape.h), owned; NULL: unknown */
	bool marked;   /* a mark, a policy or a kept home makes it one */
};

/* Without a message: where there is none, sessions of all projects are meant. */
void ward_here_find(struct ward_here *ret);
void ward_here_clear(struct ward_here *h);
