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

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/question_id.h"
#include "enforcer/net/base/net_limits.h"
#include "enforcer/net/conn/pump.h"
#include "enforcer/net/decide/decide.h"
#include "enforcer/net/protocol/socks.h"
#include "enforcer/net/protocol/upstream.h"

void ward_conn_forget_proxy(struct ward_conn *c)
{
	if (c->upstream)
		ward_upstream_clear(c->upstream);
	free(c->upstream);
	c->upstream = NULL;
}

void ward_conn_ask_forget(struct ward_conn *c)
{
	if (c->patience)
		event_free(c->patience);
	if (c->left)
		event_free(c->left);
	c->patience = c->left = NULL;
	c->waits = false;
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
	ward_conn_ask_forget(c);
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

static const char *proto_of(enum ward_conn_front front)
{
	switch (front) {
	case WARD_FRONT_NONE:
		return "tcp";
	case WARD_FRONT_CONNECT:
		return "connect";
	case WARD_FRONT_HTTP:
		return "http";
	case WARD_FRONT_SOCKS:
		return "socks5";
	}
	return NULL;
}

void ward_conn_fill_record(const struct ward_conn *c, struct ward_net_record *r)
{
	*r = (struct ward_net_record){.action = "connect",
		.proto = proto_of(c->front),
		.host = c->named ? c->host : NULL,
		/* Behind a proxy, what a name leads to is the proxy's knowledge. */
		.addr = c->peer.sa.sa_family && !ward_conn_proxied(c) ? &c->peer
			: c->named				      ? NULL
								      : &c->asked,
		.port = c->port,
		.sni = c->inspect.seen[0] ? c->inspect.seen : NULL,
		.uid = WARD_EVENT_UNKNOWN,
		.pid = c->asker.pid,
		.comm = c->asker.comm,
		.why = c->asker.why};
}

const char *ward_conn_way(const struct ward_conn *c, char ret[WARD_CONN_WAY_MAX])
{
	const struct ward_proxy *p = &c->net->settings->net_proxy;
	if (!ward_conn_proxied(c))
		return NULL;
	int n = snprintf(ret, WARD_CONN_WAY_MAX, "by the proxy %s:%u", p->host, p->port);
	if (c->number)
		snprintf(ret + n, WARD_CONN_WAY_MAX - (size_t)n, ", with token %llu",
			(unsigned long long)c->number);
	return ret;
}

/* The text of the last record. Once the proxy was asked, its log has the connection, too. */
static const char *last_words(const struct ward_conn *c, const char *text, struct ward_buf *b)
{
	char way[WARD_CONN_WAY_MAX];
	if (!c->asked_ns || !ward_conn_way(c, way))
		return text;
	if (text)
		ward_buf_printf(b, "%s (%s)", text, way);
	else
		ward_buf_puts(b, way);
	return ward_buf_error(b) < 0 ? text : ward_buf_str(b);
}

void ward_conn_put_asked(const struct ward_conn *c, struct ward_buf *b)
{
	char address[WARD_ADDRESS_TEXT_MAX];
	if (!c->named) {
		union ward_sockaddr to = c->asked;
		ward_sockaddr_set_port(&to, c->port);
		ward_sockaddr_text_port(&to, address);
		ward_buf_puts(b, address);
		return;
	}
	ward_escape(b, c->host, strlen(c->host));
	ward_buf_printf(b, ":%u", c->port);
}

/*
 * What a person reads whose program shows an answer's reason or its body: the destination, the line
 * that decided, and what to type.
 */
static void put_http(const struct ward_conn *c, bool allowed, const char *place, const char *rule,
	const char *text, struct ward_buf *b)
{
	ward_cleanup(ward_buf_clear) struct ward_buf asked = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf body = WARD_BUF_INIT;
	ward_conn_put_asked(c, &asked);
	ward_buf_printf(&body, "wardfs: %s %s", ward_buf_str(&asked),
		allowed ? "could not be reached" : "is refused");
	if (text)
		ward_buf_printf(&body, ": %s", text);
	if (rule && *rule)
		ward_buf_printf(&body, " (%s %s)", place ? place : "default", rule);
	if (!allowed && !text && rule) {
		ward_buf_puts(&body, "\nto permit it, outside of the session: ");
		ward_decide_permit(ward_buf_str(&asked), rule, &body);
	}
	ward_buf_putc(&body, '\n');
	ward_buf_printf(b,
		"HTTP/1.1 %s: wardfs %s %s%s%s\r\nConnection: close\r\n"
		"Content-Type: text/plain\r\nContent-Length: %zu\r\n\r\n",
		allowed ? "502 Bad Gateway" : "403 Forbidden",
		allowed ? "could not reach" : "does not allow", ward_buf_str(&asked),
		allowed && text ? ": " : "", allowed && text ? text : "", body.len);
	ward_buf_add(b, body.data, body.len);
}

/* The front's own words before the end. allowed: the connection failed, it was not refused. */
static void answer_front(
	struct ward_conn *c, bool allowed, const char *place, const char *rule, const char *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf reply = WARD_BUF_INIT;
	uint8_t code[WARD_SOCKS_REPLY_LEN];
	switch (c->front) {
	case WARD_FRONT_NONE:
		ward_pump_reset(c->inside);
		return;
	case WARD_FRONT_CONNECT:
	case WARD_FRONT_HTTP:
		put_http(c, allowed, place, rule, text, &reply);
		if (ward_buf_error(&reply) == 0)
			(void)!send(c->inside, reply.data, reply.len, MSG_NOSIGNAL);
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
	ward_cleanup(ward_buf_clear) struct ward_buf words = WARD_BUF_INIT;
	ward_conn_fill_record(c, &r);
	r.place = place && *place ? place : "default";
	r.rule = rule;
	r.text = last_words(c, text, &words);
	r.asked = c->question != 0;
	char question[WARD_QUESTION_NAME_SIZE];
	if (c->question) {
		ward_question_name(c->question, question);
		r.question = question;
	}
	r.error = ECONNRESET;
	/* Refused either way; a trail that failed is the supervisor's affair. */
	(void)!ward_net_record(c->net, WARD_EVENT_DENY, &r);
	if (c->pump)
		ward_pump_reset(c->inside);
	else
		answer_front(c, false, r.place, rule, text);
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
	ward_cleanup(ward_buf_clear) struct ward_buf words = WARD_BUF_INIT;
	ward_conn_fill_record(c, &r);
	r.place = ward_buf_str(&c->why.place);
	/* With sni = log: what was let through nevertheless. */
	r.text = last_words(c, text ? text : c->inspect.complaint, &words);
	if (c->pump) {
		r.ended = true;
		r.sent = ward_pump_bytes(c->pump, WARD_PUMP_INSIDE);
		r.received = ward_pump_bytes(c->pump, WARD_PUMP_OUTSIDE);
		r.duration_ns = ward_clock_mono_ns() - c->started_ns;
	}
	if (text && !c->pump)
		r.error = ECONNRESET; /* it never was one */
	(void)!ward_net_record(c->net, WARD_EVENT_CONNECT, &r);
	if (text && c->pump)
		ward_pump_reset(c->inside);
	else if (text)
		answer_front(c, true, NULL, NULL, text);
	if (text)
		ward_pump_reset(c->outside);
	ward_conn_free(c);
}
