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
#include "enforcer/base/clock.h"
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

/* One of a ledger, if it is one: *ret_len of it. */
static int take_ledger(
	const struct ward_buf *text, size_t at, struct ward_ledger_notes *to, size_t *ret_len)
{
	struct ward_tlog_note note;
	*ret_len = 0;
	if (!ward_tlog_is(text->data + at, text->len - at) ||
		ward_tlog_parse(text->data + at, text->len - at, &note) < 0)
		return 0;
	*ret_len = note.len;
	return ward_ledger_notes_add(to, &note, at);
}

/* All notes of the text; *ret_n of them are of sessions. */
static int take_apart(const struct ward_buf *text, struct placed **ret, size_t *ret_n,
	struct ward_ledger_notes *ledger, struct ward_err *err)
{
	size_t len = 0;
	struct placed *v = NULL;
	size_t n = 0, room = 0, at = 0;
	int r = 0;
	for (;;) {
		while (at < text->len && text->data[at] == '\n')
			at++;
		if (at == text->len)
			break;
		r = take_ledger(text, at, ledger, &len);
		if (r < 0) {
			(void)ward_err_sys(err, r, "checkpoints");
			break;
		}
		at += len;
		if (len > 0)
			continue;
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
			r = ward_err_set(err, -EBADMSG, "no checkpoint begins at byte %zu", at);
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

static int by_size(const void *a, const void *b)
{
	const uint64_t x = (*(const struct ward_tlog_note *const *)a)->size;
	const uint64_t y = (*(const struct ward_tlog_note *const *)b)->size;
	return (x > y) - (x < y);
}

/* In the order of their sizes. */
static int sort_ledger(struct ward_ledger_notes *n)
{
	struct ward_ledger_notes sorted = {.text = n->text};
	const struct ward_tlog_note **order = calloc(n->n ? n->n : 1, sizeof(const void *));
	int r = order ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < n->n; i++)
		order[i] = &n->v[i];
	if (r == 0)
		qsort(order, n->n, sizeof(*order), by_size);
	for (size_t i = 0; r == 0 && i < n->n; i++)
		r = ward_ledger_notes_add(&sorted, order[i], n->offset[order[i] - n->v]);
	free(order);
	sorted.text = (struct ward_buf)WARD_BUF_INIT;
	if (r < 0) {
		ward_ledger_notes_clear(&sorted);
		return r;
	}
	free(n->v);
	free(n->offset);
	n->v = sorted.v;
	n->offset = sorted.offset;
	return 0;
}

static int sort_sessions(
	struct placed *v, size_t n, struct ward_checkpoint_list *l, struct ward_err *err)
{
	if (n == 0)
		return 0;
	qsort(v, n, sizeof(*v), compare);
	l->v = calloc(n, sizeof(*l->v));
	l->offset = calloc(n, sizeof(*l->offset));
	if (!l->v || !l->offset)
		return ward_err_sys(err, -ENOMEM, "checkpoints");
	for (; l->n < n; l->n++) {
		l->v[l->n] = v[l->n].c;
		l->offset[l->n] = v[l->n].offset;
	}
	return 0;
}

int ward_anchored_read(int fd, struct ward_checkpoint_list *ret,
	struct ward_ledger_notes *ret_ledger, struct ward_err *err)
{
	struct ward_checkpoint_list l = {.text = {.max = WARD_LEDGER_NOTES_MAX}};
	struct ward_ledger_notes ledger = {.text = {.max = WARD_LEDGER_NOTES_MAX}};
	ward_cleanup_free struct placed *v = NULL;
	size_t n = 0;
	int r = ward_fd_read_all(fd, WARD_LEDGER_NOTES_MAX, &l.text);
	if (r < 0)
		(void)ward_err_sys(err, r, "checkpoints");
	else
		r = take_apart(&l.text, &v, &n, &ledger, err);
	if (r == 0)
		r = sort_sessions(v, n, &l, err);
	if (r == 0 && ledger.n > 0) {
		ward_buf_add(&ledger.text, l.text.data, l.text.len);
		r = ward_buf_error(&ledger.text);
		if (r == 0)
			r = sort_ledger(&ledger);
		if (r < 0)
			(void)ward_err_sys(err, r, "checkpoints");
	}
	if (r < 0) {
		ward_checkpoint_list_clear(&l);
		ward_ledger_notes_clear(&ledger);
		return r;
	}
	*ret = l;
	*ret_ledger = ledger;
	return 0;
}

void ward_anchored_own(
	struct ward_ledger_notes *n, const struct ward_note_key *key, size_t *ret_foreign)
{
	size_t kept = 0;
	for (size_t i = 0; i < n->n; i++) {
		if (strcmp(n->v[i].origin, key->name) != 0 ||
			ward_tlog_check(&n->v[i], n->text.data + n->offset[i], key, NULL) !=
				WARD_TLOG_GOOD)
			continue;
		n->v[kept] = n->v[i];
		n->offset[kept++] = n->offset[i];
	}
	*ret_foreign = n->n - kept;
	n->n = kept;
}

int ward_anchored_cosigned(int fd, const struct ward_note_key *log,
	const struct ward_note_key *witness, struct ward_ledger_notes *ret, uint64_t *ret_time,
	size_t *ret_bad, struct ward_err *err)
{
	struct ward_ledger_notes n = {0};
	size_t kept = 0;
	int r = ward_ledger_notes_read(fd, &n);
	if (r < 0)
		return ward_err_sys(err, r, "ledger.cosigned");
	*ret_bad = 0;
	*ret_time = 0;
	for (size_t i = 0; i < n.n; i++) {
		const char *text = n.text.data + n.offset[i];
		uint64_t time = 0;
		enum ward_tlog_signed own = ward_tlog_check(&n.v[i], text, log, NULL);
		enum ward_tlog_signed theirs = ward_tlog_check(&n.v[i], text, witness, &time);
		*ret_bad += own == WARD_TLOG_BAD || theirs == WARD_TLOG_BAD;
		if (own != WARD_TLOG_GOOD || theirs != WARD_TLOG_GOOD ||
			strcmp(n.v[i].origin, log->name) != 0)
			continue;
		n.v[kept] = n.v[i];
		n.offset[kept++] = n.offset[i];
		*ret_time = time > *ret_time ? time : *ret_time;
	}
	n.n = kept;
	r = sort_ledger(&n);
	if (r < 0) {
		ward_ledger_notes_clear(&n);
		return ward_err_sys(err, r, "ledger.cosigned");
	}
	*ret = n;
	return 0;
}

void ward_anchored_say_cosigned(
	const struct ward_note_key *witness, uint64_t time_s, struct ward_verify_result *ret)
{
	char when[WARD_CLOCK_TEXT_MAX] = "";
	/* A witness can sign any number: not every one is a time that has a text. */
	if (time_s <= UINT64_MAX / WARD_NS_PER_SEC)
		ward_clock_format(time_s * WARD_NS_PER_SEC, when);
	if (*when)
		ward_verify_say(ret, WARD_VERIFY_INTACT, 0,
			"%s cosigned %" PRIu64 " entries, the last time at %.19sZ", witness->name,
			ret->records, when);
	else
		ward_verify_say(ret, WARD_VERIFY_INTACT, 0,
			"%s cosigned %" PRIu64 " entries, at a time that no clock shows (%" PRIu64
			" s after 1970)",
			witness->name, ret->records, time_s);
}

int ward_verify_anchored_ledger(
	int fd, struct ward_ledger_notes *n, struct ward_verify_result *ret, struct ward_err *err)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_lines_line text = {0};
	struct ward_verify_result res = {.state = WARD_VERIFY_INTACT};
	int r = fd < 0 ? 0 : ward_log_open_file(fd, &log);
	if (r == 0 && log)
		r = ward_lines_open(&lines, log, 0);
	/* Over no entry: of every ledger. */
	while (n->met < n->n && n->v[n->met].size == 0)
		n->met++;
	while (r == 0 && log && !n->mismatch && n->met < n->n &&
		(r = ward_lines_next(&lines, &text)) == 1) {
		r = 0;
		if (!text.whole)
			break;
		ward_ledger_notes_line(n, text.p, text.len);
	}
	if (r < 0)
		return ward_err_sys(err, r, "ledger");
	res.records = n->matched;
	if (n->mismatch)
		ward_verify_say(&res, WARD_VERIFY_EDITED, n->matched + 1,
			"a checkpoint that was kept elsewhere covers other entries: one of %" PRIu64
			" to %" PRIu64 " is not what it was",
			n->matched + 1, n->v[n->met].size);
	else if (n->met < n->n)
		ward_verify_say(&res, WARD_VERIFY_TRUNCATED, n->tree.n + 1,
			"a checkpoint that was kept elsewhere covers %" PRIu64
			" entries, and there are %" PRIu64,
			n->v[n->n - 1].size, n->tree.n);
	*ret = res;
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
