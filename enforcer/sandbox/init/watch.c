/* SPDX-License-Identifier: Apache-2.0 */
/* pid 1's life: the control channel, the lifelines, and every orphan of the session. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/sandbox/init/init.h"
#include "enforcer/sandbox/sandbox.h"

static void event(enum ward_sandbox_event_kind kind, int value)
{
	uint32_t v[2] = {kind, (uint32_t)value};
	int r = ward_init_tell(WARD_INIT_EVENT, v, 2, -1);
	(void)r; /* the supervisor is gone: the poll loop sees it next */
}

/* Returns true when the command is over. */
static bool reap(struct ward_init *in)
{
	for (;;) {
		siginfo_t si = {0};
		if (waitid(P_ALL, 0, &si, WEXITED | WSTOPPED | WNOHANG) < 0 || si.si_pid == 0)
			return false;
		if (ward_init_exec_reaped(in, &si) || si.si_pid != in->command)
			continue; /* an orphan, or of a command that is over */
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

/* To the child, before it becomes the command. If it is gone, its socket says so next
 * (hear_child()). */
static void tell_child(
	const struct ward_init *in, enum ward_init_go word, const int *fds, size_t n_fds)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int) * 4)];
	} control = {.bytes = {0}};
	char go = (char)word;
	struct iovec iov = {&go, 1};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	if (n_fds > 0) {
		control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int) * n_fds),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.head), fds, sizeof(int) * n_fds);
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
	}
	/* send(3) would be another system call than the one that our filter gives us. */
	if (in->child >= 0)
		(void)!sendmsg(in->child, &msg, MSG_NOSIGNAL);
}

/* A request of the supervisor. Returns false at its end or on nonsense. */
static bool obey(struct ward_init *in)
{
	char data[256];
	struct ward_msg_reader r;
	int fds[4];
	size_t n_fds = 4;
	ssize_t n = ward_msg_recv(WARD_INIT_FD_CONTROL, data, sizeof(data), fds, &n_fds);
	if (n <= 0)
		return false;
	ward_msg_reader_init(&r, data, (size_t)n);
	if (r.type == WARD_INIT_EXEC) {
		uint32_t id = ward_msg_get_u32(&r);
		bool ok = ward_msg_done(&r) == 0;
		if (ok)
			ward_init_exec_request(in, id, fds, n_fds);
		for (size_t i = 0; i < n_fds; i++)
			close(fds[i]);
		return ok;
	}
	if (r.type == WARD_INIT_GIVE)
		tell_child(in, WARD_INIT_GIVEN, fds, n_fds);
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
	if (r.type == WARD_INIT_GIVE)
		return n_fds == 4 && ward_msg_done(&r) == 0;
	if (r.type == WARD_INIT_GO) {
		tell_child(in, WARD_INIT_GO_ON, NULL, 0);
		return ward_msg_done(&r) == 0;
	}
	uint32_t id = r.type == WARD_INIT_EXEC_SIGNAL ? ward_msg_get_u32(&r) : 0;
	uint32_t sig = ward_msg_get_u32(&r);
	if (r.type == WARD_INIT_EXEC_SIGNAL && ward_msg_done(&r) == 0 && sig >= 1 && sig <= 64) {
		ward_init_exec_signal(in, id, (int)sig);
		return true;
	}
	if (r.type != WARD_INIT_SIGNAL || ward_msg_done(&r) < 0 || sig == 0 || sig > 64)
		return false;
	forward(in, (int)sig);
	return true;
}

/* listener: goes along, -1: none */
static bool tell_probed(const struct ward_init_report *report, int listener)
{
	uint32_t v[4 * WARD_PROBE_COUNT_];
	size_t n = 0;
	for (int i = WARD_PROBE_NONE + 1; i < WARD_PROBE_COUNT_; i++) {
		const struct ward_probe_result *r = &report->results[i];
		v[n++] = (uint32_t)i;
		v[n++] = r->made;
		v[n++] = (uint32_t)r->attempt;
		v[n++] = (uint32_t)r->control;
	}
	return ward_init_tell(WARD_INIT_PROBED, v, n, listener) == 0;
}

