/* SPDX-License-Identifier: Apache-2.0 */
/* Serves one connection: checks, registers, answers, and closes what is not used any more. */
#include "enforcer/hostd/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/hostd/awake.h"
#include "enforcer/hostd/checks.h"
#include "enforcer/hostd/rights.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/host.h"
#include "enforcer/ipc/msg.h"
#include "fs/base/fuse_kernel.h"

/* A CLOSE, or an OPEN. */
#define MESSAGE_MAX (sizeof(uint32_t) * (3 + WARD_HOST_CLOSE_MAX))
/* More than can wait at one time (unix(7): of the sender's SO_SNDBUF each takes some 700 bytes). */
#define MESSAGES_MAX 4096U
/* FUSE connections of one session: its trees. */
#define CONNECTIONS_MAX WARD_TREES_MAX

struct connection {
	struct ward_host_fuse fuse;
	size_t place;  /* in the bounds */
	int dev;       /* its /dev/fuse, by which all ids are closed when it ends */
	uint32_t max;  /* ids that the bounds allow */
	uint32_t *ids; /* kept for the next one: the watcher neither takes nor frees memory */
	uint32_t n;
};

/*
 * Two threads. That which takes messages can be made to wait by a file of the client's, for as long
 * as the client likes: at close(2), FUSE waits for an answer. That which watches has no such file.
 * It alone ends connections, so that none outlives its client by the copy that is kept here.
 */
struct serving {
	const struct ward_host_worker *w;
	uid_t uid;
	struct ward_mount_table mounts;
	struct ward_awake awake;
	int wake[2]; /* a connection was added */
	sem_t started;
	pthread_mutex_t lock; /* of what follows; not held where a file may be waited for */
	struct connection v[CONNECTIONS_MAX];
	size_t n;
	bool over; /* the client is gone */
};

/* Under the lock, as what follows. */
static struct connection *find(struct serving *s, struct ward_host_fuse fuse)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].fuse.number == fuse.number && s->v[i].fuse.ino == fuse.ino)
			return &s->v[i];
	return NULL;
}

/* *fuse_fd is taken. */
static int claim(struct serving *s, int *fuse_fd, struct ward_host_fuse fuse)
{
	struct connection *c = &s->v[s->n];
	int r;

	if (s->over || s->n == CONNECTIONS_MAX)
		return s->over ? -EPIPE : -EUSERS;
	if (!c->ids)
		c->ids = calloc(WARD_HOST_IDS_MAX, sizeof(*c->ids));
	if (!c->ids)
		return -ENOMEM;
	r = ward_host_bounds_claim(s->w->bounds, fuse, s->uid, &c->place);
	if (r < 0)
		return r;
	c->fuse = fuse;
	c->n = c->max = 0;
	c->dev = ward_steal_fd(fuse_fd);
	s->n++;
	/* The pipe is full only where the watcher has yet to look. */
	(void)!write(s->wake[1], "", 1);
	return 0;
}

/* The ioctl, with CAP_SYS_ADMIN in effect: the kernel keeps what is in force now, and acts on the
 * file with it later. */
static int with_rights(int fuse_fd, unsigned long request, void *arg)
{
	int r = ward_rights_raise(true);

	if (r < 0)
		return r;
	r = ioctl(fuse_fd, request, arg);
	if (r < 0)
		r = -errno;
	/* Nothing is served with more than was meant to be. */
	if (ward_rights_raise(false) < 0)
		_exit(1);
	return r;
}

/* Claims the connection where it is new, and gives /dev/fuse away before files are waited for. */
static int claim_once(struct serving *s, int *fuse_fd, struct ward_host_fuse *ret)
{
	int r = ward_check_fuse(*fuse_fd, s->w->fusectl, s->uid, ret);

	/* It may be anything: close(2) could wait, and there would be no answer. */
	if (r < 0)
		return r;
	pthread_mutex_lock(&s->lock);
	if (!find(s, *ret))
		r = claim(s, fuse_fd, *ret);
	pthread_mutex_unlock(&s->lock);
	if (*fuse_fd >= 0)
		close(ward_steal_fd(fuse_fd));
	return r;
}

static int register_file(
	struct serving *s, struct ward_host_fuse fuse, struct ward_backing_map *map, uint32_t *ret)
{
	struct connection *c = find(s, fuse);
	int r = c ? 0 : -ENOTCONN;

