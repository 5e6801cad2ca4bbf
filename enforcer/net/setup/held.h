/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a refusal. The kernel answers a connection that nothing listens for with RST, inside
 * the agent's own call of connect(2): before anybody could ask whose socket it was, the socket is
 * closed. So such answers take a way of their own, and wait there until wardfs-net has looked
 * (conn/refused.c) and lets them go:
 *
 *   a rule     TCP to the agent from no socket of ours: the kernel's own answers. Sockets of ours
 *              have WARD_HELD_MARK.
 *   held0      where the rule leads: one end of a veth pair in the broker's namespace
 *   held1      its other end, where a packet socket takes them
 *
 * Also a connection that is over long since is refused so, when its other end says something.
 */
#pragma once

#include "enforcer/net/setup/link.h"

/* SO_MARK of listening and accepted sockets in the broker's namespace. */
#define WARD_HELD_MARK 1

/* An end of the wire: 4 and 16 bytes. */
struct ward_held_agent {
	const uint8_t *v4;
	const uint8_t *v6; /* NULL: there is no IPv6 */
};

/*
 * In the broker's namespace, with CAP_NET_ADMIN and CAP_NET_RAW there; wire: the name of its end of
 * the wire. Returns the packet socket, the caller's; -1: this kernel cannot, and all is as if
 * nobody had asked: refusals go at once.
 */
int ward_held_set_up(int link, const char *wire, const struct ward_held_agent *to);
