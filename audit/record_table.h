/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kinds of records there are and which members they have: two tables, record_kinds.def and
 * record_members.def, one row for each. Everything that asks "which kinds", "is it a refusal", "of
 * which type" follows them; docs/audit-format.md and docs/audit-record.schema.json are written from
 * them. Producers link this: it takes the columns that the program needs, the words of other
 * formats stand with audit/export.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "kind" of the record. */
enum ward_event_kind {
	WARD_EVENT_NONE = 0, /* refused by the reader */
#define KIND(id, name, by, is, members, what) WARD_EVENT_##id,
#include "audit/record_kinds.def"
#undef KIND
	WARD_EVENT_COUNT_,
};

/* A member that an event brings. */
enum ward_event_tag {
	WARD_TAG_NONE = 0,
#define FRAME(id, name, csv, what)
#define MEMBER(id, name, type, unit, show, csv, cef, ocsf, what) WARD_TAG_##id,
#include "audit/record_members.def"
#undef FRAME
#undef MEMBER
	WARD_TAG_COUNT_,
};

/* A set of members: of tag t the bit t % 64 of word t / 64. */
#define WARD_MEMBER_WORDS 2
struct ward_member_set {
	uint64_t word[WARD_MEMBER_WORDS];
};

/* Who may write a kind. */
enum ward_kind_by {
	WARD_BY_SUPERVISOR = 1U << 0,
	WARD_BY_FILESYSTEM = 1U << 1,
	WARD_BY_BROKER = 1U << 2,
	WARD_BY_WRITER = 1U << 3,
};

/* Properties of a kind, for code that counts and compares records. */
enum ward_kind_is {
	WARD_KIND_REFUSAL = 1U << 0, /* something was refused */
	WARD_KIND_CHANGE = 1U << 1,  /* of a name, of content or of attributes */
	/* Recorded before it is done, and again with errno if it fails. */
	WARD_KIND_TALLIED = 1U << 2,
	WARD_KIND_MOVES = 1U << 3,    /* PATH2 is where the file is found afterwards */
	WARD_KIND_QUESTION = 1U << 4, /* put to a person, or its answer */
};

/* How a field's bytes are written into the record (audit/format.h). */
enum ward_event_type {
	WARD_TYPE_NONE = 0,
	WARD_TYPE_U64,	   /* decimal */
	WARD_TYPE_COUNT,   /* decimal, null for WARD_EVENT_UNKNOWN */
	WARD_TYPE_OCTAL,   /* string of octal digits */
	WARD_TYPE_BYTES,   /* escaped string (enforcer/base/escape.h) */
	WARD_TYPE_RIGHTS,  /* array of names */
	WARD_TYPE_VERDICT, /* name */
	WARD_TYPE_SOURCE,  /* name */
	WARD_TYPE_ERRNO,   /* name */
	WARD_TYPE_JSON, /* an object as it is: one line of ASCII (jansson: COMPACT, ENSURE_ASCII) */
	WARD_TYPE_I64,	/* decimal, signed */
	WARD_TYPE_TIME, /* ns of CLOCK_REALTIME, written as RFC 3339 */
	WARD_TYPE_DIGEST, /* 32 bytes, written as hexadecimal digits */
	WARD_TYPE_LIST,	  /* items ended by NUL each, written as an array of escaped strings */
};

struct ward_record_kind {
	const char *name;
	uint8_t name_len;
	uint8_t by;		    /* set of enum ward_kind_by */
	uint8_t is;		    /* set of enum ward_kind_is */
	struct ward_member_set has; /* its members, and who it was */
};
/* By enum ward_event_kind; the first row is empty. */
extern const struct ward_record_kind ward_record_kinds[WARD_EVENT_COUNT_];

struct ward_record_member {
	const char *name;
	const char *begin; /* as it begins the member in a record: `,"pid":` */
	/*
	 * No uint8_t: where gcc knows that a length is below 256, it copies with "rep movsq" in
	 * place of memcpy(3). That takes longer to start than these few bytes take to copy.
	 */
	size_t begin_len;
	uint8_t type; /* enum ward_event_type */
};
/* By enum ward_event_tag; the first row is empty. */
extern const struct ward_record_member ward_record_members[WARD_TAG_COUNT_];

/* The kind of this name (a record's "kind", of len bytes); WARD_EVENT_NONE: there is none. */
enum ward_event_kind ward_record_kind_find(const char *name, size_t len);
/* Is it all of these (enum ward_kind_is)? Of no kind: no. */
bool ward_record_kind_is(enum ward_event_kind kind, unsigned what);
/* The same of a name; NULL is none. */
bool ward_record_named_is(const char *name, unsigned what);
/*
 * Does it speak for the whole session? Such a kind is neither a filesystem's nor the broker's to
 * write. True out of range.
 */
bool ward_record_kind_reserved(uint32_t kind);
/*
 * The first member of a record that its kind does not have; WARD_TAG_NONE: there is none. A number
 * that is no kind has no members at all.
 */
enum ward_event_tag ward_record_kind_foreign(uint32_t kind, const struct ward_member_set *members);

static inline void ward_member_set_add(struct ward_member_set *s, enum ward_event_tag tag)
{
	s->word[(unsigned)tag / 64] |= UINT64_C(1) << (unsigned)tag % 64;
}

static inline void ward_member_set_remove(struct ward_member_set *s, enum ward_event_tag tag)
{
	s->word[tag / 64] &= ~(UINT64_C(1) << tag % 64);
}

static inline bool ward_member_set_has(const struct ward_member_set *s, enum ward_event_tag tag)
{
	return s->word[(unsigned)tag / 64] >> (unsigned)tag % 64 & 1;
}