	if (r == 0 && c->n == c->max)
		r = ward_host_bounds_grow(s->w->bounds, c->place, &c->max);
	if (r == 0)
		r = with_rights(c->dev, WARD_DEV_IOC_BACKING_OPEN, map);
	if (r <= 0)
		return r < 0 ? r : -EIO;
	c->ids[c->n++] = (uint32_t)r;
	*ret = (uint32_t)r;
	return 0;
}

static int open_file(struct serving *s, uint32_t writable, int *fds, uint32_t *ret)
{
	struct ward_backing_map map = {.fd = -1};
	struct ward_host_fuse fuse;
	int r = claim_once(s, &fds[0], &fuse);

	if (r == 0)
		r = writable ? ward_check_writable(&s->mounts, fds[1], &map.fd)
			     : ward_check_readable(&s->mounts, fds[1], fds[2], &map.fd);
	if (r < 0)
		return r;
	pthread_mutex_lock(&s->lock);
	r = register_file(s, fuse, &map, ret);
	pthread_mutex_unlock(&s->lock);
	close(map.fd);
	return r;
}

static int answer(const struct serving *s, uint32_t id, int error)
{
	struct ward_msg m;
	int r;

	ward_msg_init(&m, WARD_MSG_HOST_OPENED);
	ward_msg_put_u32(&m, id);
	ward_msg_put_u32(&m, (uint32_t)-error);
	/* Who does not read gets no further one: only its own session waits for that. */
	r = ward_msg_send(s->w->conn, &m, NULL, 0);
	ward_msg_clear(&m);
	return r;
}

/* The oldest is mostly the one. What is not there was not registered here. */
static void close_id(struct connection *c, uint32_t id)
{
	uint32_t i = 0;

	while (i < c->n && c->ids[i] != id)
		i++;
	if (i == c->n || with_rights(c->dev, WARD_DEV_IOC_BACKING_CLOSE, &id) < 0)
		return;
	c->n--;
	memmove(&c->ids[i], &c->ids[i + 1], (c->n - i) * sizeof(*c->ids));
}

/* The kernel keeps ids for as long as anybody has this /dev/fuse open: none is left. */
static void end_connection(struct serving *s, size_t i)
{
	const struct connection c = s->v[i];

	for (uint32_t k = 0; k < c.n; k++)
		(void)with_rights(c.dev, WARD_DEV_IOC_BACKING_CLOSE, &c.ids[k]);
	close(c.dev);
	ward_host_bounds_release(s->w->bounds, c.place);
	s->v[i] = s->v[--s->n];
	s->v[s->n] = c;
}

/* Descriptors in messages that are left: recvmsg(2) without a place for them gives them up, without
 * the close(2) that could wait. */
static void drop_messages(int conn)
{
	char byte;
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};

	/* 0 can be a message without a byte, as well as the end. */
	for (unsigned i = 0; i < MESSAGES_MAX && recvmsg(conn, &mh, MSG_DONTWAIT) >= 0; i++)
		;
}

/* Ends connections: one that is no more (fuse_dev_poll(): POLLERR), and all with the client. */
static void *watch(void *arg)
{
	struct serving *s = arg;
	struct pollfd p[2 + CONNECTIONS_MAX];
	char byte;

	sem_post(&s->started);
	while (!s->over) {
		pthread_mutex_lock(&s->lock);
		const size_t n = s->n;
		p[0] = (struct pollfd){.fd = s->w->conn, .events = POLLRDHUP};
		p[1] = (struct pollfd){.fd = s->wake[0], .events = POLLIN};
		for (size_t i = 0; i < n; i++)
			p[2 + i] = (struct pollfd){.fd = s->v[i].dev};
		pthread_mutex_unlock(&s->lock);
		/* EINTR: as if nothing had come. */
		if (poll(p, 2 + n, -1) < 0)
			continue;
		if (p[1].revents)
			(void)!read(s->wake[0], &byte, 1);
		pthread_mutex_lock(&s->lock);
		s->over = p[0].revents;
		for (size_t i = n; i > 0; i--)
			if (p[2 + i - 1].revents)
				end_connection(s, i - 1);
		while (s->over && s->n > 0)
			end_connection(s, s->n - 1);
		pthread_mutex_unlock(&s->lock);
	}
	drop_messages(s->w->conn);
	return NULL;
}

