/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of what the kernel is to forget: order, overflow, tickets. No FUSE. */
#include <check.h>
#include <poll.h>
#include <string.h>

#include "enforcer/base/clock.h"
#include "fs/kernel/forget_queue.h"
#include "tests/support/suite.h"

static struct ward_fs fs;
static struct ward_fs_tree tree;
static struct ward_forget_queue *queue;

static void setup(void)
{
	struct ward_err err = WARD_ERR_INIT;

	memset(&fs, 0, sizeof(fs));
	memset(&tree, 0, sizeof(tree));
	tree.fs = &fs;
	tree.dev_fd = -1;
	ck_assert_int_eq(ward_forget_queue_new(&tree, &queue, &err), 0);
}

static void teardown(void)
{
	ward_forget_queue_free(queue);
}

static bool is_awake(void)
{
	struct pollfd p = {.fd = ward_forget_fd(queue), .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* Takes everything: how many items there were, and the rest. */
static size_t drain(struct ward_forget_rest *ret)
{
	struct ward_forget_item item;
	size_t n = 0;

	ward_forget_awake(queue);
	while (ward_forget_next(queue, &item, ret))
		n++;
	return n;
}

START_TEST(items_in_order)
{
	struct ward_forget_item item;
	struct ward_forget_rest rest;

	ck_assert(!is_awake());
	ward_forget_attr(queue, 7);
	ward_forget_dir(queue, 8);
	/* without epochs: the thread alone forgets */
	ward_forget_search(queue, 9);
	ck_assert(is_awake());
	ward_forget_awake(queue);
	ck_assert(!is_awake());
	ck_assert(ward_forget_next(queue, &item, &rest));
	ck_assert_uint_eq(item.number, 7);
	ck_assert(!item.beneath);
	ck_assert(ward_forget_next(queue, &item, &rest));
	ck_assert_uint_eq(item.number, 8);
	ck_assert(item.beneath);
	ck_assert(ward_forget_next(queue, &item, &rest));
	ck_assert_uint_eq(item.number, 9);
	ck_assert(item.beneath);
	ck_assert(!ward_forget_next(queue, &item, &rest));
	ck_assert(!rest.all && !rest.pages);
	ck_assert_uint_eq(rest.ticket, 0);
	ward_forget_wake(queue);
	ck_assert(is_awake());
}
END_TEST

/* Overflow loses nothing: then everything is forgotten, once. */
START_TEST(no_room)
{
	struct ward_forget_rest rest;
	size_t had = 0;

	for (uint64_t i = 1; i <= 100000; i++)
		ward_forget_attr(queue, i);
	had = drain(&rest);
	ck_assert_uint_lt(had, 100000);
	ck_assert_uint_gt(had, 0);
	ck_assert(rest.all);
	ck_assert(!rest.pages);
	ck_assert_uint_eq(drain(&rest), 0);
	ck_assert(!rest.all);
	/* the control: what fits asks for no more */
	for (uint64_t i = 1; i <= had; i++)
		ward_forget_attr(queue, i);
	ck_assert_uint_eq(drain(&rest), had);
	ck_assert(!rest.all);
	ward_forget_lost(queue);
	ck_assert_uint_eq(drain(&rest), 0);
	ck_assert(rest.all);
}
END_TEST

START_TEST(tickets)
{
	const uint64_t soon = ward_clock_mono_ns() + 1000000;
	struct ward_forget_rest rest;
	uint64_t first = ward_forget_everything(queue), second;

	ck_assert_uint_gt(first, 0);
	ck_assert(!ward_forget_wait(queue, first, soon));
	(void)drain(&rest);
	ck_assert(rest.all && rest.pages);
	ck_assert_uint_eq(rest.ticket, first);
	second = ward_forget_everything(queue);
	ward_forget_done(queue, first);
	ck_assert(ward_forget_wait(queue, first, soon));
	ck_assert(!ward_forget_wait(queue, second, soon));
	ward_forget_done(queue, second);
	ck_assert(ward_forget_wait(queue, second, soon));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fs_forget_queue");
	TCase *t = tcase_create("fs_forget_queue");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, items_in_order);
	tcase_add_test(t, no_room);
	tcase_add_test(t, tickets);
	suite_add_tcase(s, t);
	return suite_run(s);
}
