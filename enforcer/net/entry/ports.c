/* SPDX-License-Identifier: Apache-2.0 */
/* Leads published and forwarded ports and unix sockets through. */
#include "enforcer/net/entry/ports.h"

#include <arpa/inet.h>
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
#include "enforcer/base/quantity.h"
#include "enforcer/net/base/asker.h"
#include "enforcer/net/base/net_records.h"
#include "enforcer/net/conn/accept.h"
#include "enforcer/net/conn/pump.h"
#include "enforcer/net/entry/reach.h"
#include "enforcer/net/entry/tally.h"

#define LINKS_MAX 1024U
/* Of them those of PUBLISH: every user of the host can make these, and must leave room for what the
 * session itself asks for. */
#define PUBLISHED_MAX (LINKS_MAX / 2)
/* So often is looked whether nothing has moved for too long. */
#define LOOK_NS (360 * WARD_NS_PER_SEC)

/* Ports that are tried in place of one that is in use. */
#define PUBLISH_TRIES 100U

enum kind { FORWARD = 0, PUBLISH, SOCKET };

/* One listening socket. */
struct port {
	struct ward_ports *ports;
	enum kind kind;
	uint16_t asked, listen, target; /* asked: as the policy has it */
	size_t number;			/* of a socket */
	int fd;
	struct event *event;
	struct ward_tally tally; /* of PUBLISH */
	struct event *window;	 /* its end */
};

struct link {
	LIST_ENTRY(link) entry;
	struct ward_ports *ports;
	struct port *port;
	int accepted, connected; /* connected: on the other side */
	int family;		 /* of the attempt under way */
	struct event *event, *clock;
	struct ward_pump *pump;
	uint64_t started_ns;
	struct ward_asker asker; /* of a program inside */
	bool counted;		 /* it has no records of its own */
};

struct ward_ports {
	struct ward_broker *net;
	/* two keys, two families */
	struct port v[4 * WARD_PORTS_MAX + WARD_NET_SOCKETS_MAX];
	size_t n;
	struct ward_buf told; /* ward_ports_published() */
	LIST_HEAD(, link) links;
	size_t n_links, n_published; /* all, and those of PUBLISH */
};

static void loopback(int family, uint16_t port, union ward_sockaddr *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->sa.sa_family = (sa_family_t)family;
	if (family == AF_INET)
		ret->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		ret->v6.sin6_addr = in6addr_loopback;
	ward_sockaddr_set_port(ret, port);
}

static void link_free(struct link *l)
{
	LIST_REMOVE(l, entry);
	l->ports->n_links--;
	l->ports->n_published -= l->port->kind == PUBLISH;
	ward_pump_free(l->pump);
	if (l->event)
		event_free(l->event);
	if (l->clock)
		event_free(l->clock);
	if (l->accepted >= 0)
		close(l->accepted);
	if (l->connected >= 0)
		close(l->connected);
	free(l);
}

static const char *what_of(enum kind kind)
{
	switch (kind) {
	case FORWARD:
		return "to a port of the host that is forwarded";
	case PUBLISH:
		return "from the host to a published port";
	case SOCKET:
		return "to a socket of the host";
	}
	return NULL;
}

/* The facts about r's connections are filled in already; the port knows the rest. */
static int record_port(const struct port *p, int family, struct ward_net_record *r)
{
	union ward_sockaddr to;
	ward_cleanup(ward_buf_clear) struct ward_buf rule = WARD_BUF_INIT;
	bool socket = p->kind == SOCKET;
	const char *path = socket ? p->ports->net->sockets[p->number] : NULL;
	loopback(family, p->target, &to);
	if (socket)
		ward_buf_printf(&rule, "[network] socket = %s", path);
	else
		ward_buf_printf(&rule, "[network] %s = %u:%u",
			p->kind == PUBLISH ? "publish" : "forward", p->asked, p->target);
	r->action = p->kind == PUBLISH ? "accept" : "connect";
	r->proto = socket ? "unix" : "tcp";
	r->path = path;
	r->addr = socket ? NULL : &to;
	r->port = p->target;
	r->rule = ward_buf_str(&rule);
	r->uid = WARD_EVENT_UNKNOWN;
	return ward_net_record(p->ports->net, WARD_EVENT_CONNECT, r);
}

static int record(const struct link *l, const char *text, bool ended, bool failed)
{
	struct ward_net_record r = {.text = text ? text : what_of(l->port->kind),
		.error = failed ? ECONNRESET : 0, /* as it is answered */
		.pid = l->asker.pid,
		.comm = l->asker.comm,
		.why = l->asker.why};
	if (ended && l->pump) {
		r.ended = true;
		r.sent = ward_pump_bytes(l->pump, WARD_PUMP_INSIDE);
		r.received = ward_pump_bytes(l->pump, WARD_PUMP_OUTSIDE);
		r.duration_ns = ward_clock_mono_ns() - l->started_ns;
	}
	return record_port(l->port, l->family, &r);
}

