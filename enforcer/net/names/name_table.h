/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that the agent has asked for and may reach, each with a synthetic address of either
 * family and a listener on every port that the policy gives it. A name keeps its addresses for as
 * long as it is here; when there are too many, the one not used for longest goes.
 */
#pragma once

#include "enforcer/net/base/net.h"
#include "enforcer/policy/explain.h"

/* Names at once; each takes two listeners a port. */
#define WARD_NAMES_MAX 1024
/* One name's ports that are listened on at once, of TCP and UDP together. */
#define WARD_NAME_PORTS_MAX 64

struct event;
struct ward_net_name;

struct ward_listener {
	struct ward_broker *net;
	struct ward_net_name *name; /* NULL: of the blocks of addresses */
	struct event *event;
	int fd;
	uint16_t port;
	bool udp;
};

struct ward_net_name {
	char text[WARD_NAME_SIZE]; /* lower case; "": an unused slot */
	unsigned index;
	struct in_addr v4;
	struct in6_addr v6;
	struct ward_listener *listeners;
	size_t n_listeners;
	size_t users; /* connections */
	uint64_t used_ns;
};

/* What a listener does with its events; other files define it. No member is NULL. */
struct ward_listener_ops {
	void (*connection)(struct ward_listener *l); /* somebody waits to be accepted */
	void (*datagrams)(struct ward_listener *l);  /* there are some; l->udp */
	void (*gone)(struct ward_listener *l);	     /* it goes; l->udp */
};

/* ops must outlive it. */
int ward_net_names_open(struct ward_broker *net, const struct ward_listener_ops *ops,
	struct ward_err *err) ward_must_check;
void ward_net_names_close(struct ward_broker *net);

/*
 * The entry of a plain, lower-case name that the policy lets the agent reach on some port, made if
 * need be. *ret is borrowed, valid until the loop runs again unless users is raised. -EACCES: on no
 * port; -ENOSPC: too many, all in use; else as socket(2).
 */
int ward_net_names_get(
	struct ward_broker *net, const char *text, struct ward_net_name **ret) ward_must_check;

/* Another policy is in force: listeners as it has them; addresses stay. Flows of datagrams end. */
int ward_net_names_reload(struct ward_broker *net) ward_must_check;

/* The name behind a synthetic address; NULL: none. */
struct ward_net_name *ward_net_names_find(struct ward_broker *net, const union ward_sockaddr *addr);

/* True if something listens at this address and port, so that a packet to it is accepted. */
bool ward_net_names_listens(struct ward_broker *net, const union ward_sockaddr *addr, bool udp);
