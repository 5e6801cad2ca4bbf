/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel refuses in the broker's namespace, because nothing listens there: seen by the
 * packet socket of the wire, put into the trail; then the kernel's answer is let go. One record a
 * destination and protocol every ten seconds; of what the socket's buffer cannot take, a record
 * says how much it was.
 */
#pragma once

#include "enforcer/net/base/net.h"

int ward_refused_open(struct ward_broker *net, struct ward_err *err) ward_must_check;
void ward_refused_close(struct ward_broker *net);

/* Takes both ends out of a packet without link header. False: it is not ours. Pure. */
bool ward_refused_parse(const uint8_t *data, size_t len, union ward_sockaddr *ret_from,
	union ward_sockaddr *ret, bool *ret_udp);

/*
 * The checksum of a TCP segment in a packet without link header, which may have been left to a
 * network card. False: it is no such packet, or one with extension headers. Pure.
 */
bool ward_refused_seal(uint8_t *data, size_t len);
