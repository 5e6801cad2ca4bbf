/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of wardfs-net share: one context, passed first. One thread; nothing is locked. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "audit/ring.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/net/protocol/token.h"
#include "enforcer/net/setup/wire.h"
#include "enforcer/policy/policy.h"

struct event_base;
struct ward_conn;
struct ward_front;
struct ward_net_limits;
struct ward_ports;
struct ward_net_names;
struct ward_nameserver;
struct ward_refused;
struct ward_resolver;
struct ward_blocks;
struct ward_pipe;
struct ward_udp_flow;

/* A name as DNS can hold it (RFC 1035, 2.3.4), without the last dot, and NUL. */
#define WARD_NAME_SIZE 256

LIST_HEAD(ward_conn_list, ward_conn);
LIST_HEAD(ward_pipe_list, ward_pipe);

struct ward_broker {
	struct event_base *base;
	struct ward_policy *policy;
	const struct ward_settings *settings; /* of policy */
	struct ward_grants *grants;	      /* of hosts (conn/net_grants.h) */
	struct ward_net_questions
		*questions;	    /* to a person (conn/net_questions.h); NULL: none yet */
	struct event *grants_clock; /* rings when the next one's time is over */
	struct ward_ring *ring;
	struct ward_wire wire;
	char *session;
	char *via; /* record member `via` of what comes from inside; "": none */
	struct ward_token_signer *signer; /* NULL: the proxy gets no token */
	struct ward_net_names *names;
	struct ward_nameserver *nameserver;
	struct ward_refused *refused;
	struct ward_resolver *resolver;
	struct ward_blocks *blocks;
	struct ward_front *front;
	struct ward_net_limits *limits;
	struct ward_ports *ports;
	char *sockets[WARD_NET_SOCKETS_MAX]; /* paths of the host that are led in */
	size_t n_sockets;
	int looker;	  /* to the process that knows processes; -1: nobody does (looker.h) */
	bool looker_late; /* it did not answer in time: it is not asked again */
	uint32_t diag_seq;
	int reach; /* to the process that connects to them; -1: there are none (reach.h) */
	struct ward_conn_list conns;
	size_t n_conns;
	LIST_HEAD(, ward_udp_flow) flows;
	size_t n_flows;
	struct ward_pipe_list pipes; /* that are free (pipes.h) */
	size_t n_pipes;		     /* free or taken */
	int spare; /* a descriptor to give up when there are no more (accept.h); -1: given up */
	uint64_t turned_away_ns; /* when that was recorded last (accept.h) */
	uint64_t n_turned_away;	 /* since then */
	bool dismissed;		 /* the supervisor needs it no more */
	bool over;		 /* the supervisor is gone, or something that cannot be fixed */
};

/* An address and port of either family. */
union ward_sockaddr {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* "192.0.2.1", "2001:db8::1"; "[…]:443" with the port. */
#define WARD_ADDRESS_TEXT_MAX 64
void ward_sockaddr_text(const union ward_sockaddr *a, char ret[WARD_ADDRESS_TEXT_MAX]);
void ward_sockaddr_text_port(const union ward_sockaddr *a, char ret[WARD_ADDRESS_TEXT_MAX]);
/* An address of either family as text, with this port; an IPv4 address in IPv6 form is what it is.
 */
bool ward_sockaddr_parse(const char *text, uint16_t port, union ward_sockaddr *ret) ward_must_check;
uint16_t ward_sockaddr_port(const union ward_sockaddr *a);
void ward_sockaddr_set_port(union ward_sockaddr *a, uint16_t port);
socklen_t ward_sockaddr_len(const union ward_sockaddr *a);
/* Turns an IPv4 address in IPv6 form into an IPv4 address. */
void ward_sockaddr_unmap(union ward_sockaddr *a);
/*
 * How an attempt to connect went, where its event says that it ended or that its time is over: 0 or
 * a positive errno. What is connected is, also where we looked too late.
 */
int ward_sockaddr_connected(int fd, bool timed_out);
bool ward_sockaddr_same_host(const union ward_sockaddr *a, const union ward_sockaddr *b);
