/* SPDX-License-Identifier: Apache-2.0 */
/* What we tell a proxy about the session, and the form of the request. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "audit/log/chain.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/net/protocol/token.h"
#include "enforcer/net/protocol/upstream.h"
#include "tests/support/suite.h"

#define NOW 1800000000U
#define POLICY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static struct ward_signing_key host_key(uint8_t fill)
{
	struct ward_signing_key key;
	uint8_t seed[WARD_KEY_BYTES];
	ck_assert_int_eq(ward_chain_setup(), 0);
	memset(seed, fill, sizeof(seed));
	ward_signing_key_from_seed(seed, &key);
	return key;
}

static size_t make_signed(const struct ward_signing_key *key, const char *session, const char *to,
	char token[WARD_TOKEN_MAX])
{
	char grant[WARD_TOKEN_GRANT_MAX];
	uint8_t seed[WARD_TOKEN_SEED_BYTES];
	struct ward_token_signer s;
	size_t claim = 0;
	ck_assert_int_eq(ward_token_grant(key, session, NOW, grant, seed), 0);
	ck_assert_int_eq(ward_token_signer_open(grant, seed, &s), 0);
	ck_assert_int_eq(ward_token_sign(&s, POLICY, to, NOW + 5, token, &claim), 0);
	seed[0] ^= 1;
	ck_assert_int_eq(ward_token_signer_open(grant, seed, &s), -EBADMSG);
	return claim;
}

START_TEST(a_token_says_who_asks)
{
	struct ward_signing_key key = host_key(1), other = host_key(2);
	const struct ward_public_key both[] = {other.pub, key.pub};
	char text[WARD_TOKEN_MAX];
	struct ward_token t;
	make_signed(&key, "s.1-x_Y", "[2001:db8::1]:443", text);
	ck_assert_int_eq(ward_token_parse(text, strlen(text), &t), 0);
	ck_assert_str_eq(t.session, "s.1-x_Y");
	ck_assert_str_eq(t.destination, "[2001:db8::1]:443");
	ck_assert_str_eq(t.policy, POLICY);
	ck_assert_uint_eq(t.number, 1);
	ck_assert_uint_eq(t.expires_s, NOW + 65);
	size_t signer = 0;
	ck_assert_int_eq(ward_token_check(&t, text, both, 2, NOW + 5, 0, &signer), WARD_TOKEN_GOOD);
	ck_assert_uint_eq(signer, 1);
	ck_assert_int_eq(ward_token_check(&t, text, both, 1, NOW + 5, 0, NULL), WARD_TOKEN_FORGED);
	ck_assert_int_eq(ward_token_check(&t, text, both, 2, NOW + 65, 0, NULL), WARD_TOKEN_GOOD);
	ck_assert_int_eq(
		ward_token_check(&t, text, both, 2, NOW + 66, 0, NULL), WARD_TOKEN_EXPIRED);
	ck_assert_int_eq(
		ward_token_check(&t, text, both, 2, NOW + 66, 30, NULL), WARD_TOKEN_EXPIRED);
	ck_assert_int_eq(ward_token_check(&t, text, both, 2, NOW - 1, 0, NULL), WARD_TOKEN_EARLY);
	ck_assert_int_eq(ward_token_check(&t, text, both, 2, NOW - 1, 30, NULL), WARD_TOKEN_GOOD);
}
END_TEST

/* Any one bit, any one byte less or more: not a token, or not believed. */
START_TEST(nothing_of_a_token_can_change)
{
	struct ward_signing_key key = host_key(1);
	char text[WARD_TOKEN_MAX], bad[WARD_TOKEN_MAX];
	struct ward_token t;
	make_signed(&key, "session", "web.example:443", text);
	size_t n = strlen(text);
	for (size_t i = 0; i < n * 8; i++) {
		memcpy(bad, text, n + 1);
		bad[i / 8] = (char)(bad[i / 8] ^ 1 << i % 8);
		ck_assert(ward_token_parse(bad, n, &t) < 0 ||
			  ward_token_check(&t, bad, &key.pub, 1, NOW + 5, 30, NULL) ==
				  WARD_TOKEN_FORGED);
	}
	for (size_t i = 0; i < n; i++) {
		memcpy(bad, text, i);
		memcpy(bad + i, text + i + 1, n - i);
		ck_assert(ward_token_parse(text, i, &t) < 0);
		ck_assert(ward_token_parse(bad, n - 1, &t) < 0 ||
			  ward_token_check(&t, bad, &key.pub, 1, NOW + 5, 30, NULL) ==
				  WARD_TOKEN_FORGED);
	}
	memcpy(bad, text, n);
	bad[n] = '~';
	ck_assert_int_eq(ward_token_parse(bad, n + 1, &t), -EBADMSG);
}
END_TEST

