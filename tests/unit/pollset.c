/* SPDX-License-Identifier: Apache-2.0 */
/* The poll set: order, bounds, and what a handler may do to the set during a round. */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "enforcer/base/pollset.h"
#include "tests/support/suite.h"

struct loop;

/* One end of a pipe that a member waits for, and what the member's handler does besides. */
struct end {
	struct loop *loop;
	char name;
	int read_fd, write_fd;
	ward_pollset_id id;
	void (*also)(struct end *e);
	struct end *other;
	short seen;
};

/* What was called, as letters in order. */
struct loop {
	struct ward_pollset set;
	char called[64];
	struct end a, b, c;
};

static void note(struct loop *l, char c)
{
	size_t n = strlen(l->called);
	ck_assert_uint_lt(n + 1, sizeof(l->called));
	l->called[n] = c;
}

static void on_ready(void *arg, short revents)
{
	struct end *e = arg;
	char byte;
	note(e->loop, e->name);
	e->seen = revents;
	if (revents & POLLIN)
		ck_assert_int_eq(read(e->read_fd, &byte, 1), 1);
	if (e->also)
		e->also(e);
}

static void make_end(struct loop *l, struct end *e, char name)
{
	int p[2];
	ck_assert_int_eq(pipe(p), 0);
	*e = (struct end){.loop = l, .name = name, .read_fd = p[0], .write_fd = p[1]};
}

static struct loop *begin(void)
{
	struct loop *l = calloc(1, sizeof(*l));
	ck_assert_ptr_nonnull(l);
	make_end(l, &l->a, 'a');
	make_end(l, &l->b, 'b');
	make_end(l, &l->c, 'c');
	return l;
}

static void finish(struct loop *l)
{
	struct end *ends[] = {&l->a, &l->b, &l->c};
	for (size_t i = 0; i < 3; i++) {
		close(ends[i]->read_fd);
		close(ends[i]->write_fd);
	}
	free(l);
}

static void add(struct end *e, unsigned rank)
{
	ck_assert_int_eq(
		ward_pollset_add(&e->loop->set, rank, e->read_fd, POLLIN, on_ready, e, &e->id), 0);
}

static void make_ready(const struct end *e)
{
	ck_assert_int_eq(write(e->write_fd, "x", 1), 1);
}

/* One round; what was called in it. */
static const char *do_round(struct loop *l)
{
	memset(l->called, 0, sizeof(l->called));
	ck_assert_int_eq(ward_pollset_round(&l->set), 0);
	return l->called;
}

static int at_once(void *arg)
{
	(void)arg;
	return 0;
}

/* A round in which nothing is ready ends. */
static void do_not_wait(struct loop *l)
{
	ck_assert_int_eq(ward_pollset_each(&l->set, 0, at_once, NULL, NULL, NULL), 0);
}

START_TEST(calls_by_rank_then_by_age)
{
	struct loop *l = begin();
	add(&l->c, 7);
	add(&l->b, 2);
	add(&l->a, 2);
	make_ready(&l->a);
	make_ready(&l->b);
	make_ready(&l->c);
	ck_assert_str_eq(do_round(l), "bac");
	ck_assert_int_eq(l->b.seen, POLLIN);
	/* control: what is not ready is not called */
	make_ready(&l->c);
	ck_assert_str_eq(do_round(l), "c");
	finish(l);
}
END_TEST

static void remove_itself(struct end *e)
{
	ward_pollset_remove(&e->loop->set, e->id);
}

START_TEST(a_handler_removes_itself)
{
	struct loop *l = begin();
	do_not_wait(l);
	l->a.also = remove_itself;
	add(&l->a, 1);
	add(&l->b, 2);
	add(&l->c, 3);
	for (int i = 0; i < 2; i++) {
		make_ready(&l->a);
		make_ready(&l->b);
		make_ready(&l->c);
		/* Those behind it move up, and none is left out. */
		ck_assert_str_eq(do_round(l), i == 0 ? "abc" : "bc");
	}
	/* Again, and nobody at all: fine. */
	ward_pollset_remove(&l->set, l->a.id);
	ward_pollset_remove(&l->set, 0);
	make_ready(&l->b);
	ck_assert_str_eq(do_round(l), "b");
	finish(l);
}
END_TEST

static void remove_other(struct end *e)
{
	ward_pollset_remove(&e->loop->set, e->other->id);
}

START_TEST(a_handler_removes_another)
{
	struct loop *l = begin();
	do_not_wait(l);
	add(&l->a, 1);
	add(&l->b, 2);
	add(&l->c, 3);
	/* Behind it and ready: poll(2) said so, and still it is not called. */
	l->a.also = remove_other;
	l->a.other = &l->b;
	make_ready(&l->a);
	make_ready(&l->b);
	make_ready(&l->c);
	ck_assert_str_eq(do_round(l), "ac");
	/* Before it: it was called already, and is not from now on. */
	l->a.also = NULL;
	l->c.also = remove_other;
	l->c.other = &l->a;
	make_ready(&l->a);
	make_ready(&l->c);
	ck_assert_str_eq(do_round(l), "ac");
	make_ready(&l->a);
	ck_assert_str_eq(do_round(l), "");
	finish(l);
}
END_TEST

/* The place, and the number of the descriptor, are another member's in the same round. */
static void replace_other(struct end *e)
{
	struct end *o = e->other;
	ward_pollset_remove(&e->loop->set, o->id);
	e->also = NULL;
	add(o, 2);
}

