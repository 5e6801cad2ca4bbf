/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts of what is sent: the budget of a session, the rate and connections of a destination. */
#include <check.h>
#include <errno.h>

#include "enforcer/base/clock.h"
#include "enforcer/net/base/net_limits.h"
#include "tests/support/suite.h"

static struct ward_settings settings;
static struct ward_broker net;
static struct ward_account *one, *other;

static void setup(void)
{
	settings = (struct ward_settings){.net_rate = WARD_UNLIMITED,
		.net_upload = WARD_UNLIMITED,
		.net_connections = WARD_UNLIMITED};
	net = (struct ward_broker){.settings = &settings};
	ck_assert_int_eq(ward_net_limits_open(&net, NULL), 0);
	ck_assert_int_eq(ward_net_limits_enter(&net, "one.example", &one), 0);
	ck_assert_int_eq(ward_net_limits_enter(&net, "other.example", &other), 0);
}

static void teardown(void)
{
	ward_net_limits_close(&net);
}

START_TEST(upload)
{
	settings.net_upload = 100;
	ck_assert_int_eq(ward_net_limits_upload(&net, 101), -EDQUOT);
	ck_assert_int_eq(ward_net_limits_upload(&net, SIZE_MAX), -EDQUOT);
	ck_assert_int_eq(ward_net_limits_upload(&net, 60), 0);
	ck_assert_int_eq(ward_net_limits_upload(&net, 41), -EDQUOT);
	/* A refused upload is not counted. */
	ck_assert_int_eq(ward_net_limits_upload(&net, 40), 0);
	ck_assert_int_eq(ward_net_limits_upload(&net, 1), -EDQUOT);
	/* Less, by another policy: nothing is left. */
	settings.net_upload = 10;
	ck_assert_int_eq(ward_net_limits_upload(&net, 1), -EDQUOT);
	settings.net_upload = 101;
	ck_assert_int_eq(ward_net_limits_upload(&net, 1), 0);
}
END_TEST

START_TEST(rate)
{
	settings.net_rate = UINT64_C(1000) * 1000; /* 1,000 bytes a second */
	ck_assert_uint_eq(ward_net_limits_wait(&net, one), 0);
	ward_net_limits_moved(&net, one, (size_t)3600 * 1000);
	/* An hour, but for a little that may be ahead and what has gone by meanwhile. */
	ck_assert_uint_gt(ward_net_limits_wait(&net, one), 1800 * WARD_NS_PER_SEC);
	ck_assert_uint_le(ward_net_limits_wait(&net, one), 3600 * WARD_NS_PER_SEC);
	ck_assert_uint_eq(ward_net_limits_wait(&net, other), 0);
	/* A new connection to the same destination waits as well. */
	struct ward_account *again = NULL;
	ck_assert_int_eq(ward_net_limits_enter(&net, "one.example", &again), 0);
	ck_assert_uint_gt(ward_net_limits_wait(&net, again), 1800 * WARD_NS_PER_SEC);
	/* To ask costs nothing. */
	for (int i = 0; i < 1000; i++)
		(void)ward_net_limits_wait(&net, one);
	ck_assert_uint_le(ward_net_limits_wait(&net, one), 3600 * WARD_NS_PER_SEC);
	/* All have ended: the account is still what it was. */
	ward_net_limits_leave(&net, again);
	ward_net_limits_leave(&net, one);
	ck_assert_int_eq(ward_net_limits_enter(&net, "third.example", &again), 0);
	ck_assert_int_eq(ward_net_limits_enter(&net, "one.example", &one), 0);
	ck_assert_uint_gt(ward_net_limits_wait(&net, one), 1800 * WARD_NS_PER_SEC);
	/* Without a rate, by another policy. */
	settings.net_rate = WARD_UNLIMITED;
	ck_assert_uint_eq(ward_net_limits_wait(&net, one), 0);
}
END_TEST

/* However much was moved: the account never comes round to nothing. */
START_TEST(no_wrap)
{
	settings.net_rate = 1;
	for (int i = 0; i < 1000; i++) {
		ward_net_limits_moved(&net, one, 256 << 10);
		ck_assert_uint_gt(ward_net_limits_wait(&net, one), 3600 * WARD_NS_PER_SEC);
	}
	settings.net_rate = 0;
	for (int i = 0; i < 1000; i++)
		ward_net_limits_moved(&net, one, 1);
	ck_assert_uint_gt(ward_net_limits_wait(&net, one), 3600 * WARD_NS_PER_SEC);
}
END_TEST

START_TEST(connections)
{
	struct ward_account *a = NULL;
	settings.net_connections = 2;
	ck_assert_int_eq(ward_net_limits_enter(&net, "one.example", &a), 0);
	ck_assert_ptr_eq(a, one);
	ck_assert_int_eq(ward_net_limits_enter(&net, "one.example", &a), -EUSERS);
	ck_assert_int_eq(ward_net_limits_enter(&net, "other.example", &a), 0);
	ward_net_limits_leave(&net, one);
	ck_assert_int_eq(ward_net_limits_enter(&net, "one.example", &a), 0);
	ck_assert_int_eq(ward_net_limits_enter(&net, "one.example", &a), -EUSERS);
	settings.net_connections = 0;
	ck_assert_int_eq(ward_net_limits_enter(&net, "fourth.example", &a), -EUSERS);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("net_limits");
	TCase *t = tcase_create("all");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, upload);
	tcase_add_test(t, rate);
	tcase_add_test(t, no_wrap);
	tcase_add_test(t, connections);
	suite_add_tcase(s, t);
	return suite_run(s);
}
