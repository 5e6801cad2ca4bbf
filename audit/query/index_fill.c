/* SPDX-License-Identifier: Apache-2.0 */
/* Brings the index up to date with the trails. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/query/index.h"
#include "audit/query/index_db.h"
#include "audit/query/index_row.h"
#include "audit/query/index_today.h"
#include "audit/query/index_words.h"
#include "audit/query/parse.h"
#include "audit/query/query.h"
#include "audit/terms.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* Records between two words of progress. */
#define TELL_EVERY 1000

struct filling {
	struct ward_index_db x;
	struct ward_index_words *words;
	sqlite3_stmt *insert;
	sqlite3_stmt *insert_net;
	int64_t session; /* in hand */
	uint64_t at;
	uint64_t records;
	uint64_t odd; /* lines that are no record, not the next one, or say what no row can */
	char last[WARD_MAC_HEX + 1];
	char stamp[WARD_INDEX_STAMP_MAX];
	int64_t settled;
	struct {
		bool is, has_status, has_signal;
		int64_t status, signal;
	} end; /* the last record, if it is a session.end */
	uint64_t added;
	uint64_t failed; /* probes among the records that were added to the session in hand */
	bool light;	 /* no trail is read */
	const struct ward_index_result *told; /* whom to tell; NULL: nobody */
	char scratch[WARD_LINE_MAX];	      /* texts of the line in hand */
};

static void close_filling(struct filling *f)
{
	ward_index_words_free(f->words);
	(void)sqlite3_finalize(f->insert);
	(void)sqlite3_finalize(f->insert_net);
	ward_index_db_close(&f->x);
}

/* Binds the numbers of texts [from, to) from a parameter on; missing texts stay NULL. */
static int bind_words(struct filling *f, sqlite3_stmt *s, int first, int from, int to,
	const struct ward_index_row *row)
{
	for (int i = from; i < to; i++) {
		int64_t number = 0;
		if (!row->text[i])
			continue;
		int rc = ward_index_words_number(f->words, row->text[i], row->len[i], &number);
		if (rc != SQLITE_OK)
			return rc;
		(void)sqlite3_bind_int64(s, first + i - from, number);
	}
	return SQLITE_OK;
}

static void bind_numbers(
	sqlite3_stmt *s, int first, int from, int to, const struct ward_index_row *row)
{
	for (int i = from; i < to; i++)
		if (row->has[i])
			(void)sqlite3_bind_int64(s, first + i - from, row->number[i]);
}

