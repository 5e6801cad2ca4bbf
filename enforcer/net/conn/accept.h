/* SPDX-License-Identifier: Apache-2.0 */
/* Accepting, also when all descriptors are in use. */
#pragma once

#include "enforcer/net/base/net.h"

/*
 * A connection from the listener, non-blocking and close-on-exec; -1: none waits. If all
 * descriptors are in use, the spare one of net is closed for a moment, so that the waiting client
 * is refused at once (reset) and does not wait forever. Otherwise the listener would stay readable,
 * and the loop would never rest.
 */
int ward_net_accept(struct ward_broker *net, int listener);

/*
 * Resets and closes fd, for which there is no room. One record in ten seconds says so, with the
 * number of those since the last one.
 */
void ward_net_turn_away(struct ward_broker *net, int fd);
/* Records those that are counted and have no record so far; at the end of the session. */
void ward_net_turned_away(struct ward_broker *net);
