/* SPDX-License-Identifier: Apache-2.0 */
/* The trail has what the supervisor said before what others did because of it. */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "audit/ring.h"
#include "tests/support/suite.h"
#include "tests/support/trail_session.h"

#define PAIRS 40000
#define HEADER_WRITE_POS 64 /* ring.c */

struct producer {
	struct session *s;
	atomic_bool ended;
};

static void *grant_and_use(void *arg)
{
	struct producer *p = arg;
	for (int i = 0; i < PAIRS; i++) {
		put_kind(p->s, 0, WARD_EVENT_GRANT);
		put_kind(p->s, 1, WARD_EVENT_OPEN);
	}
	atomic_store(&p->ended, true);
	return NULL;
}

START_TEST(a_grant_comes_before_its_use)
{
	struct session s = session_new("order");
	struct producer p = {.s = &s};
	pthread_t t;
	put_kind(&s, 0, WARD_EVENT_SESSION_START);
	ck_assert_int_eq(pthread_create(&t, NULL, grant_and_use, &p), 0);
	while (!atomic_load(&p.ended))
		ck_assert_int_ge(ward_writer_step(s.w), 0);
	pthread_join(t, NULL);
	drain(&s);
	ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
	unsigned granted = 0, used = 0;
	for (const char *line = ward_buf_str(&log), *end = NULL; *line; line = end + 1) {
		end = strchr(line, '\n');
		ck_assert_ptr_nonnull(end);
		const char *kind = memmem(line, (size_t)(end - line), "\"kind\":\"", 8);
		ck_assert_ptr_nonnull(kind);
		granted += strncmp(kind, "\"kind\":\"grant\"", 14) == 0;
		used += strncmp(kind, "\"kind\":\"open\"", 13) == 0;
		ck_assert_msg(used <= granted, "use %u stands before its grant", used);
	}
	ck_assert_uint_eq(granted, PAIRS);
	ck_assert_uint_eq(used, PAIRS);
	session_free(&s);
}
END_TEST

/* A producer that says that it wrote less than it did delays its records, and loses none. */
START_TEST(what_is_committed_counts_whatever_the_position_says)
{
	struct session s = session_new("position");
	put_kind(&s, 0, WARD_EVENT_SESSION_START);
	drain(&s);
	const uint64_t before = ward_ring_pos(s.out[1]);
	ck_assert_uint_eq(ward_ring_reach(s.out[1]), before);
	for (int i = 0; i < 3; i++)
		put_kind(&s, 1, WARD_EVENT_OPEN);
	ck_assert_uint_gt(ward_ring_reach(s.out[1]), before);
	const uint64_t none = 0;
	ck_assert_int_eq(
		pwrite(s.ring_fd[1], &none, sizeof(none), HEADER_WRITE_POS), (ssize_t)sizeof(none));
	ck_assert_uint_eq(ward_ring_reach(s.out[1]), before + 1);
	drain(&s);
	ward_cleanup(ward_buf_clear) struct ward_buf log = log_of(&s);
	unsigned n = 0;
	for (const char *at = ward_buf_str(&log); (at = strstr(at, "\"kind\":\"open\"")); at++)
		n++;
	ck_assert_uint_eq(n, 3);
	session_free(&s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("writer_order");
	TCase *t = tcase_create("order");
	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, trail_setup, trail_teardown);
	tcase_add_test(t, a_grant_comes_before_its_use);
	tcase_add_test(t, what_is_committed_counts_whatever_the_position_says);
	suite_add_tcase(s, t);
	return suite_run(s);
}
