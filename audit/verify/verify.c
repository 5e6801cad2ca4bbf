/* SPDX-License-Identifier: Apache-2.0 */
/* Verifies trails and the ledger with the root key. */
#include "audit/verify/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "audit/log/chain.h"
#include "audit/log/lines.h"
#include "audit/log/segments.h"
#include "audit/query/parse.h"
#include "audit/verify/ledger_notes.h"
#include "audit/verify/ledger_resume.h"
#include "audit/verify/suspect.h"
#include "audit/verify/verify_keys.h"
#include "audit/verify/verify_reviews.h"
#include "audit/write/ledger.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/timestamp.h"

static void __attribute__((format(printf, 3, 4)))
say(struct ward_verify_result *ret, enum ward_verify_state state, const char *fmt, ...)
{
	va_list ap;
	ret->state = state;
	va_start(ap, fmt);
	ward_verify_vsay(ret, fmt, ap);
	va_end(ap);
}

/* --- the trail --- */

/* A walk along genuine lines. */
struct walk {
	uint8_t key[WARD_KEY_BYTES];
	uint8_t prev[WARD_MAC_BYTES];
	uint64_t bytes;	  /* of the genuine lines */
	uint64_t torn;	  /* bytes without end behind them */
	bool log_ended;	  /* a session.end was among them */
	uint64_t bad_off; /* where the first wrong line begins */

	/* the tree over the lines, held against the checkpoints on the way */
	struct ward_merkle tree;
	const struct ward_ledger_session *known;
	const struct ward_checkpoint_list *notes;
	size_t next;	      /* checkpoints that were met */
	uint64_t covered;     /* size of the last one that matches */
	bool mismatch;	      /* one does not */
	bool ledger_mismatch; /* the ledger's does not */
};

static bool root_is(const struct ward_merkle *m, const uint8_t root[WARD_HASH_BYTES])
{
	uint8_t have[WARD_HASH_BYTES];
	ward_merkle_root(m, have);
	return memcmp(have, root, sizeof(have)) == 0;
}

/* Compares the checkpoints of just this many records. */
static void meet(struct walk *w)
{
	for (; w->notes && !w->mismatch && w->next < w->notes->n &&
		w->notes->v[w->next].size <= w->tree.n;
		w->next++) {
		w->mismatch = !root_is(&w->tree, w->notes->v[w->next].root);
		if (w->mismatch)
			return;
		w->covered = w->tree.n;
	}
	if (w->known && w->known->has_checkpoint && w->known->checkpoint.size == w->tree.n)
		w->ledger_mismatch = !root_is(&w->tree, w->known->checkpoint.root);
}

/* Takes the next line; false if it is not the one that must come. */
static bool take(struct walk *w, const char *session, const struct ward_lines_line *text,
	struct ward_verify_result *ret)
{
	struct ward_line l;
	uint8_t mac[WARD_MAC_BYTES];
	uint8_t leaf[WARD_HASH_BYTES];
	if (ward_line_parse(text->p, text->len, &l) < 0 || l.seq != ret->records + 1 ||
		!ward_line_of(&l, session))
		return false;
	ward_chain_mac(w->key, w->prev, text->p, l.body_len, mac);
	if (memcmp(mac, l.mac, sizeof(mac)) != 0)
		return false;
	memcpy(w->prev, mac, sizeof(mac));
	ward_chain_ratchet(w->key);
	ret->records++;
	ret->gaps += ward_line_is(&l, "gap");
	w->log_ended |= ward_line_is(&l, "session.end");
	w->bytes = text->offset + text->len + 1;
	ward_merkle_leaf(text->p, text->len, leaf);
	ward_merkle_add(&w->tree, leaf);
	meet(w);
	return true;
}

/* The worse verdict wins. */
static void worse(struct ward_verify_result *ret, const struct ward_verify_result *other)
{
	if (other->state >= ret->state)
		return;
	ret->state = other->state;
	ret->first_bad = other->first_bad;
	memcpy(ret->text, other->text, sizeof(ret->text));
}

