/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves the destination of a connection and connects to it. */
#include "enforcer/net/conn/conn_internal.h"

#include <errno.h>
#include <event2/event.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/clock.h"

/* To oneself the kernel connects with the address of the other end. */
static bool is_ourselves(const struct ward_conn *c)
{
	union ward_sockaddr own = {0};
	socklen_t len = sizeof(own);
	return getsockname(c->outside, &own.sa, &len) < 0 ||
	       ward_sockaddr_same_host(&own, &c->peer);
}

static void on_connected(evutil_socket_t fd, short what, void *user)
{
	struct ward_conn *c = user;
	event_del(c->connected);
	event_del(c->clock);
	if (ward_sockaddr_connected(c->outside, what & EV_TIMEOUT) != 0) {
		event_free(c->connected);
		c->connected = NULL;
		close(c->outside);
		c->outside = -1;
		ward_conn_try_next(c);
		return;
	}
	if (ward_conn_proxied(c)) {
		ward_conn_ask_proxy(c);
		return;
	}
	struct ward_net_why why = {0};
	if (is_ourselves(c) && !ward_decide_address(c->net, &c->peer, false, true, &why)) {
		ward_conn_refuse_why(c, &why);
		return;
	}
	ward_net_why_clear(&why);
	ward_conn_stream(c);
}

static int start_connect(struct ward_conn *c)
{
	const struct timeval tv = ward_clock_timeval(c->net->settings->net_connect_ns);
	c->outside = socket(c->peer.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->outside < 0)
		return -errno;
	if (connect(c->outside, &c->peer.sa, ward_sockaddr_len(&c->peer)) < 0 &&
		errno != EINPROGRESS)
		return -errno;
	c->connected = event_new(c->net->base, c->outside, EV_WRITE, on_connected, c);
	return c->connected && event_add(c->connected, &tv) == 0 ? 0 : -ENOMEM;
}

void ward_conn_try_next(struct ward_conn *c)
{
	while (c->next < c->answer.n) {
		c->peer = c->answer.v[c->next++];
		ward_sockaddr_set_port(&c->peer,
			ward_conn_proxied(c) ? c->net->settings->net_proxy.port : c->port);
		if (start_connect(c) == 0)
			return;
		if (c->connected)
			event_free(c->connected);
		c->connected = NULL;
		if (c->outside >= 0)
			close(c->outside);
		c->outside = -1;
	}
	if (ward_conn_proxied(c))
		ward_conn_finish(c, "the proxy cannot be reached");
	else
		ward_conn_finish(c, c->answer.error ? ward_resolve_fault(c->answer.error)
						    : "no connection could be made");
}

static void on_resolved(void *user, const struct ward_answer *answer)
{
	struct ward_conn *c = user;
	c->query = NULL;
	c->answer = *answer;
	if (c->answer.error)
		c->answer.n = 0;
	/* Where the proxy is, the policy says; where names lead, the proxy finds out. */
	if (ward_conn_proxied(c)) {
		ward_conn_try_next(c);
		return;
	}
	struct ward_net_why why;
	if (!ward_decide_answer(c->net, &c->answer, c->port, false, &why)) {
		ward_conn_refuse_why(c, &why);
		return;
	}
	ward_net_why_clear(&why);
	ward_conn_try_next(c);
}

void ward_conn_dial(struct ward_conn *c, const char *host)
{
	if (ward_conn_proxied(c) && ward_sockaddr_parse(host, 0, &c->answer.v[0])) {
		c->answer.n = 1;
		ward_conn_try_next(c);
		return;
	}
	int r = ward_resolve(c->net, host, on_resolved, c, &c->query);
	if (r == -EDQUOT)
		ward_conn_refuse_upload(c);
	else if (r < 0)
		ward_conn_finish(c, "out of memory");
}
