/* SPDX-License-Identifier: Apache-2.0 */
/* Moves the bytes of a connection under its limits, and inspects them. */
#include "enforcer/net/conn/conn_internal.h"

#include <errno.h>
#include <event2/event.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/net/base/net_limits.h"
#include "enforcer/net/conn/pump.h"
#include "enforcer/net/protocol/socks.h"

/* So often is looked whether something waits for too long. */
#define LOOK_NS (30 * WARD_NS_PER_SEC)

/*
 * Lets both directions rest until the rate is kept. Asked before each read, so that neither a new
 * connection nor many that wake at once have a read for nothing.
 */
static bool on_rests(void *user)
{
	struct ward_conn *c = user;
	uint64_t ns = ward_net_limits_wait(c->net, c->account);
	if (ns == 0)
		return false;
	const struct timeval tv = ward_clock_timeval(ns);
	ward_pump_pause(c->pump, WARD_PUMP_INSIDE, true);
	ward_pump_pause(c->pump, WARD_PUMP_OUTSIDE, true);
	event_add(c->later, &tv);
	return true;
}

/* What the program had sent before the stream began. May end c. */
static void feed(struct ward_conn *c)
{
	ward_cleanup_free uint8_t *first = c->first;
	size_t len = c->first_len;
	c->first = NULL;
	c->first_len = 0;
	if (len)
		ward_pump_feed(c->pump, first, len);
}

static void on_later(evutil_socket_t fd, short what, void *user)
{
	struct ward_conn *c = user;
	if (on_rests(c))
		return;
	ward_pump_pause(c->pump, WARD_PUMP_INSIDE, false);
	ward_pump_pause(c->pump, WARD_PUMP_OUTSIDE, false);
	feed(c);
}

static bool looked_at(const struct ward_conn *c)
{
	return c->named && c->net->settings->sni != WARD_SNI_OFF;
}

static bool on_blind(void *user, enum ward_pump_side from)
{
	const struct ward_conn *c = user;
	return !looked_at(c) || ward_inspect_blind(&c->inspect, from == WARD_PUMP_OUTSIDE);
}

