/* SPDX-License-Identifier: Apache-2.0 */
/* pid 1's life: the control channel, the lifelines, and every orphan of the session. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/sandbox/init/init.h"
#include "enforcer/sandbox/sandbox.h"

int ward_init_tell(enum ward_init_type type, const uint32_t *v, size_t n, int fd)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, type);
	for (size_t i = 0; i < n; i++)
		ward_msg_put_u32(&m, v[i]);
	return ward_msg_send(WARD_INIT_FD_CONTROL, &m, &fd, fd >= 0 ? 1 : 0);
}

void ward_init_tell_failed(int code, enum ward_init_step step, const char *text)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_INIT_FAILED);
	ward_msg_put_u32(&m, (uint32_t)-code);
	ward_msg_put_u32(&m, step);
	ward_msg_put_str(&m, text);
	/* Nobody there to hear it: then the end of this process says the same. */
	int r = ward_msg_send(WARD_INIT_FD_CONTROL, &m, NULL, 0);
	(void)r;
}

int ward_init_hear(enum ward_init_type type)
{
	char data[256];
	struct ward_msg_reader r;
	size_t none = 0;
	ssize_t n = ward_msg_recv(WARD_INIT_FD_CONTROL, data, sizeof(data), NULL, &none);
	if (n <= 0)
		return n < 0 ? (int)n : -EPIPE;
	ward_msg_reader_init(&r, data, (size_t)n);
	return r.type == (uint32_t)type ? ward_msg_done(&r) : -EBADMSG;
}

int ward_init_filter(const void *filter, size_t len)
{
	if (len == 0)
		return 0;
	struct sock_fprog prog = {
		.len = (unsigned short)(len / sizeof(struct sock_filter)),
		/* The kernel only reads it. */
		.filter = (struct sock_filter *)(uintptr_t)filter,
	};
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0 ? -errno : 0;
}

static void event(enum ward_sandbox_event_kind kind, int value)
{
	uint32_t v[2] = {kind, (uint32_t)value};
	int r = ward_init_tell(WARD_INIT_EVENT, v, 2, -1);
	(void)r; /* the supervisor is gone: the poll loop sees it next */
}

/* Returns true when the command is over. */
static bool reap(const struct ward_init *in)
{
	for (;;) {
		siginfo_t si = {0};
		if (waitid(P_ALL, 0, &si, WEXITED | WSTOPPED | WNOHANG) < 0 || si.si_pid == 0)
			return false;
		if (si.si_pid != in->command)
			continue;
		switch (si.si_code) {
		case CLD_EXITED:
			event(WARD_SANDBOX_EXITED, si.si_status);
			return true;
		case CLD_KILLED:
		case CLD_DUMPED:
			event(WARD_SANDBOX_SIGNALED, si.si_status);
			return true;
		case CLD_STOPPED:
			event(WARD_SANDBOX_STOPPED, si.si_status);
			break;
		default:
			break;
		}
	}
}

static void forward(const struct ward_init *in, int sig)
{
	pid_t group = in->tty >= 0 ? tcgetpgrp(in->tty) : in->command;
	bool told = group > 1 && kill(-group, sig) == 0;
	/*
	 * The command itself, where nobody has the terminal; and it is to go on in any case: it may
	 * have been stopped while a job of its own has the terminal.
	 */
	if (in->command > 1 && group != in->command && (!told || sig == SIGCONT))
		kill(-in->command, sig);
}

/* A request of the supervisor. Returns false at its end or on nonsense. */
static bool obey(const struct ward_init *in)
{
	char data[256];
	struct ward_msg_reader r;
	size_t none = 0;
	ssize_t n = ward_msg_recv(WARD_INIT_FD_CONTROL, data, sizeof(data), NULL, &none);
	if (n <= 0)
		return false;
	ward_msg_reader_init(&r, data, (size_t)n);
	uint32_t sig = ward_msg_get_u32(&r);
	if (r.type != WARD_INIT_SIGNAL || ward_msg_done(&r) < 0 || sig == 0 || sig > 64)
		return false;
	forward(in, (int)sig);
	return true;
}

/* The command was executed (end of file), or says why not. Returns false in the latter case. */
static bool executed(struct ward_init *in)
{
	struct ward_init_failure f;
	ssize_t n = 0;
	do {
		n = read(in->exec_pipe, &f, sizeof(f));
	} while (n < 0 && errno == EINTR);
	if (n == 0) {
		close(in->exec_pipe);
		in->exec_pipe = -1;
		return ward_init_tell(WARD_INIT_STARTED, NULL, 0, -1) == 0;
	}
	if (n != (ssize_t)sizeof(f)) {
		ward_init_tell_failed(-EIO, WARD_INIT_SETUP, "the command could not be started");
		return false;
	}
	f.text[sizeof(f.text) - 1] = '\0';
	ward_init_tell_failed(-f.error, (enum ward_init_step)f.step, f.text);
	return false;
}

enum { POLL_CHILDREN, POLL_CONTROL, POLL_EXEC, POLL_LIFELINES };

/* Index of a lifeline that was closed, -1: none. */
static int closed_lifeline(const struct pollfd *fds, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char byte = 0;
		if (fds[i].revents == 0)
			continue;
		/* Nobody writes on a lifeline; a byte would be nonsense, and ends all as well. */
		if (fds[i].revents & (POLLHUP | POLLERR | POLLNVAL) ||
			read(fds[i].fd, &byte, 1) >= 0)
			return (int)i;
	}
	return -1;
}

static void drain(int fd)
{
	struct signalfd_siginfo si;
	while (read(fd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		continue;
}

/* 0, 1 and 2 are the command's: here they would keep a reader of its output waiting. */
static int let_go_of_stdio(void)
{
	ward_cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return -errno;
	for (int i = 0; i < 3; i++)
		if (dup2(null, i) < 0)
			return -errno;
	return 0;
}

int ward_init_watch(struct ward_init *in)
{
	struct pollfd fds[POLL_LIFELINES + WARD_PLAN_LIFELINES_MAX];
	size_t n = POLL_LIFELINES + in->plan.n_lifelines;
	sigset_t all;
	sigfillset(&all);
	ward_cleanup_fd int children = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	if (children < 0 || let_go_of_stdio() < 0)
		return 125;
	fds[POLL_CHILDREN] = (struct pollfd){.fd = children, .events = POLLIN};
	fds[POLL_CONTROL] = (struct pollfd){.fd = WARD_INIT_FD_CONTROL, .events = POLLIN};
	for (uint32_t i = 0; i < in->plan.n_lifelines; i++)
		fds[POLL_LIFELINES + i] =
			(struct pollfd){.fd = WARD_INIT_FD_LIFELINES + (int)i, .events = POLLIN};
	if (ward_init_filter(in->plan.init_filter, in->plan.init_filter_len) < 0)
		return 125;
	for (;;) {
		fds[POLL_EXEC] = (struct pollfd){.fd = in->exec_pipe, .events = POLLIN};
		if (poll(fds, n, -1) < 0 && errno != EINTR)
			return 125;
		int line = closed_lifeline(fds + POLL_LIFELINES, in->plan.n_lifelines);
		if (line >= 0) {
			event(WARD_SANDBOX_LIFELINE, line);
			return 125;
		}
		if (fds[POLL_EXEC].revents && !executed(in))
			return 125;
		if (fds[POLL_CONTROL].revents && !obey(in))
			return 125;
		if (fds[POLL_CHILDREN].revents)
			drain(children);
		/* Before the report about exec was read, an end of the child says nothing yet. */
		if (in->exec_pipe < 0 && reap(in))
			return 0;
	}
}
