/* SPDX-License-Identifier: Apache-2.0 */
/* Verifies a trail with a public key alone. */
#include "audit/verify/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/log/lines.h"
#include "audit/log/damage.h"
#include "enforcer/base/cleanup.h"

/* A line behind the last checkpoint that holds. */
struct claim {
	uint64_t seq; /* 0: not one of this session's lines */
	uint8_t leaf[WARD_HASH_BYTES];
};

struct walk {
	const struct ward_checkpoint_list *notes;
	const char *session;
	struct ward_merkle tree;
	size_t next;		 /* checkpoints that hold */
	struct ward_merkle held; /* the tree where the last of them was met */
	uint64_t held_offset;	 /* and where the next line begins */
	uint64_t lines;		 /* in their form, in order */
	uint64_t gaps;		 /* among the covered */
	uint64_t gaps_held;
	bool bad;
	uint64_t torn;
	bool torn_whole; /* a whole record, but for its newline */
};

static const struct ward_checkpoint *last_note(const struct walk *w)
{
	return &w->notes->v[w->notes->n - 1];
}

static void meet(struct walk *w, uint64_t offset)
{
	uint8_t root[WARD_HASH_BYTES];
	while (!w->bad && w->next < w->notes->n && w->notes->v[w->next].size == w->tree.n) {
		ward_merkle_root(&w->tree, root);
		w->bad = memcmp(root, w->notes->v[w->next].root, sizeof(root)) != 0;
		if (w->bad)
			return;
		w->next++;
		w->held = w->tree;
		w->held_offset = offset;
		w->gaps_held = w->gaps;
	}
}

/*
 * Without a mac to tell: two lines whose newline was changed look like one. No string in a record
 * has a quote that is not escaped.
 */
static bool parse(const struct walk *w, const struct ward_lines_line *text, struct ward_line *ret)
{
	static const char begin[] = "{\"v\":1,\"seq\":";
	return ward_line_parse(text->p, text->len, ret) == 0 && ward_line_of(ret, w->session) &&
	       !memmem(ret->rest, ret->rest_len, begin, sizeof(begin) - 1);
}

static void take(struct walk *w, const struct ward_lines_line *text)
{
	struct ward_line l;
	uint8_t leaf[WARD_HASH_BYTES];
	bool form = parse(w, text, &l) && l.seq == w->lines + 1;
	if (!text->whole && text->len < WARD_LINE_MAX) {
		w->torn = text->len;
		/* Its newline is missing, or something else stands in its place. */
		struct ward_lines_line shorter = *text;
		shorter.len--;
		w->torn_whole = form || (parse(w, &shorter, &l) && l.seq == w->lines + 1);
		return;
	}
	if (!text->whole || !form) {
		w->bad = true;
		return;
	}
	ward_merkle_leaf(text->p, text->len, leaf);
	ward_merkle_add(&w->tree, leaf);
	w->lines++;
	w->gaps += ward_line_is(&l, "gap");
	meet(w, text->offset + text->len + 1);
}

/* --- behind the last checkpoint that holds --- */

struct claims {
	struct claim *v; /* in the order of the file */
	size_t n;
	bool edited;
	bool zeros;
	char why[WARD_DAMAGE_TEXT_MAX]; /* of the first line that has a block of them */
};

static int load(const struct walk *w, struct ward_log *log, struct claims *c)
{
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_lines_line text = {0};
	size_t cap = 0;
	int r = ward_lines_open(&lines, log, w->held_offset);
	uint64_t limit =
		last_note(w)->state == WARD_CHECKPOINT_OPEN ? UINT64_MAX : last_note(w)->size;
	while (r == 0 && c->n < WARD_VERIFY_WINDOW && (r = ward_lines_next(&lines, &text)) == 1) {
		struct ward_line l;
		r = 0;
		if (!text.whole && text.len < WARD_LINE_MAX)
			break;
		if (c->n == cap) {
			cap = cap ? 2 * cap : 256;
			struct claim *v = reallocarray(c->v, cap, sizeof(*v));
			if (!v)
				return -ENOMEM;
			c->v = v;
		}
		struct claim *x = &c->v[c->n++];
		*x = (struct claim){0};
		if (!c->zeros)
			c->zeros = ward_damage_tell(log, &text, w->held.n + c->n, c->why);
		if (!text.whole || !parse(w, &text, &l) || l.seq <= w->held.n || l.seq > limit) {
			c->edited = true;
			continue;
		}
		x->seq = l.seq;
		ward_merkle_leaf(text.p, text.len, x->leaf);
	}
	return r;
}

