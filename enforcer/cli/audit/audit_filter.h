/* SPDX-License-Identifier: Apache-2.0 */
/* The filters of wardfs audit: one set of options for every question, and what they lead to. */
#pragma once

#include <argp.h>

#include "audit/query/record_filter.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/err.h"

/* The keys of the options below, for argp(3). */
enum audit_filter_option {
	AUDIT_FILTER_KIND = 0x200,
	AUDIT_FILTER_VERDICT,
	AUDIT_FILTER_PATH,
	AUDIT_FILTER_RULE,
	AUDIT_FILTER_COMM,
	AUDIT_FILTER_EXE,
	AUDIT_FILTER_PID,
	AUDIT_FILTER_DESCENDANTS,
	AUDIT_FILTER_SINCE,
	AUDIT_FILTER_UNTIL,
};

/* All but --pid; and --pid. */
extern const struct argp_option audit_filter_options[];
extern const struct argp_option audit_filter_pid[];

/* The given options, and the texts that the filter borrows. Zero: none. audit_filter_clear(). */
struct audit_filter {
	struct ward_filter f;
	struct ward_buf path; /* escaped */
	struct ward_buf exe;  /* escaped */
	struct ward_buf rule; /* escaped */
	struct ward_buf said; /* as it was typed, for the ledger */
	char since[WARD_CLOCK_TEXT_MAX], until[WARD_CLOCK_TEXT_MAX]; /* as records have them */
};

/*
 * Takes an option, by its key, and its argument. 1: taken; 0: no option of a filter; -EINVAL: a bad
 * argument, and stderr says why.
 */
int audit_filter_take(struct audit_filter *g, int key, const char *arg) ward_must_check;
/* Checks the whole, when all was taken: 0, or -EINVAL and stderr says why. */
int audit_filter_check(struct audit_filter *g) ward_must_check;
void audit_filter_clear(struct audit_filter *g);
