/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and checks proofs about single records and earlier checkpoints. */
#include "audit/verify/proof.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/log/lines.h"
#include "enforcer/base/cleanup.h"

#define INCLUSION "c2sp.org/tlog-proof@v1\n"
#define CONSISTENCY "wardfs/consistency@v1\n"

/* --- making --- */

int ward_proof_choose(
	const struct ward_checkpoint_list *l, uint64_t size, size_t *ret, struct ward_err *err)
{
	for (size_t i = l->n; i-- > 0;)
		if (size == 0 || l->v[i].size == size) {
			*ret = i;
			return 0;
		}
	if (size == 0)
		return ward_err_set(err, -ENODATA, "there is no checkpoint yet");
	return ward_err_set(err, -ENODATA, "there is no checkpoint of %" PRIu64 " records", size);
}

static void add_leaf(struct ward_proof_nodes *n, const uint8_t leaf[WARD_HASH_BYTES])
{
	for (size_t i = 0; i < n->plan->n; i++) {
		const struct ward_merkle_range *r = &n->plan->v[i];
		if (n->all.n < r->from || n->all.n >= r->to)
			continue;
		/* The ranges do not overlap, so one is in hand at a time. */
		if (n->all.n == r->from)
			n->part = (struct ward_merkle){0};
		ward_merkle_add(&n->part, leaf);
		if (n->all.n + 1 == r->to)
			ward_merkle_root(&n->part, n->node[i]);
	}
	ward_merkle_add(&n->all, leaf);
}

int ward_proof_nodes_compute(struct ward_log *log, uint64_t size,
	const uint8_t root[WARD_HASH_BYTES], uint64_t seq, struct ward_proof_nodes *n,
	struct ward_buf *line, struct ward_err *err)
{
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_lines_line text = {0};
	uint8_t h[WARD_HASH_BYTES];
	int r = ward_lines_open(&lines, log, 0);
	while (r == 0 && n->all.n < size && (r = ward_lines_next(&lines, &text)) == 1) {
		r = 0;
		if (!text.whole)
			break;
		ward_merkle_leaf(text.p, text.len, h);
		add_leaf(n, h);
		if (n->all.n == seq)
			ward_buf_add(line, text.p, text.len);
	}
	if (r < 0)
		return ward_err_sys(err, r, "log");
	ward_merkle_root(&n->all, h);
	if (n->all.n != size || memcmp(h, root, sizeof(h)) != 0)
		return ward_err_set(err, -EBADMSG,
			"the trail is not that of its checkpoint of %" PRIu64
			" records; run 'wardfs audit verify'",
			size);
	return 0;
}

void ward_proof_put_nodes(struct ward_buf *b, const uint8_t (*node)[WARD_HASH_BYTES], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ward_put_base64(b, node[i], WARD_HASH_BYTES);
		ward_buf_putc(b, '\n');
	}
	ward_buf_putc(b, '\n');
}

static void put_note(struct ward_buf *b, const struct ward_checkpoint_list *l, size_t i)
{
	ward_buf_add(b, l->text.data + l->offset[i], l->v[i].len);
}

void ward_proof_put(struct ward_buf *b, uint64_t seq, const void *line, size_t len,
	const uint8_t (*path)[WARD_HASH_BYTES], size_t path_n,
	const struct ward_checkpoint_list *notes, size_t at)
{
	ward_buf_puts(b, INCLUSION "extra ");
	ward_put_base64(b, line, len);
	ward_buf_printf(b, "\nindex %" PRIu64 "\n", seq - 1);
	ward_proof_put_nodes(b, path, path_n);
	put_note(b, notes, at);
}

