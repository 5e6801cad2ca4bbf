/* SPDX-License-Identifier: Apache-2.0 */
/* Streams from one socket to another: whole, also where the kernel moves them and readers are slow.
 */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/net/conn/pipes.h"
#include "enforcer/net/conn/pump.h"
#include "tests/support/suite.h"

#define STREAMS 40
#define MUCH ((size_t)24 << 20)

static struct ward_settings settings;
static struct ward_broker net;

/* The program at near[1], the broker's inside is near[0], its outside far[0], the server far[1]. */
struct stream {
	int near[2], far[2];
	struct ward_pump *pump;
	bool blind;
	uint64_t left;	 /* what may still go out */
	uint64_t unseen; /* bytes that were passed without a look */
	uint64_t passed;
	int error;
	bool over;
	uint64_t sent, got; /* by the program; by the server */
	bool bad, ended;
};

static int on_pass(
	void *user, enum ward_pump_side from, const uint8_t *data, size_t len, size_t *ret_pass)
{
	struct stream *s = user;
	if (from == WARD_PUMP_OUTSIDE) {
		*ret_pass = len;
		return 0;
	}
	if (len > s->left)
		return -EDQUOT;
	s->left -= len;
	s->passed += len;
	s->unseen += data ? 0 : len;
	*ret_pass = len;
	return 0;
}

static bool on_blind(void *user, enum ward_pump_side from)
{
	return ((struct stream *)user)->blind;
}

static void on_over(void *user, int error)
{
	struct stream *s = user;
	s->over = true;
	s->error = error;
	ward_pump_free(s->pump);
	s->pump = NULL;
}

static const struct ward_pump_ops ops = {on_pass, on_blind, NULL, on_over};

/* TCP over loopback: unix sockets would not show what TCP does. */
static void pair_of(int ret[2])
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(l, (struct sockaddr *)&a, len), 0);
	ck_assert_int_eq(listen(l, 1), 0);
	ck_assert_int_eq(getsockname(l, (struct sockaddr *)&a, &len), 0);
	ret[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(ret[1], (struct sockaddr *)&a, len), 0);
	ret[0] = accept4(l, NULL, NULL, SOCK_CLOEXEC);
	close(l);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(evutil_make_socket_nonblocking(ret[i]), 0);
}

static void open_net(void)
{
	settings = (struct ward_settings){.net_rate = WARD_UNLIMITED};
	net = (struct ward_broker){.base = event_base_new(), .settings = &settings};
	LIST_INIT(&net.pipes);
	ck_assert_ptr_nonnull(net.base);
}

static void open_stream(struct stream *s, bool blind)
{
	*s = (struct stream){.blind = blind, .left = UINT64_MAX};
	pair_of(s->near);
	pair_of(s->far);
	ck_assert_int_eq(ward_pump_new(&net, s->near[0], s->far[0], &ops, s, &s->pump), 0);
}

static void close_stream(struct stream *s)
{
	ward_pump_free(s->pump);
	for (int i = 0; i < 2; i++) {
		close(s->near[i]);
		close(s->far[i]);
	}
}

/* Byte number n of every stream: no power of two divides its period. */
static uint8_t byte_at(uint64_t n)
{
	return (uint8_t)(n % 251);
}

static void write_more(struct stream *s, uint64_t until)
{
	static uint8_t data[251 * 1024];
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = byte_at(i);
	while (s->sent < until) {
		size_t at = s->sent % 251, n = sizeof(data) - at;
		n = n < until - s->sent ? n : (size_t)(until - s->sent);
		ssize_t r = send(s->near[1], data + at, n, MSG_NOSIGNAL);
		if (r <= 0)
			return;
		s->sent += (uint64_t)r;
	}
}

static void read_more(struct stream *s, size_t most)
{
	static uint8_t data[64 << 10];
	while (most) {
		ssize_t n = recv(s->far[1], data, most < sizeof(data) ? most : sizeof(data), 0);
		if (n <= 0) {
			s->ended = s->ended || n == 0;
			return;
		}
		for (ssize_t i = 0; i < n; i++)
			s->bad = s->bad || data[i] != byte_at(s->got + (uint64_t)i);
		s->got += (uint64_t)n;
		most -= (size_t)n;
	}
}

static void turn(void)
{
	ck_assert_int_ge(event_base_loop(net.base, EVLOOP_ONCE | EVLOOP_NONBLOCK), 0);
}

/* All of it arrives as it was sent, then its end; _i: whether anybody looks. */
START_TEST(whole)
{
	struct stream s;
	char byte;
	open_net();
	open_stream(&s, _i);
	while (s.got < MUCH && !s.over) {
		write_more(&s, MUCH);
		turn();
		/* Slower than what comes: something always waits. */
		read_more(&s, 300000);
	}
	ck_assert_int_eq(shutdown(s.near[1], SHUT_WR), 0);
	while (!s.ended && !s.over) {
		turn();
		read_more(&s, 300000);
	}
	ck_assert(!s.bad);
	ck_assert_uint_eq(s.got, MUCH);
	ck_assert_uint_eq(s.passed, MUCH);
	ck_assert_uint_eq(ward_pump_bytes(s.pump, WARD_PUMP_INSIDE), MUCH);
	/* Where somebody looks, all was shown; else most was not. */
	if (_i)
		ck_assert_uint_gt(s.unseen, MUCH / 2);
	else
		ck_assert_uint_eq(s.unseen, 0);
	/* The other direction lives on, and ends the whole. */
	ck_assert_int_eq(send(s.far[1], "x", 1, 0), 1);
	while (recv(s.near[1], &byte, 1, 0) != 1)
		turn();
	ck_assert_int_eq(shutdown(s.far[1], SHUT_WR), 0);
	while (!s.over)
		turn();
	ck_assert_int_eq(s.error, 0);
	close_stream(&s);
	ward_pipes_close(&net);
	ck_assert_uint_eq(net.n_pipes, 0);
	event_base_free(net.base);
}
END_TEST

