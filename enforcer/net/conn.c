/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/net/conn.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/net/accept.h"
#include "enforcer/net/asker.h"
#include "enforcer/net/decide.h"
#include "enforcer/net/inspect.h"
#include "enforcer/net/limits.h"
#include "enforcer/net/near.h"
#include "enforcer/net/record.h"
#include "enforcer/net/pump.h"
#include "enforcer/net/resolve.h"
#include "enforcer/net/socks.h"
#include "enforcer/net/upstream.h"

/* Connections at once; each takes two descriptors. */
#define CONNS_MAX 8000U
/* Accepted in a row before others get their turn. */
#define ACCEPT_MAX 64
/* A server that does not answer: the next address is tried after this time, in seconds. */
#define CONNECT_S 10
/* A proxy connects on its side meanwhile: for what it says until the stream begins. */
#define PROXY_S 60
/* "by the proxy NAME:PORT, with token N" */
#define WAY_MAX 320
/* Nothing moved for so long; and a hello or a request's head that is not whole by then. */
#define IDLE_S 3600
#define HELD_S 30

struct ward_conn {
	LIST_ENTRY(ward_conn) link;
	struct ward_broker *net;
	int inside, outside;
	struct ward_name *name; /* in use; NULL where none of the wire is */
	bool named;		/* host is a name, no address */
	enum ward_conn_front front;
	uint8_t *first; /* what goes to the server first */
	size_t first_len;
	char host[WARD_NAME_SIZE]; /* the name, or the address as text */
	union ward_sockaddr asked; /* where the program connected to */
	union ward_sockaddr peer;  /* and where that led */
	uint16_t port;
	struct ward_asker asker;
	struct ward_why why; /* what allowed it */
	struct ward_account *account;
	struct event *later; /* after a pause for the rate */
	struct ward_query *query;
	struct ward_answer answer;
	size_t next; /* address to try */
	struct event *connected;
	struct event *clock;
	struct ward_upstream *upstream; /* with mode = proxy, until the stream begins */
	uint64_t number;		/* of the token that the proxy was given; 0: none */
	struct ward_inspect inspect;
	struct ward_pump *pump;
	uint64_t started_ns, held_ns;
	bool recorded; /* its beginning is in the trail */
};

static bool proxied(const struct ward_conn *c)
{
	return c->net->settings->net == WARD_NET_PROXY;
}

static void upstream_free(struct ward_conn *c)
{
	if (c->upstream)
		ward_upstream_clear(c->upstream);
	free(c->upstream);
	c->upstream = NULL;
}

static void conn_free(struct ward_conn *c)
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
		ward_limits_leave(c->net, c->account);
	if (c->inside >= 0)
		close(c->inside);
	if (c->outside >= 0)
		close(c->outside);
	ward_why_clear(&c->why);
	upstream_free(c);
	free(c->first);
	free(c);
}

