/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the kernel to keep the processors awake while one of a session's pipes says so. */
#include "enforcer/hostd/awake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

/* include/linux/pm_qos.h: PM_QOS_CPU_LATENCY_DEFAULT_VALUE */
#define LET_GO 2000000000

void ward_awake_open(struct ward_awake *ret)
{
	*ret = (struct ward_awake){.device = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC)};
	if (ret->device < 0)
		ret->device = -errno;
}

int ward_awake_add(struct ward_awake *a, int fd)
{
	int own;

	if (a->device < 0)
		return a->device;
	if (a->n == WARD_AWAKE_MAX)
		return -EUSERS;
	/* Unlike fstat(2) this asks no file system. */
	if (fcntl(fd, F_GETPIPE_SZ) < 0)
		return -EBADF;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		return -errno;
	a->v[a->n].fd = own;
	a->v[a->n++].wants = false;
	return 0;
}

size_t ward_awake_poll(const struct ward_awake *a, struct pollfd *ret)
{
	for (size_t i = 0; i < a->n; i++)
		ret[i] = (struct pollfd){.fd = a->v[i].fd, .events = POLLIN};
	return a->n;
}

/* The last word of a pipe counts. False: it has ended. */
static bool hear(int fd, bool *ret_wants)
{
	int32_t said[256];
	const ssize_t n = read(fd, said, sizeof(said));

	if (n <= 0)
		return n < 0 && (errno == EINTR || errno == EAGAIN);
	if ((size_t)n >= sizeof(*said))
		*ret_wants = said[(size_t)n / sizeof(*said) - 1] == 0;
	return true;
}

void ward_awake_take(struct ward_awake *a, const struct pollfd *p)
{
	const size_t n = a->n;
	bool on = false;

	for (size_t i = n; i-- > 0;) {
		if (!p[i].revents || hear(a->v[i].fd, &a->v[i].wants))
			continue;
		close(a->v[i].fd);
		a->v[i] = a->v[--a->n];
	}
	for (size_t i = 0; i < a->n; i++)
		on |= a->v[i].wants;
	if (on == a->on)
		return;
	const int32_t usec = on ? 0 : LET_GO;
	if (write(a->device, &usec, sizeof(usec)) == (ssize_t)sizeof(usec))
		a->on = on;
}
