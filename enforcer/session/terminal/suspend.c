/* SPDX-License-Identifier: Apache-2.0 */
/* Stops and continues the supervisor together with its command. */
#include "enforcer/session/terminal/suspend.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"

/*
 * A stop lasts at least this long. A shell that has not looked yet at a job that stopped and went
 * on misses the stop: it gives no prompt, and the command would be continued as if somebody had
 * typed fg.
 */
#define SHOWN_MS 500
/* poll(2) takes its time as an int. */
#define WAIT_MAX_MS 3600000
/* A SIGCONT that comes before the stop is lost: it is sent until it was heard. */
#define AGAIN_MS 50

static bool has_terminal(void)
{
	ward_cleanup_fd int tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	return tty >= 0;
}

/* Leaves the n descriptors of fds open, and no other. */
static void keep_only(const struct pollfd *fds, size_t n)
{
	unsigned from = 0;
	for (;;) {
		unsigned next = ~0U;
		for (size_t i = 0; i < n; i++)
			if (fds[i].fd >= 0 && (unsigned)fds[i].fd >= from &&
				(unsigned)fds[i].fd < next)
				next = (unsigned)fds[i].fd;
		if (next > from)
			(void)!close_range(from, next == ~0U ? next : next - 1, 0);
		if (next == ~0U)
			return;
		from = next + 1;
	}
}

/*
 * Of what the supervisor holds only what is waited for: with the other descriptors here, its death
 * would not be seen inside. Makes system calls alone: the supervisor has threads.
 */
static void __attribute__((noreturn))
watch(pid_t parent, int tell, struct pollfd *fds, size_t n, uint64_t until_ns)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	(void)!setpgid(0, 0); /* what is typed at our job is not for this process */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
		_exit(1);
	keep_only(fds, n);
	(void)poll(NULL, 0, SHOWN_MS);
	for (;;) {
		uint64_t now = ward_clock_mono_ns();
		uint64_t left = until_ns > now ? (until_ns - now) / 1000000 + 1 : 0;
		int ms = left < WAIT_MAX_MS ? (int)left : WAIT_MAX_MS;
		int r = poll(fds, n, ms);
		if (r > 0 || (r == 0 && left <= WAIT_MAX_MS) || (r < 0 && errno != EINTR))
			break;
	}
	(void)!write(tell, "", 1);
	for (;;) {
		kill(parent, SIGCONT);
		(void)poll(NULL, 0, AGAIN_MS);
	}
}

enum ward_suspend_end ward_suspend(const int *fds, size_t n, uint64_t until_ns, pid_t *ret_waker)
{
	/* The last one is not waited for: it stays open. */
	struct pollfd wait[WARD_SUSPEND_FDS_MAX + 1];
	int told[2];
	char byte;
	if (n > WARD_SUSPEND_FDS_MAX || !has_terminal() || pipe2(told, O_CLOEXEC | O_NONBLOCK) < 0)
		return WARD_SUSPEND_NOT;
	for (size_t i = 0; i < n; i++)
		wait[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	wait[n] = (struct pollfd){.fd = told[1]};
	pid_t parent = getpid();
	pid_t pid = fork();
	if (pid == 0)
		watch(parent, told[1], wait, n + 1, until_ns);
	if (pid > 0) {
		raise(SIGSTOP);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		*ret_waker = pid;
	}
	bool needed = read(told[0], &byte, 1) == 1;
	close(told[0]);
	close(told[1]);
	if (pid < 0)
		return WARD_SUSPEND_NOT;
	return needed ? WARD_SUSPEND_NEEDED : WARD_SUSPEND_WANTED;
}
