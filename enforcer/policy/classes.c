/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts all possible names into classes that the patterns of a policy tell apart. */
#include "enforcer/policy/classes.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/policy/hash.h"
#include "enforcer/policy/policy.h"

/* Classes without a literal among which the least are found: each is compared with each. */
#define LEAST_MAX 4096U
/* No node of the tree of literals: no literal begins like this. */
#define OFF UINT32_MAX

/* A node of the tree of literals. 0 is the root. */
struct trie {
	uint32_t child, sibling; /* 0: none */
	uint32_t literal;	 /* that ends here, or WARD_NAMES_NO_LITERAL */
	uint8_t byte;
	bool never; /* "." or ".." */
};

/* Numbers that are kept together: positions of the globs' automaton, or globs. */
struct set {
	uint64_t hash;
	size_t at; /* in the arena */
	uint32_t n;
	uint32_t class_of; /* of a set of globs: 1 + the class without a literal */
	bool seen_off;	   /* of a set of positions: reached off the literals */
};

struct sets {
	struct set *v;
	size_t n, cap;
	uint32_t *arena;
	size_t n_arena, cap_arena;
	uint32_t *table; /* 1 + number */
	size_t n_table;	 /* a power of two */
};

/* A name on its way, made of the ones before it. */
struct item {
	uint32_t parent;
	uint32_t set, trie;
	uint8_t byte, len;
};

/* A list found by ward_classes_least(). */
struct least {
	uint32_t *v;
	size_t n;
	bool known;
};

struct ward_classes {
	struct ward_names *names;
	struct ward_class_component *components;
	size_t n_components, cap_components;
	size_t *first; /* component of each pattern */
	size_t n_patterns, cap_first;
	struct trie *tries;
	size_t n_tries, cap_tries;
	char **shown; /* text of each glob */
	size_t n_shown, cap_shown;
	struct sets positions, globs;
	struct item *items;
	size_t n_items, cap_items;
	struct ward_class *classes;
	size_t *globs_of; /* set of globs of each class, until the arena no longer moves */
	size_t n_classes, cap_classes, cap_globs_of;
	uint32_t *now, *next; /* positions on the way, while the classes are looked for */
	uint32_t steps;
	uint64_t work;
	uint64_t until_ns;   /* 0: without end */
	struct least *least; /* 0: of all; 1 + glob */
};

static int grow(void *v, size_t n, size_t *cap, size_t size)
{
	void **p = v;
	if (n < *cap)
		return 0;
	size_t more = *cap ? *cap * 2 : 64;
	void *q = reallocarray(*p, more, size);
	if (!q)
		return -ENOMEM;
	*p = q;
	*cap = more;
	return 0;
}

/* --- sets of numbers --- */

static int sets_rehash(struct sets *s)
{
	size_t n = s->n_table ? s->n_table * 2 : 256;
	uint32_t *t = calloc(n, sizeof(*t));
	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++) {
		size_t at = s->v[i].hash & (n - 1);
		while (t[at])
			at = (at + 1) & (n - 1);
		t[at] = (uint32_t)i + 1;
	}
	free(s->table);
	s->table = t;
	s->n_table = n;
	return 0;
}

/* The number of the set with this content. */
static int sets_add(struct sets *s, const uint32_t *v, size_t n, uint32_t *ret)
{
	if (2 * s->n >= s->n_table) {
		int r = sets_rehash(s);
		if (r < 0)
			return r;
	}
	uint64_t hash = ward_hash_bytes(n, v, n * sizeof(*v));
	size_t at = hash & (s->n_table - 1);
	for (; s->table[at]; at = (at + 1) & (s->n_table - 1)) {
		const struct set *o = &s->v[s->table[at] - 1];
		if (o->hash == hash && o->n == n &&
			(!n || memcmp(s->arena + o->at, v, n * sizeof(*v)) == 0)) {
			*ret = s->table[at] - 1;
			return 0;
		}
	}
	int r = grow(&s->v, s->n, &s->cap, sizeof(*s->v));
	/* one more than needed: an empty set has a place too */
	while (r == 0 && s->n_arena + n >= s->cap_arena)
		r = grow(&s->arena, s->cap_arena, &s->cap_arena, sizeof(*s->arena));
	if (r < 0)
		return r;
	if (n)
		memcpy(s->arena + s->n_arena, v, n * sizeof(*v));
	s->v[s->n] = (struct set){.hash = hash, .at = s->n_arena, .n = (uint32_t)n};
	s->n_arena += n;
	*ret = (uint32_t)s->n++;
	s->table[at] = *ret + 1;
	return 0;
}

