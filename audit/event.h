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
	WARD_EVENT_PROBE,   /* one attempt inside the finished sandbox, with its control */
	WARD_EVENT_EXEC,    /* a program was started */
	WARD_EVENT_PROGRAM, /* what is in one, said once */
	WARD_EVENT_OPEN,
	WARD_EVENT_CREATE,
	WARD_EVENT_IO, /* one read or write ([audit] log = io); ACTION tells which */
	WARD_EVENT_CLOSE,
	WARD_EVENT_RENAME,
	WARD_EVENT_LINK,
	WARD_EVENT_REMOVE,
	WARD_EVENT_ATTR,
	WARD_EVENT_XATTR,
	WARD_EVENT_LOCK,
	WARD_EVENT_QUOTA, /* refused by [quota], or near its end */
	WARD_EVENT_DENY,  /* refused by policy; field ACTION tells what was tried */
	WARD_EVENT_ASK,	  /* a question was put to a person (nothing does yet) */
	WARD_EVENT_GRANT, /* and answered: yes, no, or not at all */
	WARD_EVENT_CONNECT,
	WARD_EVENT_DNS,
	WARD_EVENT_LIMIT,    /* a limit of [limits] was reached */
	WARD_EVENT_RELOAD,   /* another policy is in force from here on, or was refused */
	WARD_EVENT_EXTERNAL, /* changed by somebody outside of the session */
	WARD_EVENT_CLOCK,    /* the clock was set */
	WARD_EVENT_GAP,
	WARD_EVENT_SEGMENT,	/* the trail goes on in a new file; the writer's own */
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
	WARD_TAG_RULE,	    /* text: "FILE:LINE", "default" or "built-in" */
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

	/* Who, beyond PID, UID and COMM. A process is its PID and STARTED: numbers come again. */
	WARD_TAG_GID,	  /* u64 */
	WARD_TAG_PARENT,  /* u64: process id of the parent, as PID */
	WARD_TAG_STARTED, /* u64: nanoseconds from boot to the start of the process (proc(5)) */
	WARD_TAG_EXE,	  /* bytes: the program that it runs */
	WARD_TAG_ARGV,	  /* list: arguments, the first included */
	WARD_TAG_CWD,	  /* bytes */
	/* text: "observed": seen beside what happened, which the seeing could not refuse */
	WARD_TAG_HOW,

	/* Content of the file. */
	WARD_TAG_SHA256,	/* digest: as it is afterwards */
	WARD_TAG_SHA256_BEFORE, /* digest: as it was */
	WARD_TAG_SIZE_BEFORE,	/* count, bytes */
	WARD_TAG_OFFSET,	/* u64, bytes: where io or lock begins */
	WARD_TAG_LENGTH,	/* count, bytes: of a lock; WARD_EVENT_UNKNOWN: to the end */
	WARD_TAG_OWNER,		/* u64: the new user id, of attr */
	WARD_TAG_GROUP,		/* u64: the new group id */

	/* What reached a limit, was probed, asked, loaded. */
	WARD_TAG_NAME,		/* text: of the probe, the limit, the quota's key, the xattr */
	WARD_TAG_LAYER,		/* text: what refused the probe: seccomp, landlock, guard, … */
	WARD_TAG_RESULT,	/* text: "held", "failed", "skipped"; of grant and reload too */
	WARD_TAG_CONTROL,	/* u64: errno of the control, 0 it succeeded */
	WARD_TAG_ATTEMPT,	/* u64: errno of the attempt, 0 it succeeded */
	WARD_TAG_QUOTA,		/* bytes: the path of [quota PATH] */
	WARD_TAG_LIMIT,		/* u64: what is permitted, in UNIT */
	WARD_TAG_USED,		/* u64: what was used, in UNIT */
	WARD_TAG_UNIT,		/* text: bytes, files, processes, ns, bytes/s */
	WARD_TAG_DONE,		/* text: what was done about it: killed, throttled, refused, … */
	WARD_TAG_BY,		/* text: who decided or asked for it */
	WARD_TAG_POLICY_BEFORE, /* text: digest of the policy that was in force */
	WARD_TAG_REQUEST,	/* text: the question's id; of ask, and the grant that answers it */
	WARD_TAG_SCOPE,		/* text: how far a grant goes: "once", "session", … */
	WARD_TAG_UNTIL,		/* time: ns of CLOCK_REALTIME, when it ends */
	WARD_TAG_STEP,		/* signed: ns that CLOCK_REALTIME went ahead of CLOCK_MONOTONIC */

	/* The network. */
	WARD_TAG_HOST,	   /* bytes: name that was asked for */
	WARD_TAG_ADDR,	   /* text: numeric address */
	WARD_TAG_PORT,	   /* u64 */
	WARD_TAG_PROTO,	   /* text: tcp, udp, http, socks5; of dns the type asked: A, AAAA, … */
	WARD_TAG_SNI,	   /* bytes */
	WARD_TAG_ANSWERS,  /* list: addresses that were given */
	WARD_TAG_SENT,	   /* count: bytes from inside to outside */
	WARD_TAG_RECEIVED, /* count: bytes from outside to inside */
	WARD_TAG_DURATION, /* u64, ns */

	WARD_TAG_INO2,	  /* u64: the file that PATH2 led to before: replaced, or exchanged */
	WARD_TAG_PROCESS, /* u64: process id of the thread PID */
	WARD_TAG_LOCK,	  /* text: shared, exclusive, unlock */
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
void ward_event_i64(struct ward_event *ev, enum ward_event_tag tag, int64_t v);
/* 32 bytes of SHA-256. */
void ward_event_digest(struct ward_event *ev, enum ward_event_tag tag, const uint8_t digest[32]);
/*
 * A list (WARD_TYPE_LIST) of len bytes: items, each ended by a NUL, as /proc/PID/cmdline has them.
 * A last item without NUL gets one. What does not fit is left out, item by item, from the end, and
 * the event is marked as cut.
 */
void ward_event_list(struct ward_event *ev, enum ward_event_tag tag, const void *p, size_t len);

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
	WARD_TYPE_I64,	/* decimal, signed */
	WARD_TYPE_TIME, /* ns of CLOCK_REALTIME, written as RFC 3339 */
	WARD_TYPE_DIGEST, /* 32 bytes, written as hexadecimal digits */
	WARD_TYPE_LIST,	  /* items ended by NUL each, written as an array of escaped strings */
};

/* The JSON type of a tag; WARD_TYPE_NONE out of range. */
enum ward_event_type ward_event_tag_type(enum ward_event_tag tag);
/* The name as it begins the member in a record: `,"pid":`, and its length. */
const char *ward_event_tag_member(enum ward_event_tag tag, size_t *ret_len);

/* A field, borrowed from the event. */
struct ward_event_field {
	const uint8_t *p; /* NULL: the event has none of this tag */
	size_t len;
	uint64_t u64; /* types of 8 bytes: the value */
};

/*
 * Takes an event apart that came from anywhere: `size` bytes of it are there. Fills ret[tag].
 * -EBADMSG, with ret undefined, unless every byte is accounted for: kind, flags and tags known, no
 * tag twice, lengths inside, numbers of 8 bytes, digests of 32, lists ended by NUL, padding and
 * reserved words zero.
 */
int ward_event_decode(const struct ward_event *ev, size_t size,
	struct ward_event_field ret[WARD_TAG_COUNT_]) ward_must_check;

/* Bytes of the event that are in use: head and fields. Believes head.len. */
static inline size_t ward_event_size(const struct ward_event *ev)
{
	return sizeof(ev->head) + ev->head.len;
}