/* The file's last checkpoint, and the one that the ledger has. */
static void judge_last(const struct walk *w, struct ward_verify_result *ret)
{
	const struct ward_checkpoint *last = w->notes->n > 0 ? &w->notes->v[w->notes->n - 1] : NULL;
	const struct ward_ledger_session *known = w->known;
	if (!last || last->number < known->checkpoint.number)
		ward_verify_say(ret, WARD_VERIFY_TRUNCATED, 0, "the last checkpoint is missing");
	else if (last->number > known->checkpoint.number)
		ward_verify_say(ret, WARD_VERIFY_INCOMPLETE, 0,
			"checkpoints follow the end that the ledger has");
	else if (memcmp(last->signature, known->checkpoint.signature, sizeof(last->signature)) != 0)
		ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
			"the last checkpoint is not the one that the ledger has");
}

/* The lines are genuine: do the checkpoints say the same? */
static void judge_checkpoints(const struct walk *w, struct ward_verify_result *ret)
{
	struct ward_verify_result r = {.state = WARD_VERIFY_INTACT};
	const struct ward_ledger_session *known = w->known;
	if (!known || !known->started)
		return;
	if (known->ended && !known->has_checkpoint) {
		ward_verify_say(&r, WARD_VERIFY_EDITED, 0,
			"the checkpoint in the ledger is not signed by the session's key");
		worse(ret, &r);
	}
	if (w->ledger_mismatch) {
		ward_verify_say(&r, WARD_VERIFY_EDITED, w->covered + 1,
			"the records are not those of the ledger's checkpoint");
		worse(ret, &r);
	}
	/* Between the ledger's start and the first checkpoint a writer can have died. */
	if (!w->notes ||
		(!known->ended && w->notes->n == 0 && (w->notes->rest == 0 || w->notes->torn)))
		return;
	ward_verify_notes(w->notes, known->name, known->keys, known->n_keys, &r);
	worse(ret, &r);
	if (r.state != WARD_VERIFY_INTACT)
		return;
	if (w->mismatch)
		ward_verify_say(&r, WARD_VERIFY_EDITED, w->covered + 1,
			"the records are not those of checkpoint %" PRIu64,
			w->notes->v[w->next].number);
	else if (w->next < w->notes->n)
		ward_verify_say(&r, WARD_VERIFY_TRUNCATED, ret->records + 1,
			"a checkpoint covers %" PRIu64 " records", w->notes->v[w->next].size);
	else if (known->ended && known->has_checkpoint)
		judge_last(w, &r);
	worse(ret, &r);
}

/* The whole log is genuine: is it all? */
static void judge_end(struct walk *w, const struct ward_ledger_session *known, struct ward_log *log,
	uint64_t size, struct ward_verify_result *ret)
{
	if ((!known || !known->started) && size == 0) {
		say(ret, WARD_VERIFY_UNSTARTED, "the session never began");
	} else if (!known || !known->started) {
		say(ret, WARD_VERIFY_DELETED, "the ledger has no entry of this session");
	} else if (!known->ended) {
		ret->running = ward_log_has_writer(log);
		say(ret, WARD_VERIFY_INCOMPLETE, "%s",
			ret->running   ? "the session is running"
			: w->log_ended ? "the ledger has no end of this session"
				       : "the writer did not come to the end");
	} else if (ret->records < known->records) {
		ret->first_bad = ret->records + 1;
		if (w->torn && size >= known->bytes)
			say(ret, WARD_VERIFY_EDITED, "line %" PRIu64 " has no end",
				ret->records + 1);
		else
			say(ret, WARD_VERIFY_TRUNCATED, "%" PRIu64 " of %" PRIu64 " records",
				ret->records, known->records);
	} else if (w->torn || (ret->records == known->records &&
				      memcmp(w->prev, known->last, sizeof(w->prev)) != 0)) {
		ret->first_bad = ret->records + (w->torn ? 1 : 0);
		say(ret, WARD_VERIFY_EDITED, "something was added behind the end");
	} else if (ret->records > known->records) {
		say(ret, WARD_VERIFY_INCOMPLETE, "records follow the end that the ledger has");
	} else if (!known->complete) {
		say(ret, WARD_VERIFY_INCOMPLETE, "%s", known->cause ? known->cause : "");
	} else if (ret->gaps > 0) {
		say(ret, WARD_VERIFY_GAP, "%" PRIu64 " record%s of a gap", ret->gaps,
			ret->gaps == 1 ? " tells" : "s tell");
	} else {
		/* Whole, and it says itself why the session ended, if not by the command's end. */
		say(ret, WARD_VERIFY_INTACT, "%s", known->cause ? known->cause : "");
	}
}

