/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that wait, and what they need: a thread that cannot be made, memory that is not
 * there. libfuse's requests are the test's.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/clock.h"
#include "fs/kernel/answer_later.h"
#include "tests/support/policies.h"
#include "tests/support/suite.h"

#define HEAD "[policy]\nversion = 1\n[tree /w]\nsource = .\n[files]\nwrite = /w\n"

/* What libfuse would have of a request. */
struct request {
	fuse_interrupt_func_t fn;
	void *data;
	bool early; /* interrupted before anybody asked */
	bool answered;
	size_t n; /* what was given as data */
	int error;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answer = PTHREAD_COND_INITIALIZER;
static unsigned threads;
static bool fail_thread, fail_memory;
static struct ward_delay *d;

/* The linker sends all calls here (--wrap). */
int __real_pthread_create(
	pthread_t *t, const pthread_attr_t *attr, void *(*start)(void *), void *arg);
int __wrap_pthread_create(
	pthread_t *t, const pthread_attr_t *attr, void *(*start)(void *), void *arg);
void *__real_calloc(size_t n, size_t m);
void *__wrap_calloc(size_t n, size_t m);
void __wrap_fuse_req_interrupt_func(fuse_req_t req, fuse_interrupt_func_t fn, void *data);

int __wrap_pthread_create(
	pthread_t *t, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	if (fail_thread)
		return EAGAIN;
	threads++;
	return __real_pthread_create(t, attr, start, arg);
}

void *__wrap_calloc(size_t n, size_t m)
{
	return fail_memory ? NULL : __real_calloc(n, m);
}

static void done(fuse_req_t req, void *data, int error)
{
	struct request *r = (void *)req;

	pthread_mutex_lock(&lock);
	ck_assert(!r->answered);
	r->answered = true;
	memcpy(&r->n, data, sizeof(r->n));
	r->error = error;
	pthread_cond_broadcast(&answer);
	pthread_mutex_unlock(&lock);
}

void __wrap_fuse_req_interrupt_func(fuse_req_t req, fuse_interrupt_func_t fn, void *data)
{
	struct request *r = (void *)req;

	pthread_mutex_lock(&lock);
	r->fn = fn;
	r->data = data;
	pthread_mutex_unlock(&lock);
	/* As libfuse does. */
	if (fn && r->early)
		fn(req, data);
}

static bool answered(struct request *r)
{
	bool is;

	pthread_mutex_lock(&lock);
	is = r->answered;
	pthread_mutex_unlock(&lock);
	return is;
}

static void await(struct request *r)
{
	pthread_mutex_lock(&lock);
	while (!r->answered)
		pthread_cond_wait(&answer, &lock);
	pthread_mutex_unlock(&lock);
}

static void setup(void)
{
	struct ward_err err = WARD_ERR_INIT;

	threads = 0;
	fail_thread = fail_memory = false;
	ck_assert_int_eq(ward_delay_new(&d, &err), 0);
}

static void teardown(void)
{
	ward_delay_free(d);
}

static int ready(const char *text, struct ward_err *err)
{
	struct ward_policy *p = policy_of(text);
	int r = ward_delay_ready(d, p, err);

	ward_policy_unref(p);
	return r;
}

static void later(struct request *r, size_t n, uint64_t ns)
{
	struct ward_delayed *place = NULL;

	ck_assert_int_eq(ward_delay_place(d, sizeof(n), &place), 0);
	memcpy(ward_delayed_data(place), &n, sizeof(n));
	ward_delay_for(d, place, (fuse_req_t)(void *)r, ns, done);
}

/* Without a rate there is no thread, and nothing can be asked to wait. */
START_TEST(no_rate)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_delayed *place = NULL;

	ck_assert_int_eq(ready(HEAD, &err), 0);
	ck_assert_int_eq(ready(HEAD "[quota /w]\ngrowth = 1G\nchurn = 5/m\n", &err), 0);
	ck_assert_uint_eq(threads, 0);
	ck_assert_int_eq(ward_delay_place(d, 10, &place), -EIO);
	ck_assert_ptr_null(place);
}
END_TEST

