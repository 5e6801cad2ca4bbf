/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [network] publish, forward, socket: single TCP ports of the two loopbacks, and unix sockets of
 * the host, led through.
 *
 *   publish = 8080:80    127.0.0.1:8080 (or ::1) of the host leads to port 80 inside
 *   forward = 11434      localhost:11434 inside leads to that port of the host
 *
 *   socket = /run/x.sock that path inside leads to that socket of the host
 *
 * The first number is where is listened, the second where it leads. Each connection is recorded. Of
 * a socket, bytes are moved and nothing else: no descriptors, no credentials.
 */
#pragma once

#include "enforcer/net/base/net.h"

/* Of one key. */
#define WARD_PORTS_MAX 64

/*
 * Binds the host's ports; before confinement. One that is in use is replaced by the next free one.
 * -EACCES names the port.
 */
int ward_ports_bind(struct ward_broker *net, struct ward_err *err) ward_must_check;
/* Binds the ports inside, begins to listen. */
int ward_ports_open(struct ward_broker *net, struct ward_err *err) ward_must_check;
/* Borrowed: of each published port a line "ASKED PORT INSIDE", PORT 0: none was free. */
const char *ward_ports_published(struct ward_broker *net);
void ward_ports_close(struct ward_broker *net);