static void stop_asking(struct ward_init *in)
{
	if (in->asks >= 0)
		close(in->asks);
	in->asks = -1;
}

/*
 * [process] seccomp = no-exec: something wants to execute a program. As long as our end of the
 * child's socket is open that is the child, before it is the command; execve(2) closes its end
 * before the new program runs, so the first question of the command finds it closed.
 */
static void answer_asks(struct ward_init *in)
{
	char byte = 0;
	struct iovec iov = {&byte, 1};
	struct msghdr peek = {.msg_iov = &iov, .msg_iovlen = 1};
	if (in->child < 0 || recvmsg(in->child, &peek, MSG_PEEK | MSG_DONTWAIT) == 0) {
		stop_asking(in);
		return;
	}
	struct seccomp_notif asked = {0};
	if (ioctl(in->asks, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0)
		return;
	struct seccomp_notif_resp answer = {
		.id = asked.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
	/* It is gone: nothing to answer. */
	(void)!ioctl(in->asks, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/*
 * A report of the command's child; at end of file it was executed, if it was let go, else it died.
 * Returns false where all is to end.
 */
static bool hear_child(struct ward_init *in)
{
	struct ward_init_report r;
	int asks = -1;
	ssize_t n = ward_init_hear_report(in->child, &r, &asks);
	if (n == (ssize_t)sizeof(r) && r.kind == WARD_INIT_STARTER) {
		in->starter = asks;
		in->starter_pid = r.error;
		return asks >= 0;
	}
	/* The supervisor's to listen to, if it asked for one; else ours. */
	ward_cleanup_fd int listener = in->blueprint.exec_filter_len > 0 ? asks : -1;
	if (asks >= 0 && listener < 0) {
		stop_asking(in);
		in->asks = asks;
	}
	if (n == 0) {
		close(in->child);
		in->child = -1;
		/* From now on only the command and its children ask: nobody answers them. */
		stop_asking(in);
		return ward_init_tell(WARD_INIT_STARTED, NULL, 0, -1) == 0;
	}
	if (n == (ssize_t)sizeof(r) && r.kind == WARD_INIT_TRIED)
		return tell_probed(&r, listener);
	if (n != (ssize_t)sizeof(r) || r.kind != WARD_INIT_CANNOT) {
		ward_init_tell_failed(-EIO, WARD_INIT_SETUP, "the command could not be started");
		return false;
	}
	r.text[sizeof(r.text) - 1] = '\0';
	ward_init_tell_failed(-r.error, (enum ward_init_step)r.step, r.text);
	return false;
}

enum {
	POLL_CHILDREN,
	POLL_CONTROL,
	POLL_CHILD,
	POLL_ASKS,
	POLL_STARTER,
	POLL_MOUNTS,
	POLL_EXECS,
	POLL_LIFELINES = POLL_EXECS + WARD_BLUEPRINT_EXECS_MAX
};

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

/*
 * Without a pid namespace our end is nobody else's. As a subreaper (prctl(2)) we are the parent of
 * every orphan, so what descends from us can be found, generation by generation; proc(5) lists
 * children where the kernel has CONFIG_PROC_CHILDREN, else the command's group alone is ended.
 */
static void end_descendants(const struct ward_init *in)
{
	char path[64], list[4096];
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	if (in->command > 1)
		kill(-in->command, SIGKILL);
	/* Ends when the last is reaped: nothing can be forked by those who are dead. */
	for (;;) {
		ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return;
		ssize_t n = read(fd, list, sizeof(list) - 1);
		list[n > 0 ? n : 0] = '\0';
		char *s = list;
		for (char *end = s; *s; s = end) {
			long pid = strtol(s, &end, 10);
			/* A last number that was cut off by the buffer has no blank behind it. */
			if (end == s || *end != ' ')
				break;
			if (pid > 1)
				kill((pid_t)pid, SIGKILL);
		}
		if (waitpid(-1, NULL, 0) < 0 && errno != EINTR)
			return;
	}
}

static int watch(struct ward_init *in)
{
	struct pollfd fds[POLL_LIFELINES + WARD_BLUEPRINT_LIFELINES_MAX];
	size_t n = POLL_LIFELINES + in->blueprint.n_lifelines;
	sigset_t all;
	sigfillset(&all);
	ward_cleanup_fd int children = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	if (children < 0 || let_go_of_stdio() < 0)
		return 125;
	fds[POLL_CHILDREN] = (struct pollfd){.fd = children, .events = POLLIN};
	/* proc_pid_mounts(5): a change is an exceptional condition. */
	fds[POLL_MOUNTS] = (struct pollfd){.fd = in->mount_table, .events = POLLPRI};
	fds[POLL_CONTROL] = (struct pollfd){.fd = WARD_INIT_FD_CONTROL, .events = POLLIN};
	for (uint32_t i = 0; i < in->blueprint.n_lifelines; i++)
		fds[POLL_LIFELINES + i] =
			(struct pollfd){.fd = WARD_INIT_FD_LIFELINES + (int)i, .events = POLLIN};
	int r = ward_init_filter(in->blueprint.init_filter, in->blueprint.init_filter_len);
	if (r < 0) {
		ward_init_tell_failed(r, WARD_INIT_SETUP, WARD_INIT_NO_FILTER);
		return 125;
	}
	for (;;) {
		fds[POLL_CHILD] = (struct pollfd){.fd = in->child, .events = POLLIN};
		fds[POLL_ASKS] = (struct pollfd){.fd = in->asks, .events = POLLIN};
		fds[POLL_STARTER] = (struct pollfd){.fd = in->starter, .events = POLLIN};
		for (size_t i = 0; i < WARD_BLUEPRINT_EXECS_MAX; i++)
			fds[POLL_EXECS + i] =
				(struct pollfd){.fd = in->execs[i].report, .events = POLLIN};
		if (poll(fds, n, -1) < 0 && errno != EINTR)
			return 125;
		/* Before anything else that may take time. */
		if (fds[POLL_MOUNTS].revents && !ward_init_mounts_stand(in)) {
			event(WARD_SANDBOX_UNMOUNTED, 0);
			return 125;
		}
		int line = closed_lifeline(fds + POLL_LIFELINES, in->blueprint.n_lifelines);
		if (line >= 0) {
			event(WARD_SANDBOX_LIFELINE, line);
			return 125;
		}
		if (fds[POLL_CHILD].revents && !hear_child(in))
			return 125;
		if (fds[POLL_ASKS].revents && in->asks >= 0)
			answer_asks(in);
		if (fds[POLL_CONTROL].revents && !obey(in))
			return 125;
		for (size_t i = 0; i < WARD_BLUEPRINT_EXECS_MAX; i++)
			if (fds[POLL_EXECS + i].revents && in->execs[i].report >= 0)
				ward_init_exec_report(&in->execs[i]);
		if (fds[POLL_STARTER].revents && in->starter >= 0)
			ward_init_exec_answer(in, 0);
		if (fds[POLL_CHILDREN].revents)
			drain(children);
		/* Before the report about exec was read, an end of the child says nothing yet. */
		if (in->child < 0 && reap(in)) {
			if (!(in->blueprint.flags & WARD_BLUEPRINT_KEEP))
				return 0;
			in->command = 0;
		}
	}
}

int ward_init_watch(struct ward_init *in)
{
	int status = watch(in);
	if (!(in->blueprint.layers & WARD_LAYER_PID))
		end_descendants(in);
	return status;
}
