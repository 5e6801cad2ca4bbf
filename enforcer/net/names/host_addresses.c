/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the kernel which addresses belong to this host and its networks. */
#include "enforcer/net/names/host_addresses.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/net/setup/netlink.h"
#include "enforcer/policy/address.h"

/* A part of the kernel's answer: it sends no larger ones (NLMSG_GOODSIZE, at most 32 KiB). */
#define PART_MAX (32U << 10)
/* An answer during which an address came or went is asked for again; this often. */
#define TRIES 8

struct block {
	int family;
	uint8_t addr[16], mask[16];
};

struct ward_blocks {
	int ask;
	int news; /* hears of each change */
	uint32_t seq;
	bool known;
	struct block *v;
	size_t n, room;
};

/*
 * A network of half of the internet is a way out, not a neighbourhood (point to point, tunnels):
 * then the address alone counts.
 */
static unsigned narrow(unsigned bits, size_t len)
{
	return bits < 8 ? 8 * (unsigned)len : bits;
}

static int add(struct ward_blocks *b, int family, const uint8_t *addr, unsigned bits)
{
	const size_t len = family == AF_INET ? 4 : 16;
	if (b->n == b->room) {
		size_t room = 2 * b->room + 16;
		struct block *v = reallocarray(b->v, room, sizeof(*v));
		if (!v)
			return -ENOMEM;
		b->v = v;
		b->room = room;
	}
	struct block *to = &b->v[b->n++];
	*to = (struct block){.family = family};
	memcpy(to->addr, addr, len);
	bits = narrow(bits, len);
	for (size_t i = 0; i < len; i++, bits -= bits < 8 ? bits : 8)
		to->mask[i] = bits < 8 ? (uint8_t)(0xff00U >> bits) : 0xff;
	return 0;
}

/* RTM_NEWADDR {struct ifaddrmsg, IFA_LOCAL: ours, IFA_ADDRESS: ours or the other end's}. */
static int take_address(struct ward_blocks *b, const struct nlmsghdr *h)
{
	const struct ifaddrmsg *m = ward_netlink_body(h, sizeof(*m));
	struct ward_netlink_attribute a;
	int r = 0;
	if (h->nlmsg_type != RTM_NEWADDR || !m ||
		(m->ifa_family != AF_INET && m->ifa_family != AF_INET6))
		return 0;
	const size_t len = m->ifa_family == AF_INET ? 4 : 16;
	for (size_t pos = sizeof(*m); r == 0 && ward_netlink_attribute(h, &pos, &a);)
		if ((a.type == IFA_LOCAL || a.type == IFA_ADDRESS) && a.len == len)
			r = add(b, m->ifa_family, a.data, m->ifa_prefixlen);
	return r;
}

/* Takes one part of the answer to question b->seq. *ret_done: it was the last one. */
static int take_part(struct ward_blocks *b, const void *data, size_t len, bool *ret_done)
{
	const struct nlmsghdr *h = NULL;
	int r = 0;
	for (size_t pos = 0; (h = ward_netlink_next(data, len, &pos));) {
		if (h->nlmsg_seq != b->seq)
			continue; /* of one that was given up */
		/* Something changed while the kernel listed it. */
		if (h->nlmsg_flags & NLM_F_DUMP_INTR)
			r = -EAGAIN;
		if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR) {
			*ret_done = true;
			return h->nlmsg_type == NLMSG_ERROR ? -EIO : r;
		}
		if (r == 0)
			r = take_address(b, h);
	}
	return r;
}

static int ask(struct ward_blocks *b)
{
	static _Alignas(8) char buf[PART_MAX];
	struct nlmsghdr *h = ward_netlink_begin(buf);
	h->nlmsg_type = RTM_GETADDR;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	h->nlmsg_seq = ++b->seq;
	struct ifaddrmsg *every = ward_netlink_add_body(h, sizeof(*every));
	every->ifa_family = AF_UNSPEC;
	b->n = 0;
	int r = ward_netlink_send(b->ask, h, h->nlmsg_len);
	if (r < 0)
		return r;
	bool done = false;
	/* To its end, also where it counts for nothing any more. */
	while (!done) {
		ssize_t n = ward_netlink_receive(b->ask, buf, sizeof(buf));
		if (n <= 0)
			return n < 0 ? (int)n : -EPIPE;
		int e = take_part(b, buf, (size_t)n, &done);
		r = r < 0 ? r : e;
	}
	return r;
}

/* Has anything changed since the last answer? What could not be kept for us (ENOBUFS) has. */
static bool has_news(const struct ward_blocks *b)
{
	char byte;
	bool any = false;
	while (recv(b->news, &byte, 1, MSG_DONTWAIT | MSG_TRUNC) >= 0 ||
		(errno != EAGAIN && errno != EWOULDBLOCK && !any))
		any = true;
	return any;
}

static int look(struct ward_blocks *b)
{
	int r = 0;
	if (has_news(b))
		b->known = false;
	for (int i = 0; !b->known && i < TRIES; i++) {
		r = ask(b);
		b->known = r == 0;
		if (r != -EAGAIN)
			break;
	}
	return b->known ? 0 : r;
}

int ward_near_open(struct ward_broker *net, struct ward_err *err)
{
	struct ward_blocks *b = net->blocks = calloc(1, sizeof(*b));
	if (!b)
		return ward_err_sys(err, -ENOMEM, "the addresses of this host");
	b->ask = b->news = -1;
	int r = ward_netlink_open(RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR, &b->news);
	if (r == 0)
		r = ward_netlink_open(0, &b->ask);
	/* The answer is there before the question returns; nothing waits forever for one that is
	 * not. */
	const struct timeval patience = {.tv_sec = 1};
	if (r == 0 && setsockopt(b->ask, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
		r = -errno;
	return r < 0 ? ward_err_sys(err, r, "the addresses of this host") : 0;
}

void ward_near_close(struct ward_broker *net)
{
	struct ward_blocks *b = net->blocks;
	if (!b)
		return;
	if (b->ask >= 0)
		close(b->ask);
	if (b->news >= 0)
		close(b->news);
	free(b->v);
	free(b);
	net->blocks = NULL;
}

static bool in_blocks(const struct ward_blocks *b, int family, const uint8_t *bytes)
{
	for (size_t i = 0; i < b->n; i++) {
		bool same = b->v[i].family == family;
		for (size_t k = 0; same && k < (family == AF_INET ? 4U : 16U); k++)
			same = !((bytes[k] ^ b->v[i].addr[k]) & b->v[i].mask[k]);
		if (same)
			return true;
	}
	return false;
}

bool ward_near_has(const struct ward_broker *net, const union ward_sockaddr *a)
{
	struct ward_blocks *b = net->blocks;
	struct ward_address outer, inner;
	if (look(b) < 0)
		return true;
	if (a->sa.sa_family == AF_INET)
		return in_blocks(b, AF_INET, (const uint8_t *)&a->v4.sin_addr);
	memcpy(outer.bytes, &a->v6.sin6_addr, sizeof(outer.bytes));
	return in_blocks(b, AF_INET6, outer.bytes) ||
	       (ward_address_carries(&outer, &inner) && in_blocks(b, AF_INET, inner.bytes + 12));
}
