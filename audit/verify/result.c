/* SPDX-License-Identifier: Apache-2.0 */
/* Names the states of a verification, and sets what it concludes. */
#include "audit/verify/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "audit/log/segments.h"
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

void ward_verify_name_segment(const struct ward_log *log, struct ward_verify_result *ret)
{
	char name[WARD_SEGMENT_NAME_MAX];
	const unsigned missing = ward_log_missing(log), cut = ward_log_cut(log);
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
