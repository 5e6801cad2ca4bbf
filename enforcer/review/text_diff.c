/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/review/text_diff.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "enforcer/base/cleanup.h"

/* Steps of one search for a middle; then the best that was found counts. */
#define COST_MAX 2048
/* Steps of all searches in a text, some seconds; what is left then counts as changed. */
#define STEPS_MAX ((uint64_t)1 << 29)
#define BINARY_LOOK 8000U

static bool is_long(const char *text, size_t len)
{
	size_t n = 0;
	for (const char *p = text, *end = text + len; p < end && n <= WARD_TEXT_LINES_MAX; n++) {
		p = memchr(p, '\n', (size_t)(end - p));
		p = p ? p + 1 : end;
	}
	return n > WARD_TEXT_LINES_MAX;
}

bool ward_text_is_binary(const char *text, size_t len)
{
	return len > WARD_TEXT_DIFF_MAX || (len && is_long(text, len)) ||
	       (len && memchr(text, 0, len < BINARY_LOOK ? len : BINARY_LOOK));
}

struct line {
	const char *p;
	size_t len;    /* with its line feed */
	uint32_t next; /* of the same hash, plus one */
	uint32_t class;
};

struct side {
	struct line *v;
	int n;
	bool *changed;
};

struct diff {
	struct side a, b;
	int *forward, *backward; /* how far each diagonal came; [-(m + 1), n + 1] */
	uint64_t steps;
	uint32_t seed; /* of the hash: nobody writes lines that all have the same one */
};

/* --- lines, and which are the same --- */

static int split(const char *text, size_t len, struct side *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < len; i++)
		n += text[i] == '\n' || i + 1 == len;
	ret->v = calloc(n + 1, sizeof(*ret->v));
	ret->changed = calloc(n + 1, sizeof(*ret->changed));
	if (!ret->v || !ret->changed)
		return -ENOMEM;
	ret->n = (int)n;
	for (size_t i = 0; i < n; i++) {
		const char *feed = memchr(text, '\n', len);
		ret->v[i].p = text;
		ret->v[i].len = feed ? (size_t)(feed - text) + 1 : len;
		text += ret->v[i].len;
		len -= ret->v[i].len;
	}
	return 0;
}

static uint32_t hash_line(const struct line *l, uint32_t seed)
{
	uint32_t h = 2166136261U ^ seed; /* FNV-1a */
	for (size_t i = 0; i < l->len; i++)
		h = (h ^ (unsigned char)l->p[i]) * 16777619U;
	return h ^ h >> 15;
}

static struct line *line_at(struct diff *d, uint32_t i)
{
	return i < (uint32_t)d->a.n ? &d->a.v[i] : &d->b.v[i - (uint32_t)d->a.n];
}

/* Lines of both sides with the same bytes get the same number. */
static int classify(struct diff *d)
{
	const uint32_t n = (uint32_t)d->a.n + (uint32_t)d->b.n;
	uint32_t size = 16;
	while (size < n)
		size *= 2;
	ward_cleanup_free uint32_t *heads = calloc(size, sizeof(*heads));
	if (!heads)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct line *l = line_at(d, i);
		uint32_t *head = &heads[hash_line(l, d->seed) & (size - 1)];
		uint32_t k = *head;
		for (; k; k = line_at(d, k - 1)->next) {
			const struct line *o = line_at(d, k - 1);
			if (o->len == l->len && memcmp(o->p, l->p, l->len) == 0)
				break;
		}
		l->class = k ? line_at(d, k - 1)->class : i;
		if (!k) {
			l->next = *head;
			*head = i + 1;
		}
	}
	return 0;
}

/* --- which lines differ --- */

struct box {
	int a0, a1, b0, b1;
};

static bool same(const struct diff *d, int x, int y)
{
	return d->a.v[x].class == d->b.v[y].class;
}

static int step_forward(const struct diff *d, const struct box *w, int k)
{
	int x = d->forward[k - 1] >= d->forward[k + 1] ? d->forward[k - 1] + 1 : d->forward[k + 1];
	while (x < w->a1 && x - k < w->b1 && x >= w->a0 && x - k >= w->b0 && same(d, x, x - k))
		x++;
	return x;
}

static int step_backward(const struct diff *d, const struct box *w, int k)
{
	int x = d->backward[k - 1] < d->backward[k + 1] ? d->backward[k - 1]
							: d->backward[k + 1] - 1;
	while (x > w->a0 && x - k > w->b0 && x <= w->a1 && x - k <= w->b1 &&
		same(d, x - 1, x - k - 1))
		x--;
	return x;
}

/* The diagonals of one round: it grows by one at each end that lies within the box, and shrinks
 * where it does not. What lies outside is made so that nobody comes from there. */
static void widen(int *v, int *low, int *high, int least, int most, int outside)
{
	if (*low > least)
		v[--*low - 1] = outside;
	else
		++*low;
	if (*high < most)
		v[++*high + 1] = outside;
	else
		--*high;
}