static int step(sqlite3_stmt *s)
{
	int rc = sqlite3_step(s);
	(void)sqlite3_reset(s);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* session, seq, then as WARD_INDEX_HOST and WARD_INDEX_PORT follow each other. */
static int add_net(struct filling *f, uint64_t seq, const struct ward_index_row *row)
{
	sqlite3_stmt *s = f->insert_net;
	if (!row->text[WARD_INDEX_HOST] && !row->text[WARD_INDEX_ADDR] &&
		!row->has[WARD_INDEX_PORT] && !row->has[WARD_INDEX_SENT])
		return SQLITE_OK;
	(void)sqlite3_clear_bindings(s);
	(void)sqlite3_bind_int64(s, 1, f->session);
	(void)sqlite3_bind_int64(s, 2, (int64_t)seq);
	int rc = bind_words(f, s, 3, WARD_INDEX_HOST, WARD_INDEX_TIME, row);
	bind_numbers(s, 7, WARD_INDEX_PORT, WARD_INDEX_NUMBERS, row);
	return rc == SQLITE_OK ? step(s) : rc;
}

static int add_row(struct filling *f, uint64_t seq, uint64_t at, const struct ward_index_row *row)
{
	sqlite3_stmt *s = f->insert;
	(void)sqlite3_clear_bindings(s);
	(void)sqlite3_bind_int64(s, 1, f->session);
	(void)sqlite3_bind_int64(s, 2, (int64_t)seq);
	(void)sqlite3_bind_int64(s, 3, (int64_t)at);
	if (row->ns >= 0)
		(void)sqlite3_bind_int64(s, 4, row->ns);
	int rc = bind_words(f, s, 5, WARD_INDEX_KIND, WARD_INDEX_HOST, row);
	bind_numbers(s, 13, WARD_INDEX_PID, WARD_INDEX_PORT, row);
	if (rc == SQLITE_OK)
		rc = step(s);
	return rc == SQLITE_OK ? add_net(f, seq, row) : rc;
}

/* Of session.start, which a parser reads: its detail is an object. */
static int add_labels(struct filling *f, const struct ward_index_row *row)
{
	json_t *labels = json_object_get(json_object_get(row->parsed, "detail"), "labels");
	sqlite3_stmt *s = NULL;
	const char *key = NULL;
	json_t *value = NULL;
	int rc = json_is_object(labels)
			 ? sqlite3_prepare_v2(f->x.db,
				   "INSERT OR REPLACE INTO label VALUES(?, ?, ?)", -1, &s, NULL)
			 : SQLITE_OK;
	json_object_foreach(labels, key, value)
	{
		int64_t k = 0, v = 0;
		const char *text = json_string_value(value);
		if (rc == SQLITE_OK && text)
			rc = ward_index_words_number(f->words, key, strlen(key), &k);
		if (rc == SQLITE_OK && text)
			rc = ward_index_words_number(f->words, text, strlen(text), &v);
		if (rc != SQLITE_OK || !text)
			continue;
		(void)sqlite3_bind_int64(s, 1, f->session);
		(void)sqlite3_bind_int64(s, 2, k);
		(void)sqlite3_bind_int64(s, 3, v);
		rc = step(s);
	}
	(void)sqlite3_finalize(s);
	return rc;
}

static int bind_word(struct filling *f, sqlite3_stmt *s, int at, const char *text)
{
	int64_t number = 0;
	if (!text)
		return SQLITE_OK;
	int rc = ward_index_words_number(f->words, text, strlen(text), &number);
	(void)sqlite3_bind_int64(s, at, number);
	return rc;
}

/* What ward_index_walls() tells; the same for most sessions. NULL: the record does not say. */
static char *walls_of(const json_t *detail)
{
	static const char *const members[] = {"guarantees", "missing", "network", "limits"};
	json_t *sandbox = json_object_get(detail, "sandbox");
	if (!json_is_object(detail))
		return NULL;
	if (!json_is_object(sandbox))
		return strdup("null");
	json_t *o = json_object();
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (json_object_get(sandbox, members[i]))
			(void)json_object_set(o, members[i], json_object_get(sandbox, members[i]));
	char *text = json_dumps(o, JSON_COMPACT | JSON_ENCODE_ANY);
	json_decref(o);
	return text;
}

/* As JSON. Until its take a prepared session has none. */
static char *command_of(const json_t *detail)
{
	return json_is_true(json_object_get(detail, "prepared"))
		       ? strdup("\"" WARD_TERM_PREPARED "\"")
		       : json_dumps(
				 json_object_get(detail, "argv"), JSON_COMPACT | JSON_ENCODE_ANY);
}

/* A prepared session begins for people when it is taken. */
static int add_take(struct filling *f, const struct ward_index_row *row)
{
	const json_t *detail = json_object_get(row->parsed, "detail");
	ward_cleanup_free char *command = command_of(detail);
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(f->x.db,
		"UPDATE about SET started = ?2, command = ?3 WHERE session = ?1", -1, &s, NULL);
	if (rc == SQLITE_OK) {
		(void)sqlite3_bind_int64(s, 1, f->session);
		if (row->ns >= 0)
			(void)sqlite3_bind_int64(s, 2, row->ns);
	}
	rc = rc == SQLITE_OK ? bind_word(f, s, 3, command) : rc;
	if (rc == SQLITE_OK)
		rc = step(s);
	(void)sqlite3_finalize(s);
	return rc == SQLITE_OK ? add_labels(f, row) : rc;
}

/* The owner of the session; members that the record lacks stay NULL. */
static int add_about(struct filling *f, const struct ward_index_row *row)
{
	static const char *const words[] = {"verb", "mode", "project", "owner", "agent"};
	static const char *const numbers[] = {"login_uid", "audit_session"};
	const json_t *detail = json_object_get(row->parsed, "detail");
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(f->x.db,
		"INSERT OR REPLACE INTO about(session, started, verb, mode, project, owner, agent,"
		" login, audit_session, command, walls) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		-1, &s, NULL);
	ward_cleanup_free char *command = command_of(detail);
	ward_cleanup_free char *walls = walls_of(detail);
	if (rc == SQLITE_OK) {
		(void)sqlite3_bind_int64(s, 1, f->session);
		if (row->ns >= 0)
			(void)sqlite3_bind_int64(s, 2, row->ns);
	}
	for (int i = 0; rc == SQLITE_OK && i < 5; i++) {
		const char *text = json_string_value(json_object_get(detail, words[i]));
		int64_t number = 0;
		if (!text)
			continue;
		rc = ward_index_words_number(f->words, text, strlen(text), &number);
		(void)sqlite3_bind_int64(s, 3 + i, number);
	}
	for (int i = 0; rc == SQLITE_OK && i < 2; i++) {
		const json_t *v = json_object_get(detail, numbers[i]);
		if (json_is_integer(v))
			(void)sqlite3_bind_int64(s, 8 + i, json_integer_value(v));
	}
	rc = rc == SQLITE_OK ? bind_word(f, s, 10, command) : rc;
	rc = rc == SQLITE_OK ? bind_word(f, s, 11, walls) : rc;
	if (rc == SQLITE_OK)
		rc = step(s);
	(void)sqlite3_finalize(s);
	return rc;
}

static void take_end(struct filling *f, const char *line, size_t len)
{
	json_t *o = ward_parse_record(line, len);
	const json_t *status = json_object_get(o, "status");
	const json_t *signal = json_object_get(o, "signal");
	f->end.is = true;
	f->end.has_status = json_is_integer(status);
	f->end.status = json_integer_value(status);
	f->end.has_signal = json_is_integer(signal);
	f->end.signal = json_integer_value(signal);
	json_decref(o);
}

/* How it ended, where its last record says so. */
static int note_end(struct filling *f)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(f->x.db,
		"UPDATE about SET status = ?, signal = ?, failed = failed + ? WHERE session = ?",
		-1, &s, NULL);
	if (rc == SQLITE_OK && f->end.is && f->end.has_status)
		(void)sqlite3_bind_int64(s, 1, f->end.status);
	if (rc == SQLITE_OK && f->end.is && f->end.has_signal)
		(void)sqlite3_bind_int64(s, 2, f->end.signal);
	if (rc == SQLITE_OK) {
		(void)sqlite3_bind_int64(s, 3, (int64_t)f->failed);
		(void)sqlite3_bind_int64(s, 4, f->session);
		rc = step(s);
	}
	(void)sqlite3_finalize(s);
	return rc;
}

/* A record with such a text in another place counts, too: its trail is read then. */
static bool tells_failure(const struct ward_line *l, const char *line, size_t len)
{
	static const char text[] = "\"result\":\"failed\"";
	return ward_line_is(l, "probe") && memmem(line, len, text, sizeof(text) - 1);
}

static int add_record(void *ctx, const char *line, size_t len, const json_t *rec)
{
	struct filling *f = ctx;
	const uint64_t at = f->at;
	struct ward_line l;
	ward_cleanup(ward_index_row_clear) struct ward_index_row row = {0};
	(void)rec;
	f->at += len + 1;
	/* Lines that are no records are left to verify. */
	if (ward_line_parse(line, len, &l) < 0 ||
		ward_index_row_read(&row, line, len, f->scratch) < 0) {
		f->odd++;
		return 0;
	}
	f->odd += l.seq != f->records + 1 || row.ns < 0;
	int rc = add_row(f, l.seq, at, &row);
	const bool start = ward_line_is(&l, "session.start");
	if (rc == SQLITE_OK && start)
		rc = add_labels(f, &row);
	if (rc == SQLITE_OK && start)
		rc = add_about(f, &row);
	if (rc == SQLITE_OK && ward_line_is(&l, "take"))
		rc = add_take(f, &row);
	f->end.is = false;
	if (ward_line_is(&l, "session.end"))
		take_end(f, line, len);
	f->failed += tells_failure(&l, line, len);
	if (rc != SQLITE_OK) {
		int r = ward_index_db_error(rc);
		return r ? r : -EIO;
	}
	f->records++;
	if (++f->added % TELL_EVERY == 0 && f->told && f->told->tell)
		f->told->tell(f->told->user, f->added);
	memcpy(f->last, line + len - WARD_MAC_HEX - 2, WARD_MAC_HEX);
	f->last[WARD_MAC_HEX] = '\0';
	return 0;
}

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
	(void)sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
}

