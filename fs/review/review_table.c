/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the staged layer: files by the keys of the host and of the store, and names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "fs/review/review_internal.h"

#define START 256U
/*
 * Inode numbers of what the session makes begin here. Host file systems do not come that far, and
 * programs that keep them in a double (2^53) do not confuse two.
 */
#define MADE_INO (UINT64_C(1) << 50)

struct ward_review_key ward_review_key_of(const struct statx *stx)
{
	return (struct ward_review_key){.dev = makedev(stx->stx_dev_major, stx->stx_dev_minor),
		.ino = stx->stx_ino,
		.btime_ns = stx->stx_mask & STATX_BTIME
				    ? (uint64_t)stx->stx_btime.tv_sec * 1000000000U +
					      stx->stx_btime.tv_nsec
				    : 0};
}

static bool same_key(const struct ward_review_key *a, const struct ward_review_key *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->btime_ns == b->btime_ns;
}

static size_t hash_key(const struct ward_review_key *key)
{
	return (size_t)(((key->ino ^ key->dev) * UINT64_C(0x9e3779b97f4a7c15)) >> 20);
}

static size_t hash_name(const struct ward_review_file *dir, const char *name, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ dir->number;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * UINT64_C(0x100000001b3);
	return (size_t)(h ^ (h >> 29));
}

struct ward_review_file *ward_review_by_key(
	const struct ward_review *rv, const struct ward_review_key *key)
{
	struct ward_review_file *f = NULL;

	if (rv->objects.v && key->dev == rv->store_dev)
		f = rv->objects.v[hash_key(key) & rv->objects.mask];
	while (f && !same_key(&f->object, key))
		f = f->object_next;
	if (f && f->alias)
		return f->alias;
	if (f || !rv->lowers.v)
		return f;
	f = rv->lowers.v[hash_key(key) & rv->lowers.mask];
	while (f && !same_key(&f->lower, key))
		f = f->lower_next;
	return f;
}

struct ward_review_name *ward_review_find(
	const struct ward_review *rv, const struct ward_review_file *dir, const char *name)
{
	const size_t len = strlen(name);
	struct ward_review_name *n;

	if (!dir || !dir->n_names)
		return NULL;
	n = rv->names.v[hash_name(dir, name, len) & rv->names.mask];
	while (n && !(n->dir == dir && n->len == len && !memcmp(n->text, name, len)))
		n = n->hash_next;
	return n;
}

/* Twice the room; where there is no memory for it chains grow longer, nothing worse. False: there
 * is no table at all. */
static bool grow(struct ward_review_table *t, void (*put)(struct ward_review_table *, void *),
	void *(*next)(void *))
{
	struct ward_review_table more = {.mask = t->v ? t->mask * 2 + 1 : START - 1};

	if (t->v && t->n <= t->mask)
		return true;
	more.v = calloc(more.mask + 1, sizeof(void *));
	if (!more.v)
		return t->v;
	for (size_t i = 0; t->v && i <= t->mask; i++) {
		void *at = t->v[i];

		while (at) {
			void *after = next(at);

			put(&more, at);
			at = after;
		}
	}
	more.n = t->n;
	free(t->v);
	*t = more;
	return true;
}

static void put_lower(struct ward_review_table *t, void *p)
{
	struct ward_review_file *f = p;
	void **at = &t->v[hash_key(&f->lower) & t->mask];

	f->lower_next = *at;
	*at = f;
}

static void *next_lower(void *p)
{
	return ((struct ward_review_file *)p)->lower_next;
}

static void put_object(struct ward_review_table *t, void *p)
{
	struct ward_review_file *f = p;
	void **at = &t->v[hash_key(&f->object) & t->mask];

	f->object_next = *at;
	*at = f;
}

static void *next_object(void *p)
{
	return ((struct ward_review_file *)p)->object_next;
}

static void put_name(struct ward_review_table *t, void *p)
{
	struct ward_review_name *n = p;
	void **at = &t->v[hash_name(n->dir, n->text, n->len) & t->mask];

	n->hash_next = *at;
	*at = n;
}

static void *next_name(void *p)
{
	return ((struct ward_review_name *)p)->hash_next;
}

struct ward_review_file *ward_review_file_new(struct ward_review *rv, mode_t type)
{
	struct ward_review_file *f = calloc(1, sizeof(*f));

	if (!f || !grow(&rv->lowers, put_lower, next_lower) ||
		!grow(&rv->objects, put_object, next_object)) {
		free(f);
		return NULL;
	}
	f->number = rv->next++;
	f->born = rv->steps.last;
	f->type = type & S_IFMT;
	f->id.ino = MADE_INO + f->number;
	LIST_INIT(&f->names);
	f->all_next = rv->all;
	rv->all = f;
	return f;
}

void ward_review_hash_lower(struct ward_review *rv, struct ward_review_file *f)
{
	put_lower(&rv->lowers, f);
	rv->lowers.n++;
}

void ward_review_hash_object(struct ward_review *rv, struct ward_review_file *f)
{
	put_object(&rv->objects, f);
	rv->objects.n++;
}

void ward_review_unhash_object(struct ward_review *rv, struct ward_review_file *f)
{
	struct ward_review_file *g;

	if (!f->hashed)
		return;
	g = rv->objects.v[hash_key(&f->object) & rv->objects.mask];
	if (g == f) {
		rv->objects.v[hash_key(&f->object) & rv->objects.mask] = f->object_next;
	} else {
		while (g->object_next != f)
			g = g->object_next;
		g->object_next = f->object_next;
	}
	rv->objects.n--;
	f->hashed = false;
}

struct ward_review_name *ward_review_name_new(
	struct ward_review *rv, struct ward_review_file *dir, const char *name)
{
	const size_t len = strlen(name);
	struct ward_review_name *n = calloc(1, sizeof(*n) + len + 1);

	if (!n || !grow(&rv->names, put_name, next_name)) {
		free(n);
		return NULL;
	}
	n->dir = dir;
	n->len = (uint8_t)len;
	memcpy(n->text, name, len);
	put_name(&rv->names, n);
	rv->names.n++;
	LIST_INSERT_HEAD(&dir->names, n, in_dir);
	dir->n_names++;
	return n;
}

void ward_review_name_free(struct ward_review *rv, struct ward_review_name *n)
{
	void **at = &rv->names.v[hash_name(n->dir, n->text, n->len) & rv->names.mask];
	struct ward_review_name *m = *at;

	if (m == n) {
		*at = n->hash_next;
	} else {
		while (m->hash_next != n)
			m = m->hash_next;
		m->hash_next = n->hash_next;
	}
	rv->names.n--;
	LIST_REMOVE(n, in_dir);
	n->dir->n_names--;
	free(n);
}

void ward_review_object_name(const struct ward_review_file *f, char ret[WARD_REVIEW_NAME])
{
	(void)snprintf(ret, WARD_REVIEW_NAME, "%u", f->number);
}

void ward_steps_name(uint32_t step, const struct ward_review_file *f, char ret[WARD_STEPS_NAME])
{
	(void)snprintf(ret, WARD_STEPS_NAME, "%u/%u", step, f->number);
}
