/* SPDX-License-Identifier: Apache-2.0 */
/* What a program may send to the destination a.example, with sni = require. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/net/protocol/inspect.h"
#include "tests/support/suite.h"

#define HEAD "GET / HTTP/1.1\r\nHost: a.example\r\n"
#define GET HEAD "\r\n"
#define HOST_B "Host: b.example\r\n\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a.example\r\n"

static const struct {
	const char *sent;
	bool refused;
	int held; /* bytes that wait; where nothing is refused */
} cases[] = {
	{GET, false, 0},
	{GET GET, false, 0},
	{"GET / HTTP/1.1\r\nhOsT:\tA.EXAMPLE:80 \r\n\r\n", false, 0},
	{"GET http://a.example:80/x HTTP/1.1\r\nHost: a.example\r\n\r\n", false, 0},
	{"GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\n\r\n", false, 0},
	{POST "Content-Length: 3\r\n\r\nabc" GET, false, 0},
	{POST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" GET, false, 0},
	{POST "Content-Length: 30\r\n\r\nabc", false, 0},
	{"SSH-2.0-OpenSSH_9\r\n", false, 0},
	{"EHLO x\r\n", false, 0},
	{"\x01\x02\x03", false, 0},
	{"GET / HT", false, 0},
	{"ping", false, 0},
	{"twenty-five-letters-in-it", false, 0},
	{"GET / HTTP/1.1\r\nHost: b.exa", false, 27},
	/* Lines of other protocols, also where a message ends without one. */
	{"CAP LS 302\r\n", false, 0},
	{"USER x 0 * :/x\r\n", false, 0},
	{"*1\r\n$4\r\nPING\r\n", false, 0},
	{"get key\r\n", false, 0},
	{"KEYS *\r\n", false, 0},
	{"{\"run\":\"ls /tmp -l\"}\n{\"run\":\"ls\"}\n", false, 0},
	{"/path of gopher\r\n", false, 0},
	{"{\"text\":\"of HTTP/1.1, or so\"}\n", false, 0},
	{"hello /x", false, 0},
	{"of a Mac\rGET / HTTP", false, 0},
	{"GET / HTTP/1.1\r", false, 0},
	{POST "Content-Length: 21\r\n\r\nof /path\rHTTP/1.1 is\r", false, 0},
	{"PROXY", false, 0},
	{POST "Content-Length: 35\r\n\r\n192.0.2.1 - - \"GET / HTTP/1.1\" 200\n", false, 0},
	{POST "Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\n\r\n" GET, false, 0},
	{POST "Transfer-Encoding: chunked\r\n\r\n0\r\nX: http\r\nY:\r\n\r\n" GET, false, 0},
	{HEAD "Upgrade: websocket\r\n\r\n"
	      "raw",
		false, 3},

	{"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", true, 0},
	{"GET / HTTP/1.1\r\nHost: a.example.\r\n\r\n", true, 0},
	{"GET / HTTP/1.1\r\nHost: a.example.:80\r\n\r\n", true, 0},
	{"GET / HTTP/1.1\r\nHost: a.example:81\r\n\r\n", true, 0},
	{"GET / HTTP/1.1\r\nHost: a.example:\r\n\r\n", true, 0},
	{"GET http://a.example./x HTTP/1.1\r\nHost: a.example\r\n\r\n", true, 0},
	{"GET http://a.example:81/x HTTP/1.1\r\nHost: a.example\r\n\r\n", true, 0},
	{GET "GET / HTTP/1.1\r\nHost: a.example:81\r\n\r\n", true, 0},
	{"GET / HTTP/1.1\r\nHost: a.example.b\r\n\r\n", true, 0},
	{"GET / HTTP/1.1\r\nHost: xa.example\r\n\r\n", true, 0},
	{"GET / HTTP/1.1\r\nHost: a.example@b\r\n\r\n", true, 0},
	{"GET / HTTP/1.1\r\n\r\n", true, 0},
	{"GET / HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n", true, 0},
	{"GET http://b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", true, 0},
	{"GET https://b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", true, 0},
	{"CONNECT b.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n", true, 0},
	{GET "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", true, 0},
	{POST "Content-Length: 3\r\n\r\nabc"
	      "GET / HTTP/1.1\r\nHost: b\r\n\r\n",
		true, 0},
	{POST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", true, 0},
	{POST "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", true, 0},
	{POST "Content-Length: 3, 3\r\n\r\nabc", true, 0},
	{POST "Content-Length: +3\r\n\r\nabc", true, 0},
	{POST "Transfer-Encoding: identity, chunked\r\n\r\n", true, 0},
	{POST "Transfer-Encoding : chunked\r\n\r\n", true, 0},
	{POST "Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n", true, 0},
	{POST "Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n", true, 0},
	{POST "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n", true, 0},
	{"GET / HTTP/1.1\nHost: b.example\n\n", true, 0},
	{"\r\n" GET, true, 0},
	{" GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", true, 0},
	{"GET\t/\tHTTP/1.1\r\nHost: b.example\r\n\r\n", true, 0},
	{HEAD " folded\r\n\r\n", true, 0},
	{HEAD "X: a\rHost: b.example\r\n\r\n", true, 0},
	{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", true, 0},
	{"get / http/1.1\r\nhost: b.example\r\n\r\n", true, 0},
	{GET HEAD "Upgrade: websocket\r\n\r\n", true, 0},
	/* Methods may have any length. */
	{"A-METHOD-OF-25-CHARACTERS / HTTP/1.1\r\n" HOST_B, true, 0},
	{"A-METHOD-OF-26-CHARACTERS- / HTTP/1.1\r\n" HOST_B, true, 0},
	{"A-METHOD-OF-26-CHARACTERS- / HTTP/1.1\r\nHost: a.example\r\n\r\n"
	 "GET / HTTP/1.1\r\n" HOST_B,
		true, 0},
	/* HTTP/0.9, to nginx, Apache and Python. */
	{"GET /\r\n", true, 0},
	{"GET /\n", true, 0},
	{"GET http://b.example/\r\n", true, 0},
	{"GET any://b.example/\r\n", true, 0},
	{"GET any\n", true, 0},
	/* Lines that CR alone ends, to thttpd and mini-httpd. */
	{"GET / HTTP/1.1\rHost: b.example\r\r", true, 0},
	{"GET / HTTP/1.1\r\r", true, 0},
	{"\rPOST /x HTTP/1.1\rHost: b.example\rContent-Length: 1\r\rx", true, 0},
	{"GET /\rx", true, 0},
	{POST "Content-Length: 33\r\n\r\nGET /x HTTP/1.1\rHost: b.example\r\r", true, 0},
	/* Blanks, to Python. */
	{"\x1cGET\x1d/\x1eHTTP/1.1\nHost: b.example\n\n", true, 0},
	{"GET\r/\rHTTP/1.1\nHost: b.example\n\n", true, 0},
	{"\xa0GET\x85/\x0bHTTP/1.1\nHost: b.example\n\n", true, 0},
	/* Versions that are HTTP to Node, and to the JDK. */
	{"OPTIONS / RTSP/1.0\r\n" HOST_B, true, 0},
	{"OPTIONS * RTSP/1.0\r\n" HOST_B, true, 0},
	{"SOURCE /x ICE/1.0\r\n" HOST_B, true, 0},
	{"GET / anything\r\n" HOST_B, true, 0},
	{"get http://b.example/ \r\n" HOST_B, true, 0},
	/* Methods that are none but to the JDK. */
	{"\x01\x02 / x\r\n" HOST_B, true, 0},
	{"\xe9GET /x HTTP/1.1\r\r\n" HOST_B, true, 0},
	{"EHLO\n / x\r\n" HOST_B, true, 0},
	{"EHLO\r\r\n / x\r\n" HOST_B, true, 0},
	{"\r\n\r\n / x\r\n" HOST_B, true, 0},
	/* The header says that the rest comes from somebody else. */
	{"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n" GET, true, 0},
	{"PROXY UNKNOWN\r\n" GET, true, 0},
	/* A body, to who reads none. */
	{POST "Content-Length: 36\r\n\r\nGET /x HTTP/1.1\r\n" HOST_B, true, 0},
	{POST "Content-Length: 7\r\n\r\nGET /x\n", true, 0},
	{POST "Content-Length: 38\r\n\r\n\xe9"
	      "ET / HTTP/1.1 \r\n" HOST_B,
		true, 0},
	{POST "Transfer-Encoding: chunked\r\n\r\n3;x / HTTP/1.1\r\n", true, 0},
	{POST "Transfer-Encoding: chunked\r\n\r\n3;x\xa0/\xa0HTTP/1.1\r\n", true, 0},
	{POST "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\nGET / HTTP/1.1\r\n\r\n", true, 0},
	{POST "Transfer-Encoding: chunked\r\n\r\n0\r\nGET\r\n\r\n", true, 0},
	{POST "Transfer-Encoding: chunked\r\n\r\n0\r\nGET: / HTTP/1.1\r\n\r\n", true, 0},
	{POST "Transfer-Encoding: chunked\r\n\r\n0\r\nhost: web.example\r\n\r\n", true, 0},
	{POST "Transfer-Encoding: chunked\r\n\r\n0\r\n: x\r\n\r\n", true, 0},
};

START_TEST(what_is_sent)
{
	struct ward_inspect in;
	const char *s = cases[_i].sent;
	size_t pass = 0, len = strlen(s);
	ward_inspect_init(&in, "a.example", 80, true);
	int r = ward_inspect(&in, (const uint8_t *)s, len, &pass);
	ward_inspect_free(&in);
	ck_assert_msg(r == (cases[_i].refused ? -EACCES : 0), "%d: %s", r, s);
	if (r == 0)
		ck_assert_msg(
			len - pass == (size_t)cases[_i].held, "%zu held of %s", len - pass, s);
	else
		ck_assert_ptr_nonnull(in.complaint);
	/* sni = log: the same is only noted. */
	ward_inspect_init(&in, "a.example", 80, false);
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)s, len, &pass), 0);
	if (cases[_i].refused)
		ck_assert_ptr_nonnull(in.complaint);
	ward_inspect_free(&in);
}
END_TEST

