/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the two network namespaces by the wire, and makes sockets in both. */
#include "enforcer/net/setup/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/net/setup/child.h"
#include "enforcer/net/setup/held.h"
#include "enforcer/net/setup/netlink.h"
#include "enforcer/net/setup/link.h"
#include "enforcer/net/setup/maker.h"

/* What the agent sees; and what it never sees. */
#define AGENT_LINK "eth0"
#define BROKER_LINK "net0"
/* Of both: said when they are made, since a look-up takes longer. Beside them are lo, and tunnels
 * that some kernels put into every namespace, with the numbers from 2 on. */
#define WIRE_INDEX 64U
/* A maker waits for nobody but the kernel. */
#define MAKER_MS 10000
/* Packets that wait to be looked at; what does not fit is not recorded one by one. */
#define PACKET_BYTES (256 << 10)

/* Locally administered; in a session's two namespaces there are no others. */
static const uint8_t agent_mac[] = {0x02, 0, 0, 0, 0, 2}, broker_mac[] = {0x02, 0, 0, 0, 0, 1};

struct side {
	int link;
	const char *addr4, *addr6;
	const char *peer4, *peer6; /* of the other side */
	const uint8_t *peer_mac;
	bool outer;
};

/* The steps of one side, as numbers of the results; of each pair IPv4 comes first. */
struct steps {
	size_t loopback, quiet, up, address[2], neighbour[2], route[2], local[2], near;
};

static int add_steps(const struct side *s, struct ward_link_batch *b, struct steps *ret)
{
	static const int families[] = {AF_INET, AF_INET6};
	const unsigned bits[] = {WARD_WIRE_BITS4, WARD_WIRE_BITS6};
	const char *const own[] = {s->addr4, s->addr6}, *const other[] = {s->peer4, s->peer6};
	struct steps n = {.loopback = ward_link_up(b, WARD_LINK_LOOPBACK)};
	n.quiet = ward_link_quiet(b, WIRE_INDEX);
	n.up = ward_link_up(b, WIRE_INDEX);
	for (int v6 = 0; v6 < 2; v6++) {
		uint8_t mine[16], peer[16];
		if (inet_pton(families[v6], own[v6], mine) != 1 ||
			inet_pton(families[v6], other[v6], peer) != 1)
			return -EINVAL;
		n.address[v6] = ward_link_address(b, WIRE_INDEX, families[v6], mine, bits[v6]);
		/*
		 * Where all addresses are local ones, IPv6 has no answer for itself when the kernel
		 * asks, after some seconds of silence, whether the other side is still there: what
		 * a server says so late would not arrive. There is nobody else on this wire.
		 */
		n.neighbour[v6] =
			ward_link_neighbour(b, WIRE_INDEX, families[v6], peer, s->peer_mac);
		n.route[v6] = ward_link_route(b, s->outer ? WARD_LINK_HOST : WARD_LINK_VIA,
			WIRE_INDEX, families[v6], peer);
		if (s->outer)
			n.local[v6] = ward_link_route(
				b, WARD_LINK_LOCAL, WARD_LINK_LOOPBACK, families[v6], peer);
	}
	/*
	 * Of an address that is valid on one link, the kernel wants a route by the link it came
	 * from. Without one it answers "no route", which a program that is still inside connect(2)
	 * does not hear: it would try for a second.
	 */
	if (s->outer)
		n.near = ward_link_route(b, WARD_LINK_NEAR, WIRE_INDEX, AF_INET6, NULL);
	*ret = n;
	return 0;
}

/*
 * Returns whether the host has IPv6. If IPv6 is off or missing, names have no such address inside,
 * and setting up IPv6 on the interface is the only step that may fail.
 */
static int set_up(struct side *s, struct ward_err *err)
{
	struct ward_link_batch b = WARD_LINK_BATCH_INIT;
	struct steps n;
	int r = add_steps(s, &b, &n);
	if (r == 0)
		r = ward_link_send(s->link, &b);
	if (r < 0)
		return ward_err_sys(err, r, "set up the wire");
	const int quiet = b.result[n.quiet];
	if (b.result[n.loopback] < 0 || b.result[n.up] < 0 ||
		(quiet < 0 && quiet != -EAFNOSUPPORT && quiet != -EOPNOTSUPP && quiet != -EINVAL))
		return ward_err_set(err, -EIO, "raise the interfaces of the %s",
			s->outer ? "broker" : "session");
	const int ipv6 = b.result[n.address[1]] == 0;
	for (int v6 = 0; v6 <= ipv6; v6++) {
		const int results[] = {b.result[n.address[v6]], b.result[n.neighbour[v6]],
			b.result[n.route[v6]], s->outer ? b.result[n.local[v6]] : 0};
		for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++)
			if (results[i] < 0)
				return ward_err_sys(err, results[i], "set up the wire");
	}
	if (ipv6 && s->outer && b.result[n.near] < 0)
		return ward_err_sys(err, b.result[n.near], "set up the wire");
	return ipv6;
}