int ward_prove_record(struct ward_log *log, const struct ward_checkpoint_list *notes, uint64_t seq,
	uint64_t size, struct ward_buf *ret, struct ward_err *err)
{
	size_t at = 0;
	struct ward_merkle_plan plan;
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	ward_cleanup_free struct ward_proof_nodes *n = calloc(1, sizeof(*n));
	if (!n)
		return ward_err_sys(err, -ENOMEM, "proof");
	int r = ward_proof_choose(notes, size, &at, err);
	if (r < 0)
		return r;
	if (seq == 0 || seq > notes->v[at].size)
		return ward_err_set(err, -ENODATA,
			"the checkpoint covers %" PRIu64 " records, not record %" PRIu64,
			notes->v[at].size, seq);
	r = ward_merkle_plan_inclusion(seq - 1, notes->v[at].size, &plan);
	n->plan = &plan;
	if (r == 0)
		r = ward_proof_nodes_compute(
			log, notes->v[at].size, notes->v[at].root, seq, n, &line, err);
	if (r < 0)
		return r;
	ward_proof_put(ret, seq, ward_buf_str(&line), line.len, n->node, plan.n, notes, at);
	r = ward_buf_error(&line);
	r = r < 0 ? r : ward_buf_error(ret);
	return r < 0 ? ward_err_sys(err, r, "proof") : 0;
}

int ward_prove_consistency(struct ward_log *log, const struct ward_checkpoint_list *notes,
	uint64_t from, uint64_t size, struct ward_buf *ret, struct ward_err *err)
{
	size_t first = 0;
	size_t second = 0;
	struct ward_merkle_plan plan;
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	ward_cleanup_free struct ward_proof_nodes *n = calloc(1, sizeof(*n));
	if (!n)
		return ward_err_sys(err, -ENOMEM, "proof");
	int r = ward_proof_choose(notes, size, &second, err);
	if (r == 0 && from > 0)
		r = ward_proof_choose(
			notes, from, &first, err); /* 0: the first one is over nothing */
	if (r < 0)
		return r;
	if (ward_merkle_plan_consistency(notes->v[first].size, notes->v[second].size, &plan) < 0)
		return ward_err_set(err, -ENODATA,
			"the first checkpoint covers more records than the second one");
	n->plan = &plan;
	r = ward_proof_nodes_compute(
		log, notes->v[second].size, notes->v[second].root, 0, n, &line, err);
	if (r < 0)
		return r;
	ward_buf_puts(ret, CONSISTENCY);
	ward_proof_put_nodes(ret, n->node, plan.n);
	put_note(ret, notes, first);
	put_note(ret, notes, second);
	r = ward_buf_error(ret);
	return r < 0 ? ward_err_sys(err, r, "proof") : 0;
}

/* --- checking --- */

struct proof {
	bool inclusion;
	struct ward_buf record;
	uint64_t index;
	uint8_t path[WARD_PROOF_MAX][WARD_HASH_BYTES];
	size_t path_n;
	struct ward_checkpoint note[2]; /* an inclusion proof has the first alone */
	const char *note_text[2];
	size_t n_notes;
};

static void clear(struct proof *p)
{
	ward_buf_clear(&p->record);
}

static bool next_line(const char **p, const char *end, const char **ret, size_t *ret_len)
{
	const char *nl = memchr(*p, '\n', (size_t)(end - *p));
	if (!nl)
		return false;
	*ret = *p;
	*ret_len = (size_t)(nl - *p);
	*p = nl + 1;
	return true;
}

static bool begins(const char *line, size_t len, const char *prefix)
{
	return len >= strlen(prefix) && memcmp(line, prefix, strlen(prefix)) == 0;
}

/* "extra BASE64": the record. One spelling only. */
static bool take_extra(struct proof *p, const char *line, size_t len)
{
	size_t got = 0;
	ward_cleanup(ward_buf_clear) struct ward_buf again = WARD_BUF_INIT;
	if (!begins(line, len, "extra "))
		return false;
	ward_cleanup_free uint8_t *out = malloc(len);
	if (!out || sodium_base642bin(out, len, line + 6, len - 6, NULL, &got, NULL,
			    sodium_base64_VARIANT_ORIGINAL) != 0)
		return false;
	ward_put_base64(&again, out, got);
	if (again.len != len - 6 || memcmp(ward_buf_str(&again), line + 6, len - 6) != 0)
		return false;
	ward_buf_add(&p->record, out, got);
	return ward_buf_error(&p->record) == 0;
}