/* Shows data in pieces of step bytes, what did not pass again; *ret_done is what passed. */
static int send_in(
	struct ward_inspect *in, const void *data, size_t len, size_t step, size_t *ret_done)
{
	const uint8_t *p = data;
	size_t have = 0;
	*ret_done = 0;
	while (have < len) {
		size_t pass = 0;
		have = have + step < len ? have + step : len;
		int r = ward_inspect(in, p + *ret_done, have - *ret_done, &pass);
		if (r < 0)
			return r;
		ck_assert(pass <= have - *ret_done);
		*ret_done += pass;
	}
	return 0;
}

/* The same, however it comes. */
START_TEST(what_is_sent_in_pieces)
{
	struct ward_inspect in;
	const char *s = cases[_i].sent;
	for (size_t step = 1; step < 24; step += step < 3 ? 1 : 5) {
		size_t done;
		ward_inspect_init(&in, "a.example", 80, true);
		int r = send_in(&in, s, strlen(s), step, &done);
		ward_inspect_free(&in);
		ck_assert_msg(r == (cases[_i].refused ? -EACCES : 0), "%d by %zu: %s", r, step, s);
	}
}
END_TEST

/* In pieces; the first have passed already. */
START_TEST(pieces)
{
	static const char *const sent[] = {"G", "ET", " / HTTP/1.1\r\n", "Host: b.example\r\n\r\n"};
	struct ward_inspect in;
	char waiting[128] = "";
	int r = 0;
	ward_inspect_init(&in, "a.example", 80, true);
	for (size_t i = 0; r == 0 && i < 4; i++) {
		size_t pass = 0, len;
		strcat(waiting, sent[i]);
		len = strlen(waiting);
		r = ward_inspect(&in, (const uint8_t *)waiting, len, &pass);
		ck_assert_int_eq(r, i == 3 ? -EACCES : 0);
		ck_assert(pass <= len);
		memmove(waiting, waiting + pass, len - pass + 1);
	}
	ward_inspect_free(&in);
}
END_TEST

