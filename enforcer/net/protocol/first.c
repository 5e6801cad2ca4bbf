/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what the first line of a stream may be to a server. */
#include "enforcer/net/protocol/first.h"

#include <ctype.h>
#include <string.h>

#include "enforcer/net/protocol/http.h"

/* https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, 2.2 */
static const uint8_t proxy_v2[12] = {
	0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a};
enum { MESSAGE_CLIENT_HELLO = 1 };

void ward_first_init(struct ward_first *f)
{
	*f = (struct ward_first){
		.by_magic = WARD_FIRST_UNKNOWN,
		.by_line = WARD_FIRST_UNKNOWN,
		.by_crlf = WARD_FIRST_UNKNOWN,
	};
}

void ward_first_init_body(struct ward_first *f)
{
	*f = (struct ward_first){
		.body = true,
		.by_magic = WARD_FIRST_OTHER,
		.by_line = WARD_FIRST_UNKNOWN,
		.by_crlf = WARD_FIRST_OTHER,
	};
}

/*
 * Two bytes of length, the message, the version. Without the high bit the length is followed by one
 * of padding: NSS reads that as well.
 */
static enum ward_first_kind old_hello(const uint8_t *p, size_t n)
{
	const size_t at = p[0] & 0x80 ? 2 : 3;
	/* The rest: nine bytes at least, and no escape of the days of tokens. */
	if (at == 3 && ((p[0] & 0x40) || (n > 1 && p[0] == 0 && p[1] < 9)))
		return WARD_FIRST_OTHER;
	if (n > at && p[at] != MESSAGE_CLIENT_HELLO)
		return WARD_FIRST_OTHER;
	if (n > at + 1 && p[at + 1] != 3 && p[at + 1] != 0)
		return WARD_FIRST_OTHER;
	if (n <= at + 2)
		return WARD_FIRST_UNKNOWN;
	return p[at + 1] == 3 || p[at + 2] == 2 ? WARD_FIRST_HELLO : WARD_FIRST_OTHER;
}

static void take_magic(struct ward_first *f, uint8_t c)
{
	f->magic[f->n++] = c;
	f->by_magic = old_hello(f->magic, f->n);
	if (f->by_magic != WARD_FIRST_HELLO && memcmp(f->magic, proxy_v2, f->n) == 0)
		f->by_magic = f->n == sizeof(proxy_v2) ? WARD_FIRST_PROXY : WARD_FIRST_UNKNOWN;
}

/* A path, or a scheme with one: "/x", "http://host/x", "a:/x"; or "*". */
static enum ward_first_target next_target(enum ward_first_target t, uint8_t c)
{
	if (c <= 0x20 || c == 0x7f)
		return WARD_TARGET_NO;
	switch (t) {
	case WARD_TARGET_BEGIN:
		return c == '/'	    ? WARD_TARGET_YES
		       : c == '*'   ? WARD_TARGET_STAR
		       : isalpha(c) ? WARD_TARGET_SCHEME
				    : WARD_TARGET_NO;
	case WARD_TARGET_SCHEME:
		if (c == ':')
			return WARD_TARGET_COLON;
		return isalnum(c) || c == '+' || c == '-' || c == '.' ? WARD_TARGET_SCHEME
								      : WARD_TARGET_NO;
	case WARD_TARGET_COLON:
		return c == '/' ? WARD_TARGET_YES : WARD_TARGET_NO;
	case WARD_TARGET_YES:
		return WARD_TARGET_YES;
	case WARD_TARGET_STAR:
	case WARD_TARGET_NO:
		return WARD_TARGET_NO;
	}
	return WARD_TARGET_NO;
}

/* What str.split() of Python takes for blanks; other servers take fewer. */
static bool is_blank(uint8_t c)
{
	return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0;
}

static enum ward_first_kind line_kind(const struct ward_first *f)
{
	if (f->words < 2)
		return f->named && !f->body && !f->odd ? WARD_FIRST_REQUEST : WARD_FIRST_OTHER;
	if (f->body || f->odd)
		return (f->words == 3 && f->version) || (f->words == 2 && f->get)
			       ? WARD_FIRST_REQUEST
			       : WARD_FIRST_OTHER;
	if (f->proxy)
		return WARD_FIRST_PROXY;
	return f->named || f->get || f->target == WARD_TARGET_YES ||
			       (f->target == WARD_TARGET_STAR && f->words > 2)
		       ? WARD_FIRST_REQUEST
		       : WARD_FIRST_OTHER;
}