static bool take_index(struct proof *p, const char *line, size_t len)
{
	if (!begins(line, len, "index ") || len == 6 || (line[6] == '0' && len > 7))
		return false;
	for (size_t i = 6; i < len; i++)
		if (line[i] < '0' || line[i] > '9' ||
			__builtin_mul_overflow(p->index, 10, &p->index) ||
			__builtin_add_overflow(p->index, (uint64_t)(line[i] - '0'), &p->index))
			return false;
	return true;
}

/* What stands before the notes; *ret: where they begin. */
static bool take_head(struct proof *p, const char *text, size_t len, const char **ret)
{
	const char *at = text;
	const char *end = text + len;
	const char *line = NULL;
	size_t n = 0;
	p->inclusion = begins(text, len, INCLUSION);
	if (!ward_proof_is(text, len) || !next_line(&at, end, &line, &n))
		return false;
	if (p->inclusion && (!next_line(&at, end, &line, &n) || !take_extra(p, line, n) ||
				    !next_line(&at, end, &line, &n) || !take_index(p, line, n)))
		return false;
	for (;;) {
		if (!next_line(&at, end, &line, &n))
			return false;
		if (n == 0)
			break;
		if (p->path_n == WARD_PROOF_MAX ||
			!ward_take_base64(line, n, p->path[p->path_n], WARD_HASH_BYTES))
			return false;
		p->path_n++;
	}
	*ret = at;
	return true;
}

/* The proof at the beginning of the text; *ret_len: how long it is. */
static bool take_proof(struct proof *p, const char *text, size_t len, size_t *ret_len)
{
	const char *at = NULL;
	const char *end = text + len;
	if (!take_head(p, text, len, &at))
		return false;
	for (; p->n_notes < (p->inclusion ? 1U : 2U); p->n_notes++) {
		struct ward_checkpoint *c = &p->note[p->n_notes];
		if (ward_checkpoint_parse(at, (size_t)(end - at), c) < 0)
			return false;
		p->note_text[p->n_notes] = at;
		at += c->len;
	}
	*ret_len = (size_t)(at - text);
	return true;
}

bool ward_proof_is(const char *text, size_t len)
{
	return begins(text, len, INCLUSION) || begins(text, len, CONSISTENCY);
}

size_t ward_proof_length(const char *text, size_t len)
{
	ward_cleanup(clear) struct proof p = {0};
	size_t used = 0;
	return take_proof(&p, text, len, &used) ? used : 0;
}

bool ward_proof_session(const char *text, size_t len, char ret[WARD_SESSION_NAME_MAX + 1])
{
	ward_cleanup(clear) struct proof p = {0};
	size_t used = 0;
	if (!take_proof(&p, text, len, &used))
		return false;
	memcpy(ret, p.note[0].session, WARD_SESSION_NAME_MAX + 1);
	return true;
}

/* FOREIGN, EDITED, or INTACT if one of the keys signed each checkpoint. */
static enum ward_verify_state signatures(
	const struct proof *p, const struct ward_public_key *keys, size_t n_keys)
{
	for (size_t i = 0; i < p->n_notes; i++) {
		bool known = false;
		bool good = false;
		for (size_t k = 0; k < n_keys && !good; k++) {
			if (ward_public_key_over(&keys[k], p->note[i].time))
				continue;
			known |= strcmp(p->note[i].key_name, keys[k].name) == 0 ||
				 memcmp(p->note[i].key_id, keys[k].id, sizeof(keys[k].id)) == 0;
			good = ward_checkpoint_verify(&p->note[i], p->note_text[i], &keys[k]);
		}
		if (!good)
			return known ? WARD_VERIFY_EDITED : WARD_VERIFY_FOREIGN;
	}
	return WARD_VERIFY_INTACT;
}

