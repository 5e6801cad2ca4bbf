/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of /dev/fuse: takes requests and serves them, or gives them to the pool. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "fs/base/fuse_kernel.h"
#include "fs/kernel/host_ids.h"
#include "fs/kernel/passthrough.h"
#include "fs/ops/listing_ahead.h"
#include "fs/serve/fuse_session.h"
#include "fs/serve/slow_pool.h"
#include "fs/serve/transport.h"
#include "fs/serve/transport_uring.h"

/* The largest message: max_write and its headers (libfuse: FUSE_BUFFER_HEADER_SIZE, a page). */
#define MESSAGE_MAX (WARD_FUSE_MESSAGE_DATA + 4096U)
/* On a quiet virtual machine a sleep shorter than this costs more than the wait. */
#define SPIN_NS 50000U
/* CPUs are kept awake after this many requests with gaps below FLOW_NS, until IDLE_MS without. */
#define FLOW_REQUESTS 8U
#define FLOW_NS 500000U
#define IDLE_MS 2
/*
 * Beside rings what comes here is FORGET above all, hundreds at once where a tree is removed: while
 * requests flow we look this often, and no client has to wake us for each of them.
 */
#define NAP_MS 10
/* The kernel sends INIT when it mounts, so it is there when we start. */
#define SETTLE_SECONDS 5

struct ward_transport {
	struct ward_fs_tree *tree;
	int done_fd;
	bool spin, auto_wake;
	atomic_bool latency; /* somebody keeps the CPUs awake when we say so */
	pthread_t thread;
	char *buf;

	pthread_mutex_t lock; /* protects settled */
	pthread_cond_t told;  /* CLOCK_MONOTONIC */
	bool settled;	      /* INIT was answered, or never will be */

	/* the reader thread's own */
	bool held;	  /* our request at /dev/cpu_dma_latency is in force */
	unsigned flow;	  /* requests in a row with short gaps */
	bool asked;	  /* wardfs-hostd has said whether it does that for us */
	uint64_t last_ns; /* when the last one came */
	uint64_t seen;	  /* tree->n_requests when it last looked */
};

/* Serves one message, here or on a thread of the pool. */
static void deliver(struct ward_fs_tree *tree, char *msg, size_t len)
{
	if (ward_pool_slow(tree->fs, msg, len) &&
		ward_pool_push(tree->fs->pool, tree, msg, len, true) == 0)
		return;
	ward_session_process(tree, msg, len);
}

/* --- beside rings --- */

/* The kernel's INIT, as it has flags2 since 7.36; at the same place since ever. */
static bool offers_rings(const char *msg, size_t len)
{
	const struct fuse_in_header *in = (const void *)msg;
	const struct fuse_init_in *init = (const void *)(in + 1);

	return len >= sizeof(*in) + sizeof(*init) && init->flags & FUSE_INIT_EXT &&
	       init->flags2 & WARD_FUSE_OVER_IO_URING_FLAG2;
}

static void settle(struct ward_transport *t)
{
	pthread_mutex_lock(&t->lock);
	t->settled = true;
	pthread_cond_signal(&t->told);
	pthread_mutex_unlock(&t->lock);
}

static void on_init(struct ward_transport *t, size_t len)
{
	struct ward_fs_tree *tree = t->tree;

	tree->rings =
		tree->uring && offers_rings(t->buf, len) && ward_uring_start(tree->uring) == 0;
	ward_session_process(tree, t->buf, len);
	/* The kernel lets every client wait from here until each queue has an entry. */
	if (tree->rings && tree->inited)
		atomic_store(&tree->rings, ward_uring_register(tree->uring, tree->payload) == 0);
	settle(t);
}

static void interrupt_again(struct ward_fs_tree *tree)
{
	uint64_t unique;

	while ((unique = ward_uring_next_interrupt(tree->uring))) {
		struct {
			struct fuse_in_header in;
			struct fuse_interrupt_in arg;
		} msg = {.in = {.len = sizeof(msg),
				 .opcode = FUSE_INTERRUPT,
				 .unique = unique | WARD_FUSE_INTERRUPT_BIT},
			.arg.unique = unique};

		if (ward_uring_serving(tree->uring, unique))
			ward_session_process(tree, (char *)&msg, sizeof(msg));
	}
}

static void wait_beside_rings(struct ward_transport *t)
{
	struct pollfd p[2] = {{.fd = ward_uring_reader_fd(t->tree->uring), .events = POLLIN},
		{.fd = t->tree->dev_fd, .events = POLLIN}};
	const uint64_t served = atomic_load(&t->tree->n_requests);
	const bool flow = served != t->seen;
	uint64_t count;

	t->seen = served;
	if (poll(p, flow ? 1 : 2, flow ? NAP_MS : -1) > 0 && p[0].revents &&
		read(p[0].fd, &count, sizeof(count)) == sizeof(count))
		interrupt_again(t->tree);
}

/* --- the reader --- */

