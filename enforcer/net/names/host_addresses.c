/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the kernel which addresses belong to this host and its networks. */
#include "enforcer/net/names/host_addresses.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

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
	struct mnl_socket *ask;
	struct mnl_socket *news; /* hears of each change */
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
	const struct ifaddrmsg *m = mnl_nlmsg_get_payload(h);
	const struct nlattr *a;
	int r = 0;
	if (h->nlmsg_type != RTM_NEWADDR || mnl_nlmsg_get_payload_len(h) < sizeof(*m) ||
		(m->ifa_family != AF_INET && m->ifa_family != AF_INET6))
		return 0;
	const size_t len = m->ifa_family == AF_INET ? 4 : 16;
	mnl_attr_for_each(a, h, sizeof(*m))
	{
		const uint16_t type = mnl_attr_get_type(a);
		if (r == 0 && (type == IFA_LOCAL || type == IFA_ADDRESS) &&
			mnl_attr_get_payload_len(a) == len)
			r = add(b, m->ifa_family, mnl_attr_get_payload(a), m->ifa_prefixlen);
	}
	return r;
}

/* Takes one part of the answer to question b->seq. *ret_done: it was the last one. */
static int take_part(struct ward_blocks *b, const void *data, size_t len, bool *ret_done)
{
	int left = (int)len, r = 0;
	for (const struct nlmsghdr *h = data; mnl_nlmsg_ok(h, left); h = mnl_nlmsg_next(h, &left)) {
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
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	h->nlmsg_type = RTM_GETADDR;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	h->nlmsg_seq = ++b->seq;
	*(struct ifaddrmsg *)mnl_nlmsg_put_extra_header(h, sizeof(struct ifaddrmsg)) =
		(struct ifaddrmsg){.ifa_family = AF_UNSPEC};
	b->n = 0;
	if (mnl_socket_sendto(b->ask, h, h->nlmsg_len) < 0)
		return -errno;
	bool done = false;
	int r = 0;
	/* To its end, also where it counts for nothing any more. */
	while (!done) {
		ssize_t n = mnl_socket_recvfrom(b->ask, buf, sizeof(buf));
		if (n <= 0)
			return n < 0 ? -errno : -EPIPE;
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
	const int fd = mnl_socket_get_fd(b->news);
	while (recv(fd, &byte, 1, MSG_DONTWAIT | MSG_TRUNC) >= 0 ||
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

static struct mnl_socket *open_socket(unsigned groups)
{
	struct mnl_socket *s = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (s && mnl_socket_bind(s, groups, MNL_SOCKET_AUTOPID) < 0) {
		mnl_socket_close(s);
		return NULL;
	}
	return s;
}

int ward_near_open(struct ward_broker *net, struct ward_err *err)
{
	struct ward_blocks *b = net->blocks = calloc(1, sizeof(*b));
	if (!b)
		return ward_err_sys(err, -ENOMEM, "the addresses of this host");
	b->news = open_socket(RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR);
	b->ask = b->news ? open_socket(0) : NULL;
	/* The answer is there before the question returns; nothing waits forever for one that is
	 * not. */
	const struct timeval patience = {.tv_sec = 1};
	return b->ask && setsockopt(mnl_socket_get_fd(b->ask), SOL_SOCKET, SO_RCVTIMEO, &patience,
				 sizeof(patience)) == 0
		       ? 0
		       : ward_err_sys(err, -errno, "the addresses of this host");
}

void ward_near_close(struct ward_broker *net)
{
	struct ward_blocks *b = net->blocks;
	if (!b)
		return;
	if (b->ask)
		mnl_socket_close(b->ask);
	if (b->news)
		mnl_socket_close(b->news);
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