/* release: the byte that says that there is a veth; without it the other side failed. */
static int inner_side(int release, struct ward_err *err)
{
	struct side s = {.addr4 = WARD_WIRE_AGENT4,
		.addr6 = WARD_WIRE_AGENT6,
		.peer4 = WARD_WIRE_BROKER4,
		.peer6 = WARD_WIRE_BROKER6,
		.peer_mac = broker_mac};
	char byte;
	ward_cleanup_fd int link = -1;
	int r = ward_netlink_open(0, &link);
	if (r < 0)
		return ward_err_sys(err, r, "netlink");
	s.link = link;
	/* It raises the loopback interface as pid 1 does, perhaps later: ports are listened on
	 * there. */
	r = read(release, &byte, 1) == 1 ? set_up(&s, err)
					 : ward_err_set(err, -EPIPE, "there is no wire");
	return r;
}

/* "port unreachable" is an answer here, not something to be sparing with. */
static void unlimited_refusals(void)
{
	static const char *const files[] = {
		"/proc/sys/net/ipv4/icmp_ratelimit", "/proc/sys/net/ipv6/icmp/ratelimit"};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		ward_cleanup_fd int fd = open(files[i], O_WRONLY | O_CLOEXEC);
		/* Where /proc/sys cannot be written, many refused datagrams at once are lost. */
		if (fd >= 0)
			(void)!ward_fd_write_all(fd, "0", 1);
	}
}

/* The packet socket where refusals wait; -1: they do not. */
static int hold_refusals(int link, int ipv6)
{
	uint8_t v4[4], v6[16];
	const struct ward_held_agent to = {v4, ipv6 ? v6 : NULL};
	return inet_pton(AF_INET, WARD_WIRE_AGENT4, v4) == 1 &&
			       inet_pton(AF_INET6, WARD_WIRE_AGENT6, v6) == 1
		       ? ward_held_set_up(link, BROKER_LINK, &to)
		       : -1;
}

/* release: told as soon as there is a veth. *ret_held: where refusals wait. */
static int outer_side(int net_fd, int release, int *ret_held, struct ward_err *err)
{
	const struct ward_link_end here = {BROKER_LINK, broker_mac, WIRE_INDEX},
				   there = {AGENT_LINK, agent_mac, WIRE_INDEX};
	struct side s = {.addr4 = WARD_WIRE_BROKER4,
		.addr6 = WARD_WIRE_BROKER6,
		.peer4 = WARD_WIRE_AGENT4,
		.peer6 = WARD_WIRE_AGENT6,
		.peer_mac = agent_mac,
		.outer = true};
	struct ward_link_batch veth = WARD_LINK_BATCH_INIT;
	ward_cleanup_fd int link = -1;
	int r = ward_netlink_open(0, &link);
	if (r < 0)
		return ward_err_sys(err, r, "netlink");
	s.link = link;
	const size_t made = ward_link_veth(&veth, &here, &there, net_fd);
	r = ward_link_send(s.link, &veth);
	if (r == 0)
		r = veth.result[made];
	if (r < 0)
		r = ward_err_sys(err, r, "join the namespaces by veth%s",
			r == -EOPNOTSUPP ? " (this kernel has none; fix: modprobe veth)" : "");
	if (r == 0 && write(release, "", 1) != 1)
		r = ward_err_set(err, -EPIPE, "the other end of the session's network has ended");
	/* From here on both sides are at work. */
	if (r == 0)
		r = set_up(&s, err);
	if (r >= 0)
		*ret_held = hold_refusals(s.link, r);
	unlimited_refusals();
	return r;
}

/*
 * What the agent sends to begin something: TCP with SYN and without ACK, and UDP; without a link
 * header (SOCK_DGRAM). Of IPv6 only what has no extension headers.
 */
static int watch_packets(void)
{
	static struct sock_filter code[] = {
		/* 0: version of IP */
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 6, 8, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 4, 0, 13),
		/* 4: IPv4: protocol, length of the header, flags of TCP */
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 10, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 10),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, 13),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 5, 6),
		/* 11: IPv6 */
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 3),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 53),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x10, 1, 0),
		/* 16: enough for both headers */
		BPF_STMT(BPF_RET | BPF_K, 96),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog prog = {.len = sizeof(code) / sizeof(*code), .filter = code};
	const int bytes = PACKET_BYTES, on = 1;
	struct sockaddr_ll ll = {.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = WIRE_INDEX};
	/* Protocol 0: nothing arrives before the filter stands. */
	ward_cleanup_fd int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof(on)) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)) < 0 ||
		setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)) < 0 ||
		bind(fd, (struct sockaddr *)&ll, sizeof(ll)) < 0)
		return -errno;
	return ward_steal_fd(&fd);
}

