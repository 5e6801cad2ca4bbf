/* SPDX-License-Identifier: Apache-2.0 */
/* Builds and sends rtnetlink(7) requests, by libmnl. */
#include "enforcer/net/setup/link.h"

#include <assert.h>
#include <errno.h>
#include <libmnl/libmnl.h>
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

/* One request with a handful of attributes. */
#define REQUEST_MAX 256
/* As loopback's, and the most that an IP packet of 64 KiB may have: no byte of it meets hardware.
 */
#define MTU 65535U

int ward_link_open(struct mnl_socket **ret)
{
	struct mnl_socket *s = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!s)
		return -errno;
	if (mnl_socket_bind(s, 0, MNL_SOCKET_AUTOPID) < 0) {
		int r = -errno;
		mnl_socket_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void ward_link_close(struct mnl_socket *s)
{
	if (s)
		mnl_socket_close(s);
}

/* A message behind those that are there; its number is its place plus one. */
static struct nlmsghdr *request(struct ward_link_batch *b, uint16_t type, uint16_t flags)
{
	assert(b->n < WARD_LINK_REQUESTS_MAX && b->len + REQUEST_MAX <= sizeof(b->data));
	struct nlmsghdr *h = mnl_nlmsg_put_header(b->data + b->len);
	h->nlmsg_type = type;
	h->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
	h->nlmsg_seq = (uint32_t)++b->n;
	return h;
}

static size_t added(struct ward_link_batch *b, const struct nlmsghdr *h)
{
	b->len += MNL_ALIGN(h->nlmsg_len);
	return b->n - 1;
}

/* NLMSG_ERROR {int error, what was asked}: also says that there was none. */
static void take_result(struct ward_link_batch *b, const struct nlmsghdr *h, size_t *left)
{
	if (h->nlmsg_type != NLMSG_ERROR || h->nlmsg_seq < 1 || h->nlmsg_seq > b->n ||
		mnl_nlmsg_get_payload_len(h) < sizeof(struct nlmsgerr))
		return;
	int *to = &b->result[h->nlmsg_seq - 1];
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(h);
	if (*to != 1)
		return;
	*to = e->error;
	--*left;
}

int ward_link_send(struct mnl_socket *s, struct ward_link_batch *b)
{
	_Alignas(8) char buf[8192]; /* an answer quotes its request */
	size_t left = b->n;
	for (size_t i = 0; i < b->n; i++)
		b->result[i] = 1; /* not known */
	if (mnl_socket_sendto(s, b->data, b->len) < 0)
		return -errno;
	/* The kernel has done all of it by now: the answers wait. */
	while (left) {
		ssize_t got = mnl_socket_recvfrom(s, buf, sizeof(buf));
		if (got < 0)
			return -errno;
		int n = (int)got;
		for (const struct nlmsghdr *h = (const struct nlmsghdr *)buf; mnl_nlmsg_ok(h, n);
			h = mnl_nlmsg_next(h, &n))
			take_result(b, h, &left);
	}
	return 0;
}

/* Without addresses that the kernel makes up: the wire has the four that wire.h names. */
static void put_no_addresses(struct nlmsghdr *h)
{
	struct nlattr *spec = mnl_attr_nest_start(h, IFLA_AF_SPEC);
	struct nlattr *v6 = mnl_attr_nest_start(h, AF_INET6);
	mnl_attr_put_u8(h, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE);
	mnl_attr_nest_end(h, v6);
	mnl_attr_nest_end(h, spec);
}

static void put_end(struct nlmsghdr *h, const struct ward_link_end *end)
{
	struct ifinfomsg *i = mnl_nlmsg_put_extra_header(h, sizeof(*i));
	i->ifi_index = (int)end->index;
	mnl_attr_put_strz(h, IFLA_IFNAME, end->name);
	mnl_attr_put(h, IFLA_ADDRESS, 6, end->mac);
	mnl_attr_put_u32(h, IFLA_MTU, MTU);
	mnl_attr_put_u32(h, IFLA_NUM_TX_QUEUES, 1);
	mnl_attr_put_u32(h, IFLA_NUM_RX_QUEUES, 1);
}

size_t ward_link_veth(struct ward_link_batch *b, const struct ward_link_end *here,
	const struct ward_link_end *peer, int peer_ns)
{
	struct nlmsghdr *h = request(b, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	put_end(h, here);
	struct nlattr *info = mnl_attr_nest_start(h, IFLA_LINKINFO);
	mnl_attr_put_strz(h, IFLA_INFO_KIND, "veth");
	struct nlattr *data = mnl_attr_nest_start(h, IFLA_INFO_DATA);
	struct nlattr *other = mnl_attr_nest_start(h, VETH_INFO_PEER);
	put_end(h, peer);
	mnl_attr_put_u32(h, IFLA_NET_NS_FD, (uint32_t)peer_ns);
	mnl_attr_nest_end(h, other);
	mnl_attr_nest_end(h, data);
	mnl_attr_nest_end(h, info);
	return added(b, h);
}

size_t ward_link_quiet(struct ward_link_batch *b, unsigned index)
{
	struct nlmsghdr *h = request(b, RTM_NEWLINK, 0);
	struct ifinfomsg *i = mnl_nlmsg_put_extra_header(h, sizeof(*i));
	i->ifi_index = (int)index;
	put_no_addresses(h);
	return added(b, h);
}

size_t ward_link_up(struct ward_link_batch *b, unsigned index)
{
	struct nlmsghdr *h = request(b, RTM_NEWLINK, 0);
	struct ifinfomsg *i = mnl_nlmsg_put_extra_header(h, sizeof(*i));
	i->ifi_index = (int)index;
	i->ifi_flags = i->ifi_change = IFF_UP;
	return added(b, h);
}

size_t ward_link_address(
	struct ward_link_batch *b, unsigned index, int family, const void *addr, unsigned bits)
{
	struct nlmsghdr *h = request(b, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
	struct ifaddrmsg *a = mnl_nlmsg_put_extra_header(h, sizeof(*a));
	a->ifa_family = (unsigned char)family;
	a->ifa_prefixlen = (unsigned char)bits;
	a->ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0;
	a->ifa_index = index;
	mnl_attr_put(h, IFA_LOCAL, family == AF_INET ? 4 : 16, addr);
	return added(b, h);
}

size_t ward_link_neighbour(struct ward_link_batch *b, unsigned index, int family, const void *addr,
	const uint8_t mac[6])
{
	struct nlmsghdr *h = request(b, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
	struct ndmsg *n = mnl_nlmsg_put_extra_header(h, sizeof(*n));
	n->ndm_family = (unsigned char)family;
	n->ndm_ifindex = (int)index;
	n->ndm_state = NUD_PERMANENT;
	mnl_attr_put(h, NDA_DST, family == AF_INET ? 4 : 16, addr);
	mnl_attr_put(h, NDA_LLADDR, 6, mac);
	return added(b, h);
}

size_t ward_link_route(struct ward_link_batch *b, enum ward_link_route kind, unsigned index,
	int family, const void *addr)
{
	static const uint8_t link_local[16] = {0xfe, 0x80};
	size_t len = family == AF_INET ? 4 : 16;
	struct nlmsghdr *h = request(b, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);
	struct rtmsg *r = mnl_nlmsg_put_extra_header(h, sizeof(*r));
	r->rtm_family = (unsigned char)family;
	r->rtm_protocol = RTPROT_STATIC;
	r->rtm_type = RTN_UNICAST;
	r->rtm_scope = RT_SCOPE_UNIVERSE;
	r->rtm_table = RT_TABLE_MAIN;
	switch (kind) {
	case WARD_LINK_VIA:
		mnl_attr_put(h, RTA_GATEWAY, len, addr);
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
		mnl_attr_put(h, RTA_DST, len, addr);
		break;
	case WARD_LINK_NEAR:
		r->rtm_type = RTN_LOCAL;
		r->rtm_scope = RT_SCOPE_HOST;
		r->rtm_table = RT_TABLE_LOCAL;
		r->rtm_dst_len = 10;
		mnl_attr_put(h, RTA_DST, sizeof(link_local), link_local);
		break;
	}
	mnl_attr_put_u32(h, RTA_OIF, index);
	return added(b, h);
}

size_t ward_link_host_in(
	struct ward_link_batch *b, uint32_t table, unsigned index, int family, const void *addr)
{
	size_t len = family == AF_INET ? 4 : 16;
	struct nlmsghdr *h = request(b, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);
	struct rtmsg *r = mnl_nlmsg_put_extra_header(h, sizeof(*r));
	r->rtm_family = (unsigned char)family;
	r->rtm_protocol = RTPROT_STATIC;
	r->rtm_type = RTN_UNICAST;
	r->rtm_scope = RT_SCOPE_LINK;
	r->rtm_dst_len = (unsigned char)(8 * len);
	mnl_attr_put(h, RTA_DST, len, addr);
	mnl_attr_put_u32(h, RTA_TABLE, table);
	mnl_attr_put_u32(h, RTA_OIF, index);
	return added(b, h);
}

size_t ward_link_rule_add(struct ward_link_batch *b, int family, const struct ward_link_rule *r)
{
	size_t len = family == AF_INET ? 4 : 16;
	struct nlmsghdr *h = request(b, RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL);
	struct fib_rule_hdr *f = mnl_nlmsg_put_extra_header(h, sizeof(*f));
	f->family = (uint8_t)family;
	f->action = FR_ACT_TO_TBL;
	mnl_attr_put_u32(h, FRA_PRIORITY, r->pref);
	mnl_attr_put_u32(h, FRA_TABLE, r->table);
	if (r->unmarked_tcp_to) {
		f->dst_len = (uint8_t)(8 * len);
		mnl_attr_put(h, FRA_DST, len, r->unmarked_tcp_to);
		mnl_attr_put_u32(h, FRA_FWMARK, 0);
		mnl_attr_put_u32(h, FRA_FWMASK, UINT32_MAX);
		mnl_attr_put_u8(h, FRA_IP_PROTO, IPPROTO_TCP);
	}
	return added(b, h);
}

size_t ward_link_rule_remove(struct ward_link_batch *b, int family, uint32_t pref)
{
	struct nlmsghdr *h = request(b, RTM_DELRULE, 0);
	struct fib_rule_hdr *f = mnl_nlmsg_put_extra_header(h, sizeof(*f));
	f->family = (uint8_t)family;
	f->action = FR_ACT_TO_TBL;
	mnl_attr_put_u32(h, FRA_PRIORITY, pref);
	return added(b, h);
}
