/* SPDX-License-Identifier: Apache-2.0 */
/* Tells which components of patterns match a name. */
#include "enforcer/policy/name_match.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/hash.h"

/* A component as bytes, for finding equal ones: kind, byte, set. */
struct key {
	struct key *chain;
	uint64_t hash;
	uint32_t id;
	size_t len;
	unsigned char bytes[];
};

/* A growing hash table of keys; only used before sealing, read-only after. */
struct table {
	struct key **buckets;
	size_t n_buckets; /* a power of two */
	size_t n;
};

/* One element of the globs' automaton; positions are indices into ward_names.elems. */
struct elem {
	uint8_t kind;
	uint8_t byte;
	uint32_t glob; /* number of the glob it belongs to */
	struct ward_byte_set set;
};

/* A state: the positions where matching may stand after some bytes. */
struct dstate {
	struct dstate *chain;
	uint64_t hash;
	struct ward_globs *globs; /* what matches if the name ends here */
	_Atomic(struct dstate *) next[256];
	uint32_t n;
	uint32_t pos[];
};

struct ward_names {
	struct table literals;
	struct table globs;
	struct elem *elems;
	size_t n_elems, cap_elems;
	uint32_t *starts; /* first position of each glob */
	size_t cap_starts;
	uint64_t seed;

	struct dstate *start;
	pthread_mutex_t mutex;
	size_t budget;	      /* protected by mutex, as all below */
	size_t used;	      /* bytes */
	struct dstate **dtab; /* DTAB buckets */
	struct ward_globs **gtab;
};

#define DTAB 4096U

static int table_grow(struct table *t)
{
	size_t n = t->n_buckets ? t->n_buckets * 2 : 64;
	struct key **b = calloc(n, sizeof(struct key *));
	if (!b)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_buckets; i++) {
		struct key *k = t->buckets[i];
		while (k) {
			struct key *next = k->chain;
			k->chain = b[k->hash & (n - 1)];
			b[k->hash & (n - 1)] = k;
			k = next;
		}
	}
	free(t->buckets);
	t->buckets = b;
	t->n_buckets = n;
	return 0;
}

static const struct key *table_find(
	const struct table *t, uint64_t hash, const void *bytes, size_t len)
{
	if (!t->n)
		return NULL;
	for (const struct key *k = t->buckets[hash & (t->n_buckets - 1)]; k; k = k->chain)
		if (k->hash == hash && k->len == len && memcmp(k->bytes, bytes, len) == 0)
			return k;
	return NULL;
}

/* 1: added, 0: was there; *ret_id either way. */
static int table_add(
	struct table *t, uint64_t seed, const void *bytes, size_t len, uint32_t *ret_id)
{
	uint64_t hash = ward_hash_bytes(seed, bytes, len);
	const struct key *old = table_find(t, hash, bytes, len);
	if (old) {
		*ret_id = old->id;
		return 0;
	}
	if (t->n >= t->n_buckets) {
		int r = table_grow(t);
		if (r < 0)
			return r;
	}
	struct key *k = malloc(sizeof(*k) + len);
	if (!k)
		return -ENOMEM;
	*k = (struct key){.hash = hash, .id = (uint32_t)t->n, .len = len};
	memcpy(k->bytes, bytes, len);
	k->chain = t->buckets[hash & (t->n_buckets - 1)];
	t->buckets[hash & (t->n_buckets - 1)] = k;
	t->n++;
	*ret_id = k->id;
	return 1;
}

static void table_free(struct table *t)
{
	for (size_t i = 0; i < t->n_buckets; i++) {
		struct key *k = t->buckets[i];
		while (k) {
			struct key *next = k->chain;
			free(k);
			k = next;
		}
	}
	free(t->buckets);
}

int ward_names_new(struct ward_names **ret)
{
	struct ward_names *nm = calloc(1, sizeof(*nm));
	if (!nm)
		return -ENOMEM;
	/* without randomness the seed is 0: tables stay correct */
	if (getrandom(&nm->seed, sizeof(nm->seed), GRND_NONBLOCK) != sizeof(nm->seed))
		nm->seed = 0;
	nm->dtab = calloc(DTAB, sizeof(struct dstate *));
	nm->gtab = calloc(DTAB, sizeof(struct ward_globs *));
	int r = nm->dtab && nm->gtab ? -pthread_mutex_init(&nm->mutex, NULL) : -ENOMEM;
	if (r < 0) {
		free(nm->dtab);
		free(nm->gtab);
		free(nm);
		return r;
	}
	*ret = nm;
	return 0;
}

