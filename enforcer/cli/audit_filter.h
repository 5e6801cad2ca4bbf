/* SPDX-License-Identifier: Apache-2.0 */
/* The filters of wardfs audit: one set of options for every question, and what they lead to. */
#pragma once

#include <stdbool.h>

#include "audit/filter.h"
#include "audit/index.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/err.h"

/* For getopt_long(3); the letters are upper-case. */
#define AUDIT_FILTER_OPTIONS                                                                       \
	{"kind", 1, NULL, 'K'}, {"verdict", 1, NULL, 'V'}, {"path", 1, NULL, 'P'},                 \
		{"rule", 1, NULL, 'R'}, {"comm", 1, NULL, 'C'}, {"exe", 1, NULL, 'E'},             \
		{"pid", 1, NULL, 'I'}, {"descendants", 0, NULL, 'D'}, {"since", 1, NULL, 'S'},     \
	{                                                                                          \
		"until", 1, NULL, 'U'                                                              \
	}

#define AUDIT_FILTER_HELP                                                                               \
	"  FILTER:\n"                                                                                   \
	"  --kind KIND          open, create, close, rename, link, remove, deny, ...\n"                 \
	"  --verdict VERDICT    allow, deny, hide, ask\n"                                               \
	"  --path PATH          a path and what is beneath, or a pattern ('*' crosses '/')\n"           \
	"  --rule FILE:LINE     the deciding rule\n"                                                    \
	"  --comm NAME          the name of the program, as it calls itself\n"                          \
	"  --exe PATH           the program that ran, as --path; without a '/': its last name\n"        \
	"  --pid PID            a process and its threads, or one thread\n"                             \
	"  --descendants        with a process: also what it started, and what that started\n"          \
	"  --since TIME         in UTC: 2026-01-02T03:04, or the date alone; today, yesterday; or so\n" \
	"                       long ago: 90s, 30m, 12h, 2d, 1w\n"                                      \
	"  --until TIME         the same; records of that minute (second, day) still count\n"

/* What was given, and the texts that the filter borrows. Zero is none. audit_filter_clear(). */
struct audit_filter {
	struct ward_filter f;
	struct ward_buf path; /* escaped */
	struct ward_buf exe;  /* escaped */
	struct ward_buf said; /* as it was typed, for the ledger */
	char since[WARD_CLOCK_TEXT_MAX], until[WARD_CLOCK_TEXT_MAX]; /* as records have them */
};

/*
 * Takes an option, and what it was given. 1: taken; 0: it is none of a filter; 2: bad usage, and
 * stderr says so.
 */
int audit_filter_take(struct audit_filter *g, int letter, const char *arg);
/* The whole of it, when all was taken: 0, or 2 and stderr says why. */
int audit_filter_check(struct audit_filter *g);
void audit_filter_clear(struct audit_filter *g);

/* Where to look in a trail: zero; then of audit_select(); audit_selected_clear(). */
struct audit_selected {
	struct ward_query_lines lines;
	struct ward_select select;
	const struct ward_select *sel; /* for the library; NULL: nothing is asked for */
	bool indexed;		       /* not every line is looked at */
};
struct audit_cmd;
/*
 * Makes the filter ready for this trail: its processes are found, if they are asked for, with the
 * index where there is one.
 */
int audit_filter_prepare(struct audit_cmd *c, const char *session, struct ward_log *log,
	struct ward_err *err) ward_must_check;
/* Does so, and asks the index, if there is one of this trail and it may be asked. */
int audit_select(struct audit_cmd *c, const char *session, struct ward_log *log,
	struct audit_selected *ret, struct ward_err *err) ward_must_check;
void audit_selected_clear(struct audit_selected *s);
/* Says on stderr if the trail is not intact; or, of one where an index answered, that nobody
 * looked. */
void audit_select_warn(
	struct audit_cmd *c, const char *session, struct ward_log *log, bool indexed);
