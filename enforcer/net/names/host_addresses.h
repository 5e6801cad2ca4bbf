/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is near: addresses of this host and of the networks that it is in. They count as private,
 * whatever their numbers say: a name must not lead there (rebinding). One that comes while the
 * session runs (a VPN, another lease) counts from then on: the kernel is asked when an address is
 * to be decided, and again when it has told of a change (rtnetlink(7)).
 */
#pragma once

#include "enforcer/net/base/net.h"

/* Opens what asks; before confinement. Nothing is asked yet. */
int ward_near_open(struct ward_broker *net, struct ward_err *err) ward_must_check;
void ward_near_close(struct ward_broker *net);
/* True as well where the kernel does not answer: what may be near is not reached. */
bool ward_near_has(const struct ward_broker *net, const union ward_sockaddr *a);
