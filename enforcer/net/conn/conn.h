/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection of a program inside: accepted, decided, its name resolved, connected outside,
 * bytes moved both ways, recorded at its beginning and its end.
 *
 *   accept → ward_policy_connect()  refused: record, RST
 *     name → resolved; each address through ward_policy_answer(), the first that answers is taken
 *     → connected: record
 *     → moving: what the program sends passes ward_inspect() first, if it goes to a name
 *     → both sides done, or one broken, or idle for too long, or refused: record, closed
 */
#pragma once

#include "enforcer/net/names/name_table.h"

/* A listener has somebody waiting. */
void ward_conn_accept(struct ward_listener *l);

/* Who asked, and how it hears the answer. */
enum ward_conn_front {
	WARD_FRONT_NONE = 0, /* a program that knows of no proxy: connected, or reset */
	WARD_FRONT_CONNECT,  /* HTTP CONNECT: a status line in front of everything */
	WARD_FRONT_HTTP,     /* a request to a URL: the server answers, or we do with a status */
	WARD_FRONT_SOCKS,
};
struct ward_conn_request {
	int fd; /* of the program, non-blocking; taken on success */
	enum ward_conn_front front;
	const char *host; /* a name, in whatever case, or an address */
	uint16_t port;
	const void *first; /* what the program has sent already to the server */
	size_t len;
};
/* A connection that was asked for in words. -ENOMEM, -EMFILE: nothing was begun. */
int ward_conn_request(struct ward_broker *net, const struct ward_conn_request *r) ward_must_check;

/* Another policy is in force: what it does not allow any more is refused in the middle. */
/* A question has ended; refused: a person said no. What waited for it is decided again, or refused.
 */
void ward_conn_answered(struct ward_broker *net, uint32_t question, bool refused);
void ward_conn_reload(struct ward_broker *net);

/* Ends them all, with their records. */
void ward_conn_end_all(struct ward_broker *net, const char *why);
