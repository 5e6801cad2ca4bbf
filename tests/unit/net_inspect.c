/* SPDX-License-Identifier: Apache-2.0 */
/* What a program may send to the destination a.example, with sni = require. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/net/inspect.h"
#include "tests/support/suite.h"

#define HEAD "GET / HTTP/1.1\r\nHost: a.example\r\n"
#define GET HEAD "\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a.example\r\n"

static const struct {
	const char *sent;
	bool refused;
	int held; /* bytes that wait; where nothing is refused */
} cases[] = {
	{GET, false, 0},
	{GET GET, false, 0},
	{"GET / HTTP/1.1\r\nhOsT:\tA.EXAMPLE.:80 \r\n\r\n", false, 0},
	{"GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\n\r\n", false, 0},
	{POST "Content-Length: 3\r\n\r\nabc" GET, false, 0},
	{POST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" GET, false, 0},
	{POST "Content-Length: 30\r\n\r\nabc", false, 0},
	{"SSH-2.0-OpenSSH_9\r\n", false, 0},
	{"EHLO x\r\n", false, 0},
	{"\x01\x02\x03", false, 0},
	{"GET / HT", false, 5},
	{"ping", false, 0},
	{"twenty-five-letters-in-it", false, 0},
	{"GET / HTTP/1.1\r\nHost: b.exa", false, 24},
	{HEAD "Upgrade: websocket\r\n\r\n"
	      "raw",
		false, 3},

	{"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", true, 0},
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
	/* As long as what is taken for a method. */
	{"A-METHOD-OF-25-CHARACTERS / HTTP/1.1\r\nHost: b.example\r\n\r\n", true, 0},
};

START_TEST(what_is_sent)
{
	struct ward_inspect in;
	const char *s = cases[_i].sent;
	size_t pass = 0, len = strlen(s);
	ward_inspect_init(&in, "a.example", true);
	int r = ward_inspect(&in, (const uint8_t *)s, len, &pass);
	ck_assert_msg(r == (cases[_i].refused ? -EACCES : 0), "%d: %s", r, s);
	if (r == 0)
		ck_assert_msg(
			len - pass == (size_t)cases[_i].held, "%zu held of %s", len - pass, s);
	else
		ck_assert_ptr_nonnull(in.complaint);
	/* sni = log: the same is only noted. */
	ward_inspect_init(&in, "a.example", false);
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)s, len, &pass), 0);
	if (cases[_i].refused)
		ck_assert_ptr_nonnull(in.complaint);
}
END_TEST

/* In pieces, of which the first have passed. */
START_TEST(pieces)
{
	static const char *const sent[] = {"G", "ET", " / HTTP/1.1\r\n", "Host: b.example\r\n\r\n"};
	struct ward_inspect in;
	char waiting[128] = "";
	int r = 0;
	ward_inspect_init(&in, "a.example", true);
	for (size_t i = 0; r == 0 && i < 4; i++) {
		size_t pass = 0, len;
		strcat(waiting, sent[i]);
		len = strlen(waiting);
		r = ward_inspect(&in, (const uint8_t *)waiting, len, &pass);
		ck_assert_int_eq(r, i == 3 ? -EACCES : 0);
		ck_assert(pass <= len);
		memmove(waiting, waiting + pass, len - pass + 1);
	}
}
END_TEST

/* A program that sends a byte and waits for the answer is not kept waiting, whatever it is. */
START_TEST(a_word_in_bytes)
{
	struct ward_inspect in;
	ward_inspect_init(&in, "a.example", true);
	for (size_t i = 0; i < 64; i++) {
		size_t pass = 0;
		ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)"x", 1, &pass), 0);
		ck_assert_msg(pass == 1, "byte %zu is held", i + 1);
	}
	ck_assert_ptr_null(in.complaint);
}
END_TEST

