/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers checkpoints to a command that is the anchor. */
#include "enforcer/session/guard/anchor_command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

#define WAIT_MS 10000

/*
 * In the child of a process with threads: system calls only. Of the identity of the caller nothing
 * is left where that is root and the owner is not.
 */
static void __attribute__((noreturn))
become(const char *path, const struct ward_identity *id, int input)
{
	char *const argv[] = {(char *)(uintptr_t)path, NULL};
	char *const envp[] = {(char *)(uintptr_t) "PATH=/usr/local/bin:/usr/bin:/bin",
		(char *)(uintptr_t) "LANG=C.UTF-8", NULL};
	int null = open("/dev/null", O_RDWR);
	bool good = null >= 0 && dup2(input, 0) == 0 && dup2(null, 1) == 1 && dup2(null, 2) == 2;
	/*
	 * Who has a terminal can type into it for whoever reads from it next: root's shell. And
	 * Ctrl-C there is for the command.
	 */
	good = good && setsid() >= 0 && chdir("/") == 0;
	if (good && id && id->root)
		good = syscall(SYS_setgroups, id->n_groups, id->groups) == 0 &&
		       syscall(SYS_setresgid, id->owner_gid, id->owner_gid, id->owner_gid) == 0 &&
		       syscall(SYS_setresuid, id->owner_uid, id->owner_uid, id->owner_uid) == 0;
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* A program of the host's may need the group of where it delivers. */
	if (good && id)
		good = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
	if (good && syscall(SYS_close_range, 3U, ~0U, 0U) == 0)
		execve(path, argv, envp);
	_exit(127);
}

static int wait_for(pid_t pid)
{
	ward_cleanup_fd int fd = pidfd_open(pid, 0);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int status = 0;
	int n = 0;
	do {
		n = fd < 0 ? 0 : poll(&p, 1, WAIT_MS);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (n <= 0)
		return -ETIMEDOUT;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EREMOTEIO;
}

int ward_anchor_exec(const char *path, const struct ward_identity *id, const void *note, size_t len)
{
	ward_cleanup_fd int input = -1;
	int r = ward_fd_sealed("wardfs-checkpoint", note, len, &input, NULL);
	if (r == 0 && lseek(input, 0, SEEK_SET) < 0)
		r = -errno;
	pid_t pid = r == 0 ? fork() : 0;
	if (r < 0)
		return r;
	if (pid < 0)
		return -errno;
	if (pid == 0)
		become(path, id, input);
	return wait_for(pid);
}