void ward_names_free(struct ward_names *nm)
{
	if (!nm)
		return;
	for (size_t i = 0; i < DTAB; i++) {
		for (struct dstate *d = nm->dtab[i]; d;) {
			struct dstate *next = d->chain;
			free(d);
			d = next;
		}
		for (struct ward_globs *g = nm->gtab[i]; g;) {
			struct ward_globs *next = g->chain;
			free(g);
			g = next;
		}
	}
	table_free(&nm->literals);
	table_free(&nm->globs);
	free(nm->elems);
	free(nm->starts);
	free(nm->dtab);
	free(nm->gtab);
	pthread_mutex_destroy(&nm->mutex);
	free(nm);
}

size_t ward_names_literals(const struct ward_names *nm)
{
	return nm->literals.n;
}

size_t ward_names_globs(const struct ward_names *nm)
{
	return nm->globs.n;
}

/* Appends the elements of a glob that is new. */
static int add_elems(struct ward_names *nm, const struct ward_pattern *p,
	const struct ward_component *c, uint32_t id)
{
	size_t need = nm->n_elems + c->n + 1;
	if (need > nm->cap_elems) {
		size_t cap = need * 2;
		struct elem *e = reallocarray(nm->elems, cap, sizeof(*e));
		if (!e)
			return -ENOMEM;
		nm->elems = e;
		nm->cap_elems = cap;
	}
	if (id >= nm->cap_starts) {
		size_t cap = nm->cap_starts ? nm->cap_starts * 2 : 64;
		uint32_t *s = reallocarray(nm->starts, cap, sizeof(*s));
		if (!s)
			return -ENOMEM;
		nm->starts = s;
		nm->cap_starts = cap;
	}
	nm->starts[id] = (uint32_t)nm->n_elems;
	for (size_t i = 0; i < c->n; i++) {
		const struct ward_glob_elem *g = &p->elems[c->first + i];
		struct elem *e = &nm->elems[nm->n_elems++];
		*e = (struct elem){.kind = g->kind, .byte = g->byte, .glob = id};
		if (g->kind == WARD_GLOB_SET)
			e->set = p->sets[g->set];
	}
	nm->elems[nm->n_elems++] = (struct elem){.kind = WARD_GLOB_END, .glob = id};
	return 0;
}

int ward_names_add(struct ward_names *nm, const struct ward_pattern *p,
	const struct ward_component *c, uint32_t *ret_id)
{
	/* worst case: every element is a set */
	size_t size = c->n * (2 + sizeof(struct ward_byte_set));
	ward_cleanup_free unsigned char *bytes = malloc(size + 1);
	if (!bytes)
		return -ENOMEM;
	size_t len = 0;
	for (size_t i = 0; i < c->n; i++) {
		const struct ward_glob_elem *e = &p->elems[c->first + i];
		if (!c->literal)
			bytes[len++] = e->kind;
		bytes[len++] = e->byte;
		if (e->kind == WARD_GLOB_SET) {
			memcpy(bytes + len, &p->sets[e->set], sizeof(struct ward_byte_set));
			len += sizeof(struct ward_byte_set);
		}
	}
	if (c->literal) {
		int r = table_add(&nm->literals, nm->seed, bytes, len, ret_id);
		return r < 0 ? r : 0;
	}
	int r = table_add(&nm->globs, nm->seed, bytes, len, ret_id);
	return r == 1 ? add_elems(nm, p, c, *ret_id) : r;
}

/*
 * Puts a set of positions into its one form: sorted, closed over '*' (which may match nothing), and
 * without those that a later '*' of the same glob makes needless: from there everything matches
 * that matches from before. pos has room for n_elems. Returns the new count.
 */
static size_t normalise(const struct ward_names *nm, uint32_t *pos, size_t n)
{
	size_t out = 0;
	/* what advance() writes is off its place by two at most: insertion is linear here */
	for (size_t i = 1; i < n; i++) {
		uint32_t p = pos[i];
		size_t k = i;
		for (; k > 0 && pos[k - 1] > p; k--)
			pos[k] = pos[k - 1];
		pos[k] = p;
	}
	for (size_t i = 0; i < n;) {
		uint32_t glob = nm->elems[pos[i]].glob;
		size_t end = i, from = i;
		for (; end < n && nm->elems[pos[end]].glob == glob; end++)
			if (nm->elems[pos[end]].kind == WARD_GLOB_STAR)
				from = end;
		for (size_t k = from; k < end; k++)
			if (k == from || pos[k] != pos[k - 1])
				pos[out++] = pos[k];
		i = end;
	}
	return out;
}

