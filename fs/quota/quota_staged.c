/* SPDX-License-Identifier: Apache-2.0 */
/* [review] size: one amount for all trees whose changes are staged. */
#include <errno.h>
#include <stdio.h>

#include "fs/quota/quota_internal.h"

bool ward_quotas_staged(const struct ward_quotas *q)
{
	return atomic_load_explicit(&q->any_staged, memory_order_relaxed);
}

int ward_quota_stage(struct ward_quotas *q, uint64_t least, uint64_t want, uint64_t *ret)
{
	uint64_t left;
	int r = 0;

	pthread_mutex_lock(&q->lock);
	left = ward_quota_left(q->staged.value, q->staged_bytes);
	if (left < least) {
		q->staged_refused++;
		r = -EDQUOT;
	} else {
		*ret = want < left ? want : left;
		q->staged_bytes += *ret;
	}
	pthread_mutex_unlock(&q->lock);
	return r;
}

void ward_quota_unstage(struct ward_quotas *q, uint64_t bytes)
{
	pthread_mutex_lock(&q->lock);
	q->staged_bytes -= bytes < q->staged_bytes ? bytes : q->staged_bytes;
	pthread_mutex_unlock(&q->lock);
}

void ward_quota_stage_more(struct ward_quotas *q, uint64_t bytes)
{
	pthread_mutex_lock(&q->lock);
	q->staged_bytes += bytes;
	pthread_mutex_unlock(&q->lock);
}

void ward_quota_stage_all(struct ward_quotas *q, uint64_t bytes)
{
	pthread_mutex_lock(&q->lock);
	q->staged_bytes = bytes;
	pthread_mutex_unlock(&q->lock);
}

void ward_quota_stage_hit(struct ward_quotas *q, const char *path, struct ward_quota_hit *ret)
{
	pthread_mutex_lock(&q->lock);
	*ret = (struct ward_quota_hit){
		.error = EDQUOT, .name = "size", .unit = "bytes", .limit = q->staged.value};
	ret->used = q->staged_bytes;
	(void)snprintf(ret->path, sizeof(ret->path), "%s", path);
	(void)snprintf(ret->rule, sizeof(ret->rule), "[review] %s",
		q->staged.text ? q->staged.text : "size");
	(void)snprintf(ret->place, sizeof(ret->place), "%s",
		q->staged.place ? q->staged.place : "default");
	pthread_mutex_unlock(&q->lock);
}
