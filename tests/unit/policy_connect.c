/* SPDX-License-Identifier: Apache-2.0 */
/* Destinations against [network] allow and deny: names, addresses, blocks, ports. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/explain.h"
#include "tests/support/policies.h"
#include "tests/support/suite.h"

static struct ward_policy *compile(const char *lines)
{
	char text[512];
	snprintf(text, sizeof(text), "[policy]\nversion = 1\n[network]\nmode = allowlist\n%s",
		lines);
	return policy_of(text);
}

static bool allowed(const char *lines, const char *destination)
{
	struct ward_policy *p = compile(lines);
	ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	enum ward_verdict v = ward_policy_connect(p, destination, &place, &line);
	ck_assert(place.len > 0);
	ward_policy_unref(p);
	return v == WARD_VERDICT_ALLOW;
}

START_TEST(destinations)
{
	static const struct {
		const char *lines, *destination;
		bool allowed;
	} t[] = {
		{"", "example.org:443", false},
		{"allow = example.org:443\n", "example.org:443", true},
		{"allow = example.org:443\n", "EXAMPLE.org.:443", true},
		{"allow = example.org:443\n", "example.org:80", false},
		{"allow = example.org:80,443\n", "example.org:443", true},
		{"allow = example.org:80,443\n", "example.org:4", false},
		{"allow = example.org\n", "example.org:1", false},
		{"allow = example.org\n", "example.org:443", true},
		{"allow = example.org\n", "example.org:80", true},
		{"allow = example.org\n", "example.org", true},
		{"allow = example.org:22\n", "example.org", true},
		{"allow = example.org/udp\n", "example.org:443", false},
		{"allow = example.org/udp\n", "example.org:443/udp", true},
		{"allow = example.org/udp\ndeny = example.org\n", "example.org:443/udp", false},
		{"allow = a.example:80\ndeny = a.example:443\n", "a.example:80", true},
		{"allow = a.example\ndeny = a.example:443\n", "a.example:443", false},
		{"allow = a.example/udp\ndeny = a.example:443\n", "a.example:443/udp", true},
		{"allow = example.org:53/udp\n", "example.org:53", false},
		{"allow = example.org:53/udp\n", "example.org:53/udp", true},
		{"allow = *.example.org:1\n", "a.example.org:1", true},
		{"allow = *.example.org\n", "example.org:1", false},
		{"allow = Example.ORG:1\n", "eXample.org:1", true},
		{"allow = *.Example.ORG:1\n", "A.example.org:1", true},
		{"allow = *\ndeny = Evil.Example\n", "eviL.example:443", false},
		{"allow = *\ndeny = *.Evil.Example\n", "a.EVIL.example:443", false},
		{"allow = *.example.org\n", "badexample.org:1", false},
		{"allow = *\n", "10.0.0.1:80", false},
		{"allow = *\n", "169.254.169.254:80", false},
		{"allow = *\n", "0xa9fea9fe:80", false},
		{"allow = *\n", "[fd00:ec2::254]:80", false},
		{"allow = *\n", "[::ffff:169.254.169.254]:80", false},
		{"allow = *\n", "[64:ff9b::169.254.169.254]:80", false},
		{"allow = *\n", "[2002:a9fe:a9fe::1]:80", false},
		{"allow = *\n", "[::1]:80", false},
		{"allow = *\n", "[fe80::1]:80", false},
		{"allow = *\n", "[ff02::1]:80", false},
		{"allow = *\n", "1.1.1.1:80", true},
		{"allow = *\n", "[2606:4700::1]:443", true},
		{"allow = *\nallow = 10.0.0.0/8\n", "10.0.0.1:80", true},
		{"allow = 169.254.169.254\n", "169.254.169.254:80", true},
		{"allow = *\n", "198.18.7.7:80", false},
		{"allow = 198.18.0.0/15\n", "198.18.7.7:80", true},
		{"allow = *\n", "198.20.0.1:80", true},
		{"allow = *\n", "192.88.99.1:80", false},
		{"allow = *\n", "[2001:2::1]:80", false},
		{"allow = *\n", "[2001:2:1::1]:80", true},
		{"allow = 10.1.0.0/16:80,443\n", "10.1.2.3:443", true},
		{"allow = 10.1.0.0/16:80,443\n", "10.2.2.3:443", false},
		{"allow = 10.1.0.0/16:80,443\n", "10.1.2.3:22", false},
		{"allow = 10.1.0.0/16\n", "[::ffff:10.1.2.3]:443", true},
		{"allow = 10.1.0.0/16\n", "[::10.1.2.3]:22", false},
		{"allow = 10.1.0.0/16\n", "example.org:22", false},
		{"allow = 10.1.2.128/25\n", "10.1.2.127:1", false},
		{"allow = 10.1.2.128/25\n", "10.1.2.128:80", true},
		{"allow = 0.0.0.0/0\n", "8.8.8.8:443", true},
		{"allow = 0.0.0.0/0\n", "[2001:db8::1]:1", false},
		{"allow = 192.0.2.1\n", "192.0.2.1:443", true},
		{"allow = 192.0.2.1\n", "192.0.2.2:1", false},
		{"allow = 2001:db8::/32\n", "[2001:db8:1::5]:443", true},
		{"allow = 2001:db8::/32\n", "2001:db8:1::5", true},
		{"allow = 2001:db8::/32\n", "[2001:db9::]:443", false},
		{"allow = [2001:db8::1]:443\n", "[2001:0db8:0::1]:443", true},
		{"allow = [2001:db8::1]:443\n", "[2001:db8::1]:80", false},
		{"allow = *\ndeny = 127.0.0.0/8\n", "127.0.0.1:1", false},
		{"allow = *\ndeny = 127.0.0.0/8\n", "127.1:1", false},
		{"allow = *\ndeny = 127.0.0.0/8\n", "0x7f000001:1", false},
		{"allow = *\ndeny = 127.0.0.0/8\n", "[::ffff:127.0.0.1]:1", false},
		{"allow = *\ndeny = 127.0.0.0/8\n", "128.0.0.1:443", true},
		{"allow = *\ndeny = evil.example\n", "EVIL.example.:1", false},
		{"allow = *\n", "", false},
		{"allow = *\n", ":443", false},
		{"allow = *\n", "[::1", false},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		ck_assert_msg(allowed(t[i].lines, t[i].destination) == t[i].allowed, "%s: %s",
			t[i].lines, t[i].destination);
}
END_TEST

/* NAT64 and 6to4 lead to another address: rules about that one decide, too. */
START_TEST(carried)
{
	static const struct {
		const char *lines, *destination;
		bool allowed;
	} t[] = {
		{"allow = *\n", "[64:ff9b::1.1.1.1]:80", true},
		{"allow = *\ndeny = 1.1.1.1\n", "[64:ff9b::1.1.1.1]:80", false},
		{"allow = *\ndeny = 1.1.1.0/24\n", "[2002:101:101::1]:80", false},
		{"allow = *\ndeny = 1.1.1.2\n", "[2002:101:101::1]:80", true},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		ck_assert_msg(allowed(t[i].lines, t[i].destination) == t[i].allowed, "%s: %s",
			t[i].lines, t[i].destination);
}
END_TEST

/* Spellings that one program reads as octal and another as decimal: no `allow` covers them. */
START_TEST(odd_spellings)
{
	static const struct {
		const char *lines, *destination;
		bool allowed;
	} t[] = {
		{"allow = 127.0.0.1:8081\n", "127.0.0.1:8081", true},
		{"allow = 127.0.0.1:8081\n", "0177.0.0.1:8081", false},
		{"allow = 127.0.0.1:8081\n", "127.1:8081", false},
		{"allow = 64.1.2.3\n", "0100.1.2.3:443", false},
		{"allow = 64.1.2.3\n", "1073807875:443", false},
		{"allow = *\n", "0100.1.2.3:443", false},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		ck_assert_msg(allowed(t[i].lines, t[i].destination) == t[i].allowed, "%s: %s",
			t[i].lines, t[i].destination);
}
END_TEST

START_TEST(reach)
{
	struct ward_reach r;
	struct ward_policy *p = compile("allow = a.example:443,22\nallow = a.example\n"
					"allow = *.example:9/udp\nallow = 10.0.0.0/8:5\n"
					"deny = a.example:22\ndeny = b.example\n");
	ward_policy_reach(p, "A.example.", &r);
	ck_assert_uint_eq(r.n_tcp, 2);
	ck_assert_uint_eq(r.tcp[0], 443);
	ck_assert_uint_eq(r.tcp[1], 80);
	ck_assert_uint_eq(r.n_udp, 1);
	ck_assert_uint_eq(r.udp[0], 9);
	ward_policy_reach(p, "b.example", &r);
	ck_assert_uint_eq(r.n_tcp + r.n_udp, 0);
	ward_policy_reach(p, "c.test", &r);
	ck_assert_uint_eq(r.n_tcp + r.n_udp, 0);
	ward_policy_reach_blocks(p, &r);
	ck_assert_uint_eq(r.n_tcp, 1);
	ck_assert_uint_eq(r.tcp[0], 5);
	ck_assert_uint_eq(r.n_udp, 0);
	ward_policy_unref(p);
}
END_TEST

/* A proxy carries streams and nothing else, whatever is allowed. */
START_TEST(proxied)
{
	static const char text[] = "[policy]\nversion = 1\n[network]\nmode = proxy\n"
				   "proxy = http://127.0.0.1:3128\nallow = a.example:1,2\n"
				   "allow = a.example:1/udp\nallow = 10.0.0.0/8:1/udp\n"
				   "deny = a.example:2\n";
	static const struct {
		const char *destination;
		enum ward_verdict want;
	} t[] = {{"a.example:1", WARD_VERDICT_ALLOW}, {"a.example:2", WARD_VERDICT_DENY},
		{"a.example:1/udp", WARD_VERDICT_DENY}, {"10.0.0.1:1/udp", WARD_VERDICT_DENY},
		{"b.example:1", WARD_VERDICT_DENY}};
	struct ward_policy *p = policy_of(text);
	struct ward_reach r;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
		ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
		ck_assert_msg(ward_policy_connect(p, t[i].destination, &place, &line) == t[i].want,
			"%s", t[i].destination);
	}
	ward_policy_reach(p, "a.example", &r);
	ck_assert_uint_eq(r.n_tcp, 1);
	ck_assert_uint_eq(r.n_udp, 0);
	ward_policy_reach_blocks(p, &r);
	ck_assert_uint_eq(r.n_tcp + r.n_udp, 0);
	ward_policy_unref(p);
}
END_TEST

/* A person is asked, whether it is allowed or not; never where it is denied. */
START_TEST(asks)
{
	static const struct {
		const char *lines, *destination;
		enum ward_verdict want;
	} t[] = {
		{"ask = a.example\n", "a.example:443", WARD_VERDICT_ASK},
		{"ask = a.example\n", "A.EXAMPLE.:22", WARD_VERDICT_ASK},
		{"ask = a.example:443\n", "a.example:22", WARD_VERDICT_DENY},
		{"ask = a.example\n", "b.example:443", WARD_VERDICT_DENY},
		{"allow = a.example:22\nask = a.example\n", "a.example:22", WARD_VERDICT_ASK},
		{"ask = a.example\nallow = *\n", "a.example:443", WARD_VERDICT_ASK},
		{"ask = a.example\nallow = *\n", "b.example:443", WARD_VERDICT_ALLOW},
		{"ask = a.example\ndeny = *.example\n", "a.example:443", WARD_VERDICT_DENY},
		{"ask = 192.0.2.0/24\n", "192.0.2.7:443", WARD_VERDICT_ASK},
		{"ask = *\n", "10.0.0.1:443", WARD_VERDICT_ASK},
		{"ask = 192.0.2.0/24\n", "0300.0.2.7:443", WARD_VERDICT_DENY},
		{"allow = *\nask = 192.0.2.0/24\n", "0300.0.2.7:443", WARD_VERDICT_DENY},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
		ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
		struct ward_policy *p = compile(t[i].lines);
		ck_assert_msg(ward_policy_connect(p, t[i].destination, &place, &line) == t[i].want,
			"%s%s: %s", t[i].lines, t[i].destination, ward_buf_str(&line));
		ward_policy_unref(p);
	}
	struct ward_reach r;
	struct ward_policy *p = compile("ask = a.example\nask = b.example:8443\n");
	ward_policy_reach(p, "a.example", &r);
	ck_assert_uint_eq(r.n_tcp, 2);
	ward_policy_reach(p, "b.example", &r);
	ck_assert_uint_eq(r.n_tcp, 1);
	ck_assert_uint_eq(r.tcp[0], 8443);
	ward_policy_reach(p, "c.example", &r);
	ck_assert_uint_eq(r.n_tcp, 0);
	ward_policy_unref(p);
}
END_TEST

/* What a name may lead to. */
START_TEST(answers)
{
	static const struct {
		const char *lines, *destination;
		bool near, allowed;
	} t[] = {
		{"allow = a.example\n", "1.1.1.1:443", false, true},
		{"allow = a.example\n", "10.0.0.1:443", false, false},
		{"allow = a.example\nallow = *\n", "10.0.0.1:443", false, false},
		{"allow = a.example\nallow = 10.0.0.0/8\n", "10.0.0.1:443", false, true},
		{"allow = a.example\nallow = 10.0.0.0/8:22\n", "10.0.0.1:443", false, false},
		{"allow = a.example\n", "[::ffff:127.0.0.1]:443", false, false},
		{"allow = a.example\n", "[fd00:ec2::254]:443", false, false},
		{"allow = a.example\ndeny = 1.1.1.0/24\n", "1.1.1.1:443", false, false},
		{"allow = a.example\n", "b.example:443", false, true},
		{"allow = a.example\ndeny = *.b.example\n", "c.b.example:443", false, false},
		{"allow = a.example\nallow = *\n", "1.1.1.1:443", true, false},
		{"allow = a.example\nallow = 1.1.1.1\n", "1.1.1.1:443", true, true},
		{"allow = a.example\nask = 1.1.1.0/24\n", "1.1.1.1:443", false, false},
		{"allow = a.example\nask = 1.1.1.0/24:22\n", "1.1.1.1:443", false, true},
		{"ask = *\n", "1.1.1.1:443", false, true},
		{"ask = *\n", "10.0.0.1:443", false, false},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
		ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
		struct ward_policy *p = compile(t[i].lines);
		enum ward_verdict v =
			ward_policy_answer(p, t[i].destination, t[i].near, &place, &line);
		ck_assert_msg((v == WARD_VERDICT_ALLOW) == t[i].allowed, "%s: %s", t[i].lines,
			t[i].destination);
		ward_policy_unref(p);
	}
}
END_TEST

/* The broker loads half of a policy and gets the same answers about the network. */
START_TEST(without_paths)
{
	struct ward_policy *p = compile("allow = a.example\ndeny = *.b.example\n"), *q = NULL;
	static const char *const asked[] = {
		"a.example:443", "a.example:80", "a.example:22", "x.b.example:443", "10.0.0.1:443"};
	struct ward_buf blob = WARD_BUF_INIT;
	ck_assert_int_eq(ward_policy_encode(p, &blob), 0);
	ck_assert_int_eq(ward_policy_decode_network(blob.data, blob.len, &q, NULL), 0);
	ck_assert_str_eq(ward_policy_digest(p), ward_policy_digest(q));
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		struct ward_buf place[2] = {WARD_BUF_INIT, WARD_BUF_INIT};
		struct ward_buf text[2] = {WARD_BUF_INIT, WARD_BUF_INIT};
		ck_assert_int_eq(ward_policy_connect(p, asked[i], &place[0], &text[0]),
			ward_policy_connect(q, asked[i], &place[1], &text[1]));
		ck_assert_str_eq(ward_buf_str(&text[0]), ward_buf_str(&text[1]));
		for (int k = 0; k < 2; k++) {
			ward_buf_clear(&place[k]);
			ward_buf_clear(&text[k]);
		}
	}
	for (size_t n = 0; n < blob.len; n += 7) {
		struct ward_policy *none = NULL;
		ck_assert_int_lt(ward_policy_decode_network(blob.data, n, &none, NULL), 0);
	}
	ward_buf_clear(&blob);
	ward_policy_unref(q);
	ward_policy_unref(p);
}
END_TEST

