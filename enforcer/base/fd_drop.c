/* SPDX-License-Identifier: Apache-2.0 */
/* Closes what a stranger gave us, which may take as long as the stranger likes (fd.h). */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "enforcer/base/fd.h"

/* Enough for the end of a thread under any sanitizer. */
#define STACK ((size_t)256 << 10)

struct drop {
	int fd;
	bool own;    /* the thread has a table of descriptors of its own */
	sem_t told;  /* by the thread: `own` counts */
	sem_t ended; /* by the other one: it has closed its descriptor, and touches this no more */
};

static void *run(void *arg)
{
	struct drop *d = arg;
	const int fd = d->fd;
	d->own = unshare(CLONE_FILES) == 0;
	if (d->own) {
		/* A pipe that others wait for the end of must not stay open here. */
		(void)close_range(0, (unsigned)fd - 1, 0);
		(void)close_range((unsigned)fd + 1, ~0U, 0);
	}
	const bool own = d->own;
	sem_post(&d->told);
	while (sem_wait(&d->ended) < 0)
		;
	sem_destroy(&d->told);
	sem_destroy(&d->ended);
	free(d);
	/* Else with the end of the thread: then the kernel does not linger (inet_release()). */
	if (!own)
		close(fd);
	return NULL;
}

static bool begin(struct drop *d)
{
	pthread_attr_t attr;
	pthread_t thread;
	if (pthread_attr_init(&attr) != 0)
		return false;
	const bool begun = pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0 &&
			   pthread_attr_setstacksize(&attr, STACK) == 0 &&
			   pthread_create(&thread, &attr, run, d) == 0;
	pthread_attr_destroy(&attr);
	return begun;
}

void ward_fd_drop(int fd)
{
	struct drop *d = fd > 0 ? calloc(1, sizeof(*d)) : NULL;
	if (d) {
		d->fd = fd;
		sem_init(&d->told, 0, 0);
		sem_init(&d->ended, 0, 0);
	}
	if (!d || !begin(d)) {
		free(d);
		close(fd);
		return;
	}
	while (sem_wait(&d->told) < 0)
		;
	/* There is another one of it, so this closes at once. */
	if (d->own)
		close(fd);
	sem_post(&d->ended);
}
