/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A search for owners of locks that wait for each other costs the guard so much and no more:
 * an owner of thousands of locks makes each look long.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

#include "fs/base/fs.h"
#include "fs/ops/lock_circle.h"
#include "tests/support/suite.h"

#define WAITS 200

static unsigned looks;
static long look_ns;

static long cpu_ns(void)
{
	struct timespec t;
	ck_assert_int_eq(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* As long as the kernel takes for it; no owner holds anything. */
static int descriptor(struct ward_fs_tree *tree, const struct ward_node *node, uint64_t owner)
{
	const long until = cpu_ns() + look_ns;
	(void)tree;
	(void)node;
	(void)owner;
	looks++;
	while (look_ns && cpu_ns() < until)
		continue;
	return -ENOENT;
}

/* One more wait; how many looks that took. */
static unsigned one_more(struct ward_fs_tree *tree, struct ward_lock_wait *w, uint64_t owner)
{
	static const struct flock lock = {.l_type = F_WRLCK};
	*w = (struct ward_lock_wait){.lock = &lock, .owner = owner};
	looks = 0;
	ck_assert_int_eq(ward_lock_wait_begin(tree, w, descriptor), 0);
	return looks;
}

START_TEST(a_search_is_bounded)
{
	static struct ward_lock_wait waits[WAITS + 3];
	struct ward_fs_tree *tree = calloc(1, sizeof(*tree));
	ck_assert_ptr_nonnull(tree);
	pthread_mutex_init(&tree->lock_waits_lock, NULL);
	LIST_INIT(&tree->lock_waits);
	/* The control: quick looks, and each waiter is looked at. An emulated CPU may need more
	 * time than a search has, so it gets some more tries. */
	for (unsigned i = 0; i < WAITS; i++) {
		unsigned seen = one_more(tree, &waits[i], i + 1);
		for (unsigned more = 0; seen != i && more < 100; more++) {
			ward_lock_wait_end(tree, &waits[i]);
			tree->lock_rest_until_ns = 0;
			seen = one_more(tree, &waits[i], i + 1);
		}
		ck_assert_uint_eq(seen, i);
	}
	/* The attack: each look takes a millisecond. */
	look_ns = 1000000;
	unsigned slow = one_more(tree, &waits[WAITS], WAITS + 1);
	ck_assert_uint_gt(slow, 0);
	ck_assert_uint_lt(slow, 10);
	/* Nor does the next one begin at once. */
	ck_assert_uint_gt(tree->lock_rest_until_ns, 0);
	tree->lock_rest_until_ns = UINT64_MAX;
	ck_assert_uint_eq(one_more(tree, &waits[WAITS + 1], WAITS + 2), 0);
	/* It does later. */
	tree->lock_rest_until_ns = 0;
	look_ns = 0;
	ck_assert_uint_eq(one_more(tree, &waits[WAITS + 2], WAITS + 3), WAITS + 2);
	for (unsigned i = 0; i < WAITS + 3; i++)
		ward_lock_wait_end(tree, &waits[i]);
	pthread_mutex_destroy(&tree->lock_waits_lock);
	free(tree);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fs_lock_circle");
	TCase *t = tcase_create("circle");
	tcase_add_test(t, a_search_is_bounded);
	suite_add_tcase(s, t);
	return suite_run(s);
}
