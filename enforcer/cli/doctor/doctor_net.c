/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs doctor: what [network] mode = allowlist and proxy take beyond a network namespace. */
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/doctor/doctor.h"

/* A message with room for attributes. */
struct message {
	struct nlmsghdr head;
	char data[512];
};

/* The last attribute ends where the message does. */
static struct rtattr *put(struct message *m, unsigned short type, const void *data, size_t len)
{
	struct rtattr *a = (struct rtattr *)((char *)m + NLMSG_ALIGN(m->head.nlmsg_len));
	a->rta_type = type;
	a->rta_len = (unsigned short)RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(a), data, len);
	m->head.nlmsg_len = NLMSG_ALIGN(m->head.nlmsg_len) + RTA_ALIGN(a->rta_len);
	return a;
}

static void end(const struct message *m, struct rtattr *a)
{
	a->rta_len = (unsigned short)((const char *)m + m->head.nlmsg_len - (const char *)a);
}

/* Sends it; 0, or the kernel's error. Of a dump the first answer counts. */
static int ask(int protocol, const struct message *m)
{
	char answer[4096] __attribute__((aligned(8)));
	const struct nlmsghdr *h = (const struct nlmsghdr *)answer;
	ward_cleanup_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	if (fd < 0 || send(fd, m, m->head.nlmsg_len, 0) < 0)
		return -errno;
	ssize_t n = recv(fd, answer, sizeof(answer), 0);
	if (n < 0)
		return -errno;
	if (!NLMSG_OK(h, (size_t)n))
		return -EBADMSG;
	return h->nlmsg_type == NLMSG_ERROR ? ((const struct nlmsgerr *)NLMSG_DATA(h))->error : 0;
}

/* A pair of links as enforcer/net/setup/link.c makes one, in a namespace that goes with this
 * process. */
static int try_veth(void)
{
	struct message m = {
		.head = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
			.nlmsg_type = RTM_NEWLINK,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL}};
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return -errno;
	put(&m, IFLA_IFNAME, "test0", sizeof("test0"));
	struct rtattr *info = put(&m, IFLA_LINKINFO, NULL, 0);
	put(&m, IFLA_INFO_KIND, "veth", strlen("veth"));
	struct rtattr *data = put(&m, IFLA_INFO_DATA, NULL, 0);
	struct rtattr *peer = put(&m, VETH_INFO_PEER, NULL, 0);
	m.head.nlmsg_len += sizeof(struct ifinfomsg);
	put(&m, IFLA_IFNAME, "test1", sizeof("test1"));
	end(&m, peer);
	end(&m, data);
	end(&m, info);
	return ask(NETLINK_ROUTE, &m);
}

static int try_diag(void)
{
	struct message m = {.head = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct inet_diag_req_v2)),
				    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
				    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};
	struct inet_diag_req_v2 *q = NLMSG_DATA(&m.head);
	q->sdiag_family = AF_INET;
	q->sdiag_protocol = IPPROTO_TCP;
	q->idiag_states = ~0U;
	return ask(NETLINK_SOCK_DIAG, &m);
}

void ward_check_network(struct ward_check *c)
{
	int r = ward_check_in_child(try_veth);
	if (r == 0)
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"joined two links by veth: [network] mode = allowlist and proxy work");
	else
		ward_check_say(c, WARD_CHECK_UNUSABLE,
			r == -EOPNOTSUPP ? "as root: modprobe veth; for every start of the host a "
					   "line 'veth' in /etc/modules-load.d/wardfs.conf"
					 : "see the lines on namespaces above",
			"cannot join two links by veth, which [network] mode = allowlist and proxy need: %s",
			strerror(-r));
}

void ward_check_askers(struct ward_check *c)
{
	int r = ward_check_in_child(try_diag);
	if (r == 0)
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"sock_diag answers, so records of the network name the process that asked");
	else
		ward_check_say(c, WARD_CHECK_UNUSABLE,
			"as root: modprobe -a inet_diag tcp_diag udp_diag",
			"cannot ask sock_diag which process has a connection: %s. Records of the network do not name the process",
			strerror(-r));
}
