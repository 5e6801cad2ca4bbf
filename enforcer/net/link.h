/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rtnetlink(7), as much of it as joining two network namespaces takes. libmnl builds the messages;
 * each function sends one and waits for the kernel's answer. Negative errno on failure.
 */
#pragma once

#include <stdint.h>

#include "enforcer/base/err.h"

struct mnl_socket;

/* A netlink socket in the namespace that the caller is in. */
int ward_link_open(struct mnl_socket **ret) ward_must_check;
void ward_link_close(struct mnl_socket *s);

/* One end of a veth pair, with its hardware address. */
struct ward_link_end {
	const char *name;
	const uint8_t *mac; /* 6 bytes */
};
/* A veth pair: `here`, and `peer` in the namespace peer_ns. Neither makes addresses of its own. */
int ward_link_veth(struct mnl_socket *s, const struct ward_link_end *here,
	const struct ward_link_end *peer, int peer_ns) ward_must_check;
int ward_link_up(struct mnl_socket *s, unsigned index) ward_must_check;
/* Adds addr (4 or 16 bytes, by family) with a prefix of bits; without duplicate detection. */
int ward_link_address(struct mnl_socket *s, unsigned index, int family, const void *addr,
	unsigned bits) ward_must_check;

/* Who has addr, for good: nobody is asked for it. */
int ward_link_neighbour(struct mnl_socket *s, unsigned index, int family, const void *addr,
	const uint8_t mac[6]) ward_must_check;

enum ward_link_route {
	WARD_LINK_VIA,	 /* a default route through the gateway addr */
	WARD_LINK_LOCAL, /* every address is a local one; addr is not looked at */
	WARD_LINK_HOST,	 /* addr is a host behind the interface, whatever LOCAL says */
};
int ward_link_route(struct mnl_socket *s, enum ward_link_route kind, unsigned index, int family,
	const void *addr) ward_must_check;
