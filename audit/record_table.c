/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of kinds and members, as a program has them. */
#include "audit/record_table.h"

#include <assert.h>
#include <string.h>

const struct ward_record_kind ward_record_kinds[WARD_EVENT_COUNT_] = {
#define KIND(id, n, who, what_is, has, what)                                                       \
	[WARD_EVENT_##id] = {(n), sizeof(n) - 1, (who), (what_is)},
#include "audit/record_kinds.def"
#undef KIND
};

const struct ward_record_member ward_record_members[WARD_TAG_COUNT_] = {
#define FRAME(id, name, csv, what)
#define MEMBER(id, n, t, unit, show, csv, cef, ocsf, what)                                         \
	[WARD_TAG_##id] = {(n), ",\"" n "\":", sizeof(n) + 3, WARD_TYPE_##t},
#include "audit/record_members.def"
#undef FRAME
#undef MEMBER
};

/* Each row says who may write the kind, and of which type the member is. */
#define KIND(id, name, by, is, has, what)                                                          \
	static_assert((by) > 0 && (by) < 1U << 4 && (is) < 1U << 5, name);
#include "audit/record_kinds.def"
#undef KIND
#define FRAME(id, name, csv, what)
#define MEMBER(id, name, type, unit, show, csv, cef, ocsf, what)                                   \
	static_assert(WARD_TYPE_##type != WARD_TYPE_NONE && sizeof(name) > 1, name);
#include "audit/record_members.def"
#undef FRAME
#undef MEMBER

enum ward_event_kind ward_record_kind_find(const char *name, size_t len)
{
	for (int k = WARD_EVENT_NONE + 1; k < WARD_EVENT_COUNT_; k++)
		if (ward_record_kinds[k].name_len == len &&
			memcmp(ward_record_kinds[k].name, name, len) == 0)
			return (enum ward_event_kind)k;
	return WARD_EVENT_NONE;
}

bool ward_record_kind_is(enum ward_event_kind kind, unsigned what)
{
	return (unsigned)kind < WARD_EVENT_COUNT_ && (ward_record_kinds[kind].is & what) == what;
}

bool ward_record_named_is(const char *name, unsigned what)
{
	return name && ward_record_kind_is(ward_record_kind_find(name, strlen(name)), what);
}

bool ward_record_kind_reserved(uint32_t kind)
{
	return kind >= WARD_EVENT_COUNT_ ||
	       !(ward_record_kinds[kind].by & (WARD_BY_FILESYSTEM | WARD_BY_BROKER));
}