static bool record_holds(const struct proof *p)
{
	uint8_t leaf[WARD_HASH_BYTES];
	struct ward_line l;
	const char *text = ward_buf_str(&p->record);
	ward_merkle_leaf(text, p->record.len, leaf);
	return ward_line_parse(text, p->record.len, &l) == 0 && l.seq - 1 == p->index &&
	       ward_line_of(&l, p->note[0].session) &&
	       ward_merkle_check_inclusion(
		       leaf, p->index, p->note[0].size, p->path, p->path_n, p->note[0].root);
}

/* One proof that was taken apart. */
static void check_one(const struct proof *p, const struct ward_public_key *keys, size_t n_keys,
	struct ward_verify_result *ret)
{
	const struct ward_checkpoint *c = &p->note[p->n_notes - 1];
	enum ward_verify_state s = signatures(p, keys, n_keys);
	ret->records = c->size;
	if (s == WARD_VERIFY_FOREIGN)
		ward_verify_say(
			ret, s, 0, "its checkpoint is signed by another key: %s", c->key_name);
	else if (s != WARD_VERIFY_INTACT)
		ward_verify_say(ret, s, 0, "its checkpoint was changed");
	else if (p->inclusion && !record_holds(p))
		ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
			"the record is not in the tree of the checkpoint");
	else if (p->inclusion)
		ward_verify_say(ret, WARD_VERIFY_INTACT, 0,
			"record %" PRIu64 " is one of the %" PRIu64, p->index + 1, c->size);
	else if (strcmp(c->session, p->note[0].session) != 0 ||
		 !ward_merkle_check_consistency(
			 p->note[0].size, p->note[0].root, c->size, c->root, p->path, p->path_n))
		ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
			"the first checkpoint is not the beginning of the second");
	else if (p->note[0].size == 0)
		ward_verify_say(ret, WARD_VERIFY_INTACT, 0,
			"the first checkpoint covers no record, so this shows only that a "
			"checkpoint of %" PRIu64 " records was signed",
			c->size);
	else
		ward_verify_say(ret, WARD_VERIFY_INTACT, 0,
			"the first %" PRIu64 " of %" PRIu64 " records are those of the first "
			"checkpoint",
			p->note[0].size, c->size);
}

void ward_proof_check(const char *text, size_t len, const struct ward_public_key *keys,
	size_t n_keys, struct ward_verify_result *ret, struct ward_buf *ret_record)
{
	char session[WARD_SESSION_NAME_MAX + 1] = "";
	ward_cleanup(ward_buf_clear) struct ward_buf record = WARD_BUF_INIT;
	uint64_t last = 0;
	size_t n = 0;
	size_t used = 0;
	*ret = (struct ward_verify_result){0};
	for (size_t at = 0; n == 0 || at < len; at += used, n++) {
		ward_cleanup(clear) struct proof p = {0};
		bool form = take_proof(&p, text + at, len - at, &used);
		/* Several are of records, of one session, in their order. */
		if (form && n > 0)
			form = p.inclusion && p.index + 1 > last &&
			       strcmp(session, p.note[0].session) == 0;
		if (form && !p.inclusion)
			form = at + used == len;
		if (!form) {
			ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
				n ? "what follows proof %zu has not the form of a further one"
				  : "it has not the form of a proof",
				n);
			return;
		}
		check_one(&p, keys, n_keys, ret);
		if (ret->state != WARD_VERIFY_INTACT)
			return;
		last = p.index + 1;
		memcpy(session, p.note[0].session, sizeof(session));
		ward_buf_clear(&record);
		record = p.record;
		p.record = WARD_BUF_INIT;
	}
	if (n > 1)
		ward_verify_say(ret, WARD_VERIFY_INTACT, 0,
			"%zu records are among the %" PRIu64 ", the last is %" PRIu64, n,
			ret->records, last);
	if (ret_record) {
		*ret_record = record;
		record = WARD_BUF_INIT;
	}
}