/*
 * A line of any length is looked at up to its end, and waits for nothing. One that is longer than
 * what is kept is no request that we read, whatever its host.
 */
START_TEST(long_lines)
{
	static const size_t lengths[] = {26, 255, 256, 257, 4000, 8000, 9000, 70000, 1000000};
	static const char *const ends[] = {" / HTTP/1.1\r\n" HOST_B,
		" / HTTP/1.1\r\nHost: a.example\r\n\r\n", "\r\nGET x\r\n"};
	const size_t n = lengths[_i];
	char *word = malloc(n);
	ck_assert_ptr_nonnull(word);
	memset(word, 'X', n);
	for (int k = 0; k < 3; k++) {
		for (size_t step = 100; step <= 1000000; step *= 100) {
			struct ward_inspect in;
			size_t done;
			ward_inspect_init(&in, "a.example", 80, true);
			ck_assert_int_eq(send_in(&in, word, n, step, &done), 0);
			ck_assert_uint_eq(done, n);
			int r = send_in(&in, ends[k], strlen(ends[k]), step, &done);
			ck_assert_msg(r == (k == 0 || (k == 1 && n > 8192) ? -EACCES : 0),
				"%zu by %zu and %d: %d", n, step, k, r);
			ck_assert(k < 2 || ward_inspect_blind(&in, false));
			ward_inspect_free(&in);
		}
	}
	free(word);
}
END_TEST