static int suspect_trail(const struct walk *w, struct ward_log *log, const char *session,
	const struct ward_ledger_session *known, struct ward_verify_result *ret,
	struct ward_err *err)
{
	struct ward_suspect s = {.log = log,
		.offset = w->bad_off,
		.expected = ret->records + 1,
		.session = session,
		.records = known && known->ended ? known->records : 0,
		.known = known && known->started};
	memcpy(s.prev, w->prev, sizeof(s.prev));
	memcpy(s.key, w->key, sizeof(s.key));
	int r = ward_suspect_examine(&s, ret, err);
	ward_chain_wipe(&s, sizeof(s));
	return r;
}

int ward_verify_trail(struct ward_log *log, const char *session, const uint8_t root[WARD_KEY_BYTES],
	const struct ward_ledger_session *known, const struct ward_checkpoint_list *notes,
	struct ward_verify_result *ret, struct ward_err *err)
{
	struct ward_verify_result res = {0};
	if (known && known->lost) {
		say(&res, WARD_VERIFY_MISSING,
			"an earlier session had this name; its trail is missing");
		*ret = res;
		return 0;
	}
	struct walk w = {.known = known, .notes = notes};
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_lines_line text = {0};
	uint64_t size = 0;
	int r = ward_log_size(log, &size);
	if (r == 0)
		r = ward_lines_open(&lines, log, 0);
	if (r < 0)
		return ward_err_sys(err, r, "log");
	ward_chain_first_key(root, session, w.key);
	meet(&w);
	bool good = true;
	while (good && (r = ward_lines_next(&lines, &text)) == 1) {
		w.bad_off = text.offset;
		if (text.whole || text.len >= WARD_LINE_MAX)
			good = text.whole && take(&w, session, &text, &res);
		else
			w.torn = text.len;
	}
	if (r < 0)
		(void)ward_err_sys(err, r, "log");
	else if (!good)
		r = suspect_trail(&w, log, session, known, &res, err);
	else
		judge_end(&w, known, log, size, &res);
	if (r == 0 && good)
		judge_checkpoints(&w, &res);
	if (r == 0 && (!good || res.state == WARD_VERIFY_TRUNCATED))
		ward_verify_name_segment(log, &res);
	ward_chain_wipe(w.key, sizeof(w.key));
	if (r < 0)
		return r;
	*ret = res;
	return 0;
}

/* --- the ledger --- */

static void take_time(char to[40], const json_t *entry)
{
	const char *t = json_string_value(json_object_get(entry, "time"));
	snprintf(to, 40, "%s", t ? t : "");
}

static bool take_hex(uint8_t to[WARD_MAC_BYTES], const char *hex)
{
	if (!hex || strlen(hex) != WARD_MAC_HEX)
		return false;
	for (size_t i = 0; i < WARD_MAC_BYTES; i++) {
		unsigned v = 0;
		if (sscanf(hex + 2 * i, "%2x", &v) != 1)
			return false;
		to[i] = (uint8_t)v;
	}
	return true;
}

