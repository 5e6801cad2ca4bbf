/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The maker of sockets in one network namespace: a process that answers requests for sockets until
 * its channel ends. It has no capability but CAP_NET_BIND_SERVICE in that namespace, and a seccomp
 * filter that lets it make, bind and hand over sockets and nothing else.
 *
 * Its question (child.h) is {u32 family, u32 type, bytes address}: 4 or 16 bytes of address and two
 * of port, network order; empty: not bound. With the answer comes the socket.
 *
 * Before the first question it says WARD_MAKER_READY {u32 ipv6}, with descriptors of its side, or
 * WARD_MAKER_FAILED {str text}.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"

enum ward_maker_type { WARD_MAKER_READY = 104, WARD_MAKER_FAILED };

/* Gives up what it does not need. bind_low: keeps the right to bind ports below 1024. */
int ward_maker_confine(bool bind_low, struct ward_err *err) ward_must_check;

/*
 * Answers requests on channel; returns when it ends. shared: sockets for one address and for all
 * may have the same port (SO_REUSEPORT), the closer one gets what comes. Not where the agent, which
 * has the same uid, could bind another one beside.
 */
void ward_maker_serve(int channel, bool shared);
