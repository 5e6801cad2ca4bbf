/* SPDX-License-Identifier: Apache-2.0 */
/* Events and rings: what goes in comes out; what is spoiled harms nobody else. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/event.h"
#include "audit/ring.h"
#include "enforcer/base/cleanup.h"
#include "tests/support/ring_pair.h"
#include "tests/support/suite.h"

#define SMALL_RING ((size_t)64 << 10)
#define HEADER_WRITE_POS 64U
#define DEADLINE_MS 30000 /* a test that hangs fails; no test measures time */

static void put_number(struct ward_ring *r, uint64_t n, size_t path_len)
{
	struct ward_event ev;
	char path[8192];
	memset(path, 'p', sizeof(path));
	ward_event_begin(&ev, WARD_EVENT_OPEN);
	ward_event_u64(&ev, WARD_TAG_INO, n);
	ward_event_bytes(&ev, WARD_TAG_PATH, path, path_len);
	ck_assert_int_eq(ward_ring_put(r, &ev), 0);
}

/* The INO of the next event; fails the test if there is none. */
static uint64_t get_number(struct ward_ring *r)
{
	struct ward_event ev;
	struct ward_event_fields f;
	ck_assert_int_eq(ward_ring_get(r, &ev, &f), 1);
	return f.of[WARD_TAG_INO].u64;
}

static int get_any(struct ward_ring *r)
{
	struct ward_event ev;
	struct ward_event_fields f;
	return ward_ring_get(r, &ev, &f);
}

START_TEST(an_event_comes_back_field_by_field)
{
	struct ward_event ev;
	struct ward_event_fields f;
	ward_event_begin(&ev, WARD_EVENT_DENY);
	ward_event_u64(&ev, WARD_TAG_PID, 4711);
	ward_event_bytes(&ev, WARD_TAG_PATH, "/a\0b", 4);
	ward_event_text(&ev, WARD_TAG_RULE, "default");
	ward_event_text(&ev, WARD_TAG_TEXT, NULL);
	ward_event_bytes(&ev, WARD_TAG_COMM, "", 0);
	ck_assert_int_eq(ward_event_decode(&ev, ward_event_size(&ev), &f), 0);
	ck_assert_uint_eq(f.of[WARD_TAG_PID].u64, 4711);
	ck_assert_uint_eq(f.of[WARD_TAG_PATH].len, 4);
	ck_assert_mem_eq(f.of[WARD_TAG_PATH].p, "/a\0b", 4);
	ck_assert_mem_eq(f.of[WARD_TAG_RULE].p, "default", 7);
	ck_assert_ptr_null(f.of[WARD_TAG_TEXT].p);
	ck_assert_ptr_nonnull(f.of[WARD_TAG_COMM].p);
	ck_assert_uint_eq(f.of[WARD_TAG_COMM].len, 0);
	ck_assert_uint_ne(ev.head.real_ns, 0);
	ck_assert_str_eq(ward_event_kind_name(WARD_EVENT_SESSION_START), "session.start");
	for (int k = WARD_EVENT_NONE + 1; k < WARD_EVENT_COUNT_; k++)
		ck_assert_str_ne(ward_event_kind_name((enum ward_event_kind)k), "?");
	for (int t = WARD_TAG_NONE + 1; t < WARD_TAG_COUNT_; t++) {
		enum ward_event_tag tag = (enum ward_event_tag)t;
		ck_assert_int_ne(ward_event_tag_type(tag), WARD_TYPE_NONE);
		ck_assert_int_eq(ward_member_set_has(&f.members, tag), f.of[t].p != NULL);
	}
}
END_TEST

