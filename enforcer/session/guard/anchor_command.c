/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers checkpoints to a command that is the anchor. */
#include "enforcer/session/guard/anchor_command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/session/guard/outside.h"

#define WAIT_MS 10000

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
		ward_outside_become(&(const struct ward_outside){
			.path = path, .program = -1, .id = id, .input = input, .output = -1});
	return wait_for(pid);
}
