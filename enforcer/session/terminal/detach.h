/* SPDX-License-Identifier: Apache-2.0 */
/* `wardfs run --keep`: the supervisor detaches from its caller when the first command has ended. */
#pragma once

#include "enforcer/session/terminal/relay.h"

/*
 * Writes out what the command left, leaves the terminal and the process group, and gives status to
 * fd (closed). What is still inside writes to nobody from here on.
 */
void ward_keep_let_go(struct ward_relay *relay, const char *session, int fd, int status);
/*
 * The same while the first command still runs: the user typed WARD_RELAY_DETACH twice. Nobody is at
 * its terminal until somebody attaches.
 */
void ward_keep_detach(struct ward_relay *relay, const char *session, int fd);