/* The NULs that `list` has to be decoded with, and the size that the event has to have. */
static void check_list(const char *list, size_t len, size_t want_len)
{
	struct ward_event ev;
	struct ward_event_fields f;
	ward_event_begin(&ev, WARD_EVENT_EXEC);
	memset(ev.fields, 0xff, sizeof(ev.fields)); /* what was there before must not show */
	ward_event_list(&ev, WARD_TAG_ARGV, list, len);
	ward_event_u64(&ev, WARD_TAG_PID, 7);
	ck_assert_int_eq(ward_event_decode(&ev, ward_event_size(&ev), &f), 0);
	ck_assert_uint_eq(f.of[WARD_TAG_ARGV].len, want_len);
	ck_assert_mem_eq(f.of[WARD_TAG_ARGV].p, list, len);
	if (want_len > 0)
		ck_assert_uint_eq(f.of[WARD_TAG_ARGV].p[want_len - 1], 0);
	ck_assert_uint_eq(f.of[WARD_TAG_PID].u64, 7);
	ck_assert_uint_eq(ev.head.flags, 0);
}

START_TEST(lists_and_digests_keep_their_form)
{
	struct ward_event ev;
	struct ward_event_fields f;
	check_list("", 0, 0);
	check_list("sh\0-c\0", 6, 6);
	check_list("sh\0-c", 5, 6);
	check_list("sh\0-cls", 7, 8); /* the end is the last byte of the padding */
	check_list("sh\0-cls\0", 8, 8);
	check_list("sh\0-cls2", 8, 9); /* and one more than there is */
	/* Items that do not fit go one by one. */
	static char big[WARD_EVENT_MAX];
	memset(big, 'a', sizeof(big));
	big[10] = big[20] = '\0';
	ward_event_begin(&ev, WARD_EVENT_EXEC);
	ward_event_list(&ev, WARD_TAG_ARGV, big, sizeof(big));
	ck_assert_uint_eq(ev.head.flags, WARD_EVENT_CUT);
	ck_assert_int_eq(ward_event_decode(&ev, ward_event_size(&ev), &f), 0);
	ck_assert_uint_eq(f.of[WARD_TAG_ARGV].len, 21);
	/* A list that does not end, and a digest of another size, are none. */
	ward_event_begin(&ev, WARD_EVENT_EXEC);
	ward_event_bytes(&ev, WARD_TAG_ARGV, "sh", 2);
	ck_assert_int_eq(ward_event_decode(&ev, ward_event_size(&ev), &f), -EBADMSG);
	ward_event_begin(&ev, WARD_EVENT_CLOSE);
	ward_event_digest(&ev, WARD_TAG_SHA256, (const uint8_t *)big);
	ck_assert_int_eq(ward_event_decode(&ev, ward_event_size(&ev), &f), 0);
	ward_event_begin(&ev, WARD_EVENT_CLOSE);
	ward_event_bytes(&ev, WARD_TAG_SHA256, big, 31);
	ck_assert_int_eq(ward_event_decode(&ev, ward_event_size(&ev), &f), -EBADMSG);
}
END_TEST

START_TEST(what_does_not_fit_is_told)
{
	struct ward_event ev;
	struct ward_event_fields f;
	static char big[WARD_EVENT_MAX];
	ward_event_begin(&ev, WARD_EVENT_POLICY);
	ward_event_bytes(&ev, WARD_TAG_TEXT, big, sizeof(big));
	ward_event_bytes(&ev, WARD_TAG_PATH, big, SIZE_MAX);
	ward_event_u64(&ev, WARD_TAG_PID, 1);
	ck_assert_uint_eq(ev.head.flags, WARD_EVENT_CUT);
	ck_assert_int_eq(ward_event_decode(&ev, ward_event_size(&ev), &f), 0);
	ck_assert_ptr_null(f.of[WARD_TAG_TEXT].p);
	ck_assert_uint_eq(f.of[WARD_TAG_PID].u64, 1);
	/* Exactly full is not cut. */
	ward_event_begin(&ev, WARD_EVENT_POLICY);
	ward_event_bytes(&ev, WARD_TAG_TEXT, big, sizeof(ev.fields) - 8);
	ck_assert_uint_eq(ev.head.flags, 0);
	ck_assert_uint_eq(ward_event_size(&ev), WARD_EVENT_MAX);
	ck_assert_int_eq(ward_event_decode(&ev, WARD_EVENT_MAX, &f), 0);
}
END_TEST

