/* SPDX-License-Identifier: Apache-2.0 */
/* Lets the kernel wait for moves between groups before anybody has to. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/cgroup_internal.h"

/*
 * After a move the kernel takes further ones at once for a grace period, which is a jiffy at least.
 * So often and so long apart are moves that keep it so until the session has made its own.
 */
#define TURNS 8
#define TURN_US 2000

/*
 * This thread moves to where it is. It names itself by its number: "0" would need no grace period
 * (cgroup_procs_write_start() in the kernel).
 */
static void *move_nowhere(void *unused)
{
	ward_cleanup_free struct ward_hierarchy *h = calloc(WARD_HIERARCHIES_MAX, sizeof(*h));
	const size_t n = h ? ward_cgroup_hierarchies(h, WARD_HIERARCHIES_MAX) : 0;
	(void)unused;
	for (size_t i = 0; i < n; i++) {
		char path[2 * WARD_CGROUP_PATH_MAX], text[32];
		snprintf(path, sizeof(path), "%s%s", h[i].mount, h[i].own);
		ward_cleanup_fd int dir = ward_cgroup_open(AT_FDCWD, path);
		snprintf(text, sizeof(text), "%d", (int)gettid());
		int turn = 0;
		while (dir >= 0 && turn < TURNS &&
			ward_cgroup_write(dir, h[i].v2 ? "cgroup.threads" : "tasks", text) == 0) {
			usleep(TURN_US);
			turn++;
		}
		if (turn > 0)
			break;
	}
	return NULL;
}

void ward_cgroup_prime(void)
{
	pthread_t thread;
	pthread_attr_t attr;
	sigset_t all, before;
	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	(void)!pthread_create(&thread, &attr, move_nowhere, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}
