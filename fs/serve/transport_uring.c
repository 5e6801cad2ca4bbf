/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that take requests from rings and serve them. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fs/handle/handle.h"
#include "fs/kernel/uring_rings.h"
#include "fs/serve/fuse_session.h"
#include "fs/serve/slow_pool.h"
#include "fs/serve/transport_uring.h"

/* Slow requests of one queue that may be with the pool; one more is served where it came. */
#define SLOW_MAX 8U
/* Content of this size and more stays where it is. */
#define CONTENT_MIN 8192U
/* As much of an entry's payload may stay in memory. */
#define KEPT_BYTES 8192U
/* After this long without a request, memory of large reads and writes is given back. */
#define IDLE_SECONDS 1
/* Numbers of requests that come from poke(); the kernel counts its own from 0. */
#define POKE_UNIQUE (UINT64_C(1) << 62)

/* --- a worker's commands --- */

static void listen_to_others(struct ward_uring_worker *w)
{
	struct io_uring_sqe *sqe = ward_uring_next_sqe(w);

	if (!sqe)
		return;
	w->armed = atomic_load(&w->u->asked);
	io_uring_prep_read(sqe, WARD_URING_FILE_WAKE, &w->woken, sizeof(w->woken), 0);
	io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
	io_uring_sqe_set_data(sqe, NULL);
}

static int add_entry(struct ward_uring_seat *s)
{
	const size_t payload = s->worker->u->payload;
	struct ward_uring_entry *e = calloc(1, sizeof(*e));
	char *at;

	if (!e)
		return -ENOMEM;
	/* Filled by the kernel as it is used: what nobody reads or writes takes no memory. */
	at = mmap(NULL, WARD_URING_HEAD_BYTES + payload, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED) {
		free(e);
		return -ENOMEM;
	}
	e->seat = s;
	e->head = (struct ward_uring_head *)(void *)at;
	e->payload = at + WARD_URING_HEAD_BYTES;
	e->iov[0] = (struct iovec){.iov_base = e->head, .iov_len = sizeof(*e->head)};
	e->iov[1] = (struct iovec){.iov_base = e->payload, .iov_len = payload};
	e->next = atomic_load(&s->entries);
	atomic_store(&s->entries, e);
	s->n++;
	ward_uring_command(e, WARD_FUSE_URING_REGISTER);
	return 0;
}

/* Another entry can take the queue's next request, if this seat's last one does not come back. */
static bool make_room(struct ward_uring_seat *s, unsigned max)
{
	if (s->n_out < s->n)
		return true;
	if (s->n >= max || add_entry(s) < 0)
		return false;
	s->starved = true;
	return true;
}

/*
 * A request that finds no entry waits in the queue until one commits: not until another registers
 * (fuse_uring_do_register() does not look). Where all that are out wait for locks, nobody commits,
 * and the unlock may be what waits. So we make the kernel send something to this queue that is
 * committed at once: the answer to a notification that asks for no bytes of the file whose lock is
 * waited for.
 */
static void poke(struct ward_uring_worker *w, struct ward_uring_seat *s)
{
	const bool elsewhere = w->cpu != (int)s->qid && s->qid < CPU_SETSIZE;
	struct {
		struct fuse_out_header out;
		struct fuse_notify_retrieve_out arg;
	} msg = {.out = {.len = sizeof(msg), .error = FUSE_NOTIFY_RETRIEVE},
		.arg = {.nodeid = s->node,
			.notify_unique = POKE_UNIQUE | (uint64_t)s->qid << 40 |
					 (uint64_t)(w - w->u->workers) << 28 |
					 (w->n_pokes++ << 1 & ((1U << 28) - 1))}};
	cpu_set_t there;

	s->starved = false;
	if (elsewhere) {
		CPU_ZERO(&there);
		CPU_SET(s->qid, &there);
		if (sched_setaffinity(0, sizeof(there), &there) < 0)
			return;
	}
	/* Unmounted: nobody waits any more. */
	(void)!write(w->u->tree->dev_fd, &msg, sizeof(msg));
	if (elsewhere)
		(void)sched_setaffinity(0, sizeof(w->allowed), &w->allowed);
}

/* --- requests --- */

/*
 * The message as /dev/fuse would have given it: header, first argument, the rest. Content stays
 * where it is, with the others put in front of it. NULL: not a message.
 */
static char *message(struct ward_uring_worker *w, struct ward_uring_entry *e,
	const struct fuse_in_header *in, size_t *ret)
{
	const size_t payload = e->head->ent.payload_sz;
	size_t arg;
	char *msg;

	if (payload > w->u->payload || in->len < sizeof(*in) + payload)
		return NULL;
	/* How long the first argument is, is not said. */
	arg = in->len - sizeof(*in) - payload;
	if (arg > sizeof(e->head->op_in) || arg % sizeof(uint64_t))
		return NULL;
	if (payload > w->touched)
		w->touched = payload;
	if (in->opcode == FUSE_WRITE && payload > CONTENT_MIN) {
		msg = e->payload - sizeof(*in) - arg;
	} else if (in->len <= WARD_URING_MESSAGE_MAX) {
		msg = w->msg;
		memcpy(msg + sizeof(*in) + arg, e->payload, payload);
	} else {
		return NULL;
	}
	memcpy(msg, in, sizeof(*in));
	memcpy(msg + sizeof(*in), e->head->op_in, arg);
	*ret = in->len;
	return msg;
}

