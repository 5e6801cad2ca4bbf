/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proofs of many records of a trail, in two walks: the first finds the records and so the nodes
 * that their proofs need, the second computes just these. Memory grows with the proofs, not with
 * the trail.
 */
#include "audit/verify/proof.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/lines.h"
#include "audit/query/query.h"
#include "enforcer/base/cleanup.h"

/* A node of one or more proofs: the root of leaves [from, to). */
struct wanted {
	uint64_t from;
	uint64_t to;
	uint8_t root[WARD_HASH_BYTES];
};

struct found {
	const struct ward_proof_want *want;
	uint64_t size;	 /* of the checkpoint */
	uint64_t lines;	 /* so far */
	uint64_t behind; /* records that are wanted and come after the checkpoint */
	uint64_t *seq;	 /* of the others, rising */
	size_t n;
	struct wanted *node; /* sorted, each once */
	size_t n_nodes;
	struct ward_merkle tree;
};

static void clear(struct found *f)
{
	free(f->seq);
	free(f->node);
}

/* The number of a record is its line's: what its text claims is verify's to judge. */
static int find_record(void *ctx, const char *line, size_t len, const json_t *record)
{
	struct found *f = ctx;
	const struct ward_proof_want *w = f->want;
	(void)line, (void)len;
	f->lines++;
	if (!record || (w->filter && !ward_filter_match(w->filter, record)) ||
		(w->names && !ward_file_names_match(w->names, record)))
		return 0;
	if (f->lines > f->size) {
		f->behind++;
		return 0;
	}
	if (f->n == WARD_PROOF_RECORDS_MAX)
		return -E2BIG;
	f->seq[f->n++] = f->lines;
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct wanted *x = a;
	const struct wanted *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static struct wanted *look_up(const struct found *f, uint64_t from, uint64_t to)
{
	const struct wanted key = {.from = from, .to = to};
	return bsearch(&key, f->node, f->n_nodes, sizeof(key), by_place);
}

static int plan_nodes(struct found *f)
{
	struct ward_merkle_plan plan;
	size_t n = 0;
	for (int fill = 0; fill < 2; fill++) {
		for (size_t i = 0; i < f->n; i++) {
			int r = ward_merkle_plan_inclusion(f->seq[i] - 1, f->size, &plan);
			if (r < 0)
				return r;
			if (!fill)
				n += plan.n;
			for (size_t k = 0; fill && k < plan.n; k++)
				f->node[f->n_nodes++] =
					(struct wanted){.from = plan.v[k].from, .to = plan.v[k].to};
		}
		if (!fill && !(f->node = calloc(n ? n : 1, sizeof(*f->node))))
			return -ENOMEM;
	}
	if (n == 0)
		return 0;
	qsort(f->node, n, sizeof(*f->node), by_place);
	f->n_nodes = 1;
	for (size_t i = 1; i < n; i++)
		if (by_place(&f->node[f->n_nodes - 1], &f->node[i]) != 0)
			f->node[f->n_nodes++] = f->node[i];
	return 0;
}

static void see(void *ctx, uint64_t from, uint64_t to, const uint8_t root[WARD_HASH_BYTES])
{
	struct wanted *w = look_up(ctx, from, to);
	if (w)
		memcpy(w->root, root, sizeof(w->root));
}

static int compute(struct ward_log *log, struct found *f, const struct ward_checkpoint *c)
{
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_lines_line text = {0};
	uint8_t h[WARD_HASH_BYTES];
	int r = ward_lines_open(&lines, log, 0);
	while (r == 0 && f->tree.n < f->size && (r = ward_lines_next(&lines, &text)) == 1) {
		r = 0;
		if (!text.whole)
			break;
		ward_merkle_leaf(text.p, text.len, h);
		ward_merkle_add_seen(&f->tree, h, see, f);
	}
	if (r < 0)
		return r;
	ward_merkle_root(&f->tree, h);
	if (f->tree.n != f->size || memcmp(h, c->root, sizeof(h)) != 0)
		return -EBADMSG;
	/* The part at the end of the tree that is no whole subtree. */
	for (size_t i = 0; i < f->n_nodes; i++) {
		const uint64_t leaves = f->node[i].to - f->node[i].from;
		if (f->node[i].to == f->size && (leaves & (leaves - 1)) != 0)
			ward_merkle_tail(&f->tree, f->node[i].from, f->node[i].root);
	}
	return 0;
}

static int put_one(struct found *f, size_t i, const struct ward_lines_line *text,
	const struct ward_checkpoint_list *notes, size_t at, struct ward_buf *b)
{
	uint8_t path[WARD_PROOF_MAX][WARD_HASH_BYTES];
	struct ward_merkle_plan plan;
	int r = ward_merkle_plan_inclusion(f->seq[i] - 1, f->size, &plan);
	for (size_t k = 0; r == 0 && k < plan.n; k++) {
		const struct wanted *w = look_up(f, plan.v[k].from, plan.v[k].to);
		if (!w)
			return -EBADMSG;
		memcpy(path[k], w->root, sizeof(path[k]));
	}
	if (r < 0 || !f->want->pairs) {
		if (r == 0)
			ward_proof_put(b, f->seq[i], text->p, text->len, path, plan.n, notes, at);
		return r;
	}
	ward_cleanup(ward_buf_clear) struct ward_buf proof = WARD_BUF_INIT;
	ward_proof_put(&proof, f->seq[i], text->p, text->len, path, plan.n, notes, at);
	ward_buf_puts(b, "{\"record\":");
	ward_buf_add(b, text->p, text->len);
	ward_buf_puts(b, ",\"proof\":\"");
	/* Base64, names and digits, one dash: nothing but the ends of lines needs escaping. */
	for (size_t k = 0; k < proof.len; k++) {
		if (proof.data[k] == '\n')
			ward_buf_puts(b, "\\n");
		else
			ward_buf_putc(b, proof.data[k]);
	}
	ward_buf_puts(b, "\"}\n");
	return ward_buf_error(&proof);
}

static int put_all(struct ward_log *log, struct found *f, const struct ward_checkpoint_list *notes,
	size_t at, struct ward_buf *b)
{
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_lines_line text = {0};
	int r = ward_lines_open(&lines, log, 0);
	uint64_t line = 0;
	for (size_t i = 0; r == 0 && i < f->n;) {
		r = ward_lines_next(&lines, &text);
		if (r <= 0 || !text.whole)
			return r < 0 ? r : -EBADMSG;
		r = ++line == f->seq[i] ? put_one(f, i++, &text, notes, at, b) : 0;
	}
	return r;
}

/* The nodes, then the text. */
static int make(struct ward_log *log, struct found *f, const struct ward_checkpoint_list *notes,
	size_t at, struct ward_buf *ret)
{
	int r = plan_nodes(f);
	if (r == 0)
		r = compute(log, f, &notes->v[at]);
	if (r == 0)
		r = put_all(log, f, notes, at, ret);
	return r == 0 ? ward_buf_error(ret) : r;
}

int ward_prove_records(struct ward_log *log, const struct ward_checkpoint_list *notes,
	const struct ward_proof_want *want, struct ward_buf *ret, size_t *ret_n,
	uint64_t *ret_behind, struct ward_err *err)
{
	ward_cleanup(clear) struct found f = {.want = want};
	size_t at = 0;
	int r = ward_proof_choose(notes, want->size, &at, err);
	if (r < 0)
		return r;
	f.size = notes->v[at].size;
	f.seq = calloc(WARD_PROOF_RECORDS_MAX, sizeof(*f.seq));
	if (!f.seq)
		return ward_err_sys(err, -ENOMEM, "proof");
	r = ward_query_walk(log, true, find_record, &f, err);
	if (r == -E2BIG)
		return ward_err_set(err, r,
			"more than %d records: prove fewer at a time, or take a bundle",
			WARD_PROOF_RECORDS_MAX);
	if (r < 0)
		return r;
	if (f.n == 0)
		return ward_err_set(err, -ENOMSG,
			"none of the %" PRIu64 " records of the checkpoint is %s", f.size,
			want->names ? "of this file" : "asked for");
	r = make(log, &f, notes, at, ret);
	if (r == -EBADMSG)
		return ward_err_set(err, r,
			"the trail is not that of its checkpoint of %" PRIu64
			" records; run 'wardfs audit verify'",
			f.size);
	if (r < 0)
		return ward_err_sys(err, r, "proof");
	*ret_n = f.n;
	*ret_behind = f.behind;
	return 0;
}