START_TEST(what_a_handler_adds_waits_for_the_next_round)
{
	struct loop *l = begin();
	do_not_wait(l);
	add(&l->a, 1);
	add(&l->b, 2);
	l->a.also = replace_other;
	l->a.other = &l->b;
	ward_pollset_id before = l->b.id;
	make_ready(&l->a);
	make_ready(&l->b);
	ck_assert_str_eq(do_round(l), "a");
	ck_assert_uint_ne(l->b.id, before);
	/* The old id is nobody's. */
	ward_pollset_remove(&l->set, before);
	ck_assert_str_eq(do_round(l), "b");
	finish(l);
}
END_TEST

/* The other one now waits for what is not ready. */
static void ask_other(struct end *e)
{
	ward_pollset_ask(&e->loop->set, e->other->id, e->loop->c.read_fd, POLLIN);
}

START_TEST(what_poll_said_before_a_change_does_not_count)
{
	struct loop *l = begin();
	do_not_wait(l);
	add(&l->a, 1);
	add(&l->b, 2);
	l->a.also = ask_other;
	l->a.other = &l->b;
	make_ready(&l->a);
	make_ready(&l->b);
	ck_assert_str_eq(do_round(l), "a");
	ck_assert_str_eq(do_round(l), "");
	/* control: it is called again for what it waits for */
	ward_pollset_ask(&l->set, l->b.id, l->b.read_fd, POLLIN);
	ck_assert_str_eq(do_round(l), "b");
	/* For nothing. */
	ward_pollset_ask(&l->set, l->b.id, -1, POLLIN);
	make_ready(&l->b);
	ck_assert_str_eq(do_round(l), "");
	finish(l);
}
END_TEST

static void stop(struct end *e)
{
	ward_pollset_stop(&e->loop->set);
}

START_TEST(a_handler_stops_the_round)
{
	struct loop *l = begin();
	do_not_wait(l);
	add(&l->a, 1);
	add(&l->b, 2);
	l->a.also = stop;
	make_ready(&l->a);
	make_ready(&l->b);
	ck_assert_str_eq(do_round(l), "a");
	/* That round only. */
	ck_assert_str_eq(do_round(l), "b");
	finish(l);
}
END_TEST

static int ask_before(void *arg)
{
	struct end *e = arg;
	note(e->loop, '<');
	return 0;
}

static void each_round(void *arg, short revents)
{
	struct end *e = arg;
	note(e->loop, '.');
	ck_assert_int_eq(revents, 0);
}

START_TEST(members_of_each_round_are_called_in_their_turn)
{
	struct loop *l = begin();
	ward_pollset_id id = 0;
	add(&l->a, 1);
	ck_assert_int_eq(ward_pollset_each(&l->set, 2, ask_before, each_round, &l->a, &id), 0);
	add(&l->b, 3);
	ck_assert_str_eq(do_round(l), "<.");
	make_ready(&l->a);
	make_ready(&l->b);
	ck_assert_str_eq(do_round(l), "<a.b");
	ward_pollset_remove(&l->set, id);
	make_ready(&l->a);
	ck_assert_str_eq(do_round(l), "a");
	finish(l);
}
END_TEST

START_TEST(a_full_set_takes_no_more)
{
	struct loop *l = begin();
	ward_pollset_id id = 0;
	for (size_t i = 0; i < WARD_POLLSET_MAX; i++)
		add(&l->a, (unsigned)(WARD_POLLSET_MAX - i));
	ck_assert_int_eq(
		ward_pollset_add(&l->set, 1, l->b.read_fd, POLLIN, on_ready, &l->b, &id), -ENOSPC);
	ck_assert_int_eq(ward_pollset_each(&l->set, 1, NULL, each_round, &l->b, &id), -ENOSPC);
	ck_assert_uint_eq(id, 0);
	/* control: there is room when one is gone */
	ward_pollset_remove(&l->set, l->a.id);
	ck_assert_int_eq(
		ward_pollset_add(&l->set, 1, l->b.read_fd, POLLIN, on_ready, &l->b, &id), 0);
	finish(l);
}
END_TEST

static void on_alarm(int sig)
{
	(void)sig;
}

START_TEST(a_signal_calls_nobody)
{
	struct loop *l = begin();
	const struct sigaction sa = {.sa_handler = on_alarm};
	const struct itimerval soon = {
		.it_value = {.tv_usec = 20000}, .it_interval = {.tv_usec = 20000}};
	const struct itimerval never = {.it_value = {.tv_usec = 0}};
	ck_assert_int_eq(sigaction(SIGALRM, &sa, NULL), 0);
	ck_assert_int_eq(ward_pollset_each(&l->set, 1, NULL, each_round, &l->a, NULL), 0);
	add(&l->a, 2);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &soon, NULL), 0);
	ck_assert_str_eq(do_round(l), "");
	ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
	finish(l);
}
END_TEST

START_TEST(the_nearer_time)
{
	ck_assert_int_eq(ward_pollset_nearer(-1, -1), -1);
	ck_assert_int_eq(ward_pollset_nearer(-1, 5), 5);
	ck_assert_int_eq(ward_pollset_nearer(5, -1), 5);
	ck_assert_int_eq(ward_pollset_nearer(5, 0), 0);
	ck_assert_int_eq(ward_pollset_nearer(3, 5), 3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pollset");
	TCase *t = tcase_create("rounds");
	tcase_add_test(t, calls_by_rank_then_by_age);
	tcase_add_test(t, a_handler_removes_itself);
	tcase_add_test(t, a_handler_removes_another);
	tcase_add_test(t, what_a_handler_adds_waits_for_the_next_round);
	tcase_add_test(t, what_poll_said_before_a_change_does_not_count);
	tcase_add_test(t, a_handler_stops_the_round);
	tcase_add_test(t, members_of_each_round_are_called_in_their_turn);
	tcase_add_test(t, a_full_set_takes_no_more);
	tcase_add_test(t, a_signal_calls_nobody);
	tcase_add_test(t, the_nearer_time);
	suite_add_tcase(s, t);
	return suite_run(s);
}