static void serve(struct ward_uring_worker *w, struct ward_uring_entry *e)
{
	struct ward_fs_tree *tree = w->u->tree;
	struct fuse_in_header in = e->head->in;
	size_t len = 0;
	char *msg;

	e->out = true;
	e->seat->n_out++;
	e->commit_id = e->head->ent.commit_id;
	atomic_store(&e->last, in.unique);
	if (in.opcode == FUSE_NOTIFY_REPLY) { /* poke() */
		ward_uring_answer(e, in.unique, 0);
		return;
	}
	msg = message(w, e, &in, &len);
	if (!msg) {
		ward_uring_answer(e, in.unique, -EIO);
		return;
	}
	atomic_store(&e->unique, in.unique);
	/* One that may wait for long must leave room for the one that ends its wait. */
	if (in.opcode == FUSE_SETLKW)
		e->seat->node = in.nodeid;
	if (in.opcode == FUSE_SETLKW && !make_room(e->seat, UINT_MAX)) {
		ward_uring_answer(e, in.unique, -ENOLCK);
		return;
	}
	if (ward_pool_slow(tree->fs, msg, len) && make_room(e->seat, SLOW_MAX + 1) &&
		ward_pool_push(tree->fs->pool, tree, msg, len, msg == w->msg) == 0)
		return;
	w->current = e;
	ward_session_process(tree, msg, len);
	w->current = NULL;
}

/* --- a worker's life --- */

static void tell(struct ward_uring *u, int r)
{
	pthread_mutex_lock(&u->lock);
	u->n_told++;
	if (r < 0 && !u->result)
		u->result = r;
	pthread_cond_signal(&u->told);
	pthread_mutex_unlock(&u->lock);
}

/*
 * The kernel was told to wait for a REGISTER of every queue, and one has no memory: a REGISTER that
 * it refuses makes it go on with /dev/fuse.
 */
static void give_up(struct ward_uring_worker *w)
{
	w->refused.seat = &w->seats[0];
	ward_uring_command(&w->refused, WARD_FUSE_URING_REGISTER);
}

/* A REGISTER that fails says so before io_uring_enter(2) returns; one that does not, waits. */
static void register_all(struct ward_uring_worker *w)
{
	struct ward_uring *u = w->u;
	struct io_uring_cqe *cqe;
	unsigned head;
	int r = 0;

	w->registered = true;
	for (size_t i = 0; r == 0 && i < w->n_seats; i++)
		r = add_entry(&w->seats[i]);
	if (r < 0)
		give_up(w);
	if (io_uring_submit(&w->ring) < 0)
		r = -EIO;
	/* They are looked at once more, as events. */
	io_uring_for_each_cqe(&w->ring, head, cqe)
	{
		struct ward_uring_entry *e = io_uring_cqe_get_data(cqe);

		if (e && cqe->res < 0 && e != &w->refused)
			e->seat->n_out++;
		if (e && cqe->res < 0 && r == 0)
			r = cqe->res;
	}
	pthread_mutex_lock(&u->lock);
	for (size_t i = 0; i < w->n_seats; i++)
		if (w->seats[i].n > w->seats[i].n_out)
			u->served[w->seats[i].qid] = true;
	pthread_mutex_unlock(&u->lock);
	tell(u, r);
}

static void commit_answered(struct ward_uring_worker *w)
{
	struct ward_uring_entry *e, *next;

	pthread_mutex_lock(&w->lock);
	e = w->answered;
	w->answered = NULL;
	pthread_mutex_unlock(&w->lock);
	for (; e; e = next) {
		next = e->next_answered;
		ward_uring_commit(e);
	}
}

static void on_event(struct ward_uring_worker *w, struct ward_uring_entry *e, int res)
{
	if (!e) {
		w->seen = w->armed;
		if (res != -ECANCELED)
			listen_to_others(w);
		commit_answered(w);
		if (atomic_load(&w->u->go) && !w->registered)
			register_all(w);
	} else if (res == 0) {
		serve(w, e);
	} else if (!w->ended) {
		/* ENOTCONN, ECONNABORTED: unmounted. The reader is to look. */
		w->ended = true;
		ward_uring_wake(w->u->reader_fd);
	}
}

/* Buffers that large reads and writes left behind, in whole pages: madvise(2) takes no others. */
static void give_back(struct ward_uring_worker *w)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t kept = page > KEPT_BYTES ? page : KEPT_BYTES;

	for (size_t i = 0; i < w->n_seats; i++)
		for (struct ward_uring_entry *e = atomic_load(&w->seats[i].entries); e; e = e->next)
			if (!e->out && w->u->payload > kept)
				(void)madvise(
					e->payload + kept, w->u->payload - kept, MADV_DONTNEED);
	w->touched = 0;
}

