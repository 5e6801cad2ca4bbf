/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/enable_uring.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PARAMETER "/sys/module/fuse/parameters/enable_uring"

static int set(int fd, char value)
{
	return pwrite(fd, &value, 1, 0) == 1 ? 0 : -errno;
}

/* Answers with 0 or an errno, then waits for the end of sock. */
static _Noreturn void keep(int sock, char value)
{
	char before = 0, end;
	unsigned char r = 0;
	int fd;

	/* Others wait for the end of what else we were given, and we for theirs. */
	if (sock > 3)
		(void)close_range(3, (unsigned)sock - 1, 0);
	(void)close_range((unsigned)sock + 1, ~0U, 0);
	fd = open(PARAMETER, O_RDWR | O_CLOEXEC);

	/* The end of the test must not end this before it is done. */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	/* Two that both put back what they found would leave it on. */
	if (fd < 0 || flock(fd, LOCK_EX) < 0 || pread(fd, &before, 1, 0) != 1)
		r = (unsigned char)errno;
	else if (set(fd, value) < 0)
		r = (unsigned char)errno;
	if (write(sock, &r, 1) == 1)
		while (read(sock, &end, 1) < 0 && errno == EINTR)
			;
	if (before && set(fd, before) < 0)
		_exit(1);
	_exit(0);
}

int enable_uring_begin(char value)
{
	unsigned char r = EIO;
	int sock[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		close(sock[0]);
		keep(sock[1], value);
	}
	close(sock[1]);
	if (read(sock[0], &r, 1) == 1 && !r)
		return sock[0];
	close(sock[0]);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return -r;
}

void enable_uring_end(int fd)
{
	char c;

	/* The other end closes when it is put back. The zombie is reaped with us. */
	(void)shutdown(fd, SHUT_WR);
	while (read(fd, &c, 1) < 0 && errno == EINTR)
		;
	close(fd);
}
