/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/net/child.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* A question is an address and a few numbers; an answer less. */
#define MESSAGE_MAX 256

int ward_child_fork(
	void (*life)(int channel, void *user), void *user, int *ret_channel, struct ward_err *err)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return ward_err_sys(err, -errno, "socketpair");
	pid_t pid = fork();
	if (pid == 0) {
		close(pair[0]);
		life(pair[1], user);
		_exit(0);
	}
	int r = pid < 0 ? ward_err_sys(err, -errno, "fork") : 0;
	close(pair[1]);
	if (r < 0)
		close(pair[0]);
	else
		*ret_channel = pair[0];
	return r;
}

int ward_child_join(int channel, const int *fds, size_t n, uint32_t number)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_CHILD_JOIN);
	ward_msg_put_u32(&m, number);
	return ward_msg_send(channel, &m, fds, n) < 0 ? -EPIPE : 0;
}

int ward_child_await(int channel, int *ret_fds, size_t n, uint32_t *ret_number)
{
	char data[MESSAGE_MAX];
	struct ward_msg_reader r;
	size_t got = n;
	ssize_t len = ward_msg_recv(channel, data, sizeof(data), ret_fds, &got);
	if (len <= 0 || got != n)
		return -EPIPE;
	ward_msg_reader_init(&r, data, (size_t)len);
	*ret_number = ward_msg_get_u32(&r);
	return r.type == WARD_CHILD_JOIN ? ward_msg_done(&r) : -EBADMSG;
}

static int cmp_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int ward_child_keep_only(int *fds, size_t n)
{
	unsigned from = 3;
	qsort(fds, n, sizeof(*fds), cmp_ints);
	for (size_t i = 0; i < n; i++) {
		if ((unsigned)fds[i] > from && close_range(from, (unsigned)fds[i] - 1, 0) < 0)
			return -errno;
		from = (unsigned)fds[i] + 1;
	}
	return close_range(from, ~0U, 0) < 0 ? -errno : 0;
}

static int keep_caps(uint64_t set)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const uint32_t low = (uint32_t)set, high = (uint32_t)(set >> 32);
	struct __user_cap_data_struct data[2] = {
		{.effective = low, .permitted = low}, {.effective = high, .permitted = high}};
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &head, data) < 0 ? -errno : 0;
}

static int allow(scmp_filter_ctx ctx, const int *calls, size_t n)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, calls[i], 0);
	return r;
}

static int make_filter(const struct ward_child_rights *rights, scmp_filter_ctx *ret)
{
	static const int always[] = {SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(close),
		SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
		SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn),
		SCMP_SYS(restart_syscall)};
	scmp_filter_ctx ctx = *ret = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r = ctx ? 0 : -ENOMEM;
	if (r == 0)
		r = allow(ctx, always, sizeof(always) / sizeof(*always));
	if (r == 0)
		r = allow(ctx, rights->calls, rights->n_calls);
	for (size_t i = 0; r == 0 && i < rights->n_families; i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
			SCMP_A0_32(SCMP_CMP_EQ, (scmp_datum_t)rights->families[i]));
	/* Memory that can be executed is never made. */
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
			SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	return r;
}

/* libseccomp gives its program to a descriptor alone. */
static int take_program(scmp_filter_ctx ctx, struct ward_child_filter *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup_fd int fd = memfd_create("filter", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	int r = seccomp_export_bpf(ctx, fd);
	if (r == 0)
		r = ward_fd_pread_all(fd, BPF_MAXINSNS * sizeof(struct sock_filter), &b);
	if (r >= 0 && !b.len)
		r = -EIO;
	if (r < 0)
		return r;
	struct sock_filter *code = malloc(b.len);
	if (!code)
		return -ENOMEM;
	memcpy(code, b.data, b.len);
	*ret = (struct ward_child_filter){code, (unsigned short)(b.len / sizeof(*code))};
	return 0;
}

int ward_child_filter_make(
	const struct ward_child_rights *rights, struct ward_child_filter *ret, struct ward_err *err)
{
	scmp_filter_ctx ctx = NULL;
	int r = make_filter(rights, &ctx);
	if (r == 0)
		r = take_program(ctx, ret);
	seccomp_release(ctx);
	return r < 0 ? ward_err_sys(err, r, "seccomp") : 0;
}

int ward_child_confine(uint64_t caps, const struct ward_child_filter *filter, struct ward_err *err)
{
	const struct sock_fprog program = {.len = filter->n, .filter = filter->code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return ward_err_sys(err, -errno, "prctl");
	int r = keep_caps(caps);
	if (r < 0)
		return ward_err_sys(err, r, "drop capabilities");
	/* meson defines WARD_SANITIZED. */
	if (!WARD_SANITIZED && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		r = -errno;
	return r < 0 ? ward_err_sys(err, r, "seccomp") : 0;
}

void ward_child_serve(int channel, ward_child_fn answer, void *user)
{
	char data[MESSAGE_MAX];
	for (;;) {
		struct ward_child_answer a = WARD_CHILD_ANSWER_INIT;
		struct ward_msg_reader q;
		ssize_t n = ward_msg_recv(channel, data, sizeof(data), NULL, NULL);
		if (n <= 0)
			return;
		ward_msg_reader_init(&q, data, (size_t)n);
		int code = q.type == WARD_CHILD_QUESTION ? answer(user, &q, &a) : -EINVAL;
		ward_cleanup_fd int fd = a.fd;
		ward_cleanup(ward_msg_clear) struct ward_msg m;
		ward_msg_init(&m, WARD_CHILD_ANSWER);
		ward_msg_put_u32(&m, (uint32_t)-code);
		ward_msg_put_u32(&m, a.number);
		ward_msg_put_str(&m, a.text);
		if (ward_msg_send(channel, &m, &fd, fd >= 0 ? 1 : 0) < 0)
			return;
	}
}

int ward_child_ask(
	int channel, const struct ward_msg *q, int patience_ms, struct ward_child_answer *ret)
{
	struct pollfd p = {.fd = channel, .events = POLLIN};
	char data[MESSAGE_MAX];
	struct ward_msg_reader r;
	struct ward_child_answer a = WARD_CHILD_ANSWER_INIT;
	ward_cleanup_fd int fd = -1;
	size_t n_fds = 1;
	if (ward_msg_send(channel, q, NULL, 0) < 0 || poll(&p, 1, patience_ms) != 1)
		return -EPIPE;
	ssize_t n = ward_msg_recv(channel, data, sizeof(data), &fd, &n_fds);
	/* The message came, the descriptor did not. */
	if (n == -EBADMSG)
		return -EMFILE;
	if (n <= 0)
		return -EPIPE;
	ward_msg_reader_init(&r, data, (size_t)n);
	int code = -(int)ward_msg_get_u32(&r);
	a.number = ward_msg_get_u32(&r);
	ward_cleanup_free char *text = ward_msg_get_str(&r);
	if (r.type != WARD_CHILD_ANSWER || ward_msg_done(&r) < 0 || !text)
		return -EPIPE;
	if (code < 0)
		return code;
	snprintf(a.text, sizeof(a.text), "%s", text);
	a.fd = n_fds ? ward_steal_fd(&fd) : -1;
	*ret = a;
	return 0;
}