START_TEST(a_grant_ends)
{
	struct ward_signing_key key = host_key(1);
	char grant[WARD_TOKEN_GRANT_MAX], text[WARD_TOKEN_MAX], name[82];
	uint8_t seed[WARD_TOKEN_SEED_BYTES];
	struct ward_token_signer s;
	size_t claim;
	memset(name, 'n', 81);
	name[81] = 0;
	ck_assert_int_eq(ward_token_grant(&key, name, NOW, grant, seed), -EINVAL);
	ck_assert_int_eq(ward_token_grant(&key, "a~b", NOW, grant, seed), -EINVAL);
	name[80] = 0;
	ck_assert_int_eq(ward_token_grant(&key, name, NOW, grant, seed), 0);
	ck_assert_int_eq(ward_token_signer_open(grant, seed, &s), 0);
	ck_assert_int_eq(
		ward_token_sign(&s, POLICY, "a:1", NOW + WARD_TOKEN_GRANT_LIFE_S, text, &claim), 0);
	ck_assert_int_eq(
		ward_token_sign(&s, POLICY, "a:1", NOW + WARD_TOKEN_GRANT_LIFE_S + 1, text, &claim),
		-EKEYEXPIRED);
	ck_assert_int_eq(ward_token_sign(&s, "00", "a:1", NOW, text, &claim), -EINVAL);
}
END_TEST

/* --- the proxy's protocols --- */

/* Feeds answer in steps; returns what was taken or the error; out: all that was sent. */
static ssize_t talk(
	struct ward_upstream *u, const char *answer, size_t len, size_t step, struct ward_buf *out)
{
	size_t at = 0;
	while (at < len && u->state != WARD_UPSTREAM_STREAM) {
		size_t n = len - at < step ? len - at : step;
		ssize_t r = ward_upstream_take(u, (const uint8_t *)answer + at, n, out);
		if (r < 0)
			return r;
		ck_assert(r > 0 && (size_t)r <= n);
		at += (size_t)r;
	}
	return (ssize_t)at;
}

static const struct ward_proxy http_proxy = {.host = "p", .port = 1};
static const struct ward_proxy socks_proxy = {.socks = true, .host = "p", .port = 1};

#define OK_HEAD "HTTP/1.0 200 Connection established\r\nVia: x\r\n\r\n"

static const struct {
	const char *answer;
	ssize_t want; /* taken, or the error */
} heads[] = {
	{OK_HEAD, sizeof(OK_HEAD) - 1},
	{OK_HEAD "SSH-2.0", sizeof(OK_HEAD) - 1},
	{"HTTP/1.1 204\r\n\r\nx", 16},
	{"HTTP/1.1 403 Forbidden\r\n\r\n", -ECONNREFUSED},
	{"HTTP/1.1 407 Login\r\n\r\n", -ECONNREFUSED},
	{"HTTP/1.1 100 Continue\r\n\r\n", -ECONNREFUSED},
	{"HTTP/1.1 099 x\r\n\r\n", -EBADMSG},
	{"HTTP/1.1 2000 x\r\n\r\n", -EBADMSG},
	{"HTTP/1.1 20 x\r\n\r\n", -EBADMSG},
	{"HTTP/2.0 200 OK\r\n\r\n", -EBADMSG},
	{"HTTP/1.1  200 OK\r\n\r\n", -EBADMSG},
	{"SSH-2.0-x\r\n", -EBADMSG},
};

