/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/fuse.h>
#include <poll.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "fs/base/fs_confine.h"

/* The flag of a casefolded directory (include/uapi/linux/fs.h). */
#define CASEFOLD_FLAG 0x40000000

/* What the file says of a call: a positive errno, 0: nothing, -1: "casefold". */
static int fault(const char *file, int nr, unsigned *counts)
{
	ward_cleanup_free char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);
	FILE *f = fopen(file, "re");
	char line[128], call[64], what[32];
	unsigned every = 1;
	int error = 0;

	while (f && name && !error && fgets(line, sizeof(line), f)) {
		const int n = sscanf(line, "%63s %31s %u", call, what, &every);

		if (n < 2 || strcmp(call, name) != 0)
			continue;
		if (!strcmp(what, "casefold"))
			error = -1;
		else if (n == 2 || !every || ++counts[nr % 512] % every == 0)
			error = atoi(what);
	}
	if (f)
		fclose(f);
	return error;
}

/* Answers FS_IOC_GETFLAGS in the place of the backing. */
static int fold(const struct seccomp_notif *req)
{
	int flags = CASEFOLD_FLAG;
	struct iovec here = {.iov_base = &flags, .iov_len = sizeof(flags)};
	struct iovec there = {
		.iov_base = (void *)(uintptr_t)req->data.args[2], .iov_len = sizeof(flags)};

	return process_vm_writev((pid_t)req->pid, &here, 1, &there, 1, 0) < 0 ? errno : 0;
}

static void answer(int fd, const char *file, unsigned *counts, struct seccomp_notif *req,
	struct seccomp_notif_resp *resp)
{
	int error;

	memset(req, 0, sizeof(*req));
	memset(resp, 0, sizeof(*resp));
	if (seccomp_notify_receive(fd, req) != 0)
		return;
	error = fault(file, req->data.nr, counts);
	resp->id = req->id;
	if (error < 0 && req->data.args[1] == FS_IOC_GETFLAGS)
		resp->error = -fold(req);
	else if (error > 0)
		resp->error = -error;
	else
		resp->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	(void)seccomp_notify_respond(fd, resp);
}

/* The listener that the filtered process sends; ends this process where there is none. */
static int recv_listener(int sock)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	int fd;

	if (recvmsg(sock, &m, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&m))
		_exit(1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	close(sock);
	return fd;
}

static _Noreturn void serve(int sock, const char *file)
{
	struct seccomp_notif_resp *resp;
	struct seccomp_notif *req;
	unsigned counts[512] = {0};
	struct pollfd p = {.fd = recv_listener(sock), .events = POLLIN};

	if (seccomp_notify_alloc(&req, &resp) != 0)
		_exit(1);
	/* Its parent may die first; the filtered process's end is what counts. */
	while (poll(&p, 1, -1) >= 0 || errno == EINTR) {
		if (p.revents & POLLHUP)
			break;
		if (p.revents & POLLIN)
			answer(p.fd, file, counts, req, resp);
	}
	_exit(0);
}

/* Reads INIT in the daemon's place, as an older kernel would have said it: its length, or -errno.
 */
static ssize_t read_init(int dev, const struct inject_init *init, const struct seccomp_notif *req)
{
	char buf[sizeof(struct fuse_in_header) + sizeof(struct fuse_init_in)];
	struct fuse_in_header *in = (void *)buf;
	struct fuse_init_in *arg = (void *)(buf + sizeof(*in));
	/* The kernel wants room for any request (FUSE_MIN_READ_BUFFER). */
	ward_cleanup_free char *all = calloc(1, req->data.args[2]);
	struct iovec here = {.iov_base = all},
		     there = {.iov_base = (void *)(uintptr_t)req->data.args[1]};
	ssize_t n = all ? read(dev, all, req->data.args[2]) : -1;

	if (n < 0)
		return -errno;
	if ((size_t)n != sizeof(buf))
		return -EPROTO;
	memcpy(buf, all, sizeof(buf));
	if (in->opcode != FUSE_INIT || arg->minor < init->minor)
		return -EPROTO;
	arg->minor = init->minor;
	arg->flags &= ~(uint32_t)init->without;
	arg->flags2 &= ~(uint32_t)(init->without >> 32);
	memcpy(all, buf, sizeof(buf));
	here.iov_len = there.iov_len = (size_t)n;
	return process_vm_writev((pid_t)req->pid, &here, 1, &there, 1, 0) == n ? n : -errno;
}

static _Noreturn void serve_init(int sock, int dev, const struct inject_init *init)
{
	struct seccomp_notif_resp *resp;
	struct seccomp_notif *req;
	struct pollfd p = {.fd = recv_listener(sock), .events = POLLIN};

	if (seccomp_notify_alloc(&req, &resp) != 0)
		_exit(1);
	while (poll(&p, 1, -1) >= 0 || errno == EINTR) {
		ssize_t n;

		if (p.revents & POLLHUP)
			break;
		memset(req, 0, sizeof(*req));
		memset(resp, 0, sizeof(*resp));
		if (!(p.revents & POLLIN) || seccomp_notify_receive(p.fd, req) != 0)
			continue;
		resp->id = req->id;
		resp->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		if (dev >= 0) {
			n = read_init(dev, init, req);
			resp->flags = 0;
			if (n < 0)
				resp->error = (int)n;
			else
				resp->val = n;
			/* The daemon's end must be the connection's. */
			if (n != -EAGAIN) {
				close(dev);
				dev = -1;
			}
		}
		(void)seccomp_notify_respond(p.fd, resp);
	}
	_exit(0);
}

pid_t inject_start(const char *file, int dev, const struct inject_init *init, int *ret_sock)
{
	int sock[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		close(sock[0]);
		if (init)
			serve_init(sock[1], dev, init);
		close(dev);
		serve(sock[1], file);
	}
	close(sock[1]);
	if (pid < 0)
		close(sock[0]);
	else
		*ret_sock = sock[0];
	return pid < 0 ? -errno : pid;
}

static int send_listener(int sock, int fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	char byte = 0;
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};

	control.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(sizeof(int))};
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	return sendmsg(sock, &m, 0) == 1 ? 0 : -errno;
}

int inject_into(int sock, int dev)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int r = ctx ? 0 : -ENOMEM;
	size_t n;
	const int *calls = ward_confine_backing_calls(&n);

	if (r == 0 && dev >= 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_NOTIFY, SCMP_SYS(read), 1,
			SCMP_A0_32(SCMP_CMP_EQ, (uint32_t)dev));
	/* read, write and ioctls of /dev/fuse are none of them. */
	for (size_t i = 0; r == 0 && dev < 0 && i < n; i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_NOTIFY, calls[i], 0);
	if (r == 0 && dev < 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_NOTIFY, SCMP_SYS(ioctl), 1,
			SCMP_A1_32(SCMP_CMP_EQ, (uint32_t)FS_IOC_GETFLAGS));
	if (r == 0)
		r = seccomp_load(ctx);
	if (r == 0)
		r = send_listener(sock, seccomp_notify_fd(ctx));
	if (ctx)
		seccomp_release(ctx);
	close(sock);
	return r;
}
