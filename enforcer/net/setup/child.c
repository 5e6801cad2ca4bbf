/* SPDX-License-Identifier: Apache-2.0 */
/* Forks, confines and asks the small processes beside wardfs-net. */
#include "enforcer/net/setup/child.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/net/setup/filters.h"

/* A question is an address and a few numbers; an answer less. */
#define MESSAGE_MAX 256

/* One that is stopped does not see that its channel is closed. */
static void dies_with_parent(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

int ward_child_fork(
	void (*life)(int channel, void *user), void *user, int *ret_channel, struct ward_err *err)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return ward_err_sys(err, -errno, "socketpair");
	pid_t pid = fork();
	if (pid == 0) {
		close(pair[0]);
		dies_with_parent();
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

int ward_child_confine(uint64_t caps, const struct ward_net_filter *filter, struct ward_err *err)
{
	/* The kernel takes a copy. */
	const struct sock_fprog program = {
		.len = filter->n, .filter = (struct sock_filter *)(uintptr_t)filter->code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return ward_err_sys(err, -errno, "prctl");
	int r = keep_caps(caps);
	if (r < 0)
		return ward_err_sys(err, r, "drop capabilities");
	/* Other credentials, as those of a namespace, have taken it away
	 * (PR_SET_PDEATHSIG(2const)). */
	dies_with_parent();
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