static int make_session(struct filling *f, const char *name, struct ward_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(f->x.db,
		"INSERT INTO session(name, bytes, records, last, odd, stamp, settled, sum)"
		" VALUES(?, 0, 0, '', 0, '', 0, 0)",
		-1, &s, NULL);
	if (rc == SQLITE_OK) {
		bind_text(s, 1, name);
		rc = sqlite3_step(s);
	}
	(void)sqlite3_finalize(s);
	f->session = sqlite3_last_insert_rowid(f->x.db);
	f->records = f->odd = 0;
	f->settled = WARD_INDEX_OPEN;
	f->last[0] = f->stamp[0] = '\0';
	return rc == SQLITE_DONE ? 0 : ward_index_db_fail(&f->x, rc, err);
}

/* Finds where the index of this session ends; makes its row if it has none. */
static int find_session(
	struct filling *f, const char *name, uint64_t *ret_bytes, struct ward_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(f->x.db,
		"SELECT id, bytes, records, last, odd, stamp, settled FROM session WHERE name = ?",
		-1, &s, NULL);
	if (rc != SQLITE_OK)
		return ward_index_db_fail(&f->x, rc, err);
	bind_text(s, 1, name);
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		const char *last = (const char *)sqlite3_column_text(s, 3);
		const char *stamp = (const char *)sqlite3_column_text(s, 5);
		f->session = sqlite3_column_int64(s, 0);
		*ret_bytes = (uint64_t)sqlite3_column_int64(s, 1);
		f->records = (uint64_t)sqlite3_column_int64(s, 2);
		snprintf(f->last, sizeof(f->last), "%s", last ? last : "");
		f->odd = (uint64_t)sqlite3_column_int64(s, 4);
		snprintf(f->stamp, sizeof(f->stamp), "%s", stamp ? stamp : "");
		f->settled = sqlite3_column_int64(s, 6);
	}
	(void)sqlite3_finalize(s);
	if (rc == SQLITE_ROW)
		return 0;
	*ret_bytes = 0;
	return rc == SQLITE_DONE ? make_session(f, name, err) : ward_index_db_fail(&f->x, rc, err);
}

