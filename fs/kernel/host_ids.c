/* SPDX-License-Identifier: Apache-2.0 */
/* Asks wardfs-hostd for backing ids. */
#include "fs/kernel/host_ids.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/host.h"
#include "enforcer/ipc/msg.h"

struct ward_host_ids {
	int sock;
	atomic_bool gone;
	pthread_mutex_t lock; /* of a request and its answer */
};

int ward_host_ids_new(int sock, struct ward_host_ids **ret)
{
	struct ward_host_ids *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->sock = sock;
	pthread_mutex_init(&h->lock, NULL);
	*ret = h;
	return 0;
}

void ward_host_ids_free(struct ward_host_ids *h)
{
	if (!h)
		return;
	close(h->sock);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

/* Under the lock. An answer that comes too late would be taken for that of the next request. */
static int lost(struct ward_host_ids *h)
{
	atomic_store(&h->gone, true);
	return -EPIPE;
}

static int take_answer(struct ward_host_ids *h, int32_t *ret)
{
	char buf[64];
	struct ward_msg_reader m;
	const ssize_t len = ward_msg_recv(h->sock, buf, sizeof(buf), NULL, NULL);
	uint32_t id, error;

	if (len <= 0)
		return lost(h);
	ward_msg_reader_init(&m, buf, (size_t)len);
	/* FAILED: it has too many sessions. */
	if (m.type != WARD_MSG_HOST_OPENED)
		return lost(h);
	id = ward_msg_get_u32(&m);
	error = ward_msg_get_u32(&m);
	if (ward_msg_done(&m) < 0 || id > INT32_MAX || error > INT32_MAX || !id == !error)
		return lost(h);
	if (error)
		return -(int)error;
	*ret = (int32_t)id;
	return 0;
}

/* A message, and the answer to it. */
static int ask(
	struct ward_host_ids *h, const struct ward_msg *m, const int *fds, size_t n, int32_t *ret)
{
	int r;

	pthread_mutex_lock(&h->lock);
	if (atomic_load(&h->gone)) {
		r = -EPIPE;
	} else {
		r = ward_msg_send(h->sock, m, fds, n);
		/* Descriptors are taken from when it has a process for us (ipc/service.c). */
		if (r == -EPERM)
			r = -EAGAIN;
		else
			r = r < 0 ? lost(h) : take_answer(h, ret);
	}
	pthread_mutex_unlock(&h->lock);
	return r;
}

int ward_host_ids_open(struct ward_host_ids *h, int dev_fd, int fd, int dir, int32_t *ret)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	const int fds[] = {dev_fd, fd, dir};

	ward_msg_init(&m, WARD_MSG_HOST_OPEN);
	ward_msg_put_u32(&m, dir < 0);
	return ask(h, &m, fds, dir < 0 ? 2 : 3, ret);
}

int ward_host_ids_awake(struct ward_host_ids *h, int fd)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	int32_t done;

	ward_msg_init(&m, WARD_MSG_HOST_AWAKE);
	return ask(h, &m, &fd, 1, &done);
}

void ward_host_ids_close(struct ward_host_ids *h, int dev_fd, const uint32_t *ids, size_t n)
{
	pthread_mutex_lock(&h->lock);
	while (n > 0 && !atomic_load(&h->gone)) {
		const uint32_t now = n < WARD_HOST_CLOSE_MAX ? (uint32_t)n : WARD_HOST_CLOSE_MAX;
		ward_cleanup(ward_msg_clear) struct ward_msg m;

		ward_msg_init(&m, WARD_MSG_HOST_CLOSE);
		ward_msg_put_u32(&m, now);
		for (uint32_t i = 0; i < now; i++)
			ward_msg_put_u32(&m, ids[i]);
		if (ward_msg_send(h->sock, &m, &dev_fd, 1) < 0)
			(void)lost(h);
		ids += now;
		n -= now;
	}
	pthread_mutex_unlock(&h->lock);
}