START_TEST(answers_of_http)
{
	for (size_t step = 1; step < 200; step += 40) {
		struct ward_upstream u;
		ward_cleanup(ward_buf_clear) struct ward_buf out = WARD_BUF_INIT;
		const char *answer = heads[_i].answer;
		ck_assert_int_eq(
			ward_upstream_begin(&u, &http_proxy, "a.example", 443, NULL, "", 0, &out),
			0);
		ck_assert_str_eq(ward_buf_str(&out),
			"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n");
		ssize_t r = talk(&u, answer, strlen(answer), step, &out);
		ck_assert_msg(r == heads[_i].want, "%s: %zd", answer, r);
		ck_assert_int_eq(u.state == WARD_UPSTREAM_STREAM, r > 0);
		ck_assert_int_eq(u.why[0] != 0, r < 0);
		ward_upstream_clear(&u);
	}
}
END_TEST

START_TEST(an_endless_head_is_refused)
{
	struct ward_upstream u;
	ward_cleanup(ward_buf_clear) struct ward_buf out = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf head = WARD_BUF_INIT;
	ward_buf_puts(&head, "HTTP/1.1 200 OK\r\n");
	for (int i = 0; i < 4000; i++)
		ward_buf_puts(&head, "X: y\r\n");
	ck_assert_int_eq(ward_upstream_begin(&u, &http_proxy, "a", 1, "X-Id", "T", 0, &out), 0);
	ck_assert_ptr_nonnull(strstr(ward_buf_str(&out), "\r\nX-Id: T\r\n\r\n"));
	ck_assert_int_eq(talk(&u, head.data, head.len, 1000, &out), -EBADMSG);
	ward_upstream_clear(&u);
	ward_buf_clear(&out);
	ck_assert_int_eq(ward_upstream_begin(&u, &http_proxy, "2001:db8::1", 1,
				 "Proxy-Authorization", "T", 0, &out),
		0);
	ck_assert_str_eq(ward_buf_str(&out),
		"CONNECT [2001:db8::1]:1 HTTP/1.1\r\nHost: [2001:db8::1]:1\r\n"
		"Proxy-Authorization: Bearer T\r\n\r\n");
	ward_upstream_clear(&u);
}
END_TEST

static const struct {
	const char *answer;
	size_t len;
	ssize_t want;
} replies[] = {
	{"\5\0\5\0\0\1abcdxySTREAM", 18, 12},
	{"\5\0\5\0\0\4abcdefghabcdefghxyS", 25, 24},
	{"\5\0\5\0\0\3\3abcxyS", 13, 12},
	{"\5\0\5\0\0\3\0xyS", 10, 9},
	{"\5\0\5\2\0\1abcdxy", 12, -ECONNREFUSED},
	{"\5\0\5\0\1\1abcdxy", 12, -EBADMSG},
	{"\5\0\5\0\0\2abcdxy", 12, -EBADMSG},
	{"\5\0\4\0\0\1abcdxy", 12, -EBADMSG},
	{"\5\2\5\0\0\1abcdxy", 12, -ECONNREFUSED},
	{"\5\377\5\0\0\1abcdxy", 12, -ECONNREFUSED},
	{"\4\0", 2, -EBADMSG},
};

START_TEST(answers_of_socks)
{
	for (size_t step = 1; step < 30; step += 9) {
		struct ward_upstream u;
		ward_cleanup(ward_buf_clear) struct ward_buf out = WARD_BUF_INIT;
		ck_assert_int_eq(
			ward_upstream_begin(&u, &socks_proxy, "ab", 258, NULL, "", 0, &out), 0);
		ck_assert_uint_eq(out.len, 3);
		ssize_t r = talk(&u, replies[_i].answer, replies[_i].len, step, &out);
		ck_assert_msg(r == replies[_i].want, "%d: %zd", _i, r);
		if (r > 0) {
			ck_assert_uint_eq(out.len, 3 + 9);
			ck_assert_mem_eq(out.data, "\5\1\0\5\1\0\3\2ab\1\2", 12);
		}
		ward_upstream_clear(&u);
	}
}
END_TEST

