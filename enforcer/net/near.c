/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/net/near.h"

#include <errno.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <string.h>

struct block {
	int family;
	uint8_t addr[16], mask[16];
};

struct ward_blocks {
	struct block *v;
	size_t n;
};

static const uint8_t *bytes_of(const struct sockaddr *sa, size_t *ret_len)
{
	*ret_len = sa->sa_family == AF_INET ? 4 : 16;
	return sa->sa_family == AF_INET
		       ? (const uint8_t *)&((const struct sockaddr_in *)sa)->sin_addr
		       : (const uint8_t *)&((const struct sockaddr_in6 *)sa)->sin6_addr;
}

/* A network of half of the internet is a way out, not a neighbourhood (point to point, tunnels). */
static bool narrow(const struct sockaddr *mask)
{
	size_t len = 0;
	return mask && bytes_of(mask, &len)[0] == 0xff;
}

static void add(struct ward_blocks *b, const struct ifaddrs *i)
{
	size_t len = 0;
	struct block *to = &b->v[b->n++];
	to->family = i->ifa_addr->sa_family;
	memset(to->mask, 0xff, sizeof(to->mask));
	const uint8_t *addr = bytes_of(i->ifa_addr, &len);
	memcpy(to->addr, addr, len);
	if (narrow(i->ifa_netmask)) {
		const uint8_t *mask = bytes_of(i->ifa_netmask, &len);
		memcpy(to->mask, mask, len);
	}
}

int ward_near_open(struct ward_broker *net, struct ward_err *err)
{
	struct ifaddrs *all = NULL;
	size_t n = 0;
	if (getifaddrs(&all) < 0)
		return ward_err_sys(err, -errno, "the addresses of this host");
	for (const struct ifaddrs *i = all; i; i = i->ifa_next)
		n++;
	struct ward_blocks *b = net->blocks = calloc(1, sizeof(*b));
	if (b)
		b->v = calloc(n + 1, sizeof(*b->v));
	for (const struct ifaddrs *i = all; b && b->v && i; i = i->ifa_next)
		if (i->ifa_addr &&
			(i->ifa_addr->sa_family == AF_INET || i->ifa_addr->sa_family == AF_INET6))
			add(b, i);
	freeifaddrs(all);
	return b && b->v ? 0 : ward_err_sys(err, -ENOMEM, "the addresses of this host");
}

void ward_near_close(struct ward_broker *net)
{
	if (net->blocks)
		free(net->blocks->v);
	free(net->blocks);
	net->blocks = NULL;
}

bool ward_near_has(const struct ward_broker *net, const union ward_sockaddr *a)
{
	size_t len = 0;
	const uint8_t *bytes = bytes_of(&a->sa, &len);
	for (size_t i = 0; i < net->blocks->n; i++) {
		const struct block *b = &net->blocks->v[i];
		bool same = b->family == a->sa.sa_family;
		for (size_t k = 0; same && k < len; k++)
			same = !((bytes[k] ^ b->addr[k]) & b->mask[k]);
		if (same)
			return true;
	}
	return false;
}
