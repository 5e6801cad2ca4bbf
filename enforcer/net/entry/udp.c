/* SPDX-License-Identifier: Apache-2.0 */
/* Carries datagrams in flows, each decided and recorded like a connection. */
#include "enforcer/net/entry/udp.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/net/base/asker.h"
#include "enforcer/net/base/net_limits.h"
#include "enforcer/net/base/net_records.h"
#include "enforcer/net/decide/decide.h"
#include "enforcer/net/names/host_addresses.h"
#include "enforcer/net/names/resolve.h"

/* Flows at once, datagrams that wait for the resolver, datagrams in a row. */
#define FLOWS_MAX 1024U
#define WAITING_MAX 8
#define BATCH 64
/* Nobody says that datagrams have ended. */
#define IDLE_NS (60 * WARD_NS_PER_SEC)
/* The largest datagram (RFC 768). */
#define DATAGRAM_MAX 65536

struct ward_udp_flow {
	LIST_ENTRY(ward_udp_flow) link;
	struct ward_broker *net;
	struct ward_listener *listener;
	union ward_sockaddr from; /* the program's */
	union ward_sockaddr to;	  /* where it sent, on the wire */
	union ward_sockaddr peer; /* outside */
	char host[WARD_NAME_SIZE];
	int outside;
	struct event *event, *clock;
	struct ward_resolve_query *query;
	struct ward_account *account;
	struct {
		uint8_t *data;
		size_t len;
	} waiting[WAITING_MAX];
	size_t n_waiting;
	struct ward_asker asker;
	struct ward_net_why why; /* what allowed it */
	uint64_t started_ns, active_ns, sent, received;
};

static struct ward_net_name *name_of(const struct ward_udp_flow *f)
{
	return f->listener->name;
}

static void fill_record(const struct ward_udp_flow *f, struct ward_net_record *r)
{
	*r = (struct ward_net_record){.action = "connect",
		.proto = "udp",
		.host = name_of(f) ? f->host : NULL,
		.addr = f->peer.sa.sa_family ? &f->peer
			: name_of(f)	     ? NULL
					     : &f->to,
		.port = ward_sockaddr_port(&f->to),
		.place = f->why.place.len ? ward_buf_str(&f->why.place) : NULL,
		.uid = WARD_EVENT_UNKNOWN,
		.pid = f->asker.pid,
		.comm = f->asker.comm,
		.why = f->asker.why};
}

static void flow_free(struct ward_udp_flow *f)
{
	LIST_REMOVE(f, link);
	f->net->n_flows--;
	if (name_of(f))
		name_of(f)->users--;
	if (f->account)
		ward_net_limits_leave(f->net, f->account);
	if (f->query)
		ward_resolve_cancel(f->query);
	if (f->event)
		event_free(f->event);
	if (f->clock)
		event_free(f->clock);
	if (f->outside >= 0)
		close(f->outside);
	for (size_t i = 0; i < f->n_waiting; i++)
		free(f->waiting[i].data);
	ward_net_why_clear(&f->why);
	free(f);
}

static void refuse(struct ward_udp_flow *f, struct ward_net_why *why)
{
	struct ward_net_record r;
	if (why->addr.sa.sa_family)
		f->peer = why->addr;
	fill_record(f, &r);
	r.place = why->place.len ? ward_buf_str(&why->place) : "default";
	r.rule = why->rule.len ? ward_buf_str(&why->rule) : NULL;
	r.text = why->text;
	r.error = EACCES;
	(void)!ward_net_record(f->net, WARD_EVENT_DENY, &r);
	ward_net_why_clear(why);
	flow_free(f);
}

static void refuse_upload(struct ward_udp_flow *f)
{
	struct ward_net_why why = {.text = "the upload budget of the session is used up"};
	refuse(f, &why);
}

static void finish(struct ward_udp_flow *f, const char *text)
{
	struct ward_net_record r;
	fill_record(f, &r);
	r.text = text;
	r.ended = true;
	r.sent = f->sent;
	r.received = f->received;
	r.duration_ns = ward_clock_mono_ns() - f->started_ns;
	(void)!ward_net_record(f->net, WARD_EVENT_CONNECT, &r);
	flow_free(f);
}

/* False: the flow is gone. */
static bool send_out(struct ward_udp_flow *f, const uint8_t *data, size_t len)
{
	if (ward_net_limits_upload(f->net, len) < 0) {
		refuse_upload(f);
		return false;
	}
	/* Over the rate: lost, as on any slow link; what is lost is not paid for. */
	if (ward_net_limits_wait(f->net, f->account) == 0 &&
		send(f->outside, data, len, MSG_NOSIGNAL) >= 0) {
		ward_net_limits_moved(f->net, f->account, len);
		f->sent += len;
	}
	f->active_ns = ward_clock_mono_ns();
	return true;
}

