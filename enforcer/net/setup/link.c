/* SPDX-License-Identifier: Apache-2.0 */
/* Builds and sends rtnetlink(7) requests. */
#include "enforcer/net/setup/link.h"

#include <assert.h>
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "enforcer/net/setup/netlink.h"

/* As loopback's, and the most that an IP packet of 64 KiB may have: no byte of it meets hardware.
 */
#define MTU 65535U

/* A message behind those that are there; its number is its place plus one. */
static struct nlmsghdr *request(struct ward_link_batch *b, uint16_t type, uint16_t flags)
{
	assert(b->n < WARD_LINK_REQUESTS_MAX &&
		b->len + WARD_NETLINK_MESSAGE_MAX <= sizeof(b->data));
	struct nlmsghdr *h = ward_netlink_begin(b->data + b->len);
	h->nlmsg_type = type;
	h->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
	h->nlmsg_seq = (uint32_t)++b->n;
	return h;
}

static size_t added(struct ward_link_batch *b, const struct nlmsghdr *h)
{
	b->len += NLMSG_ALIGN(h->nlmsg_len);
	return b->n - 1;
}

/* NLMSG_ERROR {int error, what was asked}: also says that there was none. */
static void take_result(struct ward_link_batch *b, const struct nlmsghdr *h, size_t *left)
{
	const struct nlmsgerr *e = ward_netlink_body(h, sizeof(*e));
	if (h->nlmsg_type != NLMSG_ERROR || h->nlmsg_seq < 1 || h->nlmsg_seq > b->n || !e)
		return;
	int *to = &b->result[h->nlmsg_seq - 1];
	if (*to != 1)
		return;
	*to = e->error;
	--*left;
}

int ward_link_send(int fd, struct ward_link_batch *b)
{
	_Alignas(8) char buf[8192]; /* an answer quotes its request */
	size_t left = b->n;
	for (size_t i = 0; i < b->n; i++)
		b->result[i] = 1; /* not known */
	int r = ward_netlink_send(fd, b->data, b->len);
	if (r < 0)
		return r;
	/* The kernel has done all of it by now: the answers wait. */
	while (left) {
		const ssize_t n = ward_netlink_receive(fd, buf, sizeof(buf));
		if (n < 0)
			return (int)n;
		const struct nlmsghdr *h = NULL;
		for (size_t pos = 0; (h = ward_netlink_next(buf, (size_t)n, &pos));)
			take_result(b, h, &left);
	}
	return 0;
}

/* Without addresses that the kernel makes up: the wire has the four that wire.h names. */
static void put_no_addresses(struct nlmsghdr *h)
{
	struct nlattr *spec = ward_netlink_nest(h, IFLA_AF_SPEC);
	struct nlattr *v6 = ward_netlink_nest(h, AF_INET6);
	ward_netlink_add_u8(h, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE);
	ward_netlink_end(h, v6);
	ward_netlink_end(h, spec);
}

static void put_end(struct nlmsghdr *h, const struct ward_link_end *end)
{
	struct ifinfomsg *i = ward_netlink_add_body(h, sizeof(*i));
	i->ifi_index = (int)end->index;
	ward_netlink_add_text(h, IFLA_IFNAME, end->name);
	ward_netlink_add(h, IFLA_ADDRESS, end->mac, 6);
	ward_netlink_add_u32(h, IFLA_MTU, MTU);
	ward_netlink_add_u32(h, IFLA_NUM_TX_QUEUES, 1);
	ward_netlink_add_u32(h, IFLA_NUM_RX_QUEUES, 1);
}

