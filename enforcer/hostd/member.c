/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of a process what decides whether it may be moved or ended. */
#include "enforcer/hostd/member.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* The whole file, which may have size - 1 bytes. */
static int read_text(const char *path, char *text, size_t size)
{
	size_t n = 0;
	ssize_t got = 1;
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	while (n < size - 1 && (got = read(fd, text + n, size - 1 - n)) > 0)
		n += (size_t)got;
	if (got < 0)
		return -errno;
	if (got > 0)
		return -E2BIG;
	text[n] = '\0';
	return 0;
}

/* What follows "NAME:\t" at the begin of a line; NULL: no line begins so. */
static const char *field(const char *text, const char *name)
{
	const size_t n = strlen(name);

	for (const char *line = text; *line;) {
		if (strncmp(line, name, n) == 0 && line[n] == ':' && line[n + 1] == '\t')
			return line + n + 2;
		line = strchr(line, '\n');
		if (!line)
			break;
		line++;
	}
	return NULL;
}

/* A file of that name has a path, which begins with "/". */
static bool is_pidfd(int fd)
{
	char path[48], name[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	const ssize_t n = readlink(path, name, sizeof(name) - 1);
	if (n <= 0)
		return false;
	name[n] = '\0';
	/* fs/pidfs.c, and before Linux 6.9 kernel/fork.c */
	return strncmp(name, "pidfd:[", 7) == 0 || strcmp(name, "anon_inode:[pidfd]") == 0;
}

/* proc_pid_fdinfo(5): -1: it has ended; 0: of another pid namespace. */
static int read_pid(int fd, pid_t *ret)
{
	char path[48], text[1024];

	if (!is_pidfd(fd))
		return -EBADF;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	int r = read_text(path, text, sizeof(text));
	const char *at = r == 0 ? field(text, "Pid") : NULL;
	if (!at)
		return r < 0 ? r : -EBADF;
	const long pid = strtol(at, NULL, 10);
	if (pid <= 0)
		return pid < 0 ? -ESRCH : -EPERM;
	*ret = (pid_t)pid;
	return 0;
}

/* proc_pid_status(5): the number is that of a process, not of another thread of one. */
static int read_users(pid_t pid, uid_t uid, bool *ret)
{
	char path[48], text[8192];
	unsigned id[4];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	int r = read_text(path, text, sizeof(text));
	if (r < 0)
		return r;
	const char *ids = field(text, "Uid"), *leader = field(text, "Tgid");
	bool yes = leader && strtol(leader, NULL, 10) == pid && ids &&
		   sscanf(ids, "%u %u %u %u", &id[0], &id[1], &id[2], &id[3]) == 4;
	for (size_t i = 0; yes && i < 4; i++)
		yes = id[i] == uid;
	*ret = yes;
	return 0;
}

bool ward_member_runs(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 0;
}

int ward_member_read(int fd, uid_t uid, struct ward_member *ret)
{
	char path[48];
	int r = read_pid(fd, &ret->pid);

	if (r == 0)
		r = read_users(ret->pid, uid, &ret->users);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)ret->pid);
	r = read_text(path, ret->groups, sizeof(ret->groups));
	if (r < 0)
		return r;
	return ward_member_runs(fd) ? 0 : -ESRCH;
}

/* ID:CONTROLLER,…:PATH in each line; a path can have a ":" but no newline. */
bool ward_member_within(const struct ward_member *m, const char *path)
{
	const size_t n = strlen(path);

	for (const char *line = m->groups; *line;) {
		const char *at = strchr(line, ':');
		at = at ? strchr(at + 1, ':') : NULL;
		if (!at)
			break;
		at++;
		if (strncmp(at, path, n) == 0 && (at[n] == '/' || at[n] == '\n'))
			return true;
		line = strchr(at, '\n');
		if (!line)
			break;
		line++;
	}
	return false;
}