/* From the address that the program had sent to. */
static void send_in(struct ward_udp_flow *f, const uint8_t *data, size_t len)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(struct in6_pktinfo))];
	} control = {0};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
	struct msghdr m = {.msg_name = &f->from,
		.msg_namelen = ward_sockaddr_len(&f->from),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space)};
	struct cmsghdr *c = &control.head;
	if (f->to.sa.sa_family == AF_INET) {
		const struct in_pktinfo info = {.ipi_spec_dst = f->to.v4.sin_addr};
		c->cmsg_level = IPPROTO_IP;
		c->cmsg_type = IP_PKTINFO;
		c->cmsg_len = CMSG_LEN(sizeof(info));
		memcpy(CMSG_DATA(c), &info, sizeof(info));
		m.msg_controllen = CMSG_SPACE(sizeof(info));
	} else {
		const struct in6_pktinfo info = {.ipi6_addr = f->to.v6.sin6_addr};
		c->cmsg_level = IPPROTO_IPV6;
		c->cmsg_type = IPV6_PKTINFO;
		c->cmsg_len = CMSG_LEN(sizeof(info));
		memcpy(CMSG_DATA(c), &info, sizeof(info));
	}
	if (sendmsg(f->listener->fd, &m, MSG_NOSIGNAL) >= 0)
		f->received += len;
}

static void on_reply(evutil_socket_t fd, short what, void *user)
{
	static uint8_t data[DATAGRAM_MAX];
	struct ward_udp_flow *f = user;
	for (int i = 0; i < BATCH; i++) {
		ssize_t n = recv(fd, data, sizeof(data), 0);
		if (n < 0 && errno == ECONNREFUSED)
			continue;
		if (n < 0)
			return;
		f->active_ns = ward_clock_mono_ns();
		if (ward_net_limits_wait(f->net, f->account) == 0) {
			ward_net_limits_moved(f->net, f->account, (size_t)n);
			send_in(f, data, (size_t)n);
		}
	}
}

static uint64_t idle_ns(const struct ward_udp_flow *f)
{
	const uint64_t ns = f->net->settings->net_idle_ns;
	return ns < IDLE_NS ? ns : IDLE_NS;
}

static void set_clock(struct ward_udp_flow *f)
{
	const struct timeval tv = ward_clock_timeval(ward_clock_left_ns(f->active_ns, idle_ns(f)));
	event_add(f->clock, &tv);
}

static void on_clock(evutil_socket_t fd, short what, void *user)
{
	struct ward_udp_flow *f = user;
	if (f->outside >= 0 && ward_clock_left_ns(f->active_ns, idle_ns(f)))
		set_clock(f);
	else
		finish(f, f->outside >= 0 ? NULL : "the name was not resolved in time");
}

