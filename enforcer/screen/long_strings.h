/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which parts of a string that is longer than a piece go to clients of `wardfs attach`.
 *
 * Several terminals are shown the same. So a string must ask nothing: each of them would answer,
 * and every answer is typed into the program. It also must end: a terminal shows nothing else as
 * long as a string goes on. So these alone are shown, up to WARD_LONG_MAX bytes:
 *
 *   - pictures: sixel (DCS ... q), and iTerm2's files (OSC 1337 ; File=)
 *   - what goes to the clipboard (OSC 52)
 *
 * Nothing of other long strings is shown: titles and links are shorter, and what is left are
 * questions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/screen/pieces.h"

/* Pictures are shorter. */
#define WARD_LONG_MAX ((size_t)4 << 20)

enum ward_long_part {
	WARD_LONG_HIDE = 0,
	WARD_LONG_SHOW,
	WARD_LONG_CUT, /* in its place the end of the string: ESC \ */
};

/* Zero: no string is under way. The members are the module's own. */
struct ward_long {
	bool began, shown, osc;
	size_t n;
};

/* What to do with the next LONG or LONG_END. */
enum ward_long_part ward_long_next(
	struct ward_long *l, enum ward_piece kind, const char *data, size_t n);
/* Is a string under way that is shown? */
bool ward_long_shown(const struct ward_long *l);
