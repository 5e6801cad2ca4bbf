/* SPDX-License-Identifier: Apache-2.0 */
/* Begins a connection: takes it, decides it, and decides it again after a reload. */
#include "enforcer/net/conn/conn_internal.h"

#include <ctype.h>
#include <event2/event.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/net/base/net_limits.h"
#include "enforcer/net/conn/accept.h"
#include "enforcer/net/conn/pump.h"
#include "enforcer/net/names/host_addresses.h"

/* Connections at once; each takes two descriptors. */
#define CONNS_MAX 8000U
/* Accepted in a row before others get their turn. */
#define ACCEPT_MAX 64

static void on_clock(evutil_socket_t fd, short what, void *user)
{
	struct ward_conn *c = user;
	if (c->pump)
		ward_conn_stream_clock(c);
}

static bool use_grant(struct ward_conn *c, struct ward_grant_held *held)
{
	struct ward_net_record r = {.proto = NULL};
	ward_conn_fill_record(c, &r);
	return ward_net_record_use(c->net, &r, held) == 0;
}

static void begin(struct ward_conn *c)
{
	struct ward_net_why why;
	if (!ward_decide_destination(
		    c->net, c->named ? c->host : NULL, &c->asked, false, false, &why)) {
		if (why.asked)
			ward_conn_ask(c, &why);
		else
			ward_conn_refuse_why(c, &why);
		return;
	}
	c->question = 0;
	ward_net_why_clear(&c->why);
	c->why = why;
	if (why.held && !use_grant(c, why.held)) {
		ward_conn_refuse(c, "default", NULL, "the grant for it has just ended");
		return;
	}
	if (ward_net_limits_enter(c->net, c->host, &c->account) < 0) {
		ward_conn_refuse(c, "default", NULL, "more connections than [network] connections");
		return;
	}
	if (!c->named && ward_near_has(c->net, &c->asked) &&
		!ward_decide_address(c->net, &c->asked, false, true, &why)) {
		ward_conn_refuse_why(c, &why);
		return;
	}
	if (ward_conn_proxied(c)) {
		ward_conn_dial(c, c->net->settings->net_proxy.host);
	} else if (c->named) {
		ward_conn_dial(c, c->host);
	} else {
		c->answer.v[0] = c->asked;
		c->answer.n = 1;
		ward_conn_try_next(c);
	}
}

static struct ward_conn *conn_new(struct ward_broker *net, int fd)
{
	struct ward_conn *c = net->n_conns < CONNS_MAX ? calloc(1, sizeof(*c)) : NULL;
	if (!c)
		return NULL;
	c->clock = evtimer_new(net->base, on_clock, c);
	if (!c->clock) {
		free(c);
		return NULL;
	}
	c->net = net;
	c->inside = fd;
	c->outside = -1;
	c->started_ns = ward_clock_mono_ns();
	ward_asker_of(net, fd, &c->asker);
	LIST_INSERT_HEAD(&net->conns, c, link);
	net->n_conns++;
	return c;
}

/* asked is an address: of the wire, then a name is meant, or as it is. */
static void set_address(struct ward_conn *c)
{
	c->name = ward_net_names_find(c->net, &c->asked);
	c->named = c->name != NULL;
	c->port = ward_sockaddr_port(&c->asked);
	if (c->name) {
		c->name->users++;
		memcpy(c->host, c->name->text, sizeof(c->host));
	} else {
		ward_sockaddr_text(&c->asked, c->host);
	}
}

/* Lower case, without the last dot; what no name of a policy can hold stays and matches none. */
static void set_name(struct ward_conn *c, const char *host)
{
	size_t n = strlen(host);
	if (n > 1 && host[n - 1] == '.')
		n--;
	for (size_t i = 0; i < n && i < sizeof(c->host) - 1; i++)
		c->host[i] = (char)tolower((unsigned char)host[i]);
	c->named = true;
	c->asked.sa.sa_family = AF_INET;
}

static bool plain_name(const char *s)
{
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '-' && *s != '_' && *s != '.')
			return false;
	return true;
}