static int note_session(
	struct filling *f, const char *name, const char *stamp, struct ward_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(f->x.db,
		"UPDATE session SET bytes = ?, records = ?, last = ?, odd = ?, stamp = ?,"
		" sum = ? WHERE id = ?",
		-1, &s, NULL);
	if (rc == SQLITE_OK) {
		(void)sqlite3_bind_int64(s, 1, (int64_t)f->at);
		(void)sqlite3_bind_int64(s, 2, (int64_t)f->records);
		bind_text(s, 3, f->last);
		(void)sqlite3_bind_int64(s, 4, (int64_t)f->odd);
		bind_text(s, 5, stamp);
		(void)sqlite3_bind_int64(
			s, 6, (int64_t)ward_chain_session_sum(name, strlen(name), f->records));
		(void)sqlite3_bind_int64(s, 7, f->session);
		rc = sqlite3_step(s);
	}
	(void)sqlite3_finalize(s);
	return rc == SQLITE_DONE ? 0 : ward_index_db_fail(&f->x, rc, err);
}

static int forget_records(struct filling *f, int64_t session, struct ward_err *err)
{
	static const char *const tables[] = {"DELETE FROM record WHERE session = ?",
		"DELETE FROM net WHERE session = ?", "DELETE FROM tally WHERE session = ?",
		"DELETE FROM label WHERE session = ?", "DELETE FROM about WHERE session = ?"};
	int r = 0;
	for (size_t i = 0; r == 0 && i < sizeof(tables) / sizeof(*tables); i++)
		r = ward_index_db_run_for(&f->x, tables[i], session, err);
	return r;
}

