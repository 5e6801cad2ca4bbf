/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the automaton over path components, and steps through it. */
#include "enforcer/policy/automaton.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/hash.h"

/* Buckets of states and of steps: calloc'ed, so pages never touched cost nothing. */
#define STATE_BUCKETS (1U << 16)
#define STEP_BUCKETS (1U << 18)

struct position {
	uint32_t pattern;
	uint32_t id; /* of the literal or the glob that leads on from here */
	bool literal;
	bool loop; /* stays live whatever the name */
	bool last; /* what leads on completes the pattern */
};

/* A remembered step. Immutable once it is in its bucket. */
struct step {
	struct step *chain;
	struct step *older; /* of all of them */
	const struct ward_state *from;
	const struct ward_globs *globs;
	const struct ward_state *to;
	uint32_t literal;
};

/* Lists of positions by the number of a component: those of id i are list[at[i]..at[i+1]]. */
struct index {
	uint32_t *at;
	uint32_t *list;
};

struct ward_automaton {
	struct ward_names *names;
	struct position *positions;
	size_t n_positions;
	size_t n_patterns;
	/* first positions of patterns that may begin at every depth */
	struct index float_literals;
	struct index float_globs;
	ward_outcome_fn outcome_fn;
	const void *ctx;
	const struct ward_state *root;
	_Atomic(struct step *) *steps;

	pthread_mutex_t mutex;
	struct ward_state **states; /* protected by mutex, as all below */
	struct ward_state *newest_state;
	struct step *newest_step;
	size_t used;
	size_t memory_max;
};

/* --- building --- */

