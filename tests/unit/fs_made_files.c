/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that make many small files are known after four of them; a large one changes that. */
#include <check.h>

#include "fs/base/made_files.h"
#include "tests/support/suite.h"

static void make(struct ward_made_files *m, uint32_t tid, unsigned n, off_t size)
{
	while (n-- > 0)
		ward_made_ended(m, tid, size);
}

START_TEST(four_in_a_row)
{
	struct ward_made_files m = {0};

	ck_assert(!ward_made_will_be_small(&m, 7));
	make(&m, 7, 3, 100);
	ck_assert(!ward_made_will_be_small(&m, 7));
	make(&m, 7, 1, 131071);
	ck_assert(ward_made_will_be_small(&m, 7));
	make(&m, 7, 100000, 0);
	ck_assert(ward_made_will_be_small(&m, 7));
}
END_TEST

START_TEST(a_large_one_begins_anew)
{
	struct ward_made_files m = {0};

	make(&m, 7, 9, 100);
	make(&m, 7, 1, 131072);
	ck_assert(!ward_made_will_be_small(&m, 7));
	make(&m, 7, 3, 100);
	ck_assert(!ward_made_will_be_small(&m, 7));
	make(&m, 7, 1, 100);
	ck_assert(ward_made_will_be_small(&m, 7));
}
END_TEST

START_TEST(threads_are_told_apart)
{
	struct ward_made_files m = {0};

	make(&m, 7, 4, 100);
	ck_assert(!ward_made_will_be_small(&m, 8));
	/* Of the same slot: the last one is remembered. */
	ck_assert(!ward_made_will_be_small(&m, 7 + WARD_MADE_SLOTS));
	make(&m, 7 + WARD_MADE_SLOTS, 1, 100);
	ck_assert(!ward_made_will_be_small(&m, 7));
	/* 0: who asked is not known. */
	make(&m, 0, 9, 100);
	ck_assert(!ward_made_will_be_small(&m, 0));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("made_files");
	TCase *t = tcase_create("made_files");

	tcase_add_test(t, four_in_a_row);
	tcase_add_test(t, a_large_one_begins_anew);
	tcase_add_test(t, threads_are_told_apart);
	suite_add_tcase(s, t);
	return suite_run(s);
}