/* linux/Documentation/power/pm_qos_interface: a write of an s32 is the request in microseconds. */
static void hold(struct ward_transport *t, bool on)
{
	const int32_t usec = on ? 0 : 2000000000; /* PM_QOS_CPU_LATENCY_DEFAULT_VALUE */
	const struct ward_fs *fs = t->tree->fs;
	const size_t i = t->tree->index;
	const int fd = fs->latency_fds[i] >= 0 ? fs->latency_fds[i] : fs->awake_write[i];

	if (on == t->held)
		return;
	if (write(fd, &usec, sizeof(usec)) == sizeof(usec)) {
		t->held = on;
	} else if (fd == fs->awake_write[i]) {
		/* It is gone, or does not listen. */
		t->held = false;
		atomic_store(&t->latency, false);
	}
}

/* Nobody waits for wardfs-hostd where nothing flows: it is asked when something does. */
static void ask_host(struct ward_transport *t)
{
	struct ward_fs *fs = t->tree->fs;
	const size_t i = t->tree->index;
	int r;

	if (t->asked || !t->auto_wake || !fs->host || fs->awake_read[i] < 0)
		return;
	r = ward_host_ids_awake(fs->host, fs->awake_read[i]);
	if (r == -EAGAIN)
		return;
	t->asked = true;
	close(fs->awake_read[i]);
	fs->awake_read[i] = -1;
	atomic_store(&t->latency, r == 0);
}

static void note_request(struct ward_transport *t)
{
	uint64_t now;

	if (!t->latency && (t->asked || !t->tree->fs->host))
		return;
	now = ward_clock_mono_ns();
	t->flow = now - t->last_ns < FLOW_NS ? t->flow + 1 : 0;
	t->last_ns = now;
	if (t->flow >= FLOW_REQUESTS && t->flow % FLOW_REQUESTS == 0)
		ask_host(t);
	if (t->flow >= FLOW_REQUESTS && t->latency)
		hold(t, true);
}

/* Nothing is there now: returns when something may be. */
static void wait_for_request(struct ward_transport *t)
{
	struct pollfd p = {.fd = t->tree->dev_fd, .events = POLLIN};
	int n;

	ward_passthrough_settle(t->tree);
	if (ward_uring_active(t->tree->uring)) {
		wait_beside_rings(t);
		return;
	}
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
		if (ward_uring_active(t->tree->uring)) {
			wait_for_request(t);
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
	const struct fuse_in_header *in = (const void *)t->buf;
	const uint64_t one = 1;

	ward_passthrough_settles();
	if (ward_pool_thread_init() == 0) {
		for (;;) {
			ssize_t n = next_message(t);

			/* ENODEV: unmounted, or the connection was aborted. */
			if (n <= 0)
				break;
			if ((size_t)n >= sizeof(*in) && in->opcode == FUSE_INIT) {
				on_init(t, (size_t)n);
				continue;
			}
			if (!ward_uring_active(t->tree->uring))
				note_request(t);
			deliver(t->tree, t->buf, (size_t)n);
		}
	}
	settle(t);
	ward_uring_stop(t->tree->uring);
	if (t->held)
		hold(t, false);
	/* An eventfd takes a one unless it holds 2^64-2 of them. */
	if (ward_fd_write_all(t->done_fd, &one, sizeof(one)) < 0)
		return t;
	return NULL;
}

static void free_transport(struct ward_transport *t)
{
	pthread_mutex_destroy(&t->lock);
	pthread_cond_destroy(&t->told);
	free(t->buf);
	free(t);
}

/* On one CPU a spinning reader only keeps the client from making its next request. */
static bool several_cpus(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) > 1;
}

/* With CPUs kept awake and a reader beside its client /dev/fuse is the faster one (ADR 12). */
static bool kept_awake(const struct ward_fs_tree *tree)
{
	return tree->fs->latency_fds[tree->index] >= 0 && several_cpus();
}

void ward_transport_prepare(struct ward_fs_tree *tree, uint32_t wake)
{
	if (wake & WARD_WAKE_URING || (wake == WARD_WAKE_AUTO && !kept_awake(tree)))
		ward_uring_prepare(tree, &tree->uring);
}

static void init_cond(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
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
	pthread_mutex_init(&t->lock, NULL);
	init_cond(&t->told);
	t->auto_wake = wake == WARD_WAKE_AUTO || wake & WARD_WAKE_LATENCY;
	t->latency = tree->fs->latency_fds[tree->index] >= 0 && t->auto_wake;
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
	free_transport(t);
	return ward_err_sys(err, r, "%s: transport", tree->path);
}

const char *ward_transport_name(struct ward_transport *t)
{
	struct timespec until;
	bool settled;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += SETTLE_SECONDS;
	pthread_mutex_lock(&t->lock);
	while (!t->settled && r == 0)
		r = pthread_cond_timedwait(&t->told, &t->lock, &until);
	settled = t->settled;
	pthread_mutex_unlock(&t->lock);
	if (settled && t->tree->rings)
		return "io_uring";
	if (t->latency)
		return "/dev/fuse, CPUs kept awake while requests flow";
	return t->spin ? "/dev/fuse, spinning" : "/dev/fuse";
}

void ward_transport_free(struct ward_transport *t)
{
	if (!t)
		return;
	pthread_join(t->thread, NULL);
	free_transport(t);
}
