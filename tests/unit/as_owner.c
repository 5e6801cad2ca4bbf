/* SPDX-License-Identifier: Apache-2.0 */
/* Acting as an owner: what nested pairs leave in force. */
#include "enforcer/session/owner/as_owner.h"

#include <check.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "tests/support/suite.h"

static uid_t uid_for_files(void)
{
	return (uid_t)setfsuid((uid_t)-1);
}

static gid_t gid_for_files(void)
{
	return (gid_t)setfsgid((gid_t)-1);
}

START_TEST(goes_back_to_who_acted_before)
{
	const struct ward_identity a = {.root = true, .owner_uid = 4711, .owner_gid = 4712},
				   b = {.root = true, .owner_uid = 4713, .owner_gid = 4714};
	const struct ward_identity *const inner[] = {&a, &b};
	const uid_t uid = uid_for_files();
	const gid_t gid = gid_for_files();
	struct ward_as_owner outer, other;

	if (geteuid() != 0)
		return;
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(ward_as_owner_begin(&a, &outer, NULL), 0);
		ck_assert_uint_eq(uid_for_files(), 4711);
		ck_assert_int_eq(ward_as_owner_begin(inner[i], &other, NULL), 0);
		ck_assert_uint_eq(uid_for_files(), inner[i]->owner_uid);
		ck_assert_uint_eq(gid_for_files(), inner[i]->owner_gid);
		ward_as_owner_end(&other);
		ck_assert_uint_eq(uid_for_files(), 4711);
		ck_assert_uint_eq(gid_for_files(), 4712);
		ward_as_owner_end(&outer);
		ck_assert_uint_eq(uid_for_files(), uid);
		ck_assert_uint_eq(gid_for_files(), gid);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("as_owner");
	TCase *t = tcase_create("pairs");

	tcase_add_test(t, goes_back_to_who_acted_before);
	suite_add_tcase(s, t);
	return suite_run(s);
}
