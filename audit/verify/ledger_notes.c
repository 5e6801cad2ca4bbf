/* SPDX-License-Identifier: Apache-2.0 */
/* Holds the lines of the ledger against its checkpoints. */
#include "audit/verify/ledger_notes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/zeros.h"
#include "audit/write/checkpoint.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

void ward_ledger_notes_clear(struct ward_ledger_notes *n)
{
	ward_buf_clear(&n->text);
	free(n->v);
	free(n->offset);
	*n = (struct ward_ledger_notes){0};
}

int ward_ledger_notes_add(struct ward_ledger_notes *n, const struct ward_tlog_note *note, size_t at)
{
	if ((n->n & (n->n - 1)) == 0) {
		size_t room = n->n ? 2 * n->n : 1;
		struct ward_tlog_note *v = reallocarray(n->v, room, sizeof(*v));
		n->v = v ? v : n->v;
		size_t *offset = reallocarray(n->offset, room, sizeof(*offset));
		n->offset = offset ? offset : n->offset;
		if (!v || !offset)
			return -ENOMEM;
	}
	n->offset[n->n] = at;
	n->v[n->n++] = *note;
	return 0;
}

int ward_ledger_notes_read(int fd, struct ward_ledger_notes *ret)
{
	return ward_ledger_notes_read_from(fd, 0, ret);
}

int ward_ledger_notes_read_from(int fd, uint64_t from, struct ward_ledger_notes *ret)
{
	struct ward_ledger_notes n = {.text = {.max = WARD_LEDGER_NOTES_MAX + 1}};
	int r = fd >= 0 && from > 0 && lseek(fd, (off_t)from, SEEK_SET) < 0 ? -errno : 0;
	if (r == 0 && fd >= 0)
		r = ward_fd_read_all(fd, WARD_LEDGER_NOTES_MAX, &n.text);
	n.rest = n.text.len;
	n.zeros = n.text.len - ward_before_zeros(n.text.data, n.text.len);
	while (r == 0 && n.rest > n.zeros) {
		struct ward_tlog_note note;
		size_t at = n.text.len - n.rest;
		int bad = ward_tlog_parse(n.text.data + at, n.rest - n.zeros, &note);
		if (bad < 0)
			break;
		r = ward_ledger_notes_add(&n, &note, at);
		n.rest -= note.len;
	}
	if (r < 0) {
		ward_ledger_notes_clear(&n);
		return r;
	}
	*ret = n;
	return 0;
}

void ward_ledger_notes_resume(struct ward_ledger_notes *n, const struct ward_merkle *tree)
{
	uint8_t root[WARD_HASH_BYTES];
	n->tree = n->from = *tree;
	ward_merkle_root(tree, root);
	while (n->met < n->n && n->v[n->met].size <= tree->n) {
		n->mismatch = n->v[n->met].size == tree->n &&
			      memcmp(root, n->v[n->met].root, sizeof(root)) != 0;
		if (n->mismatch)
			return;
		n->matched = n->v[n->met++].size;
	}
	if (n->met < n->n &&
		ward_merkle_plan_consistency(tree->n, n->v[n->n - 1].size, &n->plan) < 0)
		n->inconsistent = true;
}

/* A whole subtree of what is new: perhaps a node of the proof. */
static void seen(void *ctx, uint64_t from, uint64_t to, const uint8_t root[WARD_HASH_BYTES])
{
	struct ward_ledger_notes *n = ctx;
	for (size_t i = 0; i < n->plan.n; i++)
		if (n->plan.v[i].from == from && n->plan.v[i].to == to)
			memcpy(n->path[i], root, WARD_HASH_BYTES);
}

/*
 * All leaves of the last checkpoint are there. The nodes of the earlier tree are whole subtrees of
 * it. Of those that end with the last leaf a whole one was seen: by now the tree may have taken it
 * into a larger one.
 */
static void check_consistency(struct ward_ledger_notes *n)
{
	const struct ward_tlog_note *last = &n->v[n->n - 1];
	uint8_t first[WARD_HASH_BYTES];
	for (size_t i = 0; i < n->plan.n; i++) {
		const struct ward_merkle_range *x = &n->plan.v[i];
		if (x->to <= n->from.n)
			memcpy(n->path[i], n->from.h[__builtin_ctzll(x->to - x->from)],
				WARD_HASH_BYTES);
		else if (x->to == last->size && (x->to - x->from) & (x->to - x->from - 1))
			ward_merkle_tail(&n->tree, x->from, n->path[i]);
	}
	ward_merkle_root(&n->from, first);
	n->inconsistent = !ward_merkle_check_consistency(n->from.n, first, last->size, last->root,
		(const uint8_t(*)[WARD_HASH_BYTES])n->path, n->plan.n);
}

void ward_ledger_notes_line(struct ward_ledger_notes *n, const char *line, size_t len)
{
	uint8_t hash[WARD_HASH_BYTES];
	ward_merkle_leaf(line, len, hash);
	ward_merkle_add_seen(&n->tree, hash, n->from.n ? seen : NULL, n);
	if (n->from.n && n->met < n->n && n->tree.n == n->v[n->n - 1].size)
		check_consistency(n);
	while (!n->mismatch && n->met < n->n && n->v[n->met].size <= n->tree.n) {
		ward_merkle_root(&n->tree, hash);
		n->mismatch = n->v[n->met].size < n->tree.n ||
			      memcmp(hash, n->v[n->met].root, sizeof(hash)) != 0;
		if (n->mismatch)
			return;
		n->matched = n->tree.n;
		n->met++;
	}
}

