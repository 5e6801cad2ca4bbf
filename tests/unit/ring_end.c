/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a handle joins the record of its opening, or gets one of its own: never both. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit/event.h"
#include "audit/ring.h"
#include "tests/support/ring_pair.h"
#include "tests/support/suite.h"

#define BYTES ((size_t)64 << 10)
#define HANDLES 20000U

static uint64_t put(struct ward_ring *r, uint64_t n)
{
	struct ward_event ev;
	uint64_t pos = UINT64_MAX;
	ward_event_begin(&ev, WARD_EVENT_OPEN);
	ward_event_u64(&ev, WARD_TAG_INO, n);
	ward_event_text(&ev, WARD_TAG_PATH, "/workspace/file");
	ck_assert(ward_event_ends(&ev));
	ck_assert_int_eq(ward_ring_put_ends(r, &ev, &pos), 0);
	return pos;
}

/* The next record; whether it has the end. */
static bool get(struct ward_ring *r, uint64_t *ret_n, uint64_t *ret_read)
{
	struct ward_event ev;
	struct ward_event_fields f;
	ck_assert_int_eq(ward_ring_get(r, &ev, &f), 1);
	*ret_n = f.of[WARD_TAG_INO].u64;
	*ret_read = f.of[WARD_TAG_READ].u64;
	const bool has = ward_member_set_has(&f.members, WARD_TAG_DURATION);
	ck_assert_int_eq(has, ward_member_set_has(&f.members, WARD_TAG_READ));
	ck_assert_int_eq(has, f.of[WARD_TAG_DURATION].p != NULL);
	if (has)
		ck_assert_uint_eq(f.of[WARD_TAG_DURATION].u64, 1000 + *ret_n);
	return has;
}

START_TEST(an_end_joins_what_nobody_has_read)
{
	struct pair p = pair_new(BYTES);
	uint64_t n = 0, bytes = 0;
	const uint64_t ended = put(p.producer, 1), open = put(p.producer, 2);
	ck_assert(ward_ring_end(p.producer, ended, 1001, 77));
	ck_assert(get(p.reader, &n, &bytes));
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(bytes, 77);
	ck_assert(!get(p.reader, &n, &bytes));
	ck_assert_uint_eq(n, 2);
	/* Read, and then given back. */
	ck_assert(!ward_ring_end(p.producer, open, 1002, 0));
	ward_ring_release(p.reader);
	ck_assert(!ward_ring_end(p.producer, open, 1002, 0));
	/* Where nothing is yet. */
	ck_assert(!ward_ring_end(p.producer, ward_ring_pos(p.reader), 1, 0));
	/* Once. */
	const uint64_t again = put(p.producer, 3);
	ck_assert(ward_ring_end(p.producer, again, 1003, 0));
	ck_assert(!ward_ring_end(p.producer, again, 5, 0));
	ck_assert(get(p.reader, &n, &bytes));
	pair_free(&p);
}
END_TEST

START_TEST(a_second_reader_finds_what_was_settled)
{
	struct pair p = pair_new(BYTES);
	uint64_t n = 0, bytes = 0;
	const uint64_t first = put(p.producer, 1), second = put(p.producer, 2);
	ck_assert(ward_ring_end(p.producer, first, 1001, 0));
	ck_assert(get(p.reader, &n, &bytes));
	ck_assert(!get(p.reader, &n, &bytes));
	ck_assert(!ward_ring_end(p.producer, second, 1002, 0));
	/* The first reader died before it wrote anything down. */
	struct ward_ring *next = NULL;
	ck_assert_int_eq(ward_ring_open(p.fd, p.wake, &next, NULL), 0);
	ck_assert_int_eq(ward_ring_seek(next, 0), 0);
	ck_assert(get(next, &n, &bytes));
	ck_assert(!get(next, &n, &bytes));
	ward_ring_close(next);
	pair_free(&p);
}
END_TEST

