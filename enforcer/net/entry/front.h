/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy inside, for programs that insist on one: HTTP (CONNECT, and requests with an absolute
 * http:// URL) and SOCKS5 on one port of the broker's end of the wire. What is asked for is decided
 * as any connection is; a refusal says so in the protocol's own words.
 */
#pragma once

#include "enforcer/net/base/net.h"

int ward_front_open(struct ward_broker *net, struct ward_err *err) ward_must_check;
void ward_front_close(struct ward_broker *net);
