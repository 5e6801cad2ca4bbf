/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, counts, durations, rates and points in time: what is taken, and what is refused and how.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/quantity.h"
#include "enforcer/base/timestamp.h"
#include "tests/support/suite.h"

#define S WARD_NS_PER_SEC
#define UNTOUCHED UINT64_C(0x5a5a5a5a5a5a5a5a)

/* A text, and what becomes of it: a value, or (why) a refusal that says so. */
struct row {
	const char *text;
	uint64_t value;
	const char *why;
};

#define POLICY (WARD_DURATION_BARE | WARD_DURATION_SEVERAL)

static int policy_time(const char *text, uint64_t *ret, struct ward_err *err)
{
	return ward_quantity_duration(text, POLICY, ret, err);
}

static int ago(const char *text, uint64_t *ret, struct ward_err *err)
{
	return ward_quantity_duration(text, WARD_DURATION_WEEKS, ret, err);
}

static int whole(const char *text, uint64_t *ret, struct ward_err *err)
{
	return ward_quantity_whole(text, 1, 3600, ret, err);
}

static void check_rows(const struct row *rows,
	int (*parse)(const char *text, uint64_t *ret, struct ward_err *err), const char *accepted)
{
	for (const struct row *t = rows; t->text; t++) {
		struct ward_err err = WARD_ERR_INIT;
		uint64_t v = UNTOUCHED;
		int r = parse(t->text, &v, &err);
		if (!t->why) {
			ck_assert_msg(r == 0 && v == t->value, "'%s': %d, %" PRIu64 " (%s)",
				t->text, r, v, err.text);
			continue;
		}
		ck_assert_msg(r == -EINVAL && v == UNTOUCHED, "'%s': %d, %" PRIu64, t->text, r, v);
		ck_assert_msg(strstr(err.text, t->why), "'%s': %s", t->text, err.text);
		ck_assert_msg(strstr(err.text, accepted), "'%s': %s", t->text, err.text);
		ck_assert_int_eq(parse(t->text, &v, NULL), -EINVAL);
	}
}

START_TEST(sizes)
{
	static const struct row rows[] = {
		{"0", 0, NULL},
		{"512", 512, NULL},
		{"007", 7, NULL},
		{"64K", 64 << 10, NULL},
		{"10M", 10 << 20, NULL},
		{"4G", UINT64_C(4) << 30, NULL},
		{"1T", UINT64_C(1) << 40, NULL},
		{"4611686018427387904", WARD_QUANTITY_MAX, NULL},
		{"4611686018427387905", 0, "too large"},
		{"4194304T", WARD_QUANTITY_MAX, NULL},
		{"4194305T", 0, "too large"},
		{"18446744073709551616", 0, "too large"},
		{"99999999999999999999999999999999", 0, "too large"},
		{"18014398509481984K", 0, "too large"},
		{"", 0, "begins with no digit"},
		{"K", 0, "begins with no digit"},
		{"-1", 0, "begins with no digit"},
		{"+1", 0, "begins with no digit"},
		{" 1", 0, "begins with no digit"},
		{"0x10", 0, "'x' is no unit"},
		{"1k", 0, "'k' is no unit"},
		{"1KB", 0, "'B' is no unit"},
		{"1 K", 0, "ends in no unit"},
		{"1.5G", 0, "'.' is no unit"},
		{"1\xff", 0, "ends in no unit"},
		{NULL, 0, NULL},
	};
	check_rows(rows, ward_quantity_size, "write 512, 64K, 10M or 4G");
}
END_TEST

START_TEST(counts)
{
	static const struct row rows[] = {
		{"0", 0, NULL},
		{"200", 200, NULL},
		{"200k", 200000, NULL},
		{"3M", 3000000, NULL},
		{"4611686018427M", UINT64_C(4611686018427000000), NULL},
		{"4611686018428M", 0, "too large"},
		{"99999999999999999999", 0, "too large"},
		{"1K", 0, "'K' is no unit"},
		{"1G", 0, "'G' is no unit"},
		{"", 0, "begins with no digit"},
		{"1k1", 0, "'1' is no unit"},
		{NULL, 0, NULL},
	};
	check_rows(rows, ward_quantity_count, "write 200 or 200k");
}
END_TEST