static int add_positions(struct ward_automaton *a, const struct ward_pattern *p, uint32_t pattern)
{
	for (size_t i = 0; i < p->n; i++) {
		struct position *q = &a->positions[a->n_positions++];
		*q = (struct position){.pattern = pattern,
			.literal = p->components[i].literal,
			.loop = p->components[i].loop,
			.last = i + 1 == p->n};
		int r = ward_names_add(a->names, p, &p->components[i], &q->id);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool is_float(const struct ward_automaton *a, size_t i)
{
	const struct position *q = &a->positions[i];
	return q->loop && (i == 0 || a->positions[i - 1].pattern != q->pattern);
}

static int build_index(const struct ward_automaton *a, bool literal, size_t ids, struct index *ret)
{
	ret->at = calloc(ids + 2, sizeof(uint32_t));
	ret->list = calloc(a->n_patterns + 1, sizeof(uint32_t));
	if (!ret->at || !ret->list)
		return -ENOMEM;
	/* counting sort: at[id + 1] counts, then sums, then at[id] walks to its final place */
	for (size_t i = 0; i < a->n_positions; i++)
		if (is_float(a, i) && a->positions[i].literal == literal)
			ret->at[a->positions[i].id + 2]++;
	for (size_t i = 2; i < ids + 2; i++)
		ret->at[i] += ret->at[i - 1];
	for (size_t i = 0; i < a->n_positions; i++)
		if (is_float(a, i) && a->positions[i].literal == literal)
			ret->list[ret->at[a->positions[i].id + 1]++] = (uint32_t)i;
	return 0;
}

static int cmp_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static size_t sort_unique(uint32_t *v, size_t n)
{
	if (n > 1)
		qsort(v, n, sizeof(*v), cmp_u32);
	size_t out = 0;
	for (size_t i = 0; i < n; i++)
		if (i == 0 || v[i] != v[i - 1])
			v[out++] = v[i];
	return out;
}

/*
 * The one form of a set of live positions: sorted, without positions of patterns that are hit
 * already, and without those that a later loop of the same pattern makes needless.
 */
static size_t reduce_live(const struct ward_automaton *a, uint32_t *live, size_t n,
	const uint32_t *hits, size_t n_hits)
{
	n = sort_unique(live, n);
	size_t out = 0;
	for (size_t i = 0; i < n;) {
		uint32_t pattern = a->positions[live[i]].pattern;
		size_t end = i, from = i;
		for (; end < n && a->positions[live[end]].pattern == pattern; end++)
			if (a->positions[live[end]].loop)
				from = end;
		bool hit = n_hits && bsearch(&pattern, hits, n_hits, sizeof(*hits), cmp_u32);
		for (size_t k = from; !hit && k < end; k++)
			live[out++] = live[k];
		i = end;
	}
	return out;
}

/* --- states --- */

/* A fresh single state with one reference and its view. */
static struct ward_state *make_state(const struct ward_automaton *a, const uint32_t *live,
	size_t n_live, const uint32_t *hits, size_t n_hits)
{
	struct ward_state *s = malloc(sizeof(*s) + (n_live + n_hits) * sizeof(uint32_t));
	if (!s)
		return NULL;
	*s = (struct ward_state){.n_live = (uint32_t)n_live, .n_hits = (uint32_t)n_hits};
	atomic_init(&s->refs, 1);
	if (n_live)
		memcpy(s->ids, live, n_live * sizeof(uint32_t));
	if (n_hits)
		memcpy(s->ids + n_live, hits, n_hits * sizeof(uint32_t));
	s->hash = ward_hash_bytes(n_live, s->ids, (n_live + n_hits) * sizeof(uint32_t));
	a->outcome_fn(a->ctx, a, s, &s->outcome);
	return s;
}

/* The kept state equal to s (s is freed then), or s itself, kept if the bound lets it. */
static struct ward_state *keep_state(struct ward_automaton *a, struct ward_state *s)
{
	size_t ids = ((size_t)s->n_live + s->n_hits) * sizeof(uint32_t);
	struct ward_state **bucket = &a->states[s->hash % STATE_BUCKETS];
	for (struct ward_state *o = *bucket; o; o = o->chain) {
		if (o->hash == s->hash && o->n_live == s->n_live && o->n_hits == s->n_hits &&
			memcmp(o->ids, s->ids, ids) == 0) {
			free(s);
			return o;
		}
	}
	if (a->used + sizeof(*s) + ids > a->memory_max)
		return s;
	a->used += sizeof(*s) + ids;
	s->kept = true;
	s->chain = *bucket;
	*bucket = s;
	s->older = a->newest_state;
	a->newest_state = s;
	return s;
}

const struct ward_state *ward_state_get(const struct ward_state *s)
{
	if (!s->kept) {
		struct ward_state *m = (struct ward_state *)(uintptr_t)s;
		atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
	}
	return s;
}

void ward_state_put(const struct ward_state *s)
{
	if (!s || s->kept)
		return;
	struct ward_state *m = (struct ward_state *)(uintptr_t)s;
	if (atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) == 1)
		free(m);
}

/* --- stepping --- */

/* The two growing sets of the state being made. */
struct sets {
	uint32_t *live, *hits;
	size_t n_live, n_hits;
};

static void lead_on(const struct ward_automaton *a, uint32_t p, struct sets *out)
{
	if (a->positions[p].last)
		out->hits[out->n_hits++] = a->positions[p].pattern;
	else
		out->live[out->n_live++] = p + 1;
}

static size_t index_count(const struct index *x, uint32_t id)
{
	return x->at[id + 1] - x->at[id];
}

static void lead_on_floats(
	const struct ward_automaton *a, const struct index *x, uint32_t id, struct sets *out)
{
	for (uint32_t i = x->at[id]; i < x->at[id + 1]; i++)
		lead_on(a, x->list[i], out);
}

static bool matches(const struct position *q, const struct ward_name_class *c)
{
	if (q->literal)
		return q->id == c->literal;
	return c->globs->n &&
	       bsearch(&q->id, c->globs->ids, c->globs->n, sizeof(uint32_t), cmp_u32);
}

/* Computes the child of s for names of class c: a fresh single state. */
static struct ward_state *compute(
	const struct ward_automaton *a, const struct ward_state *s, const struct ward_name_class *c)
{
	size_t floats = 0;
	if (c->literal != WARD_NAMES_NO_LITERAL)
		floats += index_count(&a->float_literals, c->literal);
	for (uint32_t i = 0; i < c->globs->n; i++)
		floats += index_count(&a->float_globs, c->globs->ids[i]);
	size_t room = 2 * (size_t)s->n_live + s->n_hits + floats + 1;
	ward_cleanup_free uint32_t *mem = calloc(2 * room, sizeof(uint32_t));
	if (!mem)
		return NULL;
	struct sets out = {.live = mem, .hits = mem + room};
	if (s->n_hits)
		memcpy(out.hits, ward_state_hits(s), s->n_hits * sizeof(uint32_t));
	out.n_hits = s->n_hits;
	for (uint32_t i = 0; i < s->n_live; i++) {
		const struct position *q = &a->positions[s->ids[i]];
		if (matches(q, c))
			lead_on(a, s->ids[i], &out);
		if (q->loop)
			out.live[out.n_live++] = s->ids[i];
	}
	if (c->literal != WARD_NAMES_NO_LITERAL)
		lead_on_floats(a, &a->float_literals, c->literal, &out);
	for (uint32_t i = 0; i < c->globs->n; i++)
		lead_on_floats(a, &a->float_globs, c->globs->ids[i], &out);
	out.n_hits = sort_unique(out.hits, out.n_hits);
	out.n_live = reduce_live(a, out.live, out.n_live, out.hits, out.n_hits);
	return make_state(a, out.live, out.n_live, out.hits, out.n_hits);
}

static uint64_t step_hash(const struct ward_state *s, const struct ward_name_class *c)
{
	return ward_hash_mix((uintptr_t)s ^ (uint64_t)c->literal << 32, (uintptr_t)c->globs);
}

static const struct ward_state *find_step(
	struct step *t, const struct ward_state *s, const struct ward_name_class *c)
{
	for (; t; t = t->chain)
		if (t->from == s && t->globs == c->globs && t->literal == c->literal)
			return t->to;
	return NULL;
}

/* Under mutex: remembers the step if the bound lets it. */
static void keep_step(struct ward_automaton *a, const struct ward_state *s,
	const struct ward_name_class *c, const struct ward_state *to)
{
	if (!s->kept || !to->kept || !c->globs->kept ||
		a->used + sizeof(struct step) > a->memory_max)
		return;
	_Atomic(struct step *) *bucket = &a->steps[step_hash(s, c) % STEP_BUCKETS];
	struct step *head = atomic_load_explicit(bucket, memory_order_relaxed);
	if (find_step(head, s, c))
		return;
	struct step *t = malloc(sizeof(*t));
	if (!t)
		return;
	*t = (struct step){.chain = head,
		.older = a->newest_step,
		.from = s,
		.globs = c->globs,
		.to = to,
		.literal = c->literal};
	a->newest_step = t;
	a->used += sizeof(*t);
	atomic_store_explicit(bucket, t, memory_order_release);
}

int ward_automaton_step(struct ward_automaton *a, const struct ward_state *s, const char *name,
	size_t len, const struct ward_state **ret)
{
	if (len == 0 || len > WARD_NAME_MAX || memchr(name, '/', len) || memchr(name, 0, len) ||
		(name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.'))))
		return -EINVAL;
	struct ward_name_class c;
	int r = ward_names_classify(a->names, name, len, &c);
	if (r < 0)
		return r;
	const struct ward_state *to = NULL;
	if (s->kept && c.globs->kept) {
		_Atomic(struct step *) *bucket = &a->steps[step_hash(s, &c) % STEP_BUCKETS];
		to = find_step(atomic_load_explicit(bucket, memory_order_acquire), s, &c);
	}
	if (!to) {
		struct ward_state *made = compute(a, s, &c);
		if (made) {
			pthread_mutex_lock(&a->mutex);
			made = keep_state(a, made);
			keep_step(a, s, &c, made);
			pthread_mutex_unlock(&a->mutex);
		}
		to = made;
	}
	ward_names_release(&c);
	if (!to)
		return -ENOMEM;
	*ret = to;
	return 0;
}

/* --- the whole --- */

static int build_root(struct ward_automaton *a, const struct ward_pattern *patterns)
{
	ward_cleanup_free uint32_t *live = calloc(a->n_patterns + 1, sizeof(uint32_t));
	ward_cleanup_free uint32_t *hits = calloc(a->n_patterns + 1, sizeof(uint32_t));
	if (!live || !hits)
		return -ENOMEM;
	size_t n_live = 0, n_hits = 0, first = 0;
	for (size_t i = 0; i < a->n_patterns; i++) {
		if (patterns[i].n == 0)
			hits[n_hits++] = (uint32_t)i;
		else if (!a->positions[first].loop)
			live[n_live++] = (uint32_t)first;
		first += patterns[i].n;
	}
	struct ward_state *s = make_state(a, live, n_live, hits, n_hits);
	if (!s)
		return -ENOMEM;
	/* the root is kept in any case */
	a->memory_max += sizeof(*s) + (n_live + n_hits) * sizeof(uint32_t);
	a->root = keep_state(a, s);
	return 0;
}

static int build(struct ward_automaton *a, const struct ward_pattern *patterns)
{
	a->names = NULL;
	int r = ward_names_new(&a->names);
	if (r < 0)
		return r;
	a->steps = calloc(STEP_BUCKETS, sizeof(*a->steps));
	a->states = calloc(STATE_BUCKETS, sizeof(struct ward_state *));
	if (!a->positions || !a->steps || !a->states)
		return -ENOMEM;
	for (size_t i = 0; i < a->n_patterns && r == 0; i++)
		r = add_positions(a, &patterns[i], (uint32_t)i);
	if (r == 0)
		r = build_index(a, true, ward_names_literals(a->names), &a->float_literals);
	if (r == 0)
		r = build_index(a, false, ward_names_globs(a->names), &a->float_globs);
	if (r == 0)
		r = ward_names_seal(a->names, a->memory_max / 2);
	a->memory_max /= 2;
	return r == 0 ? build_root(a, patterns) : r;
}

int ward_automaton_new(const struct ward_pattern *patterns, size_t n, ward_outcome_fn outcome_fn,
	const void *ctx, size_t memory_max, struct ward_automaton **ret)
{
	size_t positions = 0;
	for (size_t i = 0; i < n; i++)
		positions += patterns[i].n;
	if (positions > WARD_AUTOMATON_POSITIONS_MAX)
		return -E2BIG;
	struct ward_automaton *a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->outcome_fn = outcome_fn;
	a->ctx = ctx;
	a->memory_max = memory_max;
	a->n_patterns = n;
	a->positions = calloc(positions + 1, sizeof(*a->positions));
	int r = -pthread_mutex_init(&a->mutex, NULL);
	if (r < 0) {
		free(a->positions);
		free(a);
		return r;
	}
	r = build(a, patterns);
	if (r < 0) {
		ward_automaton_free(a);
		return r;
	}
	*ret = a;
	return 0;
}

void ward_automaton_free(struct ward_automaton *a)
{
	if (!a)
		return;
	/* By their own chain: to look into each bucket would touch every page of the tables. */
	for (struct step *t = a->newest_step, *older; t; t = older) {
		older = t->older;
		free(t);
	}
	for (struct ward_state *s = a->newest_state, *older; s; s = older) {
		older = s->older;
		free(s);
	}
	free(a->steps);
	free(a->states);
	free(a->positions);
	free(a->float_literals.at);
	free(a->float_literals.list);
	free(a->float_globs.at);
	free(a->float_globs.list);
	ward_names_free(a->names);
	pthread_mutex_destroy(&a->mutex);
	free(a);
}

const struct ward_state *ward_automaton_root(const struct ward_automaton *a)
{
	return a->root;
}

uint32_t ward_automaton_pattern(const struct ward_automaton *a, uint32_t position)
{
	return a->positions[position].pattern;
}

bool ward_automaton_loops(const struct ward_automaton *a, uint32_t position)
{
	return a->positions[position].loop;
}

bool ward_automaton_last(const struct ward_automaton *a, uint32_t position)
{
	return a->positions[position].last;
}

size_t ward_automaton_memory(struct ward_automaton *a)
{
	pthread_mutex_lock(&a->mutex);
	size_t n = a->used;
	pthread_mutex_unlock(&a->mutex);
	return n + ward_names_memory(a->names);
}