/* Where the stream ends a line does: Python answers such a request. */
START_TEST(ends)
{
	static const struct {
		const char *sent;
		bool refused;
	} tries[] = {
		{"ping", false},
		{"GET", false},
		{"EHLO x", false},
		{"\x01 / x", false},
		{GET, false},
		{POST "Content-Length: 20\r\n\r\nabc d", false},
		{"GET /", true},
		{"GET / HTTP/1.1", true},
		{"PROXY UNKNOWN", true},
		{POST "Content-Length: 20\r\n\r\nGET /x HTTP/1.1", true},
		{POST "Content-Length: 6\r\n\r\nGET /x", true},
	};
	struct ward_inspect in;
	size_t done;
	ward_inspect_init(&in, "a.example", 80, true);
	ck_assert_int_eq(
		send_in(&in, tries[_i].sent, strlen(tries[_i].sent), 1 + (size_t)_i, &done), 0);
	ck_assert_uint_eq(done, strlen(tries[_i].sent));
	ck_assert(ward_inspect_may_end(&in) == !tries[_i].refused);
	ck_assert_int_eq(ward_inspect_end(&in), tries[_i].refused ? -EACCES : 0);
	ck_assert(!in.complaint == !tries[_i].refused);
	ward_inspect_free(&in);
}
END_TEST

/* A program that sends a byte and waits for the answer is not kept waiting, whatever it is. */
START_TEST(a_word_in_bytes)
{
	struct ward_inspect in;
	ward_inspect_init(&in, "a.example", 80, true);
	for (size_t i = 0; i < 64; i++) {
		size_t pass = 0;
		ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)"x", 1, &pass), 0);
		ck_assert_msg(pass == 1, "byte %zu is held", i + 1);
	}
	ck_assert_ptr_null(in.complaint);
	ward_inspect_free(&in);
}
END_TEST