static void sets_clear(struct sets *s)
{
	free(s->v);
	free(s->arena);
	free(s->table);
}

/* --- adding --- */

static int trie_child(struct ward_classes *c, uint32_t at, uint8_t byte, uint32_t *ret)
{
	for (uint32_t k = c->tries[at].child; k; k = c->tries[k].sibling)
		if (c->tries[k].byte == byte) {
			*ret = k;
			return 0;
		}
	int r = grow(&c->tries, c->n_tries, &c->cap_tries, sizeof(*c->tries));
	if (r < 0)
		return r;
	uint32_t n = (uint32_t)c->n_tries++;
	c->tries[n] = (struct trie){
		.sibling = c->tries[at].child, .literal = WARD_NAMES_NO_LITERAL, .byte = byte};
	c->tries[at].child = n;
	*ret = n;
	return 0;
}

static int trie_add(struct ward_classes *c, const char *name, size_t len, uint32_t *ret)
{
	uint32_t at = 0;
	int r = 0;
	for (size_t i = 0; r == 0 && i < len; i++)
		r = trie_child(c, at, (uint8_t)name[i], &at);
	*ret = at;
	return r;
}

int ward_classes_new(struct ward_classes **ret)
{
	struct ward_classes *c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	uint32_t dot = 0, dots = 0;
	int r = ward_names_new(&c->names);
	if (r == 0)
		r = grow(&c->tries, 0, &c->cap_tries, sizeof(*c->tries));
	if (r == 0) {
		c->tries[c->n_tries++] = (struct trie){.literal = WARD_NAMES_NO_LITERAL};
		r = trie_add(c, ".", 1, &dot);
	}
	if (r == 0)
		r = trie_add(c, "..", 2, &dots);
	if (r < 0) {
		ward_classes_free(c);
		return r;
	}
	c->tries[dot].never = c->tries[dots].never = true;
	*ret = c;
	return 0;
}

void ward_classes_free(struct ward_classes *c)
{
	if (!c)
		return;
	for (size_t i = 0; c->least && i <= c->n_shown; i++)
		free(c->least[i].v);
	for (size_t i = 0; i < c->n_shown; i++)
		free(c->shown[i]);
	ward_names_free(c->names);
	free(c->components);
	free(c->first);
	free(c->tries);
	free(c->shown);
	sets_clear(&c->positions);
	sets_clear(&c->globs);
	free(c->items);
	free(c->classes);
	free(c->globs_of);
	free(c->least);
	free(c->now);
	free(c->next);
	free(c);
}

/* A set of a few letters or digits as a policy writes it, such as "[Ee]"; of any others "[…]". */
static void show_set(const struct ward_byte_set *s, struct ward_buf *b)
{
	char members[8];
	size_t n = 0;
	for (unsigned byte = 0; byte < 256; byte++) {
		if (!ward_byte_set_has(s, (uint8_t)byte))
			continue;
		if (n == sizeof(members) - 1 || byte > 127 || !isalnum((int)byte)) {
			ward_buf_puts(b, "[…]");
			return;
		}
		members[n++] = (char)byte;
	}
	members[n] = 0;
	ward_buf_printf(b, "[%s]", members);
}

