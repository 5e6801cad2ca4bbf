/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/net/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/msg.h"

/* Where the child's end of the channel is. */
#define CHANNEL 3
/* It waits for nobody but the file system. */
#define REACH_MS 5000

static int load_filter(void)
{
	static const int allowed[] = {SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(openat2),
		SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(connect), SCMP_SYS(close),
		SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
		SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn),
		SCMP_SYS(restart_syscall)};
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r = ctx ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < sizeof(allowed) / sizeof(*allowed); i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
	if (r == 0)
		r = seccomp_rule_add(
			ctx, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, SCMP_A0_32(SCMP_CMP_EQ, AF_UNIX));
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
			SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (r == 0)
		r = seccomp_load(ctx);
	seccomp_release(ctx);
	return r;
}

static int connect_to(const char *path, int *ret_fd)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	struct stat st;
	ward_cleanup_fd int at = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	if (at < 0)
		return -errno;
	if (fstat(at, &st) < 0)
		return -errno;
	if (!S_ISSOCK(st.st_mode))
		return -ECONNREFUSED;
	ward_cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* What was looked at, whatever has that name by now. */
	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d", at);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		return -errno;
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

static void serve(char *const *paths, size_t n)
{
	static char data[64];
	for (;;) {
		struct ward_msg_reader r;
		ward_cleanup_fd int fd = -1;
		ssize_t len = ward_msg_recv(CHANNEL, data, sizeof(data), NULL, NULL);
		if (len <= 0)
			return;
		ward_msg_reader_init(&r, data, (size_t)len);
		uint32_t number = ward_msg_get_u32(&r);
		int code = -EINVAL;
		if (r.type == WARD_REACH_REQUEST && ward_msg_done(&r) == 0 && number < n)
			code = connect_to(paths[number], &fd);
		ward_cleanup(ward_msg_clear) struct ward_msg m;
		ward_msg_init(&m, WARD_REACH_ANSWER);
		ward_msg_put_u32(&m, (uint32_t)-code);
		if (ward_msg_send(CHANNEL, &m, &fd, fd >= 0 ? 1 : 0) < 0)
			return;
	}
}

static void child(int channel, char *const *paths, size_t n)
{
	if ((channel != CHANNEL && dup3(channel, CHANNEL, O_CLOEXEC) < 0) ||
		close_range(CHANNEL + 1, ~0U, 0) < 0 ||
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return;
	/* Sanitizers map and trace as they like. meson defines WARD_SANITIZED. */
	if (WARD_SANITIZED || load_filter() == 0)
		serve(paths, n);
}

int ward_reach_make(char *const *paths, size_t n, int *ret_channel, struct ward_err *err)
{
	int pair[2];
	*ret_channel = -1;
	if (n == 0)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return ward_err_sys(err, -errno, "socketpair");
	pid_t pid = fork();
	if (pid == 0) {
		child(pair[1], paths, n);
		_exit(0);
	}
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return ward_err_sys(err, -errno, "fork");
	}
	*ret_channel = pair[0];
	return 0;
}

int ward_reach_connect(int channel, size_t number, int *ret_fd)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	struct pollfd p = {.fd = channel, .events = POLLIN};
	struct ward_msg_reader r;
	char data[64];
	ward_cleanup_fd int fd = -1;
	size_t n_fds = 1;
	ward_msg_init(&m, WARD_REACH_REQUEST);
	ward_msg_put_u32(&m, (uint32_t)number);
	if (ward_msg_send(channel, &m, NULL, 0) < 0 || poll(&p, 1, REACH_MS) != 1)
		return -EPIPE;
	ssize_t n = ward_msg_recv(channel, data, sizeof(data), &fd, &n_fds);
	/* Our own descriptors are used up: the message came, the descriptor did not. */
	if (n == -EBADMSG)
		return -EMFILE;
	if (n <= 0)
		return -EPIPE;
	ward_msg_reader_init(&r, data, (size_t)n);
	int code = -(int)ward_msg_get_u32(&r);
	if (r.type != WARD_REACH_ANSWER || ward_msg_done(&r) < 0 || (code == 0 && n_fds != 1))
		return -EPIPE;
	if (code == 0)
		*ret_fd = ward_steal_fd(&fd);
	return code;
}