START_TEST(a_decoder_takes_only_what_the_builder_makes)
{
	struct ward_event ev;
	struct ward_event_fields f;
	ward_event_begin(&ev, WARD_EVENT_OPEN);
	ward_event_u64(&ev, WARD_TAG_PID, 1);
	ward_event_bytes(&ev, WARD_TAG_PATH, "/a", 2);
	size_t size = ward_event_size(&ev);
	ck_assert_int_eq(ward_event_decode(&ev, size, &f), 0);
	/* Any cut is refused. */
	for (size_t n = 0; n < size; n++) {
		struct ward_event cut = ev;
		ck_assert_int_eq(ward_event_decode(&cut, n, &f), -EBADMSG);
		if (n < sizeof(ev.head))
			continue;
		cut.head.len = (uint32_t)(n - sizeof(ev.head));
		int want = n == sizeof(ev.head) || n == sizeof(ev.head) + 16 ? 0 : -EBADMSG;
		ck_assert_int_eq(ward_event_decode(&cut, n, &f), want);
	}
	struct ward_event bad = ev;
	bad.fields[0] = WARD_TAG_PATH; /* the tag twice, and a number's length for a path is fine */
	ck_assert_int_eq(ward_event_decode(&bad, size, &f), -EBADMSG);
	bad = ev;
	bad.fields[0] = WARD_TAG_COUNT_;
	ck_assert_int_eq(ward_event_decode(&bad, size, &f), -EBADMSG);
	bad = ev;
	bad.fields[2] = 1; /* reserved */
	ck_assert_int_eq(ward_event_decode(&bad, size, &f), -EBADMSG);
	bad = ev;
	bad.fields[4] = 7; /* a number of seven bytes */
	ck_assert_int_eq(ward_event_decode(&bad, size, &f), -EBADMSG);
	bad = ev;
	bad.fields[size - sizeof(ev.head) - 1] = 1; /* padding */
	ck_assert_int_eq(ward_event_decode(&bad, size, &f), -EBADMSG);
	bad = ev;
	memset(bad.fields + 4, 0xff, 4);
	ck_assert_int_eq(ward_event_decode(&bad, size, &f), -EBADMSG);
	bad = ev;
	bad.head.kind = WARD_EVENT_NONE;
	ck_assert_int_eq(ward_event_decode(&bad, size, &f), -EBADMSG);
	bad = ev;
	bad.head.flags = 2;
	ck_assert_int_eq(ward_event_decode(&bad, size, &f), -EBADMSG);
}
END_TEST

START_TEST(events_leave_in_the_order_they_came)
{
	struct pair p = pair_new(SMALL_RING);
	uint64_t in = 0;
	uint64_t out = 0;
	/* Many rounds through the ring, with records of every length at its seam. */
	while (out < 20000) {
		for (int k = 0; k < 1 + (int)(in % 7); k++, in++)
			put_number(p.producer, in, (size_t)(in * 37 % 5000));
		while (out < in)
			ck_assert_uint_eq(get_number(p.reader), out++);
		ck_assert_int_eq(get_any(p.reader), 0);
		ward_ring_release(p.reader);
	}
	pair_free(&p);
}
END_TEST