/* A glob as people see it. */
static int show_glob(
	struct ward_classes *c, const struct ward_pattern *p, const struct ward_component *k)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	for (size_t i = 0; i < k->n; i++) {
		const struct ward_glob_elem *e = &p->elems[k->first + i];
		switch ((enum ward_glob_kind)e->kind) {
		case WARD_GLOB_BYTE:
			ward_pattern_quote(&b, (const char *)&e->byte, 1);
			break;
		case WARD_GLOB_ANY:
			ward_buf_putc(&b, '?');
			break;
		case WARD_GLOB_SET:
			show_set(&p->sets[e->set], &b);
			break;
		case WARD_GLOB_STAR:
			ward_buf_putc(&b, '*');
			break;
		case WARD_GLOB_END:
			break;
		}
	}
	int r = grow(&c->shown, c->n_shown, &c->cap_shown, sizeof(*c->shown));
	if (r < 0)
		return r;
	c->shown[c->n_shown] = ward_buf_steal(&b);
	if (!c->shown[c->n_shown])
		return -ENOMEM;
	c->n_shown++;
	return 0;
}

static int add_literal(struct ward_classes *c, const struct ward_pattern *p,
	const struct ward_component *k, uint32_t id)
{
	char name[WARD_NAME_MAX];
	uint32_t at = 0;
	for (size_t i = 0; i < k->n; i++)
		name[i] = (char)p->elems[k->first + i].byte;
	int r = trie_add(c, name, k->n, &at);
	if (r == 0)
		c->tries[at].literal = id;
	return r;
}

int ward_classes_add(struct ward_classes *c, const struct ward_pattern *p)
{
	int r = grow(&c->first, c->n_patterns, &c->cap_first, sizeof(*c->first));
	if (r < 0)
		return r;
	c->first[c->n_patterns++] = c->n_components;
	for (size_t i = 0; i < p->n; i++) {
		const struct ward_component *k = &p->components[i];
		struct ward_class_component x = {.literal = k->literal, .loop = k->loop};
		r = grow(&c->components, c->n_components, &c->cap_components,
			sizeof(*c->components));
		if (r == 0)
			r = ward_names_add(c->names, p, k, &x.id);
		if (r == 0 && k->literal)
			r = add_literal(c, p, k, x.id);
		else if (r == 0 && x.id == c->n_shown)
			r = show_glob(c, p, k);
		if (r < 0)
			return r;
		c->components[c->n_components++] = x;
	}
	return 0;
}

/* --- finding --- */

static int push(struct ward_classes *c, uint32_t parent, uint32_t set, uint32_t trie, uint8_t byte)
{
	int r = grow(&c->items, c->n_items, &c->cap_items, sizeof(*c->items));
	if (r < 0)
		return r;
	uint8_t len = c->n_items ? (uint8_t)(c->items[parent].len + 1) : 0;
	c->items[c->n_items++] = (struct item){parent, set, trie, byte, len};
	return 0;
}

/* The name that ends at item i is one of a class; a new one is kept. */
static int keep_class(struct ward_classes *c, uint32_t i)
{
	const struct item *t = &c->items[i];
	const struct trie *trie = t->trie == OFF ? NULL : &c->tries[t->trie];
	uint32_t literal = trie ? trie->literal : WARD_NAMES_NO_LITERAL, set = 0;
	if (t->len == 0 || (trie && trie->never))
		return 0;
	const struct set *s = &c->positions.v[t->set];
	size_t n = ward_names_matched(c->names, c->positions.arena + s->at, s->n, c->next);
	int r = sets_add(&c->globs, c->next, n, &set);
	if (r < 0 || (literal == WARD_NAMES_NO_LITERAL && c->globs.v[set].class_of))
		return r;
	r = grow(&c->classes, c->n_classes, &c->cap_classes, sizeof(*c->classes));
	if (r == 0)
		r = grow(&c->globs_of, c->n_classes, &c->cap_globs_of, sizeof(*c->globs_of));
	if (r < 0)
		return r;
	struct ward_class *k = &c->classes[c->n_classes];
	*k = (struct ward_class){.len = t->len, .literal = literal, .n_globs = (uint32_t)n};
	for (; t->len; t = &c->items[t->parent])
		k->name[t->len - 1] = (char)t->byte;
	c->globs_of[c->n_classes++] = set;
	if (literal == WARD_NAMES_NO_LITERAL)
		c->globs.v[set].class_of = (uint32_t)c->n_classes;
	return 0;
}

