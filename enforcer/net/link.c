/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/net/link.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

/* One request with a handful of attributes. */
#define REQUEST_MAX 1024
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

static struct nlmsghdr *request(char *buf, uint16_t type, uint16_t flags)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	h->nlmsg_type = type;
	h->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
	h->nlmsg_seq = 1;
	return h;
}

/* Nothing else listens on this socket and no request is sent before the last one's answer. */
static int talk(struct mnl_socket *s, const struct nlmsghdr *h)
{
	char buf[8192]; /* MNL_SOCKET_BUFFER_SIZE is not constant; an answer quotes the request */
	if (mnl_socket_sendto(s, h, h->nlmsg_len) < 0)
		return -errno;
	ssize_t n = mnl_socket_recvfrom(s, buf, sizeof(buf));
	if (n < 0)
		return -errno;
	return mnl_cb_run(buf, (size_t)n, 1, mnl_socket_get_portid(s), NULL, NULL) < 0 ? -errno : 0;
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
	mnl_attr_put_strz(h, IFLA_IFNAME, end->name);
	mnl_attr_put(h, IFLA_ADDRESS, 6, end->mac);
	mnl_attr_put_u32(h, IFLA_MTU, MTU);
}

int ward_link_veth(struct mnl_socket *s, const struct ward_link_end *here,
	const struct ward_link_end *peer, int peer_ns)
{
	char buf[REQUEST_MAX];
	struct nlmsghdr *h = request(buf, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	mnl_nlmsg_put_extra_header(h, sizeof(struct ifinfomsg));
	put_end(h, here);
	struct nlattr *info = mnl_attr_nest_start(h, IFLA_LINKINFO);
	mnl_attr_put_strz(h, IFLA_INFO_KIND, "veth");
	struct nlattr *data = mnl_attr_nest_start(h, IFLA_INFO_DATA);
	struct nlattr *other = mnl_attr_nest_start(h, VETH_INFO_PEER);
	mnl_nlmsg_put_extra_header(h, sizeof(struct ifinfomsg));
	put_end(h, peer);
	mnl_attr_put_u32(h, IFLA_NET_NS_FD, (uint32_t)peer_ns);
	mnl_attr_nest_end(h, other);
	mnl_attr_nest_end(h, data);
	mnl_attr_nest_end(h, info);
	return talk(s, h);
}

static int set_link(struct mnl_socket *s, unsigned index, bool up, bool quiet)
{
	char buf[REQUEST_MAX];
	struct nlmsghdr *h = request(buf, RTM_NEWLINK, 0);
	struct ifinfomsg *i = mnl_nlmsg_put_extra_header(h, sizeof(*i));
	i->ifi_index = (int)index;
	if (up)
		i->ifi_flags = i->ifi_change = IFF_UP;
	if (quiet)
		put_no_addresses(h);
	return talk(s, h);
}

int ward_link_up(struct mnl_socket *s, unsigned index)
{
	/* Before it is up; a kernel without IPv6 does not know what is meant. */
	int r = set_link(s, index, false, true);
	if (r < 0 && r != -EAFNOSUPPORT && r != -EOPNOTSUPP && r != -EINVAL)
		return r;
	return set_link(s, index, true, false);
}

int ward_link_address(
	struct mnl_socket *s, unsigned index, int family, const void *addr, unsigned bits)
{
	char buf[REQUEST_MAX];
	struct nlmsghdr *h = request(buf, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
	struct ifaddrmsg *a = mnl_nlmsg_put_extra_header(h, sizeof(*a));
	a->ifa_family = (unsigned char)family;
	a->ifa_prefixlen = (unsigned char)bits;
	a->ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0;
	a->ifa_index = index;
	mnl_attr_put(h, IFA_LOCAL, family == AF_INET ? 4 : 16, addr);
	return talk(s, h);
}

int ward_link_neighbour(
	struct mnl_socket *s, unsigned index, int family, const void *addr, const uint8_t mac[6])
{
	char buf[REQUEST_MAX];
	struct nlmsghdr *h = request(buf, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
	struct ndmsg *n = mnl_nlmsg_put_extra_header(h, sizeof(*n));
	n->ndm_family = (unsigned char)family;
	n->ndm_ifindex = (int)index;
	n->ndm_state = NUD_PERMANENT;
	mnl_attr_put(h, NDA_DST, family == AF_INET ? 4 : 16, addr);
	mnl_attr_put(h, NDA_LLADDR, 6, mac);
	return talk(s, h);
}

int ward_link_route(struct mnl_socket *s, enum ward_link_route kind, unsigned index, int family,
	const void *addr)
{
	char buf[REQUEST_MAX];
	size_t len = family == AF_INET ? 4 : 16;
	struct nlmsghdr *h = request(buf, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);
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
	}
	mnl_attr_put_u32(h, RTA_OIF, index);
	return talk(s, h);
}
