/* SPDX-License-Identifier: Apache-2.0 */
/* The quotas of a policy by their paths, in force and exchanged. */
#include "fs/quota/quota.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/clock.h"
#include "fs/quota/quota_internal.h"

#define CHAINS_START 256U

/* --- paths and domains --- */

static void free_place(struct ward_quota_place *p)
{
	struct ward_quota_place *child;

	if (!p)
		return;
	/* As deep as a path of a quota has names: WARD_QUOTA_DEPTH_MAX. */
	while ((child = p->children)) {
		p->children = child->next;
		free_place(child);
	}
	free(p);
}

static struct ward_quota_place *find_child(
	const struct ward_quota_place *p, const char *name, size_t len)
{
	struct ward_quota_place *c = p->children;

	while (c && (c->len != len || memcmp(c->name, name, len) != 0))
		c = c->next;
	return c;
}

static struct ward_quota_place *new_place(const char *name, size_t len)
{
	struct ward_quota_place *p = calloc(1, sizeof(*p) + len + 1);

	if (p) {
		p->len = len;
		memcpy(p->name, name, len);
	}
	return p;
}

/* The place of a path, with all on the way. */
static struct ward_quota_place *make_place(struct ward_quota_place *root, const char *path)
{
	struct ward_quota_place *at = root;

	while (*path) {
		const size_t len = strcspn(++path, "/");
		struct ward_quota_place *c = find_child(at, path, len);

		if (!c) {
			c = new_place(path, len);
			if (!c)
				return NULL;
			c->next = at->children;
			at->children = c;
		}
		at = c;
		path += len;
	}
	return at;
}

static void inherit(struct ward_quota_place *p, struct ward_quota_domain *above)
{
	if (p->domain)
		p->domain->above = above;
	else
		p->domain = above;
	for (struct ward_quota_place *c = p->children; c; c = c->next)
		inherit(c, p->domain);
}

static void free_domain(struct ward_quota_domain *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < WARD_QUOTA_KEYS_; i++) {
		free(d->limits[i].text);
		free(d->limits[i].place);
	}
	free(d->path);
	free(d);
}

static struct ward_quota_domain *find_domain(struct ward_quota_domain *list, const char *path)
{
	while (list && strcmp(list->path, path) != 0)
		list = list->next;
	return list;
}

static struct ward_quota_domain *new_domain(const char *path)
{
	struct ward_quota_domain *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->path = strdup(path);
	if (!d->path) {
		free(d);
		return NULL;
	}
	for (size_t i = 0; i < WARD_QUOTA_KEYS_; i++)
		d->limits[i].value = WARD_UNLIMITED;
	return d;
}

static void limit_clear(struct ward_quota_limit *l)
{
	free(l->text);
	free(l->place);
	*l = (struct ward_quota_limit){.value = WARD_UNLIMITED};
}

static int limit_copy(const struct ward_quota_limit *from, struct ward_quota_limit *to)
{
	*to = (struct ward_quota_limit){.value = from->value, .per_s = from->per_s};
	if (from->value == WARD_UNLIMITED)
		return 0;
	to->text = strdup(from->text);
	to->place = strdup(from->place);
	return to->text && to->place ? 0 : -ENOMEM;
}

static void clear_limits(struct ward_quota_limit *v)
{
	for (size_t i = 0; i < WARD_QUOTA_KEYS_; i++)
		limit_clear(&v[i]);
}

static int copy_limits(const struct ward_quota_limit *from, struct ward_quota_limit *to)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < WARD_QUOTA_KEYS_; i++)
		r = limit_copy(&from[i], &to[i]);
	return r;
}

static unsigned own_wants(const struct ward_quota_domain *d)
{
	const struct ward_quota_limit *l = d->limits;
	unsigned wants = 0;

	for (size_t i = 0; i < WARD_QUOTA_KEYS_; i++)
		if (l[i].value != WARD_UNLIMITED)
			wants |= WARD_QUOTA_WANT_FILES;
	if (l[WARD_QUOTA_GROWTH].value != WARD_UNLIMITED ||
		l[WARD_QUOTA_FILE].value != WARD_UNLIMITED ||
		l[WARD_QUOTA_RATE].value != WARD_UNLIMITED)
		wants |= WARD_QUOTA_WANT_WRITES;
	if (l[WARD_QUOTA_RATE].value != WARD_UNLIMITED)
		wants |= WARD_QUOTA_WANT_RATE;
	if (l[WARD_QUOTA_CHURN].value != WARD_UNLIMITED)
		wants |= WARD_QUOTA_WANT_CHURN;
	return wants;
}

/* What a reload prepares: nothing of it is in force yet. */
struct plan {
	struct ward_quota_place *root;
	struct ward_quota_domain *added; /* domains of new paths */
	struct ward_quota_limit (*limits)[WARD_QUOTA_KEYS_];
	struct ward_quota_limit staged;
};

static void clear_plan(struct plan *p, size_t n)
{
	free_place(p->root);
	while (p->added) {
		struct ward_quota_domain *d = p->added;

		p->added = d->next;
		free_domain(d);
	}
	for (size_t i = 0; p->limits && i < n; i++)
		clear_limits(p->limits[i]);
	free(p->limits);
	limit_clear(&p->staged);
}

