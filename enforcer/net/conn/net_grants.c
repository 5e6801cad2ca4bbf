/* SPDX-License-Identifier: Apache-2.0 */
/* Puts grants of hosts in force and ends them. */
#include "enforcer/net/conn/net_grants.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/net/base/net_records.h"
#include "enforcer/net/conn/conn.h"
#include "enforcer/net/names/name_table.h"
#include "enforcer/policy/grants.h"

/* Names lead elsewhere, or nowhere; what is open is asked about again. */
static int changed(struct ward_broker *net)
{
	int r = ward_net_names_reload(net);
	if (r == 0)
		ward_conn_reload(net);
	return r;
}

static void ring_for_next(struct ward_broker *net)
{
	const uint64_t next = ward_grants_next_end(net->grants), now = ward_clock_boot_ns();
	if (next == UINT64_MAX)
		return;
	const struct timeval tv = ward_clock_timeval(next > now ? next - now : 0);
	if (event_add(net->grants_clock, &tv) < 0)
		net->over = true;
}

struct ended {
	struct ward_broker *net;
	size_t n;
};

static void on_ended(void *user, struct ward_grant_held *held, enum ward_grant_end end)
{
	struct ended *e = user;
	/* The last use has reported itself; the supervisor records a person's decision. */
	if (end == WARD_GRANT_SPENT)
		return;
	e->n++;
	if (end == WARD_GRANT_EXPIRED && ward_net_record_expire(e->net, held, "expired") < 0)
		e->net->over = true;
}

static void on_clock(evutil_socket_t fd, short what, void *user)
{
	struct ward_broker *net = user;
	struct ended e = {.net = net};
	ward_grants_ended(net->grants, ward_clock_boot_ns(), on_ended, &e);
	if (e.n && changed(net) < 0)
		net->over = true;
	ring_for_next(net);
}

int ward_net_grants_open(struct ward_broker *net, struct ward_err *err)
{
	int r = ward_grants_new(&net->grants);
	if (r == 0) {
		net->grants_clock = evtimer_new(net->base, on_clock, net);
		r = net->grants_clock ? 0 : -ENOMEM;
	}
	if (r < 0)
		return ward_err_sys(err, r, "grants");
	ward_policy_use_grants(net->policy, net->grants);
	return 0;
}

void ward_net_grants_close(struct ward_broker *net)
{
	if (net->grants_clock)
		event_free(net->grants_clock);
	net->grants_clock = NULL;
	ward_grants_free(net->grants);
	net->grants = NULL;
}

int ward_net_grants_message(struct ward_broker *net, struct ward_msg_reader *r)
{
	ward_cleanup(ward_grant_clear) struct ward_grant g = {.rights = 0};
	ward_cleanup_free char *id = NULL;
	int e;
	if (r->type == WARD_MSG_NET_GRANT) {
		e = ward_grant_get(r, &g);
		if (e == 0)
			e = ward_msg_done(r);
		if (e == 0)
			e = ward_grants_add(net->grants, &g, NULL, NULL);
	} else if (r->type == WARD_MSG_NET_REVOKE) {
		id = ward_msg_get_str(r);
		e = id ? ward_msg_done(r) : -EBADMSG;
		/* One that has ended by itself meanwhile is over, as was wanted. */
		if (e == 0 && ward_grants_revoke(net->grants, id) == 0)
			on_clock(-1, 0, net);
	} else {
		e = -EBADMSG;
	}
	if (e == 0)
		e = changed(net);
	if (e == 0)
		ring_for_next(net);
	return e;
}
