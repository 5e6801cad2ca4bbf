/* SPDX-License-Identifier: Apache-2.0 */
/* What domains of quotas are charged, and what is left of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/clock.h"
#include "fs/quota/quota_internal.h"

/* No delay is longer; the sum of many is. */
#define DELAY_MAX (UINT64_C(1) << 62)

struct ward_quota_used {
	size_t n;
	struct {
		struct ward_quota_domain *domain;
		uint64_t bytes, files;
	} v[];
};

struct ward_quota_used *ward_quotas_used(struct ward_quotas *q)
{
	struct ward_quota_used *u;
	size_t n = 0;

	pthread_mutex_lock(&q->lock);
	for (const struct ward_quota_domain *d = q->domains; d; d = d->next)
		n++;
	u = calloc(1, sizeof(*u) + n * sizeof(*u->v));
	for (struct ward_quota_domain *d = q->domains; u && d; d = d->next) {
		u->v[u->n].domain = d;
		u->v[u->n].bytes = d->bytes;
		u->v[u->n++].files = d->files;
	}
	pthread_mutex_unlock(&q->lock);
	return u;
}

void ward_quotas_use(struct ward_quotas *q, const struct ward_quota_used *used)
{
	pthread_mutex_lock(&q->lock);
	for (size_t i = 0; used && i < used->n; i++) {
		struct ward_quota_domain *d = used->v[i].domain;

		d->bytes = d->bytes < used->v[i].bytes ? used->v[i].bytes : d->bytes;
		d->files = d->files < used->v[i].files ? used->v[i].files : d->files;
	}
	pthread_mutex_unlock(&q->lock);
}

static uint64_t used(const struct ward_quota_domain *d, enum ward_quota_key key)
{
	return key == WARD_QUOTA_GROWTH ? d->bytes : key == WARD_QUOTA_FILES ? d->files : 0;
}

struct ward_quota_domain *ward_quota_tightest(
	struct ward_quota_domain *d, enum ward_quota_key key, uint64_t *ret_left)
{
	struct ward_quota_domain *best = NULL;

	*ret_left = WARD_UNLIMITED;
	for (; d; d = d->above) {
		const uint64_t left = ward_quota_left(d->limits[key].value, used(d, key));

		if (left < *ret_left) {
			*ret_left = left;
			best = d;
		}
	}
	return best;
}

void ward_quota_charge(struct ward_quota_domain *d, int64_t bytes, int64_t files)
{
	for (; d; d = d->above) {
		d->bytes += (uint64_t)bytes;
		d->files += (uint64_t)files;
	}
}

int ward_quota_refuse(
	struct ward_quota_domain *d, enum ward_quota_key key, int error, struct ward_quota_hit *hit)
{
	static const struct {
		const char *name, *unit;
	} words[WARD_QUOTA_KEYS_] = {{"growth", "bytes"}, {"files", "files"}, {"file", "bytes"},
		{"rate", "bytes/s"}, {"churn", "files"}};
	const struct ward_quota_limit *l = &d->limits[key];

	d->refused[key]++;
	hit->error = error;
	(void)snprintf(hit->path, sizeof(hit->path), "%s", d->path);
	(void)snprintf(hit->rule, sizeof(hit->rule), "[quota %s] %s", d->path, l->text);
	(void)snprintf(hit->place, sizeof(hit->place), "%s", l->place);
	hit->name = words[key].name;
	hit->unit = words[key].unit;
	hit->limit = l->value;
	hit->used = key == WARD_QUOTA_CHURN ? l->value : used(d, key);
	hit->text = NULL;
	return -error;
}

int ward_quota_make(struct ward_quotas *q, struct ward_quota_domain *d, uint64_t bytes,
	struct ward_quota_hit *hit)
{
	struct ward_quota_domain *full;
	uint64_t left;
	int r = 0;

	pthread_mutex_lock(&q->lock);
	full = ward_quota_tightest(d, WARD_QUOTA_FILES, &left);
	if (full && left < 1)
		r = ward_quota_refuse(full, WARD_QUOTA_FILES, EDQUOT, hit);
	full = ward_quota_tightest(d, WARD_QUOTA_GROWTH, &left);
	if (r == 0 && full && left < bytes)
		r = ward_quota_refuse(full, WARD_QUOTA_GROWTH, EDQUOT, hit);
	if (r == 0)
		ward_quota_charge(d, (int64_t)bytes, 1);
	pthread_mutex_unlock(&q->lock);
	return r;
}

