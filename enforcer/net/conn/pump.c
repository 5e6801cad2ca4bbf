/* SPDX-License-Identifier: Apache-2.0 */
/* Moves bytes between two sockets. */
#include "enforcer/net/conn/pump.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/net/conn/pipes.h"
#include "enforcer/net/protocol/inspect.h"

/* Read at once: much while there are few, so that a stream is quick; less when there are many. */
#define READ_FEW (256U << 10)
#define READ_MANY (32U << 10)
#define MANY 32U
/* What the kernel moves for one connection before others have their turn. */
#define SPLICE_TURN ((size_t)4 << 20)

struct flow {
	struct ward_pump *pump;
	int from, to;
	struct event *readable, *writable;
	uint8_t *kept;	  /* what has been read and not written */
	size_t len;	  /* bytes of it */
	size_t passed;	  /* of these may go on */
	uint64_t held_ns; /* since when what the last look left waits for more; 0: nothing does */
	bool ended;	  /* end of file was read */
	bool done;	  /* and passed on */
	bool paused;
	bool much;		/* the last read was as large as it could be */
	struct ward_pipe *pipe; /* with bytes that could not be written; NULL: there are none */
	uint64_t bytes;
};

struct ward_pump {
	struct ward_broker *net;
	const struct ward_pump_ops *ops;
	void *user;
	struct flow flow[2];
	uint64_t active_ns;
};

static void over(struct ward_pump *r, int error)
{
	r->ops->over(r->user, error);
}

static void want(struct event *ev, bool on)
{
	if (on)
		event_add(ev, NULL);
	else
		event_del(ev);
}

/* Read while nothing waits to be written: then memory is bounded by one read. */
static void set_events(struct flow *f)
{
	bool waiting = f->passed > 0 || f->pipe;
	want(f->writable, waiting);
	want(f->readable, !f->ended && !waiting && !f->paused);
}

/* Writes what may go; what is left is kept. Negative errno. */
static int write_some(struct flow *f, const uint8_t *data, size_t len, size_t *ret_written)
{
	size_t at = 0;
	while (at < len) {
		ssize_t n = send(f->to, data + at, len - at, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n < 0)
			return -errno;
		at += (size_t)n;
	}
	f->bytes += at;
	*ret_written = at;
	return 0;
}

static int keep(struct flow *f, const uint8_t *data, size_t len)
{
	uint8_t *v = len ? malloc(len) : NULL;
	if (len && !v)
		return -ENOMEM;
	if (len)
		memcpy(v, data, len);
	free(f->kept);
	f->kept = v;
	f->len = len;
	return 0;
}

static int finish(struct flow *f)
{
	if (f->ended && !f->done && f->len == 0 && !f->pipe) {
		f->done = true;
		if (shutdown(f->to, SHUT_WR) < 0 && errno != ENOTCONN)
			return -errno;
	}
	return 0;
}

static enum ward_pump_side side_of(const struct flow *f)
{
	return f == &f->pump->flow[WARD_PUMP_INSIDE] ? WARD_PUMP_INSIDE : WARD_PUMP_OUTSIDE;
}

/* data is all that waits, kept or fresh. */
static int move(struct flow *f, const uint8_t *data, size_t len)
{
	struct ward_pump *r = f->pump;
	size_t pass = f->passed, written = 0;
	if (len > pass) {
		size_t more = 0;
		int e = r->ops->pass(r->user, side_of(f), data + pass, len - pass, &more);
		if (e < 0)
			return e;
		pass += more;
	}
	int e = write_some(f, data, pass, &written);
	if (e < 0)
		return e;
	/* Where something passed, it is another that waits now. */
	if (len == pass)
		f->held_ns = 0;
	else if (!f->held_ns || pass > f->passed)
		f->held_ns = ward_clock_mono_ns();
	f->passed = pass - written;
	/* The stream ended inside a unit that the filter judges as a whole. */
	if (f->held_ns && f->ended)
		return -EACCES;
	if (f->ended && r->ops->ends)
		e = r->ops->ends(r->user, side_of(f));
	if (e < 0)
		return e;
	if (f->kept != data || written)
		e = keep(f, data + written, len - written);
	return e < 0 ? e : finish(f);
}

static void step(struct flow *f, int e)
{
	struct ward_pump *r = f->pump;
	if (e < 0) {
		over(r, e);
	} else if (r->flow[0].done && r->flow[1].done) {
		over(r, 0);
	} else {
		set_events(f);
	}
}

/* Writes what is in the pipe, as far as it goes. Negative errno. */
static int write_piped(struct flow *f)
{
	while (f->pipe->held) {
		ssize_t n = splice(f->pipe->out, NULL, f->to, NULL, f->pipe->held,
			SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0)
			return n < 0 ? -errno : -EPIPE;
		f->pipe->held -= (size_t)n;
		f->bytes += (size_t)n;
	}
	return 0;
}

static void give_empty(struct flow *f)
{
	if (f->pipe->held)
		return;
	ward_pipe_give(f->pump->net, f->pipe);
	f->pipe = NULL;
}

/* Through f->pipe, which is empty. Until there is nothing more, or the other side takes no more, or
 * others have waited enough. */