static void fill_record(const struct ward_conn *c, struct ward_net_record *r)
{
	*r = (struct ward_net_record){.action = "connect",
		.proto = c->front == WARD_FRONT_NONE	? "tcp"
			 : c->front == WARD_FRONT_SOCKS ? "socks5"
							: "http",
		.host = c->named ? c->host : NULL,
		/* Behind a proxy, what a name leads to is the proxy's knowledge. */
		.addr = c->peer.sa.sa_family && !proxied(c) ? &c->peer
			: c->named			    ? NULL
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

static void refuse(struct ward_conn *c, const char *place, const char *rule, const char *text)
{
	struct ward_net_record r;
	fill_record(c, &r);
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
	conn_free(c);
}

static void refuse_why(struct ward_conn *c, struct ward_why *why)
{
	if (why->addr.sa.sa_family)
		c->peer = why->addr;
	refuse(c, ward_buf_str(&why->place), ward_buf_str(&why->rule), why->text);
	ward_why_clear(why);
}

/* text: why, if it did not end by itself. */
static void finish(struct ward_conn *c, const char *text)
{
	struct ward_net_record r;
	fill_record(c, &r);
	r.place = ward_buf_str(&c->why.place);
	r.text = text;
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
	conn_free(c);
}

/* --- moving --- */

/* Lets both directions rest until the rate is kept. */
static void pause_for(struct ward_conn *c, uint64_t ns)
{
	const struct timeval tv = {.tv_sec = (time_t)(ns / WARD_NS_PER_SEC),
		.tv_usec = (suseconds_t)(ns % WARD_NS_PER_SEC / 1000) + 1};
	if (!c->later || evtimer_pending(c->later, NULL) || event_add(c->later, &tv) < 0)
		return;
	ward_pump_pause(c->pump, WARD_PUMP_INSIDE, true);
	ward_pump_pause(c->pump, WARD_PUMP_OUTSIDE, true);
}

static void on_later(evutil_socket_t fd, short what, void *user)
{
	struct ward_conn *c = user;
	ward_pump_pause(c->pump, WARD_PUMP_INSIDE, false);
	ward_pump_pause(c->pump, WARD_PUMP_OUTSIDE, false);
}

static int on_pass(
	void *user, enum ward_pump_side from, const uint8_t *data, size_t len, size_t *ret_pass)
{
	struct ward_conn *c = user;
	int r = 0;
	*ret_pass = len;
	if (c->named && c->net->settings->sni != WARD_SNI_OFF) {
		if (from == WARD_PUMP_OUTSIDE)
			ward_inspect_reply(&c->inspect, data, len);
		else
			r = ward_inspect(&c->inspect, data, len, ret_pass);
	}
	if (r == 0 && from == WARD_PUMP_INSIDE)
		r = ward_limits_upload(c->net, *ret_pass);
	uint64_t wait = r == 0 ? ward_limits_moved(c->net, c->account, *ret_pass) : 0;
	if (wait)
		pause_for(c, wait);
	return r;
}

static void on_over(void *user, int error)
{
	struct ward_conn *c = user;
	char text[128];
	if (error == -EACCES) {
		refuse(c, ward_buf_str(&c->why.place), "[network] sni = require",
			c->inspect.complaint ? c->inspect.complaint
					     : "it ended in the middle of a hello or request");
		return;
	}
	if (error == -EDQUOT) {
		refuse(c, ward_buf_str(&c->why.place), "[network] upload",
			"the upload budget of the session is used up");
		return;
	}
	if (error)
		snprintf(text, sizeof(text), "%s", strerrordesc_np(-error));
	finish(c, error ? text : NULL);
}

static const struct ward_pump_ops pump_ops = {on_pass, on_over};

static void set_clock(struct ward_conn *c, time_t seconds)
{
	const struct timeval tv = {.tv_sec = seconds};
	event_add(c->clock, &tv);
}

static void pump_clock(struct ward_conn *c)
{
	uint64_t now = ward_clock_mono_ns();
	uint64_t idle = (now - ward_pump_active_ns(c->pump)) / WARD_NS_PER_SEC;
	c->held_ns = ward_pump_holds(c->pump) ? c->held_ns ? c->held_ns : now : 0;
	if (c->held_ns && now - c->held_ns >= (uint64_t)HELD_S * WARD_NS_PER_SEC)
		refuse(c, ward_buf_str(&c->why.place), "[network] sni = require",
			"a hello or a request's head that was not whole after 30 s");
	else if (idle >= IDLE_S)
		finish(c, "idle for too long");
	else
		set_clock(c, HELD_S);
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

/* What the operator of the proxy finds in its log. */
static const char *way(const struct ward_conn *c, char ret[WAY_MAX])
{
	const struct ward_proxy *p = &c->net->settings->net_proxy;
	if (!proxied(c))
		return NULL;
	int n = snprintf(ret, WAY_MAX, "by the proxy %s:%u", p->host, p->port);
	if (c->number)
		snprintf(ret + n, WAY_MAX - (size_t)n, ", with token %llu",
			(unsigned long long)c->number);
	return ret;
}

static void begin_pump(struct ward_conn *c)
{
	struct ward_net_record r;
	char text[WAY_MAX];
	const int on = 1;
	upstream_free(c);
	fill_record(c, &r);
	r.text = way(c, text);
	r.place = ward_buf_str(&c->why.place);
	r.rule = ward_buf_str(&c->why.rule);
	event_free(c->connected);
	c->connected = NULL;
	/* No byte goes before the record is there. */
	if (ward_net_record(c->net, WARD_EVENT_CONNECT, &r) < 0) {
		ward_pump_reset(c->inside);
		conn_free(c);
		return;
	}
	c->recorded = true;
	(void)setsockopt(c->inside, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(c->outside, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(c->outside, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	ward_inspect_init(&c->inspect, c->host, c->net->settings->sni == WARD_SNI_REQUIRE);
	if (c->net->settings->net_rate != WARD_UNLIMITED)
		c->later = evtimer_new(c->net->base, on_later, c);
	if (!grant(c) || ward_pump_new(c->net, c->inside, c->outside, &pump_ops, c, &c->pump) < 0) {
		finish(c, "the program is gone, or out of memory");
		return;
	}
	set_clock(c, HELD_S);
	/* Last: it may end the connection. */
	if (c->first_len)
		ward_pump_feed(c->pump, c->first, c->first_len);
}

/* --- connecting --- */

static void try_next(struct ward_conn *c);

/* To oneself the kernel connects with the address of the other end. */
static bool is_ourselves(const struct ward_conn *c)
{
	union ward_sockaddr own = {0};
	socklen_t len = sizeof(own);
	return getsockname(c->outside, &own.sa, &len) < 0 ||
	       ward_sockaddr_same_host(&own, &c->peer);
}

/* --- what the proxy is asked, and says --- */

static bool send_whole(int fd, const struct ward_buf *b)
{
	/* A few hundred bytes, into a send buffer that is empty. */
	return b->len == 0 || send(fd, b->data, b->len, MSG_NOSIGNAL) == (ssize_t)b->len;
}

static void on_proxy(evutil_socket_t fd, short what, void *user)
{
	struct ward_conn *c = user;
	ward_cleanup(ward_buf_clear) struct ward_buf out = WARD_BUF_INIT;
	uint8_t data[4096];
	if (what & EV_TIMEOUT) {
		finish(c, "the proxy did not answer");
		return;
	}
	/* Looked at first: what follows the answer is the destination's, and stays in the socket.
	 */
	ssize_t n = recv(fd, data, sizeof(data), MSG_PEEK);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		finish(c, "the proxy has ended the connection");
		return;
	}
	ssize_t taken = ward_upstream_take(c->upstream, data, (size_t)n, &out);
	if (taken < 0) {
		char why[sizeof(c->upstream->why)];
		memcpy(why, c->upstream->why, sizeof(why));
		finish(c, why);
	} else if (recv(fd, data, (size_t)taken, 0) != taken || ward_buf_error(&out) < 0 ||
		   !send_whole(fd, &out)) {
		finish(c, "the proxy has ended the connection");
	} else if (c->upstream->state == WARD_UPSTREAM_STREAM) {
		begin_pump(c);
	}
}

/* The next token of the session; "" where nobody is to know. */
static int make_token(struct ward_conn *c, char ret[WARD_TOKEN_MAX], size_t *ret_claim)
{
	ward_cleanup(ward_buf_clear) struct ward_buf to = WARD_BUF_INIT;
	struct ward_token_signer *s = c->net->signer;
	*ret = 0;
	*ret_claim = 0;
	if (!c->net->settings->net_identify)
		return 0;
	if (!s)
		return -ENOKEY;
	ward_upstream_destination(c->host, c->port, &to);
	int r = ward_token_sign(s, ward_policy_digest(c->net->policy), ward_buf_str(&to),
		ward_clock_real_ns() / WARD_NS_PER_SEC, ret, ret_claim);
	if (r == 0)
		c->number = s->number;
	return r;
}

static void ask_proxy(struct ward_conn *c)
{
	const struct timeval tv = {.tv_sec = PROXY_S};
	const struct ward_settings *s = c->net->settings;
	ward_cleanup(ward_buf_clear) struct ward_buf out = WARD_BUF_INIT;
	char token[WARD_TOKEN_MAX];
	size_t claim = 0;
	int r = make_token(c, token, &claim);
	if (r < 0) {
		finish(c, r == -EKEYEXPIRED ? "the session is too old for its tokens: start another"
					    : "no token could be made");
		return;
	}
	c->upstream = calloc(1, sizeof(*c->upstream));
	r = c->upstream ? ward_upstream_begin(c->upstream, &s->net_proxy, c->host, c->port,
				  s->net_identify, token, claim, &out)
			: -ENOMEM;
	event_free(c->connected);
	c->connected = NULL;
	if (r == 0) {
		c->connected =
			event_new(c->net->base, c->outside, EV_READ | EV_PERSIST, on_proxy, c);
		r = c->connected && event_add(c->connected, &tv) == 0 ? 0 : -ENOMEM;
	}
	if (r == 0 && !send_whole(c->outside, &out))
		r = -EPIPE;
	if (r < 0)
		finish(c, r == -ENAMETOOLONG
				  ? "the destination is too long for what SOCKS5 can carry"
				  : "the proxy could not be asked");
}

static void on_connected(evutil_socket_t fd, short what, void *user)
{
	struct ward_conn *c = user;
	int error = 0;
	socklen_t len = sizeof(error);
	event_del(c->connected);
	event_del(c->clock);
	if (what & EV_TIMEOUT)
		error = ETIMEDOUT;
	else if (getsockopt(c->outside, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error) {
		event_free(c->connected);
		c->connected = NULL;
		close(c->outside);
		c->outside = -1;
		try_next(c);
		return;
	}
	if (proxied(c)) {
		ask_proxy(c);
		return;
	}
	struct ward_why why = {0};
	if (is_ourselves(c) && !ward_decide_address(c->net, &c->peer, false, true, &why)) {
		refuse_why(c, &why);
		return;
	}
	ward_why_clear(&why);
	begin_pump(c);
}

static int start_connect(struct ward_conn *c)
{
	const struct timeval tv = {.tv_sec = CONNECT_S};
	c->outside = socket(c->peer.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->outside < 0)
		return -errno;
	if (connect(c->outside, &c->peer.sa, ward_sockaddr_len(&c->peer)) < 0 &&
		errno != EINPROGRESS)
		return -errno;
	c->connected = event_new(c->net->base, c->outside, EV_WRITE, on_connected, c);
	return c->connected && event_add(c->connected, &tv) == 0 ? 0 : -ENOMEM;
}

static void try_next(struct ward_conn *c)
{
	while (c->next < c->answer.n) {
		c->peer = c->answer.v[c->next++];
		ward_sockaddr_set_port(
			&c->peer, proxied(c) ? c->net->settings->net_proxy.port : c->port);
		if (start_connect(c) == 0)
			return;
		if (c->outside >= 0)
			close(c->outside);
		c->outside = -1;
	}
	if (proxied(c))
		finish(c, "the proxy cannot be reached");
	else
		finish(c, c->answer.error ? "the name does not exist or nobody answered"
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
	if (proxied(c)) {
		try_next(c);
		return;
	}
	struct ward_why why;
	if (!ward_decide_answer(c->net, &c->answer, c->port, false, &why)) {
		refuse_why(c, &why);
		return;
	}
	ward_why_clear(&why);
	try_next(c);
}

/* --- accepting --- */

static void on_clock(evutil_socket_t fd, short what, void *user)
{
	struct ward_conn *c = user;
	if (c->pump)
		pump_clock(c);
}

static bool parse_address(const char *text, uint16_t port, union ward_sockaddr *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->sa.sa_family = AF_INET;
	if (inet_pton(AF_INET, text, &ret->v4.sin_addr) != 1) {
		ret->sa.sa_family = AF_INET6;
		if (inet_pton(AF_INET6, text, &ret->v6.sin6_addr) != 1)
			return false;
	}
	ward_sockaddr_set_port(ret, port);
	ward_sockaddr_unmap(ret);
	return true;
}

/* Resolves whom to connect to, unless it is an address. */
static void look_for(struct ward_conn *c, const char *host)
{
	if (proxied(c) && parse_address(host, 0, &c->answer.v[0])) {
		c->answer.n = 1;
		try_next(c);
	} else if (ward_resolve(c->net, host, on_resolved, c, &c->query) < 0) {
		finish(c, "out of memory");
	}
}

static void begin(struct ward_conn *c)
{
	struct ward_why why;
	if (!ward_decide_destination(c->net, c->named ? c->host : NULL, &c->asked, false, &why)) {
		refuse_why(c, &why);
		return;
	}
	c->why = why;
	if (ward_limits_enter(c->net, c->host, &c->account) < 0) {
		refuse(c, "default", NULL, "more connections than [network] connections");
		return;
	}
	if (!c->named && ward_near_has(c->net, &c->asked) &&
		!ward_decide_address(c->net, &c->asked, false, true, &why)) {
		refuse_why(c, &why);
		return;
	}
	if (proxied(c)) {
		look_for(c, c->net->settings->net_proxy.host);
	} else if (c->named) {
		look_for(c, c->host);
	} else {
		c->answer.v[0] = c->asked;
		c->answer.n = 1;
		try_next(c);
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
	c->name = ward_names_find(c->net, &c->asked);
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
	if (parse_address(r->host, r->port, &c->asked))
		set_address(c);
	else
		set_name(c, r->host);
	c->port = r->port;
	ward_sockaddr_set_port(&c->asked, r->port);
	c->first = r->len ? malloc(r->len) : NULL;
	if (r->len && !c->first) {
		c->inside = -1;
		conn_free(c);
		return -ENOMEM;
	}
	if (r->len)
		memcpy(c->first, r->first, r->len);
	c->first_len = r->len;
	if (r->port == 0 || (c->named && !plain_name(c->host)))
		refuse(c, "default", NULL, "no name or port that can be allowed");
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
			ward_pump_reset(fd);
			close(fd);
			continue;
		}
		socklen_t len = sizeof(c->asked);
		if (getsockname(fd, &c->asked.sa, &len) < 0) {
			ward_pump_reset(fd);
			conn_free(c);
			continue;
		}
		set_address(c);
		begin(c);
	}
}

void ward_conn_reload(struct ward_broker *net)
{
	struct ward_conn *c = LIST_FIRST(&net->conns);
	while (c) {
		struct ward_conn *next = LIST_NEXT(c, link);
		struct ward_why why = {0}, where = {0};
		bool ok = ward_decide_destination(
			net, c->named ? c->host : NULL, &c->asked, false, &why);
		/* Where it was resolved already, the address has to be allowed as well. */
		if (ok && c->named && c->peer.sa.sa_family && !proxied(c))
			ok = ward_decide_address(net, &c->peer, false, false, &where);
		if (!ok) {
			struct ward_why *said = where.place.len ? &where : &why;
			said->text = "another policy is in force";
			refuse_why(c, said);
		}
		ward_why_clear(&why);
		ward_why_clear(&where);
		c = next;
	}
}

void ward_conn_end_all(struct ward_broker *net, const char *why)
{
	while (!LIST_EMPTY(&net->conns))
		finish(LIST_FIRST(&net->conns), why);
}
