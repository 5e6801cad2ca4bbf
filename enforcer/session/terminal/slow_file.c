/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes a regular file by a thread, which may wait for as long as it takes. */
#include "enforcer/session/terminal/slow_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum job { JOB_NONE = 0, JOB_READ, JOB_WRITE };

struct ward_slow_file {
	int fd;
	int told;     /* eventfd(2): the job is done */
	bool begun;   /* the loop's: a job is under way, or its result waits */
	bool started; /* the loop's: there is a thread; it frees all this */
	pthread_mutex_t lock;
	pthread_cond_t asked;
	enum job job; /* protected by lock, as all below */
	bool ended;   /* nobody takes a result any more */
	size_t start, n;
	uint64_t max;
	ssize_t result;
	char data[WARD_SLOW_FILE_ROOM];
};

/* The thread touches few things: a page of its own for each call, and what the library keeps. */
#define STACK (PTHREAD_STACK_MIN + ((size_t)64 << 10))

int ward_slow_file_new(int fd, struct ward_slow_file **ret)
{
	struct ward_slow_file *f = malloc(sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->fd = fd;
	f->begun = f->started = f->ended = false;
	f->job = JOB_NONE;
	f->told = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->told < 0) {
		int code = errno;
		free(f);
		return -code;
	}
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->asked, NULL);
	*ret = f;
	return 0;
}

static void destroy(struct ward_slow_file *f)
{
	close(f->fd);
	close(f->told);
	pthread_cond_destroy(&f->asked);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

/*
 * How much of n bytes the file takes: RLIMIT_FSIZE is the command's, for what it opens itself, and
 * counts for what we write for it as well.
 */
static size_t takes(int fd, size_t n, uint64_t max)
{
	struct stat st;
	if (max == UINT64_MAX || fstat(fd, &st) < 0)
		return n;
	off_t at = fcntl(fd, F_GETFL) & O_APPEND ? st.st_size : lseek(fd, 0, SEEK_CUR);
	uint64_t left = (uint64_t)at < max ? max - (uint64_t)at : 0;
	return left < n ? (size_t)left : n;
}

static ssize_t do_job(struct ward_slow_file *f, enum job job)
{
	ssize_t r = 0;
	size_t n = job == JOB_WRITE ? takes(f->fd, f->n, f->max) : f->n;
	if (n == 0)
		return -EFBIG;
	r = job == JOB_WRITE ? write(f->fd, f->data + f->start, n) : read(f->fd, f->data, n);
	return r < 0 ? -errno : r;
}

static void *run(void *arg)
{
	struct ward_slow_file *f = arg;
	const uint64_t one = 1;
	pthread_mutex_lock(&f->lock);
	while (!f->ended) {
		enum job job = f->job;
		if (job == JOB_NONE) {
			pthread_cond_wait(&f->asked, &f->lock);
			continue;
		}
		pthread_mutex_unlock(&f->lock);
		ssize_t result = do_job(f, job);
		pthread_mutex_lock(&f->lock);
		f->result = result;
		f->job = JOB_NONE;
		(void)!write(f->told, &one, sizeof(one));
	}
	pthread_mutex_unlock(&f->lock);
	destroy(f);
	return NULL;
}

/* Signals are for the loop. */
static int start(struct ward_slow_file *f)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;
	if (f->started)
		return 0;
	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	f->started = true; /* before it can have ended */
	int r = -pthread_create(&thread, &attr, run, f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (r < 0)
		f->started = false;
	return r;
}

void ward_slow_file_free(struct ward_slow_file *f)
{
	if (!f)
		return;
	const bool started = f->started;
	pthread_mutex_lock(&f->lock);
	f->ended = true;
	pthread_cond_signal(&f->asked);
	pthread_mutex_unlock(&f->lock);
	/* With a thread it may be gone by now. */
	if (!started && start(f) < 0)
		destroy(f);
}

char *ward_slow_file_data(struct ward_slow_file *f)
{
	return f->data;
}

int ward_slow_file_fd(const struct ward_slow_file *f)
{
	return f->told;
}

bool ward_slow_file_busy(const struct ward_slow_file *f)
{
	return f->begun;
}

static int begin(struct ward_slow_file *f, enum job job, size_t from, size_t n, uint64_t max)
{
	int r = start(f);
	if (r < 0)
		return r;
	pthread_mutex_lock(&f->lock);
	f->start = from;
	f->n = n;
	f->max = max;
	f->job = job;
	pthread_cond_signal(&f->asked);
	pthread_mutex_unlock(&f->lock);
	f->begun = true;
	return 0;
}

int ward_slow_file_read(struct ward_slow_file *f, size_t n)
{
	return begin(f, JOB_READ, 0, n, UINT64_MAX);
}

int ward_slow_file_write(struct ward_slow_file *f, size_t from, size_t n, uint64_t max)
{
	return begin(f, JOB_WRITE, from, n, max);
}

ssize_t ward_slow_file_done(struct ward_slow_file *f)
{
	uint64_t told = 0;
	if (!f->begun || read(f->told, &told, sizeof(told)) != (ssize_t)sizeof(told))
		return -EINPROGRESS;
	pthread_mutex_lock(&f->lock);
	ssize_t result = f->result;
	pthread_mutex_unlock(&f->lock);
	f->begun = false;
	return result;
}