START_TEST(durations_of_a_policy)
{
	static const struct row rows[] = {
		{"0", 0, NULL},
		{"90", 90 * S, NULL},
		{"30s", 30 * S, NULL},
		{"10m", 600 * S, NULL},
		{"1h30m", 5400 * S, NULL},
		{"2d", 172800 * S, NULL},
		{"1d1h1m1s", 90061 * S, NULL},
		{"8589934592", (UINT64_C(1) << 33) * S, NULL},
		{"8589934593", 0, "too large"},
		{"99420d", UINT64_C(8589888000) * S, NULL},
		{"99421d", 0, "too large"},
		{"99420d99999h", 0, "too large"},
		{"213503982334601d", 0, "too large"},
		{"99999999999999999999s", 0, "too large"},
		{"30m1h", 0, "'h' stands behind 'm'"},
		{"1h1h", 0, "'h' stands behind 'h'"},
		{"1h30", 0, "it has no unit"},
		{"1w", 0, "'w' is no unit"},
		{"1y", 0, "'y' is no unit"},
		{"1H", 0, "'H' is no unit"},
		{"5 m", 0, "ends in no unit"},
		{"", 0, "begins with no digit"},
		{"h", 0, "begins with no digit"},
		{"1hm", 0, "begins with no digit"},
		{"-1h", 0, "begins with no digit"},
		{"1.5h", 0, "'.' is no unit"},
		{NULL, 0, NULL},
	};
	check_rows(rows, policy_time, "write 90, 30s, 10m or 1h30m");
}
END_TEST

START_TEST(durations_that_are_one_number_and_unit)
{
	static const struct row rows[] = {
		{"0s", 0, NULL},
		{"3600s", 3600 * S, NULL},
		{"2d", 172800 * S, NULL},
		{"1w", 604800 * S, NULL},
		{"14202w", UINT64_C(8589369600) * S, NULL},
		{"14203w", 0, "too large"},
		{"99999999999999999999s", 0, "too large"},
		{"90", 0, "it has no unit"},
		{"1h30m", 0, "more than one number"},
		{"1hour", 0, "more than one number"},
		{"1y", 0, "'y' is no unit"},
		{"h", 0, "begins with no digit"},
		{NULL, 0, NULL},
	};
	check_rows(rows, ago, "write 30s, 10m, 12h, 2d or 1w");
}
END_TEST

START_TEST(durations_as_text)
{
	static const struct {
		uint64_t seconds;
		const char *text;
	} t[] = {{0, "0s"}, {1, "1s"}, {60, "1m"}, {90, "90s"}, {5400, "90m"}, {43200, "12h"},
		{345600, "4d"}, {UINT64_MAX / 1000000000, "18446744073s"}};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		char text[WARD_DURATION_TEXT_MAX];
		ward_quantity_duration_text(t[i].seconds * 1000000000, text);
		ck_assert_str_eq(text, t[i].text);
	}
}
END_TEST

START_TEST(numbers)
{
	static const struct row tenths[] = {
		{"2", 20, NULL},
		{"1.5", 15, NULL},
		{"0.1", 1, NULL},
		{"999999.9", 9999999, NULL},
		{"1000000", 0, "'1000000'"},
		{"0", 0, "'0'"},
		{"0.0", 0, "'0.0'"},
		{"1.", 0, "'1.'"},
		{".5", 0, "'.5'"},
		{"1.55", 0, "'1.55'"},
		{"", 0, "''"},
		{"99999999999999999999", 0, "'99999999999999999999'"},
		{NULL, 0, NULL},
	};
	static const struct row wholes[] = {
		{"1", 1, NULL},
		{"3600", 3600, NULL},
		{"0", 0, "'0'"},
		{"3601", 0, "'3601'"},
		{"-1", 0, "'-1'"},
		{"1s", 0, "'1s'"},
		{"", 0, "''"},
		{"18446744073709551617", 0, "'18446744073709551617'"},
		{NULL, 0, NULL},
	};
	check_rows(tenths, ward_quantity_tenths, "write a number such as 2 or 1.5");
	check_rows(wholes, whole, "write a whole number from 1 to 3600");
}
END_TEST

