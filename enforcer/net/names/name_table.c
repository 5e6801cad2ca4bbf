/* SPDX-License-Identifier: Apache-2.0 */
/* Gives each name that the agent may reach its synthetic addresses and listeners. */
#include "enforcer/net/names/name_table.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/clock.h"

/* 198.18.1.0 and 2001:2:0:1:: are index 0. */
#define FIRST4 0xc6120100U
static const struct in6_addr first6 = {.s6_addr = {0x20, 0x01, 0x00, 0x02, 0, 0, 0, 1}};

struct ward_net_names {
	const struct ward_listener_ops *ops;
	struct ward_net_name *v; /* WARD_NAMES_MAX */
	unsigned n; /* of them were ever used, from the first on; all others are zero */
	struct ward_listener *blocks;
	size_t n_blocks;
};

static void close_listeners(struct ward_listener *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (v[i].udp)
			v[i].net->names->ops->gone(&v[i]);
		if (v[i].event)
			event_free(v[i].event);
		close(v[i].fd);
	}
	free(v);
}

static void connection_ready(evutil_socket_t fd, short what, void *user)
{
	struct ward_listener *l = user;
	l->net->names->ops->connection(l);
}

static void datagrams_ready(evutil_socket_t fd, short what, void *user)
{
	struct ward_listener *l = user;
	l->net->names->ops->datagrams(l);
}

static int listen_at(struct ward_broker *net, struct ward_net_name *name,
	const union ward_sockaddr *addr, bool udp, struct ward_listener *l)
{
	int r = ward_wire_socket(&net->wire, WARD_WIRE_OUTER, addr->sa.sa_family,
		udp ? SOCK_DGRAM : SOCK_STREAM, &addr->sa, &l->fd);
	if (r < 0) {
		net->over = net->over || r == -EPIPE;
		return r;
	}
	l->net = net;
	l->name = name;
	l->udp = udp;
	l->port = ward_sockaddr_port(addr);
	l->event = event_new(net->base, l->fd, EV_READ | EV_PERSIST,
		udp ? datagrams_ready : connection_ready, l);
	if (l->event && event_add(l->event, NULL) == 0)
		return 0;
	if (l->event)
		event_free(l->event);
	close(l->fd);
	return -ENOMEM;
}

/* Listeners on all ports of reach at v4 and, where there is IPv6, v6. */
static int listen_all(struct ward_broker *net, struct ward_net_name *name,
	const struct ward_reach *reach, const union ward_sockaddr *v4,
	const union ward_sockaddr *v6, struct ward_listener **ret, size_t *ret_n)
{
	size_t n = 0, ports = reach->n_tcp + reach->n_udp;
	struct ward_listener *v = calloc(2 * ports + 1, sizeof(*v));
	int r = v ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < 2 * ports; i++) {
		union ward_sockaddr a = i % 2 ? *v6 : *v4;
		size_t k = i / 2;
		bool udp = k >= reach->n_tcp;
		if (i % 2 && !net->wire.ipv6)
			continue;
		ward_sockaddr_set_port(&a, udp ? reach->udp[k - reach->n_tcp] : reach->tcp[k]);
		r = listen_at(net, name, &a, udp, &v[n]);
		n += r == 0;
	}
	if (r < 0) {
		close_listeners(v, n);
		return r;
	}
	*ret = v;
	*ret_n = n;
	return 0;
}

/* For addresses that no name stands for. */
static int listen_blocks(struct ward_broker *net)
{
	struct ward_reach reach;
	const union ward_sockaddr v4 = {.v4 = {.sin_family = AF_INET}};
	const union ward_sockaddr v6 = {.v6 = {.sin6_family = AF_INET6}};
	ward_policy_reach_blocks(net->policy, &reach);
	return listen_all(net, NULL, &reach, &v4, &v6, &net->names->blocks, &net->names->n_blocks);
}

static int listen_name(
	struct ward_broker *net, struct ward_net_name *n, const struct ward_reach *reach)
{
	const union ward_sockaddr v4 = {.v4 = {.sin_family = AF_INET, .sin_addr = n->v4}};
	const union ward_sockaddr v6 = {.v6 = {.sin6_family = AF_INET6, .sin6_addr = n->v6}};
	return listen_all(net, n, reach, &v4, &v6, &n->listeners, &n->n_listeners);
}

int ward_net_names_open(
	struct ward_broker *net, const struct ward_listener_ops *ops, struct ward_err *err)
{
	net->names = calloc(1, sizeof(*net->names));
	if (net->names)
		net->names->v = calloc(WARD_NAMES_MAX, sizeof(*net->names->v));
	if (!net->names || !net->names->v)
		return ward_err_sys(err, -ENOMEM, "names");
	net->names->ops = ops;
	int r = listen_blocks(net);
	return r < 0 ? ward_err_sys(err, r, "listen for the addresses that the policy allows") : 0;
}