static int splice_some(struct flow *f)
{
	struct ward_pump *r = f->pump;
	size_t moved = 0, ok = 0;
	int e = 0;
	while (e == 0 && !f->ended && moved < SPLICE_TURN && f->pipe->held == 0) {
		ssize_t n = splice(f->from, NULL, f->pipe->in, NULL, SPLICE_TURN,
			SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n < 0)
			return -errno;
		f->ended = n == 0;
		f->much = n >= (ssize_t)READ_MANY;
		f->pipe->held = (size_t)n;
		moved += (size_t)n;
		if (n)
			e = r->ops->pass(r->user, side_of(f), NULL, (size_t)n, &ok);
		if (e == 0)
			e = write_piped(f);
	}
	give_empty(f);
	return e < 0 ? e : finish(f);
}

/* There is much, nobody looks at it, no rate is kept between reads, and there is a pipe for it. */
static bool can_splice(struct flow *f)
{
	const struct ward_pump *r = f->pump;
	if (!f->much || f->len || r->net->settings->net_rate != WARD_UNLIMITED ||
		(r->ops->blind && !r->ops->blind(r->user, side_of(f))))
		return false;
	f->pipe = ward_pipe_take(r->net);
	return f->pipe;
}

static void on_readable(evutil_socket_t fd, short what, void *user)
{
	static uint8_t scratch[READ_FEW + WARD_INSPECT_MAX];
	struct flow *f = user;
	const struct ward_broker *net = f->pump->net;
	/* A rate is kept between reads. */
	bool little = net->n_conns > MANY || net->settings->net_rate != WARD_UNLIMITED;
	size_t size = little ? READ_MANY : READ_FEW;
	if (f->pump->ops->rests && f->pump->ops->rests(f->pump->user))
		return;
	if (f->held_ns && f->len >= WARD_INSPECT_MAX) {
		step(f, -EACCES);
		return;
	}
	if (can_splice(f)) {
		f->pump->active_ns = ward_clock_mono_ns();
		step(f, splice_some(f));
		return;
	}
	if (f->held_ns)
		memcpy(scratch, f->kept, f->len);
	ssize_t n = recv(f->from, scratch + f->len, size, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		step(f, -errno);
		return;
	}
	f->pump->active_ns = ward_clock_mono_ns();
	f->ended = n == 0;
	f->much = (size_t)n == size;
	step(f, move(f, scratch, f->len + (size_t)n));
}

static void on_writable(evutil_socket_t fd, short what, void *user)
{
	struct flow *f = user;
	f->pump->active_ns = ward_clock_mono_ns();
	if (f->pipe) {
		int e = write_piped(f);
		give_empty(f);
		step(f, e == 0 ? finish(f) : e);
		return;
	}
	step(f, move(f, f->kept, f->len));
}

void ward_pump_feed(struct ward_pump *r, const void *data, size_t len)
{
	struct flow *f = &r->flow[WARD_PUMP_INSIDE];
	step(f, move(f, data, len));
}

static int open_flow(struct ward_pump *r, struct flow *f, int from, int to)
{
	*f = (struct flow){.pump = r, .from = from, .to = to};
	f->readable = event_new(r->net->base, from, EV_READ | EV_PERSIST, on_readable, f);
	f->writable = event_new(r->net->base, to, EV_WRITE | EV_PERSIST, on_writable, f);
	if (!f->readable || !f->writable)
		return -ENOMEM;
	set_events(f);
	return 0;
}

int ward_pump_new(struct ward_broker *net, int inside, int outside, const struct ward_pump_ops *ops,
	void *user, struct ward_pump **ret)
{
	struct ward_pump *r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->net = net;
	r->ops = ops;
	r->user = user;
	r->active_ns = ward_clock_mono_ns();
	int e = open_flow(r, &r->flow[WARD_PUMP_INSIDE], inside, outside);
	if (e == 0)
		e = open_flow(r, &r->flow[WARD_PUMP_OUTSIDE], outside, inside);
	if (e < 0)
		ward_pump_free(r);
	else
		*ret = r;
	return e;
}

void ward_pump_reset(int fd)
{
	const struct linger now = {.l_onoff = 1, .l_linger = 0};
	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

void ward_pump_free(struct ward_pump *r)
{
	if (!r)
		return;
	for (int i = 0; i < 2; i++) {
		if (r->flow[i].readable)
			event_free(r->flow[i].readable);
		if (r->flow[i].writable)
			event_free(r->flow[i].writable);
		free(r->flow[i].kept);
		ward_pipe_give(r->net, r->flow[i].pipe);
	}
	free(r);
}

uint64_t ward_pump_bytes(const struct ward_pump *r, enum ward_pump_side from)
{
	return r->flow[from].bytes;
}

uint64_t ward_pump_active_ns(const struct ward_pump *r)
{
	return r->active_ns;
}

uint64_t ward_pump_held_ns(const struct ward_pump *r)
{
	return r->flow[WARD_PUMP_INSIDE].held_ns;
}

void ward_pump_pause(struct ward_pump *r, enum ward_pump_side from, bool on)
{
	if (r->flow[from].paused == on)
		return;
	r->flow[from].paused = on;
	set_events(&r->flow[from]);
}