static int plan_one(struct ward_quotas *q, const struct ward_quota *s, struct plan *p, size_t i)
{
	struct ward_quota_domain *d = find_domain(q->domains, s->path);

	if (!d) {
		d = new_domain(s->path);
		if (!d)
			return -ENOMEM;
		d->next = p->added;
		p->added = d;
	}
	return copy_limits(s->limits, p->limits[i]);
}

/* Every domain, with and without limits, has its place: what it counts stays where it is. */
static int plan_places(const struct ward_quotas *q, struct plan *p)
{
	for (int k = 0; k < 2; k++)
		for (struct ward_quota_domain *d = k ? p->added : q->domains; d; d = d->next) {
			struct ward_quota_place *at = make_place(p->root, d->path);

			if (!at)
				return -ENOMEM;
			at->domain = d;
		}
	return 0;
}

static int plan(struct ward_quotas *q, const struct ward_settings *s, struct plan *p)
{
	int r = 0;

	p->root = new_place("", 0);
	p->limits = calloc(s->n_quotas + 1, sizeof(*p->limits));
	if (!p->root || !p->limits)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < s->n_quotas; i++)
		r = plan_one(q, &s->quotas[i], p, i);
	if (r == 0)
		r = limit_copy(&s->review_size, &p->staged);
	return r == 0 ? plan_places(q, p) : r;
}

/* Locked. */
static void put_in_force(struct ward_quotas *q, const struct ward_settings *s, struct plan *p)
{
	struct ward_quota_place *old = q->root;
	bool any = false;

	while (p->added) {
		struct ward_quota_domain *d = p->added;

		p->added = d->next;
		d->next = q->domains;
		q->domains = d;
	}
	q->root = p->root;
	p->root = old;
	for (struct ward_quota_domain *d = q->domains; d; d = d->next)
		clear_limits(d->limits);
	for (size_t i = 0; i < s->n_quotas; i++) {
		struct ward_quota_domain *d = find_domain(q->domains, s->quotas[i].path);

		memcpy(d->limits, p->limits[i], sizeof(d->limits));
		memset(p->limits[i], 0, sizeof(p->limits[i]));
	}
	inherit(q->root, NULL);
	for (struct ward_quota_domain *d = q->domains; d; d = d->next) {
		unsigned wants = 0;

		for (const struct ward_quota_domain *at = d; at; at = at->above)
			wants |= own_wants(at);
		atomic_store(&d->wants, wants);
		any = any || wants;
	}
	atomic_store(&q->any, any);
	const struct ward_quota_limit staged = q->staged;
	q->staged = p->staged;
	p->staged = staged;
	atomic_store(&q->any_staged, q->staged.value != WARD_UNLIMITED);
}

int ward_quotas_reload(struct ward_quotas *q, const struct ward_settings *s)
{
	struct plan p = {.root = NULL};
	int r;

	pthread_mutex_lock(&q->lock);
	r = plan(q, s, &p);
	if (r == 0)
		put_in_force(q, s, &p);
	pthread_mutex_unlock(&q->lock);
	clear_plan(&p, s->n_quotas);
	return r;
}

int ward_quotas_new(const struct ward_settings *s, struct ward_quotas **ret)
{
	struct ward_quotas *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return -ENOMEM;
	pthread_mutex_init(&q->lock, NULL);
	for (size_t i = 0; i < WARD_QUOTA_LOCKS; i++)
		pthread_rwlock_init(&q->locks[i], NULL);
	pthread_rwlock_init(&q->inherit, NULL);
	q->mask = CHAINS_START - 1;
	q->files = calloc(CHAINS_START, sizeof(struct ward_quota_file *));
	r = q->files ? ward_quotas_reload(q, s) : -ENOMEM;
	if (r < 0) {
		ward_quotas_free(q);
		return r;
	}
	*ret = q;
	return 0;
}

void ward_quotas_free(struct ward_quotas *q)
{
	if (!q)
		return;
	ward_quota_files_clear(q);
	limit_clear(&q->staged);
	free_place(q->root);
	while (q->domains) {
		struct ward_quota_domain *d = q->domains;

		q->domains = d->next;
		free_domain(d);
	}
	for (size_t i = 0; i < WARD_QUOTA_LOCKS; i++)
		pthread_rwlock_destroy(&q->locks[i]);
	pthread_rwlock_destroy(&q->inherit);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

bool ward_quotas_any(const struct ward_quotas *q)
{
	return q && atomic_load_explicit(&q->any, memory_order_relaxed);
}

struct ward_quota_domain *ward_quotas_find(
	struct ward_quotas *q, const struct ward_name_bytes *names, size_t n, bool *ret_splits)
{
	const struct ward_quota_place *at;
	struct ward_quota_domain *d;
	bool all = true;

	pthread_mutex_lock(&q->lock);
	at = q->root;
	for (size_t i = 0; i < n; i++) {
		const struct ward_quota_place *c = find_child(at, names[i].p, names[i].len);

		if (!c) {
			all = false;
			break;
		}
		at = c;
	}
	d = at->domain;
	if (ret_splits)
		*ret_splits = all && at->children;
	pthread_mutex_unlock(&q->lock);
	return d;
}

uint32_t ward_quota_wants(const struct ward_quota_domain *d)
{
	return d ? atomic_load_explicit(&d->wants, memory_order_relaxed) : 0;
}
