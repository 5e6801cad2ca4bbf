/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the names of the programs that ask, and which process a thread is of. */
#include "fs/base/caller_names.h"

#include <assert.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* <linux/pidfd.h> of Linux 6.13; PIDFD_THREAD is 6.9's. */
#define WARD_PIDFD_THREAD O_EXCL
struct ward_pidfd_info {
	uint64_t mask; /* bit 0 is always asked for and answered: the numbers */
	uint64_t cgroupid;
	uint32_t pid, tgid, ppid;
	uint32_t ids[8];
	int32_t exit_code;
};
static_assert(sizeof(struct ward_pidfd_info) == 64, "PIDFD_INFO_SIZE_VER0");

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
	c->slot[*ret_i].at_ns = 0;
	c->slot[*ret_i].fd = fd;
	return fd;
}

/* False: this kernel does not tell, or the thread is gone. */
static bool ask(uint32_t tid, struct ward_process *ret)
{
	struct ward_pidfd_info info = {.mask = 0};
	ward_cleanup_fd int fd = (int)syscall(SYS_pidfd_open, tid, WARD_PIDFD_THREAD);
	if (fd < 0 || ioctl(fd, WARD_PIDFD_GET_INFO, &info) < 0 || !(info.mask & 1))
		return false;
	*ret = (struct ward_process){.process = info.tgid, .parent = info.ppid};
	return info.tgid != 0;
}

/* Of a thread that was not among the last few: what of its process is news. */
static struct ward_process news(struct ward_comm *c, uint32_t tid)
{
	struct ward_process now = {.process = 0};
	size_t i = tid % WARD_COMM_SAID;
	if (!ask(tid, &now) || (c->said[i].tid == tid && c->said[i].is.process == now.process &&
				       c->said[i].is.parent == now.parent))
		return (struct ward_process){.process = 0};
	c->said[i].tid = tid;
	c->said[i].is = now;
	return now;
}

uint32_t ward_comm_process(uint32_t tid)
{
	struct ward_process now = {.process = 0};
	return tid && ask(tid, &now) ? now.process : tid;
}

void ward_comm_unsaid(struct ward_comm *c, uint32_t tid)
{
	size_t i = 0;
	pthread_mutex_lock(&c->lock);
	c->said[tid % WARD_COMM_SAID].tid = 0;
	if (find(c, tid, &i) >= 0)
		forget(c, i);
	pthread_mutex_unlock(&c->lock);
}

/* Reads the name through slot i, which keeps it. -1: the thread is gone. */
static ssize_t read_name(struct ward_comm *c, size_t i, uint64_t now_ns)
{
	ssize_t n = pread(c->slot[i].fd, c->slot[i].name, WARD_COMM_MAX, 0);
	if (n < 0)
		return -1;
	if (n > 0 && c->slot[i].name[n - 1] == '\n')
		n--;
	c->slot[i].len = (size_t)n;
	c->slot[i].at_ns = now_ns;
	return n;
}

size_t ward_comm_get(struct ward_comm *c, uint32_t tid, uint64_t now_ns, uint64_t old_ns,
	char ret[WARD_COMM_MAX], struct ward_process *ret_new)
{
	size_t i = 0;
	ssize_t n = -1;
	ret_new->process = 0;
	if (!tid)
		return 0;
	pthread_mutex_lock(&c->lock);
	if (find(c, tid, &i) >= 0) {
		/* Of another thread's, which was later: a large difference, so it is read. */
		n = now_ns - c->slot[i].at_ns < old_ns ? (ssize_t)c->slot[i].len
						       : read_name(c, i, now_ns);
		if (n < 0)
			forget(c, i);
	}
	if (n < 0) {
		if (take(c, tid, &i) >= 0)
			n = read_name(c, i, now_ns);
		*ret_new = news(c, tid);
	}
	if (n > 0)
		memcpy(ret, c->slot[i].name, (size_t)n);
	pthread_mutex_unlock(&c->lock);
	return n > 0 ? (size_t)n : 0;
}
