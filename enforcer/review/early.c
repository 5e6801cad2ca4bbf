/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/review/early.h"

#include "enforcer/review/recover.h"

static void *run(void *arg)
{
	struct ward_early *e = arg;
	pthread_mutex_lock(&e->lock);
	while (!e->ends) {
		if (!e->more) {
			pthread_cond_wait(&e->wake, &e->lock);
			continue;
		}
		e->more = false;
		pthread_mutex_unlock(&e->lock);
		const int r = ward_sync_all(e->roots, 16, e->undo);
		pthread_mutex_lock(&e->lock);
		e->error = e->error ? e->error : r;
	}
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

void ward_early_begin(struct ward_early *e, const int roots[16], int undo)
{
	*e = (struct ward_early){.roots = roots,
		.undo = undo,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.wake = PTHREAD_COND_INITIALIZER};
	e->runs = pthread_create(&e->thread, NULL, run, e) == 0;
}

void ward_early_more(struct ward_early *e)
{
	pthread_mutex_lock(&e->lock);
	e->more = true;
	pthread_cond_signal(&e->wake);
	pthread_mutex_unlock(&e->lock);
}

int ward_early_end(struct ward_early *e)
{
	if (!e->runs)
		return 0;
	pthread_mutex_lock(&e->lock);
	e->ends = true;
	pthread_cond_signal(&e->wake);
	pthread_mutex_unlock(&e->lock);
	pthread_join(e->thread, NULL);
	e->runs = false;
	return e->error;
}
