/* SPDX-License-Identifier: Apache-2.0 */
/* Moves helpers into the session's control groups, beside what else a start waits for. */
#include "enforcer/session/limits/limits_helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/limits/limits_internal.h"

/* wardfs-net has three processes. More of them are not wardfs'. */
#define CHILDREN_MAX 32

static void *move(void *arg)
{
	struct ward_helpers *h = arg;
	for (; h->moved < h->n && h->error == 0; h->moved++)
		h->error = ward_cgroup_add_helper(h->cg, h->pids[h->moved]);
	return NULL;
}

static bool listed(const struct ward_helpers *h, pid_t pid)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->pids[i] == pid)
			return true;
	return false;
}

int ward_limits_helpers(struct ward_limits *l, const pid_t *pids, size_t n, struct ward_err *err)
{
	struct ward_helpers *h = &l->helpers;
	bool news = false;
	if (!ward_limits_hold_helpers(l))
		return 0;
	for (size_t i = 0; i < n; i++)
		news |= pids[i] > 0 && !listed(h, pids[i]);
	if (!news)
		return 0;
	ward_limits_helpers_end(l);
	h->cg = l->cg;
	for (size_t i = 0; i < n; i++)
		if (pids[i] > 0 && !listed(h, pids[i]) && h->n < WARD_LIMITS_HELPERS_MAX)
			h->pids[h->n++] = pids[i];
	int r = -pthread_create(&h->mover, NULL, move, h);
	h->moving = r == 0;
	return r < 0 ? ward_err_sys(err, r, "thread") : 0;
}

static int in_session(pid_t sid, pid_t from, pid_t to, pid_t ret[CHILDREN_MAX], int n)
{
	for (pid_t pid = from; pid <= to && n < CHILDREN_MAX; pid++)
		if (getsid(pid) == sid)
			ret[n++] = pid;
	return n;
}

static int read_pid(const char *file, const char *format, pid_t *ret)
{
	char text[256];
	ward_cleanup_fd int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (len < 0)
		return -errno;
	text[len] = '\0';
	return sscanf(text, format, ret) == 1 ? 0 : -EINVAL;
}

/*
 * The same where /proc is mounted with hidepid= and does not show helpers, since nobody may trace
 * them. Each helper leads a session of processes (helper.c), and getsid(2) hides nothing. The
 * kernel gives out ids in a circle: those behind the helper's, up to the last one.
 */
static int hidden_children(pid_t pid, pid_t ret[CHILDREN_MAX])
{
	pid_t last, max;
	int r = kill(pid, 0) < 0 ? -errno : 0;
	if (r == 0)
		r = read_pid("/proc/loadavg", "%*s %*s %*s %*s %d", &last);
	if (r == 0)
		r = read_pid("/proc/sys/kernel/pid_max", "%d", &max);
	if (r < 0)
		return r;
	if (last >= pid)
		return in_session(pid, pid + 1, last, ret, 0);
	return in_session(pid, 1, last, ret, in_session(pid, pid + 1, max, ret, 0));
}

/* What the only thread of pid has started (proc(5)). */
static int children(pid_t pid, pid_t ret[CHILDREN_MAX])
{
	char text[1024];
	snprintf(text, sizeof(text), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	ward_cleanup_fd int fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && (errno == EPERM || errno == EACCES || errno == ENOENT))
		return hidden_children(pid, ret);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (len < 0)
		return -errno;
	text[len] = '\0';
	int n = 0;
	char *save = NULL;
	for (char *s = strtok_r(text, " ", &save); s && n < CHILDREN_MAX;
		s = strtok_r(NULL, " ", &save))
		ret[n++] = (pid_t)strtol(s, NULL, 10);
	return n;
}

void ward_limits_helpers_end(struct ward_limits *l)
{
	if (l->helpers.moving)
		pthread_join(l->helpers.mover, NULL);
	l->helpers.moving = false;
}

int ward_limits_helpers_in(struct ward_limits *l, struct ward_err *err)
{
	struct ward_helpers *h = &l->helpers;
	if (!ward_limits_hold_helpers(l))
		return 0;
	ward_limits_helpers_end(l);
	int r = h->error;
	for (size_t i = 0; r == 0 && i < h->n; i++) {
		pid_t v[CHILDREN_MAX];
		int n = children(h->pids[i], v);
		for (int k = 0; r == 0 && k < n; k++)
			r = ward_cgroup_add_helper(h->cg, v[k]);
		/* A child that has ended does not count. */
		if (n < 0 || r == -ESRCH)
			r = n < 0 ? n : 0;
	}
	return r < 0 ? ward_err_sys(err, r, "put the helpers into the session's control groups")
		     : 0;
}

bool ward_limits_hold_helpers(const struct ward_limits *l)
{
	return l && l->cg && l->counts_helpers;
}
