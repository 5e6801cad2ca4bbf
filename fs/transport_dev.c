/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "fs/ahead.h"
#include "fs/fuse_kernel.h"
#include "fs/session.h"
#include "fs/transport.h"

/* The largest message: max_write and its headers (libfuse: FUSE_BUFFER_HEADER_SIZE, a page). */
#define MESSAGE_MAX ((1U << 20) + 4096U)
/* Reads and writes from here on go to the pool. */
#define LARGE_IO (256U << 10)
/* Figures of docs/kernel-facts: a sleep shorter than this costs more than the wait. */
#define SPIN_NS 50000U
/* CPUs are kept awake after this many requests with gaps below FLOW_NS, until IDLE_MS without. */
#define FLOW_REQUESTS 8U
#define FLOW_NS 500000U
#define IDLE_MS 2

struct ward_transport {
	struct ward_fs_tree *tree;
	int done_fd;
	bool spin, latency;
	pthread_t thread;
	char *buf;

	/* the reader thread's own */
	bool held;	  /* our request at /dev/cpu_dma_latency is in force */
	unsigned flow;	  /* requests in a row with short gaps */
	uint64_t last_ns; /* when the last one came */
};

int ward_transport_thread_init(void)
{
	/* umask(2) belongs to fs_struct, which threads share unless told otherwise. */
	return unshare(CLONE_FS) < 0 ? -errno : 0;
}

static bool slow(const char *msg, size_t len)
{
	const struct fuse_in_header *in = (const void *)msg;
	const struct fuse_read_in *rd = (const void *)(in + 1);

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
	case FUSE_READ:
		return len >= sizeof(*in) + sizeof(*rd) && rd->size >= LARGE_IO;
	case FUSE_WRITE:
		return len >= LARGE_IO;
	default:
		return false;
	}
}

void ward_transport_deliver(struct ward_fs_tree *tree, char *msg, size_t len)
{
	if (slow(msg, len) && ward_pool_push(tree->fs->pool, tree, msg, len) == 0)
		return;
	ward_session_process(tree, msg, len);
}

/* linux/Documentation/power/pm_qos_interface: a write of an s32 is the request in microseconds. */
static void hold(struct ward_transport *t, bool on)
{
	const int32_t usec = on ? 0 : 2000000000; /* PM_QOS_CPU_LATENCY_DEFAULT_VALUE */

	if (on == t->held)
		return;
	if (write(t->tree->fs->latency_fds[t->tree->index], &usec, sizeof(usec)) == sizeof(usec))
		t->held = on;
}

static void note_request(struct ward_transport *t)
{
	uint64_t now;

	if (!t->latency)
		return;
	now = ward_clock_mono_ns();
	t->flow = now - t->last_ns < FLOW_NS ? t->flow + 1 : 0;
	t->last_ns = now;
	if (t->flow >= FLOW_REQUESTS)
		hold(t, true);
}

/* Nothing is there now: returns when something may be. */
static void wait_for_request(struct ward_transport *t)
{
	struct pollfd p = {.fd = t->tree->dev_fd, .events = POLLIN};
	int n;

	n = poll(&p, 1, t->held ? IDLE_MS : -1);
	if (n == 0) {
		hold(t, false);
		t->flow = 0;
	}
}

static ssize_t next_message(struct ward_transport *t)
{
	uint64_t until = 0;

	for (;;) {
		ssize_t n = read(t->tree->dev_fd, t->buf, MESSAGE_MAX);

		if (n >= 0)
			return n;
		/* ENOENT: the request was withdrawn as we read it. */
		if (errno == EINTR || errno == ENOENT)
			continue;
		if (errno != EAGAIN)
			return -errno;
		if (ward_ahead_step(t->tree->ahead)) {
			until = 0;
			continue;
		}
		/*
		 * Where the CPUs are kept awake they poll anyway while requests flow: looking for
		 * the next one ourselves saves the wake-up as well. Not before: a request now and
		 * then would cost SPIN_NS of a CPU each time.
		 */
		if (t->spin && (t->held || !t->latency)) {
			const uint64_t now = ward_clock_mono_ns();

			if (!until)
				until = now + SPIN_NS;
			if (now < until)
				continue;
			until = 0;
		}
		wait_for_request(t);
	}
}

static void *run(void *arg)
{
	struct ward_transport *t = arg;
	const uint64_t one = 1;

	if (ward_transport_thread_init() == 0) {
		for (;;) {
			ssize_t n = next_message(t);

			/* ENODEV: unmounted, or the connection was aborted. */
			if (n <= 0)
				break;
			note_request(t);
			ward_ahead_note(t->tree->ahead, t->buf, (size_t)n);
			ward_transport_deliver(t->tree, t->buf, (size_t)n);
		}
	}
	if (t->held)
		hold(t, false);
	/* An eventfd takes a one unless it holds 2^64-2 of them. */
	if (ward_fd_write_all(t->done_fd, &one, sizeof(one)) < 0)
		return t;
	return NULL;
}

/* On one CPU a spinning reader only keeps the client from making its next request. */
static bool several_cpus(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) > 1;
}

int ward_transport_start(struct ward_fs_tree *tree, uint32_t wake, int done_fd,
	struct ward_transport **ret, struct ward_err *err)
{
	struct ward_transport *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return ward_err_sys(err, -ENOMEM, "transport");
	t->tree = tree;
	t->done_fd = done_fd;
	t->latency = tree->fs->latency_fds[tree->index] >= 0 &&
		     (wake == WARD_WAKE_AUTO || wake & WARD_WAKE_LATENCY);
	t->spin = wake & WARD_WAKE_SPIN || (wake == WARD_WAKE_AUTO && several_cpus());
	/* A page boundary: the kernel copies whole pages of large writes. */
	if (posix_memalign((void **)&t->buf, 4096, MESSAGE_MAX)) {
		t->buf = NULL;
		r = -ENOMEM;
		goto fail;
	}
	r = fcntl(tree->dev_fd, F_GETFL);
	if (r < 0 || fcntl(tree->dev_fd, F_SETFL, r | O_NONBLOCK) < 0) {
		r = -errno;
		goto fail;
	}
	r = -pthread_create(&t->thread, NULL, run, t);
	if (r < 0)
		goto fail;
	*ret = t;
	return 0;
fail:
	free(t->buf);
	free(t);
	return ward_err_sys(err, r, "%s: transport", tree->path);
}

void ward_transport_free(struct ward_transport *t)
{
	if (!t)
		return;
	pthread_join(t->thread, NULL);
	free(t->buf);
	free(t);
}