/* One name more: item i, whose positions are in c->now, and a byte. */
static int extend(struct ward_classes *c, uint32_t i, size_t n, uint8_t byte, uint32_t trie)
{
	uint32_t set = 0;
	c->steps++;
	c->work += n;
	n = ward_names_advance(c->names, c->now, n, byte, c->next);
	int r = sets_add(&c->positions, c->next, n, &set);
	if (r < 0)
		return r;
	if (trie == OFF && c->positions.v[set].seen_off)
		return 0;
	if (trie == OFF)
		c->positions.v[set].seen_off = true;
	return push(c, i, set, trie, byte);
}

/* Bytes as people would choose them, the best first. */
static void order_bytes(uint8_t ret[254])
{
	static const char best[] = "xyzabcdefghijklmnopqrstuvw0123456789-_.";
	bool taken[256] = {[0] = true, ['/'] = true};
	size_t n = 0;
	for (const char *b = best; *b; b++) {
		ret[n++] = (uint8_t)*b;
		taken[(uint8_t)*b] = true;
	}
	for (unsigned round = 0; round < 2; round++)
		for (unsigned b = 1; b < 256; b++) {
			bool plain = b > ' ' && b < 0x7f;
			if (taken[b] || (round == 0 && !plain))
				continue;
			ret[n++] = (uint8_t)b;
			taken[b] = true;
		}
}

struct alphabet {
	uint8_t bytes[254]; /* in the order in which they are tried */
	uint8_t number[256];
};

static int children(struct ward_classes *c, uint32_t i, const struct alphabet *a)
{
	const struct item t = c->items[i];
	const struct set s = c->positions.v[t.set];
	bool literal[256] = {false}, done[256] = {false};
	int r = 0;
	if (t.len == WARD_NAME_MAX)
		return 0;
	if (s.n)
		memcpy(c->now, c->positions.arena + s.at, s.n * sizeof(*c->now));
	for (uint32_t k = t.trie == OFF ? 0 : c->tries[t.trie].child; r == 0 && k;
		k = c->tries[k].sibling) {
		literal[c->tries[k].byte] = true;
		r = extend(c, i, s.n, c->tries[k].byte, k);
	}
	for (size_t k = 0; r == 0 && k < sizeof(a->bytes); k++) {
		uint8_t b = a->bytes[k];
		if (literal[b] || done[a->number[b]])
			continue;
		done[a->number[b]] = true;
		r = extend(c, i, s.n, b, OFF);
	}
	return r;
}

void ward_classes_until(struct ward_classes *c, uint64_t until_ns)
{
	c->until_ns = until_ns;
}

static bool is_over(const struct ward_classes *c)
{
	return c->until_ns && ward_clock_mono_ns() >= c->until_ns;
}

static bool in_bounds(const struct ward_classes *c)
{
	return !is_over(c) && c->steps < WARD_CLASSES_STEPS_MAX &&
	       c->work < WARD_CLASSES_WORK_MAX && c->positions.n < WARD_CLASSES_SETS_MAX &&
	       c->globs.n < WARD_CLASSES_SETS_MAX &&
	       c->positions.n_arena < WARD_CLASSES_POSITIONS_MAX &&
	       c->globs.n_arena < WARD_CLASSES_POSITIONS_MAX;
}

int ward_classes_find(struct ward_classes *c, bool *ret_whole)
{
	int r = ward_names_seal(c->names, 0);
	if (r < 0)
		return r;
	size_t room = ward_names_room(c->names);
	c->now = calloc(room, sizeof(*c->now));
	c->next = calloc(room, sizeof(*c->next));
	c->least = calloc(c->n_shown + 1, sizeof(*c->least));
	if (!c->now || !c->next || !c->least)
		return -ENOMEM;
	struct alphabet a;
	order_bytes(a.bytes);
	(void)ward_names_alphabet(c->names, a.number);
	uint32_t set = 0, i = 0;
	r = sets_add(&c->positions, c->now, ward_names_begin(c->names, c->now), &set);
	if (r == 0)
		r = push(c, 0, set, 0, 0);
	for (; r == 0 && i < c->n_items && in_bounds(c); i++) {
		r = keep_class(c, i);
		if (r == 0)
			r = children(c, i, &a);
	}
	if (r < 0)
		return r;
	for (size_t k = 0; k < c->n_classes; k++)
		c->classes[k].globs = c->globs.arena + c->globs.v[c->globs_of[k]].at;
	*ret_whole = i == c->n_items;
	return 0;
}

