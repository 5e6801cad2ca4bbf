/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the requests of HTTP/1, strictly. */
#include "enforcer/net/protocol/http.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

/* A chunk's size line with extensions, and all trailers: nobody sends more. */
#define CHUNK_LINE_MAX 256U
#define TRAILER_MAX 4096U

bool ward_http_is_token(unsigned char c)
{
	return isalnum(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* What a line may hold: no control characters but the tab, no CR that is not followed by LF. */
static bool is_clean(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)p[i] < 0x20 && p[i] != '\t') || p[i] == 0x7f)
			return false;
	return true;
}

/* The line at *p up to end, moved behind it. 1, 0 (not there yet) or -EBADMSG. */
static int get_line(const char **p, const char *end, struct ward_http_text *ret)
{
	const char *lf = memchr(*p, '\n', (size_t)(end - *p));
	if (!lf)
		return 0;
	if (lf == *p || lf[-1] != '\r')
		return -EBADMSG;
	*ret = (struct ward_http_text){*p, (size_t)(lf - 1 - *p)};
	*p = lf + 1;
	return is_clean(ret->p, ret->len) ? 1 : -EBADMSG;
}

static bool request_line(const struct ward_http_text *line, struct ward_http_head *h)
{
	const char *p = line->p, *end = p + line->len;
	while (p < end && ward_http_is_token((unsigned char)*p))
		p++;
	h->method = (struct ward_http_text){line->p, (size_t)(p - line->p)};
	if (h->method.len == 0 || p == end || *p++ != ' ')
		return false;
	const char *target = p;
	while (p < end && (unsigned char)*p > 0x20 && (unsigned char)*p < 0x7f)
		p++;
	h->target = (struct ward_http_text){target, (size_t)(p - target)};
	if (h->target.len == 0 || end - p != 9 || memcmp(p, " HTTP/1.", 8) != 0)
		return false;
	h->minor = (unsigned)(p[8] - '0');
	return h->minor <= 1;
}

bool ward_http_field_is(const struct ward_http_text *line, const char *name)
{
	size_t n = strlen(name);
	return line->len > n && line->p[n] == ':' && strncasecmp(line->p, name, n) == 0;
}

static struct ward_http_text field_value(const struct ward_http_text *line)
{
	const char *p = memchr(line->p, ':', line->len), *end = line->p + line->len;
	p = p ? p + 1 : end;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (struct ward_http_text){p, (size_t)(end - p)};
}

static bool read_length(const struct ward_http_text *v, struct ward_http_head *h)
{
	/* 18 digits fit; a list of equal numbers is legal and refused nevertheless */
	if (h->has_length || v->len == 0 || v->len > 18)
		return false;
	for (size_t i = 0; i < v->len; i++) {
		if (!isdigit((unsigned char)v->p[i]))
			return false;
		h->length = h->length * 10 + (uint64_t)(v->p[i] - '0');
	}
	h->has_length = true;
	return true;
}

/*
 * RFC 9110, 7.8: a list. HTTP/2 (RFC 7540, 3.2) and TLS (RFC 2817) name a host each by itself;
 * connect-udp and connect-ip (RFC 9298, RFC 9484) do what CONNECT does.
 */
static bool names_hosts(const struct ward_http_text *list)
{
	static const char *const protocols[] = {"h2", "HTTP", "TLS", "connect-"};
	const char *p = list->p, *end = p + list->len;
	while (p < end) {
		while (p < end && (*p == ' ' || *p == '\t' || *p == ','))
			p++;
		for (size_t i = 0; i < sizeof(protocols) / sizeof(*protocols); i++) {
			size_t n = strlen(protocols[i]);
			if ((size_t)(end - p) >= n && strncasecmp(p, protocols[i], n) == 0)
				return true;
		}
		while (p < end && *p != ',')
			p++;
	}
	return false;
}

