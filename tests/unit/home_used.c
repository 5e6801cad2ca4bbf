/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of a home's size: believed only where nobody can have added anything that is not in
 * it. Each case begins as the control does, in which the figure stands.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/session/home/home_used.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#define SIZE 100000

static char *path;
static int dir = -1;

static void setup(void)
{
	path = scratch_make();
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dir, 0);
}

static void teardown(void)
{
	close(dir);
	scratch_remove(path);
}

/* As a session does before it has the lock; the home holds `there`. */
static struct ward_home_used look(uint64_t there)
{
	struct ward_home_used u;
	ward_home_used_read(dir, &u);
	if (!ward_home_used_believe(&u, SIZE))
		ward_home_used_counted(&u, there);
	return u;
}

static struct ward_home_used begin(uint64_t there, bool alone)
{
	struct ward_home_used u = look(there);
	ck_assert_int_eq(ward_home_used_begin(dir, alone, &u), 0);
	return u;
}

static bool kept(uint64_t bytes)
{
	struct ward_home_used u;
	ward_home_used_read(dir, &u);
	return ward_home_used_believe(&u, SIZE) && u.bytes == bytes;
}

static bool nothing_kept(void)
{
	struct ward_home_used u;
	ward_home_used_read(dir, &u);
	return !ward_home_used_believe(&u, SIZE);
}

START_TEST(one_after_the_other)
{
	struct ward_home_used u = begin(1000, true);
	ck_assert(nothing_kept());
	ward_home_used_end(dir, 234, &u);
	ck_assert(kept(1234));
	/* A kept number needs no new count. */
	u = begin(7, true);
	ck_assert_uint_eq(u.bytes, 1234);
	ward_home_used_end(dir, 6, &u);
	ck_assert(kept(1240));
}
END_TEST

START_TEST(one_that_did_not_end)
{
	struct ward_home_used u = begin(1000, true);
	(void)u;
	ck_assert(nothing_kept());
	u = begin(5000, true);
	ward_home_used_end(dir, 1, &u);
	ck_assert(kept(5001));
}
END_TEST

/* The second one came beside the first: whichever ends first or last. */
START_TEST(two_at_once)
{
	for (int last = 0; last < 2; last++) {
		struct ward_home_used first = begin(1000, true);
		struct ward_home_used second = begin(1000, false);
		ward_home_used_end(dir, 50, last ? &second : &first);
		ck_assert(nothing_kept());
		ward_home_used_end(dir, 60, last ? &first : &second);
		ck_assert(nothing_kept());
	}
}
END_TEST

/* Between the look of one and its lock another one begins: and ends, or is killed. */
START_TEST(one_in_between)
{
	for (int ends = 0; ends < 2; ends++)
		for (int before = 0; before < 2; before++) {
			(void)unlinkat(dir, "used", 0);
			struct ward_home_used earlier = begin(1000, true);
			if (before)
				ward_home_used_end(dir, 0, &earlier);
			struct ward_home_used slow = look(1000);
			struct ward_home_used quick = begin(1000, true);
			if (ends)
				ward_home_used_end(dir, 500, &quick);
			ck_assert_int_eq(ward_home_used_begin(dir, true, &slow), 0);
			ward_home_used_end(dir, 5, &slow);
			ck_assert(nothing_kept());
		}
}
END_TEST

START_TEST(of_a_home_without_a_limit)
{
	struct ward_home_used u;
	ward_home_used_read(dir, &u);
	ck_assert_int_eq(ward_home_used_begin(dir, true, &u), 0);
	ward_home_used_end(dir, 5, &u);
	ck_assert(nothing_kept());
}
END_TEST

START_TEST(not_for_ever)
{
	struct ward_home_used u = begin(1000, true);
	ward_home_used_end(dir, 0, &u);
	unsigned n = 0;
	for (; kept(1000) && n < 2 * WARD_HOME_USED_STARTS; n++) {
		u = begin(1001, true);
		ward_home_used_end(dir, 0, &u);
	}
	ck_assert_uint_eq(n, WARD_HOME_USED_STARTS);
	u = begin(1001, true);
	ward_home_used_end(dir, 0, &u);
	ck_assert(kept(1001));
}
END_TEST

START_TEST(more_than_half)
{
	struct ward_home_used u = begin(SIZE / 2, true);
	ward_home_used_end(dir, 0, &u);
	ck_assert(kept(SIZE / 2));
	u = begin(SIZE / 2, true);
	ward_home_used_end(dir, 1, &u);
	ck_assert(nothing_kept());
	u = begin(UINT64_MAX - 1, true);
	ward_home_used_end(dir, 2, &u);
	ck_assert(nothing_kept());
}
END_TEST

/* No part of a line is a line. */
START_TEST(cut_anywhere)
{
	char line[WARD_HOME_USED_MAX] = "";
	struct ward_home_used u = begin(1000, true);
	ward_home_used_end(dir, 0, &u);
	ward_home_used_read(dir, &u);
	memcpy(line, u.line, sizeof(line));
	ck_assert(kept(1000));
	for (size_t n = 0; n < strlen(line); n++) {
		int fd = openat(dir, "used", O_WRONLY | O_TRUNC | O_CLOEXEC);
		ck_assert_int_eq(write(fd, line, n), (ssize_t)n);
		close(fd);
		ck_assert_msg(nothing_kept(), "%zu bytes", n);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("home_used");
	TCase *t = tcase_create("used");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, one_after_the_other);
	tcase_add_test(t, one_that_did_not_end);
	tcase_add_test(t, two_at_once);
	tcase_add_test(t, one_in_between);
	tcase_add_test(t, of_a_home_without_a_limit);
	tcase_add_test(t, not_for_ever);
	tcase_add_test(t, more_than_half);
	tcase_add_test(t, cut_anywhere);
	suite_add_tcase(s, t);
	return suite_run(s);
}
