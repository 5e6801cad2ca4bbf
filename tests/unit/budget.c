/* SPDX-License-Identifier: Apache-2.0 */
/* The budget of a start: what it gives, when it ends, and how people hear which bound it was. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "enforcer/base/budget.h"
#include "tests/support/suite.h"

START_TEST(gives_bytes_until_they_are_gone)
{
	struct ward_budget b;
	ward_budget_begin(&b);
	ck_assert_int_eq(ward_budget_take(&b, WARD_START_BYTES - 10), 0);
	ck_assert_int_eq(ward_budget_take(&b, 11), -EDQUOT);
	/* A refused request is not charged. */
	ck_assert_int_eq(ward_budget_take(&b, 10), 0);
	ck_assert_int_eq(ward_budget_take(&b, 1), -EDQUOT);
	ck_assert_int_eq(ward_budget_take(&b, 0), 0);
}
END_TEST

START_TEST(gives_names_until_they_are_gone)
{
	struct ward_budget b;
	ward_budget_begin(&b);
	b.until_ns = b.from_ns + 1000 * WARD_START_NS; /* a test may have to wait for a CPU */
	ck_assert_uint_eq(b.entries, WARD_START_ENTRIES);
	b.entries = WARD_START_ENTRIES / 2 + 1;
	ck_assert_int_eq(ward_budget_entry(&b), 0);
	ck_assert(!ward_budget_half(&b));
	ck_assert_int_eq(ward_budget_entry(&b), 0);
	ck_assert(ward_budget_half(&b));
	b.entries = 1000;
	for (unsigned i = 0; i < 1000; i++)
		ck_assert_int_eq(ward_budget_entry(&b), 0);
	ck_assert_int_eq(ward_budget_entry(&b), -EOVERFLOW);
	ck_assert_int_eq(ward_budget_entry(&b), -EOVERFLOW);
}
END_TEST

START_TEST(ends_with_its_time)
{
	struct ward_budget b;
	ward_budget_begin(&b);
	ck_assert_uint_eq(b.until_ns - b.from_ns, WARD_START_NS);
	b.from_ns -= WARD_START_NS;
	ck_assert(ward_budget_half(&b));
	b.until_ns = b.from_ns;
	ck_assert_int_eq(ward_budget_take(&b, 0), -ETIME);
	ck_assert_int_eq(ward_budget_take(&b, 1), -ETIME);
	/* Names are many: the clock is looked at now and then. */
	int r = 0;
	for (unsigned i = 0; r == 0 && i < 100000; i++)
		r = ward_budget_entry(&b);
	ck_assert_int_eq(r, -ETIME);
}
END_TEST

START_TEST(says_which_file_and_which_bound)
{
	static const struct {
		int r;
		const char *text;
	} v[] = {{-EFBIG, "/x/a is larger than 4 MiB"}, {-EINVAL, "/x/a is not a regular file"},
		{-ETIME, "at /x/a the search of the project had taken 20 s, which is its limit"},
		{-EDQUOT, "with /x/a the start would read more than 32 MiB"},
		{-EOVERFLOW, "at /x/a the start had looked at 4000000 names, which is its limit"}};
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		struct ward_err err = WARD_ERR_INIT;
		ck_assert(ward_budget_refuse(v[i].r, "/x/a", (size_t)4 << 20, &err));
		ck_assert_str_eq(err.text, v[i].text);
		ck_assert_int_eq(err.code, v[i].r);
	}
	struct ward_err err = WARD_ERR_INIT;
	ck_assert(ward_budget_refuse(-EFBIG, "/x/a", 8192, &err));
	ck_assert_str_eq(err.text, "/x/a is larger than 8 KiB");
	ck_assert(!ward_budget_refuse(-EACCES, "/x/a", 1, &err));
	ck_assert(!ward_budget_refuse(0, "/x/a", 1, &err));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("budget");
	TCase *t = tcase_create("budget");
	tcase_set_timeout(t, 120);
	tcase_add_test(t, gives_bytes_until_they_are_gone);
	tcase_add_test(t, gives_names_until_they_are_gone);
	tcase_add_test(t, ends_with_its_time);
	tcase_add_test(t, says_which_file_and_which_bound);
	suite_add_tcase(s, t);
	return suite_run(s);
}
