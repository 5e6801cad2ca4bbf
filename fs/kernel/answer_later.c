/* SPDX-License-Identifier: Apache-2.0 */
/* Does requests after the time that they have to wait. */
#include "fs/kernel/answer_later.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <time.h>

#include "enforcer/base/clock.h"

struct ward_delayed {
	TAILQ_ENTRY(ward_delayed) at; /* by due_ns */
	struct ward_delay *delay;
	fuse_req_t req;
	ward_delayed_fn *fn;
	uint64_t due_ns;
	bool queued, cut;
	bool person; /* waits for an answer: every interrupt cuts it */
	max_align_t data[];
};

TAILQ_HEAD(waiting_list, ward_delayed);

struct ward_delay {
	pthread_t thread;
	pthread_mutex_t lock; /* protects the rest; not held over calls of libfuse */
	pthread_cond_t wake;
	struct waiting_list list;
	bool started; /* the thread is there: from the first policy on that needs it */
	bool stop;
};

/* Locked. */
static void insert(struct ward_delay *d, struct ward_delayed *w)
{
	struct ward_delayed *at = TAILQ_LAST(&d->list, waiting_list);

	while (at && at->due_ns > w->due_ns)
		at = TAILQ_PREV(at, waiting_list, at);
	if (at)
		TAILQ_INSERT_AFTER(&d->list, at, w, at);
	else
		TAILQ_INSERT_HEAD(&d->list, w, at);
	w->queued = true;
	pthread_cond_signal(&d->wake);
}

/* libfuse calls this with the request's lock held: nothing of it may be called here. */
static void on_interrupt(fuse_req_t req, void *data)
{
	struct ward_delayed *w = data;
	struct ward_delay *d = w->delay;

	pthread_mutex_lock(&d->lock);
	if (w->person || w->due_ns > ward_clock_mono_ns() + WARD_DELAY_KEPT_NS) {
		w->cut = true;
		w->due_ns = 0;
		if (w->queued) {
			TAILQ_REMOVE(&d->list, w, at);
			insert(d, w);
		}
	}
	pthread_mutex_unlock(&d->lock);
}

/* Locked. The first that is due, out of the list. */
static struct ward_delayed *take(struct ward_delay *d)
{
	struct ward_delayed *w = TAILQ_FIRST(&d->list);

	if (!w || (!d->stop && w->due_ns > ward_clock_mono_ns()))
		return NULL;
	TAILQ_REMOVE(&d->list, w, at);
	w->queued = false;
	w->cut = w->cut || d->stop;
	return w;
}

/* Locked. */
static void sleep_until_due(struct ward_delay *d)
{
	const struct ward_delayed *w = TAILQ_FIRST(&d->list);
	struct timespec until;

	if (!w) {
		pthread_cond_wait(&d->wake, &d->lock);
		return;
	}
	until.tv_sec = (time_t)(w->due_ns / WARD_NS_PER_SEC);
	until.tv_nsec = (long)(w->due_ns % WARD_NS_PER_SEC);
	(void)pthread_cond_timedwait(&d->wake, &d->lock, &until);
}

static void *run(void *arg)
{
	struct ward_delay *d = arg;

	pthread_mutex_lock(&d->lock);
	for (;;) {
		struct ward_delayed *w = take(d);

		if (w) {
			pthread_mutex_unlock(&d->lock);
			/* From here on nobody calls on_interrupt() with w. */
			fuse_req_interrupt_func(w->req, NULL, NULL);
			w->fn(w->req, w->data, w->cut ? -EINTR : 0);
			free(w);
			pthread_mutex_lock(&d->lock);
		} else if (d->stop) {
			break;
		} else {
			sleep_until_due(d);
		}
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

int ward_delay_new(struct ward_delay **ret, struct ward_err *err)
{
	struct ward_delay *d = calloc(1, sizeof(*d));
	pthread_condattr_t attr;

	if (!d)
		return ward_err_sys(err, -ENOMEM, "delays");
	pthread_mutex_init(&d->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&d->wake, &attr);
	pthread_condattr_destroy(&attr);
	TAILQ_INIT(&d->list);
	*ret = d;
	return 0;
}

void ward_delay_free(struct ward_delay *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	d->stop = true;
	pthread_cond_signal(&d->wake);
	pthread_mutex_unlock(&d->lock);
	if (d->started)
		pthread_join(d->thread, NULL);
	pthread_cond_destroy(&d->wake);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static bool has_rate(const struct ward_settings *s)
{
	for (size_t i = 0; i < s->n_quotas; i++)
		if (s->quotas[i].limits[WARD_QUOTA_RATE].value != WARD_UNLIMITED)
			return true;
	return false;
}

int ward_delay_ready(struct ward_delay *d, const struct ward_policy *p, struct ward_err *err)
{
	bool started;
	int r;

	pthread_mutex_lock(&d->lock);
	started = d->started;
	pthread_mutex_unlock(&d->lock);
	if (started || (!has_rate(ward_policy_settings(p)) && !ward_policy_asks(p)))
		return 0;
	r = pthread_create(&d->thread, NULL, run, d);
	if (r)
		return ward_err_sys(err, -r, "the thread for requests that wait");
	pthread_mutex_lock(&d->lock);
	d->started = true;
	pthread_mutex_unlock(&d->lock);
	return 0;
}

int ward_delay_place(struct ward_delay *d, size_t data, struct ward_delayed **ret)
{
	struct ward_delayed *place;
	bool started;

	pthread_mutex_lock(&d->lock);
	started = d->started;
	pthread_mutex_unlock(&d->lock);
	if (!started)
		return -EIO;
	if (data > SIZE_MAX - sizeof(*place))
		return -ENOMEM;
	place = calloc(1, sizeof(*place) + data);
	if (!place)
		return -ENOMEM;
	*ret = place;
	return 0;
}

void *ward_delayed_data(struct ward_delayed *place)
{
	return place->data;
}

static void delay(struct ward_delay *d, struct ward_delayed *place, fuse_req_t req)
{
	/* Before it is in the list: from then on the thread may answer and free it. */
	fuse_req_interrupt_func(req, on_interrupt, place);
	pthread_mutex_lock(&d->lock);
	insert(d, place);
	pthread_mutex_unlock(&d->lock);
}

void ward_delay_for(struct ward_delay *d, struct ward_delayed *place, fuse_req_t req, uint64_t ns,
	ward_delayed_fn *fn)
{
	place->delay = d;
	place->req = req;
	place->fn = fn;
	place->due_ns = ward_clock_mono_ns() + ns;
	delay(d, place, req);
}

void ward_delay_until(struct ward_delay *d, struct ward_delayed *place, fuse_req_t req,
	uint64_t due_ns, ward_delayed_fn *fn)
{
	place->delay = d;
	place->req = req;
	place->fn = fn;
	place->due_ns = due_ns;
	place->person = true;
	delay(d, place, req);
}

void ward_delay_now(struct ward_delay *d, struct ward_delayed *place)
{
	pthread_mutex_lock(&d->lock);
	place->due_ns = 0;
	if (place->queued) {
		TAILQ_REMOVE(&d->list, place, at);
		insert(d, place);
	}
	pthread_mutex_unlock(&d->lock);
}