int ward_conn_request(struct ward_broker *net, const struct ward_conn_request *r)
{
	struct ward_conn *c = conn_new(net, r->fd);
	if (!c)
		return -ENOMEM;
	c->front = r->front;
	if (ward_sockaddr_parse(r->host, r->port, &c->asked))
		set_address(c);
	else
		set_name(c, r->host);
	c->port = r->port;
	ward_sockaddr_set_port(&c->asked, r->port);
	c->first = r->len ? malloc(r->len) : NULL;
	if (r->len && !c->first) {
		c->inside = -1;
		ward_conn_free(c);
		return -ENOMEM;
	}
	if (r->len)
		memcpy(c->first, r->first, r->len);
	c->first_len = r->len;
	if (r->port == 0 || (c->named && !plain_name(c->host)))
		ward_conn_refuse(c, "default", NULL, "no name or port that can be allowed");
	else
		begin(c);
	return 0;
}

void ward_conn_accept(struct ward_listener *l)
{
	for (int i = 0; i < ACCEPT_MAX; i++) {
		int fd = ward_net_accept(l->net, l->fd);
		if (fd < 0)
			return;
		struct ward_conn *c = conn_new(l->net, fd);
		if (!c) {
			ward_net_turn_away(l->net, fd);
			continue;
		}
		socklen_t len = sizeof(c->asked);
		if (getsockname(fd, &c->asked.sa, &len) < 0) {
			ward_pump_reset(fd);
			ward_conn_free(c);
			continue;
		}
		/* The number of an interface of the wire means another one on the host. */
		if (c->asked.sa.sa_family == AF_INET6)
			c->asked.v6.sin6_scope_id = 0;
		set_address(c);
		begin(c);
	}
}

/*
 * Does the policy that is in force now allow all of it? What a name has led to was decided by the
 * one before: of what is connected the address, else every address that may still be tried.
 */
static bool still_allowed(struct ward_conn *c, struct ward_net_why *ret_why)
{
	struct ward_broker *net = c->net;
	if (!ward_decide_destination(
		    net, c->named ? c->host : NULL, &c->asked, false, true, ret_why))
		return false;
	if (c->named && ward_conn_proxied(c))
		return true;
	if (!c->named && !ward_near_has(net, &c->asked))
		return true;
	if (!c->named || (c->pump && c->peer.sa.sa_family)) {
		ward_net_why_clear(ret_why);
		return ward_decide_address(
			net, c->named ? &c->peer : &c->asked, false, !c->named, ret_why);
	}
	if (c->answer.n) {
		ward_net_why_clear(ret_why);
		return ward_decide_answer(net, &c->answer, c->port, false, ret_why);
	}
	return true;
}

/* Decides waiting connections again. One whose question is still open keeps its place. */
static void decide_anew(struct ward_conn *c)
{
	struct ward_net_why why = {0};
	const bool allowed = ward_decide_destination(
		c->net, c->named ? c->host : NULL, &c->asked, false, false, &why);
	const bool waits = !allowed && why.asked;
	ward_net_why_clear(&why);
	if (waits)
		return;
	ward_conn_ask_forget(c);
	begin(c);
}

void ward_conn_answered(struct ward_broker *net, uint32_t question, bool refused)
{
	struct ward_conn *c = LIST_FIRST(&net->conns);
	while (c) {
		struct ward_conn *next = LIST_NEXT(c, link);
		if (c->waits && c->question == question) {
			ward_conn_ask_forget(c);
			if (refused)
				ward_conn_ask_refused(c);
			else
				begin(c);
		}
		c = next;
	}
}

void ward_conn_reload(struct ward_broker *net)
{
	struct ward_conn *c = LIST_FIRST(&net->conns);
	while (c) {
		struct ward_conn *next = LIST_NEXT(c, link);
		struct ward_net_why why = {0};
		if (c->waits) {
			decide_anew(c);
			c = next;
			continue;
		}
		if (!still_allowed(c, &why) || !ward_conn_stream_reload(c)) {
			why.text = c->why.held ? "the grant for it has ended"
					       : "another policy is in force";
			ward_conn_refuse_why(c, &why);
		}
		ward_net_why_clear(&why);
		c = next;
	}
}

void ward_conn_end_all(struct ward_broker *net, const char *why)
{
	while (!LIST_EMPTY(&net->conns))
		ward_conn_finish(LIST_FIRST(&net->conns), why);
}