/* Names are the same in capitals (RFC 4343), also where two lists are compared. */
START_TEST(lists_of_two_sources)
{
	static const char base[] = "[policy]\nversion = 1\n[network]\nmode = allowlist\n"
				   "allow = Web.Example:443\nallow = other.example:443\n";
	static const char floor[] =
		"[policy]\nversion = 1\n[network]\nmode = allowlist\nallow = wEB.example:443\n";
	const struct ward_source_text s[] = {{WARD_SOURCE_BASE, "b", base, sizeof(base) - 1},
		{WARD_SOURCE_FLOOR, "f", floor, sizeof(floor) - 1}};
	struct ward_policy *p = NULL;
	struct ward_buf place = WARD_BUF_INIT, text = WARD_BUF_INIT;
	ck_assert_int_eq(ward_policy_compile(s, 2, &p, NULL), 0);
	ck_assert_int_eq(
		ward_policy_connect(p, "web.example:443", &place, &text), WARD_VERDICT_ALLOW);
	ck_assert_int_eq(
		ward_policy_connect(p, "other.example:443", &place, &text), WARD_VERDICT_DENY);
	ward_buf_clear(&place);
	ward_buf_clear(&text);
	ward_policy_unref(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_connect");
	TCase *t = tcase_create("all");
	tcase_add_test(t, destinations);
	tcase_add_test(t, carried);
	tcase_add_test(t, odd_spellings);
	tcase_add_test(t, reach);
	tcase_add_test(t, proxied);
	tcase_add_test(t, asks);
	tcase_add_test(t, answers);
	tcase_add_test(t, without_paths);
	tcase_add_test(t, lists_of_two_sources);
	suite_add_tcase(s, t);
	return suite_run(s);
}