/* A point that the shortest way through the box leads by, or a good one. */
static void middle(struct diff *d, const struct box *w, int *ret_x, int *ret_y)
{
	const int least = w->a0 - w->b1, most = w->a1 - w->b0;
	const int fmid = w->a0 - w->b0, bmid = w->a1 - w->b1;
	const bool odd = (fmid - bmid) & 1;
	int flow = fmid, fhigh = fmid, blow = bmid, bhigh = bmid;
	d->forward[fmid] = w->a0;
	d->backward[bmid] = w->a1;
	for (int cost = 1;; cost++) {
		widen(d->forward, &flow, &fhigh, least, most, -1);
		for (int k = fhigh; k >= flow; k -= 2) {
			const int x = d->forward[k] = step_forward(d, w, k);
			if (odd && blow <= k && k <= bhigh && d->backward[k] <= x) {
				*ret_x = x;
				*ret_y = x - k;
				return;
			}
		}
		widen(d->backward, &blow, &bhigh, least, most, INT32_MAX);
		for (int k = bhigh; k >= blow; k -= 2) {
			const int x = d->backward[k] = step_backward(d, w, k);
			if (!odd && flow <= k && k <= fhigh && x <= d->forward[k]) {
				*ret_x = x;
				*ret_y = x - k;
				return;
			}
		}
		d->steps += (uint64_t)(fhigh - flow) + (uint64_t)(bhigh - blow) + 2;
		if (cost < COST_MAX && d->steps < STEPS_MAX)
			continue;
		int best = -1;
		for (int k = fhigh; k >= flow; k -= 2) {
			int x = d->forward[k] < w->a1 ? d->forward[k] : w->a1;
			if (x - k > w->b1)
				x = w->b1 + k;
			if (x >= w->a0 && x - k >= w->b0 && x + x - k > best) {
				best = x + x - k;
				*ret_x = x;
				*ret_y = x - k;
			}
		}
		return;
	}
}

static void mark(struct diff *d, struct box w)
{
	while (w.a0 < w.a1 && w.b0 < w.b1 && same(d, w.a0, w.b0)) {
		w.a0++;
		w.b0++;
	}
	while (w.a0 < w.a1 && w.b0 < w.b1 && same(d, w.a1 - 1, w.b1 - 1)) {
		w.a1--;
		w.b1--;
	}
	if (w.a0 < w.a1 && w.b0 < w.b1 && d->steps < STEPS_MAX) {
		int x = w.a0, y = w.b0;
		middle(d, &w, &x, &y);
		bool moves = (x > w.a0 || y > w.b0) && (x < w.a1 || y < w.b1);
		if (moves) {
			mark(d, (struct box){w.a0, x, w.b0, y});
			mark(d, (struct box){x, w.a1, y, w.b1});
			return;
		}
	}
	for (int i = w.a0; i < w.a1; i++)
		d->a.changed[i] = true;
	for (int i = w.b0; i < w.b1; i++)
		d->b.changed[i] = true;
}

/* --- as changes --- */

/* Bytes up to the line i, of which `at` are those up to the line `line`. */
static size_t bytes_to(const struct side *s, int *line, size_t *at, int i)
{
	for (; *line < i; ++*line)
		*at += s->v[*line].len;
	return *at;
}

static int collect(const struct diff *d, struct ward_text_change **ret, size_t *ret_n)
{
	struct ward_text_change *v = NULL;
	size_t n = 0, room = 0, a_at = 0, b_at = 0;
	int a_line = 0, b_line = 0;
	for (int x = 0, y = 0; x < d->a.n || y < d->b.n; x++, y++) {
		const int x0 = x, y0 = y;
		while (x < d->a.n && d->a.changed[x])
			x++;
		while (y < d->b.n && d->b.changed[y])
			y++;
		if (x == x0 && y == y0)
			continue;
		if (n == room) {
			room = room ? 2 * room : 16;
			struct ward_text_change *more = reallocarray(v, room, sizeof(*v));
			if (!more) {
				free(v);
				return -ENOMEM;
			}
			v = more;
		}
		struct ward_text_change *c = &v[n++];
		*c = (struct ward_text_change){.a_line = (size_t)x0,
			.a_lines = (size_t)(x - x0),
			.b_line = (size_t)y0,
			.b_lines = (size_t)(y - y0),
			.a_at = bytes_to(&d->a, &a_line, &a_at, x0),
			.b_at = bytes_to(&d->b, &b_line, &b_at, y0)};
		c->a_len = bytes_to(&d->a, &a_line, &a_at, x) - c->a_at;
		c->b_len = bytes_to(&d->b, &b_line, &b_at, y) - c->b_at;
	}
	*ret = v;
	*ret_n = n;
	return 0;
}

int ward_text_changes(const char *a, size_t a_len, const char *b, size_t b_len,
	struct ward_text_change **ret, size_t *ret_n)
{
	struct diff d = {.forward = NULL};
	int r = getrandom(&d.seed, sizeof(d.seed), 0) == (ssize_t)sizeof(d.seed) ? 0 : -EIO;
	if (r == 0)
		r = split(a, a_len, &d.a);
	if (r == 0)
		r = split(b, b_len, &d.b);
	if (r == 0)
		r = classify(&d);
	const size_t room = (size_t)d.a.n + (size_t)d.b.n + 5;
	int *forward = calloc(room, sizeof(*forward));
	int *backward = calloc(room, sizeof(*backward));
	if (r == 0 && forward && backward) {
		d.forward = forward + d.b.n + 2;
		d.backward = backward + d.b.n + 2;
		mark(&d, (struct box){0, d.a.n, 0, d.b.n});
		r = collect(&d, ret, ret_n);
	} else if (r == 0) {
		r = -ENOMEM;
	}
	free(forward);
	free(backward);
	free(d.a.v);
	free(d.a.changed);
	free(d.b.v);
	free(d.b.changed);
	return r;
}