START_TEST(a_ring_is_sealed_and_checked)
{
	int fd = -1;
	struct ward_ring *r = NULL;
	ck_assert_int_eq(ward_ring_create(SMALL_RING + 8, &fd, NULL), -EINVAL);
	ck_assert_int_eq(ward_ring_create(0, &fd, NULL), -EINVAL);
	ck_assert_int_eq(ward_ring_create(SMALL_RING, &fd, NULL), 0);
	ck_assert_int_eq(ftruncate(fd, 0), -1);
	ck_assert_int_eq(ftruncate(fd, WARD_RING_HEADER_BYTES + SMALL_RING * 2), -1);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(ward_ring_open(fd, -1, &r, NULL), 0);
	ward_ring_close(r);
	ck_assert_int_eq(pwrite(fd, "x", 1, 0), 1);
	ck_assert_int_eq(ward_ring_open(fd, -1, &r, NULL), -EINVAL);
	close(fd);
	fd = memfd_create("t", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ck_assert_int_eq(ftruncate(fd, WARD_RING_HEADER_BYTES + SMALL_RING), 0);
	ck_assert_int_eq(ward_ring_open(fd, -1, &r, NULL), -EINVAL); /* could shrink under us */
	close(fd);
}
END_TEST

/* --- many threads --- */

#define THREADS 4
#define PER_THREAD 20000U

struct job {
	struct ward_ring *ring;
	uint64_t thread;
};

static void *produce(void *arg)
{
	const struct job *j = arg;
	for (uint64_t i = 0; i < PER_THREAD; i++)
		put_number(j->ring, j->thread << 32 | i, (size_t)(i % 300));
	return NULL;
}

/* Reads until n events were seen, sleeping as the writer does. */
static void consume(struct pair *p, uint64_t n, uint64_t next[THREADS])
{
	for (uint64_t seen = 0; seen < n;) {
		struct ward_event ev;
		struct ward_event_fields f;
		int r = ward_ring_get(p->reader, &ev, &f);
		ck_assert_int_ge(r, 0);
		if (r == 1) {
			uint64_t t = f.of[WARD_TAG_INO].u64 >> 32;
			ck_assert_uint_lt(t, THREADS);
			ck_assert_uint_eq(f.of[WARD_TAG_INO].u64 & UINT32_MAX, next[t]++);
			seen++;
			continue;
		}
		ward_ring_release(p->reader);
		bool nap = seen % 2 == 0;
		if (!(nap ? ward_ring_may_nap(p->reader) : ward_ring_may_sleep(p->reader)))
			continue;
		struct pollfd pfd = {.fd = p->wake, .events = POLLIN};
		/* A nap ends by itself; a sleep must be ended by a producer. */
		int e = poll(&pfd, 1, nap ? 2 : DEADLINE_MS);
		ck_assert_msg(nap || e == 1, "nobody woke the reader");
		uint64_t count = 0;
		ck_assert(read(p->wake, &count, sizeof(count)) > 0 || errno == EAGAIN);
	}
}

struct late {
	struct ward_ring *ring;
	_Atomic uint64_t acknowledged;
};

static void *produce_until_failed(void *arg)
{
	struct late *l = arg;
	struct ward_event ev;
	ward_event_begin(&ev, WARD_EVENT_OPEN);
	while (ward_ring_put(l->ring, &ev) == 0)
		atomic_fetch_add(&l->acknowledged, 1);
	return NULL;
}

/* The log ends while producers go on: what they were told was taken is there to be read. */
START_TEST(what_was_acknowledged_before_the_end_is_there)
{
	for (int round = 0; round < 300; round++) {
		struct pair p = pair_new(SMALL_RING);
		struct late l = {.ring = p.producer};
		pthread_t id[THREADS];
		uint64_t got = 0;
		for (int t = 0; t < THREADS; t++)
			ck_assert_int_eq(pthread_create(&id[t], NULL, produce_until_failed, &l), 0);
		for (int i = 0; i < round; i++) {
			got += (uint64_t)get_any(p.reader);
			ward_ring_release(p.reader);
		}
		ward_ring_fail(p.reader, true);
		while (get_any(p.reader) == 1)
			got++;
		for (int t = 0; t < THREADS; t++)
			pthread_join(id[t], NULL);
		ck_assert_uint_ge(got, l.acknowledged);
		pair_free(&p);
	}
}
END_TEST

START_TEST(threads_wait_for_room_and_lose_nothing)
{
	struct pair p = pair_new(SMALL_RING);
	pthread_t id[THREADS];
	struct job jobs[THREADS];
	uint64_t next[THREADS] = {0};
	for (uint64_t t = 0; t < THREADS; t++) {
		jobs[t] = (struct job){.ring = p.producer, .thread = t};
		ck_assert_int_eq(pthread_create(&id[t], NULL, produce, &jobs[t]), 0);
	}
	consume(&p, (uint64_t)THREADS * PER_THREAD, next);
	for (int t = 0; t < THREADS; t++) {
		pthread_join(id[t], NULL);
		ck_assert_uint_eq(next[t], PER_THREAD);
	}
	ck_assert_int_eq(get_any(p.reader), 0);
	pair_free(&p);
}
END_TEST

static size_t fill(struct ward_ring *r)
{
	struct ward_event ev;
	ward_event_begin(&ev, WARD_EVENT_OPEN);
	/* The layout in ring.h, and the commit word behind the last one. */
	size_t need = 16 + ((ward_event_size(&ev) + 7) & ~(size_t)7);
	size_t n = (SMALL_RING - sizeof(uint64_t)) / need;
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(ward_ring_put(r, &ev), 0);
	return n;
}

static void *put_one(void *arg)
{
	struct ward_event ev;
	ward_event_begin(&ev, WARD_EVENT_CLOSE);
	return (void *)(intptr_t)ward_ring_put(arg, &ev);
}

struct waiter {
	struct ward_ring *ring;
	int result;
	_Atomic bool done;
};

static void *put_and_tell(void *arg)
{
	struct waiter *w = arg;
	struct ward_event ev;
	ward_event_begin(&ev, WARD_EVENT_CLOSE);
	w->result = ward_ring_put(w->ring, &ev);
	atomic_store(&w->done, true);
	return NULL;
}

/* Until the producer committed. */
static void wait_committed(struct ward_ring *reader)
{
	while (get_any(reader) == 0)
		usleep(1000);
}

START_TEST(a_producer_that_syncs_waits_for_the_disk)
{
	struct pair p = pair_new(SMALL_RING);
	struct waiter w[3] = {{.ring = p.producer}, {.ring = p.producer}, {.ring = p.producer}};
	pthread_t id[3];
	ward_ring_sync(p.producer, true);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&id[i], NULL, put_and_tell, &w[i]), 0);
	for (int i = 0; i < 3; i++)
		wait_committed(p.reader);
	/* In the log is not on the disk, and read is not even in the log. */
	ward_ring_durable(p.reader);
	ward_ring_release(p.reader);
	for (int i = 0; i < 3; i++)
		ck_assert(!atomic_load(&w[i].done));
	ward_ring_durable(p.reader);
	for (int i = 0; i < 3; i++) {
		pthread_join(id[i], NULL);
		ck_assert_int_eq(w[i].result, 0);
	}
	/* The log fails first. */
	struct waiter late = {.ring = p.producer};
	ck_assert_int_eq(pthread_create(&id[0], NULL, put_and_tell, &late), 0);
	wait_committed(p.reader);
	ward_ring_release(p.reader);
	ck_assert(!atomic_load(&late.done));
	/* However soon it works again: what was on its way then is not known to be there. */
	ward_ring_fail(p.reader, true);
	ward_ring_fail(p.reader, false);
	ward_ring_durable(p.reader);
	pthread_join(id[0], NULL);
	ck_assert_int_eq(late.result, -EIO);
	struct waiter again = {.ring = p.producer};
	ck_assert_int_eq(pthread_create(&id[0], NULL, put_and_tell, &again), 0);
	wait_committed(p.reader);
	ward_ring_release(p.reader);
	ward_ring_durable(p.reader);
	pthread_join(id[0], NULL);
	ck_assert_int_eq(again.result, 0);
	pair_free(&p);
}
END_TEST