/* The key that an entry names becomes one of the session's. NULL: it names none. */
static const struct ward_public_key *take_public(
	const struct ward_ledger_view *v, struct ward_ledger_session *s, const json_t *entry)
{
	const char *text = json_string_value(json_object_get(entry, "key"));
	struct ward_public_key k = {0};
	if (!text || ward_public_key_parse(text, strlen(text), &k) < 0)
		return NULL;
	ward_verify_bound_key(v, &k);
	for (size_t i = 0; i < s->n_keys; i++)
		if (memcmp(s->keys[i].key, k.key, sizeof(k.key)) == 0)
			return &s->keys[i];
	/* The start's, and that of the last end. */
	if (s->n_keys < sizeof(s->keys) / sizeof(*s->keys))
		s->n_keys++;
	s->keys[s->n_keys - 1] = k;
	return &s->keys[s->n_keys - 1];
}

static bool take_checkpoint(
	const struct ward_ledger_view *v, struct ward_ledger_session *s, const json_t *entry)
{
	const struct ward_public_key *key = take_public(v, s, entry);
	const char *text = json_string_value(json_object_get(entry, "checkpoint"));
	ward_cleanup(ward_buf_clear) struct ward_buf b = {.max = WARD_CHECKPOINT_MAX};
	struct ward_checkpoint c;
	if (!key || !text || ward_unescape(&b, text, strlen(text)) < 0 || b.len == 0 ||
		ward_checkpoint_parse(b.data, b.len, &c) < 0 || c.len != b.len ||
		!ward_checkpoint_verify(&c, b.data, key) || strcmp(c.session, s->name) != 0 ||
		c.size != s->records)
		return false;
	s->checkpoint.size = c.size;
	s->checkpoint.number = c.number;
	memcpy(s->checkpoint.root, c.root, sizeof(c.root));
	memcpy(s->checkpoint.signature, c.signature, sizeof(c.signature));
	return true;
}

/*
 * The trail no longer exists. Somebody who can write the entry cannot sign it: that takes the key
 * of the session's checkpoints, or one that replaced it.
 */
static bool is_signed(const struct ward_ledger_view *v, const struct ward_ledger_session *s,
	const char *kind, const json_t *entry)
{
	const char *key = json_string_value(json_object_get(entry, "key"));
	const char *signature = json_string_value(json_object_get(entry, "signature"));
	struct ward_public_key k;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_ledger_gone_text(&text, kind, s->name,
		(uint64_t)json_integer_value(json_object_get(entry, "records")), s->last);
	return key && signature && ward_public_key_parse(key, strlen(key), &k) == 0 &&
	       ward_verify_key_of(v, s, &k) &&
	       ward_public_key_check(&k, text.data, text.len, signature);
}

static int take_removed(
	const struct ward_ledger_view *v, struct ward_ledger_session *s, const json_t *entry)
{
	s->removed = !s->held && is_signed(v, s, "removed", entry);
	s->removed_by = (uint64_t)json_integer_value(json_object_get(entry, "by"));
	take_time(s->removed_time, entry);
	const char *reason = json_string_value(json_object_get(entry, "reason"));
	free(s->removed_reason);
	s->removed_reason = strdup(reason ? reason : "");
	return s->removed_reason ? 0 : -ENOMEM;
}

/* Only what was kept as long as its start says can expire. */
static void take_expired(
	const struct ward_ledger_view *v, struct ward_ledger_session *s, const json_t *entry)
{
	take_time(s->expired_time, entry);
	const uint64_t until = ward_ledger_kept_until(s);
	const uint64_t at = ward_timestamp_ns(s->expired_time) / WARD_NS_PER_SEC;
	s->expired = !s->held && until > 0 && at >= until && is_signed(v, s, "expired", entry);
}

/* Nobody shall delete it, or somebody may again. */
static int take_hold(struct ward_ledger_session *s, const json_t *entry, bool held)
{
	const char *reason = json_string_value(json_object_get(entry, "reason"));
	s->held = held;
	if (!held)
		return 0;
	s->held_by = (uint64_t)json_integer_value(json_object_get(entry, "by"));
	take_time(s->held_time, entry);
	free(s->held_reason);
	s->held_reason = strdup(reason ? reason : "");
	return s->held_reason ? 0 : -ENOMEM;
}