/* One record for the connections of a window that have none of their own. */
static void end_window(struct port *p)
{
	char text[128];
	struct ward_tally sum;
	const uint64_t opened_ns = p->tally.opened_ns;
	if (!ward_tally_close(&p->tally, &sum))
		return;
	snprintf(text, sizeof(text), "%s, counted together%s", what_of(p->kind),
		sum.failed ? "" : "; each reached a server");
	if (sum.failed)
		snprintf(text, sizeof(text),
			"%s, counted together; nobody listened there for %llu of them",
			what_of(p->kind), (unsigned long long)sum.failed);
	struct ward_net_record r = {.text = text,
		.pid = WARD_EVENT_UNKNOWN,
		.ended = true,
		.sent = sum.sent,
		.received = sum.received,
		.duration_ns = ward_clock_mono_ns() - opened_ns,
		.connections = &sum.connections};
	/* If the trail failed, the supervisor deals with the lost records. */
	(void)!record_port(p, AF_INET, &r);
}

static void on_window(evutil_socket_t fd, short what, void *user)
{
	end_window(user);
}

/* True: a window was opened. */
static bool open_window(struct port *p)
{
	uint64_t ns = 0;
	if (!ward_tally_open(&p->tally, ward_clock_mono_ns(), &ns))
		return false;
	const struct timeval tv = ward_clock_timeval(ns);
	event_add(p->window, &tv);
	return true;
}

/* It leads to a server, or (failed) nowhere: the record of it, or its place in a count. */
static int record_start(struct link *l, const char *failed)
{
	char text[128];
	struct port *p = l->port;
	if (!l->counted)
		return record(l, failed, false, failed != NULL);
	if (open_window(p)) {
		/* In the trail before a byte of those that are counted goes. */
		snprintf(text, sizeof(text), "%s; those that follow are counted together",
			failed ? failed : what_of(p->kind));
		return record(l, text, false, failed != NULL);
	}
	p->tally.connections++;
	p->tally.failed += failed != NULL;
	return 0;
}

static void record_end(struct link *l, const char *text)
{
	struct port *p = l->port;
	if (!l->counted) {
		(void)!record(l, text, true, false);
	} else if (l->pump) {
		(void)open_window(p);
		p->tally.sent += ward_pump_bytes(l->pump, WARD_PUMP_INSIDE);
		p->tally.received += ward_pump_bytes(l->pump, WARD_PUMP_OUTSIDE);
	}
}

static int on_pass(
	void *user, enum ward_pump_side from, const uint8_t *data, size_t len, size_t *ret_pass)
{
	*ret_pass = len;
	return 0;
}

static void on_over(void *user, int error)
{
	struct link *l = user;
	record_end(l, error ? strerrordesc_np(-error) : NULL);
	link_free(l);
}

static const struct ward_pump_ops pump_ops = {on_pass, NULL, NULL, on_over};

static uint64_t left_ns(const struct link *l)
{
	return ward_clock_left_ns(
		ward_pump_active_ns(l->pump), l->ports->net->settings->net_idle_ns);
}

static void set_clock(struct link *l)
{
	const uint64_t ns = left_ns(l);
	const struct timeval tv = ward_clock_timeval(ns < LOOK_NS ? ns : LOOK_NS);
	event_add(l->clock, &tv);
}

static void on_clock(evutil_socket_t fd, short what, void *user)
{
	struct link *l = user;
	if (left_ns(l) == 0)
		on_over(l, -ETIMEDOUT);
	else
		set_clock(l);
}

