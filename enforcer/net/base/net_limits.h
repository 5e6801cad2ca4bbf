/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [network] upload, rate and connections. Of upload there is one account a session; of the other
 * two one a destination, by the name or address that the agent asked for.
 */
#pragma once

#include "enforcer/net/base/net.h"

struct ward_net_limits;
struct ward_account; /* of one destination; shared by its connections */

int ward_net_limits_open(struct ward_broker *net, struct ward_err *err) ward_must_check;
void ward_net_limits_close(struct ward_broker *net);

/*
 * One connection more to host. *ret is given back with ward_net_limits_leave(). -EUSERS: it has as
 * many as it may.
 */
int ward_net_limits_enter(
	struct ward_broker *net, const char *host, struct ward_account **ret) ward_must_check;
void ward_net_limits_leave(struct ward_broker *net, struct ward_account *a);

/* That many bytes are to leave the session. -EDQUOT: they may not. */
int ward_net_limits_upload(struct ward_broker *net, size_t bytes) ward_must_check;

/* Bytes were moved, either way. */
void ward_net_limits_moved(struct ward_broker *net, struct ward_account *a, size_t bytes);
/* How long the rate has nothing be moved, whichever connection moved what was too much; in ns. */
uint64_t ward_net_limits_wait(struct ward_broker *net, const struct ward_account *a);