/* All positions of next after byte b from those of now. next has room for 2 * n_now + n. */
static size_t advance(
	const struct ward_names *nm, const uint32_t *now, size_t n_now, uint8_t b, uint32_t *next)
{
	size_t n = 0;
	for (size_t i = 0; i < n_now; i++) {
		uint32_t p = now[i];
		const struct elem *e = &nm->elems[p];
		bool hit = false;
		switch ((enum ward_glob_kind)e->kind) {
		case WARD_GLOB_BYTE:
			hit = e->byte == b;
			break;
		case WARD_GLOB_ANY:
			hit = true;
			break;
		case WARD_GLOB_SET:
			hit = ward_byte_set_has(&e->set, b);
			break;
		case WARD_GLOB_STAR:
			next[n++] = p;
			next[n++] = p + 1;
			break;
		case WARD_GLOB_END:
			break;
		}
		if (!hit)
			continue;
		next[n++] = p + 1;
		if (e[1].kind == WARD_GLOB_STAR)
			next[n++] = p + 2;
	}
	return normalise(nm, next, n);
}

/* The globs that match at the positions: a fresh object, not kept. */
static struct ward_globs *globs_of(const struct ward_names *nm, const uint32_t *pos, size_t n)
{
	size_t hits = 0;
	for (size_t i = 0; i < n; i++)
		hits += nm->elems[pos[i]].kind == WARD_GLOB_END;
	struct ward_globs *g = malloc(sizeof(*g) + hits * sizeof(g->ids[0]));
	if (!g)
		return NULL;
	*g = (struct ward_globs){.n = 0};
	for (size_t i = 0; i < n; i++)
		if (nm->elems[pos[i]].kind == WARD_GLOB_END)
			g->ids[g->n++] = nm->elems[pos[i]].glob;
	g->hash = ward_hash_bytes(nm->seed, g->ids, g->n * sizeof(g->ids[0]));
	return g;
}

/* The kept object equal to g (freed then), or g itself, kept if the budget lets it. Under mutex. */
static struct ward_globs *keep_globs(struct ward_names *nm, struct ward_globs *g)
{
	struct ward_globs **bucket = &nm->gtab[g->hash % DTAB];
	for (struct ward_globs *o = *bucket; o; o = o->chain) {
		if (o->hash == g->hash && o->n == g->n &&
			memcmp(o->ids, g->ids, g->n * sizeof(g->ids[0])) == 0) {
			free(g);
			return o;
		}
	}
	size_t size = sizeof(*g) + g->n * sizeof(g->ids[0]);
	if (nm->used + size > nm->budget)
		return g;
	nm->used += size;
	g->kept = true;
	g->chain = *bucket;
	*bucket = g;
	return g;
}

/* The state with these positions, or NULL (over budget, no memory). Under mutex. */
static struct dstate *keep_state(struct ward_names *nm, const uint32_t *pos, size_t n)
{
	uint64_t hash = ward_hash_bytes(nm->seed, pos, n * sizeof(*pos));
	struct dstate **bucket = &nm->dtab[hash % DTAB];
	for (struct dstate *d = *bucket; d; d = d->chain)
		if (d->hash == hash && d->n == n && memcmp(d->pos, pos, n * sizeof(*pos)) == 0)
			return d;
	size_t size = sizeof(struct dstate) + n * sizeof(*pos);
	if (nm->used + size > nm->budget)
		return NULL;
	struct ward_globs *g = globs_of(nm, pos, n);
	if (!g)
		return NULL;
	g = keep_globs(nm, g);
	struct dstate *d = g->kept ? calloc(1, size) : NULL;
	if (!d) {
		if (!g->kept)
			free(g);
		return NULL;
	}
	nm->used += size;
	d->hash = hash;
	d->globs = g;
	d->n = (uint32_t)n;
	memcpy(d->pos, pos, n * sizeof(*pos));
	d->chain = *bucket;
	*bucket = d;
	return d;
}

int ward_names_seal(struct ward_names *nm, size_t budget)
{
	nm->budget = budget;
	ward_cleanup_free uint32_t *pos = calloc(2 * nm->globs.n + 1, sizeof(*pos));
	if (!pos)
		return -ENOMEM;
	size_t n = 0;
	for (size_t i = 0; i < nm->globs.n; i++) {
		pos[n++] = nm->starts[i];
		if (nm->elems[nm->starts[i]].kind == WARD_GLOB_STAR)
			pos[n++] = nm->starts[i] + 1;
	}
	n = normalise(nm, pos, n);
	/* the first state is there in any case: everything else starts from it */
	nm->budget += sizeof(struct dstate) + n * sizeof(*pos) + sizeof(struct ward_globs) +
		      nm->globs.n * sizeof(uint32_t);
	nm->start = keep_state(nm, pos, n);
	return nm->start ? 0 : -ENOMEM;
}

