/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what a program sends with the name that it asked for. */
#include "enforcer/net/protocol/inspect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* So much of a first line is kept. A request line that is longer is refused. */
#define LINE_MAX_HERE 8192U

static const char malformed[] = "an HTTP request that is malformed or ambiguous";

void ward_inspect_init(struct ward_inspect *in, const char *name, uint16_t port, bool strict)
{
	*in = (struct ward_inspect){.strict = strict, .port = port};
	strncpy(in->name, name, sizeof(in->name) - 1);
	ward_first_init(&in->first);
}

static void drop_early(struct ward_inspect *in)
{
	free(in->early);
	in->early = NULL;
	in->n_early = 0;
}

void ward_inspect_free(struct ward_inspect *in)
{
	drop_early(in);
}

/* Refuses, or only notes it and stops looking. */
static int complain(struct ward_inspect *in, const char *text)
{
	in->complaint = text;
	if (in->strict)
		return -EACCES;
	in->state = WARD_INSPECT_OPAQUE;
	drop_early(in);
	return 0;
}

/*
 * A server name has no dot at its end (RFC 6066, 3): with one, servers give their default host.
 * Some do so for HTTP as well (Go).
 */
static bool same_name(const struct ward_inspect *in)
{
	return strcasecmp(in->seen, in->name) == 0;
}

