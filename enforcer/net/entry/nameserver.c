/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the DNS questions of the agent from the policy alone. */
#include "enforcer/net/entry/nameserver.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/clock.h"
#include "enforcer/net/base/asker.h"
#include "enforcer/net/base/net_records.h"
#include "enforcer/net/conn/accept.h"
#include "enforcer/net/names/name_table.h"
#include "enforcer/net/protocol/dns.h"

#define PORT 53
/* A question fits in far less (RFC 1035, 4.2.1; an EDNS record behind it). */
#define QUESTION_MAX 1024U
/* Clients over TCP at once, and how long one may think at most. */
#define CLIENTS_MAX 64
#define CLIENT_NS (10 * WARD_NS_PER_SEC)
/* Answers are for this long, in seconds: short, since a policy may change. */
#define TTL 30
/* Datagrams in a row before others get their turn. */
#define BATCH 64
/* The same name asked again within this time is not recorded again. */
#define REPEAT_NS (10 * WARD_NS_PER_SEC)
#define RECENT_MAX 64
/* One of each family, in text. */
#define ADDRESSES_MAX (INET_ADDRSTRLEN + INET6_ADDRSTRLEN)

struct client {
	struct ward_nameserver *server;
	struct event *event;
	int fd;
	uint64_t since_ns; /* it has been asking one question */
	size_t len;
	uint8_t data[2 + QUESTION_MAX];
};

struct recent {
	char text[WARD_NAME_SIZE];
	enum ward_event_kind kind;
	uint64_t ns;
};

struct ward_nameserver {
	struct ward_broker *net;
	int udp, tcp;
	struct event *on_udp, *on_tcp;
	struct client *clients[CLIENTS_MAX];
	struct recent recent[RECENT_MAX];
	size_t next;
};

/* --- what to answer --- */

/* Clients ask for A and AAAA at once, and again for each connection: one record says it. */
static bool is_repeated(struct ward_nameserver *s, const char *text, enum ward_event_kind kind)
{
	uint64_t now = ward_clock_mono_ns();
	for (size_t i = 0; i < RECENT_MAX; i++) {
		const struct recent *r = &s->recent[i];
		if (r->kind == kind && now - r->ns < REPEAT_NS && strcmp(r->text, text) == 0)
			return true;
	}
	if (strlen(text) < WARD_NAME_SIZE) {
		struct recent *r = &s->recent[s->next++ % RECENT_MAX];
		*r = (struct recent){.kind = kind, .ns = now};
		snprintf(r->text, sizeof(r->text), "%s", text);
	}
	return false;
}

/* from: who asks, at the end of a datagram; fd: of a connection, -1. */
struct whence {
	const union ward_sockaddr *from;
	int fd;
};

static void find_asker(struct ward_nameserver *s, const struct whence *w, struct ward_asker *ret)
{
	union ward_sockaddr own = {.v4 = {.sin_family = AF_INET, .sin_port = htons(PORT)}};
	*ret = WARD_ASKER_UNKNOWN;
	if (w->fd >= 0)
		ward_asker_of(s->net, w->fd, ret);
	else if (inet_pton(AF_INET, WARD_WIRE_BROKER4, &own.v4.sin_addr) == 1)
		ward_asker_find(s->net, w->from, &own, true, ret);
}

/*
 * The addresses of a name, each ended by a NUL: both, whichever was asked for, since the question
 * for the other one is not recorded again.
 */
static size_t addresses(
	const struct ward_nameserver *s, const struct ward_net_name *name, char ret[ADDRESSES_MAX])
{
	size_t len = 0;
	if (inet_ntop(AF_INET, &name->v4, ret, ADDRESSES_MAX))
		len = strlen(ret) + 1;
	if (s->net->wire.ipv6 &&
		inet_ntop(AF_INET6, &name->v6, ret + len, (socklen_t)(ADDRESSES_MAX - len)))
		len += strlen(ret + len) + 1;
	return len;
}