START_TEST(a_second_reader_tells_of_what_the_first_wrote)
{
	struct pair p = pair_new(SMALL_RING);
	struct waiter w = {.ring = p.producer};
	pthread_t id;
	ward_ring_sync(p.producer, true);
	ck_assert_int_eq(pthread_create(&id, NULL, put_and_tell, &w), 0);
	wait_committed(p.reader);
	uint64_t pos = ward_ring_pos(p.reader);
	/* It dies after it wrote the record: the log says where to go on. */
	ward_ring_close(p.reader);
	ck_assert_int_eq(ward_ring_open(p.fd, p.wake, &p.reader, NULL), 0);
	ward_ring_durable(p.reader);
	ck_assert(!atomic_load(&w.done));
	ck_assert_int_eq(ward_ring_seek(p.reader, pos), 0);
	ward_ring_durable(p.reader);
	pthread_join(id, NULL);
	ck_assert_int_eq(w.result, 0);
	pair_free(&p);
}
END_TEST

START_TEST(a_full_ring_waits_until_room_is_released)
{
	struct pair p = pair_new(SMALL_RING);
	size_t n = fill(p.producer);
	ck_assert_uint_gt(n, 100);
	/* Reading alone makes no room: what is not in safety stays. */
	ck_assert_int_eq(get_any(p.reader), 1);
	struct waiter w = {.ring = p.producer, .result = 1};
	pthread_t id;
	ck_assert_int_eq(pthread_create(&id, NULL, put_and_tell, &w), 0);
	usleep(20000);
	ck_assert(!atomic_load(&w.done));
	ward_ring_release(p.reader);
	pthread_join(id, NULL);
	ck_assert_int_eq(w.result, 0);
	for (size_t i = 1; i < n + 1; i++)
		ck_assert_int_eq(get_any(p.reader), 1);
	ck_assert_int_eq(get_any(p.reader), 0);
	pair_free(&p);
}
END_TEST

