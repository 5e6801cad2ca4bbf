/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/net/inspect.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

/* Longer than any method; and a first line that is longer is nobody's request. */
#define METHOD_MAX (sizeof(((struct ward_inspect *)0)->early))
#define LINE_MAX_HERE 8192U
enum { TLS_CHANGE_CIPHER_SPEC = 20, TLS_HANDSHAKE = 22 };

void ward_inspect_init(struct ward_inspect *in, const char *name, bool strict)
{
	*in = (struct ward_inspect){.strict = strict};
	strncpy(in->name, name, sizeof(in->name) - 1);
}

/* Refuses, or only notes it and stops looking. */
static int complain(struct ward_inspect *in, const char *text)
{
	in->complaint = text;
	if (in->strict)
		return -EACCES;
	in->state = WARD_INSPECT_OPAQUE;
	return 0;
}

static bool same_name(const struct ward_inspect *in)
{
	size_t n = strlen(in->seen);
	if (n && in->seen[n - 1] == '.')
		n--;
	return n == strlen(in->name) && strncasecmp(in->seen, in->name, n) == 0;
}

static int hello(struct ward_inspect *in, const uint8_t *data, size_t len, size_t *pass)
{
	struct ward_tls_hello h;
	int r = ward_tls_hello(data, len, &h);
	in->what = "tls";
	if (r == -EAGAIN)
		return 0;
	if (r < 0) {
		*pass = in->strict ? 0 : len;
		return complain(in, "a TLS ClientHello that is malformed");
	}
	memcpy(in->seen, h.name, sizeof(in->seen));
	*pass = h.size;
	in->state = WARD_INSPECT_TLS_NEXT;
	if (!in->seen[0])
		return complain(in, "a TLS ClientHello without a server name");
	if (!same_name(in))
		return complain(in, "the server name in TLS is not the name of the destination");
	return 0;
}

/* Between the hello and what is encrypted: a ChangeCipherSpec, perhaps another hello. */
static int after_hello(struct ward_inspect *in, const uint8_t *data, size_t len, size_t *pass)
{
	*pass = 0;
	if (data[0] == TLS_CHANGE_CIPHER_SPEC) {
		if (len < 6)
			return 0;
		if (data[3] == 0 && data[4] == 1) {
			*pass = 6;
			return 0;
		}
	} else if (data[0] == TLS_HANDSHAKE) {
		if (len < 6)
			return 0;
		if (data[5] == 1)
			return hello(in, data, len, pass);
	}
	in->state = WARD_INSPECT_OPAQUE;
	*pass = len;
	return 0;
}

static bool holds_http(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i + 5 <= len; i++)
		if (strncasecmp((const char *)p + i, "HTTP/", 5) == 0)
			return true;
	return false;
}

/* 1: it is HTTP, 0: it is not, -EAGAIN: cannot be told yet. Blank lines count as its beginning. */
static int looks_like_http(const uint8_t *data, size_t len)
{
	size_t at = 0, space = 0;
	while (at < len && (data[at] == '\r' || data[at] == '\n' || data[at] == ' '))
		at++;
	for (size_t i = at; i < len; i++) {
		if (data[i] == '\n')
			return holds_http(data + at, i - at);
		if ((data[i] < 0x20 && data[i] != '\t' && data[i] != '\r') || data[i] == 0x7f)
			return holds_http(data + at, i - at);
		if (data[i] == ' ' || data[i] == '\t')
			space++;
		if (i - at >= METHOD_MAX && !space)
			return 0;
	}
	return len - at > LINE_MAX_HERE ? 1 : -EAGAIN;
}

static int request(struct ward_inspect *in, const uint8_t *data, size_t len, size_t *pass)
{
	struct ward_http_head h;
	struct ward_http_text authority, path;
	uint16_t port = 0;
	int r = ward_http_head((const char *)data, len, &h);
	*pass = 0;
	if (r == -EAGAIN)
		return 0;
	*pass = in->strict ? 0 : len;
	if (r < 0)
		return complain(in, "an HTTP request that is malformed or ambiguous");
	in->seen[0] = 0;
	if (h.method.len == 7 && memcmp(h.method.p, "CONNECT", 7) == 0)
		return complain(in, "CONNECT to a server that is no proxy");
	if (!h.host.p || !ward_http_authority(h.host.p, h.host.len, in->seen, &port))
		return complain(in, "an HTTP request without a host");
	if (!same_name(in))
		return complain(
			in, "the host of an HTTP request is not the name of the destination");
	if (h.target.p[0] != '/' && !(h.target.len == 1 && h.target.p[0] == '*')) {
		if (!ward_http_absolute(&h.target, &authority, &path) ||
			!ward_http_authority(authority.p, authority.len, in->seen, &port) ||
			!same_name(in))
			return complain(in, "the URL of an HTTP request names another host");
	}
	/* Requests before it may still be answered: which answer is the upgrade's? */
	if (h.upgrade && (in->requests || h.chunked || h.length))
		return complain(in, "an HTTP upgrade that is not the first request");
	in->hides = h.upgrade_hides;
	in->requests++;
	*pass = h.size;
	ward_http_body_start(&h, &in->body);
	in->state = h.upgrade			      ? WARD_INSPECT_UPGRADE
		    : in->body.state == WARD_BODY_END ? WARD_INSPECT_HTTP
						      : WARD_INSPECT_BODY;
	return 0;
}

