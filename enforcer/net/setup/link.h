/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rtnetlink(7), as much of it as joining two network namespaces takes. Requests are collected and
 * sent together: the kernel carries them out in their order, and one that fails keeps it from none
 * of the others. Negative errno on failure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/* One side of the wire takes twelve, each of 140 bytes at most; held.c as many. */
#define WARD_LINK_REQUESTS_MAX 12
#define WARD_LINK_BYTES_MAX 4096
struct ward_link_batch {
	_Alignas(8) char data[WARD_LINK_BYTES_MAX];
	size_t len;
	size_t n;
	int result[WARD_LINK_REQUESTS_MAX]; /* after sending: 0 or a negative errno of each */
};
#define WARD_LINK_BATCH_INIT ((struct ward_link_batch){.len = 0})

/*
 * Sends what was collected by fd (ward_netlink_open), and waits for all results. Fails where not
 * all of them are known.
 */
int ward_link_send(int fd, struct ward_link_batch *b) ward_must_check;

/* The loopback interface has this index in every namespace (LOOPBACK_IFINDEX of the kernel). */
#define WARD_LINK_LOOPBACK 1U

/*
 * What follows adds one request and returns its place in `result`. Only so many as
 * WARD_LINK_REQUESTS_MAX may be added.
 */

/* One end of a veth pair, with its hardware address; the index is free in its namespace. */
struct ward_link_end {
	const char *name;
	const uint8_t *mac; /* 6 bytes */
	unsigned index;
};
/*
 * A veth pair: `here`, and `peer` in the namespace peer_ns. One queue each: by default the kernel
 * makes one for each possible CPU, and objects in sysfs for all of them, and uses them for XDP
 * alone.
 */
size_t ward_link_veth(struct ward_link_batch *b, const struct ward_link_end *here,
	const struct ward_link_end *peer, int peer_ns);
/* No addresses that the kernel makes up; before it is up. Fails on kernels without IPv6. */
size_t ward_link_quiet(struct ward_link_batch *b, unsigned index);
size_t ward_link_up(struct ward_link_batch *b, unsigned index);
/* Adds addr (4 or 16 bytes, by family) with a prefix of bits; without duplicate detection. */
size_t ward_link_address(
	struct ward_link_batch *b, unsigned index, int family, const void *addr, unsigned bits);

/* A permanent entry for addr, so no neighbour request is sent. */
size_t ward_link_neighbour(struct ward_link_batch *b, unsigned index, int family, const void *addr,
	const uint8_t mac[6]);

enum ward_link_route {
	WARD_LINK_VIA,	 /* a default route through the gateway addr */
	WARD_LINK_LOCAL, /* every address is a local one; addr is not looked at */
	WARD_LINK_HOST,	 /* addr is a host behind the interface, whatever LOCAL says */
	WARD_LINK_NEAR,	 /* fe80::/10 is local at the interface; addr is not looked at */
};
size_t ward_link_route(struct ward_link_batch *b, enum ward_link_route kind, unsigned index,
	int family, const void *addr);

/* In this table: addr is a host behind the interface. */
size_t ward_link_host_in(
	struct ward_link_batch *b, uint32_t table, unsigned index, int family, const void *addr);

/* Which table answers, and for what; see ip-rule(8). */
struct ward_link_rule {
	uint32_t pref;
	uint32_t table;
	/* TCP to this address, from a socket without a mark or from none; NULL: everything. */
	const void *unmarked_tcp_to;
};
size_t ward_link_rule_add(struct ward_link_batch *b, int family, const struct ward_link_rule *r);
/* The rule of this number; it fails where there is none. */
size_t ward_link_rule_remove(struct ward_link_batch *b, int family, uint32_t pref);
