/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the processes that descend from one, and signals them. */
#include "enforcer/session/run/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* Processes of the host that are looked at. */
#define SEEN_MAX 65536

struct seen {
	struct ward_tree_process p;
	pid_t parent, group;
	bool in;
};

/* False: gone, a zombie, or unreadable. */
static bool look(pid_t pid, struct seen *ret)
{
	char path[64], buf[1024], state = 0;
	int parent = 0, group = 0;
	unsigned long long started = 0;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	/* The name is in the first and last parentheses; then fields 3, 4, 5, …, 22. */
	const char *s = strrchr(buf, ')');
	if (!s || sscanf(s + 1,
			  " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
			  "%*d %llu",
			  &state, &parent, &group, &started) != 4)
		return false;
	*ret = (struct seen){.p = {pid, started}, .parent = parent, .group = group};
	return state != 'Z' && state != 'X';
}

pid_t ward_process_parent(pid_t pid)
{
	struct seen s;
	return look(pid, &s) ? s.parent : 0;
}

uint64_t ward_process_ns(pid_t pid)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

static bool inside(const struct ward_process_tree *t, pid_t pid)
{
	return t->ns && ward_process_ns(pid) == t->ns;
}

static bool same(struct ward_tree_process a, struct ward_tree_process b)
{
	return a.pid == b.pid && a.started == b.started;
}

static bool knows(const struct ward_process_tree *t, struct ward_tree_process p)
{
	for (size_t i = 0; i < t->n; i++)
		if (same(t->v[i], p))
			return true;
	return false;
}

static bool has_pid(const struct seen *v, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].in && v[i].p.pid == pid)
			return true;
	return false;
}

static size_t look_at_all(struct seen **ret)
{
	ward_cleanup_dir DIR *d = opendir("/proc");
	struct seen *v = NULL;
	size_t n = 0, cap = 0;
	const struct dirent *e = NULL;
	while (d && n < SEEN_MAX && (e = readdir(d))) {
		long pid = strtol(e->d_name, NULL, 10);
		if (pid <= 1)
			continue;
		if (n == cap) {
			size_t more = cap ? 2 * cap : 256;
			struct seen *w = reallocarray(v, more, sizeof(*v));
			if (!w)
				break;
			v = w;
			cap = more;
		}
		n += look((pid_t)pid, &v[n]);
	}
	*ret = v;
	return n;
}

/* Marks what belongs to the tree: generation by generation, until none is new. */
static void mark(const struct ward_process_tree *t, pid_t root, struct seen *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		v[i].in = (knows(t, v[i].p) || (t->n == 0 && v[i].p.pid == root) ||
				  v[i].group == root) &&
			  inside(t, v[i].p.pid);
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			if (v[i].in || !has_pid(v, n, v[i].parent) || !inside(t, v[i].p.pid))
				continue;
			v[i].in = more = true;
		}
	}
}

/* It may be another's number by now. */
static bool send(const struct ward_process_tree *t, struct ward_tree_process p, int sig)
{
	struct seen s;
	ward_cleanup_fd int fd = pidfd_open(p.pid, 0);
	return fd >= 0 && look(p.pid, &s) && same(s.p, p) && inside(t, p.pid) &&
	       pidfd_send_signal(fd, sig, NULL, 0) == 0;
}

size_t ward_process_tree_signal(struct ward_process_tree *t, pid_t root, int sig)
{
	ward_cleanup_free struct seen *v = NULL;
	size_t n = look_at_all(&v), sent = 0;
	mark(t, root, v, n);
	t->n = 0;
	for (size_t i = 0; i < n; i++) {
		if (!v[i].in)
			continue;
		sent += send(t, v[i].p, sig);
		if (t->n < WARD_PROCESS_TREE_MAX)
			t->v[t->n++] = v[i].p;
	}
	return sent;
}
