/* SPDX-License-Identifier: Apache-2.0 */
/*
 * withuring [-u FILE] CMD…: runs CMD while FUSE over io_uring is allowed on this host, then puts
 * the host's setting back; with -u once FILE exists, which CMD makes. Others wait for that
 * meanwhile. 77 where the kernel does not know it. Exit status: that of CMD, 128 and the number of
 * the signal that ended it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/enable_uring.h"

/* Until FILE exists or pid has ended: true, with its status. */
static bool ended_before(const char *file, pid_t pid, int *ret_status)
{
	const struct timespec moment = {.tv_nsec = 20000000};

	while (access(file, F_OK) < 0) {
		if (waitpid(pid, ret_status, WNOHANG) == pid)
			return true;
		nanosleep(&moment, NULL);
	}
	return false;
}

int main(int argc, char **argv)
{
	const char *until = NULL;
	bool ended = false;
	int status = 0, fd;
	pid_t pid;

	if (argc > 3 && strcmp(argv[1], "-u") == 0) {
		until = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (argc < 2) {
		fprintf(stderr, "usage: withuring [-u FILE] CMD…\n");
		return 2;
	}
	fd = enable_uring_begin('Y');
	if (fd < 0) {
		fprintf(stderr, "FUSE over io_uring cannot be allowed here: %s\n", strerror(-fd));
		return 77;
	}
	pid = fork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (until && pid > 0) {
		ended = ended_before(until, pid, &status);
		enable_uring_end(fd);
	}
	while (pid > 0 && !ended && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!until || pid < 0)
		enable_uring_end(fd);
	if (pid < 0)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
