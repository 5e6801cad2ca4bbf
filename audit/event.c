/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/event.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "enforcer/base/clock.h"

struct field_head {
	uint16_t tag;
	uint16_t zero;
	uint32_t len;
};

static_assert(sizeof(struct ward_event_head) == 32, "the encoded form");
static_assert(sizeof(struct field_head) == 8, "the encoded form");
static_assert(sizeof(struct ward_event) == WARD_EVENT_MAX, "no padding at the end");

/* The one place that names a field. */
static const struct {
	const char *name;
	enum ward_event_type type;
} tags[WARD_TAG_COUNT_] = {
	[WARD_TAG_PID] = {"pid", WARD_TYPE_U64},
	[WARD_TAG_UID] = {"uid", WARD_TYPE_U64},
	[WARD_TAG_COMM] = {"comm", WARD_TYPE_BYTES},
	[WARD_TAG_ACTION] = {"action", WARD_TYPE_BYTES},
	[WARD_TAG_PATH] = {"path", WARD_TYPE_BYTES},
	[WARD_TAG_PATH2] = {"path2", WARD_TYPE_BYTES},
	[WARD_TAG_DEV] = {"dev", WARD_TYPE_U64},
	[WARD_TAG_INO] = {"ino", WARD_TYPE_U64},
	[WARD_TAG_ASKED] = {"asked", WARD_TYPE_RIGHTS},
	[WARD_TAG_GIVEN] = {"given", WARD_TYPE_RIGHTS},
	[WARD_TAG_VERDICT] = {"verdict", WARD_TYPE_VERDICT},
	[WARD_TAG_RULE] = {"rule", WARD_TYPE_BYTES},
	[WARD_TAG_RULE_TEXT] = {"rule_text", WARD_TYPE_BYTES},
	[WARD_TAG_SOURCE] = {"source", WARD_TYPE_SOURCE},
	[WARD_TAG_ERRNO] = {"errno", WARD_TYPE_ERRNO},
	[WARD_TAG_IO] = {"io", WARD_TYPE_BYTES},
	[WARD_TAG_READ] = {"read", WARD_TYPE_COUNT},
	[WARD_TAG_WRITTEN] = {"written", WARD_TYPE_COUNT},
	[WARD_TAG_SIZE] = {"size", WARD_TYPE_COUNT},
	[WARD_TAG_TEXT] = {"text", WARD_TYPE_BYTES},
	[WARD_TAG_POLICY] = {"policy", WARD_TYPE_BYTES},
	[WARD_TAG_JSON] = {"detail", WARD_TYPE_JSON},
	[WARD_TAG_STATUS] = {"status", WARD_TYPE_U64},
	[WARD_TAG_SIGNAL] = {"signal", WARD_TYPE_U64},
	[WARD_TAG_MODE] = {"mode", WARD_TYPE_OCTAL},
	[WARD_TAG_NAMES] = {"names", WARD_TYPE_U64},
};

static const char *const kinds[WARD_EVENT_COUNT_] = {
	[WARD_EVENT_SESSION_START] = "session.start",
	[WARD_EVENT_POLICY] = "policy",
	[WARD_EVENT_PROBE] = "probe",
	[WARD_EVENT_OPEN] = "open",
	[WARD_EVENT_CREATE] = "create",
	[WARD_EVENT_CLOSE] = "close",
	[WARD_EVENT_RENAME] = "rename",
	[WARD_EVENT_LINK] = "link",
	[WARD_EVENT_REMOVE] = "remove",
	[WARD_EVENT_ATTR] = "attr",
	[WARD_EVENT_XATTR] = "xattr",
	[WARD_EVENT_LOCK] = "lock",
	[WARD_EVENT_DENY] = "deny",
	[WARD_EVENT_LIMIT] = "limit",
	[WARD_EVENT_GAP] = "gap",
	[WARD_EVENT_SESSION_END] = "session.end",
};