static int by_seq(const void *a, const void *b)
{
	const struct claim *x = a;
	const struct claim *y = b;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* In the order of seq, do the lines have the root of the first checkpoint that fails? */
static bool sorted_holds(const struct walk *w, const struct claims *c)
{
	struct ward_merkle t = w->held;
	const struct ward_checkpoint *k = &w->notes->v[w->next];
	uint8_t root[WARD_HASH_BYTES];
	for (size_t i = 0; i < c->n && t.n < k->size; i++)
		ward_merkle_add(&t, c->v[i].leaf);
	ward_merkle_root(&t, root);
	return t.n == k->size && memcmp(root, k->root, sizeof(root)) == 0;
}

static void judge_claims(const struct walk *w, struct claims *c, struct ward_verify_result *ret)
{
	uint64_t from = w->held.n + 1;
	uint64_t first = from; /* the first that is not at its place */
	uint64_t missing = 0;
	bool ordered = true;
	for (size_t i = 0; i < c->n; i++) {
		ordered &= i == 0 || c->v[i].seq > c->v[i - 1].seq;
		if (first == from + i && c->v[i].seq == first)
			first++;
	}
	if (first == from + c->n)
		first = from; /* each is: unknown which of them was changed */
	if (c->n > 0)
		qsort(c->v, c->n, sizeof(*c->v), by_seq);
	for (size_t i = 0; i < c->n && !c->edited; i++) {
		c->edited = i > 0 && c->v[i].seq == c->v[i - 1].seq;
		if (!missing && c->v[i].seq != from + i)
			missing = from + i;
	}
	if (c->edited || (missing && !ordered))
		ward_verify_say(ret, WARD_VERIFY_EDITED, first, "%s",
			c->zeros ? c->why : "a line was changed or added");
	else if (missing)
		ward_verify_say(ret, WARD_VERIFY_DELETED, missing,
			"record %" PRIu64 " is missing%s%s", missing, c->zeros ? ": " : "",
			c->zeros ? c->why : "");
	else if (!ordered && w->next < w->notes->n && sorted_holds(w, c))
		ward_verify_say(ret, WARD_VERIFY_REORDERED, first,
			"the records are all there, in another order");
	else if (w->next < w->notes->n) {
		const uint64_t to = w->notes->v[w->next].size;
		ret->among = to > from;
		ward_verify_say(ret, WARD_VERIFY_EDITED, first,
			ret->among ? "one of the records %" PRIu64 " to %" PRIu64 " was changed"
				   : "it was changed",
			from, to);
	} else
		ward_verify_say(ret, WARD_VERIFY_EDITED, first,
			"a line behind the last checkpoint is not one that the writer writes");
}

static void judge_end(const struct walk *w, struct ward_verify_result *ret)
{
	const struct ward_checkpoint *last = last_note(w);
	bool closed = last->state != WARD_CHECKPOINT_OPEN;
	if (w->next < w->notes->n && w->torn_whole && w->lines + 1 == last->size)
		ward_verify_say(ret, WARD_VERIFY_EDITED, w->lines + 1,
			"line %" PRIu64 " has no end", w->lines + 1);
	else if (w->next < w->notes->n)
		ward_verify_say(ret, WARD_VERIFY_TRUNCATED, w->lines + 1,
			"%" PRIu64 " of %" PRIu64 " records", w->lines, last->size);
	else if (closed && w->torn)
		ward_verify_say(ret, WARD_VERIFY_EDITED, w->lines + 1,
			"something was added behind the end");
	else if (w->lines > last->size)
		ward_verify_say(ret, WARD_VERIFY_INCOMPLETE, 0,
			"%" PRIu64 " records behind the last checkpoint cannot be judged",
			w->lines - last->size);
	else if (last->state != WARD_CHECKPOINT_COMPLETE)
		ward_verify_say(ret, WARD_VERIFY_INCOMPLETE, 0, "%s",
			closed ? "the session did not end regularly"
			       : "there is no last checkpoint");
	else if (w->gaps_held > 0)
		ward_verify_say(ret, WARD_VERIFY_GAP, 0, "%" PRIu64 " record%s of a gap",
			w->gaps_held, w->gaps_held == 1 ? " tells" : "s tell");
	else
		ret->state = WARD_VERIFY_INTACT;
}

int ward_verify_public(struct ward_log *log, const struct ward_checkpoint_list *notes,
	const struct ward_public_key *keys, size_t n_keys, struct ward_verify_result *ret,
	struct ward_err *err)
{
	struct ward_verify_result res = {0};
	struct walk w = {.notes = notes};
	struct claims c = {0};
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_lines_line text = {0};
	ward_verify_notes(notes, NULL, keys, n_keys, &res);
	if (res.state != WARD_VERIFY_INTACT) {
		*ret = res;
		return 0;
	}
	w.session = notes->v[0].session;
	int r = ward_lines_open(&lines, log, 0);
	if (r == 0)
		meet(&w, 0);
	while (r == 0 && !w.bad && (r = ward_lines_next(&lines, &text)) == 1) {
		r = 0;
		take(&w, &text);
	}
	if (r == 0 && w.bad) {
		r = load(&w, log, &c);
		if (r == 0)
			judge_claims(&w, &c, &res);
		free(c.v);
	} else if (r == 0) {
		judge_end(&w, &res);
	}
	if (r < 0)
		return ward_err_sys(err, r, "log");
	if (res.state == WARD_VERIFY_DELETED || res.state == WARD_VERIFY_TRUNCATED)
		ward_verify_name_segment(log, &res);
	res.records = w.held.n;
	res.gaps = w.gaps_held;
	*ret = res;
	return 0;
}