START_TEST(a_failed_log_ends_the_wait_and_comes_back)
{
	struct pair p = pair_new(SMALL_RING);
	size_t n = fill(p.producer);
	pthread_t id;
	ck_assert_int_eq(pthread_create(&id, NULL, put_one, p.producer), 0);
	usleep(20000);
	ward_ring_fail(p.reader, true);
	void *result = NULL;
	pthread_join(id, &result);
	ck_assert_int_eq((int)(intptr_t)result, -EIO);
	struct ward_event ev;
	ward_event_begin(&ev, WARD_EVENT_OPEN);
	ck_assert_int_eq(ward_ring_put(p.producer, &ev), -EIO);
	/* Acknowledged records are still there. */
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(get_any(p.reader), 1);
	ward_ring_release(p.reader);
	ward_ring_fail(p.reader, false);
	ck_assert_int_eq(ward_ring_put(p.producer, &ev), 0);
	ck_assert_int_eq(get_any(p.reader), 1);
	pair_free(&p);
}
END_TEST

START_TEST(a_producer_wakes_only_a_reader_that_rests)
{
	struct pair p = pair_new(SMALL_RING);
	uint64_t count = 0;
	put_number(p.producer, 1, 10);
	ck_assert_int_eq(read(p.wake, &count, sizeof(count)), -1); /* the reader is awake */
	ck_assert(!ward_ring_may_sleep(p.reader));		   /* there is work */
	ck_assert_uint_eq(get_number(p.reader), 1);
	ward_ring_release(p.reader);
	ck_assert(ward_ring_may_sleep(p.reader));
	put_number(p.producer, 2, 10);
	put_number(p.producer, 3, 10);
	ck_assert_int_eq(read(p.wake, &count, sizeof(count)), 8);
	ck_assert_uint_eq(count, 1); /* one pays for the wake-up */
	/* Napping: not before the ring is half full. */
	ck_assert(ward_ring_may_nap(p.reader));
	put_number(p.producer, 4, 10);
	ck_assert_int_eq(read(p.wake, &count, sizeof(count)), -1);
	for (uint64_t i = 0; i < 8; i++)
		put_number(p.producer, 5 + i, 5000);
	ck_assert_int_eq(read(p.wake, &count, sizeof(count)), 8);
	ck_assert(!ward_ring_may_nap(p.reader));
	pair_free(&p);
}
END_TEST