/* The file by itself: form, origin, order, and who signed the first and the last one. */
static void judge_file(const struct ward_ledger_notes *n, const struct ward_note_key *key,
	struct ward_verify_result *ret)
{
	const size_t torn = n->rest - n->zeros;
	if (torn > 0 && !ward_tlog_torn(n->text.data + n->text.len - n->rest, torn, key)) {
		ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
			"the text after the ledger's checkpoint %zu is not a checkpoint", n->n);
		return;
	}
	for (size_t i = 0; i < n->n; i++) {
		bool ends = i == 0 || i == n->n - 1;
		if (strcmp(n->v[i].origin, key->name) != 0) {
			ward_verify_say(ret, WARD_VERIFY_FOREIGN, 0,
				"the ledger's checkpoint %zu is of another log: %s", i + 1,
				n->v[i].origin);
			return;
		}
		if (n->v[i].size == 0 || (i > 0 && n->v[i].size <= n->v[i - 1].size)) {
			ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
				"the ledger's checkpoint %zu covers no more than the one before it",
				i + 1);
			return;
		}
		if (ends && ward_tlog_check(&n->v[i], n->text.data + n->offset[i], key, NULL) !=
				    WARD_TLOG_GOOD) {
			ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
				"the ledger's checkpoint %zu is not signed by its key", i + 1);
			return;
		}
	}
}

static void judge(const struct ward_ledger_notes *n, const struct ward_note_key *key,
	const struct ward_ledger_view *v, struct ward_verify_result *ret)
{
	judge_file(n, key, ret);
	if (ret->state != WARD_VERIFY_INTACT)
		return;
	if (n->mismatch)
		ward_verify_say(ret, WARD_VERIFY_EDITED, n->matched + 1,
			"the entries are not those of the ledger's checkpoint %zu", n->met + 1);
	else if (n->inconsistent)
		ward_verify_say(ret, WARD_VERIFY_EDITED, n->from.n + 1,
			"the %" PRIu64
			" entries that were verified before are not the beginning of "
			"those of its last checkpoint",
			n->from.n);
	else if (n->met < n->n)
		ward_verify_say(ret, WARD_VERIFY_TRUNCATED, n->tree.n + 1,
			"its last checkpoint covers %" PRIu64 " entries, and there are %" PRIu64,
			n->v[n->n - 1].size, n->tree.n);
	else if (v->claimed > v->covered_to)
		ward_verify_say(ret, WARD_VERIFY_DELETED, 0,
			"an entry names a checkpoint over %" PRIu64 " entries, which is missing",
			v->claimed);
}

void ward_ledger_notes_judge(
	struct ward_ledger_notes *n, const uint8_t root[WARD_KEY_BYTES], struct ward_ledger_view *v)
{
	struct ward_verify_result r = {.state = WARD_VERIFY_INTACT};
	struct ward_tlog_key key;
	ward_tlog_key_derive(root, &key);
	v->covered_from = n->n > 0 && n->first > 0 ? n->first : n->n > 0 ? n->v[0].size : 0;
	v->covered_to = n->n > 0 ? n->v[n->n - 1].size : 0;
	judge(n, &key.pub, v, &r);
	ward_chain_wipe(&key, sizeof(key));
	if (r.state < v->result.state) {
		v->result.state = r.state;
		v->result.first_bad = r.first_bad;
		memcpy(v->result.text, r.text, sizeof(r.text));
	} else if (v->result.state == WARD_VERIFY_INTACT && v->result.records > 0 && n->n == 0) {
		snprintf(v->result.text, sizeof(v->result.text),
			"no checkpoint covers it yet: entries cut off its end would not be missed");
	} else if (v->result.state == WARD_VERIFY_INTACT && v->covered_to < v->result.records) {
		snprintf(v->result.text, sizeof(v->result.text),
			"no checkpoint covers the last %" PRIu64 " entr%s yet",
			v->result.records - v->covered_to,
			v->result.records - v->covered_to == 1 ? "y" : "ies");
	} else if (v->result.state == WARD_VERIFY_INTACT && v->covered_from > 2) {
		/* The first append makes the first checkpoint: a "torn" and another entry. */
		snprintf(v->result.text, sizeof(v->result.text),
			"covered by checkpoints from entry %" PRIu64 " on", v->covered_from);
	}
}

uint64_t ward_ledger_claims(const struct ward_line *l)
{
	/* Behind the time, which is of one length. */
	static const char name[] = "\",\"covered\":";
	const size_t at = strlen(",\"time\":\"2026-01-02T03:04:05.123456789Z");
	uint64_t v = 0;
	if (l->rest_len < at + strlen(name) || memcmp(l->rest + at, name, strlen(name)) != 0)
		return 0;
	const char *p = l->rest + at;
	for (p += strlen(name); p < l->rest + l->rest_len && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return 0;
	return v;
}
