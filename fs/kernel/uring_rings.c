/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the rings of a tree before confinement, and frees them. */
#include "fs/kernel/uring_rings.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* Answers to each request of a ring's entries fit without a system call in between. */
#define SQ_ENTRIES 16U
#define CQ_ENTRIES 64U
/* Threads of all trees together; with more CPUs they share. */
#define WORKERS_MAX 256U
/* Threads for the queue of a CPU that is online. */
#define WORKERS_A_QUEUE 2U

/* What a ring may do, in any hands: the two commands, and reading its eventfd. */
static int restrict_ring(struct io_uring *ring)
{
	struct io_uring_restriction res[] = {
		{.opcode = IORING_RESTRICTION_SQE_OP, .sqe_op = IORING_OP_URING_CMD},
		{.opcode = IORING_RESTRICTION_SQE_OP, .sqe_op = IORING_OP_READ},
		{.opcode = IORING_RESTRICTION_SQE_FLAGS_REQUIRED, .sqe_flags = IOSQE_FIXED_FILE},
	};

	return ward_uring_call(ring, IORING_REGISTER_RESTRICTIONS, res, sizeof(res) / sizeof(*res));
}

static int make_ring(struct ward_uring_worker *w)
{
	struct io_uring_params p = {
		.flags = IORING_SETUP_SQE128 | IORING_SETUP_CQSIZE | IORING_SETUP_R_DISABLED |
			 IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
		.cq_entries = CQ_ENTRIES,
	};
	int files[2], r;

	w->wake_fd = eventfd(0, EFD_CLOEXEC);
	if (w->wake_fd < 0)
		return -errno;
	w->msg = malloc(WARD_URING_MESSAGE_MAX);
	if (!w->msg)
		return -ENOMEM;
	r = io_uring_queue_init_params(SQ_ENTRIES, &w->ring, &p);
	if (r < 0)
		return r;
	w->has_ring = true;
	files[WARD_URING_FILE_DEV] = w->u->tree->dev_fd;
	files[WARD_URING_FILE_WAKE] = w->wake_fd;
	r = io_uring_register_files(&w->ring, files, 2);
	return r < 0 ? r : restrict_ring(&w->ring);
}

/* Threads and what each serves. CPUs that are not online send nothing. */
static int place_workers(struct ward_uring *u, const cpu_set_t *online)
{
	const unsigned n_online = (unsigned)CPU_COUNT(online);
	size_t max = WORKERS_MAX / u->tree->fs->n_trees;
	unsigned at = 0;
	bool own;

	u->n_workers = (size_t)WORKERS_A_QUEUE * n_online;
	own = u->n_workers + 1 <= max;
	if (!own)
		u->n_workers = max - 1;
	/* The last one is for the rest. */
	u->n_workers++;
	u->workers = calloc(u->n_workers, sizeof(*u->workers));
	if (!u->workers)
		return -ENOMEM;
	for (size_t i = 0; i < u->n_workers; i++) {
		struct ward_uring_worker *w = &u->workers[i];

		w->u = u;
		w->wake_fd = w->cpu = -1;
		pthread_mutex_init(&w->lock, NULL);
	}
	for (unsigned q = 0; q < u->n_queues; q++) {
		const bool on = q < CPU_SETSIZE && CPU_ISSET(q, online);

		for (unsigned k = 0; k < (on ? WORKERS_A_QUEUE : 1); k++) {
			const size_t i = on ? at++ % (u->n_workers - 1) : u->n_workers - 1;
			struct ward_uring_worker *w = &u->workers[i];
			struct ward_uring_seat *more =
				realloc(w->seats, (w->n_seats + 1) * sizeof(*more));

			if (!more)
				return -ENOMEM;
			w->seats = more;
			w->seats[w->n_seats++] =
				(struct ward_uring_seat){.worker = w, .qid = (uint16_t)q};
			if (own && on)
				w->cpu = (int)q;
		}
	}
	if (!u->workers[u->n_workers - 1].n_seats)
		u->n_workers--;
	return 0;
}

/* A list of CPUs as sysfs has it: "0-3,8". */
static int read_cpus(const char *path, cpu_set_t *ret, unsigned *ret_count)
{
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4096], *p = text, *end;
	unsigned count = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return n < 0 ? -errno : -EIO;
	text[n] = '\0';
	CPU_ZERO(ret);
	do {
		unsigned long from = strtoul(p, &end, 10), to = from;

		if (end == p)
			return -EIO;
		if (*end == '-') {
			p = end + 1;
			to = strtoul(p, &end, 10);
			if (end == p)
				return -EIO;
		}
		if (to < from || to > UINT16_MAX)
			return -EIO;
		count += (unsigned)(to - from + 1);
		for (; from <= to && from < CPU_SETSIZE; from++)
			CPU_SET(from, ret);
		p = end + 1;
	} while (*end == ',');
	*ret_count = count;
	return 0;
}

static bool offered_here(void)
{
	ward_cleanup_fd int fd =
		open("/sys/module/fuse/parameters/enable_uring", O_RDONLY | O_CLOEXEC);
	char c = 'N';

	return fd >= 0 && read(fd, &c, 1) == 1 && c == 'Y';
}

static int make(struct ward_uring *u)
{
	cpu_set_t possible, online;
	unsigned n_online;
	int r = read_cpus("/sys/devices/system/cpu/possible", &possible, &u->n_queues);

	if (r == 0)
		r = read_cpus("/sys/devices/system/cpu/online", &online, &n_online);
	if (r == 0)
		r = place_workers(u, &online);
	if (r < 0)
		return r;
	u->served = calloc(u->n_queues, sizeof(*u->served));
	u->reader_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!u->served || u->reader_fd < 0)
		return u->served ? -errno : -ENOMEM;
	for (size_t i = 0; r == 0 && i < u->n_workers; i++)
		r = make_ring(&u->workers[i]);
	return r;
}

void ward_uring_prepare(struct ward_fs_tree *tree, struct ward_uring **ret)
{
	struct ward_uring *u;

	*ret = NULL;
	if (!offered_here())
		return;
	u = calloc(1, sizeof(*u));
	if (!u)
		return;
	u->tree = tree;
	u->reader_fd = -1;
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->told, NULL);
	if (pthread_key_create(&u->key, NULL)) {
		free(u);
		return;
	}
	if (make(u) < 0) {
		ward_uring_free(u);
		return;
	}
	*ret = u;
}

static void free_worker(struct ward_uring_worker *w)
{
	for (size_t i = 0; i < w->n_seats; i++)
		for (struct ward_uring_entry *e = atomic_load(&w->seats[i].entries), *next; e;
			e = next) {
			next = e->next;
			munmap(e->head, WARD_URING_HEAD_BYTES + w->u->payload);
			free(e);
		}
	if (w->has_ring)
		io_uring_queue_exit(&w->ring);
	if (w->wake_fd >= 0)
		close(w->wake_fd);
	pthread_mutex_destroy(&w->lock);
	free(w->seats);
	free(w->msg);
}

void ward_uring_free(struct ward_uring *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->n_workers; i++)
		free_worker(&u->workers[i]);
	if (u->reader_fd >= 0)
		close(u->reader_fd);
	pthread_key_delete(u->key);
	pthread_cond_destroy(&u->told);
	pthread_mutex_destroy(&u->lock);
	free(u->workers);
	free(u->served);
	free(u);
}