static bool field(const struct ward_http_text *line, struct ward_http_head *h)
{
	size_t n = 0;
	while (n < line->len && ward_http_is_token((unsigned char)line->p[n]))
		n++;
	if (n == 0 || n == line->len || line->p[n] != ':' || h->n_fields == WARD_HTTP_FIELDS_MAX)
		return false;
	h->fields[h->n_fields++] = *line;
	const struct ward_http_text v = field_value(line);
	if (ward_http_field_is(line, "Host")) {
		if (h->host.p)
			return false;
		h->host = v;
	} else if (ward_http_field_is(line, "Content-Length")) {
		return read_length(&v, h);
	} else if (ward_http_field_is(line, "Transfer-Encoding")) {
		if (h->chunked || v.len != 7 || strncasecmp(v.p, "chunked", 7) != 0)
			return false;
		h->chunked = true;
	} else if (ward_http_field_is(line, "Upgrade")) {
		h->upgrade = true;
		h->upgrade_hides = h->upgrade_hides || names_hosts(&v);
	}
	return true;
}

int ward_http_head(const char *data, size_t len, struct ward_http_head *ret)
{
	const size_t here = len < WARD_HTTP_HEAD_MAX ? len : WARD_HTTP_HEAD_MAX;
	const char *p = data, *end = data + here;
	struct ward_http_text line;
	*ret = (struct ward_http_head){0};
	int r = get_line(&p, end, &line);
	if (r == 1 && !request_line(&line, ret))
		return -EBADMSG;
	while (r == 1) {
		r = get_line(&p, end, &line);
		if (r == 1 && line.len == 0)
			break;
		if (r == 1 && !field(&line, ret))
			return -EBADMSG;
	}
	if (r <= 0)
		return r < 0 || here == WARD_HTTP_HEAD_MAX ? -EBADMSG : -EAGAIN;
	/* RFC 9112, 6.1: both, or chunks in HTTP/1.0, are what smuggling is made of */
	if (ret->chunked && (ret->has_length || ret->minor == 0))
		return -EBADMSG;
	ret->size = (size_t)(p - data);
	return 0;
}

static bool read_port(const char *p, const char *end, uint16_t *ret)
{
	unsigned v = 0;
	if (p == end || end - p > 5)
		return false;
	for (; p < end; p++) {
		if (!isdigit((unsigned char)*p))
			return false;
		v = v * 10 + (unsigned)(*p - '0');
	}
	*ret = (uint16_t)v;
	return v > 0 && v <= UINT16_MAX;
}

bool ward_http_authority(const char *p, size_t len, char ret_host[256], uint16_t *ret_port)
{
	const char *end = p + len, *stop = p;
	bool v6 = len && *p == '[';
	struct in6_addr a;
	*ret_port = 0;
	if (v6) {
		stop = memchr(++p, ']', len - 1);
		if (!stop)
			return false;
	} else {
		while (stop < end && *stop != ':')
			stop++;
	}
	size_t n = (size_t)(stop - p);
	const char *rest = v6 ? stop + 1 : stop;
	if (n == 0 || n > 255)
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];
		if (!isalnum(c) && c != '-' && c != '.' && c != '_' && !(v6 && c == ':'))
			return false;
		ret_host[i] = (char)tolower(c);
	}
	ret_host[n] = 0;
	if (v6 && inet_pton(AF_INET6, ret_host, &a) != 1)
		return false;
	return rest == end || (*rest == ':' && read_port(rest + 1, end, ret_port));
}

void ward_http_undot(char host[256])
{
	size_t n = strlen(host);
	if (n > 1 && host[n - 1] == '.')
		host[n - 1] = 0;
}

bool ward_http_absolute(const struct ward_http_text *target, struct ward_http_text *ret_authority,
	struct ward_http_text *ret_path)
{
	if (target->len < 8 || strncasecmp(target->p, "http://", 7) != 0)
		return false;
	const char *p = target->p + 7, *end = target->p + target->len, *slash = p;
	while (slash < end && *slash != '/' && *slash != '?' && *slash != '#')
		slash++;
	*ret_authority = (struct ward_http_text){p, (size_t)(slash - p)};
	*ret_path = (struct ward_http_text){slash, (size_t)(end - slash)};
	return ret_authority->len > 0 && (slash == end || *slash == '/');
}

void ward_http_body_start(const struct ward_http_head *head, struct ward_http_body *ret)
{
	*ret = (struct ward_http_body){.state = WARD_BODY_END};
	if (head->chunked)
		ret->state = WARD_BODY_SIZE;
	else if (head->length)
		*ret = (struct ward_http_body){.state = WARD_BODY_LENGTH, .left = head->length};
}