/* --- entries of the ledger --- */

int ward_prove_entry(int ledger_fd, const char *text, const struct ward_tlog_note *note,
	uint64_t seq, struct ward_buf *ret, struct ward_err *err)
{
	struct ward_merkle_plan plan;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	ward_cleanup_free struct ward_proof_nodes *n = calloc(1, sizeof(*n));
	if (!n)
		return ward_err_sys(err, -ENOMEM, "proof");
	if (seq == 0 || ward_merkle_plan_inclusion(seq - 1, note->size, &plan) < 0)
		return ward_err_set(err, -ENODATA,
			"the checkpoint covers %" PRIu64 " entries, not entry %" PRIu64, note->size,
			seq);
	int r = ward_log_open_file(ledger_fd, &log);
	if (r < 0)
		return ward_err_sys(err, r, "ledger");
	n->plan = &plan;
	r = ward_proof_nodes_compute(log, note->size, note->root, seq, n, &line, err);
	if (r < 0)
		return r;
	ward_buf_puts(ret, INCLUSION "extra ");
	ward_put_base64(ret, (const uint8_t *)ward_buf_str(&line), line.len);
	ward_buf_printf(ret, "\nindex %" PRIu64 "\n", seq - 1);
	ward_proof_put_nodes(ret, n->node, plan.n);
	ward_buf_add(ret, text, note->len);
	r = ward_buf_error(&line);
	r = r < 0 ? r : ward_buf_error(ret);
	return r < 0 ? ward_err_sys(err, r, "proof") : 0;
}

bool ward_proof_is_entry(const char *text, size_t len)
{
	ward_cleanup(clear) struct proof p = {0};
	const char *at = NULL;
	return take_head(&p, text, len, &at) && p.inclusion &&
	       ward_tlog_is(at, (size_t)(text + len - at));
}

void ward_proof_check_entry(const char *text, size_t len, const struct ward_note_key *key,
	struct ward_verify_result *ret)
{
	ward_cleanup(clear) struct proof p = {0};
	struct ward_tlog_note note;
	struct ward_line l;
	uint8_t leaf[WARD_HASH_BYTES];
	const char *at = NULL;
	*ret = (struct ward_verify_result){0};
	if (!take_head(&p, text, len, &at) || !p.inclusion ||
		ward_tlog_parse(at, (size_t)(text + len - at), &note) < 0 ||
		note.len != (size_t)(text + len - at)) {
		ward_verify_say(ret, WARD_VERIFY_EDITED, 0, "it has not the form of a proof");
		return;
	}
	enum ward_tlog_signed s = ward_tlog_check(&note, at, key, NULL);
	const char *entry = ward_buf_str(&p.record);
	ward_merkle_leaf(entry, p.record.len, leaf);
	ret->records = note.size;
	if (strcmp(note.origin, key->name) != 0 || s == WARD_TLOG_UNKNOWN)
		ward_verify_say(ret, WARD_VERIFY_FOREIGN, 0, "its checkpoint is of another log: %s",
			note.origin);
	else if (s != WARD_TLOG_GOOD)
		ward_verify_say(ret, WARD_VERIFY_EDITED, 0, "its checkpoint was changed");
	else if (ward_line_parse(entry, p.record.len, &l) < 0 || l.seq - 1 != p.index ||
		 !ward_merkle_check_inclusion(
			 leaf, p.index, note.size, p.path, p.path_n, note.root))
		ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
			"the entry is not in the tree of the checkpoint");
	else
		ward_verify_say(ret, WARD_VERIFY_INTACT, 0,
			"entry %" PRIu64 " of the ledger, \"%.*s\" of %.*s, is one of the %" PRIu64,
			p.index + 1, (int)l.kind_len, l.kind, (int)l.session_len, l.session,
			note.size);
}
