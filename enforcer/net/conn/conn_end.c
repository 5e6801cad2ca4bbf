/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a connection: its last record, its last words to the program, its memory. */
#include "enforcer/net/conn/conn_internal.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/net/base/net_limits.h"
#include "enforcer/net/conn/pump.h"
#include "enforcer/net/protocol/socks.h"
#include "enforcer/net/protocol/upstream.h"

void ward_conn_forget_proxy(struct ward_conn *c)
{
	if (c->upstream)
		ward_upstream_clear(c->upstream);
	free(c->upstream);
	c->upstream = NULL;
}

void ward_conn_free(struct ward_conn *c)
{
	LIST_REMOVE(c, link);
	c->net->n_conns--;
	if (c->name)
		c->name->users--;
	if (c->query)
		ward_resolve_cancel(c->query);
	ward_pump_free(c->pump);
	if (c->connected)
		event_free(c->connected);
	if (c->clock)
		event_free(c->clock);
	if (c->later)
		event_free(c->later);
	if (c->account)
		ward_net_limits_leave(c->net, c->account);
	if (c->inside >= 0)
		close(c->inside);
	if (c->outside >= 0)
		close(c->outside);
	ward_net_why_clear(&c->why);
	ward_conn_forget_proxy(c);
	ward_inspect_free(&c->inspect);
	free(c->first);
	free(c);
}

void ward_conn_fill_record(const struct ward_conn *c, struct ward_net_record *r)
{
	*r = (struct ward_net_record){.action = "connect",
		.proto = c->front == WARD_FRONT_NONE	? "tcp"
			 : c->front == WARD_FRONT_SOCKS ? "socks5"
							: "http",
		.host = c->named ? c->host : NULL,
		/* Behind a proxy, what a name leads to is the proxy's knowledge. */
		.addr = c->peer.sa.sa_family && !ward_conn_proxied(c) ? &c->peer
			: c->named				      ? NULL
								      : &c->asked,
		.port = c->port,
		.sni = c->inspect.seen[0] ? c->inspect.seen : NULL,
		.uid = WARD_EVENT_UNKNOWN,
		.pid = c->asker.pid,
		.comm = c->asker.comm};
}

/* The front's own words before the end. allowed: the connection failed, it was not refused. */
static void answer_front(struct ward_conn *c, bool allowed, const char *text)
{
	char reply[512];
	uint8_t code[WARD_SOCKS_REPLY_LEN];
	switch (c->front) {
	case WARD_FRONT_NONE:
		ward_pump_reset(c->inside);
		return;
	case WARD_FRONT_CONNECT:
	case WARD_FRONT_HTTP:
		snprintf(reply, sizeof(reply),
			"HTTP/1.1 %s\r\nConnection: close\r\nContent-Type: text/plain\r\n"
			"Content-Length: %zu\r\n\r\nwardfs: %.300s\n",
			allowed ? "502 Bad Gateway" : "403 Forbidden",
			strnlen(text, 300) + sizeof("wardfs: "), text);
		(void)!send(c->inside, reply, strlen(reply), MSG_NOSIGNAL);
		return;
	case WARD_FRONT_SOCKS:
		ward_socks_reply(allowed ? WARD_SOCKS_UNREACHABLE : WARD_SOCKS_NOT_ALLOWED, code);
		(void)!send(c->inside, code, sizeof(code), MSG_NOSIGNAL);
		return;
	}
}

void ward_conn_refuse(struct ward_conn *c, const char *place, const char *rule, const char *text)
{
	struct ward_net_record r;
	ward_conn_fill_record(c, &r);
	r.place = place && *place ? place : "default";
	r.rule = rule;
	r.text = text;
	r.error = ECONNRESET;
	/* Refused either way; a trail that failed is the supervisor's affair. */
	(void)!ward_net_record(c->net, WARD_EVENT_DENY, &r);
	if (c->pump)
		ward_pump_reset(c->inside);
	else
		answer_front(c, false, text ? text : rule ? rule : "not allowed");
	ward_pump_reset(c->outside);
	ward_conn_free(c);
}

void ward_conn_refuse_upload(struct ward_conn *c)
{
	ward_conn_refuse(c, ward_buf_str(&c->why.place), "[network] upload",
		"the upload budget of the session is used up");
}

void ward_conn_refuse_why(struct ward_conn *c, struct ward_net_why *why)
{
	if (why->addr.sa.sa_family)
		c->peer = why->addr;
	ward_conn_refuse(c, ward_buf_str(&why->place), ward_buf_str(&why->rule), why->text);
	ward_net_why_clear(why);
}

void ward_conn_finish(struct ward_conn *c, const char *text)
{
	struct ward_net_record r;
	ward_conn_fill_record(c, &r);
	r.place = ward_buf_str(&c->why.place);
	/* With sni = log: what was let through all the same. */
	r.text = text ? text : c->inspect.complaint;
	if (c->pump) {
		r.ended = true;
		r.sent = ward_pump_bytes(c->pump, WARD_PUMP_INSIDE);
		r.received = ward_pump_bytes(c->pump, WARD_PUMP_OUTSIDE);
		r.duration_ns = ward_clock_mono_ns() - c->started_ns;
	}
	(void)!ward_net_record(c->net, WARD_EVENT_CONNECT, &r);
	if (text && c->pump)
		ward_pump_reset(c->inside);
	else if (text)
		answer_front(c, true, text);
	if (text)
		ward_pump_reset(c->outside);
	ward_conn_free(c);
}
