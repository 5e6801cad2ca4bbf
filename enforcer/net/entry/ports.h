/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [network] publish, forward, socket: single TCP ports of the two loopbacks, and unix sockets of
 * the host, led through.
 *
 *   publish = 8080:80    who connects to 127.0.0.1:8080 (or ::1) of the host reaches 80 inside
 *   forward = 11434      who connects to localhost:11434 inside reaches that port of the host
 *
 *   socket = /run/x.sock who connects to that path inside reaches that socket of the host
 *
 * The first number is where is listened, the second where it leads. Each connection is recorded. Of
 * a socket, bytes are moved and nothing else: no descriptors, no credentials.
 */
#pragma once

#include "enforcer/net/base/net.h"

/* Of one key. */
#define WARD_PORTS_MAX 64

/* Binds the host's ports; before confinement. -EADDRINUSE, -EACCES name the port. */
int ward_ports_bind(struct ward_broker *net, struct ward_err *err) ward_must_check;
/* Binds the ports inside, begins to listen. */
int ward_ports_open(struct ward_broker *net, struct ward_err *err) ward_must_check;
void ward_ports_close(struct ward_broker *net);
