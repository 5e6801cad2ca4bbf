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
#define NAMED(n, t)                                                                                \
	{                                                                                          \
		.name = (n), .member = ",\"" n "\":", .member_len = sizeof(n) + 3, .type = (t)     \
	}
static const struct {
	const char *name;
	const char *member; /* as it stands in a record */
	size_t member_len;
	enum ward_event_type type;
} tags[WARD_TAG_COUNT_] = {
	[WARD_TAG_PID] = NAMED("pid", WARD_TYPE_U64),
	[WARD_TAG_UID] = NAMED("uid", WARD_TYPE_U64),
	[WARD_TAG_COMM] = NAMED("comm", WARD_TYPE_BYTES),
	[WARD_TAG_ACTION] = NAMED("action", WARD_TYPE_BYTES),
	[WARD_TAG_PATH] = NAMED("path", WARD_TYPE_BYTES),
	[WARD_TAG_PATH2] = NAMED("path2", WARD_TYPE_BYTES),
	[WARD_TAG_DEV] = NAMED("dev", WARD_TYPE_U64),
	[WARD_TAG_INO] = NAMED("ino", WARD_TYPE_U64),
	[WARD_TAG_ASKED] = NAMED("asked", WARD_TYPE_RIGHTS),
	[WARD_TAG_GIVEN] = NAMED("given", WARD_TYPE_RIGHTS),
	[WARD_TAG_VERDICT] = NAMED("verdict", WARD_TYPE_VERDICT),
	[WARD_TAG_RULE] = NAMED("rule", WARD_TYPE_BYTES),
	[WARD_TAG_RULE_TEXT] = NAMED("rule_text", WARD_TYPE_BYTES),
	[WARD_TAG_SOURCE] = NAMED("source", WARD_TYPE_SOURCE),
	[WARD_TAG_ERRNO] = NAMED("errno", WARD_TYPE_ERRNO),
	[WARD_TAG_IO] = NAMED("io", WARD_TYPE_BYTES),
	[WARD_TAG_READ] = NAMED("read", WARD_TYPE_COUNT),
	[WARD_TAG_WRITTEN] = NAMED("written", WARD_TYPE_COUNT),
	[WARD_TAG_SIZE] = NAMED("size", WARD_TYPE_COUNT),
	[WARD_TAG_TEXT] = NAMED("text", WARD_TYPE_BYTES),
	[WARD_TAG_POLICY] = NAMED("policy", WARD_TYPE_BYTES),
	[WARD_TAG_JSON] = NAMED("detail", WARD_TYPE_JSON),
	[WARD_TAG_STATUS] = NAMED("status", WARD_TYPE_U64),
	[WARD_TAG_SIGNAL] = NAMED("signal", WARD_TYPE_U64),
	[WARD_TAG_MODE] = NAMED("mode", WARD_TYPE_OCTAL),
	[WARD_TAG_NAMES] = NAMED("names", WARD_TYPE_U64),
	[WARD_TAG_GID] = NAMED("gid", WARD_TYPE_U64),
	[WARD_TAG_PARENT] = NAMED("parent", WARD_TYPE_U64),
	[WARD_TAG_STARTED] = NAMED("started", WARD_TYPE_U64),
	[WARD_TAG_EXE] = NAMED("exe", WARD_TYPE_BYTES),
	[WARD_TAG_ARGV] = NAMED("argv", WARD_TYPE_LIST),
	[WARD_TAG_CWD] = NAMED("cwd", WARD_TYPE_BYTES),
	[WARD_TAG_HOW] = NAMED("how", WARD_TYPE_BYTES),
	[WARD_TAG_SHA256] = NAMED("sha256", WARD_TYPE_DIGEST),
	[WARD_TAG_SHA256_BEFORE] = NAMED("sha256_before", WARD_TYPE_DIGEST),
	[WARD_TAG_SIZE_BEFORE] = NAMED("size_before", WARD_TYPE_COUNT),
	[WARD_TAG_OFFSET] = NAMED("offset", WARD_TYPE_U64),
	[WARD_TAG_LENGTH] = NAMED("length", WARD_TYPE_COUNT),
	[WARD_TAG_OWNER] = NAMED("owner", WARD_TYPE_U64),
	[WARD_TAG_GROUP] = NAMED("group", WARD_TYPE_U64),
	[WARD_TAG_NAME] = NAMED("name", WARD_TYPE_BYTES),
	[WARD_TAG_LAYER] = NAMED("layer", WARD_TYPE_BYTES),
	[WARD_TAG_RESULT] = NAMED("result", WARD_TYPE_BYTES),
	[WARD_TAG_CONTROL] = NAMED("control", WARD_TYPE_ERRNO),
	[WARD_TAG_ATTEMPT] = NAMED("attempt", WARD_TYPE_ERRNO),
	[WARD_TAG_QUOTA] = NAMED("quota", WARD_TYPE_BYTES),
	[WARD_TAG_LIMIT] = NAMED("limit", WARD_TYPE_U64),
	[WARD_TAG_USED] = NAMED("used", WARD_TYPE_U64),
	[WARD_TAG_UNIT] = NAMED("unit", WARD_TYPE_BYTES),
	[WARD_TAG_DONE] = NAMED("done", WARD_TYPE_BYTES),
	[WARD_TAG_BY] = NAMED("by", WARD_TYPE_BYTES),
	[WARD_TAG_POLICY_BEFORE] = NAMED("policy_before", WARD_TYPE_BYTES),
	[WARD_TAG_REQUEST] = NAMED("request", WARD_TYPE_BYTES),
	[WARD_TAG_SCOPE] = NAMED("scope", WARD_TYPE_BYTES),
	[WARD_TAG_UNTIL] = NAMED("until", WARD_TYPE_TIME),
	[WARD_TAG_STEP] = NAMED("step", WARD_TYPE_I64),
	[WARD_TAG_HOST] = NAMED("host", WARD_TYPE_BYTES),
	[WARD_TAG_ADDR] = NAMED("addr", WARD_TYPE_BYTES),
	[WARD_TAG_PORT] = NAMED("port", WARD_TYPE_U64),
	[WARD_TAG_PROTO] = NAMED("proto", WARD_TYPE_BYTES),
	[WARD_TAG_SNI] = NAMED("sni", WARD_TYPE_BYTES),
	[WARD_TAG_ANSWERS] = NAMED("answers", WARD_TYPE_LIST),
	[WARD_TAG_SENT] = NAMED("sent", WARD_TYPE_COUNT),
	[WARD_TAG_RECEIVED] = NAMED("received", WARD_TYPE_COUNT),
	[WARD_TAG_DURATION] = NAMED("duration", WARD_TYPE_U64),
	[WARD_TAG_INO2] = NAMED("ino2", WARD_TYPE_U64),
	[WARD_TAG_PROCESS] = NAMED("process", WARD_TYPE_U64),
	[WARD_TAG_LOCK] = NAMED("lock", WARD_TYPE_BYTES),
};

