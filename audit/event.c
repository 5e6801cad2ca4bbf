/* SPDX-License-Identifier: Apache-2.0 */
/* Builds, checks and reads events; the table of their tags names the JSON member of each. */
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

#define DIGEST_BYTES 32U
#define FLAGS_KNOWN ((uint32_t)WARD_EVENT_CUT | (uint32_t)WARD_EVENT_ENDS)

static_assert(WARD_EVENT_DURATION_AT(0) - WARD_EVENT_READ_AT(0) ==
		      sizeof(struct field_head) + sizeof(uint64_t),
	"the last two fields");

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

void ward_event_i64(struct ward_event *ev, enum ward_event_tag tag, int64_t v)
{
	ward_event_bytes(ev, tag, &v, sizeof(v));
}

void ward_event_digest(struct ward_event *ev, enum ward_event_tag tag, const uint8_t digest[32])
{
	ward_event_bytes(ev, tag, digest, DIGEST_BYTES);
}

void ward_event_list(struct ward_event *ev, enum ward_event_tag tag, const void *p, size_t len)
{
	size_t left = sizeof(ev->fields) - ev->head.len;
	size_t room = left > sizeof(struct field_head) ? left - sizeof(struct field_head) : 0;
	const char *items = p;
	bool open = len > 0 && items[len - 1] != '\0';
	room &= ~(size_t)7; /* the padding counts */
	if (len > room || len + open > room) {
		const char *end = room ? memrchr(items, '\0', len < room ? len : room) : NULL;
		len = end ? (size_t)(end - items) + 1 : 0;
		open = false;
		ev->head.flags |= WARD_EVENT_CUT;
	}
	ward_event_bytes(ev, tag, items, len);
	if (!open)
		return;
	/* Eight bytes more only where the padding, which is zero, has none to spare. */
	struct field_head fh = {.tag = (uint16_t)tag, .len = (uint32_t)(len + 1)};
	uint8_t *at = ev->fields + ev->head.len - padded(len) - sizeof(fh);
	memcpy(at, &fh, sizeof(fh));
	if (padded(len) == len) {
		memset(ev->fields + ev->head.len, 0, 8);
		ev->head.len += 8;
	}
}

bool ward_event_ends(struct ward_event *ev)
{
	const size_t need = 2 * (sizeof(struct field_head) + sizeof(uint64_t));
	if (sizeof(ev->fields) - ev->head.len < need)
		return false;
	ward_event_u64(ev, WARD_TAG_READ, 0);
	ward_event_u64(ev, WARD_TAG_DURATION, 0);
	ev->head.flags |= WARD_EVENT_ENDS;
	return true;
}

const char *ward_event_kind_name(enum ward_event_kind kind)
{
	if (kind == WARD_EVENT_NONE || (unsigned)kind >= WARD_EVENT_COUNT_)
		return "?";
	return ward_record_kinds[kind].name;
}

enum ward_event_type ward_event_tag_type(enum ward_event_tag tag)
{
	return (unsigned)tag < WARD_TAG_COUNT_ ? (enum ward_event_type)ward_record_members[tag].type
					       : WARD_TYPE_NONE;
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
	case WARD_TYPE_I64:
	case WARD_TYPE_TIME:
		return true;
	case WARD_TYPE_NONE:
	case WARD_TYPE_BYTES:
	case WARD_TYPE_JSON:
	case WARD_TYPE_DIGEST:
	case WARD_TYPE_LIST:
		return false;
	}
	return false;
}

/* The two fields of ward_event_ends(), where ward_ring_end() writes. */
static bool ends_last(const struct ward_event *ev, const struct ward_event_fields *f)
{
	const uint8_t *end = ev->fields + ev->head.len;
	const uint8_t *read = f->of[WARD_TAG_READ].p;
	const uint8_t *duration = f->of[WARD_TAG_DURATION].p;
	return read && duration && read == WARD_EVENT_READ_AT(end) &&
	       duration == WARD_EVENT_DURATION_AT(end);
}

int ward_event_decode(const struct ward_event *ev, size_t size, struct ward_event_fields *ret)
{
	if (size < sizeof(ev->head) || size > sizeof(*ev))
		return -EBADMSG;
	const struct ward_event_head *h = &ev->head;
	if (h->len != size - sizeof(*h) || h->zero != 0 || h->flags & ~FLAGS_KNOWN ||
		h->kind == WARD_EVENT_NONE || h->kind >= WARD_EVENT_COUNT_)
		return -EBADMSG;
	memset(ret, 0, sizeof(*ret));
	size_t off = 0;
	while (off < h->len) {
		struct field_head fh;
		if (h->len - off < sizeof(fh))
			return -EBADMSG;
		memcpy(&fh, ev->fields + off, sizeof(fh));
		off += sizeof(fh);
		if (fh.zero != 0 || fh.tag == WARD_TAG_NONE || fh.tag >= WARD_TAG_COUNT_ ||
			ret->of[fh.tag].p || fh.len > h->len - off || padded(fh.len) > h->len - off)
			return -EBADMSG;
		struct ward_event_field *f = &ret->of[fh.tag];
		ward_member_set_add(&ret->members, (enum ward_event_tag)fh.tag);
		*f = (struct ward_event_field){.p = ev->fields + off, .len = fh.len};
		const enum ward_event_type type =
			(enum ward_event_type)ward_record_members[fh.tag].type;
		if (is_number(type)) {
			if (fh.len != sizeof(uint64_t))
				return -EBADMSG;
			memcpy(&f->u64, f->p, sizeof(f->u64));
		}
		if (type == WARD_TYPE_DIGEST && fh.len != DIGEST_BYTES)
			return -EBADMSG;
		if (type == WARD_TYPE_LIST && fh.len > 0 && f->p[fh.len - 1] != 0)
			return -EBADMSG;
		for (size_t i = fh.len; i < padded(fh.len); i++)
			if (f->p[i] != 0)
				return -EBADMSG;
		off += padded(fh.len);
	}
	return h->flags & WARD_EVENT_ENDS && !ends_last(ev, ret) ? -EBADMSG : 0;
}
