/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trie in words of 8 bytes:
 *
 *   node    [index of its table << 32 | length of its label << 16 | lowest byte of the table << 8
 *           | how far the highest one is from it], then the label: bytes from the least
 *           significant one on, the last word filled with zeros
 *   table   a word for each byte from the lowest to the highest: 0, or the first 5 bytes of the
 *           node's label << 24 (0 where it has fewer) | index of the node
 *
 * A node without a table (index 0) is the end of a beginning. The root is at index 0, so no table
 * leads to it. A reader may take words of two turns for one trie. So each index is cut to the room,
 * which is a power of two; and each step takes a byte of the path, so it ends.
 */
#include "enforcer/policy/grant_near.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"

#define ROOM_MIN 64
/* An index of a node has so many bits in a table; behind them are first bytes of its label. */
#define INDEX_BITS 24
#define INDEX_MASK ((UINT64_C(1) << INDEX_BITS) - 1)
#define FIRST_BYTES 5
static_assert(INDEX_BITS + 8 * FIRST_BYTES == 64, "a word");
/* What is behind this of a beginning does not count. */
#define LABEL_MAX UINT16_MAX

struct ward_grant_near_words {
	struct ward_grant_near_words *older;
	size_t room; /* a power of two */
	_Atomic uint64_t v[];
};

/* --- reading --- */

/* The words as one reader sees them. */
struct view {
	const _Atomic uint64_t *v;
	uint64_t mask;
};

/*
 * Acquire: the look at `turn` afterwards comes afterwards. That costs nothing on x86, and a fence
 * would be invisible to the thread sanitizer.
 */
static inline uint64_t word(struct view w, uint64_t i)
{
	return atomic_load_explicit(&w.v[i & w.mask], memory_order_acquire);
}

/* n bytes of p (1 to 8) as a word, the first one least significant. Reads nothing behind them. */
static inline uint64_t load(const char *p, size_t n)
{
	uint64_t all;
	uint32_t lo, hi;
	if (n == 8) {
		memcpy(&all, p, 8);
		return le64toh(all);
	}
	if (n >= 4) {
		memcpy(&lo, p, 4);
		memcpy(&hi, p + n - 4, 4);
		return le32toh(lo) | (uint64_t)le32toh(hi) << (n - 4) * 8;
	}
	all = (uint8_t)p[0] | (uint64_t)(uint8_t)p[n - 1] << (n - 1) * 8;
	return n == 3 ? all | (uint64_t)(uint8_t)p[1] << 8 : all;
}

/*
 * Does the label at index `at` agree with the left bytes of p, in its first `size` bytes? Where p
 * goes on, a whole word is read of it: that is one load, without a branch for each length.
 */
static inline bool agrees(struct view w, uint64_t at, const char *p, size_t left, size_t size)
{
	for (; size >= 8; size -= 8, left -= 8, p += 8)
		if (load(p, 8) != word(w, at++))
			return false;
	if (!size)
		return true;
	const uint64_t has = __builtin_expect(left >= 8, 1) ? load(p, 8) : load(p, size);
	return !((has ^ word(w, at)) << (64 - size * 8));
}

static bool look(struct view w, const char *path, size_t len)
{
	uint64_t node = 0;
	for (;;) {
		const uint64_t head = word(w, node);
		const size_t size = (uint16_t)(head >> 16);
		if (!agrees(w, node + 1, path, len, size < len ? size : len))
			return false;
		if (size >= len || !(head >> 32))
			return true;
		/* Below the lowest one it is beyond the others: bytes turn over. */
		const uint8_t beyond = (uint8_t)((uint8_t)path[size] - (uint8_t)(head >> 8));
		if (beyond > (uint8_t)head)
			return false;
		const uint64_t entry = word(w, (head >> 32) + beyond);
		if (!entry)
			return false;
		path += size + 1;
		len -= size + 1;
		if (!len)
			return true;
		/* Most paths part from a beginning there, without a look at its node. */
		const uint64_t begins = entry >> INDEX_BITS;
		if (__builtin_expect(len >= 8, 1) && begins &&
			(load(path, 8) ^ begins) << INDEX_BITS)
			return false;
		node = entry & INDEX_MASK;
	}
}

