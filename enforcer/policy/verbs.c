/* SPDX-License-Identifier: Apache-2.0 */
/* Names for people and for the trail. */
#include "enforcer/policy/internal.h"

const char *ward_verb_name(enum ward_verb v)
{
	switch (v) {
	case WARD_VERB_HIDE:
		return "hide";
	case WARD_VERB_DENY:
		return "deny";
	case WARD_VERB_READ:
		return "read";
	case WARD_VERB_APPEND:
		return "append";
	case WARD_VERB_WRITE:
		return "write";
	case WARD_VERB_ASK:
		return "ask";
	case WARD_VERB_NOEXEC:
		return "noexec";
	case WARD_VERB_SECRET:
		return "secret";
	case WARD_VERB_LIFT_READ:
		return "read";
	case WARD_VERB_LIFT_WRITE:
		return "write";
	case WARD_VERB_PROGRAM:
		return "exec";
	case WARD_VERB_COUNT_:
		break;
	}
	return "?";
}

const char *ward_verdict_name(enum ward_verdict v)
{
	switch (v) {
	case WARD_VERDICT_DENY:
		return "deny";
	case WARD_VERDICT_HIDE:
		return "hide";
	case WARD_VERDICT_ASK:
		return "ask";
	case WARD_VERDICT_ALLOW:
		return "allow";
	}
	return "?";
}

const char *ward_fact_name(enum ward_fact f)
{
	switch (f) {
	case WARD_FACT_THERE:
		return "there";
	case WARD_FACT_DIFFERS:
		return "differs";
	case WARD_FACT_COMMITTED:
		return "committed";
	case WARD_FACT_OWN:
		return "own";
	case WARD_FACT_ABSENT:
		return "absent";
	case WARD_FACT_COUNT_:
		break;
	}
	return "?";
}

const char *ward_source_name(enum ward_source_kind k)
{
	switch (k) {
	case WARD_SOURCE_NONE:
		return "default";
	case WARD_SOURCE_PROFILE:
		return "profile";
	case WARD_SOURCE_BASE:
		return "base";
	case WARD_SOURCE_FLOOR:
		return "floor";
	case WARD_SOURCE_PROJECT:
		return "project";
	case WARD_SOURCE_RUN:
		return "run";
	case WARD_SOURCE_FOUND:
		return "found";
	case WARD_SOURCE_HOST:
		return "host";
	case WARD_SOURCE_GRANT:
		return "grant";
	case WARD_SOURCE_COUNT_:
		break;
	}
	return "?";
}

void ward_rights_format(struct ward_buf *b, uint32_t rights)
{
	static const char *const names[WARD_RIGHT_BITS] = {
		"stat", "list", "read", "exec", "append", "create", "write", "remove", "attr"};
	const char *sep = "";
	for (unsigned i = 0; i < WARD_RIGHT_BITS; i++) {
		if (!(rights & 1U << i))
			continue;
		ward_buf_puts(b, sep);
		ward_buf_puts(b, names[i]);
		sep = ",";
	}
	if (!*sep)
		ward_buf_putc(b, '-');
}