/* More streams that stand still with full pipes than there are pipes; then all go on. */
START_TEST(many)
{
	static struct stream s[STREAMS];
	const uint64_t each = 12 << 20;
	size_t done = 0;
	open_net();
	for (size_t i = 0; i < STREAMS; i++)
		open_stream(&s[i], true);
	for (int k = 0; k < 40; k++) {
		for (size_t i = 0; i < STREAMS; i++)
			write_more(&s[i], each);
		turn();
	}
	ck_assert_uint_gt(net.n_pipes, 0);
	ck_assert_uint_lt(net.n_pipes, STREAMS);
	while (done < STREAMS) {
		done = 0;
		for (size_t i = 0; i < STREAMS; i++) {
			write_more(&s[i], each);
			read_more(&s[i], 1 << 20);
			ck_assert(!s[i].bad && !s[i].over);
			done += s[i].got == each;
		}
		turn();
	}
	for (size_t i = 0; i < STREAMS; i++)
		close_stream(&s[i]);
	ward_pipes_close(&net);
	ck_assert_uint_eq(net.n_pipes, 0);
	event_base_free(net.base);
}
END_TEST

/* A budget counts to the byte, whichever way they move; what is in a pipe then is lost with it. */
START_TEST(budget)
{
	struct stream s;
	open_net();
	open_stream(&s, _i);
	s.left = MUCH / 3;
	while (!s.over) {
		write_more(&s, MUCH);
		turn();
		read_more(&s, 200000);
	}
	ck_assert_int_eq(s.error, -EDQUOT);
	close(s.far[0]);
	s.far[0] = -1;
	while (!s.ended)
		read_more(&s, MUCH);
	ck_assert(!s.bad);
	ck_assert_uint_le(s.got, MUCH / 3);
	ck_assert_uint_eq(s.passed + s.left, MUCH / 3);
	if (_i)
		ck_assert_uint_gt(s.unseen, 0);
	close_stream(&s);
	ward_pipes_close(&net);
	ck_assert_uint_eq(net.n_pipes, 0);
	event_base_free(net.base);
}
END_TEST

/* With a rate, what is moved between two pauses stays small. */
START_TEST(rate)
{
	struct stream s;
	open_net();
	settings.net_rate = 1000;
	open_stream(&s, true);
	for (int i = 0; i < 200; i++) {
		uint64_t before = s.passed;
		write_more(&s, MUCH);
		turn();
		ck_assert_uint_le(s.passed - before, 64 << 10);
		read_more(&s, MUCH);
	}
	ck_assert_uint_eq(s.unseen, 0);
	ck_assert_uint_gt(s.got, 0);
	close_stream(&s);
	event_base_free(net.base);
}
END_TEST

static bool resting;

static bool on_rests(void *user)
{
	struct stream *s = user;
	if (resting) {
		ward_pump_pause(s->pump, WARD_PUMP_INSIDE, true);
		ward_pump_pause(s->pump, WARD_PUMP_OUTSIDE, true);
	}
	return resting;
}

/* Asked before the first read as before every other: a new stream has no read for nothing. */
START_TEST(rests)
{
	static const struct ward_pump_ops slow = {on_pass, on_blind, on_rests, on_over};
	struct stream s = {.left = UINT64_MAX, .blind = true};
	open_net();
	pair_of(s.near);
	pair_of(s.far);
	ck_assert_int_eq(ward_pump_new(&net, s.near[0], s.far[0], &slow, &s, &s.pump), 0);
	for (int round = 0; round < 3; round++) {
		uint64_t before = s.passed;
		resting = true;
		write_more(&s, MUCH);
		for (int i = 0; i < 50; i++)
			turn();
		ck_assert_uint_eq(s.passed, before);
		resting = false;
		ward_pump_pause(s.pump, WARD_PUMP_INSIDE, false);
		ward_pump_pause(s.pump, WARD_PUMP_OUTSIDE, false);
		while (s.passed < before + (1 << 20)) {
			write_more(&s, MUCH);
			turn();
			read_more(&s, MUCH);
		}
	}
	ck_assert(!s.bad && !s.over);
	close_stream(&s);
	ward_pipes_close(&net);
	event_base_free(net.base);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("net_pump");
	TCase *t = tcase_create("all");
	tcase_set_timeout(t, 240);
	tcase_add_loop_test(t, whole, 0, 2);
	tcase_add_test(t, many);
	tcase_add_loop_test(t, budget, 0, 2);
	tcase_add_test(t, rate);
	tcase_add_test(t, rests);
	suite_add_tcase(s, t);
	return suite_run(s);
}
