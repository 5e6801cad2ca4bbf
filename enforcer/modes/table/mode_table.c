/* SPDX-License-Identifier: Apache-2.0 */
/* modes.def as arrays. Nothing else stands in this file: a program may bring arrays of its own. */
#include "enforcer/modes/table/mode.h"

#define WARD_MODE(name, w, ...) {.word = w, __VA_ARGS__},
const struct ward_mode ward_modes[] = {
#include "enforcer/modes/table/modes.def"
	{.word = NULL}};
#undef WARD_MODE

#define WARD_MODE(name, w, ...) w,
const char *const ward_mode_words[] = {
#include "enforcer/modes/table/modes.def"
	NULL};
