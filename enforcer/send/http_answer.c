/* SPDX-License-Identifier: Apache-2.0 */
/* Takes an answer of HTTP/1.1 apart. */
#include "enforcer/send/http_answer.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Nobody waits for longer, and no such number overflows. */
#define SECONDS_MAX INT64_C(1000000000)

/* How the body ends. */
struct framing {
	bool chunked, has_length;
	size_t length;
};

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Decimal digits, all of p[0..n). -1: it is something else, or too large. */
static int64_t number(const char *p, size_t n)
{
	int64_t v = 0;
	if (n == 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!digit(p[i]) || v > SECONDS_MAX)
			return -1;
		v = 10 * v + (p[i] - '0');
	}
	return v;
}

static bool same(const char *p, size_t n, const char *word)
{
	return n == strlen(word) && strncasecmp(p, word, n) == 0;
}

/* Retry-After: seconds, or a date of RFC 9110 5.6.7 in its one form that is not obsolete. */
static int64_t retry_after(const char *p, size_t n, int64_t now_s)
{
	char text[40];
	struct tm tm = {0};
	int64_t v = number(p, n);
	if (v >= 0 || n >= sizeof(text))
		return v;
	memcpy(text, p, n);
	text[n] = '\0';
	const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
	if (!end || *end)
		return -1;
	const int64_t at = (int64_t)timegm(&tm);
	return at > now_s ? at - now_s : 0;
}

/* One line of the head, without its end. */
static int take_field(
	const char *p, size_t n, int64_t now_s, struct framing *f, struct send_answer *a)
{
	const char *colon = memchr(p, ':', n);
	/* A blank in front would belong to the line before (RFC 9112 5.2): nobody sends that now.
	 */
	if (!colon || colon == p || memchr(p, ' ', (size_t)(colon - p)) ||
		memchr(p, '\t', (size_t)(colon - p)))
		return -EBADMSG;
	const size_t name = (size_t)(colon - p);
	const char *v = colon + 1, *end = p + n;
	while (v < end && (*v == ' ' || *v == '\t'))
		v++;
	while (end > v && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	const size_t len = (size_t)(end - v);
	if (same(p, name, "Content-Length")) {
		const int64_t length = number(v, len);
		if (length < 0 || (f->has_length && f->length != (size_t)length))
			return -EBADMSG;
		f->has_length = true;
		f->length = (size_t)length;
	} else if (same(p, name, "Transfer-Encoding")) {
		if (f->chunked || !same(v, len, "chunked"))
			return -EBADMSG;
		f->chunked = true;
	} else if (same(p, name, "Retry-After")) {
		a->retry_after = retry_after(v, len, now_s);
	} else if (same(p, name, "Content-Type")) {
		static const char json[] = "application/json";
		a->json = len >= strlen(json) && strncasecmp(v, json, strlen(json)) == 0;
	}
	return 0;
}

/* "HTTP/1.x NNN …" */
static int take_status(const char *p, size_t n, unsigned *ret)
{
	if (n < 12 || memcmp(p, "HTTP/1.", 7) != 0 || !digit(p[7]) || p[8] != ' ' ||
		(n > 12 && p[12] != ' '))
		return -EBADMSG;
	const int64_t v = number(p + 9, 3);
	if (v < 100 || v > 599)
		return -EBADMSG;
	*ret = (unsigned)v;
	return 0;
}

/* The head from `at` on; *ret_end is behind it. 1, 0 (it goes on), -EBADMSG. */
static int take_head(const char *text, size_t len, size_t at, int64_t now_s, struct framing *f,
	struct send_answer *a, size_t *ret_end)
{
	for (bool first = true;; first = false) {
		const char *line = text + at;
		const char *nl = memchr(line, '\n', len - at);
		if (!nl)
			return 0;
		size_t n = (size_t)(nl - line);
		at += n + 1;
		if (n == 0 || line[n - 1] != '\r' || memchr(line, '\0', n))
			return -EBADMSG;
		n--;
		if (n == 0 && !first) {
			*ret_end = at;
			return 1;
		}
		int r = first ? take_status(line, n, &a->status) : take_field(line, n, now_s, f, a);
		if (r < 0)
			return r;
	}
}

static int hex(char c)
{
	if (digit(c))
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The line of a chunk's length: *at moves behind it. 1, 0, -EBADMSG. */
static int chunk_length(const char *text, size_t len, size_t *at, size_t *ret)
{
	const char *line = text + *at;
	const char *nl = memchr(line, '\n', len - *at);
	size_t v = 0, i = 0;
	if (!nl)
		return 0;
	const size_t n = (size_t)(nl - line);
	for (; i < n && hex(line[i]) >= 0; i++) {
		if (v > (1U << 26))
			return -EBADMSG;
		v = v << 4 | (size_t)hex(line[i]);
	}
	/* Behind it may stand an extension, which nobody has to know. */
	if (i == 0 || line[n - 1] != '\r' || (line[i] != '\r' && line[i] != ';' && line[i] != ' '))
		return -EBADMSG;
	*at += n + 1;
	*ret = v;
	return 1;
}

/* Chunks, moved together behind the head once the last one is there. move: do it. */
static int take_chunks(char *text, size_t len, size_t at, bool move, size_t *ret_len)
{
	size_t to = at;
	for (;;) {
		size_t n = 0;
		int r = chunk_length(text, len, &at, &n);
		if (r <= 0)
			return r;
		if (n == 0)
			break;
		if (len - at < n + 2)
			return 0;
		if (text[at + n] != '\r' || text[at + n + 1] != '\n')
			return -EBADMSG;
		if (move)
			memmove(text + to, text + at, n);
		to += n;
		*ret_len += n;
		at += n + 2;
	}
	/* Trailers, which are passed over, and an empty line. */
	for (;;) {
		const char *nl = memchr(text + at, '\n', len - at);
		if (!nl)
			return 0;
		const size_t n = (size_t)(nl - (text + at));
		if (n == 0 || text[at + n - 1] != '\r')
			return -EBADMSG;
		at += n + 1;
		if (n == 1)
			return 1;
	}
}

static int take_body(char *text, size_t len, const struct framing *f, struct send_answer *a)
{
	size_t n = 0;
	if (f->chunked &&
		f->has_length) /* two lengths: a proxy on the way may read the other one */
		return -EBADMSG;
	if (a->status == 204 || a->status == 304)
		return 1;
	if (f->chunked) {
		int r = take_chunks(text, len, a->body, false, &n);
		if (r <= 0)
			return r;
		return take_chunks(text, len, a->body, true, &a->len);
	}
	a->until_end = !f->has_length;
	a->len = f->has_length ? f->length : len - a->body;
	return a->until_end || len - a->body >= f->length;
}

int send_answer_take(char *text, size_t len, int64_t now_s, struct send_answer *ret)
{
	size_t at = 0;
	for (;;) {
		struct send_answer a = {.retry_after = -1};
		struct framing f = {0};
		int r = take_head(text, len, at, now_s, &f, &a, &at);
		if (r <= 0)
			return r;
		if (a.status < 200)
			continue;
		a.body = at;
		r = take_body(text, len, &f, &a);
		if (r > 0)
			*ret = a;
		return r;
	}
}