START_TEST(rates)
{
	static const struct {
		const char *text;
		bool size;
		uint64_t n;
		uint32_t per_s;
		const char *why;
	} t[] = {
		{"10M/s", true, 10 << 20, 1, NULL},
		{"1G/h", true, 1 << 30, 3600, NULL},
		{"0/s", true, 0, 1, NULL},
		{"100/m", false, 100, 60, NULL},
		{"2k/h", false, 2000, 3600, NULL},
		{"4096T/s", true, UINT64_C(1) << 52, 1, NULL},
		{"4097T/s", true, 0, 0, "too large"},
		{"4194305T/s", true, 0, 0, "too large"},
		{"99999999999999999999/s", false, 0, 0, "too large"},
		{"10M", true, 0, 0, "ends in none of /s, /m, /h"},
		{"10M/d", true, 0, 0, "ends in none of /s, /m, /h"},
		{"10M/s2", true, 0, 0, "ends in none of /s, /m, /h"},
		{"10K/s", false, 0, 0, "ends in none of /s, /m, /h"},
		{"/s", true, 0, 0, "begins with no digit"},
		{"", false, 0, 0, "begins with no digit"},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct ward_err err = WARD_ERR_INIT;
		uint64_t n = UNTOUCHED;
		uint32_t per_s = 77;
		int r = ward_quantity_rate(t[i].text, t[i].size, &n, &per_s, &err);
		if (!t[i].why) {
			ck_assert_msg(
				r == 0 && n == t[i].n && per_s == t[i].per_s, "'%s'", t[i].text);
			continue;
		}
		ck_assert_msg(
			r == -EINVAL && n == UNTOUCHED && per_s == 77, "'%s': %d", t[i].text, r);
		ck_assert_msg(strstr(err.text, t[i].why), "'%s': %s", t[i].text, err.text);
		ck_assert_msg(
			strstr(err.text, t[i].size ? "write 10M/s or 1G/h" : "write 100/m or 2k/h"),
			"%s", err.text);
	}
}
END_TEST

START_TEST(percentages)
{
	static const struct row rows[] = {
		{"75%", 750, NULL},
		{"100%", 1000, NULL},
		{"100.0%", 1000, NULL},
		{"12.5%", 125, NULL},
		{"0.1%", 1, NULL},
		{"007%", 70, NULL},
		{"0%", 0, "not a share"},
		{"0.0%", 0, "not a share"},
		{"101%", 0, "not a share"},
		{"100.1%", 0, "not a share"},
		{"1000000000%", 0, "not a share"},
		{"99999999999999999999999%", 0, "not a share"},
		{"12.55%", 0, "not a share"},
		{"5.%", 0, "not a share"},
		{".5%", 0, "not a share"},
		{"75", 0, "not a share"},
		{"75%%", 0, "not a share"},
		{"75 %", 0, "not a share"},
		{"-5%", 0, "not a share"},
		{"%", 0, "not a share"},
		{"", 0, "not a share"},
		{NULL, 0, NULL},
	};
	check_rows(rows, ward_quantity_percent, "from 0.1% to 100%");
}
END_TEST

