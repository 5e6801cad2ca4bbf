/* SPDX-License-Identifier: Apache-2.0 */
/* Services of this host that are not for the command; each tells a secret to every client. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <mqueue.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "enforcer/attack/attempts/attempts.h"

#define WAIT_MS 1500

/* Connects within WAIT_MS: the socket, blocking again, or -1 with errno. */
static int reach(int fd, const void *address, socklen_t len)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	const struct timeval wait = {.tv_sec = 1, .tv_usec = 500000};
	int e = 0;
	socklen_t size = sizeof(e);

	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	if (connect(fd, address, len) < 0) {
		if (errno != EINPROGRESS)
			return -1;
		if (poll(&p, 1, WAIT_MS) != 1) {
			errno = ETIMEDOUT;
			return -1;
		}
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &size);
		if (e) {
			errno = e;
			return -1;
		}
	}
	fcntl(fd, F_SETFL, 0);
	return fd;
}

static int told(int fd, char *proof)
{
	return fd < 0 ? -1 : ward_proof_of_fd(fd, proof);
}

static int tcp4(const char *address, uint64_t port, int type, char *proof)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	if (!address || !port || inet_pton(AF_INET, address, &a.sin_addr) != 1)
		return ward_attempt_lacks();
	const int fd = reach(socket(AF_INET, type | SOCK_CLOEXEC, 0), &a, sizeof(a));
	if (fd >= 0 && type == SOCK_DGRAM && send(fd, "?", 1, 0) != 1)
		return -1;
	return told(fd, proof);
}

static int loopback(const struct ward_facts *f, char *proof)
{
	return tcp4("127.0.0.1", f->tcp, SOCK_STREAM, proof);
}

static int loopback_other(const struct ward_facts *f, char *proof)
{
	return tcp4("127.8.9.10", f->tcp, SOCK_STREAM, proof);
}

static int any_address(const struct ward_facts *f, char *proof)
{
	return tcp4("0.0.0.0", f->tcp, SOCK_STREAM, proof);
}

static int own_address(const struct ward_facts *f, char *proof)
{
	return tcp4(f->address, f->tcp, SOCK_STREAM, proof);
}

static int mapped(const struct ward_facts *f, char *proof)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)f->tcp)};
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &a.sin6_addr);
	return told(reach(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), &a, sizeof(a)), proof);
}

static int loopback6(const struct ward_facts *f, char *proof)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)f->tcp),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT};
	return told(reach(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), &a, sizeof(a)), proof);
}

static int fast_open(const struct ward_facts *f, char *proof)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)f->tcp),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct timeval wait = {.tv_sec = 1};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	if (sendto(fd, "?", 1, MSG_FASTOPEN, (struct sockaddr *)&a, sizeof(a)) < 0)
		return -1;
	return told(fd, proof);
}

static int udp(const struct ward_facts *f, char *proof)
{
	return tcp4("127.0.0.1", f->udp, SOCK_DGRAM, proof);
}

static int udp_own_address(const struct ward_facts *f, char *proof)
{
	return tcp4(f->address, f->udp, SOCK_DGRAM, proof);
}

static int unix_path(const struct ward_facts *f, char *proof)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", f->socket);
	return told(reach(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), &a, sizeof(a)), proof);
}

static int unix_root(const struct ward_facts *f, char *proof)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	if (snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/root%s", f->socket) >=
		(int)sizeof(a.sun_path))
		return ward_attempt_lacks();
	return told(reach(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), &a, sizeof(a)), proof);
}

static int unix_abstract(const struct ward_facts *f, char *proof)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	const size_t n = strlen(f->abstract);
	memcpy(a.sun_path + 1, f->abstract, n);
	return told(reach(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), &a,
			    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)),
		proof);
}

