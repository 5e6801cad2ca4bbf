/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the child process that finds out which process has a socket. */
#include "enforcer/net/setup/looker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/net/setup/child.h"
#include "enforcer/net/setup/filters.h"

/* Processes and descriptors that are looked at for one question: some milliseconds. */
#define PROCESSES_MAX 512U
#define LINKS_MAX 8192U
#define ANSWER_MS 10000

struct looker {
	DIR *proc;
	pid_t pid1;
	pid_t last; /* who had the socket that was found last: often the next one too */
	pid_t found[PROCESSES_MAX];
	size_t n;
	size_t links;
};

static DIR *open_dir(const struct looker *l, const char *path)
{
	int fd = openat(dirfd(l->proc), path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !d)
		close(fd);
	return d;
}

/* The beginning of a small file, with a NUL. */
static ssize_t read_file(const struct looker *l, const char *path, char *ret, size_t size)
{
	ward_cleanup_fd int fd = openat(dirfd(l->proc), path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, size - 1);
	ret[n < 0 ? 0 : n] = 0;
	return n;
}

static bool has_socket(struct looker *l, pid_t pid, const char *want)
{
	char path[64], link[64];
	snprintf(path, sizeof(path), "%d/fd", pid);
	ward_cleanup_dir DIR *d = open_dir(l, path);
	for (struct dirent *e; d && l->links < LINKS_MAX && (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		l->links++;
		ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);
		if (n > 0) {
			link[n] = 0;
			if (strcmp(link, want) == 0)
				return true;
		}
	}
	return false;
}

/* The children that one thread has made. */
static void add_children(struct looker *l, pid_t pid, const char *thread)
{
	char path[320], text[8192];
	snprintf(path, sizeof(path), "%d/task/%.20s/children", pid, thread);
	if (read_file(l, path, text, sizeof(text)) <= 0)
		return;
	char *end;
	for (char *s = text; l->n < PROCESSES_MAX; s = end) {
		long child = strtol(s, &end, 10);
		if (end == s || child <= 0)
			return;
		/* Cut in the middle: it may be half a number. */
		if (*end)
			l->found[l->n++] = (pid_t)child;
	}
}

static void list_processes(struct looker *l)
{
	char path[64];
	l->n = 0;
	l->found[l->n++] = l->pid1;
	for (size_t i = 0; i < l->n; i++) {
		snprintf(path, sizeof(path), "%d/task", l->found[i]);
		ward_cleanup_dir DIR *d = open_dir(l, path);
		for (struct dirent *e; d && l->n < PROCESSES_MAX && (e = readdir(d));)
			if (e->d_name[0] != '.')
				add_children(l, l->found[i], e->d_name);
	}
}

static pid_t find(struct looker *l, uint32_t inode)
{
	char want[64];
	snprintf(want, sizeof(want), "socket:[%u]", inode);
	l->links = 0;
	/* Numbers of processes are used again; that of a socket says that it is the same one. */
	if (l->last && has_socket(l, l->last, want))
		return l->last;
	list_processes(l);
	/* The newest process is usually the one that connects. */
	for (size_t i = l->n; i-- > 0;)
		if (has_socket(l, l->found[i], want))
			return l->last = l->found[i];
	return 0;
}

static int look(void *user, struct ward_msg_reader *q, struct ward_child_answer *ret)
{
	struct looker *l = user;
	char path[64], comm[WARD_COMM_SIZE + 1] = "";
	uint32_t inode = ward_msg_get_u32(q);
	if (ward_msg_done(q) < 0)
		return -EINVAL;
	pid_t pid = find(l, inode);
	if (pid == 0)
		return -ESRCH;
	snprintf(path, sizeof(path), "%d/comm", pid);
	(void)read_file(l, path, comm, sizeof(comm));
	snprintf(ret->text, sizeof(ret->text), "%.*s", (int)strcspn(comm, "\n"), comm);
	ret->number = (uint32_t)pid;
	return 0;
}

static void life(int channel, void *user)
{
	const uint64_t caps = UINT64_C(1) << CAP_SYS_PTRACE | UINT64_C(1) << CAP_DAC_READ_SEARCH;
	static struct looker l;
	ward_cleanup_fd int user_ns = -1;
	uint32_t pid1 = 0;
	if (ward_child_keep_only(&channel, 1) < 0 ||
		ward_child_await(channel, &user_ns, 1, &pid1) < 0 ||
		setns(user_ns, CLONE_NEWUSER) < 0)
		return;
	close(ward_steal_fd(&user_ns));
	l.pid1 = (pid_t)pid1;
	l.proc = opendir("/proc");
	if (l.proc && ward_child_confine(caps, &ward_filter_looker, NULL) == 0)
		ward_child_serve(channel, look, &l);
}

int ward_looker_make(int *ret_channel, struct ward_err *err)
{
	return ward_child_fork(life, NULL, ret_channel, err);
}

int ward_looker_join(int channel, int user_fd, pid_t pid1)
{
	return ward_child_join(channel, &user_fd, 1, (uint32_t)pid1);
}

int ward_looker_ask(int channel, uint32_t inode, pid_t *ret_pid, char ret_comm[WARD_COMM_SIZE])
{
	ward_cleanup(ward_msg_clear) struct ward_msg q;
	struct ward_child_answer a;
	ward_msg_init(&q, WARD_CHILD_QUESTION);
	ward_msg_put_u32(&q, inode);
	int r = ward_child_ask(channel, &q, ANSWER_MS, &a);
	if (r < 0)
		return r == -ESRCH ? r : -EPIPE;
	*ret_pid = (pid_t)a.number;
	memcpy(ret_comm, a.text, WARD_COMM_SIZE);
	return 0;
}