/* Goes on from state d without keeping anything. */
static int simulate(struct ward_names *nm, const struct dstate *d, const char *name, size_t len,
	const struct ward_globs **ret)
{
	size_t room = 2 * nm->n_elems + 2;
	ward_cleanup_free uint32_t *a = calloc(room, sizeof(*a));
	ward_cleanup_free uint32_t *b = calloc(room, sizeof(*b));
	if (!a || !b)
		return -ENOMEM;
	uint32_t *const pos[] = {a, b}; /* before and after a byte, in turn */
	size_t n = d->n;
	memcpy(a, d->pos, n * sizeof(*a));
	for (size_t i = 0; i < len; i++)
		n = advance(nm, pos[i % 2], n, (uint8_t)name[i], pos[(i + 1) % 2]);
	struct ward_globs *g = globs_of(nm, pos[len % 2], n);
	if (!g)
		return -ENOMEM;
	pthread_mutex_lock(&nm->mutex);
	*ret = keep_globs(nm, g);
	pthread_mutex_unlock(&nm->mutex);
	return 0;
}

/* The state after byte b, made if need be; NULL: it cannot be kept. */
static struct dstate *make_next(struct ward_names *nm, struct dstate *d, uint8_t b)
{
	ward_cleanup_free uint32_t *pos = calloc(2 * (size_t)d->n + 2, sizeof(*pos));
	if (!pos)
		return NULL;
	size_t n = advance(nm, d->pos, d->n, b, pos);
	pthread_mutex_lock(&nm->mutex);
	struct dstate *next = keep_state(nm, pos, n);
	pthread_mutex_unlock(&nm->mutex);
	if (next)
		atomic_store_explicit(&d->next[b], next, memory_order_release);
	return next;
}

int ward_names_classify(
	struct ward_names *nm, const char *name, size_t len, struct ward_name_class *ret)
{
	const struct key *k = NULL;
	if (nm->literals.n)
		k = table_find(&nm->literals, ward_hash_bytes(nm->seed, name, len), name, len);
	struct ward_name_class c = {.literal = k ? k->id : WARD_NAMES_NO_LITERAL};
	struct dstate *d = nm->start;
	for (size_t i = 0; i < len && d->n; i++) {
		uint8_t b = (uint8_t)name[i];
		struct dstate *next = atomic_load_explicit(&d->next[b], memory_order_acquire);
		if (!next)
			next = make_next(nm, d, b);
		if (!next) {
			int r = simulate(nm, d, name + i, len - i, &c.globs);
			if (r == 0)
				*ret = c;
			return r;
		}
		d = next;
	}
	c.globs = d->globs;
	*ret = c;
	return 0;
}

void ward_names_release(const struct ward_name_class *c)
{
	if (c->globs && !c->globs->kept)
		free((void *)(uintptr_t)c->globs);
}

size_t ward_names_memory(struct ward_names *nm)
{
	pthread_mutex_lock(&nm->mutex);
	size_t n = nm->used;
	pthread_mutex_unlock(&nm->mutex);
	return n;
}

/* --- by hand --- */

size_t ward_names_room(const struct ward_names *nm)
{
	return 2 * nm->n_elems + 2;
}

size_t ward_names_begin(const struct ward_names *nm, uint32_t *ret_pos)
{
	memcpy(ret_pos, nm->start->pos, nm->start->n * sizeof(*ret_pos));
	return nm->start->n;
}

size_t ward_names_advance(
	const struct ward_names *nm, const uint32_t *now, size_t n, uint8_t byte, uint32_t *ret_pos)
{
	return advance(nm, now, n, byte, ret_pos);
}

size_t ward_names_matched(
	const struct ward_names *nm, const uint32_t *pos, size_t n, uint32_t *ret_globs)
{
	size_t hits = 0;
	for (size_t i = 0; i < n; i++)
		if (nm->elems[pos[i]].kind == WARD_GLOB_END)
			ret_globs[hits++] = nm->elems[pos[i]].glob;
	return hits;
}

/* Tells the bytes of one number apart where e takes some of them. Returns how many numbers. */
static unsigned split(const struct elem *e, uint8_t number[256], unsigned n)
{
	int in[256], out[256];
	memset(in, -1, sizeof(in));
	memset(out, -1, sizeof(out));
	uint8_t old[256];
	memcpy(old, number, sizeof(old));
	for (unsigned b = 0; b < 256; b++) {
		bool takes = e->kind == WARD_GLOB_BYTE ? e->byte == b
						       : ward_byte_set_has(&e->set, (uint8_t)b);
		int *to = takes ? in : out, *other = takes ? out : in;
		if (to[old[b]] < 0)
			to[old[b]] = other[old[b]] < 0 ? old[b] : (int)n++;
		number[b] = (uint8_t)to[old[b]];
	}
	return n;
}

unsigned ward_names_alphabet(const struct ward_names *nm, uint8_t ret_number[256])
{
	unsigned n = 1;
	memset(ret_number, 0, 256);
	for (size_t i = 0; i < nm->n_elems && n < 256; i++)
		if (nm->elems[i].kind == WARD_GLOB_BYTE || nm->elems[i].kind == WARD_GLOB_SET)
			n = split(&nm->elems[i], ret_number, n);
	return n;
}
