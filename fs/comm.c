/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/comm.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void ward_comm_init(struct ward_comm *c)
{
	memset(c, 0, sizeof(*c));
	pthread_mutex_init(&c->lock, NULL);
}

static void forget(struct ward_comm *c, size_t i)
{
	if (c->slot[i].tid)
		close(c->slot[i].fd);
	c->slot[i].tid = 0;
}

void ward_comm_clear(struct ward_comm *c)
{
	for (size_t i = 0; i < WARD_COMM_SLOTS; i++)
		forget(c, i);
	pthread_mutex_destroy(&c->lock);
}

/* The open file of tid, or -1. */
static int find(const struct ward_comm *c, uint32_t tid, size_t *ret_i)
{
	for (size_t i = 0; i < WARD_COMM_SLOTS; i++) {
		if (c->slot[i].tid == tid) {
			*ret_i = i;
			return c->slot[i].fd;
		}
	}
	return -1;
}

static int take(struct ward_comm *c, uint32_t tid, size_t *ret_i)
{
	char path[32];
	(void)snprintf(path, sizeof(path), "/proc/%u/comm", tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	*ret_i = c->next;
	c->next = (c->next + 1) % WARD_COMM_SLOTS;
	forget(c, *ret_i);
	c->slot[*ret_i].tid = tid;
	c->slot[*ret_i].fd = fd;
	return fd;
}

size_t ward_comm_get(struct ward_comm *c, uint32_t tid, char ret[WARD_COMM_MAX])
{
	size_t i = 0;
	ssize_t n = -1;
	if (!tid)
		return 0;
	pthread_mutex_lock(&c->lock);
	int fd = find(c, tid, &i);
	if (fd >= 0) {
		n = pread(fd, ret, WARD_COMM_MAX, 0);
		if (n < 0)
			forget(c, i);
	}
	if (n < 0) {
		fd = take(c, tid, &i);
		if (fd >= 0)
			n = pread(fd, ret, WARD_COMM_MAX, 0);
	}
	pthread_mutex_unlock(&c->lock);
	if (n > 0 && ret[n - 1] == '\n')
		n--;
	return n > 0 ? (size_t)n : 0;
}
