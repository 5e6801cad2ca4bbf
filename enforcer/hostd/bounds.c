/* SPDX-License-Identifier: Apache-2.0 */
/* Counts FUSE connections that have backing ids, in memory that all processes share. */
#include "enforcer/hostd/bounds.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/ipc/host.h"

#define CONNECTIONS_MAX 4096U
/* Ids are counted by so many, since each count looks at all connections. */
#define IDS_STEP 256U

static_assert(WARD_HOST_IDS_MAX % IDS_STEP == 0, "what one connection may have can be had");

struct ward_host_bounds {
	int fusectl;
	pthread_mutex_t lock; /* of v; robust: a process may be killed with it */
	struct {
		struct ward_host_fuse fuse;
		uid_t uid;
		pid_t pid;
		uint32_t n_ids; /* that may be there, in steps */
		bool used;
	} v[CONNECTIONS_MAX];
};

int ward_host_bounds_new(int fusectl, struct ward_host_bounds **ret)
{
	struct ward_host_bounds *b =
		mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;

	if (b == MAP_FAILED)
		return -ENOMEM;
	/* None of these fails (pthread_mutexattr_setrobust(3) and its like). */
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&b->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	b->fusectl = fusectl;
	*ret = b;
	return 0;
}

static bool same(struct ward_host_fuse a, struct ward_host_fuse b)
{
	return a.number == b.number && a.ino == b.ino;
}

static bool has_ended(const struct ward_host_bounds *b, struct ward_host_fuse fuse)
{
	char name[16];
	struct stat st;

	snprintf(name, sizeof(name), "%u", fuse.number);
	if (fstatat(b->fusectl, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	return (uint32_t)st.st_ino != fuse.ino;
}

/* Under the lock. The number of a process that is gone can be another's soon: then it stays. */
static bool is_over(const struct ward_host_bounds *b, size_t i)
{
	return kill(b->v[i].pid, 0) < 0 && has_ended(b, b->v[i].fuse);
}

/* Under the lock. */
static int claim(struct ward_host_bounds *b, struct ward_host_fuse fuse, uid_t uid, size_t *ret)
{
	size_t place = CONNECTIONS_MAX;
	unsigned n = 0;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		if (b->v[i].used && b->v[i].uid == uid && is_over(b, i))
			b->v[i].used = false;
		if (!b->v[i].used) {
			place = place == CONNECTIONS_MAX ? i : place;
			continue;
		}
		if (same(b->v[i].fuse, fuse))
			return -EBUSY;
		n += b->v[i].uid == uid;
	}
	/* Those of others are looked at only where there is no other place. */
	for (size_t i = 0; place == CONNECTIONS_MAX && i < CONNECTIONS_MAX; i++)
		if (is_over(b, i))
			place = i;
	if (n >= WARD_HOST_USER_MAX || place == CONNECTIONS_MAX)
		return -EUSERS;
	b->v[place].fuse = fuse;
	b->v[place].uid = uid;
	b->v[place].pid = getpid();
	b->v[place].n_ids = 0;
	b->v[place].used = true;
	*ret = place;
	return 0;
}

/* Under the lock. */
static int grow(struct ward_host_bounds *b, size_t place, uint32_t *ret)
{
	uint32_t all = IDS_STEP, own = IDS_STEP;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		if (!b->v[i].used)
			continue;
		all += b->v[i].n_ids;
		own += b->v[i].uid == b->v[place].uid ? b->v[i].n_ids : 0;
	}
	if (b->v[place].n_ids + IDS_STEP > WARD_HOST_IDS_MAX || own > WARD_HOST_USER_IDS_MAX ||
		all > WARD_HOST_ALL_IDS_MAX)
		return -ENOSPC;
	b->v[place].n_ids += IDS_STEP;
	*ret = b->v[place].n_ids;
	return 0;
}

static int lock(struct ward_host_bounds *b)
{
	int r = pthread_mutex_lock(&b->lock);

	/* Who died changed one entry, whose `used` comes last. */
	if (r == EOWNERDEAD)
		r = pthread_mutex_consistent(&b->lock);
	return -r;
}

int ward_host_bounds_claim(
	struct ward_host_bounds *b, struct ward_host_fuse fuse, uid_t uid, size_t *ret)
{
	int r = lock(b);

	if (r < 0)
		return r;
	r = claim(b, fuse, uid, ret);
	pthread_mutex_unlock(&b->lock);
	return r;
}

int ward_host_bounds_grow(struct ward_host_bounds *b, size_t place, uint32_t *ret)
{
	int r = lock(b);

	if (r < 0)
		return r;
	r = grow(b, place, ret);
	pthread_mutex_unlock(&b->lock);
	return r;
}

void ward_host_bounds_release(struct ward_host_bounds *b, size_t place)
{
	/* What cannot be released is so when this process is gone. */
	if (lock(b) < 0)
		return;
	b->v[place].used = false;
	pthread_mutex_unlock(&b->lock);
}