START_TEST(upgrade)
{
	static const char asked[] = HEAD "Upgrade: websocket\r\n\r\n", raw[] = "\x81\x05hello";
	static const char next[] = "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n";
	struct ward_inspect in;
	size_t pass = 0;
	ward_inspect_init(&in, "a.example", 80, true);
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)asked, sizeof(asked) - 1, &pass), 0);
	ck_assert_uint_eq(pass, sizeof(asked) - 1);
	ward_inspect_reply(&in, (const uint8_t *)"HTTP/1.1 101 Switching", 22);
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)raw, sizeof(raw) - 1, &pass), 0);
	ck_assert_uint_eq(pass, sizeof(raw) - 1);
	/* A server that does not upgrade reads the rest as requests. */
	ward_inspect_init(&in, "a.example", 80, true);
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)asked, sizeof(asked) - 1, &pass), 0);
	ward_inspect_reply(&in, (const uint8_t *)"HTTP/1.1 200 OK\r\n", 17);
	ck_assert_int_eq(
		ward_inspect(&in, (const uint8_t *)next, sizeof(next) - 1, &pass), -EACCES);
}
END_TEST

/* A protocol that names a host itself may not follow an upgrade. Asking for it does no harm. */
START_TEST(upgrade_that_hides)
{
	static const char *const asked[] = {"h2c", "websocket, H2C", "TLS/1.0", "HTTP/2.0",
		"h2c\r\nUpgrade: websocket", "connect-udp"};
	static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
	static const char hello[] = "\x16\x03\x01\x00\x05hello";
	char sent[256];
	struct ward_inspect in;
	size_t pass = 0;
	int n = snprintf(sent, sizeof(sent), HEAD "Upgrade: %s\r\n\r\n", asked[_i]);
	for (int k = 0; k < 2; k++) {
		const char *next = k ? hello : preface;
		ward_inspect_init(&in, "a.example", 80, true);
		ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)sent, (size_t)n, &pass), 0);
		ck_assert_uint_eq(pass, (size_t)n);
		ward_inspect_reply(&in, (const uint8_t *)"HTTP/1.1 101 Switching", 22);
		ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)next,
					 k ? 10 : sizeof(preface) - 1, &pass),
			k ? 0 : -EACCES);
		ck_assert(k == 0 || pass == 0);
	}
	/* A server that does not care goes on in HTTP/1. */
	ward_inspect_init(&in, "a.example", 80, true);
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)sent, (size_t)n, &pass), 0);
	ward_inspect_reply(&in, (const uint8_t *)"HTTP/1.1 200 OK\r\n", 17);
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)GET, sizeof(GET) - 1, &pass), 0);
	ck_assert_uint_eq(pass, sizeof(GET) - 1);
}
END_TEST

/* Which bytes nobody looks at: never before it is known what is spoken, or who answers next. */
START_TEST(blind)
{
	static const char asked[] = HEAD "Upgrade: websocket\r\n\r\n";
	struct ward_inspect in;
	size_t pass = 0;
	ward_inspect_init(&in, "a.example", 80, true);
	ck_assert(!ward_inspect_blind(&in, false) && !ward_inspect_blind(&in, true));
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)GET, sizeof(GET) - 1, &pass), 0);
	ck_assert(!ward_inspect_blind(&in, false) && ward_inspect_blind(&in, true));
	ward_inspect_init(&in, "a.example", 80, true);
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)asked, sizeof(asked) - 1, &pass), 0);
	ck_assert(!ward_inspect_blind(&in, false) && !ward_inspect_blind(&in, true));
	ward_inspect_reply(&in, (const uint8_t *)"HTTP/1.1 101 Switching", 22);
	ck_assert(ward_inspect_blind(&in, false) && ward_inspect_blind(&in, true));
	ward_inspect_init(&in, "a.example", 80, true);
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)"GE", 2, &pass), 0);
	ck_assert(!ward_inspect_blind(&in, false) && !ward_inspect_blind(&in, true));
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)"\x01\x02\x03", 3, &pass), 0);
	/* The JDK has such methods: not before it cannot be one. */
	ck_assert(!ward_inspect_blind(&in, false) && !ward_inspect_blind(&in, true));
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)" x\n", 3, &pass), 0);
	ck_assert(ward_inspect_blind(&in, false) && ward_inspect_blind(&in, true));
	ward_inspect_free(&in);
}
END_TEST

