/* SPDX-License-Identifier: Apache-2.0 */
/* The turn of all ends its wait by a clock that nobody sets. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "enforcer/base/clock.h"
#include "fs/base/request_turn.h"
#include "tests/support/suite.h"

#define WAIT_MS 200
#define NS_PER_MS 1000000U
/* A loaded machine may need more than WAIT_MS, but not half of what the clock is set by. */
#define LATE_MS 30000

static struct ward_fs fs;
static time_t ahead;

/* The linker sends all calls here (--wrap). */
int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

/* The caller reads the clock before the turn sets it back. After that the kernel has it. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = __real_clock_gettime(clock, ret);

	if (r == 0 && clock == CLOCK_REALTIME)
		ret->tv_sec += ahead;
	return r;
}

static void *try_all(void *arg)
{
	int *r = arg;

	*r = ward_turn_all(&fs, WAIT_MS);
	if (*r == 0)
		ward_turn_end(&fs);
	return NULL;
}

/* What the turn of all answers while a request is under way, or while none is. */
static int all(bool under_way, uint64_t *ret_ms)
{
	const uint64_t begin = ward_clock_mono_ns();
	pthread_t other;
	int r = 1;

	if (under_way)
		ward_turn_begin(&fs);
	ck_assert_int_eq(pthread_create(&other, NULL, try_all, &r), 0);
	ck_assert_int_eq(pthread_join(other, NULL), 0);
	if (under_way)
		ward_turn_end(&fs);
	*ret_ms = (ward_clock_mono_ns() - begin) / NS_PER_MS;
	return r;
}

START_TEST(set_clock)
{
	static const time_t steps[] = {0, 60, -60};
	struct timespec real, said;
	uint64_t ms;

	memset(&fs, 0, sizeof(fs));
	ck_assert_int_eq(ward_turn_init(&fs), 0);
	/* Control: the test does set the clock. */
	ahead = 60;
	ck_assert_int_eq(__real_clock_gettime(CLOCK_REALTIME, &real), 0);
	ck_assert_int_eq(clock_gettime(CLOCK_REALTIME, &said), 0);
	ck_assert_int_ge(said.tv_sec - real.tv_sec, 60);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		ahead = steps[i];
		ck_assert_int_eq(all(false, &ms), 0);
		ck_assert_int_eq(all(true, &ms), -ETIMEDOUT);
		ck_assert_uint_ge(ms, WAIT_MS);
		ck_assert_uint_lt(ms, LATE_MS);
	}
	ck_assert_int_eq(all(false, &ms), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fs_turn");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 240);
	tcase_add_test(t, set_clock);
	suite_add_tcase(s, t);
	return suite_run(s);
}