bool ward_grant_near(const struct ward_grant_near *t, const char *path, size_t len)
{
	const uint64_t turn = atomic_load_explicit(&t->turn, memory_order_acquire);
	const struct ward_grant_near_words *w =
		atomic_load_explicit(&t->words, memory_order_acquire);
	if (!w)
		return turn & 1;
	return turn & 1 || look((struct view){w->v, w->room - 1}, path, len) ||
	       atomic_load_explicit(&t->turn, memory_order_acquire) != turn;
}

/* --- writing --- */

/* The beginning without wildcards, in the spelling of a path. */
static int beginning(const struct ward_pattern *p, struct ward_buf *ret)
{
	bool literal = true;
	for (size_t i = 0; literal && i < p->n && !p->components[i].loop; i++) {
		const struct ward_component *c = &p->components[i];
		ward_buf_putc(ret, '/');
		for (size_t k = 0; literal && k < c->n; k++) {
			const struct ward_glob_elem *e = &p->elems[c->first + k];
			literal = e->kind == WARD_GLOB_BYTE;
			if (literal)
				ward_buf_putc(ret, (char)e->byte);
		}
	}
	if (!ret->len)
		ward_buf_putc(ret, '/');
	if (ret->len > LABEL_MAX)
		ret->len = LABEL_MAX;
	return ward_buf_error(ret);
}

static int by_bytes(const void *a, const void *b)
{
	const struct ward_buf *l = a, *r = b;
	const size_t both = l->len < r->len ? l->len : r->len;
	const int d = memcmp(l->data, r->data, both);
	return d ? d : (l->len > r->len) - (l->len < r->len);
}

/* Sorts, and drops what has another one as its beginning. Returns how many are left. */
static size_t without_longer(struct ward_buf *v, size_t n)
{
	size_t left = 0;
	if (n > 0)
		qsort(v, n, sizeof(*v), by_bytes);
	for (size_t i = 0; i < n; i++) {
		const struct ward_buf *last = left ? &v[left - 1] : NULL;
		if (last && last->len <= v[i].len && memcmp(last->data, v[i].data, last->len) == 0)
			continue;
		const struct ward_buf swap = v[left];
		v[left++] = v[i];
		v[i] = swap;
	}
	return left;
}

/* A node whose table is to be written: the texts [lo, hi) agree in their first `same` bytes. */
struct todo {
	size_t lo, hi, same, node;
};

struct trie {
	struct ward_buf *v;
	uint64_t *words; /* owned */
	size_t n, room;
	struct todo *todo; /* owned */
	size_t n_todo;
};

/* Index of n more words, all zero; SIZE_MAX: no memory. */
static size_t take(struct trie *t, size_t n)
{
	const size_t at = t->n;
	while (t->room - t->n < n) {
		const size_t room = t->room ? t->room * 2 : ROOM_MIN;
		uint64_t *more =
			room <= INDEX_MASK + 1 ? reallocarray(t->words, room, sizeof(*more)) : NULL;
		if (!more)
			return SIZE_MAX;
		t->words = more;
		t->room = room;
	}
	memset(t->words + at, 0, n * sizeof(*t->words));
	t->n += n;
	return at;
}

/*
 * The node of the texts [lo, hi), of which the first `skip` bytes led to it, with its label. Its
 * index; SIZE_MAX: no memory.
 */
static size_t write_node(struct trie *t, size_t lo, size_t hi, size_t skip)
{
	const char *first = t->v[lo].data, *last = t->v[hi - 1].data;
	size_t same = t->v[lo].len;
	/* No text is the beginning of another one, so they differ before either ends. */
	if (hi - lo > 1)
		for (same = skip; first[same] == last[same];)
			same++;
	const size_t size = same - skip, node = take(t, 1 + (size + 7) / 8);
	if (node == SIZE_MAX)
		return node;
	t->words[node] = (uint64_t)size << 16;
	for (size_t i = 0; i < size; i++)
		t->words[node + 1 + i / 8] |= (uint64_t)(uint8_t)first[skip + i] << i % 8 * 8;
	if (hi - lo > 1)
		t->todo[t->n_todo++] =
			(struct todo){.lo = lo, .hi = hi, .same = same, .node = node};
	return node;
}