static void say_failed(int channel, const char *text)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_MAKER_FAILED);
	ward_msg_put_str(&m, text);
	(void)!ward_msg_send(channel, &m, NULL, 0);
}

/* The descriptors of a side; the second one needs the first. -1: it has none. */
struct own {
	int fd;
	int held;
};

/*
 * They stay open here, too: the last close of a packet socket waits for all readers of the kernel's
 * (packet_release(): synchronize_net()), 20 ms and more, and who started the broker waits for the
 * broker's end, but not for ours.
 */
static int say_ready(int channel, int ipv6, const struct own *own)
{
	const int fds[] = {own->fd, own->held};
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_MAKER_READY);
	ward_msg_put_u32(&m, (uint32_t)ipv6);
	return ward_msg_send(channel, &m, fds, fds[0] < 0 ? 0 : fds[1] < 0 ? 1 : 2);
}

/* Answers for its side, once that stands; ipv6 < 0: err says why it does not. */
static void serve(int channel, bool outer, int ipv6, const struct own *own, struct ward_err *err)
{
	const struct ward_maker_of of = {
		.shared = outer, .bind_low = outer, .mark = own->held >= 0 ? WARD_HELD_MARK : 0};
	int r = ipv6 < 0 ? ipv6 : ward_maker_confine(&of, err);
	if (r < 0)
		say_failed(channel, err->text);
	else if (say_ready(channel, ipv6, own) == 0)
		ward_maker_serve(channel, &of);
}

/* Waits for the session's namespaces, joins that of users; *ret_net is that of the network. */
static int join_session(int channel, int *ret_net)
{
	int ns[2] = {-1, -1};
	uint32_t none = 0;
	if (ward_child_await(channel, ns, 2, &none) < 0)
		return -EPIPE;
	ward_cleanup_fd int user_ns = ns[0];
	ward_cleanup_fd int net_ns = ns[1];
	if (setns(user_ns, CLONE_NEWUSER) < 0) {
		say_failed(channel, "the session's user namespace cannot be joined");
		return -EPERM;
	}
	*ret_net = ward_steal_fd(&net_ns);
	return 0;
}

/* Makes the broker's namespace, and the veth; user: where the inner one waits for that. */
static void outer_life(int channel, void *user)
{
	struct ward_err err = WARD_ERR_INIT;
	const int *release = user;
	int keep[] = {channel, release[1]};
	ward_cleanup_fd int net_ns = -1;
	if (ward_child_keep_only(keep, 2) < 0 || join_session(channel, &net_ns) < 0)
		return;
	if (unshare(CLONE_NEWNET) < 0) {
		say_failed(channel, "no network namespace of its own");
		return;
	}
	struct own own = {-1, -1};
	int ipv6 = outer_side(net_ns, release[1], &own.held, &err);
	close(ward_steal_fd(&net_ns));
	close(release[1]);
	own.fd = ipv6 < 0 ? -1 : watch_packets();
	/* Nobody would know what a refusal answers. */
	if (ipv6 >= 0 && own.fd < 0 && own.held >= 0)
		ipv6 = ward_err_sys(&err, own.fd, "packet socket");
	serve(channel, true, ipv6, &own, &err);
}

static void inner_life(int channel, void *user)
{
	struct ward_err err = WARD_ERR_INIT;
	const int *release = user;
	int keep[] = {channel, release[0]};
	ward_cleanup_fd int net_ns = -1;
	if (ward_child_keep_only(keep, 2) < 0 || join_session(channel, &net_ns) < 0)
		return;
	if (setns(net_ns, CLONE_NEWNET) < 0) {
		say_failed(channel, "the session's network namespace cannot be joined");
		return;
	}
	close(ward_steal_fd(&net_ns));
	int ipv6 = inner_side(release[0], &err);
	close(release[0]);
	const struct own own = {
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG), -1};
	serve(channel, false, ipv6, &own, &err);
}