static size_t padded(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

void ward_event_begin(struct ward_event *ev, enum ward_event_kind kind)
{
	ev->head = (struct ward_event_head){
		.kind = kind,
		.real_ns = ward_clock_real_ns(),
		.mono_ns = ward_clock_mono_ns(),
	};
}

void ward_event_bytes(struct ward_event *ev, enum ward_event_tag tag, const void *p, size_t len)
{
	size_t left = sizeof(ev->fields) - ev->head.len;
	if (len > left || sizeof(struct field_head) + padded(len) > left) {
		ev->head.flags |= WARD_EVENT_CUT;
		return;
	}
	uint8_t *to = ev->fields + ev->head.len;
	struct field_head fh = {.tag = (uint16_t)tag, .len = (uint32_t)len};
	memcpy(to, &fh, sizeof(fh));
	to += sizeof(fh);
	if (len)
		memcpy(to, p, len);
	memset(to + len, 0, padded(len) - len);
	ev->head.len += (uint32_t)(sizeof(fh) + padded(len));
}

void ward_event_u64(struct ward_event *ev, enum ward_event_tag tag, uint64_t v)
{
	ward_event_bytes(ev, tag, &v, sizeof(v));
}

void ward_event_text(struct ward_event *ev, enum ward_event_tag tag, const char *s)
{
	if (s)
		ward_event_bytes(ev, tag, s, strlen(s));
}

const char *ward_event_kind_name(enum ward_event_kind kind)
{
	if ((unsigned)kind >= WARD_EVENT_COUNT_ || !kinds[kind])
		return "?";
	return kinds[kind];
}

const char *ward_event_tag_name(enum ward_event_tag tag)
{
	return (unsigned)tag < WARD_TAG_COUNT_ ? tags[tag].name : NULL;
}

enum ward_event_type ward_event_tag_type(enum ward_event_tag tag)
{
	return (unsigned)tag < WARD_TAG_COUNT_ ? tags[tag].type : WARD_TYPE_NONE;
}

static bool is_number(enum ward_event_type type)
{
	switch (type) {
	case WARD_TYPE_U64:
	case WARD_TYPE_COUNT:
	case WARD_TYPE_OCTAL:
	case WARD_TYPE_RIGHTS:
	case WARD_TYPE_VERDICT:
	case WARD_TYPE_SOURCE:
	case WARD_TYPE_ERRNO:
		return true;
	case WARD_TYPE_NONE:
	case WARD_TYPE_BYTES:
	case WARD_TYPE_JSON:
		return false;
	}
	return false;
}

int ward_event_decode(
	const struct ward_event *ev, size_t size, struct ward_event_field ret[WARD_TAG_COUNT_])
{
	if (size < sizeof(ev->head) || size > sizeof(*ev))
		return -EBADMSG;
	const struct ward_event_head *h = &ev->head;
	if (h->len != size - sizeof(*h) || h->zero != 0 || h->flags & ~(uint32_t)WARD_EVENT_CUT ||
		h->kind == WARD_EVENT_NONE || h->kind >= WARD_EVENT_COUNT_)
		return -EBADMSG;
	memset(ret, 0, sizeof(*ret) * WARD_TAG_COUNT_);
	size_t off = 0;
	while (off < h->len) {
		struct field_head fh;
		if (h->len - off < sizeof(fh))
			return -EBADMSG;
		memcpy(&fh, ev->fields + off, sizeof(fh));
		off += sizeof(fh);
		if (fh.zero != 0 || fh.tag == WARD_TAG_NONE || fh.tag >= WARD_TAG_COUNT_ ||
			ret[fh.tag].p || fh.len > h->len - off || padded(fh.len) > h->len - off)
			return -EBADMSG;
		struct ward_event_field *f = &ret[fh.tag];
		*f = (struct ward_event_field){.p = ev->fields + off, .len = fh.len};
		if (is_number(tags[fh.tag].type)) {
			if (fh.len != sizeof(uint64_t))
				return -EBADMSG;
			memcpy(&f->u64, f->p, sizeof(f->u64));
		}
		for (size_t i = fh.len; i < padded(fh.len); i++)
			if (f->p[i] != 0)
				return -EBADMSG;
		off += padded(fh.len);
	}
	return 0;
}
