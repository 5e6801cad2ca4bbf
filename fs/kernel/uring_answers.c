/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that go back through the rings, from whatever thread; interrupts that came too early. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "fs/kernel/uring_rings.h"

struct io_uring_sqe *ward_uring_next_sqe(struct ward_uring_worker *w)
{
	struct io_uring_sqe *sqe;

	/* Nothing may get lost: a client waits for it. */
	while (!(sqe = io_uring_get_sqe(&w->ring)))
		if (io_uring_submit(&w->ring) == -EBADF)
			return NULL;
	return sqe;
}

void ward_uring_command(struct ward_uring_entry *e, uint32_t op)
{
	struct ward_uring_worker *w = e->seat->worker;
	struct io_uring_sqe *sqe = ward_uring_next_sqe(w);
	struct ward_uring_cmd cmd = {.qid = e->seat->qid};

	if (!sqe)
		return;
	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, WARD_URING_FILE_DEV, NULL, 0, 0);
	sqe->cmd_op = op;
	if (op == WARD_FUSE_URING_REGISTER) {
		sqe->addr = (uint64_t)(uintptr_t)e->iov;
		sqe->len = 2;
	} else {
		cmd.commit_id = e->commit_id;
	}
	io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
	io_uring_sqe_set_data(sqe, e);
	memcpy((char *)sqe + offsetof(struct io_uring_sqe, cmd), &cmd, sizeof(cmd));
}

static struct ward_uring_entry *find_in(const struct ward_uring_worker *w, uint64_t unique)
{
	for (size_t i = 0; i < w->n_seats; i++)
		for (struct ward_uring_entry *e = atomic_load(&w->seats[i].entries); e; e = e->next)
			if (atomic_load(&e->unique) == unique)
				return e;
	return NULL;
}

static struct ward_uring_entry *find(
	const struct ward_uring *u, const struct ward_uring_worker *self, uint64_t unique)
{
	if (self && self->current && atomic_load(&self->current->unique) == unique)
		return self->current;
	for (size_t i = 0; i < u->n_workers; i++) {
		struct ward_uring_entry *e = find_in(&u->workers[i], unique);

		if (e)
			return e;
	}
	return NULL;
}

/* The answer into what is shared with the kernel. Bytes that writev(2) would have taken. */
static ssize_t fill(struct ward_uring_entry *e, size_t max, const struct iovec *iov, int count)
{
	struct fuse_out_header out;
	size_t len = 0;

	memcpy(&out, iov[0].iov_base, sizeof(out));
	for (int i = 1; i < count; i++) {
		/* Cannot be, and would leave the client waiting. */
		if (iov[i].iov_len > max - len) {
			out.error = -EIO;
			len = 0;
			break;
		}
		memcpy(e->payload + len, iov[i].iov_base, iov[i].iov_len);
		len += iov[i].iov_len;
	}
	out.len = (uint32_t)(sizeof(out) + len);
	e->head->out.len = out.len;
	e->head->out.error = out.error;
	__atomic_store_n(&e->head->out.unique, out.unique, __ATOMIC_RELAXED);
	e->head->ent.payload_sz = (uint32_t)len;
	return (ssize_t)out.len;
}

void ward_uring_commit(struct ward_uring_entry *e)
{
	struct ward_uring_worker *w = e->seat->worker;

	if (e->head->ent.payload_sz > w->touched)
		w->touched = e->head->ent.payload_sz;
	e->out = false;
	e->seat->n_out--;
	ward_uring_command(e, WARD_FUSE_URING_COMMIT_AND_FETCH);
}