/* name: what the question is answered with; NULL where it is refused. */
static int record(struct ward_nameserver *s, const struct whence *w,
	const struct ward_dns_question *q, enum ward_event_kind kind,
	const struct ward_net_name *name, int error)
{
	char type[WARD_DNS_TYPE_TEXT_MAX];
	char answers[ADDRESSES_MAX];
	struct ward_buf place = WARD_BUF_INIT, rule = WARD_BUF_INIT;
	if (is_repeated(s, q->text, kind))
		return 0;
	struct ward_asker asker;
	find_asker(s, w, &asker);
	ward_dns_type_text(q->type, type);
	struct ward_net_record r = {.action = "resolve",
		.proto = type,
		.host = q->text,
		.error = error,
		.uid = WARD_EVENT_UNKNOWN,
		.pid = asker.pid,
		.comm = asker.comm,
		.why = asker.why};
	if (name) {
		r.answers = answers;
		r.answers_len = addresses(s, name, answers);
	}
	if (q->plain)
		(void)ward_policy_connect(s->net->policy, q->text, &place, &rule);
	r.place = place.len ? ward_buf_str(&place) : "default";
	r.rule = rule.len ? ward_buf_str(&rule) : NULL;
	int e = ward_net_record(s->net, kind, &r);
	ward_buf_clear(&place);
	ward_buf_clear(&rule);
	return e;
}

static size_t answer(struct ward_nameserver *s, const struct whence *w,
	const struct ward_dns_question *q, uint8_t ret[WARD_DNS_ANSWER_MAX])
{
	struct ward_net_name *name = NULL;
	int r = -EACCES;
	if (q->plain && q->class == 1)
		r = ward_net_names_get(s->net, q->text, &name);
	if (r == -EACCES) {
		if (record(s, w, q, WARD_EVENT_DENY, NULL, ENOENT) < 0)
			return ward_dns_answer(q, WARD_DNS_SERVFAIL, NULL, 0, 0, ret);
		return ward_dns_answer(q, WARD_DNS_NXDOMAIN, NULL, 0, 0, ret);
	}
	if (r < 0 || record(s, w, q, WARD_EVENT_DNS, name, 0) < 0)
		return ward_dns_answer(q, WARD_DNS_SERVFAIL, NULL, 0, 0, ret);
	if (q->type == WARD_DNS_TYPE_A)
		return ward_dns_answer(q, WARD_DNS_NOERROR, &name->v4, 4, TTL, ret);
	if (q->type == WARD_DNS_TYPE_AAAA && s->net->wire.ipv6)
		return ward_dns_answer(q, WARD_DNS_NOERROR, &name->v6, 16, TTL, ret);
	return ward_dns_answer(q, WARD_DNS_NOERROR, NULL, 0, 0, ret);
}

/* Returns the answer's length, 0: none is given. */
static size_t serve(struct ward_nameserver *s, const struct whence *w, const uint8_t *data,
	size_t len, uint8_t ret[WARD_DNS_ANSWER_MAX])
{
	struct ward_dns_question q;
	int rcode = ward_dns_parse(data, len, &q);
	if (rcode < 0)
		return 0;
	if (rcode != WARD_DNS_NOERROR)
		return ward_dns_answer(&q, (enum ward_dns_rcode)rcode, NULL, 0, 0, ret);
	return answer(s, w, &q, ret);
}

static void on_udp(evutil_socket_t fd, short what, void *user)
{
	struct ward_nameserver *s = user;
	for (int i = 0; i < BATCH; i++) {
		uint8_t data[QUESTION_MAX], out[WARD_DNS_ANSWER_MAX];
		union ward_sockaddr from;
		socklen_t from_len = sizeof(from);
		ssize_t n = recvfrom(fd, data, sizeof(data), 0, &from.sa, &from_len);
		if (n < 0)
			return;
		size_t len = serve(s, &(struct whence){&from, -1}, data, (size_t)n, out);
		if (len)
			(void)!sendto(fd, out, len, MSG_NOSIGNAL, &from.sa, from_len);
	}
}

/* --- over TCP: two bytes of length before each message (RFC 1035, 4.2.2) --- */

static void drop(struct client *c)
{
	struct ward_nameserver *s = c->server;
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (s->clients[i] == c)
			s->clients[i] = NULL;
	event_free(c->event);
	close(c->fd);
	free(c);
}

