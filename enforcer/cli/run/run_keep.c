/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a session when its first command ends: `run --keep`. */
#include "enforcer/cli/run/run_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/session/run/run.h"

/* Stops with the supervisor, which stopped with its command, and goes on with it. */
static int look_at_child(pid_t pid, int *ret_status)
{
	int status = 0;
	pid_t got = waitpid(pid, &status, WNOHANG | WUNTRACED);
	if (got != pid)
		return 0;
	if (WIFSTOPPED(status)) {
		raise(SIGSTOP);
		kill(pid, SIGCONT);
		return 0;
	}
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 1;
}

/* Ctrl-C and the like reach the supervisor by themselves: it is in our process group. */
static int wait_for(pid_t pid, int told, int signals)
{
	struct pollfd fds[2] = {{.fd = told, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
	struct signalfd_siginfo si;
	int status = WARD_EXIT_SETUP;
	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return WARD_EXIT_SETUP;
		/* Its whole word, or its end. */
		if (fds[0].revents & POLLIN &&
			read(told, &status, sizeof(status)) == (ssize_t)sizeof(status))
			return status;
		while (read(signals, &si, sizeof(si)) == (ssize_t)sizeof(si))
			if (si.ssi_signo == SIGTERM || si.ssi_signo == SIGHUP)
				kill(pid, (int)si.ssi_signo);
		if (look_at_child(pid, &status))
			return status;
		if (fds[0].revents & POLLHUP)
			fds[0].fd = -1; /* it ends without a word: its exit status says why */
	}
}

int ward_run_keep(struct ward_run_options *o, char **argv,
	int (*run)(const struct ward_run_options *o, char *const *argv))
{
	int ends[2];
	sigset_t set, before;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (pipe2(ends, O_CLOEXEC) < 0 || sigprocmask(SIG_BLOCK, &set, &before) < 0)
		return WARD_EXIT_SETUP;
	(void)fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		sigprocmask(SIG_SETMASK, &before, NULL);
		o->keep_fd = ends[1];
		/* No helper gets it (helper.c): they outlive the caller, and have other ways to
		 * tell us. */
		(void)fcntl(2, F_SETFD, FD_CLOEXEC);
		exit(run(o, argv));
	}
	close(ends[1]);
	ward_cleanup_fd int told = ends[0];
	ward_cleanup_fd int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (pid < 0 || signals < 0) {
		ward_say("cannot start a process for the session");
		return WARD_EXIT_SETUP;
	}
	return wait_for(pid, told, signals);
}
