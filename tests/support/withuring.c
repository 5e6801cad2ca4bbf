/* SPDX-License-Identifier: Apache-2.0 */
/*
 * withuring CMD…: runs CMD while FUSE over io_uring is allowed on this host, then puts the host's
 * setting back. 77 where the kernel does not know it. Exit status: that of CMD, 128 and the number
 * of the signal that ended it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/enable_uring.h"

int main(int argc, char **argv)
{
	int status = 0, fd;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: withuring CMD…\n");
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
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	enable_uring_end(fd);
	if (pid < 0)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