START_TEST(points_in_time)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} t[] = {
		{"1970-01-01T00:00:01Z", S},
		{"2026-01-02T03:04:05Z", UINT64_C(1767323045) * S},
		{"2026-01-02T03:04:05.123456789Z", UINT64_C(1767323045) * S + 123456789},
		{"2026-01-02T03:04:05.5Z", UINT64_C(1767323045) * S + 500000000},
		{"2554-07-21T23:34:33Z", UINT64_C(18446744073) * S},
		{"2554-07-21T23:34:34Z", 0},
		{"9999-12-31T23:59:59Z", 0},
		{"1969-12-31T23:59:59Z", 0},
		{"2026-13-02T03:04:05Z", 0},
		{"2026-01-32T03:04:05Z", 0},
		{"2026-01-02T24:04:05Z", 0},
		{"2026-01-02T03:60:05Z", 0},
		{"2026-01-02T03:04:61Z", 0},
		{"2026-01-02 03:04:05Z", 0},
		{"2026-01-02T03:04:05", 0},
		{"2026-01-02T03:04:05.Z", 0},
		{"2026-01-02T03:04:05.1234567890Z", 0},
		{"2026-01-02T03:04:05ZZ", 0},
		{"2026-01-02T03:04Z", 0},
		{"-026-01-02T03:04:05Z", 0},
		{"", 0},
		{NULL, 0},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++)
		ck_assert_msg(ward_timestamp_ns(t[i].text) == t[i].ns, "%s: %" PRIu64, t[i].text,
			ward_timestamp_ns(t[i].text));
	/* and back from what is written */
	char text[WARD_CLOCK_TEXT_MAX];
	ward_clock_format(UINT64_C(1767323045000000007), text);
	ck_assert_uint_eq(ward_timestamp_ns(text), UINT64_C(1767323045000000007));
}
END_TEST

START_TEST(beginnings_of_times)
{
	static const char now[] = "2026-01-02T03:04:05.000000000Z";
	static const struct {
		const char *text, *want, *why;
	} t[] = {
		{"2026", "2026", NULL},
		{"2026-01-02", "2026-01-02", NULL},
		{"2026-01-02 03:04", "2026-01-02T03:04", NULL},
		{"2026-01-02T03:04:05Z", "2026-01-02T03:04:05", NULL},
		{"2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05.123456789", NULL},
		{"now", now, NULL},
		{"today", "2026-01-02", NULL},
		{"yesterday", "2026-01-01", NULL},
		{"4m", "2026-01-02T03:00:05.000000000Z", NULL},
		{"1w", "2025-12-26T03:04:05.000000000Z", NULL},
		{"5000w", NULL, "before 1970"},
		{"99999999999999999999s", NULL, "a time is written"},
		{"2026-13", NULL, "no such month"},
		{"2026-01-32", NULL, "no such day"},
		{"2026-01-02T24", NULL, "no such hour"},
		{"2026-01-02T03:61", NULL, "no such minute"},
		{"2026-1-2", NULL, "a time is written"},
		{"20", NULL, "a time is written"},
		{"01:00", NULL, "a time is written"},
		{"1h30m", NULL, "a time is written"},
		{"tomorrow", NULL, "a time is written"},
		{"2026-01-02T03:04:05.1234567890", NULL, "a time is written"},
		{"", NULL, "a time is written"},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct ward_err err = WARD_ERR_INIT;
		char ret[WARD_CLOCK_TEXT_MAX] = "untouched";
		int r = ward_timestamp_beginning(t[i].text, ward_timestamp_ns(now), ret, &err);
		if (t[i].want) {
			ck_assert_int_eq(r, 0);
			ck_assert_str_eq(ret, t[i].want);
			continue;
		}
		ck_assert_msg(
			r == -EINVAL && strstr(err.text, t[i].why), "%s: %s", t[i].text, err.text);
		ck_assert_ptr_nonnull(strstr(err.text, "a time is written"));
		ck_assert_str_eq(ret, "untouched");
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("quantity");
	TCase *t = tcase_create("all");
	tcase_add_test(t, sizes);
	tcase_add_test(t, counts);
	tcase_add_test(t, durations_of_a_policy);
	tcase_add_test(t, durations_that_are_one_number_and_unit);
	tcase_add_test(t, durations_as_text);
	tcase_add_test(t, numbers);
	tcase_add_test(t, rates);
	tcase_add_test(t, percentages);
	tcase_add_test(t, points_in_time);
	tcase_add_test(t, beginnings_of_times);
	suite_add_tcase(s, t);
	return suite_run(s);
}