static const char *const kinds[WARD_EVENT_COUNT_] = {
	[WARD_EVENT_SESSION_START] = "session.start",
	[WARD_EVENT_POLICY] = "policy",
	[WARD_EVENT_PROBE] = "probe",
	[WARD_EVENT_EXEC] = "exec",
	[WARD_EVENT_PROGRAM] = "program",
	[WARD_EVENT_OPEN] = "open",
	[WARD_EVENT_CREATE] = "create",
	[WARD_EVENT_IO] = "io",
	[WARD_EVENT_CLOSE] = "close",
	[WARD_EVENT_RENAME] = "rename",
	[WARD_EVENT_LINK] = "link",
	[WARD_EVENT_REMOVE] = "remove",
	[WARD_EVENT_ATTR] = "attr",
	[WARD_EVENT_XATTR] = "xattr",
	[WARD_EVENT_LOCK] = "lock",
	[WARD_EVENT_QUOTA] = "quota",
	[WARD_EVENT_DENY] = "deny",
	[WARD_EVENT_ASK] = "ask",
	[WARD_EVENT_GRANT] = "grant",
	[WARD_EVENT_CONNECT] = "connect",
	[WARD_EVENT_DNS] = "dns",
	[WARD_EVENT_LIMIT] = "limit",
	[WARD_EVENT_RELOAD] = "reload",
	[WARD_EVENT_EXTERNAL] = "external",
	[WARD_EVENT_CLOCK] = "clock",
	[WARD_EVENT_GAP] = "gap",
	[WARD_EVENT_SEGMENT] = "segment",
	[WARD_EVENT_SESSION_END] = "session.end",
};

#define DIGEST_BYTES 32U

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

const char *ward_event_kind_name(enum ward_event_kind kind)
{
	if ((unsigned)kind >= WARD_EVENT_COUNT_ || !kinds[kind])
		return "?";
	return kinds[kind];
}

const char *ward_event_tag_member(enum ward_event_tag tag, size_t *ret_len)
{
	*ret_len = (unsigned)tag < WARD_TAG_COUNT_ ? tags[tag].member_len : 0;
	return *ret_len ? tags[tag].member : NULL;
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
		if (tags[fh.tag].type == WARD_TYPE_DIGEST && fh.len != DIGEST_BYTES)
			return -EBADMSG;
		if (tags[fh.tag].type == WARD_TYPE_LIST && fh.len > 0 && f->p[fh.len - 1] != 0)
			return -EBADMSG;
		for (size_t i = fh.len; i < padded(fh.len); i++)
			if (f->p[i] != 0)
				return -EBADMSG;
		off += padded(fh.len);
	}
	return 0;
}