/*
 * A start behind an end is another session's of the same name (behind a start it is that of a
 * recovery writer, of a trail without a record). What is known then is of this one.
 */
static void begin_anew(struct ward_ledger_session *s)
{
	struct ward_ledger_session fresh = {.lost = s->lost || !(s->removed || s->expired)};
	memcpy(fresh.name, s->name, sizeof(fresh.name));
	free(s->cause);
	free(s->held_reason);
	free(s->removed_reason);
	free(s->reviews);
	json_decref(s->review_entries);
	*s = fresh;
}

/* Of a number that jansson has no room for there is the text: that trail is kept for ever. */
static uint64_t keep_of(const json_t *e)
{
	const json_t *keep = json_object_get(e, "keep");
	return json_is_string(keep) ? UINT64_MAX : (uint64_t)json_integer_value(keep);
}

/* A genuine entry: what it says is what a writer wrote. */
static int take_entry(
	struct ward_ledger_view *v, const struct ward_line *l, const struct ward_lines_line *text)
{
	uint64_t claimed = ward_ledger_claims(l);
	v->claimed = claimed > v->claimed ? claimed : v->claimed;
	if (ward_line_is(l, "read") || ward_line_is(l, "question"))
		return 0;
	/* Of the host, not of a session. */
	bool host =
		ward_line_is(l, "rotate") || ward_line_is(l, "enroll") || ward_line_is(l, "revoke");
	json_t *e = ward_parse(text->p, text->len, 0, "");
	struct ward_ledger_session *s =
		e && !host ? ward_ledger_view_take(v, l->session, l->session_len) : NULL;
	int r = s || (e && host) ? 0 : -ENOMEM;
	if (r == 0 && host)
		r = ward_verify_take_key(v, l, e);
	if (s && ward_line_is(l, "start")) {
		if (s->ended)
			begin_anew(s);
		s->started = true;
		take_time(s->start_time, e);
		s->keep_s = keep_of(e);
		(void)take_public(v, s, e);
	} else if (s && ward_line_is(l, "end")) {
		const char *verdict = json_string_value(json_object_get(e, "verdict"));
		const char *cause = json_string_value(json_object_get(e, "cause"));
		s->ended = take_hex(s->last, json_string_value(json_object_get(e, "last")));
		s->complete = verdict && strcmp(verdict, "complete") == 0;
		s->records = (uint64_t)json_integer_value(json_object_get(e, "records"));
		s->bytes = (uint64_t)json_integer_value(json_object_get(e, "bytes"));
		take_time(s->end_time, e);
		s->has_checkpoint = take_checkpoint(v, s, e);
		free(s->cause);
		s->cause = strdup(cause ? cause : "");
		r = s->cause ? 0 : -ENOMEM;
	} else if (s && ward_line_is(l, "removed")) {
		r = take_removed(v, s, e);
	} else if (s && ward_line_is(l, "expired")) {
		take_expired(v, s, e);
	} else if (s && (ward_line_is(l, "hold") || ward_line_is(l, "release"))) {
		r = take_hold(s, e, ward_line_is(l, "hold"));
	} else if (s && ward_line_is(l, "review")) {
		r = ward_verify_take_review(s, e);
	} else if (s) {
		v->result.gaps++;
	}
	json_decref(e);
	return r;
}

struct ledger_walk {
	uint8_t prev[WARD_MAC_BYTES];	   /* as the line before has it */
	uint8_t good_prev[WARD_MAC_BYTES]; /* of the last genuine line in a row */
	uint64_t bad_off;
	uint64_t torn;
	uint64_t end; /* of what was read */
	bool good;    /* every line so far */
	struct ward_ledger_notes notes;
};