static void begin(struct link *l)
{
	const int on = 1;
	bool publish = l->port->kind == PUBLISH;
	int inside = publish ? l->connected : l->accepted;
	int outside = publish ? l->accepted : l->connected;
	/* Of unix sockets there is no such option. */
	(void)setsockopt(inside, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(outside, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	l->clock = evtimer_new(l->ports->net->base, on_clock, l);
	if (!l->clock || record_start(l, NULL) < 0 ||
		ward_pump_new(l->ports->net, inside, outside, &pump_ops, l, &l->pump) < 0)
		link_free(l);
	else
		set_clock(l);
}

static int try_connect(struct link *l);

/* The server may listen on the other loopback address alone. */
static void try_other(struct link *l, const char *text)
{
	if (l->connected >= 0)
		close(l->connected);
	l->connected = -1;
	if (l->family == AF_INET && l->port->kind != SOCKET) {
		l->family = AF_INET6;
		if (try_connect(l) == 0)
			return;
	}
	(void)!record_start(l, text);
	ward_pump_reset(l->accepted);
	link_free(l);
}

static void on_connected(evutil_socket_t fd, short what, void *user)
{
	struct link *l = user;
	event_free(l->event);
	l->event = NULL;
	if (ward_sockaddr_connected(fd, what & EV_TIMEOUT) != 0)
		try_other(l, "nobody listens there");
	else
		begin(l);
}

static int try_connect(struct link *l)
{
	struct ward_broker *net = l->ports->net;
	const struct timeval patience = ward_clock_timeval(net->settings->net_connect_ns);
	union ward_sockaddr to;
	int r = 0;
	loopback(l->family, l->port->target, &to);
	if (l->port->kind == PUBLISH)
		r = ward_wire_socket(
			&net->wire, WARD_WIRE_INNER, l->family, SOCK_STREAM, NULL, &l->connected);
	else
		l->connected = socket(l->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (r == -EPIPE)
		net->over = true;
	if (r < 0 || l->connected < 0)
		return r < 0 ? r : -errno;
	if (connect(l->connected, &to.sa, ward_sockaddr_len(&to)) < 0 && errno != EINPROGRESS)
		return -errno;
	l->event = event_new(net->base, l->connected, EV_WRITE, on_connected, l);
	return l->event && event_add(l->event, &patience) == 0 ? 0 : -ENOMEM;
}

/* To the socket of the host; that answers at once or not at all. */
static void reach(struct link *l)
{
	struct ward_broker *net = l->ports->net;
	int r = ward_reach_connect(net->reach, l->port->number, &l->connected);
	net->over = net->over || r == -EPIPE;
	if (r == 0)
		begin(l);
	else
		try_other(l, strerrordesc_np(-r));
}

static void on_accept(evutil_socket_t fd, short what, void *user)
{
	struct port *p = user;
	int got = ward_net_accept(p->ports->net, fd);
	struct link *l = NULL;
	bool room = p->ports->n_links < LINKS_MAX &&
		    (p->kind != PUBLISH || p->ports->n_published < PUBLISHED_MAX);
	if (got >= 0 && room)
		l = calloc(1, sizeof(*l));
	if (!l) {
		if (got >= 0)
			ward_net_turn_away(p->ports->net, got);
		return;
	}
	*l = (struct link){.ports = p->ports,
		.port = p,
		.accepted = got,
		.connected = -1,
		.family = AF_INET,
		.started_ns = ward_clock_mono_ns()};
	LIST_INSERT_HEAD(&p->ports->links, l, entry);
	p->ports->n_links++;
	p->ports->n_published += p->kind == PUBLISH;
	l->counted = p->kind == PUBLISH && !ward_tally_alone(&p->tally, l->started_ns);
	l->asker = WARD_ASKER_UNKNOWN;
	/* A client from the host is not a process of the session. */
	if (p->kind != PUBLISH)
		ward_asker_of(p->ports->net, got, &l->asker);
	if (p->kind == SOCKET)
		reach(l);
	else if (try_connect(l) < 0)
		try_other(l, "nobody listens there");
}

/* "8080" or "8080:80"; the policy has checked it. */
static void read_ports(const char *text, struct port *ret)
{
	const char *s = text;
	uint64_t listen = 0, target = 0;
	if (ward_quantity_digits(&s, &listen) && *s++ == ':')
		(void)ward_quantity_digits(&s, &target);
	ret->listen = (uint16_t)listen;
	ret->target = (uint16_t)(target ? target : listen);
}

static int bind_host(const union ward_sockaddr *a, int *ret)
{
	const int on = 1;
	ward_cleanup_fd int fd =
		socket(a->sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
		bind(fd, &a->sa, ward_sockaddr_len(a)) < 0 || listen(fd, SOMAXCONN) < 0)
		return -errno;
	*ret = ward_steal_fd(&fd);
	return 0;
}

/* A port of the host, on both loopbacks. -EADDRINUSE: another program has one of them. */
static int publish_at(struct ward_ports *ports, const struct port *p)
{
	static const int families[] = {AF_INET, AF_INET6};
	ward_cleanup_fd int first = -1;
	for (size_t i = 0; i < 2; i++) {
		union ward_sockaddr a;
		int fd = -1;
		loopback(families[i], p->listen, &a);
		int r = bind_host(&a, &fd);
		/* Without IPv6 there is one address less. */
		if (r < 0 && i == 1 && (r == -EAFNOSUPPORT || r == -EADDRNOTAVAIL))
			continue;
		if (r < 0)
			return r;
		if (i == 0) {
			first = fd;
			continue;
		}
		ports->v[ports->n] = *p;
		ports->v[ports->n++].fd = fd;
	}
	ports->v[ports->n] = *p;
	ports->v[ports->n++].fd = ward_steal_fd(&first);
	return 0;
}

/*
 * The port that is asked for, else one of those above it: another session may have it. bind(2)
 * decides between two that start at once. With none the session goes on, and says so.
 */
static int publish(struct ward_ports *ports, const char *text, struct ward_err *err)
{
	struct port p = {.ports = ports, .kind = PUBLISH, .fd = -1};
	int r = -EADDRINUSE;
	read_ports(text, &p);
	p.asked = p.listen;
	for (unsigned i = 0; r == -EADDRINUSE && i < PUBLISH_TRIES && p.asked + i <= UINT16_MAX;
		i++) {
		p.listen = (uint16_t)(p.asked + i);
		r = publish_at(ports, &p);
	}
	if (r == -EACCES)
		return ward_err_set(err, r,
			"[network] publish = %s: port %u of this host is privileged, and sessions cannot use it; fix: publish = %u:%u",
			text, p.listen, 8000U + p.target % 1000U, p.target);
	if (r < 0 && r != -EADDRINUSE)
		return ward_err_sys(err, r, "[network] publish = %s: listen on port %u of the host",
			text, p.listen);
	ward_buf_printf(
		&ports->told, "%u %u %u\n", p.asked, r == 0 ? (unsigned)p.listen : 0, p.target);
	return ward_buf_error(&ports->told) < 0 ? ward_err_sys(err, -ENOMEM, "ports") : 0;
}

static int add(struct ward_ports *ports, enum kind kind, const char *text, struct ward_err *err)
{
	static const int families[] = {AF_INET, AF_INET6};
	if (kind == PUBLISH)
		return publish(ports, text, err);
	for (size_t i = 0; i < 2; i++) {
		struct port p = {.ports = ports, .kind = kind, .fd = -1};
		union ward_sockaddr a;
		read_ports(text, &p);
		p.asked = p.listen;
		loopback(families[i], p.listen, &a);
		int r = ward_wire_socket(
			&ports->net->wire, WARD_WIRE_INNER, families[i], SOCK_STREAM, &a.sa, &p.fd);
		if (r < 0 && families[i] == AF_INET6 && (r == -EAFNOSUPPORT || r == -EADDRNOTAVAIL))
			continue;
		if (r < 0)
			return ward_err_sys(err, r,
				"[network] forward = %s: listen on port %u inside", text, p.listen);
		ports->v[ports->n++] = p;
	}
	return 0;
}

static int add_all(struct ward_ports *ports, enum kind kind, const struct ward_strings *list,
	struct ward_err *err)
{
	int r = 0;
	if (list->n > WARD_PORTS_MAX)
		return ward_err_set(err, -E2BIG,
			"more than %d published and forwarded ports; name fewer", WARD_PORTS_MAX);
	for (size_t i = 0; r == 0 && i < list->n; i++)
		r = add(ports, kind, list->v[i], err);
	return r;
}

int ward_ports_bind(struct ward_broker *net, struct ward_err *err)
{
	net->ports = calloc(1, sizeof(*net->ports));
	if (!net->ports)
		return ward_err_sys(err, -ENOMEM, "ports");
	net->ports->net = net;
	return add_all(net->ports, PUBLISH, &net->settings->net_publish, err);
}

int ward_ports_open(struct ward_broker *net, struct ward_err *err)
{
	struct ward_ports *ports = net->ports;
	int r = add_all(ports, FORWARD, &net->settings->net_forward, err);
	for (size_t i = 0; r == 0 && i < net->n_sockets; i++)
		ports->v[ports->n++] = (struct port){.ports = ports,
			.kind = SOCKET,
			.number = i,
			.fd = WARD_FD_NET_SOCKETS + (int)i};
	for (size_t i = 0; r == 0 && i < ports->n; i++) {
		struct port *p = &ports->v[i];
		p->event = event_new(net->base, p->fd, EV_READ | EV_PERSIST, on_accept, p);
		p->window = evtimer_new(net->base, on_window, p);
		if (!p->event || !p->window || event_add(p->event, NULL) < 0)
			r = ward_err_sys(err, -ENOMEM, "ports");
	}
	return r;
}

const char *ward_ports_published(struct ward_broker *net)
{
	return net->ports ? ward_buf_str(&net->ports->told) : "";
}

void ward_ports_close(struct ward_broker *net)
{
	struct ward_ports *ports = net->ports;
	if (!ports)
		return;
	while (!LIST_EMPTY(&ports->links))
		on_over(LIST_FIRST(&ports->links), 0);
	for (size_t i = 0; i < ports->n; i++) {
		end_window(&ports->v[i]);
		if (ports->v[i].window)
			event_free(ports->v[i].window);
		if (ports->v[i].event)
			event_free(ports->v[i].event);
		close(ports->v[i].fd);
	}
	ward_buf_clear(&ports->told);
	free(ports);
	net->ports = NULL;
}
