/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event on its way from a producer (wardfs-fs, the supervisor) to the trail's writer.
 *
 * An event is a head and typed fields (tag, length, bytes). Kinds and tags are the rows of two
 * tables (audit/record_table.h). The builder lives on the caller's stack and never allocates; a
 * field that does not fit marks the event as cut, which the record says ("cut":true): nothing is
 * left out silently.
 *
 * Encoded form, host byte order (one machine, one build):
 *   struct ward_event_head, then fields { u16 tag; u16 zero; u32 length; bytes; padding to 8 }
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/record_table.h"
#include "enforcer/base/err.h"

#define WARD_EVENT_UNKNOWN UINT64_MAX
/* Two paths of PATH_MAX, names, and room; larger descriptions (policy text) go as several records.
 */
#define WARD_EVENT_MAX 16384U

struct ward_event_head {
	uint32_t kind;	  /* enum ward_event_kind */
	uint32_t len;	  /* bytes of fields that follow */
	uint64_t real_ns; /* CLOCK_REALTIME of the operation */
	uint64_t mono_ns; /* CLOCK_MONOTONIC of the operation */
	uint32_t flags;	  /* set of ward_event_flag */
	uint32_t zero;
};

enum ward_event_flag {
	WARD_EVENT_CUT = 1U << 0,
	/* The last two fields are those of ward_event_ends(). */
	WARD_EVENT_ENDS = 1U << 1,
};

struct ward_event {
	struct ward_event_head head;
	uint8_t fields[WARD_EVENT_MAX - sizeof(struct ward_event_head)];
};

/* Starts an event of this kind with the present times. The fields area is not cleared. */
void ward_event_begin(struct ward_event *ev, enum ward_event_kind kind);
void ward_event_u64(struct ward_event *ev, enum ward_event_tag tag, uint64_t v);
void ward_event_bytes(struct ward_event *ev, enum ward_event_tag tag, const void *p, size_t len);
/* NUL-terminated text; NULL adds nothing. */
void ward_event_text(struct ward_event *ev, enum ward_event_tag tag, const char *s);
void ward_event_i64(struct ward_event *ev, enum ward_event_tag tag, int64_t v);
/* 32 bytes of SHA-256. */
void ward_event_digest(struct ward_event *ev, enum ward_event_tag tag, const uint8_t digest[32]);
/*
 * A list (WARD_TYPE_LIST) of len bytes: items, each ended by a NUL, as /proc/PID/cmdline has them.
 * A last item without NUL gets one. What does not fit is left out, item by item, from the end, and
 * the event is marked as cut.
 */
void ward_event_list(struct ward_event *ev, enum ward_event_tag tag, const void *p, size_t len);

/*
 * Of a handle that may end before the record is read: room for WARD_TAG_READ and WARD_TAG_DURATION,
 * which ward_ring_end() fills. Nothing may follow. False, with the event as it was: no room.
 */
bool ward_event_ends(struct ward_event *ev);
/* Where these values are in an encoded event of `size` bytes. */
#define WARD_EVENT_READ_AT(size) ((size)-24)
#define WARD_EVENT_DURATION_AT(size) ((size)-8)

/* "open", "session.start", …; "?" out of range. */
const char *ward_event_kind_name(enum ward_event_kind kind);

/* --- reading --- */

/* The JSON type of a tag; WARD_TYPE_NONE out of range. */
enum ward_event_type ward_event_tag_type(enum ward_event_tag tag);

/* A field, borrowed from the event. */
struct ward_event_field {
	const uint8_t *p; /* NULL: the event has none of this tag */
	size_t len;
	uint64_t u64; /* types of 8 bytes: the value */
};

/* The fields of an event: of[tag].p is set where `members` has the tag, and there alone. */
struct ward_event_fields {
	struct ward_member_set members;
	struct ward_event_field of[WARD_TAG_COUNT_];
};

/*
 * Takes an event apart that came from anywhere: `size` bytes of it are there.
 * -EBADMSG, with ret undefined, unless every byte is accounted for: kind, flags and tags known, no
 * tag twice, lengths inside, numbers of 8 bytes, digests of 32, lists ended by NUL, padding and
 * reserved words zero.
 */
int ward_event_decode(
	const struct ward_event *ev, size_t size, struct ward_event_fields *ret) ward_must_check;

/* Bytes of the event that are in use: head and fields. Believes head.len. */
static inline size_t ward_event_size(const struct ward_event *ev)
{
	return sizeof(ev->head) + ev->head.len;
}
