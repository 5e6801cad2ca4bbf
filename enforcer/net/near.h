/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is near: addresses of this host and of the networks that it is in. They count as private,
 * whatever their numbers say: a name must not lead there (rebinding).
 */
#pragma once

#include "enforcer/net/net.h"

/* Asks the kernel for the host's interfaces; before confinement. */
int ward_near_open(struct ward_broker *net, struct ward_err *err) ward_must_check;
void ward_near_close(struct ward_broker *net);
bool ward_near_has(const struct ward_broker *net, const union ward_sockaddr *a);
