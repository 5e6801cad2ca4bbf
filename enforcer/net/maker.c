/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/net/maker.h"

#include <errno.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/msg.h"

/* net.core.somaxconn is 4096 since Linux 5.4 and cuts what is larger. */
#define BACKLOG 4096

static int keep_caps(int bind_low)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	uint32_t set = bind_low ? 1U << CAP_NET_BIND_SERVICE : 0;
	struct __user_cap_data_struct data[2] = {{.effective = set, .permitted = set}, {0}};
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &head, data) < 0 ? -errno : 0;
}

static int load_filter(void)
{
	static const int allowed[] = {SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(bind),
		SCMP_SYS(listen), SCMP_SYS(setsockopt), SCMP_SYS(close), SCMP_SYS(brk),
		SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(exit),
		SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall)};
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r = ctx ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < sizeof(allowed) / sizeof(*allowed); i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
	for (int family = 0; r == 0 && family < 2; family++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
			SCMP_A0_32(SCMP_CMP_EQ, family ? AF_INET6 : AF_INET));
	/* A kernel without IPv6 is asked all the same. */
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
			SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (r == 0)
		r = seccomp_load(ctx);
	seccomp_release(ctx);
	return r;
}

int ward_maker_confine(int bind_low, struct ward_err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return ward_err_sys(err, -errno, "prctl");
	int r = keep_caps(bind_low);
	if (r < 0)
		return ward_err_sys(err, r, "drop capabilities");
	/* Sanitizers map and trace as they like. meson defines WARD_SANITIZED. */
	if (!WARD_SANITIZED)
		r = load_filter();
	return r < 0 ? ward_err_sys(err, r, "seccomp") : 0;
}

static int bind_to(int fd, int family, int type, const uint8_t *a, bool shared)
{
	const int on = 1;
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	const struct sockaddr *sa = (const struct sockaddr *)&v4;
	socklen_t len = sizeof(v4);
	if (family == AF_INET) {
		memcpy(&v4.sin_addr, a, 4);
		memcpy(&v4.sin_port, a + 4, 2);
	} else {
		memcpy(&v6.sin6_addr, a, 16);
		memcpy(&v6.sin6_port, a + 16, 2);
		sa = (const struct sockaddr *)&v6;
		len = sizeof(v6);
		/* Of IPv6, bind(2) knows interfaces' addresses alone and no AnyIP route. */
		if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0 ||
			setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof(on)) < 0)
			return -errno;
	}
	if (type == SOCK_STREAM && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -errno;
	if (shared && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0)
		return -errno;
	/* Whom a datagram was for, where the socket is not bound to one address. */
	if (type == SOCK_DGRAM &&
		setsockopt(fd, family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6,
			family == AF_INET ? IP_PKTINFO : IPV6_RECVPKTINFO, &on, sizeof(on)) < 0)
		return -errno;
	if (bind(fd, sa, len) < 0 || (type == SOCK_STREAM && listen(fd, BACKLOG) < 0))
		return -errno;
	return 0;
}

static int make(struct ward_msg_reader *r, bool shared, int *ret_fd)
{
	int family = (int)ward_msg_get_u32(r);
	int type = (int)ward_msg_get_u32(r);
	size_t len = 0;
	const uint8_t *a = ward_msg_get_bytes(r, &len);
	if (r->type != WARD_MAKER_REQUEST || ward_msg_done(r) < 0 ||
		(family != AF_INET && family != AF_INET6) ||
		(type != SOCK_STREAM && type != SOCK_DGRAM) ||
		(len != 0 && len != (family == AF_INET ? 6U : 18U)))
		return -EINVAL;
	ward_cleanup_fd int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	int code = len ? bind_to(fd, family, type, a, shared) : 0;
	if (code == 0)
		*ret_fd = ward_steal_fd(&fd);
	return code;
}

void ward_maker_serve(int channel, bool shared)
{
	static char data[256];
	for (;;) {
		struct ward_msg_reader r;
		ward_cleanup_fd int fd = -1;
		ssize_t n = ward_msg_recv(channel, data, sizeof(data), NULL, NULL);
		if (n <= 0)
			return;
		ward_msg_reader_init(&r, data, (size_t)n);
		int code = make(&r, shared, &fd);
		ward_cleanup(ward_msg_clear) struct ward_msg m;
		ward_msg_init(&m, WARD_MAKER_ANSWER);
		ward_msg_put_u32(&m, (uint32_t)-code);
		if (ward_msg_send(channel, &m, &fd, fd >= 0 ? 1 : 0) < 0)
			return;
	}
}