static int take_ledger_line(struct ward_ledger_view *v, struct ledger_walk *w,
	const uint8_t root[WARD_KEY_BYTES], const struct ward_lines_line *text)
{
	struct ward_line l;
	uint8_t key[WARD_KEY_BYTES];
	uint8_t mac[WARD_MAC_BYTES];
	bool genuine = false;
	int r = 0;
	if (w->good)
		ward_ledger_notes_line(&w->notes, text->p, text->len);
	if (text->whole && ward_line_parse(text->p, text->len, &l) == 0) {
		if (ward_suspect_ledger_key(root, &l, key)) {
			ward_chain_mac(key, w->prev, text->p, l.body_len, mac);
			genuine = memcmp(mac, l.mac, sizeof(mac)) == 0;
		}
		memcpy(w->prev, l.mac, sizeof(w->prev));
		if (genuine)
			r = take_entry(v, &l, text);
	}
	if (!w->good)
		return r;
	if (genuine && l.seq == v->result.records + 1) {
		v->result.records++;
		memcpy(w->good_prev, w->prev, sizeof(w->good_prev));
	} else {
		w->good = false;
		w->bad_off = text->offset;
	}
	return r;
}

static int judge_ledger(const struct ledger_walk *w, struct ward_log *log,
	const uint8_t root[WARD_KEY_BYTES], struct ward_verify_result *ret, struct ward_err *err)
{
	if (!w->good) {
		struct ward_suspect s = {.log = log,
			.offset = w->bad_off,
			.expected = ret->records + 1,
			.root = root};
		memcpy(s.prev, w->good_prev, sizeof(s.prev));
		return ward_suspect_examine(&s, ret, err);
	}
	if (w->torn)
		say(ret, WARD_VERIFY_INCOMPLETE, "the last entry has no end");
	else if (ret->gaps > 0)
		say(ret, WARD_VERIFY_GAP, "%" PRIu64 " entries were not written to their end",
			ret->gaps);
	else
		ret->state = WARD_VERIFY_INTACT;
	return 0;
}

/* The entries verified before must still exist, because later ones depend on them. */
static int take_up(struct ledger_walk *w, struct ward_log *log,
	const struct ward_ledger_resume *from, struct ward_ledger_view *v)
{
	char tail[WARD_MAC_HEX + 3], want[sizeof(tail) + 1]; /* mac, quote, brace, newline */
	if (from->notes_size > 0 && (w->notes.n == 0 || w->notes.v[0].size != from->notes_size))
		return -ESTALE;
	w->notes.first = from->notes_size > 0 ? from->covered_from : 0;
	ward_ledger_notes_resume(&w->notes, &from->tree);
	memcpy(w->prev, from->prev, sizeof(w->prev));
	memcpy(w->good_prev, from->prev, sizeof(w->good_prev));
	v->result.records = v->before = from->n;
	(void)sodium_bin2hex(want, sizeof(want), from->prev, sizeof(from->prev));
	memcpy(want + WARD_MAC_HEX, "\"}\n", 4);
	if (!log || from->offset < sizeof(tail) ||
		ward_log_read(log, tail, sizeof(tail), from->offset - sizeof(tail)) !=
			(ssize_t)sizeof(tail) ||
		memcmp(tail, want, sizeof(tail)) != 0)
		return -ESTALE;
	for (size_t at = 0; at < from->entries.len;) {
		const size_t len = strcspn(from->entries.data + at, "\n");
		const struct ward_lines_line text = {
			.p = from->entries.data + at, .len = len, .whole = true};
		struct ward_line l;
		int r = ward_line_parse(text.p, len, &l);
		r = r < 0 ? -EBADMSG : take_entry(v, &l, &text);
		if (r < 0)
			return r;
		at += len + 1;
	}
	return 0;
}

