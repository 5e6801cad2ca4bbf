/* SPDX-License-Identifier: Apache-2.0 */
/* Leads the kernel's refusals past wardfs-net. */
#include "enforcer/net/setup/held.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* Behind those of the wire. */
#define FROM_INDEX 65U
#define TO_INDEX 66U
#define TABLE 100U
/* The rules of the kernel: local addresses 0, main 32766. */
#define LOCAL_PREF 0U
#define RULE_PREF 1U
#define LOCAL_PREF_AFTER 2U

static const struct ward_link_end from_end = {
	"held0", (const uint8_t[]){2, 0, 0, 0, 0, 3}, FROM_INDEX};
static const struct ward_link_end to_end = {"held1", (const uint8_t[]){2, 0, 0, 0, 0, 4}, TO_INDEX};

static bool write_zero(const char *path)
{
	char old = 0;
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, &old, 1) == 1 && old == '0')
		return true;
	ward_cleanup_fd int out = open(path, O_WRONLY | O_CLOEXEC);
	return out >= 0 && ward_fd_write_all(out, "0", 1) == 0;
}

/*
 * Where the kernel asks for the way back of what arrives, it would find the way of a refusal. The
 * host's setting is a new namespace's, too.
 */
static bool no_reverse_filter(const char *wire)
{
	char path[96];
	snprintf(path, sizeof(path), "/proc/sys/net/ipv4/conf/%s/rp_filter", wire);
	return write_zero("/proc/sys/net/ipv4/conf/all/rp_filter") && write_zero(path);
}

static bool send_all(int link, struct ward_link_batch *b)
{
	int r = ward_link_send(link, b);
	for (size_t i = 0; r == 0 && i < b->n; i++)
		r = b->result[i];
	return r == 0;
}

/* The pair, and a table that leads to the agent through it. */
static bool make_way(int link, const struct ward_held_agent *to)
{
	struct ward_link_batch pair = WARD_LINK_BATCH_INIT, b = WARD_LINK_BATCH_INIT;
	ward_cleanup_fd int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (here < 0)
		return false;
	(void)ward_link_veth(&pair, &from_end, &to_end, here);
	if (!send_all(link, &pair))
		return false;
	/* Fails without IPv6, and then there is nothing to be quiet about. */
	const size_t quiet[] = {ward_link_quiet(&b, FROM_INDEX), ward_link_quiet(&b, TO_INDEX)};
	(void)ward_link_up(&b, FROM_INDEX);
	(void)ward_link_up(&b, TO_INDEX);
	(void)ward_link_neighbour(&b, FROM_INDEX, AF_INET, to->v4, to_end.mac);
	(void)ward_link_host_in(&b, TABLE, FROM_INDEX, AF_INET, to->v4);
	if (to->v6) {
		(void)ward_link_neighbour(&b, FROM_INDEX, AF_INET6, to->v6, to_end.mac);
		(void)ward_link_host_in(&b, TABLE, FROM_INDEX, AF_INET6, to->v6);
	}
	if (ward_link_send(link, &b) < 0)
		return false;
	for (size_t i = 0; i < b.n; i++)
		if (b.result[i] < 0 && i != quiet[0] && i != quiet[1])
			return false;
	return true;
}

/* The table of local addresses, which has every way back, is asked behind the rule. */
static bool make_rule(int link, int family, const uint8_t *to)
{
	const struct ward_link_rule local = {.pref = LOCAL_PREF_AFTER, .table = RT_TABLE_LOCAL};
	const struct ward_link_rule rule = {
		.pref = RULE_PREF, .table = TABLE, .unmarked_tcp_to = to};
	struct ward_link_batch add = WARD_LINK_BATCH_INIT, remove = WARD_LINK_BATCH_INIT;
	(void)ward_link_rule_add(&add, family, &local);
	(void)ward_link_rule_add(&add, family, &rule);
	if (!send_all(link, &add))
		return false;
	/* From here on the rule counts. */
	(void)ward_link_rule_remove(&remove, family, LOCAL_PREF);
	return send_all(link, &remove);
}

/* TCP with RST, whole; without a link header. Of IPv6 the kernel's have no extension headers. */
static int watch(void)
{
	static struct sock_filter code[] = {
		/* 0: version of IP */
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 6, 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 4, 0, 9),
		/* 4: IPv4 */
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 7),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
		BPF_JUMP(BPF_JMP | BPF_JA, 3, 0, 0),
		/* 8: IPv6 */
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 3),
		BPF_STMT(BPF_LDX | BPF_IMM, 40),
		/* 11: flags of TCP */
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, 13),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x04, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, 0xffff),
	};
	const struct sock_fprog prog = {.len = sizeof(code) / sizeof(*code), .filter = code};
	const int on = 1;
	struct sockaddr_ll ll = {.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)TO_INDEX};
	ward_cleanup_fd int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof(on)) < 0 ||
		setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)) < 0 ||
		bind(fd, (struct sockaddr *)&ll, sizeof(ll)) < 0)
		return -1;
	return ward_steal_fd(&fd);
}

int ward_held_set_up(int link, const char *wire, const struct ward_held_agent *to)
{
	if (!no_reverse_filter(wire) || !make_way(link, to))
		return -1;
	ward_cleanup_fd int fd = watch();
	if (fd < 0 || !make_rule(link, AF_INET, to->v4))
		return -1;
	/* Without this one, refusals of IPv6 go at once. */
	if (to->v6)
		(void)make_rule(link, AF_INET6, to->v6);
	return ward_steal_fd(&fd);
}