void ward_quota_unmake(struct ward_quotas *q, struct ward_quota_domain *d, uint64_t bytes)
{
	pthread_mutex_lock(&q->lock);
	ward_quota_charge(d, -(int64_t)bytes, -1);
	pthread_mutex_unlock(&q->lock);
}

uint64_t ward_quota_churned(struct ward_quota_domain *d, uint64_t now_ns)
{
	const struct ward_quota_limit *l = &d->limits[WARD_QUOTA_CHURN];
	const uint64_t part = (uint64_t)l->per_s * WARD_NS_PER_SEC / (WARD_QUOTA_SLOTS - 1);
	const uint64_t slot = part ? now_ns / part : 0;
	uint64_t sum = 0;

	if (slot < d->slot) /* a longer time than before the reload: the old parts are others */
		memset(d->slots, 0, sizeof(d->slots));
	for (uint64_t s = d->slot + 1; s <= slot && s <= d->slot + WARD_QUOTA_SLOTS; s++)
		d->slots[s % WARD_QUOTA_SLOTS] = 0;
	d->slot = slot;
	for (size_t i = 0; i < WARD_QUOTA_SLOTS; i++)
		sum += d->slots[i];
	return sum;
}

int ward_quota_churn(struct ward_quotas *q, struct ward_quota_domain *d, uint64_t now_ns,
	struct ward_quota_hit *hit)
{
	int r = 0;

	pthread_mutex_lock(&q->lock);
	for (struct ward_quota_domain *at = d; r == 0 && at; at = at->above)
		if (at->limits[WARD_QUOTA_CHURN].value != WARD_UNLIMITED &&
			ward_quota_churned(at, now_ns) >= at->limits[WARD_QUOTA_CHURN].value)
			r = ward_quota_refuse(at, WARD_QUOTA_CHURN, EDQUOT, hit);
	for (struct ward_quota_domain *at = d; r == 0 && at; at = at->above)
		if (at->limits[WARD_QUOTA_CHURN].value != WARD_UNLIMITED)
			at->slots[at->slot % WARD_QUOTA_SLOTS]++;
	pthread_mutex_unlock(&q->lock);
	return r;
}

/* The time that bytes cost at a rate. */
static uint64_t cost(const struct ward_quota_limit *l, uint64_t bytes)
{
	const double ns =
		(double)bytes * (double)l->per_s * (double)WARD_NS_PER_SEC / (double)l->value;

	return ns < (double)DELAY_MAX ? (uint64_t)ns : DELAY_MAX;
}

/* Locked. What is owed in d and all above. */
static uint64_t owed(const struct ward_quota_domain *d, uint64_t now_ns)
{
	uint64_t most = 0;

	for (; d; d = d->above)
		if (d->limits[WARD_QUOTA_RATE].value != WARD_UNLIMITED && d->paid_ns > now_ns &&
			d->paid_ns - now_ns > most)
			most = d->paid_ns - now_ns;
	return most;
}

uint64_t ward_quota_delay(
	struct ward_quotas *q, struct ward_quota_domain *d, uint64_t bytes, uint64_t now_ns)
{
	uint64_t delay;

	pthread_mutex_lock(&q->lock);
	delay = owed(d, now_ns);
	for (; d; d = d->above) {
		const struct ward_quota_limit *l = &d->limits[WARD_QUOTA_RATE];
		uint64_t ns;

		if (l->value == WARD_UNLIMITED)
			continue;
		ns = cost(l, bytes);
		d->refused[WARD_QUOTA_RATE] += d->paid_ns > now_ns;
		if (d->paid_ns < now_ns)
			d->paid_ns = now_ns;
		d->paid_ns = d->paid_ns < DELAY_MAX && ns < DELAY_MAX ? d->paid_ns + ns : DELAY_MAX;
	}
	pthread_mutex_unlock(&q->lock);
	return delay;
}

void ward_quota_undelay(
	struct ward_quotas *q, struct ward_quota_domain *d, uint64_t bytes, uint64_t now_ns)
{
	pthread_mutex_lock(&q->lock);
	for (; d; d = d->above) {
		const struct ward_quota_limit *l = &d->limits[WARD_QUOTA_RATE];
		const uint64_t ns = l->value == WARD_UNLIMITED ? 0 : cost(l, bytes);

		/* No further back than now: time that passed meanwhile is not saved up. */
		if (d->paid_ns > now_ns)
			d->paid_ns -= ns < d->paid_ns - now_ns ? ns : d->paid_ns - now_ns;
	}
	pthread_mutex_unlock(&q->lock);
}
