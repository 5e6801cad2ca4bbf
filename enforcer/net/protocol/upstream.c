/* SPDX-License-Identifier: Apache-2.0 */
/* Speaks a client's side of a proxy: HTTP CONNECT or SOCKS5. */
#include "enforcer/net/protocol/upstream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/net/protocol/http.h"

enum { VERSION = 5, CONNECT = 1, IPV4 = 1, NAME = 3, IPV6 = 4 };
enum { NO_LOGIN = 0, USER_PASSWORD = 2, LOGIN_VERSION = 1 };
/* What one byte of length can say (RFC 1928, RFC 1929). */
#define SOCKS_TEXT_MAX 255

void ward_upstream_destination(const char *host, uint16_t port, struct ward_buf *ret)
{
	bool v6 = strchr(host, ':');
	ward_buf_printf(ret, "%s%s%s:%u", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

void ward_upstream_clear(struct ward_upstream *u)
{
	ward_buf_clear(&u->request);
	ward_buf_clear(&u->login);
	ward_buf_clear(&u->got);
	*u = (struct ward_upstream){0};
}

static int fail(struct ward_upstream *u, int code, const char *why)
{
	snprintf(u->why, sizeof(u->why), "%s", why);
	u->state = WARD_UPSTREAM_FAILED;
	return code;
}

static void put_text(struct ward_buf *b, const char *text, size_t len)
{
	ward_buf_putc(b, (char)len);
	ward_buf_add(b, text, len);
}

static void begin_http(struct ward_upstream *u, const char *host, uint16_t port, const char *header,
	const char *token, struct ward_buf *out)
{
	ward_buf_puts(out, "CONNECT ");
	ward_upstream_destination(host, port, out);
	ward_buf_puts(out, " HTTP/1.1\r\nHost: ");
	ward_upstream_destination(host, port, out);
	ward_buf_puts(out, "\r\n");
	if (header)
		ward_buf_printf(out, "%s: %s%s\r\n", header,
			ward_proxy_is_authorization(header) ? "Bearer " : "", token);
	ward_buf_puts(out, "\r\n");
	u->state = WARD_UPSTREAM_HEAD;
}

static int begin_socks(struct ward_upstream *u, const char *host, uint16_t port, const char *header,
	const char *token, size_t claim, struct ward_buf *out)
{
	uint8_t address[16];
	size_t n = strlen(host), n_claim = header ? strlen(token + claim) : 0;
	if (n > SOCKS_TEXT_MAX || n_claim > SOCKS_TEXT_MAX || (header && claim > SOCKS_TEXT_MAX))
		return fail(
			u, -ENAMETOOLONG, "the destination is too long for what SOCKS5 can carry");
	ward_buf_add(out, (const char[]){VERSION, 1, header ? USER_PASSWORD : NO_LOGIN}, 3);
	if (header) {
		ward_buf_putc(&u->login, LOGIN_VERSION);
		put_text(&u->login, token, claim - 1);
		put_text(&u->login, token + claim, n_claim);
	}
	ward_buf_add(&u->request, (const char[]){VERSION, CONNECT, 0}, 3);
	if (inet_pton(AF_INET, host, address) == 1) {
		ward_buf_putc(&u->request, IPV4);
		ward_buf_add(&u->request, address, 4);
	} else if (inet_pton(AF_INET6, host, address) == 1) {
		ward_buf_putc(&u->request, IPV6);
		ward_buf_add(&u->request, address, 16);
	} else {
		ward_buf_putc(&u->request, NAME);
		put_text(&u->request, host, n);
	}
	ward_buf_putc(&u->request, (char)(port >> 8));
	ward_buf_putc(&u->request, (char)port);
	u->state = WARD_UPSTREAM_METHOD;
	return 0;
}

int ward_upstream_begin(struct ward_upstream *u, const struct ward_proxy *proxy, const char *host,
	uint16_t port, const char *header, const char *token, size_t claim,
	struct ward_buf *ret_out)
{
	int r = 0;
	*u = (struct ward_upstream){.got = {.max = WARD_HTTP_HEAD_MAX}};
	if (!*host || !port)
		return fail(u, -EINVAL, "no destination");
	if (proxy->socks)
		r = begin_socks(u, host, port, header, token, claim, ret_out);
	else
		begin_http(u, host, port, header, token, ret_out);
	if (r == 0)
		r = ward_buf_error(ret_out);
	if (r == 0)
		r = ward_buf_error(&u->login);
	return r ? r : ward_buf_error(&u->request);
}

/* Takes what is missing to n bytes; 0: more has to come. */
static size_t gather(struct ward_upstream *u, size_t n, const uint8_t **data, size_t *len)
{
	size_t want = n > u->got.len ? n - u->got.len : 0;
	size_t take = want < *len ? want : *len;
	ward_buf_add(&u->got, *data, take);
	*data += take;
	*len -= take;
	return u->got.len >= n;
}

static const uint8_t *bytes(const struct ward_upstream *u)
{
	return (const uint8_t *)u->got.data;
}

/* The 200 of "HTTP/1.1 200 Connection established". 0: no status line. */
static unsigned status_of(const char *line, size_t len)
{
	if (len < 12 || memcmp(line, "HTTP/1.", 7) != 0 || (line[7] != '0' && line[7] != '1') ||
		line[8] != ' ' || (len > 12 && line[12] != ' ' && line[12] != '\r'))
		return 0;
	unsigned v = 0;
	for (size_t i = 9; i < 12; i++) {
		if (line[i] < '0' || line[i] > '9')
			return 0;
		v = v * 10 + (unsigned)(line[i] - '0');
	}
	return v >= 100 ? v : 0;
}

/* The answer of HTTP ends with an empty line; what stands in between is the proxy's affair. */
static int take_head(struct ward_upstream *u, const uint8_t **data, size_t *len)
{
	char why[64];
	while (*len) {
		ward_buf_putc(&u->got, (char)**data);
		++*data;
		--*len;
		if (ward_buf_error(&u->got))
			return fail(u, -EBADMSG, "the proxy's answer has no end");
		if (u->got.len >= 4 && memcmp(u->got.data + u->got.len - 4, "\r\n\r\n", 4) == 0) {
			unsigned status = status_of(u->got.data, u->got.len);
			snprintf(why, sizeof(why), "the proxy answered %u", status);
			if (status / 100 != 2)
				return fail(u, status ? -ECONNREFUSED : -EBADMSG,
					status ? why : "the proxy's answer is not HTTP/1");
			u->state = WARD_UPSTREAM_STREAM;
			return 0;
		}
	}
	/* Something else that talks first would be waited for until the end of patience. */
	if (u->got.len >= 5 && memcmp(u->got.data, "HTTP/", 5) != 0)
		return fail(u, -EBADMSG, "the proxy's answer is not HTTP/1");
	return 0;
}

static void go_on(struct ward_upstream *u, enum ward_upstream_state state,
	const struct ward_buf *send, struct ward_buf *out)
{
	ward_buf_add(out, send->data, send->len);
	u->got.len = 0;
	u->state = state;
}

static int take_method(
	struct ward_upstream *u, const uint8_t **data, size_t *len, struct ward_buf *out)
{
	bool login = u->login.len > 0;
	if (!gather(u, 2, data, len))
		return 0;
	if (bytes(u)[0] != VERSION)
		return fail(u, -EBADMSG, "the proxy does not speak SOCKS5");
	if (bytes(u)[1] != (login ? USER_PASSWORD : NO_LOGIN))
		return fail(u, -ECONNREFUSED,
			login ? "the proxy takes no user and password"
			      : "the proxy wants a login: identify = proxy-authorization");
	go_on(u, login ? WARD_UPSTREAM_LOGIN : WARD_UPSTREAM_REPLY, login ? &u->login : &u->request,
		out);
	return 0;
}

static int take_login(
	struct ward_upstream *u, const uint8_t **data, size_t *len, struct ward_buf *out)
{
	if (!gather(u, 2, data, len))
		return 0;
	if (bytes(u)[0] != LOGIN_VERSION)
		return fail(u, -EBADMSG, "the proxy's answer to the login is not RFC 1929");
	if (bytes(u)[1] != 0)
		return fail(u, -ECONNREFUSED, "the proxy did not take the token");
	go_on(u, WARD_UPSTREAM_REPLY, &u->request, out);
	return 0;
}

static int take_reply(struct ward_upstream *u, const uint8_t **data, size_t *len)
{
	char why[64];
	size_t n = 0;
	if (!gather(u, 5, data, len))
		return 0;
	const uint8_t *p = bytes(u);
	if (p[0] != VERSION || p[2] != 0)
		return fail(u, -EBADMSG, "the proxy's reply is not SOCKS5");
	if (p[1] != 0) {
		snprintf(why, sizeof(why), "the proxy answered %u (RFC 1928, 6)", p[1]);
		return fail(u, -ECONNREFUSED, why);
	}
	if (p[3] == IPV4)
		n = 4;
	else if (p[3] == IPV6)
		n = 16;
	else if (p[3] == NAME)
		n = 1U + p[4];
	else
		return fail(u, -EBADMSG, "the proxy's reply is not SOCKS5");
	if (gather(u, 4 + n + 2, data, len))
		u->state = WARD_UPSTREAM_STREAM;
	return 0;
}

ssize_t ward_upstream_take(
	struct ward_upstream *u, const uint8_t *data, size_t len, struct ward_buf *ret_out)
{
	const uint8_t *at = data;
	size_t left = len;
	int r = 0;
	while (r == 0 && left && u->state != WARD_UPSTREAM_STREAM) {
		switch (u->state) {
		case WARD_UPSTREAM_HEAD:
			r = take_head(u, &at, &left);
			break;
		case WARD_UPSTREAM_METHOD:
			r = take_method(u, &at, &left, ret_out);
			break;
		case WARD_UPSTREAM_LOGIN:
			r = take_login(u, &at, &left, ret_out);
			break;
		case WARD_UPSTREAM_REPLY:
			r = take_reply(u, &at, &left);
			break;
		case WARD_UPSTREAM_FAILED:
		case WARD_UPSTREAM_STREAM:
			r = -EBADMSG;
			break;
		}
		if (r == 0 && ward_buf_error(&u->got))
			r = fail(u, -ENOMEM, "out of memory");
	}
	return r < 0 ? r : (ssize_t)(at - data);
}