/* One whole message, if it is there. False: the client is to go. */
static bool serve_one(struct client *c, bool *ret_more)
{
	uint8_t out[2 + WARD_DNS_ANSWER_MAX];
	*ret_more = false;
	if (c->len < 2)
		return true;
	size_t size = (size_t)c->data[0] << 8 | c->data[1];
	if (size > QUESTION_MAX)
		return false;
	if (c->len < 2 + size)
		return true;
	size_t n = serve(c->server, &(struct whence){NULL, c->fd}, c->data + 2, size, out + 2);
	out[0] = (uint8_t)(n >> 8);
	out[1] = (uint8_t)n;
	/* What does not fit into an empty send buffer, nobody reads. */
	if (n == 0 || send(c->fd, out, n + 2, MSG_NOSIGNAL) != (ssize_t)(n + 2))
		return false;
	c->since_ns = ward_clock_mono_ns();
	c->len -= 2 + size;
	memmove(c->data, c->data + 2 + size, c->len);
	*ret_more = c->len >= 2;
	return true;
}

static uint64_t patience_ns(const struct ward_nameserver *s)
{
	const uint64_t ns = s->net->settings->net_handshake_ns;
	return ns < CLIENT_NS ? ns : CLIENT_NS;
}

static void on_client(evutil_socket_t fd, short what, void *user)
{
	struct client *c = user;
	bool more = true;
	ssize_t n = what & EV_TIMEOUT ? 0 : recv(fd, c->data + c->len, sizeof(c->data) - c->len, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(c);
		return;
	}
	c->len += (size_t)n;
	while (more) {
		if (!serve_one(c, &more)) {
			drop(c);
			return;
		}
	}
	/* Not for as long as it says something now and then. */
	if (ward_clock_left_ns(c->since_ns, patience_ns(c->server)) == 0)
		drop(c);
}

static void on_tcp(evutil_socket_t fd, short what, void *user)
{
	struct ward_nameserver *s = user;
	const struct timeval patience = ward_clock_timeval(patience_ns(s));
	size_t slot = 0;
	int got = ward_net_accept(s->net, fd);
	while (slot < CLIENTS_MAX && s->clients[slot])
		slot++;
	if (got < 0)
		return;
	struct client *c = slot < CLIENTS_MAX ? calloc(1, sizeof(*c)) : NULL;
	if (!c) {
		ward_net_turn_away(s->net, got);
		return;
	}
	c->server = s;
	c->fd = got;
	c->since_ns = ward_clock_mono_ns();
	c->event = event_new(s->net->base, got, EV_READ | EV_PERSIST, on_client, c);
	if (!c->event || event_add(c->event, &patience) < 0) {
		if (c->event)
			event_free(c->event);
		close(got);
		free(c);
		return;
	}
	s->clients[slot] = c;
}

/* --- */

int ward_nameserver_open(struct ward_broker *net, struct ward_err *err)
{
	union ward_sockaddr a = {.v4 = {.sin_family = AF_INET, .sin_port = htons(PORT)}};
	struct ward_nameserver *s = net->nameserver = calloc(1, sizeof(*s));
	if (!s || inet_pton(AF_INET, WARD_WIRE_BROKER4, &a.v4.sin_addr) != 1)
		return ward_err_sys(err, -ENOMEM, "name server");
	s->net = net;
	s->udp = s->tcp = -1;
	int r = ward_wire_socket(&net->wire, WARD_WIRE_OUTER, AF_INET, SOCK_DGRAM, &a.sa, &s->udp);
	if (r == 0)
		r = ward_wire_socket(
			&net->wire, WARD_WIRE_OUTER, AF_INET, SOCK_STREAM, &a.sa, &s->tcp);
	if (r < 0)
		return ward_err_sys(err, r, "name server");
	s->on_udp = event_new(net->base, s->udp, EV_READ | EV_PERSIST, on_udp, s);
	s->on_tcp = event_new(net->base, s->tcp, EV_READ | EV_PERSIST, on_tcp, s);
	if (!s->on_udp || !s->on_tcp || event_add(s->on_udp, NULL) < 0 ||
		event_add(s->on_tcp, NULL) < 0)
		return ward_err_sys(err, -ENOMEM, "name server");
	return 0;
}

void ward_nameserver_close(struct ward_broker *net)
{
	struct ward_nameserver *s = net->nameserver;
	if (!s)
		return;
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (s->clients[i])
			drop(s->clients[i]);
	if (s->on_udp)
		event_free(s->on_udp);
	if (s->on_tcp)
		event_free(s->on_tcp);
	if (s->udp >= 0)
		close(s->udp);
	if (s->tcp >= 0)
		close(s->tcp);
	free(s);
	net->nameserver = NULL;
}