static int write_table(struct trie *t, const struct todo *d)
{
	const size_t at = d->same;
	const uint8_t low = (uint8_t)t->v[d->lo].data[at];
	const uint8_t high = (uint8_t)t->v[d->hi - 1].data[at];
	const size_t table = take(t, (size_t)(high - low) + 1);
	if (table == SIZE_MAX)
		return -ENOMEM;
	t->words[d->node] |= (uint64_t)table << 32 | (uint64_t)low << 8 | (uint8_t)(high - low);
	for (size_t lo = d->lo, hi; lo < d->hi; lo = hi) {
		const uint8_t c = (uint8_t)t->v[lo].data[at];
		for (hi = lo + 1; hi < d->hi && (uint8_t)t->v[hi].data[at] == c;)
			hi++;
		const size_t node = write_node(t, lo, hi, at + 1);
		if (node == SIZE_MAX)
			return -ENOMEM;
		uint64_t begins = 0;
		if ((uint16_t)(t->words[node] >> 16) >= FIRST_BYTES)
			begins = t->words[node + 1] << INDEX_BITS;
		t->words[table + (size_t)(c - low)] = begins | node;
	}
	return 0;
}

/* n > 0 texts, sorted, none the beginning of another one. */
static int write_trie(struct trie *t, size_t n)
{
	/* A node with a table has two ways at least: there are fewer of them than texts. */
	t->todo = calloc(n, sizeof(*t->todo));
	if (!t->todo || write_node(t, 0, n, 0) == SIZE_MAX)
		return -ENOMEM;
	int r = 0;
	for (size_t i = 0; r == 0 && i < t->n_todo; i++)
		r = write_table(t, &t->todo[i]);
	return r;
}

/* Room for n words; *ret may be what is read now. */
static int room_for(struct ward_grant_near *t, size_t n, struct ward_grant_near_words **ret)
{
	struct ward_grant_near_words *w = atomic_load_explicit(&t->words, memory_order_relaxed);
	size_t room = ROOM_MIN;
	*ret = w;
	if (w && w->room >= n)
		return 0;
	while (room < n)
		room *= 2;
	*ret = calloc(1, sizeof(**ret) + room * sizeof((*ret)->v[0]));
	if (!*ret)
		return -ENOMEM;
	(*ret)->older = w;
	(*ret)->room = room;
	return 0;
}

static int publish(struct ward_grant_near *t, const struct trie *from)
{
	const uint64_t turn = atomic_load_explicit(&t->turn, memory_order_relaxed);
	struct ward_grant_near_words *w;
	int r = room_for(t, from->n, &w);
	if (r < 0)
		return r;
	atomic_store_explicit(&t->turn, turn + 1, memory_order_relaxed);
	atomic_store_explicit(&t->words, w, memory_order_release);
	/* Release: who reads one of these words sees the odd turn afterwards. */
	for (size_t i = 0; i < from->n; i++)
		atomic_store_explicit(&w->v[i], from->words[i], memory_order_release);
	atomic_store_explicit(&t->turn, turn + 2, memory_order_release);
	return 0;
}

int ward_grant_near_set(struct ward_grant_near *t, const struct ward_pattern *patterns, size_t n)
{
	struct trie trie = {.n = 0};
	struct ward_buf *v = calloc(n + 1, sizeof(*v));
	int r = v ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = beginning(&patterns[i], &v[i]);
	if (r == 0 && n == 0) {
		/* A beginning that no path has. */
		ward_buf_putc(&v[0], '\0');
		r = ward_buf_error(&v[0]);
	}
	trie.v = v;
	if (r == 0)
		r = write_trie(&trie, n ? without_longer(v, n) : 1);
	if (r == 0)
		r = publish(t, &trie);
	for (size_t i = 0; v && i < n + 1; i++)
		ward_buf_clear(&v[i]);
	free(v);
	free(trie.words);
	free(trie.todo);
	return r;
}

void ward_grant_near_clear(struct ward_grant_near *t)
{
	struct ward_grant_near_words *w = atomic_load(&t->words);
	while (w) {
		struct ward_grant_near_words *older = w->older;
		free(w);
		w = older;
	}
	atomic_store(&t->words, NULL);
	atomic_store(&t->turn, 0);
}
