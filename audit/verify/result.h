/* SPDX-License-Identifier: Apache-2.0 */
/* What a verification concludes. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/log/log.h"
#include "enforcer/base/err.h"

enum ward_verify_state {
	WARD_VERIFY_UNREAD = 0, /* not verified: it could not be read */
	WARD_VERIFY_FOREIGN,	/* written under another root key; nothing can be said */
	WARD_VERIFY_MISSING,	/* the ledger knows the session, its trail is missing */
	WARD_VERIFY_EDITED,	/* a line was changed or added */
	WARD_VERIFY_REORDERED,	/* every line is genuine, their order is not */
	WARD_VERIFY_DELETED,	/* lines are missing in between, or the ledger's entries are */
	WARD_VERIFY_TRUNCATED,	/* the end is missing, and the ledger knows that there was one */
	WARD_VERIFY_INCOMPLETE, /* genuine, but without a regular end: running, or something died */
	WARD_VERIFY_UNSTARTED,	/* unknown to the ledger and without a record: it never began */
	WARD_VERIFY_REMOVED, /* deleted by its owner, and the ledger says when, and what it was */
	WARD_VERIFY_EXPIRED, /* deleted when it had been kept long enough, and the ledger says so */
	WARD_VERIFY_GAP,     /* genuine and ended, and it says itself that something is missing */
	WARD_VERIFY_INTACT,
};
/* "intact", "foreign key", …; "?" out of range. */
const char *ward_verify_state_name(enum ward_verify_state s);

#define WARD_VERIFY_TEXT_MAX 400
struct ward_verify_result {
	enum ward_verify_state state;
	uint64_t records;   /* genuine lines from the beginning, in order */
	uint64_t first_bad; /* seq of the first record that is wrong or missing; 0: none */
	bool among;	    /* it is one of those from first_bad on that text names */
	uint64_t gaps;	    /* records of kind gap among the genuine ones */
	bool running;	    /* INCOMPLETE: a writer holds the log */
	char text[WARD_VERIFY_TEXT_MAX]; /* one line for people; "" when there is nothing to say */
};

/* Lines that are compared behind the first wrong one; 48 bytes each. */
#define WARD_VERIFY_WINDOW ((size_t)1 << 20)
/* Steps of the ratchet that are tried for what such lines claim to be: some seconds at worst. */
#define WARD_VERIFY_STEPS ((uint64_t)1 << 24)

/* For the files of verify: what is said last stands; what does not fit is cut (base/cut.h). */
void ward_verify_vsay(struct ward_verify_result *ret, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
void ward_verify_say(struct ward_verify_result *ret, enum ward_verify_state state,
	uint64_t first_bad, const char *fmt, ...) ward_printf(4, 5);
/* Of missing records: adds which file of the trail is missing, or ends too early. */
void ward_verify_name_segment(struct ward_log *log, struct ward_verify_result *ret);