/* What questions over all sessions are answered from, without a look at each record. */
static int count_records(struct filling *f, struct ward_err *err)
{
	static const char *const all[] = {"DELETE FROM tally WHERE session = ?",
		"INSERT INTO tally SELECT session, coalesce(kind, 0), coalesce(verdict, 0),"
		" coalesce(comm, 0), count(*) FROM record WHERE session = ?"
		" GROUP BY kind, verdict, comm",
		/* Where a record has no time, neither is set: each record is looked at. */
		"UPDATE about SET (earliest, latest) = (SELECT"
		" CASE WHEN count(*) = count(time) THEN min(time) END,"
		" CASE WHEN count(*) = count(time) THEN max(time) END"
		" FROM record WHERE record.session = about.session) WHERE session = ?"};
	int r = 0;
	for (size_t i = 0; r == 0 && i < sizeof(all) / sizeof(*all); i++)
		r = ward_index_db_run_for(&f->x, all[i], f->session, err);
	return r;
}

static int settle(struct filling *f, const char *stamp, struct ward_err *err)
{
	if (f->settled != WARD_INDEX_ENDED || !*stamp)
		return 0;
	return ward_index_db_run_for(
		&f->x, "UPDATE session SET settled = 2 WHERE id = ?", f->session, err);
}

static int read_trail(struct ward_store *st, struct filling *f, const char *name, uint64_t bytes,
	struct ward_err *err)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	const uint64_t added = f->added;
	int r = 0;
	/* No trail: a session that never began has no records. */
	bool there = ward_store_open_log(st, name, &log, NULL) == 0;
	if (!there || !ward_index_same(log, bytes, f->last)) {
		r = forget_records(f, f->session, err);
		bytes = f->records = f->odd = 0;
		f->last[0] = '\0';
	}
	f->at = bytes;
	f->end.is = false;
	f->failed = 0;
	if (r == 0 && there)
		r = ward_query_walk_from(log, &bytes, false, add_record, f, err);
	if (r == 0 && f->added != added)
		r = count_records(f, err);
	if (r == 0 && f->added != added) {
		int rc = note_end(f);
		r = rc == SQLITE_OK ? 0 : ward_index_db_fail(&f->x, rc, err);
	}
	return r;
}

static int update_session(
	struct ward_store *st, struct filling *f, const char *name, struct ward_err *err)
{
	char stamp[WARD_INDEX_STAMP_MAX];
	uint64_t bytes = 0;
	int r = find_session(f, name, &bytes, err);
	/* Before the trail is read: what it gains meanwhile is seen the next time. */
	ward_index_stamp(st, name, stamp);
	if (r < 0)
		return r;
	if (!stamp[0] || strcmp(stamp, f->stamp) != 0) {
		if (f->light)
			return 0;
		r = read_trail(st, f, name, bytes, err);
		if (r == 0)
			r = note_session(f, name, stamp, err);
	}
	return r == 0 ? settle(f, stamp, err) : r;
}

/* --- which sessions to look at --- */

/* Sessions of the index. */
struct known {
	struct one {
		int64_t id;
		char *name;
	} * v;
	size_t n;
};

static void free_known(struct known *k)
{
	for (size_t i = 0; i < k->n; i++)
		free(k->v[i].name);
	free(k->v);
	*k = (struct known){0};
}

static int list_known(
	const struct filling *f, const char *sql, struct known *k, struct ward_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(f->x.db, sql, -1, &s, NULL);
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 1);
		struct one *v = k->n & (k->n - 1)
					? k->v
					: reallocarray(k->v, k->n ? 2 * k->n : 1, sizeof(*v));
		k->v = v ? v : k->v;
		char *copy = v ? strdup(name ? name : "") : NULL;
		rc = copy ? SQLITE_OK : SQLITE_NOMEM;
		if (copy)
			k->v[k->n++] = (struct one){sqlite3_column_int64(s, 0), copy};
	}
	(void)sqlite3_finalize(s);
	return rc == SQLITE_DONE ? 0 : ward_index_db_fail(&f->x, rc, err);
}

