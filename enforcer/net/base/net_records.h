/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the broker puts into the trail. A record that cannot be written makes the operation fail
 * (-EIO), as everywhere; a full ring makes the broker wait.
 */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/net/base/net.h"

/* One question, decision or end. Texts are borrowed; what is NULL or 0 is left out. */
struct ward_net_record {
	/* Of a refusal: connect, resolve. Of what came in from the host: accept. */
	const char *action;
	const char *proto; /* tcp, udp, http, connect, socks5, unix; of a question its type */
	const char *host;  /* the name asked for */
	const char *path;  /* of a unix socket */
	const union ward_sockaddr *addr;
	uint16_t port;
	const char *sni;
	const char *place, *rule; /* what decided: "FILE:LINE", "[network] allow = …" */
	const char *text;	  /* for people */
	const char *question;	  /* refused until a person has answered this one */
	bool asked;		  /* refused, because a person decides */
	int error;		  /* refused: what the program sees */
	uint64_t uid, pid;	  /* WARD_EVENT_UNKNOWN: not known */
	const char *comm;	  /* the name of that process */
	const char *why; /* the pid is not known, which the record says; NULL: or nobody looked */
	const char *answers; /* of a question: addresses that are given, each ended by a NUL */
	size_t answers_len;
	bool ended; /* sent, received and duration are known */
	uint64_t sent, received, duration_ns;
	const uint64_t *connections; /* how many it stands for; NULL: one */
};

/*
 * A grant allows what r says: counts one use of it, and says so to the trail and the supervisor.
 * -EDQUOT: it is spent, or has ended.
 */
struct ward_grant_held;
int ward_net_record_use(struct ward_broker *net, const struct ward_net_record *r,
	struct ward_grant_held *held) ward_must_check;
/* A grant has ended: "expired" or "spent". */
int ward_net_record_expire(struct ward_broker *net, const struct ward_grant_held *held,
	const char *result) ward_must_check;
/* kind CONNECT or DNS: allowed; DENY: refused. */
int ward_net_record(struct ward_broker *net, enum ward_event_kind kind,
	const struct ward_net_record *r) ward_must_check;
