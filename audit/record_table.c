/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of kinds and members, as a program has them. */
#include "audit/record_table.h"

#include <assert.h>
#include <string.h>

static_assert(WARD_TAG_COUNT_ <= 64 * WARD_MEMBER_WORDS, "a bit for each member");

/* Bit `tag` in word n of a set; 0 where it stands in another. */
#define BIT(tag, n) ((tag) / 64 == (n) ? UINT64_C(1) << (tag) % 64 : 0)
/* The acting process: each kind can have it. */
#define HAS_WHO HAS(PID) HAS(UID) HAS(COMM) HAS(PROCESS) HAS(PARENT) HAS(VIA)

const struct ward_record_kind ward_record_kinds[WARD_EVENT_COUNT_] = {
#define KIND(id, n, who, what_is, members, what)                                                   \
	[WARD_EVENT_##id].name = (n), [WARD_EVENT_##id].name_len = sizeof(n) - 1,                  \
	[WARD_EVENT_##id].by = (who), [WARD_EVENT_##id].is = (what_is),
#include "audit/record_kinds.def"
#undef KIND
#define KIND(id, n, who, what_is, members, what) [WARD_EVENT_##id].has.word[0] = 0 HAS_WHO members,
#define HAS(id) | BIT(WARD_TAG_##id, 0)
#include "audit/record_kinds.def"
#undef KIND
#undef HAS
#define KIND(id, n, who, what_is, members, what) [WARD_EVENT_##id].has.word[1] = 0 HAS_WHO members,
#define HAS(id) | BIT(WARD_TAG_##id, 1)
#include "audit/record_kinds.def"
#undef KIND
#undef HAS
};

const struct ward_record_member ward_record_members[WARD_TAG_COUNT_] = {
#define FRAME(id, name, csv, what)
#define MEMBER(id, n, t, unit, show, csv, cef, ocsf, what)                                         \
	[WARD_TAG_##id] = {(n), ",\"" n "\":", sizeof(n) + 3, WARD_TYPE_##t},
#include "audit/record_members.def"
#undef FRAME
#undef MEMBER
};

/* Does the kind have a free description? */
#define KIND(id, n, who, what_is, members, what) DESCRIBED_##id = 0 HAS_WHO members,
#define HAS(id) || WARD_TAG_##id == WARD_TAG_JSON
enum {
#include "audit/record_kinds.def"
};
#undef KIND
#undef HAS
/*
 * Each row says who may write the kind, and which type the member has. A free description is the
 * supervisor's or the writer's.
 */
#define KIND(id, name, by, is, members, what)                                                      \
	static_assert((by) > 0 && (by) < 1U << 4 && (is) < 1U << 5, name);                         \
	static_assert(!((by) & (WARD_BY_FILESYSTEM | WARD_BY_BROKER)) || !DESCRIBED_##id, name);
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

enum ward_event_tag ward_record_kind_foreign(uint32_t kind, const struct ward_member_set *members)
{
	static const struct ward_member_set none;
	const struct ward_member_set *has =
		kind < WARD_EVENT_COUNT_ ? &ward_record_kinds[kind].has : &none;
	for (unsigned i = 0; i < WARD_MEMBER_WORDS; i++) {
		uint64_t foreign = members->word[i] & ~has->word[i];
		if (foreign)
			return (enum ward_event_tag)(i * 64 + (unsigned)__builtin_ctzll(foreign));
	}
	return WARD_TAG_NONE;
}