static int close_ids(struct serving *s, struct ward_msg_reader *m, int fuse_fd)
{
	const uint32_t n = ward_msg_get_u32(m);
	uint32_t ids[WARD_HOST_CLOSE_MAX];
	struct ward_host_fuse fuse;
	struct connection *c;

	if (m->bad || n > WARD_HOST_CLOSE_MAX)
		return -EBADMSG;
	for (uint32_t k = 0; k < n; k++)
		ids[k] = ward_msg_get_u32(m);
	if (ward_msg_done(m) < 0)
		return -EBADMSG;
	/* Of a connection that has no ids from here there is none to be closed. */
	if (ward_check_fuse(fuse_fd, s->w->fusectl, s->uid, &fuse) < 0)
		return 0;
	pthread_mutex_lock(&s->lock);
	c = find(s, fuse);
	for (uint32_t k = 0; c && k < n; k++)
		close_id(c, ids[k]);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

/* Another one may follow: 0. */
static int take(struct serving *s, struct ward_msg_reader *m, int *fds, size_t n_fds)
{
	uint32_t writable, id = 0;
	int r;

	if (m->type == WARD_MSG_HOST_CLOSE && n_fds == 1)
		return close_ids(s, m, fds[0]);
	if (m->type == WARD_MSG_HOST_AWAKE && n_fds == 1 && ward_msg_done(m) == 0) {
		r = ward_awake_add(&s->awake, fds[0]);
		return answer(s, r == 0, r);
	}
	if (m->type != WARD_MSG_HOST_OPEN)
		return -EBADMSG;
	writable = ward_msg_get_u32(m);
	if (ward_msg_done(m) < 0 || writable > 1 || n_fds != (writable ? 2U : 3U))
		return -EBADMSG;
	r = open_file(s, writable, fds, &id);
	return answer(s, id, r);
}

/* With the user's rights, and the other thread. */
static int start(struct serving *s, const struct ucred *peer, pthread_t *ret, struct ward_err *err)
{
	int r = ward_rights_worker(s->w->conn, peer, err);

	if (r < 0)
		return r;
	pthread_mutex_init(&s->lock, NULL);
	if (pipe2(s->wake, O_CLOEXEC | O_NONBLOCK) < 0 || sem_init(&s->started, 0, 0) < 0)
		return ward_err_sys(err, -errno, "pipe");
	r = -pthread_create(ret, NULL, watch, s);
	if (r < 0)
		return ward_err_sys(err, r, "pthread_create");
	/* What a thread does to begin with is not allowed later. */
	while (sem_wait(&s->started) < 0)
		;
	return ward_rights_calls(err);
}

/* One message. 1: the connection has ended; a negative errno: it is not valid. */
static int serve_one(struct serving *s)
{
	char buf[MESSAGE_MAX];
	int fds[3] = {-1, -1, -1};
	size_t n_fds = 3;
	struct ward_msg_reader m;
	const ssize_t len = ward_msg_recv(s->w->conn, buf, sizeof(buf), fds, &n_fds);
	int r;

	if (len <= 0)
		return 1;
	ward_msg_reader_init(&m, buf, (size_t)len);
	r = take(s, &m, fds, n_fds);
	for (size_t i = 0; i < n_fds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return r;
}

/* Until the client ends, or says what is not valid. */
static int serve(struct serving *s)
{
	int r = 0;

	while (r == 0) {
		struct pollfd p[1 + WARD_AWAKE_MAX] = {{.fd = s->w->conn, .events = POLLIN}};
		const size_t n = 1 + ward_awake_poll(&s->awake, p + 1);

		if (poll(p, n, -1) < 0) {
			r = errno == EINTR ? 0 : -errno;
			continue;
		}
		ward_awake_take(&s->awake, p + 1);
		if (p[0].revents)
			r = serve_one(s);
	}
	return r;
}

int ward_host_worker_serve(const struct ward_host_worker *w, const struct ucred *peer)
{
	struct ward_err err = WARD_ERR_INIT;
	struct serving s = {.w = w, .uid = peer->uid};
	pthread_t watcher;
	int r = ward_mount_table_open(&s.mounts);

	ward_awake_open(&s.awake);

	/* Root registers by itself. */
	if (r == 0 && peer->uid == 0)
		r = -EPERM;
	if (r < 0)
		return 1;
	r = start(&s, peer, &watcher, &err);
	if (r < 0) {
		ward_tellf("wardfs-hostd: user %u: %s\n", (unsigned)peer->uid, err.text);
		return 1;
	}
	r = serve(&s);
	/* The watcher sees this as the client's end. */
	(void)shutdown(w->conn, SHUT_RDWR);
	pthread_join(watcher, NULL);
	return r < 0;
}
