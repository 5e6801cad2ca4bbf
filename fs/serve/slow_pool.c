/* SPDX-License-Identifier: Apache-2.0 */
/* The threads for slow requests, and which requests are slow. */
#include "fs/serve/slow_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "fs/base/fuse_kernel.h"
#include "fs/serve/fuse_session.h"

/* Slow requests wait for a disk, not for a CPU. One thread is there from the start, more as needed.
 */
#define THREADS 4
/* Reads and writes from here on go to the pool. */
#define LARGE_IO (256U << 10)

struct job {
	struct job *next;
	struct ward_fs_tree *tree;
	char *msg; /* somebody else's, or the copy */
	size_t len;
	char copy[] __attribute__((aligned(16)));
};

struct ward_pool {
	pthread_mutex_t lock; /* protects the rest; innermost */
	pthread_cond_t wake;
	struct job *first, **last;
	bool stop;
	pthread_t threads[THREADS];
	size_t n_threads;
	size_t n_waiting; /* threads that wait for a job, also when one is on its way to them */
	size_t n_jobs;
};

static void *work(void *arg)
{
	struct ward_pool *pool = arg;

	if (ward_pool_thread_init() < 0)
		return NULL;
	pthread_mutex_lock(&pool->lock);
	for (;;) {
		struct job *job;

		pool->n_waiting++;
		while (!pool->first && !pool->stop)
			pthread_cond_wait(&pool->wake, &pool->lock);
		pool->n_waiting--;
		job = pool->first;
		if (!job)
			break;
		pool->n_jobs--;
		pool->first = job->next;
		if (!pool->first)
			pool->last = &pool->first;
		pthread_mutex_unlock(&pool->lock);
		ward_session_process(job->tree, job->msg, job->len);
		free(job);
		pthread_mutex_lock(&pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* Locked. */
static int add_thread(struct ward_pool *pool)
{
	int r = pthread_create(&pool->threads[pool->n_threads], NULL, work, pool);

	if (r == 0)
		pool->n_threads++;
	return -r;
}

int ward_pool_new(struct ward_pool **ret, struct ward_err *err)
{
	struct ward_pool *pool = calloc(1, sizeof(*pool));
	int r;

	if (!pool)
		return ward_err_sys(err, -ENOMEM, "worker threads");
	pool->last = &pool->first;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->wake, NULL);
	pthread_mutex_lock(&pool->lock);
	r = add_thread(pool);
	pthread_mutex_unlock(&pool->lock);
	if (r < 0) {
		ward_pool_free(pool);
		return ward_err_sys(err, r, "worker threads");
	}
	*ret = pool;
	return 0;
}

void ward_pool_free(struct ward_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->stop = true;
	pthread_cond_broadcast(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
	for (size_t i = 0; i < pool->n_threads; i++)
		pthread_join(pool->threads[i], NULL);
	pthread_mutex_destroy(&pool->lock);
	pthread_cond_destroy(&pool->wake);
	free(pool);
}

int ward_pool_push(
	struct ward_pool *pool, struct ward_fs_tree *tree, char *msg, size_t len, bool copy)
{
	struct job *job = malloc(sizeof(*job) + (copy ? len : 0));

	if (!job)
		return -ENOMEM;
	job->next = NULL;
	job->tree = tree;
	job->len = len;
	job->msg = msg;
	if (copy) {
		job->msg = job->copy;
		memcpy(job->copy, msg, len);
	}
	pthread_mutex_lock(&pool->lock);
	*pool->last = job;
	pool->last = &job->next;
	pool->n_jobs++;
	/* Without a new thread, the job waits for an existing one. */
	if (pool->n_jobs > pool->n_waiting && pool->n_threads < THREADS)
		(void)add_thread(pool);
	pthread_cond_signal(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
	return 0;
}

int ward_pool_thread_init(void)
{
	/* umask(2) belongs to fs_struct, which threads share unless told otherwise. */
	return unshare(CLONE_FS) < 0 ? -errno : 0;
}

/* A digest may have to be made: of what these flags of open(2) do to a file. */
static bool digests(const struct ward_fs *fs, uint32_t flags)
{
	switch (fs->hash) {
	case WARD_HASH_ALL:
		return true;
	case WARD_HASH_WRITES:
		return (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
	case WARD_HASH_NONE:
		return false;
	}
	return true;
}

bool ward_pool_slow(const struct ward_fs *fs, const char *msg, size_t len)
{
	const struct fuse_in_header *in = (const void *)msg;
	const struct fuse_read_in *rd = (const void *)(in + 1);
	const struct fuse_open_in *open = (const void *)(in + 1);
	const struct fuse_release_in *release = (const void *)(in + 1);

	if (len < sizeof(*in))
		return false;
	switch (in->opcode) {
	case FUSE_FSYNC:
	case FUSE_FSYNCDIR:
	case FUSE_FALLOCATE:
	case FUSE_COPY_FILE_RANGE:
	case FUSE_STATFS:
	case FUSE_SYNCFS:
		return true;
	case FUSE_OPEN:
		return len >= sizeof(*in) + sizeof(*open) && digests(fs, open->flags);
	case FUSE_CREATE:
		return fs->hash != WARD_HASH_NONE;
	case FUSE_RELEASE:
		return len >= sizeof(*in) + sizeof(*release) && digests(fs, release->flags);
	case FUSE_READ:
		return len >= sizeof(*in) + sizeof(*rd) && rd->size >= LARGE_IO;
	case FUSE_WRITE:
		return len >= LARGE_IO;
	default:
		return false;
	}
}
