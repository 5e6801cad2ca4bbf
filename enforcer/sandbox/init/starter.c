/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The starter: starts further commands in a running sandbox. pid 1 cannot: it is under a filter
 * that knows neither clone nor execve. The starter is forked by the command's child once that is
 * confined, so what it starts has the same Landlock domain, filter, limits and ids; its children
 * are pid 1's (CLONE_PARENT). It never becomes another program: not dumpable, hidden in /proc. A
 * command may end it (it has the same uid); then no further one can be started, and nothing else
 * changes.
 *
 * pid 1 -> starter  the supervisor's EXEC, as it came
 * starter -> pid 1  {u32 id, u32 pid, u32 errno}, with the descriptor of the child's reports
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/sandbox/init/init.h"

/* The description, then 0, 1, 2. */
#define FDS_MAX 4

static int take_stdio(struct ward_init *in, const struct ward_blueprint_exec *e, const int *fds,
	size_t n, int *ret_master, struct ward_err *err)
{
	int r = n == FDS_MAX ? 0 : ward_err_set(err, -EBADMSG, "no descriptors");
	in->blueprint.rows = e->rows;
	in->blueprint.cols = e->cols;
	if (r == 0 && e->pty)
		r = ward_init_pty(in, ret_master, err);
	for (int i = 0; i < 3 && r == 0; i++)
		if (dup2(e->pty & (1U << i) ? in->tty : fds[1 + i], i) < 0)
			r = ward_err_sys(err, -errno, "give descriptor %d", i);
	return r < 0 ? r : ward_init_own_devices(in->blueprint.layers, err);
}

/* The new process, until it is the command. fds: the description, 0, 1, 2. */
static void run(struct ward_init *in, int report, const int *fds, size_t n)
{
	struct ward_init_report f = {.kind = WARD_INIT_TRIED, .step = WARD_INIT_SETUP};
	struct ward_err err = WARD_ERR_INIT;
	struct ward_blueprint_exec e = {0};
	int master = -1;
	int r = ward_init_read_description(fds[0], &e);
	if (r < 0)
		ward_err_sys(&err, r, "the description of the command");
	/* A session and terminal of its own: it lives beside the first command, not under it. */
	if (r == 0 && setsid() < 0)
		r = ward_err_sys(&err, -errno, "make a session");
	if (r == 0)
		r = take_stdio(in, &e, fds, n, &master, &err);
	if (r == 0 && close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		r = ward_err_sys(&err, -errno, "close descriptors");
	if (r == 0 && !(in->blueprint.flags & WARD_BLUEPRINT_FOREIGN) && chdir(e.cwd) < 0)
		r = ward_err_sys(&err, -errno, "enter %s", e.cwd);
	if (r == 0 && !ward_init_say(report, &f, master))
		_exit(125);
	if (r == 0 && in->blueprint.flags & WARD_BLUEPRINT_FOREIGN)
		ward_init_relay_exec(in, &e);
	if (r == 0) {
		struct ward_blueprint p = {.argv = e.argv, .envp = e.envp, .n_envp = e.n_envp};
		f.step = WARD_INIT_EXEC_STEP;
		r = ward_err_sys(&err, ward_init_execute(&p, in->told), "%s", e.argv[0]);
	}
	f.kind = WARD_INIT_CANNOT;
	f.error = -r;
	memcpy(f.text, err.text, sizeof(f.text));
	_exit(ward_init_say(report, &f, -1) ? 125 : 126);
}

/*
 * Returns the pid of the new process, whose reports come through *ret_report. It waits until
 * *ret_told is closed: pid 1, its parent, is to hear of it before it can have ended.
 */
static pid_t start(struct ward_init *in, const int *fds, size_t n, int *ret_report, int *ret_told)
{
	int ends[2], told[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	ward_cleanup_fd int ours = ends[0];
	ward_cleanup_fd int theirs = ends[1];
	if (pipe2(told, O_CLOEXEC) < 0)
		return -errno;
	ward_cleanup_fd int wait = told[0];
	ward_cleanup_fd int tell = told[1];
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, 0UL);
	int code = errno;
	if (pid == 0) {
		char byte = 0;
		close(ours);
		close(tell);
		while (read(wait, &byte, 1) < 0 && errno == EINTR)
			continue;
		run(in, theirs, fds, n);
	}
	if (pid < 0)
		return -code;
	*ret_report = ward_steal_fd(&ours);
	*ret_told = ward_steal_fd(&tell);
	return pid;
}

/* One request. Returns false when pid 1 is gone or says nonsense. */
static bool serve(struct ward_init *in, int sock)
{
	char data[256];
	int fds[FDS_MAX];
	size_t n = FDS_MAX;
	struct ward_msg_reader r;
	ssize_t len = ward_msg_recv(sock, data, sizeof(data), fds, &n);
	if (len <= 0)
		return false;
	ward_msg_reader_init(&r, data, (size_t)len);
	uint32_t id = ward_msg_get_u32(&r);
	bool ok = r.type == WARD_INIT_EXEC && ward_msg_done(&r) == 0 && n >= 1;
	int report = -1, told = -1;
	pid_t pid = ok ? start(in, fds, n, &report, &told) : -EBADMSG;
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_INIT_EXEC);
	ward_msg_put_u32(&m, id);
	ward_msg_put_u32(&m, pid > 0 ? (uint32_t)pid : 0);
	ward_msg_put_u32(&m, pid < 0 ? (uint32_t)-pid : 0);
	int sent = ward_msg_send(sock, &m, &report, report >= 0 ? 1 : 0);
	if (report >= 0)
		close(report);
	if (told >= 0)
		close(told);
	return ok && sent == 0;
}

static void live(struct ward_init *in, int sock)
{
	/* Nothing of the first command's: neither its terminal nor what it reads and writes. */
	static struct ward_init_warm warm;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3; i++)
		if (null < 0 || dup2(null, i) < 0)
			_exit(125);
	in->tty = -1;
	/* All but the socket: it stands at 3 from here on. */
	if ((sock != 3 && dup3(sock, 3, O_CLOEXEC) < 0) || close_range(4, ~0U, 0) < 0)
		_exit(125);
	ward_init_warm_begin(&warm, &in->blueprint);
	struct pollfd p = {.fd = 3, .events = POLLIN};
	for (;;) {
		int r = poll(&p, 1, ward_walk_wait(&warm.walk));
		if (r == 0)
			ward_walk_step(&warm.walk);
		else if (!serve(in, 3))
			break;
	}
	_exit(0);
}

int ward_init_starter(struct ward_init *in, int asks, int *ret_sock, pid_t *ret_pid)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, 0UL);
	int code = errno;
	if (pid == 0) {
		if (asks >= 0)
			close(asks);
		live(in, ends[1]);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -code;
	}
	*ret_sock = ends[0];
	*ret_pid = pid;
	return 0;
}