bool ward_uring_reply(struct ward_uring *u, const struct iovec *iov, int count, ssize_t *ret)
{
	const struct fuse_out_header *out;
	struct ward_uring_worker *self;
	struct ward_uring_entry *e;

	if (!ward_uring_active(u) || count < 1 || iov[0].iov_len < sizeof(*out))
		return false;
	out = iov[0].iov_base;
	/* Notifications, and answers to interrupts. */
	if (!out->unique || out->unique & WARD_FUSE_INTERRUPT_BIT)
		return false;
	self = pthread_getspecific(u->key);
	e = find(u, self, out->unique);
	if (!e)
		return false;
	*ret = fill(e, u->payload, iov, count);
	atomic_store(&e->unique, 0);
	if (self && e->seat->worker == self) {
		ward_uring_commit(e);
		return true;
	}
	pthread_mutex_lock(&e->seat->worker->lock);
	e->next_answered = e->seat->worker->answered;
	e->seat->worker->answered = e;
	pthread_mutex_unlock(&e->seat->worker->lock);
	ward_uring_wake(e->seat->worker->wake_fd);
	return true;
}

bool ward_uring_serving(const struct ward_uring *u, uint64_t unique)
{
	for (size_t i = 0; ward_uring_active(u) && i < u->n_workers; i++) {
		const struct ward_uring_worker *w = &u->workers[i];

		for (size_t j = 0; j < w->n_seats; j++)
			for (struct ward_uring_entry *e = atomic_load(&w->seats[j].entries); e;
				e = e->next) {
				/* Written by the kernel, and not yet seen by the worker? */
				const uint64_t there =
					__atomic_load_n(&e->head->in.unique, __ATOMIC_RELAXED);

				if (atomic_load(&e->unique) == unique ||
					(there == unique && atomic_load(&e->last) != unique))
					return true;
			}
	}
	return false;
}

void ward_uring_answer(struct ward_uring_entry *e, uint64_t unique, int error)
{
	const struct fuse_out_header out = {.error = error, .unique = unique};
	const struct iovec iov = {.iov_base = (void *)(uintptr_t)&out, .iov_len = sizeof(out)};

	(void)fill(e, 0, &iov, 1);
	atomic_store(&e->unique, 0);
	ward_uring_commit(e);
}

bool ward_uring_active(const struct ward_uring *u)
{
	return u && atomic_load_explicit(&u->active, memory_order_acquire);
}

uint64_t ward_uring_ask(struct ward_uring *u)
{
	const struct ward_uring_worker *self = pthread_getspecific(u->key);
	const uint64_t ticket = atomic_fetch_add(&u->asked, 1) + 1;

	for (size_t i = 0; i < u->n_workers; i++)
		if (&u->workers[i] != self)
			ward_uring_wake(u->workers[i].wake_fd);
	return ticket;
}

bool ward_uring_passed(const struct ward_uring *u, uint64_t ticket)
{
	const struct ward_uring_worker *self = pthread_getspecific(u->key);

	for (size_t i = 0; i < u->n_workers; i++)
		if (&u->workers[i] != self && atomic_load(&u->workers[i].passed) < ticket)
			return false;
	return true;
}

int ward_uring_reader_fd(const struct ward_uring *u)
{
	return u->reader_fd;
}

void ward_uring_wake_reader(const struct ward_uring *u)
{
	if (ward_uring_active(u))
		ward_uring_wake(u->reader_fd);
}

void ward_uring_interrupt_again(struct ward_uring *u, uint64_t unique)
{
	pthread_mutex_lock(&u->lock);
	if (u->n_again == WARD_URING_AGAIN_MAX)
		memmove(u->again, u->again + 1, --u->n_again * sizeof(*u->again));
	u->again[u->n_again++] = unique;
	pthread_mutex_unlock(&u->lock);
	ward_uring_wake(u->reader_fd);
}

uint64_t ward_uring_next_interrupt(struct ward_uring *u)
{
	uint64_t unique = 0;

	pthread_mutex_lock(&u->lock);
	if (u->n_again) {
		unique = u->again[0];
		memmove(u->again, u->again + 1, --u->n_again * sizeof(*u->again));
	}
	pthread_mutex_unlock(&u->lock);
	return unique;
}