static void wait_for_events(struct ward_uring_worker *w)
{
	struct __kernel_timespec idle = {.tv_sec = IDLE_SECONDS};
	struct io_uring_cqe *cqe;
	int r;

	if (w->touched <= KEPT_BYTES) {
		(void)io_uring_submit_and_wait(&w->ring, 1);
		return;
	}
	r = io_uring_submit_and_wait_timeout(&w->ring, &cqe, 1, &idle, NULL);
	if (r == -ETIME)
		give_back(w);
}

/*
 * All that had come is served. A read of wake_fd that began after a ticket was given, and has
 * ended, came behind what the kernel had sent before the ticket. One that began earlier says
 * nothing of it: then this thread wakes itself.
 */
static void pass(struct ward_uring_worker *w)
{
	if (w->seen > atomic_load(&w->passed)) {
		atomic_store(&w->passed, w->seen);
		ward_ends_look(w->u->tree->nodes);
	}
	if (w->armed > w->seen && w->armed != w->called) {
		w->called = w->armed;
		ward_uring_wake(w->wake_fd);
	}
}

static void serve_all(struct ward_uring_worker *w)
{
	struct io_uring_cqe *cqe;

	while (io_uring_cq_ready(&w->ring) && io_uring_peek_cqe(&w->ring, &cqe) == 0) {
		struct ward_uring_entry *e = io_uring_cqe_get_data(cqe);
		const int res = cqe->res;

		io_uring_cqe_seen(&w->ring, cqe);
		on_event(w, e, res);
		/* A request with its answer need not wait for the others. */
		if (io_uring_cq_ready(&w->ring))
			(void)io_uring_submit(&w->ring);
	}
	/* Requests that are answered elsewhere, later. */
	for (size_t i = 0; w->registered && !w->ended && i < w->n_seats; i++) {
		(void)make_room(&w->seats[i], UINT_MAX);
		if (w->seats[i].starved && io_uring_submit(&w->ring) >= 0)
			poke(w, &w->seats[i]);
	}
	pass(w);
}

static int begin(struct ward_uring_worker *w)
{
	int r = ward_pool_thread_init();
	cpu_set_t cpu;

	if (r < 0)
		return r;
	if (sched_getaffinity(0, sizeof(w->allowed), &w->allowed) < 0)
		return -errno;
	CPU_ZERO(&cpu);
	if (w->cpu >= 0 && w->cpu < CPU_SETSIZE) {
		CPU_SET(w->cpu, &cpu);
		/* Outside of our cpuset: it serves from where it may run. */
		(void)sched_setaffinity(0, sizeof(cpu), &cpu);
	}
	r = -pthread_setspecific(w->u->key, w);
	if (r == 0)
		r = ward_uring_call(&w->ring, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
	if (r == 0) {
		listen_to_others(w);
		r = io_uring_submit(&w->ring);
	}
	return r < 0 ? r : 0;
}

static void *work(void *arg)
{
	struct ward_uring_worker *w = arg;
	const int r = begin(w);

	tell(w->u, r);
	while (r == 0 && !atomic_load(&w->u->stop)) {
		wait_for_events(w);
		serve_all(w);
	}
	return NULL;
}

static int wait_told(struct ward_uring *u, size_t n)
{
	int r;

	pthread_mutex_lock(&u->lock);
	while (u->n_told < n)
		pthread_cond_wait(&u->told, &u->lock);
	r = u->result;
	u->n_told = 0;
	u->result = 0;
	pthread_mutex_unlock(&u->lock);
	return r;
}

int ward_uring_start(struct ward_uring *u)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < u->n_workers; i++) {
		r = -pthread_create(&u->workers[i].thread, NULL, work, &u->workers[i]);
		if (r == 0)
			u->n_started++;
	}
	if (wait_told(u, u->n_started) < 0)
		r = -EPERM;
	if (r < 0)
		ward_uring_stop(u);
	return r;
}

int ward_uring_register(struct ward_uring *u, size_t payload)
{
	bool all = true;
	int r;

	u->payload = payload < WARD_URING_PAYLOAD_MIN ? WARD_URING_PAYLOAD_MIN : payload;
	atomic_store(&u->active, true);
	atomic_store(&u->go, true);
	for (size_t i = 0; i < u->n_workers; i++)
		ward_uring_wake(u->workers[i].wake_fd);
	r = wait_told(u, u->n_workers);
	pthread_mutex_lock(&u->lock);
	for (unsigned q = 0; q < u->n_queues; q++)
		all = all && u->served[q];
	pthread_mutex_unlock(&u->lock);
	if (all)
		return 0;
	atomic_store(&u->active, false);
	ward_uring_stop(u);
	return r < 0 ? r : -EIO;
}

void ward_uring_stop(struct ward_uring *u)
{
	if (!u)
		return;
	atomic_store(&u->stop, true);
	for (size_t i = 0; i < u->n_started; i++)
		ward_uring_wake(u->workers[i].wake_fd);
	for (size_t i = 0; i < u->n_started; i++)
		pthread_join(u->workers[i].thread, NULL);
	u->n_started = 0;
}
