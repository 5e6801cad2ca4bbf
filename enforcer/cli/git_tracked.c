/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/cli/git_tracked.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* Names of tracked files; a repository of millions of files stays below. */
#define TRACKED_MAX ((size_t)512 << 20)

extern char **environ;

int ward_git_tracked(const char *dir, struct ward_buf *names)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	ward_cleanup_fd int in = ends[0], out = ends[1];
	char *argv[] = {(char *)"git", (char *)"-c", (char *)"core.fsmonitor=false", (char *)"-C",
		(char *)dir, (char *)"ls-files", (char *)"-z", NULL};
	posix_spawn_file_actions_t fa;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, out, 1);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
	pid_t pid = 0;
	int r = -posix_spawnp(&pid, "git", &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	close(ward_steal_fd(&out));
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = ward_fd_read_all(in, TRACKED_MAX, names);
	if (r < 0)
		kill(pid, SIGKILL);
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r == 0 && status != 0)
		ward_buf_clear(names);
	return r;
}
