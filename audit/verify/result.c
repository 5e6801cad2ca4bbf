/* SPDX-License-Identifier: Apache-2.0 */
/* Names the states of a verification, and sets what it concludes. */
#include "audit/verify/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/log/segments.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/cut.h"

const char *ward_verify_state_name(enum ward_verify_state s)
{
	static const char *const names[] = {
		[WARD_VERIFY_UNREAD] = "unread",
		[WARD_VERIFY_FOREIGN] = "foreign key",
		[WARD_VERIFY_MISSING] = "missing",
		[WARD_VERIFY_EDITED] = "edited",
		[WARD_VERIFY_REORDERED] = "reordered",
		[WARD_VERIFY_DELETED] = "deleted",
		[WARD_VERIFY_TRUNCATED] = "truncated",
		[WARD_VERIFY_INCOMPLETE] = "incomplete",
		[WARD_VERIFY_UNSTARTED] = "unstarted",
		[WARD_VERIFY_REMOVED] = "removed",
		[WARD_VERIFY_EXPIRED] = "expired",
		[WARD_VERIFY_GAP] = "gap",
		[WARD_VERIFY_INTACT] = "intact",
	};
	return (unsigned)s < sizeof(names) / sizeof(*names) ? names[s] : "?";
}

void ward_verify_vsay(struct ward_verify_result *ret, const char *fmt, va_list ap)
{
	char all[4 * WARD_VERIFY_TEXT_MAX];
	vsnprintf(all, sizeof(all), fmt, ap);
	ward_cut(ret->text, sizeof(ret->text), all, sizeof(all));
}

void ward_verify_say(struct ward_verify_result *ret, enum ward_verify_state state,
	uint64_t first_bad, const char *fmt, ...)
{
	va_list ap;
	ret->state = state;
	ret->first_bad = first_bad;
	va_start(ap, fmt);
	ward_verify_vsay(ret, fmt, ap);
	va_end(ap);
}

/* The number of the last record in the text up to there; 0: that is no whole line of a record. */
static uint64_t last_before(struct ward_log *log, uint64_t from, uint64_t end)
{
	const size_t len = end - from < WARD_LINE_MAX ? (size_t)(end - from) : WARD_LINE_MAX;
	ward_cleanup_free char *text = len > 1 ? malloc(len) : NULL;
	struct ward_line l;
	if (!text || ward_log_read(log, text, len, end - len) != (ssize_t)len ||
		text[len - 1] != '\n')
		return 0;
	const char *nl = memrchr(text, '\n', len - 1), *line = nl ? nl + 1 : text;
	return ward_line_parse(line, (size_t)(text + len - 1 - line), &l) < 0 ? 0 : l.seq;
}

/* The compressed file behind whose end this record is missing: cut between two frames. 0: none. */
static unsigned find_short(struct ward_log *log, uint64_t missing)
{
	struct ward_log_file f;
	for (size_t i = 0; missing > 1 && ward_log_file(log, i, &f) == 0; i++)
		if (f.packed && f.size > 0 &&
			last_before(log, f.from, f.from + f.size) == missing - 1)
			return f.number;
	return 0;
}

void ward_verify_name_segment(struct ward_log *log, struct ward_verify_result *ret)
{
	char name[WARD_SEGMENT_NAME_MAX];
	const unsigned missing = ward_log_missing(log);
	const unsigned torn = ward_log_cut(log);
	const bool lacks = ret->state == WARD_VERIFY_DELETED || ret->state == WARD_VERIFY_TRUNCATED;
	const unsigned cut = torn || missing || !lacks ? torn : find_short(log, ret->first_bad);
	const size_t n = strlen(ret->text);
	if (missing == 0 && cut == 0)
		return;
	ward_segment_name(name, missing ? missing : cut, !missing);
	if (missing)
		snprintf(ret->text + n, sizeof(ret->text) - n, "; the file %s is missing", name);
	else
		snprintf(ret->text + n, sizeof(ret->text) - n,
			"; the compressed file %s ends too early: it was cut or changed", name);
}