START_TEST(a_second_reader_goes_on_where_the_log_ends)
{
	struct pair p = pair_new(SMALL_RING);
	for (uint64_t i = 0; i < 10; i++)
		put_number(p.producer, i, 100);
	for (uint64_t i = 0; i < 4; i++)
		ck_assert_uint_eq(get_number(p.reader), i);
	uint64_t logged = ward_ring_pos(p.reader);  /* written to the log, not yet released */
	ck_assert_uint_eq(get_number(p.reader), 4); /* got, never written */
	ward_ring_close(p.reader);
	ck_assert_int_eq(ward_ring_open(p.fd, p.wake, &p.reader, NULL), 0);
	ck_assert_int_eq(ward_ring_seek(p.reader, logged + 1), -EINVAL);
	ck_assert_int_eq(ward_ring_seek(p.reader, logged), 0);
	for (uint64_t i = 4; i < 10; i++)
		ck_assert_uint_eq(get_number(p.reader), i);
	ck_assert_int_eq(get_any(p.reader), 0);
	pair_free(&p);
}
END_TEST

/* --- a producer that dies, a producer that lies --- */

static uint8_t *raw_map(const struct pair *p)
{
	uint8_t *m = mmap(NULL, WARD_RING_HEADER_BYTES + SMALL_RING, PROT_READ | PROT_WRITE,
		MAP_SHARED, p->fd, 0);
	ck_assert_ptr_ne(m, MAP_FAILED);
	return m;
}

START_TEST(a_producer_that_dies_before_the_commit_leaves_nothing)
{
	struct pair p = pair_new(SMALL_RING);
	uint8_t *m = raw_map(&p);
	/*
	 * A round of paths that look like commit words, then the reader stands in the middle of
	 * what is left of them: it must see nothing.
	 */
	uint64_t lure[64];
	struct ward_event ev;
	uint64_t pos = 0;
	while (pos + 1024 < 3 * SMALL_RING) {
		for (size_t i = 0; i < 64; i++)
			lure[i] = pos + SMALL_RING + 16 + 32 + 8 + 8 * i + 1;
		ward_event_begin(&ev, WARD_EVENT_OPEN);
		ward_event_bytes(&ev, WARD_TAG_PATH, lure, sizeof(lure) - 8 * (pos % 11));
		ck_assert_int_eq(ward_ring_put(p.producer, &ev), 0);
		ck_assert_int_eq(get_any(p.reader), 1);
		ck_assert_int_eq(get_any(p.reader), 0);
		ward_ring_release(p.reader);
		pos = ward_ring_pos(p.reader);
	}
	/* A child writes all of a record but its commit word, and dies. */
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		uint32_t size = 32;
		uint8_t *rec = m + WARD_RING_HEADER_BYTES + (pos & (SMALL_RING - 1));
		memcpy(rec + 8, &size, 4);
		_exit(0);
	}
	int status = 0;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(get_any(p.reader), 0);
	munmap(m, WARD_RING_HEADER_BYTES + SMALL_RING);
	pair_free(&p);
}
END_TEST

START_TEST(a_spoiled_record_is_told_and_passed_over)
{
	struct pair p = pair_new(SMALL_RING);
	uint8_t *m = raw_map(&p);
	uint8_t *data = m + WARD_RING_HEADER_BYTES;
	const struct {
		size_t off;
		uint32_t v;
	} spoil[] = {{0, 77}, {8, 0}, {8, 31}, {8, WARD_EVENT_MAX + 1}, {8, UINT32_MAX},
		{16, WARD_EVENT_NONE}, {16, 9999}, {20, 4}, {20, UINT32_MAX}, {48, 0xffff}};
	for (size_t i = 0; i < sizeof(spoil) / sizeof(*spoil); i++) {
		uint64_t at = ward_ring_pos(p.reader) & (SMALL_RING - 1);
		put_number(p.producer, 1, 40);
		memcpy(data + at + spoil[i].off, &spoil[i].v, 4);
		ck_assert_int_eq(get_any(p.reader), -EBADMSG);
		ck_assert_int_eq(get_any(p.reader), 0);
		put_number(p.producer, 2 + i, 40);
		ck_assert_uint_eq(get_number(p.reader), 2 + i);
		ward_ring_release(p.reader);
	}
	/* The position to go on is a lie as well: this ring is given up, and says so. */
	const uint64_t lies[] = {0, 12, UINT64_MAX - 7, SMALL_RING * 5};
	uint64_t at = ward_ring_pos(p.reader) & (SMALL_RING - 1);
	put_number(p.producer, 1, 40);
	memcpy(data + at, "bad", 4);
	memcpy(m + HEADER_WRITE_POS, &lies[_i], 8);
	ck_assert_int_eq(get_any(p.reader), -EBADMSG);
	ck_assert_int_eq(get_any(p.reader), 0);
	ck_assert(ward_ring_may_sleep(p.reader));
	struct ward_event ev;
	ward_event_begin(&ev, WARD_EVENT_OPEN);
	ck_assert_int_eq(ward_ring_put(p.producer, &ev), -EIO);
	ward_ring_fail(p.reader, false);
	ck_assert_int_eq(ward_ring_put(p.producer, &ev), -EIO);
	munmap(m, WARD_RING_HEADER_BYTES + SMALL_RING);
	pair_free(&p);
}
END_TEST