START_TEST(socks_with_a_login)
{
	struct ward_signing_key key = host_key(1);
	struct ward_upstream u;
	ward_cleanup(ward_buf_clear) struct ward_buf out = WARD_BUF_INIT;
	char token[WARD_TOKEN_MAX], name[81], to[100], together[WARD_TOKEN_MAX];
	memset(name, 's', 80);
	name[80] = 0;
	/* The longest session and the longest destination that are promised to fit. */
	memset(to, 'd', 70);
	memcpy(to + 64, ":65535", 7);
	size_t claim = make_signed(&key, name, to, token);
	ck_assert_int_eq(ward_upstream_begin(&u, &socks_proxy, "10.0.0.1", 80,
				 "proxy-authorization", token, claim, &out),
		0);
	ck_assert_mem_eq(out.data, "\5\1\2", 3);
	ck_assert_int_eq(talk(&u, "\5\2\1\0\5\0\0\1abcdxy", 14, 1, &out), 14);
	ck_assert_int_eq(u.state, WARD_UPSTREAM_STREAM);
	const uint8_t *p = (const uint8_t *)out.data + 3;
	ck_assert_uint_eq(p[0], 1);
	size_t user = p[1], password = p[2 + user];
	memcpy(together, p + 2, user);
	together[user] = '~';
	memcpy(together + user + 1, p + 3 + user, password);
	together[user + 1 + password] = 0;
	ck_assert_str_eq(together, token);
	ck_assert_mem_eq(p + 3 + user + password, "\5\1\0\1\n\0\0\1\0\120", 10);
	ward_upstream_clear(&u);
	ward_buf_clear(&out);
	ck_assert_int_eq(ward_upstream_begin(&u, &socks_proxy, "a", 80, "proxy-authorization",
				 token, claim, &out),
		0);
	ck_assert_int_eq(talk(&u, "\5\2\1\1", 4, 4, &out), -ECONNREFUSED);
	ward_upstream_clear(&u);
	ward_buf_clear(&out);
	ck_assert_int_eq(ward_upstream_begin(&u, &socks_proxy, "a", 80, "proxy-authorization",
				 token, 400, &out),
		-ENAMETOOLONG);
	ward_upstream_clear(&u);
}
END_TEST

static const struct {
	const char *url;
	bool ok, socks;
	const char *host;
	uint16_t port;
} urls[] = {
	{"http://Proxy.Example:3128", true, false, "proxy.example", 3128},
	{"http://10.0.0.1:1/", true, false, "10.0.0.1", 1},
	{"socks5://[2001:db8::1]:1080", true, true, "2001:db8::1", 1080},
	{"https://a:1", false, false, "", 0},
	{"http://a", false, false, "", 0},
	{"http://a:", false, false, "", 0},
	{"http://a:0", false, false, "", 0},
	{"http://a:65536", false, false, "", 0},
	{"http://a:1x", false, false, "", 0},
	{"http://a:1/x", false, false, "", 0},
	{"http://u:p@a:1", false, false, "", 0},
	{"http://[::1:1", false, false, "", 0},
	{"http://:1", false, false, "", 0},
	{"http://a b:1", false, false, "", 0},
	{"socks4://a:1", false, false, "", 0},
};

START_TEST(urls_of_proxies)
{
	struct ward_proxy p;
	struct ward_err err = WARD_ERR_INIT;
	int r = ward_proxy_parse(urls[_i].url, &p, &err);
	ck_assert_msg((r == 0) == urls[_i].ok, "%s: %s", urls[_i].url, err.text);
	if (r == 0) {
		ck_assert_int_eq(p.socks, urls[_i].socks);
		ck_assert_str_eq(p.host, urls[_i].host);
		ck_assert_uint_eq(p.port, urls[_i].port);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("net_upstream");
	TCase *t = tcase_create("net_upstream");
	tcase_set_timeout(t, 120);
	tcase_add_test(t, a_token_says_who_asks);
	tcase_add_test(t, nothing_of_a_token_can_change);
	tcase_add_test(t, a_grant_ends);
	tcase_add_loop_test(t, answers_of_http, 0, sizeof(heads) / sizeof(heads[0]));
	tcase_add_test(t, an_endless_head_is_refused);
	tcase_add_loop_test(t, answers_of_socks, 0, sizeof(replies) / sizeof(replies[0]));
	tcase_add_test(t, socks_with_a_login);
	tcase_add_loop_test(t, urls_of_proxies, 0, sizeof(urls) / sizeof(urls[0]));
	suite_add_tcase(s, t);
	return suite_run(s);
}