/* A server may have one host for each port that a request names (RFC 9110, 4.2.3). */
static const char *wrong_authority(struct ward_inspect *in, const struct ward_http_text *t)
{
	uint16_t port = 0;
	if (!ward_http_authority(t->p, t->len, in->seen, &port))
		return "an HTTP request without a host";
	if (!same_name(in))
		return "the host of an HTTP request is not the name of the destination";
	return port && port != in->port ? "an HTTP request names another port" : NULL;
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

/*
 * Until the server has answered: early data, alerts and a ChangeCipherSpec may stand between a
 * hello and the one that follows a HelloRetryRequest (RFC 8446, 4.1.2 and 4.2.10).
 */
static int after_hello(struct ward_inspect *in, const uint8_t *data, size_t len, size_t *pass)
{
	*pass = 0;
	if (in->record == 0) {
		if (data[0] == WARD_TLS_HANDSHAKE)
			return hello(in, data, len, pass);
		if (data[0] < WARD_TLS_FIRST || data[0] > WARD_TLS_LAST ||
			(len > 1 && data[1] != 3)) {
			*pass = in->strict ? 0 : len;
			return complain(in, "after a TLS ClientHello something that is no TLS");
		}
		if (len < WARD_TLS_HEAD)
			return 0;
		in->record = WARD_TLS_HEAD + ((size_t)data[3] << 8 | data[4]);
	}
	*pass = len < in->record ? len : in->record;
	in->record -= *pass;
	return 0;
}

static int request(struct ward_inspect *in, const uint8_t *data, size_t len, size_t *pass)
{
	struct ward_http_head h;
	struct ward_http_text authority, path;
	int r = ward_http_head((const char *)data, len, &h);
	*pass = 0;
	if (r == -EAGAIN)
		return 0;
	*pass = in->strict ? 0 : len;
	if (r < 0)
		return complain(in, malformed);
	in->seen[0] = 0;
	if (h.method.len == 7 && memcmp(h.method.p, "CONNECT", 7) == 0)
		return complain(in, "CONNECT to a server that is no proxy");
	if (!h.host.p)
		return complain(in, "an HTTP request without a host");
	const char *wrong = wrong_authority(in, &h.host);
	if (wrong)
		return complain(in, wrong);
	if (h.target.p[0] != '/' && !(h.target.len == 1 && h.target.p[0] == '*')) {
		if (!ward_http_absolute(&h.target, &authority, &path) ||
			wrong_authority(in, &authority))
			return complain(in, "the URL of an HTTP request names another host");
	}
	/* Requests before it may still be answered: which answer is the upgrade's? */
	if (h.upgrade && (in->requests || h.chunked || h.length))
		return complain(in, "an HTTP upgrade that is not the first request");
	in->hides = h.upgrade_hides;
	in->requests++;
	*pass = h.size;
	ward_http_body_start(&h, &in->body);
	ward_first_init_body(&in->first);
	in->state = h.upgrade			      ? WARD_INSPECT_UPGRADE
		    : in->body.state == WARD_BODY_END ? WARD_INSPECT_HTTP
						      : WARD_INSPECT_BODY;
	return 0;
}

/* A server that does not read bodies goes on with the next request in one (Python's does). */
static int body(struct ward_inspect *in, const uint8_t *data, size_t len, size_t *pass)
{
	const bool chunked = in->body.state != WARD_BODY_LENGTH;
	ssize_t n = ward_http_body_take(&in->body, (const char *)data, len);
	*pass = in->strict ? 0 : len;
	if (n < 0)
		return complain(in, "an HTTP request whose body is malformed");
	/* Chunks begin with a line that is no request. */
	if (!chunked && ward_first_take(&in->first, data, (size_t)n) == WARD_FIRST_REQUEST)
		return complain(in, "an HTTP request whose body begins with another request");
	*pass = (size_t)n;
	if (in->body.state == WARD_BODY_END)
		in->state = WARD_INSPECT_HTTP;
	return 0;
}

/* The first request; in->early of it has passed already. */
static int first_request(struct ward_inspect *in, const uint8_t *data, size_t len, size_t *pass)
{
	const size_t had = in->n_early, n = len < WARD_INSPECT_MAX ? len : WARD_INSPECT_MAX;
	if (had == 0)
		return request(in, data, len, pass);
	uint8_t *all = malloc(had + n);
	if (!all)
		return -ENOMEM;
	memcpy(all, in->early, had);
	memcpy(all + had, data, n);
	int r = request(in, all, had + n, pass);
	free(all);
	if (r < 0 || *pass == 0)
		return r;
	drop_early(in);
	/* All of it, and what was not shown is of the same kind. */
	*pass = in->state == WARD_INSPECT_OPAQUE ? len : *pass - had;
	return 0;
}

/* They pass, and are kept for as long as they may be a request that we would read. */
static int keep_early(struct ward_inspect *in, const uint8_t *data, size_t len)
{
	const size_t n = in->n_early + len;
	if (in->first.taken > LINE_MAX_HERE || !ward_first_proper(&in->first)) {
		drop_early(in);
		return 0;
	}
	/* In steps, so that a line that comes byte by byte is not copied as often. */
	if (!in->early || (n - 1) / 256 != (in->n_early - 1) / 256) {
		uint8_t *v = realloc(in->early, ((n - 1) / 256 + 1) * 256);
		if (!v)
			return -ENOMEM;
		in->early = v;
	}
	memcpy(in->early + in->n_early, data, len);
	in->n_early = n;
	return 0;
}

/* What a server takes for something that names a host, or that a host's name follows. */
static int disagree(struct ward_inspect *in, enum ward_first_kind kind)
{
	switch (kind) {
	case WARD_FIRST_HELLO:
		in->what = "tls";
		return complain(in, "a TLS ClientHello without a server name");
	case WARD_FIRST_PROXY:
		return complain(in, "a header of the PROXY protocol");
	case WARD_FIRST_REQUEST:
	case WARD_FIRST_UNKNOWN:
	case WARD_FIRST_OTHER:
		break;
	}
	in->what = "http";
	return complain(in, malformed);
}

static int start(struct ward_inspect *in, const uint8_t *data, size_t len, size_t *pass)
{
	*pass = 0;
	/* Go takes many versions in a record for TLS, the JDK any; both an alert before the hello.
	 */
	if (in->first.taken == 0 && data[0] >= WARD_TLS_FIRST && data[0] <= WARD_TLS_LAST)
		return hello(in, data, len, pass);
	const enum ward_first_kind kind = ward_first_take(&in->first, data, len);
	if (kind == WARD_FIRST_REQUEST && ward_first_proper(&in->first) &&
		in->first.taken <= LINE_MAX_HERE + 1) {
		in->what = "http";
		in->state = WARD_INSPECT_HTTP;
		return first_request(in, data, len, pass);
	}
	*pass = len;
	if (kind == WARD_FIRST_UNKNOWN)
		return keep_early(in, data, len);
	if (kind != WARD_FIRST_OTHER)
		return disagree(in, kind);
	drop_early(in);
	in->state = WARD_INSPECT_OPAQUE;
	return 0;
}

/* What passed last, if nothing followed. */
static enum ward_first_kind kind_at_end(const struct ward_inspect *in)
{
	switch (in->state) {
	case WARD_INSPECT_START:
	case WARD_INSPECT_HTTP:
	case WARD_INSPECT_BODY:
		return ward_first_end(&in->first);
	case WARD_INSPECT_TLS_NEXT:
	case WARD_INSPECT_UPGRADE:
	case WARD_INSPECT_OPAQUE:
		break;
	}
	return WARD_FIRST_OTHER;
}

bool ward_inspect_may_end(const struct ward_inspect *in)
{
	return kind_at_end(in) == WARD_FIRST_OTHER;
}

int ward_inspect_end(struct ward_inspect *in)
{
	const enum ward_first_kind kind = kind_at_end(in);
	return kind == WARD_FIRST_OTHER ? 0 : disagree(in, kind);
}

int ward_inspect(struct ward_inspect *in, const uint8_t *data, size_t len, size_t *ret_pass)
{
	size_t all = 0;
	while (all < len) {
		size_t pass = 0;
		int r = 0;
		switch (in->state) {
		case WARD_INSPECT_START:
			r = start(in, data + all, len - all, &pass);
			break;
		case WARD_INSPECT_TLS_NEXT:
			r = after_hello(in, data + all, len - all, &pass);
			break;
		case WARD_INSPECT_HTTP:
			r = in->requests ? request(in, data + all, len - all, &pass)
					 : first_request(in, data + all, len - all, &pass);
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
	if (in->state == WARD_INSPECT_TLS_NEXT) {
		ward_tls_reply_take(&in->reply, data, len);
		if (in->reply.answer == WARD_TLS_ANSWERED)
			in->state = WARD_INSPECT_OPAQUE;
	}
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
		return reply && in->reply.answer != WARD_TLS_OPEN;
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