static int body(struct ward_inspect *in, const uint8_t *data, size_t len, size_t *pass)
{
	ssize_t n = ward_http_body_take(&in->body, (const char *)data, len);
	if (n < 0) {
		*pass = in->strict ? 0 : len;
		return complain(in, "an HTTP request whose body is malformed");
	}
	*pass = (size_t)n;
	if (in->body.state == WARD_BODY_END)
		in->state = WARD_INSPECT_HTTP;
	return 0;
}

static int start(struct ward_inspect *in, const uint8_t *data, size_t len, size_t *pass)
{
	*pass = 0;
	if (data[0] == TLS_HANDSHAKE && (len < 2 || data[1] == 3))
		return len < 2 ? 0 : hello(in, data, len, pass);
	int r = looks_like_http(data, len);
	if (r == -EAGAIN)
		return 0;
	if (r == 0) {
		in->state = WARD_INSPECT_OPAQUE;
		*pass = len;
		return 0;
	}
	in->what = "http";
	in->state = WARD_INSPECT_HTTP;
	return request(in, data, len, pass);
}

/* Bytes before the first blank, if they can be the beginning of a word. */
static size_t word_length(const uint8_t *data, size_t len)
{
	size_t n = 0;
	while (n < len && data[n] > 0x20 && data[n] < 0x7f)
		n++;
	return n;
}

/* The beginning, with what has passed of it in front. */
static int beginning(struct ward_inspect *in, const uint8_t *data, size_t len, size_t *pass)
{
	uint8_t all[sizeof(in->early) + WARD_INSPECT_MAX];
	size_t n = len < WARD_INSPECT_MAX ? len : WARD_INSPECT_MAX, had = in->n_early;
	bool fresh = in->state == WARD_INSPECT_START;
	memcpy(all, in->early, had);
	memcpy(all + had, data, n);
	int r = fresh ? start(in, all, had + n, pass) : request(in, all, had + n, pass);
	if (r < 0)
		return r;
	if (*pass) {
		in->n_early = 0;
		/* All of it, and what was not shown is of the same kind. */
		*pass = in->state == WARD_INSPECT_OPAQUE ? len : *pass - had;
		return 0;
	}
	size_t word = word_length(all, had + n);
	word = word < sizeof(in->early) ? word : sizeof(in->early);
	if (all[0] != TLS_HANDSHAKE && word > had) {
		memcpy(in->early, all, word);
		in->n_early = word;
		*pass = word - had;
	}
	return 0;
}

int ward_inspect(struct ward_inspect *in, const uint8_t *data, size_t len, size_t *ret_pass)
{
	size_t all = 0;
	while (all < len) {
		size_t pass = 0;
		int r = 0;
		switch (in->state) {
		case WARD_INSPECT_START:
			r = beginning(in, data + all, len - all, &pass);
			break;
		case WARD_INSPECT_TLS_NEXT:
			r = after_hello(in, data + all, len - all, &pass);
			break;
		case WARD_INSPECT_HTTP:
			r = in->requests ? request(in, data + all, len - all, &pass)
					 : beginning(in, data + all, len - all, &pass);
			break;
		case WARD_INSPECT_BODY:
			r = body(in, data + all, len - all, &pass);
			break;
		case WARD_INSPECT_UPGRADE:
			break;
		case WARD_INSPECT_OPAQUE:
			pass = len - all;
			break;
		}
		if (r < 0)
			return r;
		if (pass == 0)
			break;
		all += pass;
	}
	*ret_pass = all;
	return 0;
}

void ward_inspect_reply(struct ward_inspect *in, const uint8_t *data, size_t len)
{
	if (in->state != WARD_INSPECT_UPGRADE || len == 0)
		return;
	/*
	 * RFC 9110, 15.2.2; a status line in pieces is no server's. Neither HTTP/2 nor TLS begins
	 * like a request of HTTP/1: where the server changes over to these, what follows is
	 * refused.
	 */
	bool switched = len >= 12 && memcmp(data, "HTTP/1.1 101", 12) == 0;
	in->state = switched && !in->hides ? WARD_INSPECT_OPAQUE : WARD_INSPECT_HTTP;
}

bool ward_inspect_blind(const struct ward_inspect *in, bool reply)
{
	switch (in->state) {
	case WARD_INSPECT_OPAQUE:
		return true;
	case WARD_INSPECT_TLS_NEXT:
	case WARD_INSPECT_BODY:
		return reply;
	case WARD_INSPECT_HTTP:
		/* Only a first request may ask for an upgrade. */
		return reply && in->requests > 0;
	case WARD_INSPECT_START:
	case WARD_INSPECT_UPGRADE:
		return false;
	}
	return false;
}