START_TEST(an_end_that_is_none_is_not_believed)
{
	struct pair p = pair_new(BYTES);
	uint64_t n = 0, bytes = 0;
	struct ward_event ev;
	struct ward_event_fields f;
	uint8_t *m = mmap(
		NULL, WARD_RING_HEADER_BYTES + BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, p.fd, 0);
	ck_assert_ptr_ne(m, MAP_FAILED);
	/* A mark that no end has: it is as if it were still open. */
	const uint64_t pos = put(p.producer, 1);
	m[WARD_RING_HEADER_BYTES + pos + 12] = 9;
	ck_assert(!ward_ring_end(p.producer, pos, 1001, 0));
	ck_assert(!get(p.reader, &n, &bytes));
	/* The flag without the fields. */
	ward_event_begin(&ev, WARD_EVENT_OPEN);
	ev.head.flags |= WARD_EVENT_ENDS;
	ck_assert_int_eq(ward_event_decode(&ev, ward_event_size(&ev), &f), -EBADMSG);
	ward_event_u64(&ev, WARD_TAG_DURATION, 0);
	ward_event_u64(&ev, WARD_TAG_READ, 0);
	ck_assert_int_eq(ward_event_decode(&ev, ward_event_size(&ev), &f), -EBADMSG);
	ck_assert_int_eq(ward_ring_put(p.producer, &ev), 0);
	ck_assert_int_eq(ward_ring_get(p.reader, &ev, &f), -EBADMSG);
	/* An event without room for the fields stays as it was. */
	static char big[sizeof(ev.fields) - 32];
	ward_event_begin(&ev, WARD_EVENT_OPEN);
	ward_event_bytes(&ev, WARD_TAG_PATH, big, sizeof(big));
	ck_assert(!ward_event_ends(&ev));
	ck_assert_uint_eq(ev.head.flags, 0);
	ck_assert_int_eq(ward_event_decode(&ev, ward_event_size(&ev), &f), 0);
	munmap(m, WARD_RING_HEADER_BYTES + BYTES);
	pair_free(&p);
}
END_TEST

struct race {
	struct pair *p;
	atomic_bool joined[HANDLES];
	atomic_uint n_joined, next;
};

static void *open_and_end(void *arg)
{
	struct race *race = arg;
	for (unsigned n = 0; (n = atomic_fetch_add(&race->next, 1)) < HANDLES;) {
		const uint64_t pos = put(race->p->producer, n);
		if (n % 3 == 0)
			(void)sched_yield();
		/* The reader may have it already, and the test below looks at it: first the mark.
		 */
		atomic_store(&race->joined[n], true);
		if (ward_ring_end(race->p->producer, pos, 1000 + n, n))
			atomic_fetch_add(&race->n_joined, 1);
		else
			atomic_store(&race->joined[n], false);
	}
	return NULL;
}

START_TEST(threads_and_a_reader_agree_on_each_end)
{
	struct pair p = pair_new(BYTES);
	static struct race race;
	static bool seen[HANDLES];
	pthread_t t[3];
	race.p = &p;
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, open_and_end, &race), 0);
	unsigned n_seen = 0;
	for (unsigned taken = 0; taken < HANDLES;) {
		struct ward_event ev;
		struct ward_event_fields f;
		const int r = ward_ring_get(p.reader, &ev, &f);
		ck_assert_int_ge(r, 0);
		if (r == 0) {
			ward_ring_release(p.reader);
			(void)sched_yield();
			continue;
		}
		taken++;
		const uint64_t n = f.of[WARD_TAG_INO].u64;
		ck_assert_uint_lt(n, HANDLES);
		seen[n] = ward_member_set_has(&f.members, WARD_TAG_DURATION);
		n_seen += seen[n];
		if (seen[n])
			ck_assert_uint_eq(f.of[WARD_TAG_DURATION].u64, 1000 + n);
		if (seen[n])
			ck_assert_uint_eq(f.of[WARD_TAG_READ].u64, n);
	}
	for (size_t i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	ck_assert_uint_eq(n_seen, atomic_load(&race.n_joined));
	for (unsigned n = 0; n < HANDLES; n++)
		ck_assert_int_eq(seen[n], atomic_load(&race.joined[n]));
	ck_assert_uint_gt(n_seen, 0);
	pair_free(&p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ring_end");
	TCase *t = tcase_create("ends");
	tcase_add_test(t, an_end_joins_what_nobody_has_read);
	tcase_add_test(t, a_second_reader_finds_what_was_settled);
	tcase_add_test(t, an_end_that_is_none_is_not_believed);
	tcase_add_test(t, threads_and_a_reader_agree_on_each_end);
	suite_add_tcase(s, t);
	return suite_run(s);
}