static void begin(struct ward_udp_flow *f)
{
	struct ward_net_record r;
	f->outside = socket(f->peer.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (f->outside < 0 || connect(f->outside, &f->peer.sa, ward_sockaddr_len(&f->peer)) < 0) {
		finish(f, "no socket could be connected");
		return;
	}
	union ward_sockaddr own = {0};
	socklen_t len = sizeof(own);
	struct ward_net_why why = {0};
	/* To oneself the kernel connects with the address of the other end. */
	if ((getsockname(f->outside, &own.sa, &len) < 0 ||
		    ward_sockaddr_same_host(&own, &f->peer)) &&
		!ward_decide_address(f->net, &f->peer, true, true, &why)) {
		refuse(f, &why);
		return;
	}
	ward_net_why_clear(&why);
	fill_record(f, &r);
	r.rule = ward_buf_str(&f->why.rule);
	f->event = event_new(f->net->base, f->outside, EV_READ | EV_PERSIST, on_reply, f);
	if (!f->event || event_add(f->event, NULL) < 0 ||
		ward_net_record(f->net, WARD_EVENT_CONNECT, &r) < 0) {
		flow_free(f);
		return;
	}
	for (size_t i = 0; i < f->n_waiting; i++)
		if (!send_out(f, f->waiting[i].data, f->waiting[i].len))
			return;
	while (f->n_waiting)
		free(f->waiting[--f->n_waiting].data);
}

static void on_resolved(void *user, const struct ward_answer *answer)
{
	struct ward_udp_flow *f = user;
	struct ward_net_why why;
	f->query = NULL;
	if (answer->error || answer->n == 0) {
		finish(f, ward_resolve_fault(answer->error));
		return;
	}
	if (!ward_decide_answer(f->net, answer, ward_sockaddr_port(&f->to), true, &why)) {
		refuse(f, &why);
		return;
	}
	ward_net_why_clear(&why);
	f->peer = answer->v[0];
	ward_sockaddr_set_port(&f->peer, ward_sockaddr_port(&f->to));
	begin(f);
}

/* Decides; starts to resolve. On refusal the flow is gone. */
static void decide(struct ward_udp_flow *f)
{
	struct ward_net_why why;
	const char *host = name_of(f) ? f->host : NULL;
	if (!ward_decide_destination(f->net, host, &f->to, true, false, &why)) {
		refuse(f, &why);
		return;
	}
	f->why = why;
	if (ward_net_limits_enter(f->net, f->host, &f->account) < 0) {
		struct ward_net_why many = {.text = "more connections than [network] connections"};
		refuse(f, &many);
		return;
	}
	if (host) {
		int r = ward_resolve(f->net, host, on_resolved, f, &f->query);
		if (r == -EDQUOT)
			refuse_upload(f);
		else if (r < 0)
			finish(f, "out of memory");
		return;
	}
	f->peer = f->to;
	if (ward_near_has(f->net, &f->to) &&
		!ward_decide_address(f->net, &f->to, true, true, &why)) {
		refuse(f, &why);
		return;
	}
	begin(f);
}

static struct ward_udp_flow *flow_new(
	struct ward_listener *l, const union ward_sockaddr *from, const union ward_sockaddr *to)
{
	struct ward_udp_flow *f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->clock = evtimer_new(l->net->base, on_clock, f);
	if (!f->clock) {
		free(f);
		return NULL;
	}
	f->net = l->net;
	f->listener = l;
	f->from = *from;
	f->to = *to;
	f->outside = -1;
	f->started_ns = f->active_ns = ward_clock_mono_ns();
	if (l->name) {
		l->name->users++;
		memcpy(f->host, l->name->text, sizeof(f->host));
	} else {
		ward_sockaddr_text(to, f->host);
	}
	ward_asker_find(l->net, from, to, true, &f->asker);
	LIST_INSERT_HEAD(&l->net->flows, f, link);
	l->net->n_flows++;
	set_clock(f);
	return f;
}

static struct ward_udp_flow *find(
	struct ward_listener *l, const union ward_sockaddr *from, const union ward_sockaddr *to)
{
	struct ward_udp_flow *f;
	LIST_FOREACH(f, &l->net->flows, link)
		if (f->listener == l && ward_sockaddr_same_host(&f->from, from) &&
			ward_sockaddr_port(&f->from) == ward_sockaddr_port(from) &&
			ward_sockaddr_same_host(&f->to, to))
			return f;
	return NULL;
}

/* Many sockets of one program must not keep all others waiting for IDLE_NS. */
static void make_room(struct ward_broker *net)
{
	struct ward_udp_flow *f, *oldest = NULL;
	LIST_FOREACH(f, &net->flows, link)
		if (!oldest || f->active_ns < oldest->active_ns)
			oldest = f;
	if (oldest)
		finish(oldest, "others were used later");
}

static void datagram(struct ward_listener *l, const union ward_sockaddr *from,
	const union ward_sockaddr *to, const uint8_t *data, size_t len)
{
	struct ward_udp_flow *f = find(l, from, to);
	if (f && f->outside >= 0) {
		send_out(f, data, len);
		return;
	}
	bool fresh = !f;
	if (fresh && l->net->n_flows >= FLOWS_MAX)
		make_room(l->net);
	if (fresh)
		f = flow_new(l, from, to);
	if (f && f->n_waiting < WAITING_MAX) {
		uint8_t *copy = malloc(len ? len : 1);
		if (copy) {
			memcpy(copy, data, len);
			f->waiting[f->n_waiting].data = copy;
			f->waiting[f->n_waiting++].len = len;
		}
	}
	if (f && fresh)
		decide(f);
}

/* Where a datagram was sent; the port is the listener's. */
static bool destination(struct msghdr *m, uint16_t port, union ward_sockaddr *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;
			memcpy(&info, CMSG_DATA(c), sizeof(info));
			ret->v4.sin_family = AF_INET;
			ret->v4.sin_addr = info.ipi_addr;
		} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;
			memcpy(&info, CMSG_DATA(c), sizeof(info));
			ret->v6.sin6_family = AF_INET6;
			ret->v6.sin6_addr = info.ipi6_addr;
		}
	}
	if (!ret->sa.sa_family)
		return false;
	ward_sockaddr_set_port(ret, port);
	return true;
}

void ward_udp_ready(struct ward_listener *l)
{
	static uint8_t data[DATAGRAM_MAX];
	for (int i = 0; i < BATCH; i++) {
		union ward_sockaddr from, to;
		char control[256];
		struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
		struct msghdr m = {.msg_name = &from,
			.msg_namelen = sizeof(from),
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control)};
		ssize_t n = recvmsg(l->fd, &m, 0);
		if (n < 0)
			return;
		if (destination(&m, l->port, &to))
			datagram(l, &from, &to, data, (size_t)n);
	}
}

void ward_udp_forget(struct ward_listener *l)
{
	struct ward_udp_flow *f = LIST_FIRST(&l->net->flows);
	while (f) {
		struct ward_udp_flow *next = LIST_NEXT(f, link);
		if (f->listener == l)
			finish(f, "another policy is in force");
		f = next;
	}
}

void ward_udp_end_all(struct ward_broker *net, const char *why)
{
	while (!LIST_EMPTY(&net->flows))
		finish(LIST_FIRST(&net->flows), why);
}
