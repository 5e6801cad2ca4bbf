/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grants of hosts (policy/grants.h) come and go while the broker serves. A use is a connection.
 * When a grant has ended, connections that nothing else allows are closed.
 */
#pragma once

#include "enforcer/ipc/msg.h"
#include "enforcer/net/base/net.h"

int ward_net_grants_open(struct ward_broker *net, struct ward_err *err) ward_must_check;
void ward_net_grants_close(struct ward_broker *net);

/*
 * WARD_MSG_NET_GRANT or WARD_MSG_NET_REVOKE. -EBADMSG: neither; another negative errno: the broker
 * cannot go on.
 */
int ward_net_grants_message(struct ward_broker *net, struct ward_msg_reader *r) ward_must_check;