/* A policy with a rate cannot come into force without the thread. */
START_TEST(no_thread)
{
	static const char rated[] = HEAD "[quota /w]\nrate = 1K/h\n";
	struct ward_err err = WARD_ERR_INIT;
	struct ward_delayed *place = NULL;

	fail_thread = true;
	ck_assert_int_eq(ready(rated, &err), -EAGAIN);
	ck_assert_ptr_nonnull(strstr(err.text, "requests that wait"));
	ck_assert_int_eq(ward_delay_place(d, 10, &place), -EIO);
	ck_assert_ptr_null(place);
	/* One without a rate can; and this one later. One thread is enough for any number. */
	ck_assert_int_eq(ready(HEAD, &err), 0);
	fail_thread = false;
	ck_assert_int_eq(ready(rated, &err), 0);
	ck_assert_int_eq(ready(rated, &err), 0);
	ck_assert_uint_eq(threads, 1);
	ck_assert_int_eq(ward_delay_place(d, 10, &place), 0);
	free(place);
	/* A policy without one leaves it: requests may wait. */
	ck_assert_int_eq(ready(HEAD, &err), 0);
	ck_assert_int_eq(ward_delay_place(d, 10, &place), 0);
	free(place);
}
END_TEST

START_TEST(no_memory)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_delayed *place = NULL;

	ck_assert_int_eq(ready(HEAD "[quota /w]\nrate = 1K/h\n", &err), 0);
	fail_memory = true;
	ck_assert_int_eq(ward_delay_place(d, 10, &place), -ENOMEM);
	ck_assert_ptr_null(place);
	fail_memory = false;
	ck_assert_int_eq(ward_delay_place(d, SIZE_MAX, &place), -ENOMEM);
	ck_assert_int_eq(ward_delay_place(d, 10, &place), 0);
	free(place);
}
END_TEST

/* Due requests are done and others wait, whatever the order of arrival. */
START_TEST(order)
{
	const uint64_t hours = 100 * 3600 * WARD_NS_PER_SEC;
	struct ward_err err = WARD_ERR_INIT;
	struct request r[5] = {{0}};

	ck_assert_int_eq(ready(HEAD "[quota /w]\nrate = 1K/h\n", &err), 0);
	later(&r[0], 1, hours);
	later(&r[1], 2, 1);
	await(&r[1]);
	later(&r[2], 3, 2 * hours);
	later(&r[3], 4, 0);
	await(&r[3]);
	ck_assert(!answered(&r[0]));
	ck_assert(!answered(&r[2]));
	/* The client is killed. */
	r[2].fn((fuse_req_t)(void *)&r[2], r[2].data);
	await(&r[2]);
	later(&r[4], 5, 1);
	await(&r[4]);
	ck_assert(!answered(&r[0]));
	/* The end cuts the rest. */
	ward_delay_free(d);
	d = NULL;
	for (unsigned i = 0; i < 5; i++) {
		ck_assert(answered(&r[i]));
		ck_assert_uint_eq(r[i].n, i + 1);
		ck_assert_int_eq(r[i].error, i == 0 || i == 2 ? -EINTR : 0);
	}
}
END_TEST

/* A signal does not end a short wait, and gets nobody ahead. */
START_TEST(signalled)
{
	struct ward_err err = WARD_ERR_INIT;
	struct request r = {.early = true};
	uint64_t due;

	ck_assert_int_eq(ready(HEAD "[quota /w]\nrate = 1K/h\n", &err), 0);
	due = ward_clock_mono_ns() + WARD_DELAY_KEPT_NS / 4;
	later(&r, 1, WARD_DELAY_KEPT_NS / 4);
	await(&r);
	ck_assert_int_eq(r.error, 0);
	ck_assert_uint_ge(ward_clock_mono_ns(), due);
	/* The control: a long one. */
	r.answered = false;
	later(&r, 1, 100 * 3600 * WARD_NS_PER_SEC);
	await(&r);
	ck_assert_int_eq(r.error, -EINTR);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fs_delay");
	TCase *t = tcase_create("delay");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, no_rate);
	tcase_add_test(t, no_thread);
	tcase_add_test(t, no_memory);
	tcase_add_test(t, order);
	tcase_add_test(t, signalled);
	suite_add_tcase(s, t);
	return suite_run(s);
}