static int message_queue(const struct ward_facts *f, char *proof)
{
	char text[8192];
	struct mq_attr attr;
	if (!f->queue)
		return ward_attempt_lacks();
	const mqd_t q = mq_open(f->queue, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (q == (mqd_t)-1 || mq_getattr(q, &attr) < 0 || attr.mq_msgsize > (long)sizeof(text))
		return -1;
	const ssize_t n = mq_receive(q, text, sizeof(text), NULL);
	if (n <= 0)
		return -1;
	/* Put it back, for the next reader. */
	(void)mq_send(q, text, (size_t)n, 0);
	snprintf(proof, WARD_PROOF_SIZE, "%.*s",
		(int)n < WARD_PROOF_SIZE ? (int)n : WARD_PROOF_SIZE - 1, text);
	return 0;
}

static int segment(const struct ward_facts *f, char *proof)
{
	const void *p = shmat((int)f->segment, NULL, SHM_RDONLY);
	if (p == (const void *)-1)
		return -1;
	snprintf(proof, WARD_PROOF_SIZE, "%s", (const char *)p);
	return 0;
}

/* The names of interfaces: with more than a loopback there is a network to send to. */
static int interfaces(const struct ward_facts *f, char *proof)
{
	struct ifreq r = {0};
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	for (int i = 1; i < 64; i++) {
		struct sockaddr_in *a = (struct sockaddr_in *)&r.ifr_addr;
		char text[INET_ADDRSTRLEN];
		r.ifr_ifindex = i;
		if (ioctl(fd, SIOCGIFNAME, &r) < 0 || ioctl(fd, SIOCGIFADDR, &r) < 0)
			continue;
		inet_ntop(AF_INET, &a->sin_addr, text, sizeof(text));
		if (f->address && strcmp(text, f->address) == 0) {
			snprintf(proof, WARD_PROOF_SIZE, "%s", text);
			return 0;
		}
	}
	errno = ENODEV;
	return -1;
}

#define REACH(name, what, stops, ref, fn) WARD_ATTEMPT(PROMISE, SECRET, name, what, stops, ref, fn)
#define NET "a network namespace, or a filter on connect(2)"
static const struct ward_attempt rows[] = {
	REACH("tcp-loopback", "Connects to a TCP server on 127.0.0.1.", NET, "T1046", loopback),
	REACH("tcp-loopback-other", "Connects to it by another address of 127/8.", NET, "CWE-918",
		loopback_other),
	REACH("tcp-any", "Connects to it by 0.0.0.0.", NET, "CWE-918", any_address),
	REACH("tcp-loopback6", "Connects to it by ::1.", NET, "T1046", loopback6),
	REACH("tcp-mapped", "Connects to it by an IPv4 address in IPv6 form.", NET, "CWE-918",
		mapped),
	REACH("tcp-own-address", "Connects to it by another address of this host.", NET, "T1046",
		own_address),
	REACH("tcp-fast-open",
		"Sends data with the first packet (TCP fast open), without connect(2).", NET,
		"CWE-284", fast_open),
	REACH("udp-loopback", "Asks a UDP server on 127.0.0.1.", NET, "T1046", udp),
	REACH("udp-own-address", "Asks a UDP server by another address of this host.", NET, "T1046",
		udp_own_address),
	REACH("unix-path", "Connects to a unix socket outside of the workspace.",
		"a view of its own", "T1559", unix_path),
	REACH("unix-root-link", "Connects to it through /proc/self/root.", "a view of its own",
		"CWE-59", unix_root),
	REACH("unix-abstract", "Connects to an abstract unix socket.",
		"a network namespace; Landlock from ABI 6", "CVE-2020-15257", unix_abstract),
	REACH("message-queue", "Reads a POSIX message queue of another program.",
		"an ipc namespace", "T1559", message_queue),
	REACH("shared-segment", "Attaches a System V segment of another program.",
		"an ipc namespace", "T1559", segment),
	WARD_ATTEMPT(HARDENING, SECRET, "interfaces",
		"Lists the addresses of this host's interfaces.", "a network namespace", "T1016",
		interfaces),
};
WARD_ATTEMPT_TABLE(
	network, WARD_ATTACK_NETWORK, "reach the network and services of this host", rows);
