/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams to destinations that the policy allows with /udp. Who sends first from one port to one
 * destination begins a flow, which is decided and recorded as a connection is, and ends when
 * nothing was sent for a minute.
 */
#pragma once

#include "enforcer/net/names/name_table.h"

/* A listener has datagrams. */
void ward_udp_ready(struct ward_listener *l);
/* The listener goes: its flows end. */
void ward_udp_forget(struct ward_listener *l);
void ward_udp_end_all(struct ward_broker *net, const char *why);
