/* SPDX-License-Identifier: Apache-2.0 */
/* Compares checkpoints that an anchor kept with the trails that are here. */
#include "audit/verify/verify_anchored.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/lines.h"
#include "audit/log/merkle.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* A note and where it stands, sorted as one. */
struct placed {
	struct ward_checkpoint c;
	size_t offset;
};

static int compare(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int r = strcmp(x->c.session, y->c.session);
	return r ? r : (x->c.size > y->c.size) - (x->c.size < y->c.size);
}

/* All notes of the text; *ret_n of them. */
static int take_apart(
	const struct ward_buf *text, struct placed **ret, size_t *ret_n, struct ward_err *err)
{
	struct placed *v = NULL;
	size_t n = 0, room = 0, at = 0;
	int r = 0;
	for (;;) {
		while (at < text->len && text->data[at] == '\n')
			at++;
		if (at == text->len)
			break;
		if (n == room) {
			room = room ? 2 * room : 64;
			struct placed *more = reallocarray(v, room, sizeof(*v));
			if (!more) {
				r = ward_err_sys(err, -ENOMEM, "checkpoints");
				break;
			}
			v = more;
		}
		if (ward_checkpoint_parse(text->data + at, text->len - at, &v[n].c) < 0) {
			r = ward_err_set(err, -EBADMSG,
				"there is something else than a checkpoint at byte %zu", at);
			break;
		}
		v[n].offset = at;
		at += v[n++].c.len;
	}
	if (r < 0) {
		free(v);
		return r;
	}
	*ret = v;
	*ret_n = n;
	return 0;
}

int ward_anchored_read(int fd, struct ward_checkpoint_list *ret, struct ward_err *err)
{
	struct ward_checkpoint_list l = {.text = {.max = WARD_CHECKPOINTS_MAX}};
	ward_cleanup_free struct placed *v = NULL;
	size_t n = 0;
	int r = ward_fd_read_all(fd, WARD_CHECKPOINTS_MAX, &l.text);
	if (r < 0)
		r = ward_err_sys(err, r, "checkpoints");
	else
		r = take_apart(&l.text, &v, &n, err);
	if (r == 0 && n > 0) {
		qsort(v, n, sizeof(*v), compare);
		l.v = calloc(n, sizeof(*l.v));
		l.offset = calloc(n, sizeof(*l.offset));
		r = l.v && l.offset ? 0 : ward_err_sys(err, -ENOMEM, "checkpoints");
	}
	if (r < 0) {
		ward_checkpoint_list_clear(&l);
		return r;
	}
	for (; l.n < n; l.n++) {
		l.v[l.n] = v[l.n].c;
		l.offset[l.n] = v[l.n].offset;
	}
	*ret = l;
	return 0;
}

bool ward_anchored_ours(const struct ward_ledger_view *ledger, const struct ward_public_key *own,
	const struct ward_checkpoint *note, const char *text)
{
	if (own && ward_checkpoint_verify(note, text, own))
		return true;
	for (size_t i = 0; i < ledger->n; i++)
		for (size_t k = 0; k < ledger->v[i].n_keys; k++)
			if (ward_checkpoint_verify(note, text, &ledger->v[i].keys[k]))
				return true;
	for (size_t i = 0; i < ledger->n_rotations; i++) {
		struct ward_public_key key = {0};
		if (ward_public_key_parse(
			    ledger->rotations[i], strcspn(ledger->rotations[i], " "), &key) == 0 &&
			ward_checkpoint_verify(note, text, &key))
			return true;
	}
	return false;
}

int ward_verify_anchored(struct ward_log *log, const struct ward_checkpoint_list *notes,
	size_t from, size_t to, struct ward_verify_result *ret, struct ward_err *err)
{
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_verify_result res = {.state = WARD_VERIFY_INTACT};
	struct ward_merkle tree = {0};
	uint8_t hash[WARD_HASH_BYTES];
	int r = ward_lines_open(&lines, log, 0);
	for (size_t i = from; r >= 0 && i < to; i++) {
		const struct ward_checkpoint *c = &notes->v[i];
		struct ward_lines_line text = {0};
		r = 1;
		while (tree.n < c->size && (r = ward_lines_next(&lines, &text)) == 1 &&
			text.whole) {
			ward_merkle_leaf(text.p, text.len, hash);
			ward_merkle_add(&tree, hash);
		}
		if (r < 0)
			break;
		if (tree.n < c->size) {
			res.state = WARD_VERIFY_TRUNCATED;
			res.first_bad = tree.n + 1;
			snprintf(res.text, sizeof(res.text),
				"a checkpoint that was kept elsewhere covers %" PRIu64
				" records, and there are %" PRIu64,
				c->size, tree.n);
			break;
		}
		ward_merkle_root(&tree, hash);
		if (memcmp(hash, c->root, sizeof(hash)) != 0) {
			res.state = WARD_VERIFY_EDITED;
			res.first_bad = res.records + 1;
			snprintf(res.text, sizeof(res.text),
				"a checkpoint that was kept elsewhere covers other records: one "
				"of %" PRIu64 " to %" PRIu64 " is not what it was",
				res.records + 1, c->size);
			break;
		}
		res.records = c->size;
	}
	if (r < 0)
		return ward_err_sys(err, r, "log");
	*ret = res;
	return 0;
}