/* A record with a ClientHello of TLS 1.2 that has a name or (NULL) none. */
static size_t put_hello(uint8_t *to, const char *name)
{
	uint8_t *p = to + 9;
	size_t n = name ? strlen(name) : 0;
	*p++ = 3;
	*p++ = 3;
	memset(p, 7, 32);
	p += 32;
	memcpy(p, "\0\0\x02\x13\x01\x01\0", 7); /* no session, a cipher, a compression */
	p += 7;
	if (name) {
		const uint8_t ext[] = {0, (uint8_t)(n + 9), 0, 0, 0, (uint8_t)(n + 5), 0,
			(uint8_t)(n + 3), 0, 0, (uint8_t)n};
		memcpy(p, ext, sizeof(ext));
		memcpy(p + sizeof(ext), name, n);
		p += sizeof(ext) + n;
	}
	const size_t size = (size_t)(p - to);
	const uint8_t head[] = {22, 3, 1, 0, (uint8_t)(size - 5), 1, 0, 0, (uint8_t)(size - 9)};
	memcpy(to, head, sizeof(head));
	return size;
}

static size_t put(uint8_t *to, size_t at, const char *data, size_t len)
{
	memcpy(to + at, data, len);
	return at + len;
}

#define BYTES(s) s, sizeof(s) - 1