START_TEST(scribbling_never_harms_the_reader)
{
	struct pair p = pair_new(SMALL_RING);
	uint8_t *m = raw_map(&p);
	unsigned seed = 20251;
	for (int round = 0; round < 300; round++) {
		pair_free(&p);
		munmap(m, WARD_RING_HEADER_BYTES + SMALL_RING);
		p = pair_new(SMALL_RING);
		m = raw_map(&p);
		for (uint64_t i = 0; i < 20; i++)
			put_number(p.producer, i, 50);
		for (int k = 0; k < 40; k++) {
			size_t at = (size_t)rand_r(&seed) % ((size_t)20 * 128);
			m[WARD_RING_HEADER_BYTES + at] = (uint8_t)rand_r(&seed);
		}
		if (round % 3 == 0)
			m[HEADER_WRITE_POS + (size_t)rand_r(&seed) % 8] = (uint8_t)rand_r(&seed);
		/* Waiters that are none, a disk that is ahead, a reader that seems to sleep. */
		if (round % 5 == 0)
			for (size_t at = HEADER_WRITE_POS + 64; at < 512; at++)
				m[at] = (uint8_t)rand_r(&seed);
		int seen = 0;
		for (int i = 0; i < 100000; i++, seen++) {
			int r = get_any(p.reader);
			if (r == 0)
				break;
			ck_assert(r == 1 || r == -EBADMSG);
			ward_ring_release(p.reader);
			ward_ring_durable(p.reader);
		}
		ck_assert_int_lt(seen, 100000);
	}
	munmap(m, WARD_RING_HEADER_BYTES + SMALL_RING);
	pair_free(&p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ring");
	TCase *t = tcase_create("ring");
	tcase_set_timeout(t, 120);
	tcase_add_test(t, an_event_comes_back_field_by_field);
	tcase_add_test(t, lists_and_digests_keep_their_form);
	tcase_add_test(t, what_does_not_fit_is_told);
	tcase_add_test(t, a_decoder_takes_only_what_the_builder_makes);
	tcase_add_test(t, events_leave_in_the_order_they_came);
	tcase_add_test(t, a_ring_is_sealed_and_checked);
	tcase_add_test(t, threads_wait_for_room_and_lose_nothing);
	tcase_add_test(t, a_producer_that_syncs_waits_for_the_disk);
	tcase_add_test(t, a_second_reader_tells_of_what_the_first_wrote);
	tcase_add_test(t, a_full_ring_waits_until_room_is_released);
	tcase_add_test(t, a_failed_log_ends_the_wait_and_comes_back);
	tcase_add_test(t, what_was_acknowledged_before_the_end_is_there);
	tcase_add_test(t, a_producer_wakes_only_a_reader_that_rests);
	tcase_add_test(t, a_second_reader_goes_on_where_the_log_ends);
	tcase_add_test(t, a_producer_that_dies_before_the_commit_leaves_nothing);
	tcase_add_loop_test(t, a_spoiled_record_is_told_and_passed_over, 0, 4);
	tcase_add_test(t, scribbling_never_harms_the_reader);
	suite_add_tcase(s, t);
	return suite_run(s);
}
