/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of HTTP/1.1: whole, in pieces, cut, and those that are none. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/send/http_answer.h"
#include "tests/support/suite.h"

#define NOW INT64_C(1445412480) /* Wed, 21 Oct 2015 07:28:00 GMT */

struct result {
	int r;
	struct send_answer a;
	char body[256];
};

/* A copy on the heap of exactly that length, for the sanitizer to watch. */
static struct result take(const char *text, size_t len)
{
	struct result x = {.r = 0};
	char *copy = malloc(len ? len : 1);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, len);
	x.r = send_answer_take(copy, len, NOW, &x.a);
	if (x.r > 0) {
		ck_assert_uint_le(x.a.body + x.a.len, len);
		ck_assert_uint_lt(x.a.len, sizeof(x.body));
		memcpy(x.body, copy + x.a.body, x.a.len);
	}
	free(copy);
	return x;
}

static struct result take_text(const char *text)
{
	return take(text, strlen(text));
}

/* Is the answer complete with its last byte, and not before? */
static struct result take_pieces(const char *text)
{
	for (size_t n = 0; n < strlen(text); n++)
		ck_assert_msg(take(text, n).r == 0, "%zu bytes of %s", n, text);
	return take_text(text);
}

START_TEST(a_body_with_a_length)
{
	struct result x = take_pieces("HTTP/1.1 200 OK\r\nContent-Type: application/json; x=y\r\n"
				      "content-length:  3 \r\n\r\n{ }");
	ck_assert_int_eq(x.r, 1);
	ck_assert_uint_eq(x.a.status, 200);
	ck_assert_str_eq(x.body, "{ }");
	ck_assert(x.a.json);
	ck_assert_int_eq(x.a.retry_after, -1);
	/* The bytes after it belong to no answer. */
	x = take_text("HTTP/1.0 503 \r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nabc");
	ck_assert_int_eq(x.r, 1);
	ck_assert_str_eq(x.body, "a");
	ck_assert_int_eq(take_text("HTTP/1.1 204\r\n\r\n").r, 1);
}
END_TEST

START_TEST(a_body_in_chunks)
{
	struct result x =
		take_pieces("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 X\r\nA: b\r\n\r\n"
			    "HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\n\r\n"
			    "3\r\nabc\r\nA;x=y\r\n0123456789\r\n01 \r\nz\r\n0\r\nT: 1\r\n\r\n");
	ck_assert_int_eq(x.r, 1);
	ck_assert_uint_eq(x.a.status, 400);
	ck_assert_str_eq(x.body, "abc0123456789z");
	ck_assert(!x.a.until_end);
}
END_TEST

START_TEST(a_body_until_the_end)
{
	struct result x = take_text("HTTP/1.1 200 OK\r\n\r\nabc");
	ck_assert_int_eq(x.r, 1);
	ck_assert(x.a.until_end);
	ck_assert_str_eq(x.body, "abc");
}
END_TEST

START_TEST(when_to_come_back)
{
	static const struct {
		const char *value;
		int64_t seconds;
	} all[] = {{"0", 0}, {"120", 120}, {"Wed, 21 Oct 2015 07:28:30 GMT", 30},
		{"Wed, 21 Oct 2015 07:00:00 GMT", 0}, {"-1", -1}, {"1.5", -1}, {"soon", -1},
		{"99999999999999999999", -1}, {"Wed, 21 Oct 2015 07:28:30 CET", -1}, {"", -1}};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		char text[128];
		snprintf(text, sizeof(text),
			"HTTP/1.1 429 X\r\nRetry-After: %s\r\nContent-Length: 0\r\n\r\n",
			all[i].value);
		struct result x = take_text(text);
		ck_assert_int_eq(x.r, 1);
		ck_assert_msg(x.a.retry_after == all[i].seconds, "%s: %lld", all[i].value,
			(long long)x.a.retry_after);
	}
}
END_TEST

START_TEST(what_is_no_answer)
{
	static const char *const all[] = {"SSH-2.0-x\r\n", "HTTP/2.0 200 OK\r\n\r\n",
		"HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 600 OK\r\n\r\n", "HTTP/1.1 2000\r\n\r\n",
		"HTTP/1.1 200 OK\n\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
		"HTTP/1.1 200 OK\r\n: x\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\n", "\r\n\r\n"};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		ck_assert_msg(take_text(all[i]).r == -EBADMSG, "%s", all[i]);
	ck_assert_int_eq(take("HTTP/1.1 200 O\0K\r\n\r\n", 20).r, -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("http_answer");
	TCase *t = tcase_create("answers");
	tcase_add_test(t, a_body_with_a_length);
	tcase_add_test(t, a_body_in_chunks);
	tcase_add_test(t, a_body_until_the_end);
	tcase_add_test(t, when_to_come_back);
	tcase_add_test(t, what_is_no_answer);
	suite_add_tcase(s, t);
	return suite_run(s);
}