/* One byte of a line that must end in CRLF. 1: the line is whole; 0; -EBADMSG. */
static int line_byte(struct ward_http_body *b, char c, size_t max)
{
	if (b->cr != (c == '\n') || ++b->line > max)
		return -EBADMSG;
	if (c == '\n') {
		b->cr = false;
		return 1;
	}
	b->cr = c == '\r';
	return !b->cr && ((unsigned char)c < 0x20 && c != '\t') ? -EBADMSG : 0;
}

static int size_byte(struct ward_http_body *b, char c)
{
	int r = line_byte(b, c, CHUNK_LINE_MAX);
	if (r < 0)
		return r;
	if (r == 1) {
		if (!b->digits)
			return -EBADMSG;
		b->state = b->left ? WARD_BODY_DATA : WARD_BODY_TRAILER;
		b->line = 0;
		b->digits = b->ext = false;
		return 0;
	}
	/*
	 * With a blank in it an extension would be a request to a server that does not know chunks:
	 * "1;x / HTTP/1.1". Of the bytes that are not ASCII, some are blanks to Python.
	 */
	if (b->cr || b->ext)
		return c == ' ' || c == '\t' || (unsigned char)c >= 0x80 ? -EBADMSG : 0;
	if (isxdigit((unsigned char)c)) {
		unsigned digit = isdigit((unsigned char)c)
					 ? (unsigned)(c - '0')
					 : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
		/* 15 digits fit */
		if (b->line > 15)
			return -EBADMSG;
		b->left = b->left << 4 | digit;
		b->digits = true;
		return 0;
	}
	b->ext = c == ';' && b->digits;
	return b->ext ? 0 : -EBADMSG;
}

/* RFC 9110, 6.5.1: a server may take these for fields of the head. */
static bool may_trail(const char *name)
{
	static const char *const names[] = {"Host", "Content-Length", "Transfer-Encoding"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcasecmp(name, names[i]) == 0)
			return false;
	return true;
}

/*
 * Some servers do not read all trailers, and take what follows for the next request
 * (gevent, CVE-2023-41419). So each is a field, and none holds the version of a request.
 */
static int trailer_part(struct ward_http_body *b, char c)
{
	if (b->named) {
		const bool next = tolower((unsigned char)c) == "http/"[b->http];
		b->http = next ? b->http + 1 : tolower((unsigned char)c) == 'h';
		return b->http == 5 ? -EBADMSG : 0;
	}
	if (c != ':') {
		if (b->line < sizeof(b->field))
			b->field[b->line - 1] = c;
		return ward_http_is_token((unsigned char)c) ? 0 : -EBADMSG;
	}
	b->field[b->line <= sizeof(b->field) ? b->line - 1 : sizeof(b->field) - 1] = 0;
	b->named = true;
	b->http = 0;
	return b->line > 1 && may_trail(b->field) ? 0 : -EBADMSG;
}

static int trailer_byte(struct ward_http_body *b, char c)
{
	int r = line_byte(b, c, TRAILER_MAX);
	if (r < 0 || ++b->trailer > TRAILER_MAX)
		return -EBADMSG;
	if (r == 0)
		return b->cr ? 0 : trailer_part(b, c);
	if (b->line == 2)
		b->state = WARD_BODY_END;
	else if (!b->named)
		return -EBADMSG;
	b->line = 0;
	b->named = false;
	return 0;
}

ssize_t ward_http_body_take(struct ward_http_body *b, const char *data, size_t len)
{
	size_t at = 0;
	while (at < len && b->state != WARD_BODY_END) {
		int r = 0;
		size_t n = len - at < b->left ? len - at : (size_t)b->left;
		switch (b->state) {
		case WARD_BODY_LENGTH:
		case WARD_BODY_DATA:
			at += n;
			b->left -= n;
			if (b->left == 0)
				b->state = b->state == WARD_BODY_LENGTH ? WARD_BODY_END
									: WARD_BODY_DATA_END;
			continue;
		case WARD_BODY_DATA_END:
			r = line_byte(b, data[at], 2);
			if (r == 1) {
				b->state = WARD_BODY_SIZE;
				b->line = 0;
			}
			r = r < 0 ? r : 0;
			break;
		case WARD_BODY_SIZE:
			r = size_byte(b, data[at]);
			break;
		case WARD_BODY_TRAILER:
			r = trailer_byte(b, data[at]);
			break;
		case WARD_BODY_END:
			break;
		}
		if (r < 0)
			return r;
		at++;
	}
	return (ssize_t)at;
}
