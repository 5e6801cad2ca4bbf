/* SPDX-License-Identifier: Apache-2.0 */
/* A line on a terminal for what takes longer than a second; nothing on anything else. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ward_progress {
	const char *what;  /* "clearing a home"; borrowed */
	const char *unit;  /* "names"; borrowed */
	uint64_t from_ns;  /* when it began */
	uint64_t shown_ns; /* when the line was written last; 0: never */
	bool terminal;
};

void ward_progress_begin(struct ward_progress *p, const char *what, const char *unit);
/* So far; often is fine. p: struct ward_progress. */
void ward_progress_tell(void *p, uint64_t done);
/* Takes the line away again. */
void ward_progress_end(struct ward_progress *p);
