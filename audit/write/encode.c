/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes an event as the text of a record. */
#include "audit/write/encode.h"

#include <string.h>

#include "audit/log/chain.h"
#include "audit/terms.h"
#include "enforcer/base/escape.h"

static void put_quoted(struct ward_buf *b, const char *name)
{
	ward_buf_putc(b, '"');
	ward_buf_puts(b, name);
	ward_buf_putc(b, '"');
}

static bool put_rights(struct ward_buf *b, uint64_t set)
{
	const char *before = "[";
	unsigned bit = 0;
	for (const char *name = NULL; (name = ward_name_right(bit)); bit++) {
		if (!(set >> bit & 1))
			continue;
		ward_buf_puts(b, before);
		put_quoted(b, name);
		before = ",";
	}
	ward_buf_puts(b, *before == '[' ? "[]" : "]");
	return set >> bit == 0;
}

static bool put_octal(struct ward_buf *b, uint64_t v)
{
	ward_buf_printf(b, "\"%04llo\"", (unsigned long long)v);
	return true;
}

static bool put_name(struct ward_buf *b, const char *name)
{
	if (!name) {
		ward_buf_puts(b, "null");
		return false;
	}
	put_quoted(b, name);
	return true;
}

/*
 * True for text that is, whatever else is wrong with it, one JSON object on one line and ends where
 * the text ends: printable ASCII, braces and brackets balanced outside of strings. The supervisor
 * made it; a full parser has no place in this process.
 */
static bool one_object(const uint8_t *p, size_t len)
{
	size_t depth = 0;
	bool in_string = false;
	for (size_t i = 0; i < len; i++) {
		if (p[i] < ' ' || p[i] > '~')
			return false;
		if (in_string) {
			if (p[i] == '\\' && i + 1 < len && p[i + 1] >= ' ' && p[i + 1] <= '~')
				i++;
			else if (p[i] == '"')
				in_string = false;
			continue;
		}
		if (p[i] == '"')
			in_string = true;
		else if (p[i] == '{' || p[i] == '[')
			depth++;
		else if ((p[i] == '}' || p[i] == ']') && depth-- == 0)
			return false;
		if (depth == 0 && i + 1 < len)
			return false;
	}
	return len >= 2 && p[0] == '{' && p[len - 1] == '}' && depth == 0 && !in_string;
}

static bool put_json(struct ward_buf *b, const struct ward_event_field *f)
{
	bool good = one_object(f->p, f->len);
	if (good)
		ward_buf_add(b, f->p, f->len);
	else
		ward_buf_puts(b, "null");
	return good;
}

static void put_list(struct ward_buf *b, const struct ward_event_field *f)
{
	char before = '[';
	for (size_t at = 0; at < f->len;) {
		const uint8_t *end = memchr(f->p + at, '\0', f->len - at);
		size_t n = (size_t)(end - (f->p + at));
		ward_buf_putc(b, before);
		ward_escape_json(b, f->p + at, n);
		before = ',';
		at += n + 1;
	}
	ward_buf_puts(b, before == '[' ? "[]" : "]");
}

static void put_digest(struct ward_buf *b, const struct ward_event_field *f)
{
	ward_buf_putc(b, '"');
	for (size_t i = 0; i < f->len; i++) {
		ward_buf_putc(b, "0123456789abcdef"[f->p[i] >> 4]);
		ward_buf_putc(b, "0123456789abcdef"[f->p[i] & 15]);
	}
	ward_buf_putc(b, '"');
}

static void put_i64(struct ward_buf *b, uint64_t v)
{
	bool negative = v >> 63;
	if (negative)
		ward_buf_putc(b, '-');
	ward_put_u64(b, negative ? 0 - v : v);
}

/* False if the value is unknown. */
static bool put_value(struct ward_buf *b, enum ward_event_tag tag, const struct ward_event_field *f)
{
	switch ((enum ward_event_type)ward_record_members[tag].type) {
	case WARD_TYPE_U64:
		ward_put_u64(b, f->u64);
		return true;
	case WARD_TYPE_COUNT:
		if (f->u64 == WARD_EVENT_UNKNOWN)
			ward_buf_puts(b, "null");
		else
			ward_put_u64(b, f->u64);
		return true;
	case WARD_TYPE_OCTAL:
		return put_octal(b, f->u64);
	case WARD_TYPE_BYTES:
		ward_escape_json(b, f->p, f->len);
		return true;
	case WARD_TYPE_RIGHTS:
		return put_rights(b, f->u64);
	case WARD_TYPE_VERDICT:
		return put_name(b, ward_name_verdict(f->u64));
	case WARD_TYPE_SOURCE:
		return put_name(b, ward_name_source(f->u64));
	case WARD_TYPE_ERRNO:
		return put_name(b, f->u64 > INT32_MAX ? NULL : strerrorname_np((int)f->u64));
	case WARD_TYPE_JSON:
		return put_json(b, f);
	case WARD_TYPE_I64:
		put_i64(b, f->u64);
		return true;
	case WARD_TYPE_TIME:
		ward_put_time(b, f->u64);
		return true;
	case WARD_TYPE_DIGEST:
		put_digest(b, f);
		return true;
	case WARD_TYPE_LIST:
		put_list(b, f);
		return true;
	case WARD_TYPE_NONE:
		break;
	}
	ward_buf_puts(b, "null");
	return false;
}

void ward_encode_record(struct ward_buf *b, const struct ward_record_place *place,
	const struct ward_event_head *head, const struct ward_event_fields *fields)
{
	bool cut = head->flags & WARD_EVENT_CUT;
	ward_buf_puts(b, "{\"v\":1,\"seq\":");
	ward_put_u64(b, place->seq);
	ward_buf_puts(b, ",\"session\":\"");
	ward_buf_puts(b, place->session);
	ward_buf_puts(b, "\",\"kind\":\"");
	ward_buf_puts(b, ward_event_kind_name((enum ward_event_kind)head->kind));
	ward_buf_puts(b, "\",\"time\":");
	ward_put_time(b, head->real_ns);
	ward_buf_puts(b, ",\"mono\":");
	ward_put_u64(b, head->mono_ns);
	ward_buf_puts(b, ",\"ring\":");
	if (place->ring < 0)
		ward_buf_putc(b, '-');
	ward_put_u64(b, (uint64_t)(place->ring < 0 ? -place->ring : place->ring));
	ward_buf_puts(b, ",\"pos\":");
	ward_put_u64(b, place->pos);
	/* The time is the producer's own claim. If it is ahead of the writer's clock, the lag is 0.
	 */
	ward_buf_puts(b, ",\"lag\":");
	ward_put_u64(b, place->mono_ns > head->mono_ns ? place->mono_ns - head->mono_ns : 0);
	for (unsigned i = 0; i < WARD_MEMBER_WORDS; i++) {
		for (uint64_t left = fields->members.word[i]; left; left &= left - 1) {
			unsigned t = i * 64 + (unsigned)__builtin_ctzll(left);
			const struct ward_record_member *m = &ward_record_members[t];
			ward_buf_add(b, m->begin, m->begin_len);
			cut |= !put_value(b, (enum ward_event_tag)t, &fields->of[t]);
		}
	}
	if (cut)
		ward_buf_puts(b, ",\"cut\":true");
}
