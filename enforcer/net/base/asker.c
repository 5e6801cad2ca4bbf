/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the process at the other end of a connection. */
#include "enforcer/net/base/asker.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "audit/event.h"
#include "enforcer/net/setup/netlink.h"

/* An answer about one socket, with attributes that nobody asked for. */
#define ANSWER_MAX 1024
/* Answers to questions that were given up before. */
#define STALE_MAX 16

static void put_end(const union ward_sockaddr *a, __be16 *ret_port, __be32 ret_addr[4])
{
	*ret_port = htons(ward_sockaddr_port(a));
	if (a->sa.sa_family == AF_INET)
		memcpy(ret_addr, &a->v4.sin_addr, 4);
	else
		memcpy(ret_addr, &a->v6.sin6_addr, 16);
}

static int send_question(struct ward_broker *net, uint32_t seq, const union ward_sockaddr *from,
	const union ward_sockaddr *to, bool udp)
{
	_Alignas(8) char buf[WARD_NETLINK_MESSAGE_MAX];
	struct nlmsghdr *head = ward_netlink_begin(buf);
	head->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	head->nlmsg_flags = NLM_F_REQUEST;
	head->nlmsg_seq = seq;
	struct inet_diag_req_v2 *q = ward_netlink_add_body(head, sizeof(*q));
	q->sdiag_family = (uint8_t)from->sa.sa_family;
	q->sdiag_protocol = udp ? IPPROTO_UDP : IPPROTO_TCP;
	q->idiag_states = ~0U;
	q->id.idiag_cookie[0] = q->id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	/* Of UDP the kernel takes the two ends the other way round (net/ipv4/udp_diag.c). */
	put_end(udp ? to : from, &q->id.idiag_sport, q->id.idiag_src);
	put_end(udp ? from : to, &q->id.idiag_dport, q->id.idiag_dst);
	return send(net->wire.diag, buf, head->nlmsg_len, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* The kernel has answered when the question was sent: nothing is waited for. */
static uint32_t take_inode(struct ward_broker *net, uint32_t seq)
{
	char buf[ANSWER_MAX] __attribute__((aligned(8)));
	for (int i = 0; i < STALE_MAX; i++) {
		ssize_t n = recv(net->wire.diag, buf, sizeof(buf), MSG_DONTWAIT);
		if (n < 0)
			return 0;
		size_t pos = 0;
		const struct nlmsghdr *head = ward_netlink_next(buf, (size_t)n, &pos);
		if (!head || head->nlmsg_seq != seq)
			continue;
		const struct inet_diag_msg *m = ward_netlink_body(head, sizeof(*m));
		return m && head->nlmsg_type == SOCK_DIAG_BY_FAMILY ? m->idiag_inode : 0;
	}
	return 0;
}

static void look(struct ward_broker *net, uint32_t inode, struct ward_asker *ret)
{
	pid_t pid = 0;
	char comm[WARD_COMM_SIZE];
	if (inode == 0) {
		ret->why = "its socket was closed before anybody could look";
		return;
	}
	int r = net->looker < 0 || net->looker_late
			? -EPIPE
			: ward_looker_ask(net->looker, inode, &pid, comm);
	if (r == 0) {
		ret->pid = (uint64_t)pid;
		memcpy(ret->comm, comm, sizeof(ret->comm));
		return;
	}
	/* Dead: main.c hears of it, and ends all. */
	net->looker_late |= r == -EPIPE;
	ret->why = r == -EPIPE ? "the process that looks for it did not answer"
			       : "no process was found that has its socket";
}

void ward_asker_find(struct ward_broker *net, const union ward_sockaddr *from,
	const union ward_sockaddr *to, bool udp, struct ward_asker *ret)
{
	*ret = WARD_ASKER_UNKNOWN;
	if (net->wire.diag < 0 || from->sa.sa_family != to->sa.sa_family) {
		ret->why = "this kernel does not tell whose a socket is (sock_diag)";
		return;
	}
	uint32_t seq = ++net->diag_seq;
	if (send_question(net, seq, from, to, udp) == 0)
		look(net, take_inode(net, seq), ret);
}

void ward_asker_of(struct ward_broker *net, int fd, struct ward_asker *ret)
{
	union ward_sockaddr from = {0}, to = {0};
	socklen_t n_from = sizeof(from), n_to = sizeof(to);
	*ret = WARD_ASKER_UNKNOWN;
	if (getpeername(fd, &from.sa, &n_from) < 0 || getsockname(fd, &to.sa, &n_to) < 0)
		return;
	if (from.sa.sa_family == AF_UNIX) {
		struct ucred cred = {0};
		socklen_t n = sizeof(cred);
		/* As it was when it connected; 0: of another pid namespace that we do not see. */
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) == 0 && cred.pid > 0)
			ret->pid = (uint64_t)cred.pid;
		else
			ret->why = "it runs in a pid namespace that wardfs-net does not see";
	} else if (from.sa.sa_family == AF_INET || from.sa.sa_family == AF_INET6) {
		ward_asker_find(net, &from, &to, false, ret);
	}
}
