/* SPDX-License-Identifier: Apache-2.0 */
/* Destinations against [network] allow and deny: names, addresses, blocks, ports. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/explain.h"

static bool allowed(const char *lines, const char *destination)
{
	char text[512];
	snprintf(text, sizeof(text), "[policy]\nversion = 1\n[network]\nmode = allowlist\n%s",
		lines);
	const struct ward_source_text s = {
		.kind = WARD_SOURCE_BASE, .file = "base", .text = text, .len = strlen(text)};
	struct ward_policy *p = NULL;
	struct ward_err err = WARD_ERR_INIT;
	int r = ward_policy_compile(&s, 1, &p, &err);
	ck_assert_msg(r == 0, "%s", err.text);
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
		{"allow = example.org\n", "example.org:1", true},
		{"allow = example.org:53/udp\n", "example.org:53", false},
		{"allow = example.org:53/udp\n", "example.org:53/udp", true},
		{"allow = *.example.org\n", "a.example.org:1", true},
		{"allow = *.example.org\n", "example.org:1", false},
		{"allow = *.example.org\n", "badexample.org:1", false},
		{"allow = *\n", "10.0.0.1:1", true},
		{"allow = 10.1.0.0/16:80,443\n", "10.1.2.3:443", true},
		{"allow = 10.1.0.0/16:80,443\n", "10.2.2.3:443", false},
		{"allow = 10.1.0.0/16:80,443\n", "10.1.2.3:22", false},
		{"allow = 10.1.0.0/16\n", "[::ffff:10.1.2.3]:22", true},
		{"allow = 10.1.0.0/16\n", "[::10.1.2.3]:22", false},
		{"allow = 10.1.0.0/16\n", "example.org:22", false},
		{"allow = 10.1.2.128/25\n", "10.1.2.127:1", false},
		{"allow = 10.1.2.128/25\n", "10.1.2.128:1", true},
		{"allow = 0.0.0.0/0\n", "8.8.8.8:1", true},
		{"allow = 0.0.0.0/0\n", "[2001:db8::1]:1", false},
		{"allow = 192.0.2.1\n", "192.0.2.1:1", true},
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
		{"allow = *\ndeny = 127.0.0.0/8\n", "128.0.0.1:1", true},
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

int main(void)
{
	Suite *s = suite_create("policy_connect");
	TCase *t = tcase_create("all");
	tcase_add_test(t, destinations);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
