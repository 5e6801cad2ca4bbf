/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON parser accepts each line that the scanner accepts, and reads the same values. */
#include <check.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/scan.h"
#include "tests/support/suite.h"

static const char record[] =
	"{\"v\":1,\"seq\":7,\"session\":\"s\",\"kind\":\"open\",\"pid\":0,\"comm\":\"a\\\"b\\\\\\\\\","
	"\"path\":\"/w/\\\\xff\\\\n\",\"asked\":[\"read\",\"x\\\"y\"],\"argv\":[],\"read\":null,"
	"\"written\":-12,\"ino\":123456789012345678,\"cut\":true}";

static const json_t *member(const json_t *o, const struct ward_scan_member *m)
{
	char name[512];
	memcpy(name, m->name, m->name_len);
	name[m->name_len] = '\0';
	return json_object_get(o, name);
}

static void same(const struct ward_scan_member *m, const json_t *v)
{
	char text[512];
	switch (m->type) {
	case WARD_SCAN_STRING:
		ck_assert(json_is_string(v));
		ck_assert_uint_eq(ward_scan_text(m, text), json_string_length(v));
		ck_assert_mem_eq(text, json_string_value(v), json_string_length(v));
		return;
	case WARD_SCAN_INTEGER:
		ck_assert(json_is_integer(v));
		ck_assert_int_eq(m->number, json_integer_value(v));
		return;
	case WARD_SCAN_OTHER:
		ck_assert(json_is_boolean(v) || json_is_null(v) || json_is_array(v));
		return;
	case WARD_SCAN_NONE:
		break;
	}
	ck_abort_msg("a member without a type");
}

/* Members, if the scanner took all of the line; -1. Each is then held against the parser's. */
static int scan(const char *line, size_t len)
{
	struct ward_scan s;
	struct ward_scan_member m[64];
	int n = 0;
	int r = 0;
	ward_scan_begin(&s, line, len);
	while (n < 64 && (r = ward_scan_next(&s, &m[n])) == 1)
		n++;
	if (r != 0)
		return -1;
	json_t *o = json_loadb(line, len, 0, NULL);
	ck_assert_msg(json_is_object(o), "a parser refuses %.*s", (int)len, line);
	for (int i = 0; i < n; i++) {
		bool last = true; /* of two with one name a parser takes the last */
		for (int k = i + 1; k < n; k++)
			last &= m[k].name_len != m[i].name_len ||
				memcmp(m[k].name, m[i].name, m[i].name_len) != 0;
		if (last)
			same(&m[i], member(o, &m[i]));
	}
	json_decref(o);
	return n;
}

START_TEST(a_record_is_read_as_a_parser_reads_it)
{
	ck_assert_int_eq(scan(record, sizeof(record) - 1), 13);
	ck_assert_int_eq(scan("{\"a\":[]}", 8), 1);
}
END_TEST

START_TEST(what_is_out_of_the_ordinary_is_left_to_a_parser)
{
	static const char *const odd[] = {"", "{", "{}", "{\"a\":1", "{\"a\":1}x", "{\"a\":01}",
		"{\"a\":1.5}", "{\"a\":1e3}", "{\"a\":-}", "{\"a\":{}}", "{\"a\":[1]}",
		"{\"a\" :1}", "{\"a\":\"\\u0041\"}", "{\"a\":\"\\n\"}", "{\"a\":\"\xc3\xa4\"}",
		"{\"a\":\"\xff\"}", "{\"a\":\"\n\"}", "{\"a\":\"x}", "{\"a\":\"x\\", "{\"a\":1,}",
		"{,\"a\":1}", "{\"a\\\\\":1}", "{\"a\":9223372036854775808}", "{\"a\":[\"b\",]}",
		"{\"a\":nul}"};
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		ck_assert_msg(scan(odd[i], strlen(odd[i])) == -1, "%s", odd[i]);
}
END_TEST

START_TEST(no_change_of_a_record_is_read_otherwise_than_by_a_parser)
{
	static const char of_interest[] = "\"\\{}[],:0123456789-tfn\x01\x80";
	unsigned taken = 0;
	srandom(1);
	for (int round = 0; round < 200000; round++) {
		char line[sizeof(record)];
		size_t len = sizeof(record) - 1;
		memcpy(line, record, len);
		for (long n = random() % 3; n >= 0; n--)
			line[(size_t)random() % len] =
				of_interest[(size_t)random() % (sizeof(of_interest) - 1)];
		if (random() % 8 == 0)
			len -= (size_t)random() % len;
		taken += scan(line, len) >= 0;
	}
	ck_assert_uint_gt(taken, 1000); /* else nothing was compared */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("scan");
	TCase *t = tcase_create("scan");
	suite_add_tcase(s, t);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, a_record_is_read_as_a_parser_reads_it);
	tcase_add_test(t, what_is_out_of_the_ordinary_is_left_to_a_parser);
	tcase_add_test(t, no_change_of_a_record_is_read_otherwise_than_by_a_parser);
	return suite_run(s);
}