/* Where this one ended, if all is well. */
static void note_end(const struct ledger_walk *w, const struct ward_ledger_resume *from,
	const struct ward_ledger_view *v, struct ward_ledger_resume *ret)
{
	const struct ward_ledger_notes *n = &w->notes;
	if (v->result.state != WARD_VERIFY_INTACT || w->notes.tree.n != v->result.records)
		return;
	ret->n = v->result.records;
	ret->offset = w->end;
	memcpy(ret->prev, w->good_prev, sizeof(ret->prev));
	ret->tree = w->notes.tree;
	if (n->n > 0) {
		ret->notes_at = (from ? from->notes_at : 0) + n->offset[n->n - 1];
		ret->notes_size = n->v[n->n - 1].size;
		ret->covered_from = v->covered_from;
	}
}

/* With the lock: an entry and the checkpoint over it come together. */
static int walk_ledger(struct ledger_walk *w, struct ward_log *log, int notes_fd,
	const uint8_t root[WARD_KEY_BYTES], const struct ward_ledger_resume *from,
	struct ward_ledger_view *v, struct ward_err *err)
{
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_lines_line text = {0};
	const bool look = notes_fd != WARD_LEDGER_NOTES_UNSEEN;
	const uint64_t notes_at = from ? from->notes_at : 0;
	int r = look ? ward_ledger_notes_read_from(notes_fd, notes_at, &w->notes) : 0;
	if (r < 0)
		return ward_err_sys(err, r, "ledger.checkpoints");
	w->end = from ? from->offset : 0;
	if (from)
		r = take_up(w, log, from, v);
	if (r == 0 && log)
		r = ward_lines_open(&lines, log, w->end);
	while (log && r == 0 && (r = ward_lines_next(&lines, &text)) == 1) {
		r = 0;
		if (text.whole || text.len >= WARD_LINE_MAX)
			r = take_ledger_line(v, w, root, &text);
		else
			w->torn = text.len;
		w->end = text.offset + text.len + 1;
	}
	if (r == -ESTALE) {
		ward_verify_say(&v->result, WARD_VERIFY_TRUNCATED, 0,
			"entry %" PRIu64 " is not where it was when it was verified", from->n);
		return 0;
	}
	if (r < 0)
		return ward_err_sys(err, r, "ledger");
	r = judge_ledger(w, log, root, &v->result, err);
	if (r == 0 && w->good && look)
		ward_ledger_notes_judge(&w->notes, root, v);
	return r;
}

int ward_verify_ledger(int fd, int notes_fd, const uint8_t root[WARD_KEY_BYTES],
	struct ward_ledger_view *ret, struct ward_err *err)
{
	struct ward_ledger_resume none = {0};
	return ward_verify_ledger_from(fd, notes_fd, root, NULL, ret, &none, err);
}

int ward_verify_ledger_from(int fd, int notes_fd, const uint8_t root[WARD_KEY_BYTES],
	const struct ward_ledger_resume *from, struct ward_ledger_view *ret,
	struct ward_ledger_resume *ret_next, struct ward_err *err)
{
	struct ward_ledger_view v = {0};
	int r = ward_verify_ledger_on(fd, notes_fd, root, from, &v, ret_next, err);
	if (r < 0) {
		ward_ledger_view_free(&v);
		return r;
	}
	*ret = v;
	return 0;
}

int ward_verify_ledger_on(int fd, int notes_fd, const uint8_t root[WARD_KEY_BYTES],
	const struct ward_ledger_resume *from, struct ward_ledger_view *v,
	struct ward_ledger_resume *ret_next, struct ward_err *err)
{
	struct ledger_walk w = {.good = true};
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	int r = fd < 0 ? 0 : ward_log_open_file(fd, &log);
	if (r < 0)
		return ward_err_sys(err, r, "ledger");
	r = fd < 0 ? 0 : ward_ledger_lock(fd, LOCK_SH, err);
	if (r < 0)
		return r;
	r = walk_ledger(&w, log, notes_fd, root, from, v, err);
	if (fd >= 0)
		(void)flock(fd, LOCK_UN);
	if (r == 0)
		note_end(&w, from, v, ret_next);
	ward_ledger_notes_clear(&w.notes);
	return r;
}