size_t ward_link_veth(struct ward_link_batch *b, const struct ward_link_end *here,
	const struct ward_link_end *peer, int peer_ns)
{
	struct nlmsghdr *h = request(b, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	put_end(h, here);
	struct nlattr *info = ward_netlink_nest(h, IFLA_LINKINFO);
	ward_netlink_add_text(h, IFLA_INFO_KIND, "veth");
	struct nlattr *data = ward_netlink_nest(h, IFLA_INFO_DATA);
	struct nlattr *other = ward_netlink_nest(h, VETH_INFO_PEER);
	put_end(h, peer);
	ward_netlink_add_u32(h, IFLA_NET_NS_FD, (uint32_t)peer_ns);
	ward_netlink_end(h, other);
	ward_netlink_end(h, data);
	ward_netlink_end(h, info);
	return added(b, h);
}

size_t ward_link_quiet(struct ward_link_batch *b, unsigned index)
{
	struct nlmsghdr *h = request(b, RTM_NEWLINK, 0);
	struct ifinfomsg *i = ward_netlink_add_body(h, sizeof(*i));
	i->ifi_index = (int)index;
	put_no_addresses(h);
	return added(b, h);
}

size_t ward_link_up(struct ward_link_batch *b, unsigned index)
{
	struct nlmsghdr *h = request(b, RTM_NEWLINK, 0);
	struct ifinfomsg *i = ward_netlink_add_body(h, sizeof(*i));
	i->ifi_index = (int)index;
	i->ifi_flags = i->ifi_change = IFF_UP;
	return added(b, h);
}

size_t ward_link_address(
	struct ward_link_batch *b, unsigned index, int family, const void *addr, unsigned bits)
{
	struct nlmsghdr *h = request(b, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
	struct ifaddrmsg *a = ward_netlink_add_body(h, sizeof(*a));
	a->ifa_family = (unsigned char)family;
	a->ifa_prefixlen = (unsigned char)bits;
	a->ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0;
	a->ifa_index = index;
	ward_netlink_add(h, IFA_LOCAL, addr, family == AF_INET ? 4 : 16);
	return added(b, h);
}

size_t ward_link_neighbour(struct ward_link_batch *b, unsigned index, int family, const void *addr,
	const uint8_t mac[6])
{
	struct nlmsghdr *h = request(b, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
	struct ndmsg *n = ward_netlink_add_body(h, sizeof(*n));
	n->ndm_family = (unsigned char)family;
	n->ndm_ifindex = (int)index;
	n->ndm_state = NUD_PERMANENT;
	ward_netlink_add(h, NDA_DST, addr, family == AF_INET ? 4 : 16);
	ward_netlink_add(h, NDA_LLADDR, mac, 6);
	return added(b, h);
}

size_t ward_link_route(struct ward_link_batch *b, enum ward_link_route kind, unsigned index,
	int family, const void *addr)
{
	static const uint8_t link_local[16] = {0xfe, 0x80};
	size_t len = family == AF_INET ? 4 : 16;
	struct nlmsghdr *h = request(b, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);
	struct rtmsg *r = ward_netlink_add_body(h, sizeof(*r));
	r->rtm_family = (unsigned char)family;
	r->rtm_protocol = RTPROT_STATIC;
	r->rtm_type = RTN_UNICAST;
	r->rtm_scope = RT_SCOPE_UNIVERSE;
	r->rtm_table = RT_TABLE_MAIN;
	switch (kind) {
	case WARD_LINK_VIA:
		ward_netlink_add(h, RTA_GATEWAY, addr, len);
		break;
	case WARD_LINK_LOCAL:
		r->rtm_type = RTN_LOCAL;
		r->rtm_scope = RT_SCOPE_HOST;
		r->rtm_table = RT_TABLE_LOCAL;
		break;
	case WARD_LINK_HOST:
		/* The table of local addresses is asked first: the way back must stand there. */
		r->rtm_scope = RT_SCOPE_LINK;
		r->rtm_table = RT_TABLE_LOCAL;
		r->rtm_dst_len = (unsigned char)(8 * len);
		ward_netlink_add(h, RTA_DST, addr, len);
		break;
	case WARD_LINK_NEAR:
		r->rtm_type = RTN_LOCAL;
		r->rtm_scope = RT_SCOPE_HOST;
		r->rtm_table = RT_TABLE_LOCAL;
		r->rtm_dst_len = 10;
		ward_netlink_add(h, RTA_DST, link_local, sizeof(link_local));
		break;
	}
	ward_netlink_add_u32(h, RTA_OIF, index);
	return added(b, h);
}

size_t ward_link_host_in(
	struct ward_link_batch *b, uint32_t table, unsigned index, int family, const void *addr)
{
	size_t len = family == AF_INET ? 4 : 16;
	struct nlmsghdr *h = request(b, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);
	struct rtmsg *r = ward_netlink_add_body(h, sizeof(*r));
	r->rtm_family = (unsigned char)family;
	r->rtm_protocol = RTPROT_STATIC;
	r->rtm_type = RTN_UNICAST;
	r->rtm_scope = RT_SCOPE_LINK;
	r->rtm_dst_len = (unsigned char)(8 * len);
	ward_netlink_add(h, RTA_DST, addr, len);
	ward_netlink_add_u32(h, RTA_TABLE, table);
	ward_netlink_add_u32(h, RTA_OIF, index);
	return added(b, h);
}

size_t ward_link_rule_add(struct ward_link_batch *b, int family, const struct ward_link_rule *r)
{
	size_t len = family == AF_INET ? 4 : 16;
	struct nlmsghdr *h = request(b, RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL);
	struct fib_rule_hdr *f = ward_netlink_add_body(h, sizeof(*f));
	f->family = (uint8_t)family;
	f->action = FR_ACT_TO_TBL;
	ward_netlink_add_u32(h, FRA_PRIORITY, r->pref);
	ward_netlink_add_u32(h, FRA_TABLE, r->table);
	if (r->unmarked_tcp_to) {
		f->dst_len = (uint8_t)(8 * len);
		ward_netlink_add(h, FRA_DST, r->unmarked_tcp_to, len);
		ward_netlink_add_u32(h, FRA_FWMARK, 0);
		ward_netlink_add_u32(h, FRA_FWMASK, UINT32_MAX);
		ward_netlink_add_u8(h, FRA_IP_PROTO, IPPROTO_TCP);
	}
	return added(b, h);
}

size_t ward_link_rule_remove(struct ward_link_batch *b, int family, uint32_t pref)
{
	struct nlmsghdr *h = request(b, RTM_DELRULE, 0);
	struct fib_rule_hdr *f = ward_netlink_add_body(h, sizeof(*f));
	f->family = (uint8_t)family;
	f->action = FR_ACT_TO_TBL;
	ward_netlink_add_u32(h, FRA_PRIORITY, pref);
	return added(b, h);
}
