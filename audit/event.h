/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event on its way from a producer (wardfs-fs, the supervisor) to the trail's writer.
 *
 * An event is a head and typed fields (tag, length, bytes). The tags form one table (event.c) that
 * names the JSON member and type of each, so a new field is a line in one place. The builder lives
 * on the caller's stack and never allocates; a field that does not fit marks the event as cut,
 * which the record says ("cut":true): nothing is left out silently.
 *
 * Encoded form, host byte order (one machine, one build):
 *   struct ward_event_head, then fields { u16 tag; u16 zero; u32 length; bytes; padding to 8 }
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/* "kind" of the record. Names in the log are these in lower case with '.' for '_' (event.c). */
enum ward_event_kind {
	WARD_EVENT_NONE = 0, /* refused by the reader */
	WARD_EVENT_SESSION_START,
	WARD_EVENT_POLICY,
	WARD_EVENT_PROBE,
	WARD_EVENT_OPEN,
	WARD_EVENT_CREATE,
	WARD_EVENT_CLOSE,
	WARD_EVENT_RENAME,
	WARD_EVENT_LINK,
	WARD_EVENT_REMOVE,
	WARD_EVENT_ATTR,
	WARD_EVENT_XATTR,
	WARD_EVENT_LOCK,
	WARD_EVENT_DENY, /* refused by policy; field ACTION tells what was tried */
	WARD_EVENT_LIMIT,
	WARD_EVENT_GAP,
	WARD_EVENT_SESSION_END, /* the last event of ring 0 */
	WARD_EVENT_COUNT_,
};

enum ward_event_tag {
	WARD_TAG_NONE = 0,
	WARD_TAG_PID,	 /* u64: thread id of the caller in the host's pid namespace, 0 unknown */
	WARD_TAG_UID,	 /* u64 */
	WARD_TAG_COMM,	 /* bytes */
	WARD_TAG_ACTION, /* text: open, create, unlink, rename, … as the system call's noun */
	WARD_TAG_PATH,	 /* bytes: sandbox path */
	WARD_TAG_PATH2,	 /* bytes: destination of rename, link; target of symlink; else another name
			  */
	WARD_TAG_DEV,	 /* u64 */
	WARD_TAG_INO,	 /* u64 */
	WARD_TAG_ASKED,	 /* u64: set of ward_right, written as names */
	WARD_TAG_GIVEN,	 /* u64: the same */
	WARD_TAG_VERDICT,   /* u64: enum ward_verdict, written as its name */
	WARD_TAG_RULE,	    /* text: "FILE:LINE" or "default" */
	WARD_TAG_RULE_TEXT, /* text: "deny = .env"; of a guard: "[guard] deny = .env" */
	WARD_TAG_SOURCE,    /* u64: enum ward_source_kind, written as its name */
	WARD_TAG_ERRNO,	    /* u64: positive errno, written as its name, "EACCES" */
	WARD_TAG_IO,	    /* text: passthrough, cached, direct, none */
	WARD_TAG_READ,	    /* u64 bytes; WARD_EVENT_UNKNOWN is written as null */
	WARD_TAG_WRITTEN,   /* the same */
	WARD_TAG_SIZE,	    /* u64 */
	WARD_TAG_TEXT,	    /* text for people: cause of an end, of a gap */
	WARD_TAG_POLICY,    /* text: digest */
	/*
	 * text: one JSON object whose members describe the kind (session.start …), as json_dumps()
	 * with JSON_COMPACT | JSON_ENSURE_ASCII gives it. The supervisor's alone.
	 */
	WARD_TAG_JSON,
	WARD_TAG_STATUS, /* u64: exit status of the command */
	WARD_TAG_SIGNAL, /* u64 */
	WARD_TAG_MODE,	 /* u64: permission bits, written in octal */
	WARD_TAG_NAMES,	 /* u64: names of the file that are known, where there are several */
	WARD_TAG_COUNT_,
};

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

enum ward_event_flag { WARD_EVENT_CUT = 1U << 0 };

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

/* "open", "session.start", …; "?" out of range. */
const char *ward_event_kind_name(enum ward_event_kind kind);

/* --- reading --- */

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
};

/* JSON member and type of a tag; NULL and WARD_TYPE_NONE out of range. */
const char *ward_event_tag_name(enum ward_event_tag tag);
enum ward_event_type ward_event_tag_type(enum ward_event_tag tag);

/* A field, borrowed from the event. */
struct ward_event_field {
	const uint8_t *p; /* NULL: the event has none of this tag */
	size_t len;
	uint64_t u64; /* types of 8 bytes: the value */
};

/*
 * Takes an event apart that came from anywhere: `size` bytes of it are there. Fills ret[tag].
 * -EBADMSG, with ret undefined, unless every byte is accounted for: kind, flags and tags known, no
 * tag twice, lengths inside, numbers of 8 bytes, padding and reserved words zero.
 */
int ward_event_decode(const struct ward_event *ev, size_t size,
	struct ward_event_field ret[WARD_TAG_COUNT_]) ward_must_check;

/* Bytes of the event that are in use: head and fields. Believes head.len. */
static inline size_t ward_event_size(const struct ward_event *ev)
{
	return sizeof(ev->head) + ev->head.len;
}
