/* SPDX-License-Identifier: Apache-2.0 */
/* The first paragraph of a report: a session in plain sentences, made from its records. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "enforcer/base/buf.h"

/* How a page writes our own words, and names from the trail. */
struct ward_report_style {
	void (*text)(struct ward_buf *b, const char *words);
	void (*name)(struct ward_buf *b, const char *name);
};

/* The paragraph about a report of ward_report_collect(); ask ward_buf_error(). */
void ward_report_words(
	struct ward_buf *b, const json_t *report, const struct ward_report_style *style);

/* What follows "In mode MODE" where the command could have changed its own trail. */
#define WARD_REPORT_COULD_CHANGE                                                                   \
	" the command has its user's rights and could have changed this trail."
/* Of `mode` of session.start, or NULL: is it such a mode? */
bool ward_report_mode_warns(const char *mode);

/* The sections of a report, the same on each kind of page. */
#define WARD_REPORT_SESSION "The session"
#define WARD_REPORT_CHANGED "What changed"
#define WARD_REPORT_REFUSED "What was refused, and why"
#define WARD_REPORT_PROGRAMS "Programs"
#define WARD_REPORT_NETWORK "Network"
#define WARD_REPORT_FILES "All files"
#define WARD_REPORT_ENFORCED "What was enforced"
#define WARD_REPORT_POLICY "Policy in force"
#define WARD_REPORT_VERIFY "How to verify"
#define WARD_REPORT_STANDARDS "Requirements of standards"
