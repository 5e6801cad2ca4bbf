/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The maker of sockets in one network namespace: a process that answers requests for sockets until
 * its channel ends. It has no capabilities but CAP_NET_BIND_SERVICE, and CAP_NET_RAW for SO_MARK,
 * in that namespace, and a seccomp filter that lets it make, bind and hand over sockets of TCP and
 * UDP and nothing else.
 *
 * Its question (child.h) is {u32 family, u32 type, bytes address}: 4 or 16 bytes of address and two
 * of port, network order; empty: not bound. With the answer comes the socket.
 *
 * Before the first question it says WARD_MAKER_READY {u32 ipv6}, with descriptors of its side, or
 * WARD_MAKER_FAILED {str text}.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "enforcer/base/err.h"

enum ward_maker_type { WARD_MAKER_READY = 104, WARD_MAKER_FAILED };

/* What a maker is for. */
struct ward_maker_of {
	/*
	 * Sockets for one address and for all may have the same port (SO_REUSEPORT), the closer one
	 * gets what comes. Not where the agent, which has the same uid, could bind another one
	 * beside.
	 */
	bool shared;
	bool bind_low; /* keeps the right to bind ports below 1024 */
	uint32_t mark; /* of every socket (SO_MARK), which keeps the right to set it; 0: none */
};

/* Gives up what it does not need. */
int ward_maker_confine(const struct ward_maker_of *of, struct ward_err *err) ward_must_check;

/* Answers requests on channel; returns when it ends. */
void ward_maker_serve(int channel, const struct ward_maker_of *of);
