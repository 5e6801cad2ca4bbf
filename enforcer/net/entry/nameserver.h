/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name server of the session, at the broker's end of the wire, UDP and TCP port 53. It answers
 * from the policy alone and forwards nothing: A and AAAA of a name that may be reached is its
 * synthetic address, other types of it are empty, every other name does not exist.
 */
#pragma once

#include "enforcer/net/base/net.h"

int ward_nameserver_open(struct ward_broker *net, struct ward_err *err) ward_must_check;
void ward_nameserver_close(struct ward_broker *net);
