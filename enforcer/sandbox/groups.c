/* SPDX-License-Identifier: Apache-2.0 */
/* Forks wardfs-init into the control groups of its session. */
#include "enforcer/sandbox/groups.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void ward_groups_init(struct ward_groups *g, const struct ward_sandbox_spec *spec)
{
	*g = (struct ward_groups){.n = spec->n_join};
	if (spec->n_join)
		memcpy(g->ways, spec->join, spec->n_join * sizeof(*spec->join));
}

size_t ward_groups_tasks(struct ward_groups *g, int ret_fds[WARD_SANDBOX_JOIN_MAX])
{
	size_t n = 0;
	for (size_t i = 0; i < g->n; i++) {
		if (g->ways[i].self < 0)
			continue;
		ret_fds[n++] = g->ways[i].self;
		g->inside[i] = true;
	}
	return n;
}

pid_t ward_groups_fork(struct ward_groups *g)
{
	for (size_t i = 0; i < g->n; i++) {
		if (g->ways[i].into < 0)
			continue;
		struct clone_args args = {.flags = CLONE_INTO_CGROUP | CLONE_VFORK,
			.exit_signal = SIGCHLD,
			.cgroup = (uint64_t)g->ways[i].into};
		pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
		/* A kernel before 5.7, a filter around us, a group that takes none: moved, then. */
		g->inside[i] = pid >= 0;
		return pid;
	}
	return -1;
}

static void *move(void *arg)
{
	struct ward_groups *g = arg;
	char text[32];
	int len = snprintf(text, sizeof(text), "%d", (int)g->pid);
	for (size_t i = 0; i < g->n && g->error == 0; i++)
		if (g->ways[i].service)
			g->error = ward_cgroup_service_move(g->ways[i].service, g->pid, false);
		else if (!g->inside[i] && write(g->ways[i].procs, text, (size_t)len) != len)
			g->error = errno ? -errno : -EIO;
	return NULL;
}

int ward_groups_begin(struct ward_groups *g, pid_t pid)
{
	bool all = true;
	for (size_t i = 0; i < g->n; i++)
		all = all && g->inside[i];
	if (all)
		return 0;
	/* Meanwhile pid 1 goes on, and so do we. */
	g->pid = pid;
	int r = -pthread_create(&g->mover, NULL, move, g);
	g->moving = r == 0;
	return r;
}

int ward_groups_finish(struct ward_groups *g)
{
	if (!g->moving)
		return 0;
	g->moving = false;
	pthread_join(g->mover, NULL);
	return g->error;
}