/* What stands in front of a hello. */
START_TEST(before_a_hello)
{
	static const struct {
		const char *bytes;
		size_t len;
		bool good, bad; /* with a good hello behind it, with a bad one: refused */
	} fronts[] = {
		{BYTES(""), false, true},
		{BYTES("\x15\x03\x01\x00\x02\x01\x70"), true, true}, /* a warning */
		{BYTES("\x15\x0f\x01\x00\x02\x01\x70"), true, true},
		{BYTES("\x15\x00\x00\x00\x00"), true, true},
		{BYTES("\x14\x03\x03\x00\x01\x01"), true, true},
		{BYTES("\x17\x03\x03\x00\x01\x01"), true, true},
		{BYTES("\x18\x03\x03\x00\x01\x01"), true, true},
		{BYTES("\x16\x04\x01"), true, true},
		{BYTES("\x16\xff\x01"), true, true},
		{BYTES("\x16\x03\x01\x00\x04\x00\x00\x00\x00"), true, true}, /* a HelloRequest */
		{BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n"), true, true},
		{BYTES("\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"), true, true},
		/* Nobody's TLS. */
		{BYTES("\x19\x03\x01 x"), false, false},
		{BYTES("\x13\x03\x01 x"), false, false},
		{BYTES("\r\n\r\n\0\r\nQUIZ\n"), false, false},
	};
	uint8_t sent[512];
	struct ward_inspect in;
	for (size_t step = 1; step < 300; step += step < 9 ? 4 : 290) {
		for (int bad = 0; bad < 3; bad++) {
			static const char *const names[] = {"a.example", "b.example", NULL};
			size_t done, n = put(sent, 0, fronts[_i].bytes, fronts[_i].len);
			n += put_hello(sent + n, names[bad]);
			ward_inspect_init(&in, "a.example", 80, true);
			int r = send_in(&in, sent, n, step, &done);
			ward_inspect_free(&in);
			ck_assert_msg(r == ((bad ? fronts[_i].bad : fronts[_i].good) ? -EACCES : 0),
				"%d, %d by %zu: %d", _i, bad, step, r);
			ck_assert(r < 0 || done == n);
		}
	}
}
END_TEST

START_TEST(name_with_a_dot)
{
	struct ward_inspect in;
	uint8_t sent[256];
	size_t done;
	ward_inspect_init(&in, "a.example", 80, true);
	ck_assert_int_eq(send_in(&in, sent, put_hello(sent, "A.Example"), 99, &done), 0);
	/* RFC 6066, 3, and RFC 4343: the case of a name says nothing, in either direction */
	ward_inspect_init(&in, "a.example", 80, true);
	ck_assert_int_eq(send_in(&in, sent, put_hello(sent, "B.Example"), 99, &done), -EACCES);
	ward_inspect_init(&in, "a.example", 80, true);
	ck_assert_int_eq(send_in(&in, sent, put_hello(sent, "a.example."), 99, &done), -EACCES);
}
END_TEST

/* The format of SSLv2 has no name. */
START_TEST(old_hello)
{
	static const struct {
		const char *bytes;
		size_t len;
		bool refused;
	} tries[] = {
		{BYTES("\x80\x2e\x01\x03\x01\x00\x15\x00"), true},
		{BYTES("\x80\x2e\x01\x03\x03\x00\x15\x00"), true},
		{BYTES("\xff\x2e\x01\x00\x02\x00\x15\x00"), true},
		{BYTES("\x00\x2e\x00\x01\x03\x01\x00\x15"), true},
		{BYTES("\x80\x2e\x01\x00\x03\x00\x15\x00"), false},
		{BYTES("\x80\x2e\x01\x04\x01\x00\x15\x00"), false},
		{BYTES("\x80\x2e\x02\x03\x01\x00\x15\x00"), false},
		{BYTES("\x00\x05\x00\x01\x03\x01\x00\x15"), false},
		{BYTES("\x80\x2e\x01\x03"), false},
		{BYTES("\x80"), false},
	};
	struct ward_inspect in;
	for (size_t step = 1; step < 9; step += 7) {
		size_t done;
		ward_inspect_init(&in, "a.example", 80, true);
		int r = send_in(&in, tries[_i].bytes, tries[_i].len, step, &done);
		ward_inspect_free(&in);
		ck_assert_int_eq(r, tries[_i].refused ? -EACCES : 0);
		ck_assert(r < 0 || done == tries[_i].len);
	}
}
END_TEST

/* Between a hello and the one that follows a HelloRetryRequest. */
START_TEST(between_hellos)
{
	static const struct {
		const char *bytes;
		size_t len;
	} between[] = {
		{BYTES("")},
		{BYTES("\x17\x03\x03\x00\x05hello")},
		{BYTES("\x15\x03\x03\x00\x02\x01\x00")},
		{BYTES("\x14\x03\x03\x00\x01\x01")},
		{BYTES("\x14\x03\x03\x00\x01\x01\x17\x03\x03\x00\x02hi\x17\x03\x03\x00\x00")},
	};
	static const char *const names[] = {"a.example", "b.example", NULL};
	uint8_t sent[1024];
	struct ward_inspect in;
	for (size_t step = 1; step < 1000; step = step * 7 + 1) {
		for (int k = 0; k < 3; k++) {
			size_t done, n = put_hello(sent, "a.example");
			n = put(sent, n, between[_i].bytes, between[_i].len);
			n += put_hello(sent + n, names[k]);
			ward_inspect_init(&in, "a.example", 80, true);
			ck_assert_int_eq(send_in(&in, sent, n, step, &done), k ? -EACCES : 0);
			ck_assert(k || done == n);
			ward_inspect_free(&in);
		}
		/* And nothing else. */
		size_t done, n = put_hello(sent, "a.example");
		n = put(sent, n, between[_i].bytes, between[_i].len);
		n = put(sent, n, "ping", 4);
		ward_inspect_init(&in, "a.example", 80, true);
		ck_assert_int_eq(send_in(&in, sent, n, step, &done), -EACCES);
		ward_inspect_free(&in);
	}
}
END_TEST

#define SERVER_HELLO "\x16\x03\x03\x00\x2c\x02\x00\x00\x28\x03\x03"
#define RANDOM "0123456789abcdef0123456789abcdef"
#define RETRY                                                                                      \
	"\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"                         \
	"\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c"
#define REST "\0\x13\x01\0\0\0"

/* Until the server has answered, every hello counts. */
START_TEST(after_the_answer)
{
	static const struct {
		const char *bytes;
		size_t len;
		bool answers, tls;
	} replies[] = {
		{BYTES(SERVER_HELLO RANDOM REST), true, true},
		/* Of a name that it does not know a server may warn. */
		{BYTES("\x15\x03\x03\x00\x02\x01\x70" SERVER_HELLO RANDOM REST), true, true},
		{BYTES("\x16\x03\x03\x00\x01\x02\x16\x03\x03\x00\x2b\x00\x00\x28\x03\x03" RANDOM
				 REST),
			true, true},
		{BYTES(SERVER_HELLO RETRY REST), false, true},
		{BYTES(SERVER_HELLO RETRY REST "\x14\x03\x03\x00\x01\x01"), false, true},
		{BYTES(SERVER_HELLO RETRY REST SERVER_HELLO RANDOM REST), true, true},
		{BYTES("\x16"), false, true},
		{BYTES("\x15\x03\x03\x00\x02\x02\x28"), false, true},
		{BYTES("HTTP/1.1 400 Bad Request\r\n\r\n"), false, false},
		{BYTES("\x16\x03\x03\x00\x04\x06\x00\x00\x00"), false, false},
	};
	const uint8_t *reply = (const uint8_t *)replies[_i].bytes;
	for (size_t step = 1; step < 300; step = step * 5 + 1) {
		struct ward_inspect in;
		uint8_t sent[256];
		size_t done, n = put_hello(sent, "a.example");
		ward_inspect_init(&in, "a.example", 80, true);
		ck_assert_int_eq(send_in(&in, sent, n, n, &done), 0);
		ck_assert_uint_eq(done, n);
		ck_assert(!ward_inspect_blind(&in, true) && !ward_inspect_blind(&in, false));
		for (size_t at = 0; at < replies[_i].len; at += step)
			ward_inspect_reply(&in, reply + at,
				step < replies[_i].len - at ? step : replies[_i].len - at);
		ck_assert(ward_inspect_blind(&in, false) == replies[_i].answers);
		ck_assert(
			ward_inspect_blind(&in, true) == (replies[_i].answers || !replies[_i].tls));
		n = put_hello(sent, "b.example");
		ck_assert_int_eq(
			send_in(&in, sent, n, n, &done), replies[_i].answers ? 0 : -EACCES);
		ward_inspect_free(&in);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("net_inspect");
	TCase *t = tcase_create("all");
	tcase_add_loop_test(t, what_is_sent, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(t, what_is_sent_in_pieces, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(t, long_lines, 0, 9);
	tcase_add_loop_test(t, ends, 0, 11);
	tcase_add_loop_test(t, before_a_hello, 0, 15);
	tcase_add_loop_test(t, old_hello, 0, 10);
	tcase_add_test(t, name_with_a_dot);
	tcase_add_loop_test(t, between_hellos, 0, 5);
	tcase_add_loop_test(t, after_the_answer, 0, 10);
	tcase_add_test(t, upgrade);
	tcase_add_test(t, pieces);
	tcase_add_test(t, a_word_in_bytes);
	tcase_add_test(t, blind);
	tcase_add_loop_test(t, upgrade_that_hides, 0, 6);
	suite_add_tcase(s, t);
	return suite_run(s);
}
