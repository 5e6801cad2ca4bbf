/* SPDX-License-Identifier: Apache-2.0 */
/* The broker's questions to the policy, for both protocols, and the words for the trail. */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/net/base/net.h"
#include "enforcer/net/names/resolve.h"

struct ward_net_why {
	struct ward_buf place, rule;  /* what decided: "FILE:LINE"; "[network] …" */
	const char *text;	      /* for people; NULL: the rule says all */
	struct ward_grant_held *held; /* the grant that allowed it; NULL: none had to */
	bool asked;		      /* a person decides */
	union ward_sockaddr addr;     /* the address that was refused; family 0: none */
};
void ward_net_why_clear(struct ward_net_why *w);

/*
 * May the agent go to host (a name; NULL: the address to) on the port of to? open: it is there
 * already, so a grant whose uses are spent counts as well.
 */
bool ward_decide_destination(struct ward_broker *net, const char *host,
	const union ward_sockaddr *to, bool udp, bool open, struct ward_net_why *ret_why);

/* What a person types to permit HOST:PORT, which a line that reads `rule` refused. */
void ward_decide_permit(const char *host_port, const char *rule, struct ward_buf *b);

/*
 * May it go to this address, where a name or it itself has led? near: it is this host's own, as
 * the caller has seen.
 */
bool ward_decide_address(struct ward_broker *net, const union ward_sockaddr *to, bool udp,
	bool near, struct ward_net_why *ret_why);

/* May the answer about a name be used: every alias and every address of it? One bad one spoils it.
 */
bool ward_decide_answer(struct ward_broker *net, const struct ward_answer *answer, uint16_t port,
	bool udp, struct ward_net_why *ret_why);
