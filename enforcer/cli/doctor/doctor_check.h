/* SPDX-License-Identifier: Apache-2.0 */
/* One line of `wardfs doctor`: what was tried on this host, what came of it, and the fix. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"

#define WARD_CHECK_TEXT_MAX 512

/* At most so many modes of the table (enforcer/modes/table/modes.def) are reported. */
#define WARD_CHECK_MODES_MAX 16
/* The same of enforcer/container/engines.def. */
#define WARD_CHECK_ENGINES_MAX 8

/*
 * MISSING: the default policy cannot run. UNUSABLE: it was tried, and cannot be used as it is; what
 * builds on it is refused or slower. OPTIONAL: nobody set it up, and nothing needs it.
 */
enum ward_check_status {
	WARD_CHECK_MISSING = 0,
	WARD_CHECK_OK,
	WARD_CHECK_UNUSABLE,
	WARD_CHECK_OPTIONAL,
};

struct ward_check {
	const char *name;
	bool required; /* mode restricted cannot run without */
	enum ward_check_status status;
	char tried[WARD_CHECK_TEXT_MAX];   /* what was done and what came of it */
	const char *fix;		   /* NULL: nothing to do; kept by reference */
	char own_name[32];		   /* what `name` points to where no constant is */
	char own_fix[WARD_CHECK_TEXT_MAX]; /* the same of `fix` */
};

/* Fills in a line; the fix is dropped where there is nothing to fix. */
void ward_check_say(struct ward_check *c, enum ward_check_status status, const char *fix,
	const char *fmt, ...) ward_printf(4, 5);

/*
 * For what is tried in a child, since it may spoil itself: what fn returned there (0 or a negative
 * errno), or why there is none.
 */
int ward_check_in_child(int (*fn)(void));