static void begin_word(struct ward_first *f)
{
	f->within = true;
	f->at = 0;
	f->words += f->words < 4;
	f->get = f->get || f->words == 1;
	f->proxy = f->proxy || f->words == 1;
	if (f->words == 2)
		f->target = WARD_TARGET_BEGIN;
}

static void end_word(struct ward_first *f)
{
	if (f->within && f->words == 1) {
		f->get = f->get && f->at == 3;
		f->proxy = f->proxy && f->at == 5;
	}
	f->within = false;
}

static void take_word(struct ward_first *f, uint8_t c)
{
	if (!f->within)
		begin_word(f);
	if (f->words == 1) {
		f->odd = f->odd || !ward_http_is_token(c);
		f->get = f->get && f->at < 3 && c == (uint8_t) "GET"[f->at];
		f->proxy = f->proxy && f->at < 5 && c == (uint8_t) "PROXY"[f->at];
	} else if (f->words == 2) {
		f->target = next_target(f->target, c);
	} else if (f->words == 3 && f->at == 4) {
		f->version = f->http == 5;
	}
	f->at++;
}

/* CR without LF: c follows it. A request before it is one that ward_http_head() does not read. */
static bool ends_at_cr(struct ward_first *f, uint8_t c)
{
	const bool ends = f->line_cr && f->words && line_kind(f) == WARD_FIRST_REQUEST;
	f->line_cr = c == '\r';
	if (ends) {
		f->by_line = WARD_FIRST_REQUEST;
		f->odd = true;
	}
	return ends;
}

static void take_line(struct ward_first *f, uint8_t c)
{
	if (c == '\n') {
		end_word(f);
		/* Empty lines count as its beginning. */
		if (f->words)
			f->by_line = line_kind(f);
		return;
	}
	if (ends_at_cr(f, c))
		return;
	f->http = tolower(c) == "http/"[f->http % 5] ? f->http % 5 + 1 : tolower(c) == 'h';
	f->named = f->named || f->http == 5;
	if (is_blank(c))
		end_word(f);
	else
		take_word(f, c);
}

static void end_crlf(struct ward_first *f)
{
	if (f->part == WARD_CRLF_VERSION)
		f->by_crlf = WARD_FIRST_REQUEST;
	else if (f->any)
		f->by_crlf = WARD_FIRST_OTHER;
	f->cr = false;
}

static void take_crlf(struct ward_first *f, uint8_t c)
{
	if (f->cr && c == '\n') {
		end_crlf(f);
		return;
	}
	/* CR CR LF ends no line there. */
	bool was = f->cr;
	f->cr = c == '\r' && !was;
	f->any = f->any || !f->cr;
	switch (f->part) {
	case WARD_CRLF_METHOD:
		if (c == ' ') {
			f->part = WARD_CRLF_TARGET;
			f->uri = WARD_TARGET_BEGIN;
		}
		break;
	case WARD_CRLF_TARGET:
		if (c == ' ' && f->uri == WARD_TARGET_YES)
			f->part = WARD_CRLF_VERSION;
		else
			f->uri = next_target(f->uri, c);
		if (f->uri == WARD_TARGET_NO)
			f->by_crlf = WARD_FIRST_OTHER;
		break;
	case WARD_CRLF_VERSION:
		break;
	}
}

static enum ward_first_kind strictest(enum ward_first_kind a, enum ward_first_kind b)
{
	return a < b ? a : b;
}

static enum ward_first_kind kind_of(const struct ward_first *f)
{
	return strictest(f->by_magic, strictest(f->by_line, f->by_crlf));
}

enum ward_first_kind ward_first_take(struct ward_first *f, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len && kind_of(f) == WARD_FIRST_UNKNOWN; i++) {
		f->taken++;
		if (f->by_magic == WARD_FIRST_UNKNOWN)
			take_magic(f, data[i]);
		if (f->by_line == WARD_FIRST_UNKNOWN)
			take_line(f, data[i]);
		if (f->by_crlf == WARD_FIRST_UNKNOWN)
			take_crlf(f, data[i]);
	}
	return kind_of(f);
}

enum ward_first_kind ward_first_end(const struct ward_first *f)
{
	struct ward_first ended = *f;
	if (kind_of(f) != WARD_FIRST_UNKNOWN)
		return kind_of(f);
	end_word(&ended);
	return ended.by_line == WARD_FIRST_UNKNOWN ? line_kind(&ended) : WARD_FIRST_OTHER;
}

bool ward_first_proper(const struct ward_first *f)
{
	return !f->odd && (f->by_line == WARD_FIRST_UNKNOWN || f->by_line == WARD_FIRST_REQUEST);
}