static int drop_session(struct filling *f, int64_t id, struct ward_err *err)
{
	int r = forget_records(f, id, err);
	return r < 0 ? r
		     : ward_index_db_run_for(&f->x, "DELETE FROM session WHERE id = ?", id, err);
}

/* One row for each directory of a session. Both lists are in the order of names. */
static int match_names(struct ward_store *st, struct filling *f, struct ward_err *err)
{
	ward_cleanup(free_known) struct known k = {0};
	ward_cleanup(ward_store_names_free) struct ward_store_names names = {0};
	int r = ward_store_list(st, &names, err);
	if (r == 0)
		r = list_known(f, "SELECT id, name FROM session ORDER BY name", &k, err);
	for (size_t i = 0, at = 0; r == 0 && (i < names.n || at < k.n);) {
		const int order = at == k.n	 ? -1
				  : i == names.n ? 1
						 : strcmp(names.v[i], k.v[at].name);
		if (order < 0)
			r = make_session(f, names.v[i], err);
		else if (order > 0)
			r = drop_session(f, k.v[at].id, err);
		i += order <= 0;
		at += order >= 0;
	}
	return r;
}

/* What the ledger says now of the sessions that it has entries of. */
static int note_news(struct filling *f, const struct ward_index_today *today, struct ward_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(
		f->x.db, "UPDATE session SET settled = ? WHERE name = ?", -1, &s, NULL);
	for (size_t i = 0; rc == SQLITE_OK && i < today->n; i++) {
		(void)sqlite3_bind_int64(
			s, 1, today->v[i].ended ? WARD_INDEX_ENDED : WARD_INDEX_OPEN);
		bind_text(s, 2, today->v[i].name);
		rc = step(s);
	}
	(void)sqlite3_finalize(s);
	return rc == SQLITE_OK ? 0 : ward_index_db_fail(&f->x, rc, err);
}

/* So much of the ledger is worth that the index remembers to have followed it. */
#define BEHIND_MAX ((uint64_t)64 << 10)

static int update_all(struct ward_store *st, struct filling *f, struct ward_err *err)
{
	ward_cleanup(ward_index_today_clear) struct ward_index_today today = {0};
	ward_cleanup(free_known) struct known open = {0};
	int r = ward_index_today_look(st, &f->x, &today, err);
	const bool same = today.followed && today.same_names;
	if (r == 0 && !today.followed)
		r = ward_index_db_run(&f->x, "UPDATE session SET settled = 0", err);
	if (r == 0 && !same)
		r = match_names(st, f, err);
	if (r == 0)
		r = note_news(f, &today, err);
	if (r == 0)
		r = list_known(f, "SELECT id, name FROM session WHERE settled < 2", &open, err);
	for (size_t i = 0; r == 0 && i < open.n; i++)
		r = update_session(st, f, open.v[i].name, err);
	if (r == 0 && (!same || today.n > 0 || today.behind > BEHIND_MAX))
		r = ward_index_today_keep(&f->x, &today, err);
	return r;
}