/* --- asking --- */

size_t ward_classes_count(const struct ward_classes *c)
{
	return c->n_classes;
}

const struct ward_class *ward_classes_at(const struct ward_classes *c, size_t i)
{
	return &c->classes[i];
}

const struct ward_class_component *ward_classes_pattern(
	const struct ward_classes *c, size_t i, size_t *ret_n)
{
	size_t end = i + 1 < c->n_patterns ? c->first[i + 1] : c->n_components;
	*ret_n = end - c->first[i];
	return c->components + c->first[i];
}

static bool has_glob(const struct ward_class *k, uint32_t id)
{
	size_t lo = 0, hi = k->n_globs;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (k->globs[mid] < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < k->n_globs && k->globs[lo] == id;
}

/* Is what matches a, a part of what matches b, and less? Of equal ones the first counts as less. */
static bool is_less(const struct ward_class *a, const struct ward_class *b)
{
	if (a->literal != WARD_NAMES_NO_LITERAL || a->n_globs > b->n_globs)
		return false;
	for (uint32_t i = 0; i < a->n_globs; i++)
		if (!has_glob(b, a->globs[i]))
			return false;
	return a->n_globs < b->n_globs || b->literal != WARD_NAMES_NO_LITERAL;
}

/* Is class i least? A literal makes no class less: those without, in `plain`, are compared. */
static bool is_least(
	const struct ward_classes *c, uint32_t i, const uint32_t *plain, size_t n_plain)
{
	for (size_t k = 0; k < n_plain; k++)
		if (is_less(&c->classes[plain[k]], &c->classes[i]))
			return false;
	return true;
}

/* v and plain have room for all classes; *ret_n of v are filled. */
static int fill_least(const struct ward_classes *c, const struct ward_class_component *of,
	uint32_t *plain, uint32_t *v, size_t *ret_n)
{
	size_t n_plain = 0;
	for (size_t i = 0; i < c->n_classes; i++)
		if (c->classes[i].literal == WARD_NAMES_NO_LITERAL &&
			(!of || has_glob(&c->classes[i], of->id)))
			plain[n_plain++] = (uint32_t)i;
	if (n_plain > LEAST_MAX)
		return -E2BIG;
	*ret_n = 0;
	for (size_t i = 0; i < c->n_classes; i++) {
		if (is_over(c))
			return -E2BIG;
		if ((!of || has_glob(&c->classes[i], of->id)) &&
			is_least(c, (uint32_t)i, plain, n_plain))
			v[(*ret_n)++] = (uint32_t)i;
	}
	return 0;
}

static int find_least(
	const struct ward_classes *c, const struct ward_class_component *of, struct least *ret)
{
	uint32_t *plain = calloc(c->n_classes + 1, sizeof(*plain));
	struct least l = {.v = calloc(c->n_classes + 1, sizeof(*l.v)), .known = true};
	int r = plain && l.v ? fill_least(c, of, plain, l.v, &l.n) : -ENOMEM;
	free(plain);
	if (r < 0)
		free(l.v);
	else
		*ret = l;
	return r;
}

int ward_classes_least(struct ward_classes *c, const struct ward_class_component *of,
	const uint32_t **ret, size_t *ret_n)
{
	struct least *l = &c->least[of ? 1 + of->id : 0];
	if (!l->known) {
		int r = find_least(c, of, l);
		if (r < 0)
			return r;
	}
	*ret = l->v;
	*ret_n = l->n;
	return 0;
}

void ward_classes_show(const struct ward_classes *c, size_t i, struct ward_buf *b)
{
	const struct ward_class *k = &c->classes[i];
	const char *one = "*";
	size_t n = 0;
	for (uint32_t g = 0; g < k->n_globs; g++) {
		const char *text = c->shown[k->globs[g]];
		if (strcmp(text, "*") == 0)
			continue;
		one = text;
		n++;
	}
	if (k->literal == WARD_NAMES_NO_LITERAL && n < 2)
		ward_buf_puts(b, one);
	else
		ward_pattern_quote(b, k->name, k->len);
}