static void set_abrupt(struct ward_conn *c, bool on)
{
	const struct linger l = {.l_onoff = on};
	if (c->abrupt != on)
		(void)setsockopt(c->outside, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	c->abrupt = on;
}

static int on_pass(
	void *user, enum ward_pump_side from, const uint8_t *data, size_t len, size_t *ret_pass)
{
	struct ward_conn *c = user;
	int r = 0;
	*ret_pass = len;
	if (data && looked_at(c)) {
		if (from == WARD_PUMP_OUTSIDE)
			ward_inspect_reply(&c->inspect, data, len);
		else
			r = ward_inspect(&c->inspect, data, len, ret_pass);
		set_abrupt(c, !ward_inspect_may_end(&c->inspect));
	} else if (c->named && !looked_at(c) && from == WARD_PUMP_INSIDE) {
		c->unseen = true;
	}
	if (r == 0 && from == WARD_PUMP_INSIDE)
		r = ward_net_limits_upload(c->net, *ret_pass);
	if (r == 0)
		ward_net_limits_moved(c->net, c->account, *ret_pass);
	return r;
}

static int on_ends(void *user, enum ward_pump_side from)
{
	struct ward_conn *c = user;
	int r = 0;
	if (from != WARD_PUMP_INSIDE || !looked_at(c))
		return 0;
	r = ward_inspect_end(&c->inspect);
	if (r == 0)
		set_abrupt(c, false);
	return r;
}

static void on_over(void *user, int error)
{
	struct ward_conn *c = user;
	char text[128];
	if (error == -EACCES) {
		ward_conn_refuse(c, ward_buf_str(&c->why.place), "[network] sni = require",
			c->inspect.complaint ? c->inspect.complaint
					     : "it ended in the middle of a hello or request");
		return;
	}
	if (error == -EDQUOT) {
		ward_conn_refuse_upload(c);
		return;
	}
	if (error)
		snprintf(text, sizeof(text), "%s", strerrordesc_np(-error));
	ward_conn_finish(c, error ? text : NULL);
}

bool ward_conn_stream_reload(struct ward_conn *c)
{
	enum ward_sni sni = c->net->settings->sni;
	if (!c->pump)
		return true;
	c->inspect.strict = sni == WARD_SNI_REQUIRE;
	return sni != WARD_SNI_REQUIRE || (!c->inspect.complaint && !c->unseen);
}

static const struct ward_pump_ops pump_ops = {on_pass, on_blind, on_rests, on_over, on_ends};

static uint64_t min_ns(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t held_left_ns(const struct ward_conn *c)
{
	const uint64_t held = ward_pump_held_ns(c->pump), ns = c->net->settings->net_handshake_ns;
	return held ? ward_clock_left_ns(held, ns) : ns;
}

static uint64_t idle_left_ns(const struct ward_conn *c)
{
	return ward_clock_left_ns(ward_pump_active_ns(c->pump), c->net->settings->net_idle_ns);
}

static void set_clock(struct ward_conn *c)
{
	const struct timeval tv =
		ward_clock_timeval(min_ns(LOOK_NS, min_ns(held_left_ns(c), idle_left_ns(c))));
	event_add(c->clock, &tv);
}

void ward_conn_stream_clock(struct ward_conn *c)
{
	if (held_left_ns(c) == 0)
		ward_conn_refuse(c, ward_buf_str(&c->why.place), "[network] handshake-time",
			"a hello or a request's head that was not whole in time");
	else if (idle_left_ns(c) == 0)
		ward_conn_finish(c, "nothing moved for as long as [network] idle");
	else
		set_clock(c);
}

/* Tells a proxy's client that it may go on. */
static bool grant(struct ward_conn *c)
{
	static const char ok[] = "HTTP/1.1 200 Connection established\r\n\r\n";
	uint8_t code[WARD_SOCKS_REPLY_LEN];
	switch (c->front) {
	case WARD_FRONT_NONE:
	case WARD_FRONT_HTTP:
		return true;
	case WARD_FRONT_CONNECT:
		return send(c->inside, ok, sizeof(ok) - 1, MSG_NOSIGNAL) == sizeof(ok) - 1;
	case WARD_FRONT_SOCKS:
		ward_socks_reply(WARD_SOCKS_GRANTED, code);
		return send(c->inside, code, sizeof(code), MSG_NOSIGNAL) == sizeof(code);
	}
	return false;
}

void ward_conn_stream(struct ward_conn *c)
{
	struct ward_net_record r;
	char text[WARD_CONN_WAY_MAX];
	const int on = 1;
	ward_conn_forget_proxy(c);
	ward_conn_fill_record(c, &r);
	r.text = ward_conn_way(c, text);
	r.place = ward_buf_str(&c->why.place);
	r.rule = ward_buf_str(&c->why.rule);
	event_free(c->connected);
	c->connected = NULL;
	/* No byte goes before the record is there. */
	if (ward_net_record(c->net, WARD_EVENT_CONNECT, &r) < 0) {
		ward_pump_reset(c->inside);
		ward_conn_free(c);
		return;
	}
	c->recorded = true;
	(void)setsockopt(c->inside, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(c->outside, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(c->outside, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	ward_inspect_init(&c->inspect, c->host, c->port, c->net->settings->sni == WARD_SNI_REQUIRE);
	c->later = evtimer_new(c->net->base, on_later, c);
	if (!c->later || !grant(c) ||
		ward_pump_new(c->net, c->inside, c->outside, &pump_ops, c, &c->pump) < 0) {
		ward_conn_finish(c, "the program is gone, or out of memory");
		return;
	}
	set_clock(c);
	/* Last: it may end the connection. */
	if (!on_rests(c))
		feed(c);
}
