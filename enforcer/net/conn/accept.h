/* SPDX-License-Identifier: Apache-2.0 */
/* Accepting, also when all descriptors are in use. */
#pragma once

#include "enforcer/net/base/net.h"

/*
 * A connection from the listener, non-blocking and close-on-exec; -1: there is none. Where all
 * descriptors are in use, the spare one of net is given up for a moment, so that whoever waits is
 * refused at once (reset), and does not wait for ever; the listener would stay readable, and the
 * loop never rest.
 */
int ward_net_accept(struct ward_broker *net, int listener);

/* Resets and closes fd, for which there is no room; a record says so, not of each one in a row. */
void ward_net_turn_away(struct ward_broker *net, int fd);