static int hear_ready(int channel, bool *ret_ipv6, struct own *ret, struct ward_err *err)
{
	char data[2 * WARD_ERR_TEXT_MAX];
	struct ward_msg_reader r;
	int fds[2] = {-1, -1};
	size_t n_fds = 2;
	struct pollfd p = {.fd = channel, .events = POLLIN};
	int ready = 0;
	do {
		ready = poll(&p, 1, MAKER_MS);
	} while (ready < 0 && errno == EINTR);
	ssize_t n = ready > 0 ? ward_msg_recv(channel, data, sizeof(data), fds, &n_fds) : 0;
	if (n <= 0)
		return ward_err_set(err, -EIO, "could not make the session's network");
	ward_msg_reader_init(&r, data, (size_t)n);
	if (r.type == WARD_MAKER_FAILED) {
		ward_cleanup_free char *text = ward_msg_get_str(&r);
		return ward_err_set(err, -EIO, "%s", text ? text : "?");
	}
	*ret_ipv6 = ward_msg_get_u32(&r) == 1;
	*ret = (struct own){n_fds > 0 ? fds[0] : -1, n_fds > 1 ? fds[1] : -1};
	return r.type == WARD_MAKER_READY ? ward_msg_done(&r) : -EBADMSG;
}

int ward_wire_fork(struct ward_wire *ret, struct ward_err *err)
{
	struct ward_wire w = WARD_WIRE_INIT;
	int release[2];
	if (pipe2(release, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "pipe");
	int r = ward_child_fork(outer_life, release, &w.outer, err);
	if (r == 0)
		r = ward_child_fork(inner_life, release, &w.inner, err);
	close(release[0]);
	close(release[1]);
	if (r < 0)
		ward_wire_close(&w);
	else
		*ret = w;
	return r;
}

int ward_wire_join(struct ward_wire *w, int user_fd, int net_fd, struct ward_err *err)
{
	const int ns[] = {user_fd, net_fd};
	bool outside = false, inside = false;
	int r = ward_child_join(w->outer, ns, 2, 0);
	if (r == 0)
		r = ward_child_join(w->inner, ns, 2, 0);
	if (r < 0)
		return ward_err_sys(err, r, "the network of the session");
	struct own own[2] = {{-1, -1}, {-1, -1}};
	r = hear_ready(w->outer, &outside, &own[0], err);
	if (r == 0)
		r = hear_ready(w->inner, &inside, &own[1], err);
	w->packet = own[0].fd;
	w->held = own[0].held;
	w->diag = own[1].fd;
	w->ipv6 = r == 0 && outside && inside;
	return r;
}

void ward_wire_close(struct ward_wire *w)
{
	const int fds[] = {w->outer, w->inner, w->packet, w->held, w->diag};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*w = WARD_WIRE_INIT;
}

static void put_address(struct ward_msg *m, const struct sockaddr *addr)
{
	uint8_t bytes[18];
	if (!addr) {
		ward_msg_put_bytes(m, bytes, 0);
	} else if (addr->sa_family == AF_INET) {
		const struct sockaddr_in *a = (const struct sockaddr_in *)addr;
		memcpy(bytes, &a->sin_addr, 4);
		memcpy(bytes + 4, &a->sin_port, 2);
		ward_msg_put_bytes(m, bytes, 6);
	} else {
		const struct sockaddr_in6 *a = (const struct sockaddr_in6 *)addr;
		memcpy(bytes, &a->sin6_addr, 16);
		memcpy(bytes + 16, &a->sin6_port, 2);
		ward_msg_put_bytes(m, bytes, 18);
	}
}

int ward_wire_socket(const struct ward_wire *w, enum ward_wire_side side, int family, int type,
	const struct sockaddr *addr, int *ret_fd)
{
	int channel = side == WARD_WIRE_OUTER ? w->outer : w->inner;
	ward_cleanup(ward_msg_clear) struct ward_msg q;
	struct ward_child_answer a;
	ward_msg_init(&q, WARD_CHILD_QUESTION);
	ward_msg_put_u32(&q, (uint32_t)family);
	ward_msg_put_u32(&q, (uint32_t)type);
	put_address(&q, addr);
	int r = ward_child_ask(channel, &q, MAKER_MS, &a);
	if (r == 0 && a.fd < 0)
		r = -EPIPE;
	if (r == 0)
		*ret_fd = a.fd;
	return r;
}

int ward_wire_release(const struct ward_wire *w, const void *data, size_t len, bool ipv6)
{
	struct sockaddr_ll ll = {.sll_family = AF_PACKET,
		.sll_protocol = htons(ipv6 ? ETH_P_IPV6 : ETH_P_IP),
		.sll_ifindex = WIRE_INDEX,
		.sll_halen = sizeof(agent_mac)};
	memcpy(ll.sll_addr, agent_mac, sizeof(agent_mac));
	return sendto(w->packet, data, len, MSG_DONTWAIT, (struct sockaddr *)&ll, sizeof(ll)) < 0
		       ? -errno
		       : 0;
}
