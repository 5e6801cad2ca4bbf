/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection, between the files that handle it. Private to them. A file calls those that stand
 * behind it here, no other: conn, conn_ask, conn_dial, conn_proxy, conn_stream, conn_end.
 */
#pragma once

#include "enforcer/net/base/asker.h"
#include "enforcer/net/base/net_records.h"
#include "enforcer/net/conn/conn.h"
#include "enforcer/net/decide/decide.h"
#include "enforcer/net/names/resolve.h"
#include "enforcer/net/protocol/inspect.h"

struct event;
struct ward_account;
struct ward_pump;
struct ward_upstream;

struct ward_conn {
	LIST_ENTRY(ward_conn) link;
	struct ward_broker *net;
	int inside, outside;
	struct ward_net_name *name; /* in use; NULL where none of the wire is */
	bool named;		    /* host is a name, no address */
	enum ward_conn_front front;
	uint8_t *first; /* what goes to the server first */
	size_t first_len;
	char host[WARD_NAME_SIZE]; /* the name, or the address as text */
	union ward_sockaddr asked; /* where the program connected to */
	union ward_sockaddr peer;  /* and where that led */
	uint16_t port;
	struct ward_asker asker;
	struct ward_net_why why; /* what allowed it */
	struct ward_account *account;
	uint32_t question;	       /* that it was put to a person by; 0: none */
	bool waits;		       /* for the answer */
	struct event *patience, *left; /* while it waits: its time is over; the program has gone */
	struct event *later;	       /* after a pause for the rate */
	struct ward_resolve_query *query;
	struct ward_answer answer;
	size_t next; /* address to try */
	struct event *connected;
	struct event *clock;
	struct ward_upstream *upstream; /* with mode = proxy, until the stream begins */
	uint64_t number;		/* of the token that the proxy was given; 0: none */
	struct ward_inspect inspect;
	bool abrupt; /* a close outside, even by the end of this process, resets it */
	bool unseen; /* something passed that would have been looked at, but for sni = off */
	struct ward_pump *pump;
	uint64_t started_ns;
	uint64_t asked_ns; /* the proxy */
	bool recorded;	   /* its beginning is in the trail */
};

/* True with [network] mode = proxy. */
static inline bool ward_conn_proxied(const struct ward_conn *c)
{
	return c->net->settings->net == WARD_NET_PROXY;
}

/*
 * conn_end.c: the last words, to the trail and to the program; then c is gone. refuse: place and
 * rule as of a decision (NULL: the default, none). finish: text says why, NULL: it ended by itself.
 */
void ward_conn_refuse(struct ward_conn *c, const char *place, const char *rule, const char *text);
/* The upload budget is used up. */
void ward_conn_refuse_upload(struct ward_conn *c);
/* why is cleared. */
void ward_conn_refuse_why(struct ward_conn *c, struct ward_net_why *why);
void ward_conn_finish(struct ward_conn *c, const char *text);
/* Without a word. Nothing of c may be used after. */
void ward_conn_free(struct ward_conn *c);
/* It waits for no answer any more. */
void ward_conn_ask_forget(struct ward_conn *c);
/* The request to the proxy has ended. */
void ward_conn_forget_proxy(struct ward_conn *c);
/*
 * What the operator of the proxy finds in its log: "by the proxy NAME:PORT, with token N". It is
 * written into ret. NULL: the connection goes through no proxy.
 */
#define WARD_CONN_WAY_MAX 320
const char *ward_conn_way(const struct ward_conn *c, char ret[WARD_CONN_WAY_MAX]);
/* HOST:PORT as it was asked for; the name is the agent's, and escaped. */
void ward_conn_put_asked(const struct ward_conn *c, struct ward_buf *b);
/* What every record of it says; borrowed from c. */
void ward_conn_fill_record(const struct ward_conn *c, struct ward_net_record *r);

/*
 * conn_ask.c: a person decides about c; why says by which rule. It waits for the answer, or is
 * refused until there is one; why is cleared. May end c.
 */
void ward_conn_ask(struct ward_conn *c, struct ward_net_why *why);
/* A person said no. c is gone. */
void ward_conn_ask_refused(struct ward_conn *c);

/* conn_dial.c: finds out where to connect to, or has it in c->answer already; connects. May end c.
 */
void ward_conn_dial(struct ward_conn *c, const char *host);
void ward_conn_try_next(struct ward_conn *c);

/* conn_proxy.c: asks the proxy that c->outside is connected to for the destination. May end c. */
void ward_conn_ask_proxy(struct ward_conn *c);

/* conn_stream.c: c->outside leads to the destination: records it, then bytes move. May end c. */
void ward_conn_stream(struct ward_conn *c);
/* sni may be another now. False: what has passed may be what it forbids. */
bool ward_conn_stream_reload(struct ward_conn *c);
/* Its clock rang. May end c. */
void ward_conn_stream_clock(struct ward_conn *c);
