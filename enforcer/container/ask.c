/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the program of an engine about itself: its version, what it offers. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/container/container.h"

/* An answer about itself reads nothing, so a program that takes longer hangs. */
#define ASK_NS (10 * WARD_NS_PER_SEC)
#define NS_PER_MS UINT64_C(1000000)
#define ASK_MAX (256U << 10)

/* The owner may be able to change the program: root never executes it as root then. */
static int become(uid_t uid, gid_t gid)
{
	if (geteuid() != 0 || uid == 0)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return -errno;
	return 0;
}

static void child(const struct ward_engine_question *q, int program, int out)
{
	char *argv[] = {(char *)(uintptr_t)q->program, (char *)(uintptr_t)q->word, NULL};
	char *envp[] = {(char[]){"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, NULL};
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* A script is read by its descriptor. */
	const int from[] = {null, out, q->errors ? out : null, program}, to[] = {0, 1, 2, 3};
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null < 0 || setsid() < 0 || chdir("/") < 0 || become(q->uid, q->gid) < 0 ||
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || ward_fd_inherit(from, to, 4) < 0)
		_exit(127);
	fexecve(3, argv, envp);
	_exit(127);
}

/* All that comes until its end, or too late. */
static int read_answer(int fd, int pidfd, struct ward_buf *ret)
{
	const uint64_t until = ward_clock_mono_ns() + ASK_NS;
	for (;;) {
		struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
		const uint64_t now = ward_clock_mono_ns();
		char buf[4096];
		int n = now < until ? poll(p, 2, (int)((until - now) / NS_PER_MS) + 1) : 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -ETIMEDOUT;
		const ssize_t len = read(fd, buf, sizeof(buf));
		if (len > 0 && ret->len + (size_t)len > ASK_MAX)
			return -EFBIG;
		if (len > 0)
			ward_buf_add(ret, buf, (size_t)len);
		/* What it left behind may hold the pipe. */
		else if (len == 0 || (errno == EAGAIN && p[1].revents))
			return ward_buf_error(ret);
	}
}

int ward_engine_ask(const struct ward_engine_question *q, struct ward_buf *ret)
{
	struct stat st;
	int p[2], status = 0;
	ward_cleanup_fd int program = open(q->program, O_PATH | O_CLOEXEC);
	if (program < 0 || fstat(program, &st) < 0)
		return -errno;
	if (q->ino && (st.st_dev != q->dev || st.st_ino != q->ino))
		return -ESTALE;
	if (pipe2(p, O_CLOEXEC) < 0)
		return -errno;
	ward_cleanup_fd int ours = p[0];
	pid_t pid = fork();
	if (pid == 0)
		child(q, program, p[1]);
	close(p[1]);
	if (pid < 0)
		return -errno;
	ward_cleanup_fd int pidfd = pidfd_open(pid, 0);
	int r = pidfd < 0 || fcntl(ours, F_SETFL, O_NONBLOCK) < 0 ? -errno
								  : read_answer(ours, pidfd, ret);
	/* With what it started. Before it has a group of its own, that one does not exist. */
	if (r < 0 && kill(-pid, SIGKILL) < 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return r < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0) ? r : -ENOEXEC;
}