START_TEST(upgrade)
{
	static const char asked[] = HEAD "Upgrade: websocket\r\n\r\n", raw[] = "\x81\x05hello";
	static const char next[] = "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n";
	struct ward_inspect in;
	size_t pass = 0;
	ward_inspect_init(&in, "a.example", true);
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)asked, sizeof(asked) - 1, &pass), 0);
	ck_assert_uint_eq(pass, sizeof(asked) - 1);
	ward_inspect_reply(&in, (const uint8_t *)"HTTP/1.1 101 Switching", 22);
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)raw, sizeof(raw) - 1, &pass), 0);
	ck_assert_uint_eq(pass, sizeof(raw) - 1);
	/* A server that does not upgrade reads the rest as requests. */
	ward_inspect_init(&in, "a.example", true);
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)asked, sizeof(asked) - 1, &pass), 0);
	ward_inspect_reply(&in, (const uint8_t *)"HTTP/1.1 200 OK\r\n", 17);
	ck_assert_int_eq(
		ward_inspect(&in, (const uint8_t *)next, sizeof(next) - 1, &pass), -EACCES);
}
END_TEST

/* What names a host by itself is not what an upgrade may lead to; asking for it is no harm. */
START_TEST(upgrade_that_hides)
{
	static const char *const asked[] = {
		"h2c", "websocket, H2C", "TLS/1.0", "HTTP/2.0", "h2c\r\nUpgrade: websocket"};
	static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
	static const char hello[] = "\x16\x03\x01\x00\x05hello";
	char sent[256];
	struct ward_inspect in;
	size_t pass = 0;
	int n = snprintf(sent, sizeof(sent), HEAD "Upgrade: %s\r\n\r\n", asked[_i]);
	for (int k = 0; k < 2; k++) {
		const char *next = k ? hello : preface;
		ward_inspect_init(&in, "a.example", true);
		ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)sent, (size_t)n, &pass), 0);
		ck_assert_uint_eq(pass, (size_t)n);
		ward_inspect_reply(&in, (const uint8_t *)"HTTP/1.1 101 Switching", 22);
		ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)next,
					 k ? 10 : sizeof(preface) - 1, &pass),
			k ? 0 : -EACCES);
		ck_assert(k == 0 || pass == 0);
	}
	/* A server that does not care goes on in HTTP/1. */
	ward_inspect_init(&in, "a.example", true);
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
	ward_inspect_init(&in, "a.example", true);
	ck_assert(!ward_inspect_blind(&in, false) && !ward_inspect_blind(&in, true));
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)GET, sizeof(GET) - 1, &pass), 0);
	ck_assert(!ward_inspect_blind(&in, false) && ward_inspect_blind(&in, true));
	ward_inspect_init(&in, "a.example", true);
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)asked, sizeof(asked) - 1, &pass), 0);
	ck_assert(!ward_inspect_blind(&in, false) && !ward_inspect_blind(&in, true));
	ward_inspect_reply(&in, (const uint8_t *)"HTTP/1.1 101 Switching", 22);
	ck_assert(ward_inspect_blind(&in, false) && ward_inspect_blind(&in, true));
	ward_inspect_init(&in, "a.example", true);
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)"GE", 2, &pass), 0);
	ck_assert(!ward_inspect_blind(&in, false) && !ward_inspect_blind(&in, true));
	ck_assert_int_eq(ward_inspect(&in, (const uint8_t *)"\x01\x02\x03", 3, &pass), 0);
	ck_assert(ward_inspect_blind(&in, false) && ward_inspect_blind(&in, true));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("net_inspect");
	TCase *t = tcase_create("all");
	tcase_add_loop_test(t, what_is_sent, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(t, upgrade);
	tcase_add_test(t, pieces);
	tcase_add_test(t, a_word_in_bytes);
	tcase_add_test(t, blind);
	tcase_add_loop_test(t, upgrade_that_hides, 0, 5);
	suite_add_tcase(s, t);
	return suite_run(s);
}
