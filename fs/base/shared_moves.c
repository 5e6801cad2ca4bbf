/* SPDX-License-Identifier: Apache-2.0 */
/* The lock that all sessions of an owner share while they rename and link. */
#include "fs/base/shared_moves.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A request waits that long, on a thread that others need; after that none does for as long. */
#define WAIT_NS UINT64_C(1000000000)
#define NAP_FIRST_NS 50000L
#define NAP_MOST_NS 2000000L
/* A session that holds the lock for longer lets others have it for as long. */
#define LONG_NS UINT64_C(2000000)
/* A rest is as long as the move was, and no longer than this. */
#define REST_MOST_NS (WAIT_NS / 4)

struct ward_moves {
	int fd;
	pthread_mutex_t lock;	  /* taken before renames_lock; protects what follows */
	uint64_t known;		  /* the number in the file, as it was seen last */
	uint64_t since_ns;	  /* when the lock was taken */
	uint64_t rest_until_ns;	  /* it is not taken again before */
	uint64_t busy_until_ns;	  /* nobody waits for it before */
	atomic_uint_fast64_t seq; /* grows where others moved something */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

static void nap(long ns)
{
	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &(const struct timespec){.tv_nsec = ns}, NULL);
}

int ward_moves_new(int fd, struct ward_moves **ret)
{
	struct ward_moves *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->fd = fd;
	pthread_mutex_init(&m->lock, NULL);
	*ret = m;
	return 0;
}

void ward_moves_free(struct ward_moves *m)
{
	if (!m)
		return;
	pthread_mutex_destroy(&m->lock);
	free(m);
}

uint64_t ward_moves_seq(const struct ward_moves *m)
{
	return m ? atomic_load(&m->seq) : 0;
}

static int set_lock(const struct ward_moves *m, short type)
{
	struct flock l = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = WARD_MOVES_LOCK, .l_len = 1};

	return fcntl(m->fd, F_OFD_SETLK, &l) < 0 ? -errno : 0;
}

/* A blocking wait could not be bounded: a process that holds the lock may have been stopped. */
static int take(struct ward_moves *m)
{
	const uint64_t begun = now_ns();
	const uint64_t until = begun < m->busy_until_ns ? begun : begun + WAIT_NS;
	long ns = NAP_FIRST_NS;

	for (;;) {
		const uint64_t now = now_ns();
		/* Our own rest is no sign that another session moves files. */
		const bool rests = now < m->rest_until_ns;
		const int r = rests ? -EAGAIN : set_lock(m, F_WRLCK);

		if (r == 0)
			m->busy_until_ns = 0;
		if (r == 0 || (r != -EAGAIN && r != -EACCES && r != -EINTR))
			return r;
		if (now >= until && !rests) {
			if (until != begun)
				m->busy_until_ns = now + WAIT_NS;
			return -EBUSY;
		}
		nap(ns);
		ns = ns < NAP_MOST_NS / 2 ? ns * 2 : NAP_MOST_NS;
	}
}

/* Locked. A file that is shorter has no number yet. */
static int look(struct ward_moves *m)
{
	uint64_t number = 0;
	const ssize_t n = pread(m->fd, &number, sizeof(number), 0);

	if (n < 0)
		return -errno;
	if (number != m->known)
		atomic_fetch_add(&m->seq, 1);
	m->known = number;
	return 0;
}

int ward_moves_enter(struct ward_moves *m)
{
	int r;

	if (!m)
		return 0;
	pthread_mutex_lock(&m->lock);
	r = take(m);
	if (r == 0) {
		m->since_ns = now_ns();
		r = look(m);
		if (r < 0)
			(void)set_lock(m, F_UNLCK);
	}
	if (r < 0)
		pthread_mutex_unlock(&m->lock);
	return r;
}

int ward_moves_tell(struct ward_moves *m)
{
	const uint64_t number = m ? m->known + 1 : 0;

	if (!m)
		return 0;
	if (pwrite(m->fd, &number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	m->known = number;
	return 0;
}

void ward_moves_leave(struct ward_moves *m)
{
	uint64_t now, held;

	if (!m)
		return;
	(void)set_lock(m, F_UNLCK);
	now = now_ns();
	held = now - m->since_ns;
	if (held > LONG_NS)
		m->rest_until_ns = now + (held < REST_MOST_NS ? held : REST_MOST_NS);
	pthread_mutex_unlock(&m->lock);
}
