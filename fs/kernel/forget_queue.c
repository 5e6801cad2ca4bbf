/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of what the kernel is to forget. */
#include "fs/kernel/forget_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "fs/base/fuse_kernel.h"

#define QUEUE_MAX 1024

struct ward_forget_queue {
	struct ward_fs_tree *tree;
	int wake_fd;
	pthread_mutex_t lock; /* protects the rest; innermost */
	struct ward_forget_item items[QUEUE_MAX];
	size_t first, n;
	bool all;		/* the kernel is to forget everything */
	bool pages;		/* those of files, too */
	uint64_t asked;		/* the last ticket given out */
	uint64_t done;		/* up to this one all is forgotten */
	pthread_cond_t is_done; /* CLOCK_MONOTONIC */
};

static void init_cond(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

int ward_forget_queue_new(
	struct ward_fs_tree *tree, struct ward_forget_queue **ret, struct ward_err *err)
{
	struct ward_forget_queue *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return ward_err_sys(err, -ENOMEM, "notifications");
	q->tree = tree;
	q->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (q->wake_fd < 0) {
		r = -errno;
		free(q);
		return ward_err_sys(err, r, "notifications");
	}
	pthread_mutex_init(&q->lock, NULL);
	init_cond(&q->is_done);
	*ret = q;
	return 0;
}

void ward_forget_queue_free(struct ward_forget_queue *q)
{
	if (!q)
		return;
	close(q->wake_fd);
	pthread_cond_destroy(&q->is_done);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

void ward_forget_wake(struct ward_forget_queue *q)
{
	const uint64_t one = 1;

	/* An eventfd takes a one unless it holds 2^64-2 of them: then it is awake. */
	(void)!write(q->wake_fd, &one, sizeof(one));
}

static void push(struct ward_forget_queue *q, uint64_t number, bool beneath)
{
	pthread_mutex_lock(&q->lock);
	if (q->n < QUEUE_MAX)
		q->items[(q->first + q->n++) % QUEUE_MAX] =
			(struct ward_forget_item){.number = number, .beneath = beneath};
	else
		q->all = true;
	pthread_mutex_unlock(&q->lock);
	ward_forget_wake(q);
}

void ward_forget_dir(struct ward_forget_queue *q, uint64_t number)
{
	push(q, number, true);
}

bool ward_forget_epoch(struct ward_fs_tree *tree)
{
	struct fuse_out_header out = {.len = sizeof(out), .error = WARD_FUSE_NOTIFY_INC_EPOCH};

	return tree->epoch && write(tree->dev_fd, &out, sizeof(out)) == sizeof(out);
}

void ward_forget_search(struct ward_forget_queue *q, uint64_t number)
{
	/* With allow_other the kernel asks for search permission itself; and others may have
	 * mounted on a name, which the kernel takes away when it takes the name for invalid. */
	if (!(q->tree->fs->flags & WARD_FS_ALLOW_OTHER))
		(void)ward_forget_epoch(q->tree);
	push(q, number, true);
}

void ward_forget_attr(struct ward_forget_queue *q, uint64_t number)
{
	push(q, number, false);
}

uint64_t ward_forget_everything(struct ward_forget_queue *q)
{
	uint64_t ticket;

	pthread_mutex_lock(&q->lock);
	q->all = true;
	q->pages = true;
	ticket = ++q->asked;
	pthread_mutex_unlock(&q->lock);
	ward_forget_wake(q);
	return ticket;
}

bool ward_forget_wait(struct ward_forget_queue *q, uint64_t ticket, uint64_t until_ns)
{
	const struct timespec until = {.tv_sec = (time_t)(until_ns / WARD_NS_PER_SEC),
		.tv_nsec = (long)(until_ns % WARD_NS_PER_SEC)};
	bool done;
	int r = 0;

	pthread_mutex_lock(&q->lock);
	while (q->done < ticket && r == 0)
		r = pthread_cond_timedwait(&q->is_done, &q->lock, &until);
	done = q->done >= ticket;
	pthread_mutex_unlock(&q->lock);
	return done;
}

int ward_forget_fd(const struct ward_forget_queue *q)
{
	return q->wake_fd;
}

void ward_forget_awake(struct ward_forget_queue *q)
{
	uint64_t count;

	(void)!read(q->wake_fd, &count, sizeof(count));
}

bool ward_forget_next(struct ward_forget_queue *q, struct ward_forget_item *ret,
	struct ward_forget_rest *ret_rest)
{
	bool is;

	pthread_mutex_lock(&q->lock);
	is = q->n > 0;
	if (is) {
		*ret = q->items[q->first];
		q->first = (q->first + 1) % QUEUE_MAX;
		q->n--;
	} else {
		*ret_rest = (struct ward_forget_rest){
			.all = q->all, .pages = q->pages, .ticket = q->asked};
		q->all = q->pages = false;
	}
	pthread_mutex_unlock(&q->lock);
	return is;
}

void ward_forget_lost(struct ward_forget_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->all = true;
	pthread_mutex_unlock(&q->lock);
}

void ward_forget_done(struct ward_forget_queue *q, uint64_t ticket)
{
	pthread_mutex_lock(&q->lock);
	q->done = ticket;
	pthread_cond_broadcast(&q->is_done);
	pthread_mutex_unlock(&q->lock);
}