static int prepare(struct filling *f, struct ward_err *err)
{
	static const char record[] = "INSERT OR REPLACE INTO record VALUES(?, ?, ?, ?, ?, ?, ?, ?,"
				     " ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	static const char net[] = "INSERT OR REPLACE INTO net VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	f->words = ward_index_words_new(f->x.db);
	if (!f->words)
		return ward_err_sys(err, -ENOMEM, "index");
	int rc = sqlite3_prepare_v2(f->x.db, record, -1, &f->insert, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(f->x.db, net, -1, &f->insert_net, NULL);
	return rc == SQLITE_OK ? 0 : ward_index_db_fail(&f->x, rc, err);
}

/* Within one transaction: all of it, or nothing. */
static int fill(struct ward_store *st, struct filling *f, const char *only,
	struct ward_index_result *ret, struct ward_err *err)
{
	f->told = ret;
	f->light = ret->light;
	int r = prepare(f, err);
	if (r == 0 && only)
		return update_session(st, f, only, err);
	if (r == 0)
		r = update_all(st, f, err);
	if (r == 0)
		r = ward_index_db_number(
			&f->x, "SELECT count(*) FROM session", &ret->sessions, err);
	if (r == 0)
		r = ward_index_db_number(
			&f->x, "SELECT coalesce(sum(records), 0) FROM session", &ret->records, err);
	ret->added = f->added;
	return r;
}

/* SQLite takes the mode of the file for its journal too. */
static int make_file(struct ward_store *st, struct ward_err *err)
{
	ward_cleanup_free char *path = ward_store_index_path(st);
	if (!path)
		return ward_err_sys(err, -ENOMEM, "index");
	ward_cleanup_fd int fd = ward_fd_make_regular(AT_FDCWD, path, O_RDWR, 0600);
	return fd < 0 ? ward_err_sys(err, fd, "%s", path) : 0;
}

static int update(struct ward_store *st, const char *only, struct ward_index_result *ret,
	struct ward_err *err)
{
	static const char begin[] = "PRAGMA synchronous = OFF; BEGIN IMMEDIATE";
	struct filling *f = calloc(1, sizeof(*f));
	uint64_t version = 0;
	int r = !f ? ward_err_sys(err, -ENOMEM, "index") : ret->light ? 0 : make_file(st, err);
	if (r == 0)
		r = ward_index_db_open(st, SQLITE_OPEN_READWRITE, &f->x, err);
	/* It can be made again: a crash may take it. */
	/* Without a wait, if it adds one session or reads no trail: the next question does it. */
	if (r == 0 && (only || ret->light))
		(void)sqlite3_busy_timeout(f->x.db, 0);
	if (r == 0)
		r = ward_index_db_run(&f->x, begin, err);
	if (r == 0)
		r = ward_index_db_number(&f->x, "PRAGMA user_version", &version, err);
	if (r == 0 && version == 0 && ret->light)
		r = -ENODATA;
	else if (r == 0 && version == 0)
		r = ward_index_db_make(&f->x, err);
	else if (r == 0 && version != WARD_INDEX_SCHEMA)
		r = ward_err_set(err, -EBADMSG, "index: of another version");
	if (r == 0)
		r = ward_index_db_check(&f->x, err);
	if (r == 0)
		r = fill(st, f, only, ret, err);
	if (r == 0)
		r = ward_index_db_run(&f->x, "COMMIT", err);
	if (f)
		close_filling(f);
	free(f);
	return r;
}

static int remove_index(struct ward_store *st, struct ward_err *err)
{
	ward_cleanup_free char *path = ward_store_index_path(st);
	ward_cleanup_free char *journal = NULL;
	if (!path || asprintf(&journal, "%s-journal", path) < 0) {
		journal = NULL;
		return ward_err_sys(err, -ENOMEM, "index");
	}
	if ((unlink(path) < 0 && errno != ENOENT) || (unlink(journal) < 0 && errno != ENOENT))
		return ward_err_sys(err, -errno, "%s", path);
	return 0;
}

static int update_or_remake(struct ward_store *st, const char *only, bool rebuild,
	struct ward_index_result *ret, struct ward_err *err)
{
	struct ward_index_result res = {.tell = ret->tell, .user = ret->user, .light = ret->light};
	if (!ward_store_index_ours(st))
		return ward_err_set(err, -EPERM,
			"%s belongs to another user, and only that user can make its index",
			ward_store_path(st));
	int r = rebuild ? remove_index(st, err) : 0;
	if (r == 0)
		r = update(st, only, &res, err);
	if (r == -EBADMSG && !ret->light) {
		res = (struct ward_index_result){.tell = ret->tell, .user = ret->user};
		r = remove_index(st, err);
		if (r == 0)
			r = update(st, only, &res, err);
	}
	if (r == 0)
		*ret = res;
	return r;
}

int ward_index_update(
	struct ward_store *st, bool rebuild, struct ward_index_result *ret, struct ward_err *err)
{
	return update_or_remake(st, NULL, rebuild, ret, err);
}

int ward_index_add(struct ward_store *st, const char *session, struct ward_err *err)
{
	struct ward_index_result none = {0};
	return update_or_remake(st, session, false, &none, err);
}