void ward_net_names_close(struct ward_broker *net)
{
	struct ward_net_names *t = net->names;
	if (!t)
		return;
	for (unsigned i = 0; t->v && i < t->n; i++)
		close_listeners(t->v[i].listeners, t->v[i].n_listeners);
	close_listeners(t->blocks, t->n_blocks);
	free(t->v);
	free(t);
	net->names = NULL;
}

static void forget(struct ward_net_name *n)
{
	close_listeners(n->listeners, n->n_listeners);
	n->listeners = NULL;
	n->n_listeners = 0;
	n->text[0] = 0;
}

static struct ward_net_name *first_use(struct ward_net_names *t)
{
	const unsigned i = t->n++;
	struct ward_net_name *n = &t->v[i];
	n->index = i;
	n->v4.s_addr = htonl(FIRST4 + i);
	n->v6 = first6;
	n->v6.s6_addr[14] = (uint8_t)(i >> 8);
	n->v6.s6_addr[15] = (uint8_t)i;
	return n;
}

/* An unused slot, else the one that was used longest ago and is not in use; NULL: none. */
static struct ward_net_name *make_room(struct ward_net_names *t)
{
	struct ward_net_name *oldest = NULL;
	for (unsigned i = 0; i < t->n; i++) {
		struct ward_net_name *n = &t->v[i];
		if (!n->text[0])
			return n;
		if (!n->users && (!oldest || n->used_ns < oldest->used_ns))
			oldest = n;
	}
	if (t->n < WARD_NAMES_MAX)
		return first_use(t);
	if (oldest)
		forget(oldest);
	return oldest;
}

int ward_net_names_get(struct ward_broker *net, const char *text, struct ward_net_name **ret)
{
	struct ward_net_names *t = net->names;
	struct ward_reach reach;
	size_t len = strlen(text);
	if (len == 0 || len >= WARD_NAME_SIZE)
		return -EACCES;
	for (unsigned i = 0; i < t->n; i++) {
		if (strcmp(t->v[i].text, text) == 0) {
			t->v[i].used_ns = ward_clock_mono_ns();
			*ret = &t->v[i];
			return 0;
		}
	}
	ward_policy_reach(net->policy, text, &reach);
	if (reach.n_tcp + reach.n_udp == 0)
		return -EACCES;
	struct ward_net_name *n = make_room(t);
	if (!n)
		return -ENOSPC;
	int r = listen_name(net, n, &reach);
	if (r < 0)
		return r;
	memcpy(n->text, text, len + 1);
	n->used_ns = ward_clock_mono_ns();
	*ret = n;
	return 0;
}

int ward_net_names_reload(struct ward_broker *net)
{
	struct ward_net_names *t = net->names;
	close_listeners(t->blocks, t->n_blocks);
	t->blocks = NULL;
	t->n_blocks = 0;
	int r = listen_blocks(net);
	for (unsigned i = 0; r == 0 && i < t->n; i++) {
		struct ward_net_name *n = &t->v[i];
		struct ward_reach reach;
		if (!n->text[0])
			continue;
		close_listeners(n->listeners, n->n_listeners);
		n->listeners = NULL;
		n->n_listeners = 0;
		ward_policy_reach(net->policy, n->text, &reach);
		if (reach.n_tcp + reach.n_udp)
			r = listen_name(net, n, &reach);
		else
			n->text[0] = 0; /* asked again, it does not exist */
	}
	return r;
}

struct ward_net_name *ward_net_names_find(struct ward_broker *net, const union ward_sockaddr *addr)
{
	uint32_t i = UINT32_MAX;
	if (addr->sa.sa_family == AF_INET)
		i = ntohl(addr->v4.sin_addr.s_addr) - FIRST4;
	else if (memcmp(&addr->v6.sin6_addr, &first6, 14) == 0)
		i = (uint32_t)addr->v6.sin6_addr.s6_addr[14] << 8 | addr->v6.sin6_addr.s6_addr[15];
	if (i >= net->names->n || !net->names->v[i].text[0])
		return NULL;
	return &net->names->v[i];
}

static bool listed(const struct ward_listener *v, size_t n, uint16_t port, bool udp)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].port == port && v[i].udp == udp)
			return true;
	return false;
}

bool ward_net_names_listens(struct ward_broker *net, const union ward_sockaddr *addr, bool udp)
{
	const struct ward_net_name *n = ward_net_names_find(net, addr);
	uint16_t port = ward_sockaddr_port(addr);
	return (n && listed(n->listeners, n->n_listeners, port, udp)) ||
	       listed(net->names->blocks, net->names->n_blocks, port, udp);
}
