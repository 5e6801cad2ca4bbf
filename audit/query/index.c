/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, updates and asks the SQLite index over trails. */
#include "audit/query/index.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/log/lines.h"
#include "audit/query/index_bind.h"
#include "audit/query/query.h"
#include "enforcer/base/cleanup.h"

/* Another process may be updating it. */
#define BUSY_MS 30000
/* Columns of an answer. */
#define COLUMNS_MAX 64
/* Of ward_index_bind(), behind session, seq and at. */
#define FIRST_COLUMN 4
/* PRAGMA user_version: another number is another schema, made anew. */
#define SCHEMA "4"

static const char schema[] =
	"CREATE TABLE session(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
	" bytes INTEGER NOT NULL, records INTEGER NOT NULL, last TEXT NOT NULL,"
	" odd INTEGER NOT NULL);"
	"CREATE TABLE record(session INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL,"
	" time TEXT, kind TEXT, verdict TEXT, action TEXT, path TEXT, path2 TEXT, pid INTEGER,"
	" process INTEGER, parent INTEGER, comm TEXT, rule TEXT, errno TEXT, read INTEGER,"
	" written INTEGER, PRIMARY KEY(session, seq)) WITHOUT ROWID;"
	"CREATE INDEX record_path ON record(path);"
	"CREATE INDEX record_path2 ON record(path2) WHERE path2 IS NOT NULL;"
	"CREATE INDEX record_move ON record(session, at) WHERE kind IN ('rename', 'link');"
	"CREATE INDEX record_actor ON record(session, at) WHERE parent IS NOT NULL;"
	"CREATE VIEW records AS SELECT session.name AS session, seq, at, time, kind, verdict, action,"
	" path, path2, pid, process, parent, comm, rule, errno, read, written FROM record JOIN session"
	" ON session.id = record.session;"
	"PRAGMA user_version = " SCHEMA ";";

/* Records between two words of progress. */
#define TELL_EVERY 1000

struct index {
	sqlite3 *db;
	sqlite3_stmt *insert;
	int64_t session; /* in hand */
	uint64_t at;
	uint64_t records;
	uint64_t odd; /* lines that are no record, or not the next one */
	char last[WARD_MAC_HEX + 1];
	uint64_t added;
	const struct ward_index_result *told; /* whom to tell; NULL: nobody */
	char scratch[WARD_LINE_MAX];	      /* texts of the line in hand */
};

static int sql_error(sqlite3 *db, int rc)
{
	if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW)
		return 0;
	if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB)
		return -EBADMSG;
	if (rc == SQLITE_NOMEM)
		return -ENOMEM;
	if (rc == SQLITE_FULL)
		return -ENOSPC;
	return rc == SQLITE_BUSY ? -EBUSY : -EIO;
}

static int fail(const struct index *x, int rc, struct ward_err *err)
{
	int r = sql_error(x->db, rc);
	return ward_err_set(err, r ? r : -EIO, "index: %s", sqlite3_errmsg(x->db));
}

static int run(const struct index *x, const char *sql, struct ward_err *err)
{
	int rc = sqlite3_exec(x->db, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : fail(x, rc, err);
}

static void close_index(struct index *x)
{
	(void)sqlite3_finalize(x->insert);
	(void)sqlite3_close(x->db);
}

static int open_index(struct ward_store *st, int flags, struct index *x, struct ward_err *err)
{
	ward_cleanup_free char *path = ward_store_index_path(st);
	if (!path)
		return ward_err_sys(err, -ENOMEM, "index");
	int rc = sqlite3_open_v2(path, &x->db, flags | SQLITE_OPEN_NOFOLLOW, NULL);
	if (rc != SQLITE_OK)
		return ward_err_set(err, x->db ? -EIO : -ENOMEM, "%s: %s", path,
			x->db ? sqlite3_errmsg(x->db) : "out of memory");
	/* Neither extensions nor tricks with its own schema: an index can have been exchanged. */
	(void)sqlite3_db_config(x->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_db_config(x->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	(void)sqlite3_busy_timeout(x->db, BUSY_MS);
	return 0;
}

/* --- filling --- */

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
	(void)sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
}

static int add_record(void *ctx, const char *line, size_t len, const json_t *rec)
{
	struct index *x = ctx;
	uint64_t at = x->at;
	struct ward_line l;
	(void)rec;
	x->at += len + 1;
	sqlite3_stmt *s = x->insert;
	/* What is no record is verify's to tell. */
	if (ward_line_parse(line, len, &l) < 0 ||
		ward_index_bind(s, FIRST_COLUMN, line, len, x->scratch) < 0) {
		x->odd++;
		return 0;
	}
	x->odd += l.seq != x->records + 1;
	(void)sqlite3_bind_int64(s, 1, x->session);
	(void)sqlite3_bind_int64(s, 2, (int64_t)l.seq);
	(void)sqlite3_bind_int64(s, 3, (int64_t)at);
	int rc = sqlite3_step(s);
	(void)sqlite3_reset(s);
	if (rc != SQLITE_DONE)
		return sql_error(x->db, rc);
	x->records++;
	if (++x->added % TELL_EVERY == 0 && x->told && x->told->tell)
		x->told->tell(x->told->user, x->added);
	memcpy(x->last, line + len - WARD_MAC_HEX - 2, WARD_MAC_HEX);
	x->last[WARD_MAC_HEX] = '\0';
	return 0;
}

/* True if the trail is the one that was indexed up to `bytes`: there ends a line with that mac. */
static bool same_trail(struct ward_log *log, uint64_t bytes, const char *last)
{
	char tail[WARD_MAC_HEX + 3]; /* mac, quote, brace, newline */
	if (bytes == 0)
		return true;
	return bytes >= sizeof(tail) &&
	       ward_log_read(log, tail, sizeof(tail), bytes - sizeof(tail)) ==
		       (ssize_t)sizeof(tail) &&
	       strlen(last) == WARD_MAC_HEX && memcmp(tail, last, WARD_MAC_HEX) == 0 &&
	       memcmp(tail + WARD_MAC_HEX, "\"}\n", 3) == 0;
}

/* Where the index of this session ends; a row is made where there is none. */
static int find_session(
	struct index *x, const char *name, uint64_t *ret_bytes, struct ward_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(x->db,
		"SELECT id, bytes, records, last, odd FROM session WHERE name = ?", -1, &s, NULL);
	if (rc != SQLITE_OK)
		return fail(x, rc, err);
	bind_text(s, 1, name);
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		const char *last = (const char *)sqlite3_column_text(s, 3);
		x->session = sqlite3_column_int64(s, 0);
		*ret_bytes = (uint64_t)sqlite3_column_int64(s, 1);
		x->records = (uint64_t)sqlite3_column_int64(s, 2);
		snprintf(x->last, sizeof(x->last), "%s", last ? last : "");
		x->odd = (uint64_t)sqlite3_column_int64(s, 4);
		(void)sqlite3_finalize(s);
		return 0;
	}
	(void)sqlite3_finalize(s);
	if (rc != SQLITE_DONE)
		return fail(x, rc, err);
	rc = sqlite3_prepare_v2(x->db,
		"INSERT INTO session(name, bytes, records, last, odd) VALUES(?, 0, 0, '', 0)", -1,
		&s, NULL);
	if (rc != SQLITE_OK)
		return fail(x, rc, err);
	bind_text(s, 1, name);
	rc = sqlite3_step(s);
	(void)sqlite3_finalize(s);
	x->session = sqlite3_last_insert_rowid(x->db);
	x->records = x->odd = 0;
	x->last[0] = '\0';
	*ret_bytes = 0;
	return rc == SQLITE_DONE ? 0 : fail(x, rc, err);
}

static int run_for(struct index *x, const char *sql, int64_t session, struct ward_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(x->db, sql, -1, &s, NULL);
	if (rc == SQLITE_OK) {
		(void)sqlite3_bind_int64(s, 1, session);
		rc = sqlite3_step(s);
	}
	(void)sqlite3_finalize(s);
	return rc == SQLITE_DONE ? 0 : fail(x, rc, err);
}

static int note_session(struct index *x, struct ward_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(x->db,
		"UPDATE session SET bytes = ?, records = ?, last = ?, odd = ? WHERE id = ?", -1, &s,
		NULL);
	if (rc == SQLITE_OK) {
		(void)sqlite3_bind_int64(s, 1, (int64_t)x->at);
		(void)sqlite3_bind_int64(s, 2, (int64_t)x->records);
		bind_text(s, 3, x->last);
		(void)sqlite3_bind_int64(s, 4, (int64_t)x->odd);
		(void)sqlite3_bind_int64(s, 5, x->session);
		rc = sqlite3_step(s);
	}
	(void)sqlite3_finalize(s);
	return rc == SQLITE_DONE ? 0 : fail(x, rc, err);
}

static int update_session(
	struct ward_store *st, struct index *x, const char *name, struct ward_err *err)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	uint64_t bytes = 0;
	int r = find_session(x, name, &bytes, err);
	if (r < 0)
		return r;
	/* No trail: a session that never began has no records. */
	bool there = ward_store_open_log(st, name, &log, NULL) == 0;
	if (!there || !same_trail(log, bytes, x->last)) {
		r = run_for(x, "DELETE FROM record WHERE session = ?", x->session, err);
		bytes = x->records = x->odd = 0;
		x->last[0] = '\0';
	}
	x->at = bytes;
	if (r == 0 && there)
		r = ward_query_walk_from(log, &bytes, false, add_record, x, err);
	return r == 0 ? note_session(x, err) : r;
}

/* Rows of sessions that have no directory any more. names: sorted. */
static int drop_gone(struct index *x, const struct ward_store_names *names, struct ward_err *err)
{
	sqlite3_stmt *s = NULL;
	int64_t gone = -1;
	int r = 0;
	do {
		gone = -1;
		int rc = sqlite3_prepare_v2(x->db, "SELECT id, name FROM session", -1, &s, NULL);
		while (rc == SQLITE_OK && gone < 0 && sqlite3_step(s) == SQLITE_ROW) {
			const char *name = (const char *)sqlite3_column_text(s, 1);
			bool there = false;
			for (size_t i = 0; name && i < names->n && !there; i++)
				there = strcmp(names->v[i], name) == 0;
			if (!there)
				gone = sqlite3_column_int64(s, 0);
		}
		(void)sqlite3_finalize(s);
		if (rc != SQLITE_OK)
			return fail(x, rc, err);
		if (gone >= 0)
			r = run_for(x, "DELETE FROM record WHERE session = ?", gone, err);
		if (gone >= 0 && r == 0)
			r = run_for(x, "DELETE FROM session WHERE id = ?", gone, err);
	} while (gone >= 0 && r == 0);
	return r;
}

static int number_of(struct index *x, const char *sql, uint64_t *ret, struct ward_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(x->db, sql, -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		*ret = (uint64_t)sqlite3_column_int64(s, 0);
	(void)sqlite3_finalize(s);
	return rc == SQLITE_ROW ? 0 : fail(x, rc, err);
}

/* Within one transaction: all of it, or nothing. */
static int fill(
	struct ward_store *st, struct index *x, struct ward_index_result *ret, struct ward_err *err)
{
	static const char insert[] =
		"INSERT OR REPLACE INTO record(session, seq, at, " WARD_INDEX_TEXTS
		", " WARD_INDEX_NUMBERS
		") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	struct ward_store_names names = {0};
	int r = ward_store_list(st, &names, err);
	if (r < 0)
		return r;
	x->told = ret;
	int rc = sqlite3_prepare_v2(x->db, insert, -1, &x->insert, NULL);
	r = rc == SQLITE_OK ? drop_gone(x, &names, err) : fail(x, rc, err);
	for (size_t i = 0; r == 0 && i < names.n; i++)
		r = update_session(st, x, names.v[i], err);
	ward_store_names_free(&names);
	if (r == 0)
		r = number_of(x, "SELECT count(*) FROM session", &ret->sessions, err);
	if (r == 0)
		r = number_of(
			x, "SELECT coalesce(sum(records), 0) FROM session", &ret->records, err);
	ret->added = x->added;
	return r;
}

/* What a database consists of, as SQLite keeps it: the text of the schema. */
static int schema_of(sqlite3 *db, char **ret)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db,
		"SELECT group_concat(type || ' ' || name || ' ' || coalesce(sql, ''), '; ')"
		" FROM (SELECT type, name, sql FROM sqlite_master ORDER BY type, name)",
		-1, &s, NULL);
	int r = 0;
	if (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(s, 0);
		*ret = strdup(text ? text : "");
		r = *ret ? 0 : -ENOMEM;
	} else {
		/* Whatever is in the way of reading a schema: it is not ours. */
		r = sql_error(db, rc);
		r = r == -ENOMEM || r == -EBUSY ? r : -EBADMSG;
	}
	(void)sqlite3_finalize(s);
	return r;
}

/* -EBADMSG: a table or an index is gone, changed, or one too many (a trigger would run in here). */
static int check_schema(const struct index *x, struct ward_err *err)
{
	ward_cleanup_free char *have = NULL;
	ward_cleanup_free char *want = NULL;
	ward_cleanup(close_index) struct index fresh = {0};
	int rc = sqlite3_open_v2(
		":memory:", &fresh.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	int r = rc == SQLITE_OK ? run(&fresh, schema, err) : -ENOMEM;
	if (r == 0)
		r = schema_of(fresh.db, &want);
	if (r == 0)
		r = schema_of(x->db, &have);
	if (r != 0)
		return ward_err_sys(err, r, "index");
	return strcmp(have, want) == 0
		       ? 0
		       : ward_err_set(err, -EBADMSG, "index: its tables are not those of an index");
}

/* SQLite takes the mode of the file for its journal too. */
static int make_file(struct ward_store *st, struct ward_err *err)
{
	ward_cleanup_free char *path = ward_store_index_path(st);
	if (!path)
		return ward_err_sys(err, -ENOMEM, "index");
	ward_cleanup_fd int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? ward_err_sys(err, -errno, "%s", path) : 0;
}

static int update(struct ward_store *st, struct ward_index_result *ret, struct ward_err *err)
{
	ward_cleanup(close_index) struct index x = {0};
	uint64_t version = 0;
	int r = make_file(st, err);
	if (r == 0)
		r = open_index(st, SQLITE_OPEN_READWRITE, &x, err);
	/* It can be made anew: a crash may take it. */
	if (r == 0)
		r = run(&x, "PRAGMA synchronous = OFF; BEGIN IMMEDIATE", err);
	if (r == 0)
		r = number_of(&x, "PRAGMA user_version", &version, err);
	if (r == 0 && version == 0)
		r = run(&x, schema, err);
	else if (r == 0 && version != strtoull(SCHEMA, NULL, 10))
		r = ward_err_set(err, -EBADMSG, "index: of another version");
	if (r == 0)
		r = check_schema(&x, err);
	if (r == 0)
		r = fill(st, &x, ret, err);
	return r == 0 ? run(&x, "COMMIT", err) : r;
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

int ward_index_update(
	struct ward_store *st, bool rebuild, struct ward_index_result *ret, struct ward_err *err)
{
	struct ward_index_result res = {.tell = ret->tell, .user = ret->user};
	struct stat sb;
	ward_cleanup_free char *dir = ward_store_index_path(st);
	if (!dir)
		return ward_err_sys(err, -ENOMEM, "index");
	*strrchr(dir, '/') = '\0';
	if (stat(dir, &sb) < 0)
		return ward_err_sys(err, -errno, "%s", dir);
	if (sb.st_uid != geteuid())
		return ward_err_set(
			err, -EPERM, "%s belongs to another user, who keeps its index", dir);
	int r = rebuild ? remove_index(st, err) : 0;
	if (r == 0)
		r = update(st, &res, err);
	if (r == -EBADMSG) {
		res = (struct ward_index_result){.tell = ret->tell, .user = ret->user};
		r = remove_index(st, err);
		if (r == 0)
			r = update(st, &res, err);
	}
	if (r == 0)
		*ret = res;
	return r;
}

/* --- asking --- */

/* What a question may do: read. */
static int authorize(
	void *ctx, int action, const char *a, const char *b, const char *c, const char *d)
{
	(void)ctx, (void)a, (void)b, (void)c, (void)d;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_FUNCTION:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	default:
		return SQLITE_DENY;
	}
}

static int answer(
	struct index *x, sqlite3_stmt *s, ward_index_row_fn *fn, void *ctx, struct ward_err *err)
{
	const char *names[COLUMNS_MAX];
	const char *values[COLUMNS_MAX];
	bool numbers[COLUMNS_MAX];
	int n = sqlite3_column_count(s);
	int rc = SQLITE_ROW;
	int r = 0;
	if (n > COLUMNS_MAX)
		return ward_err_set(err, -EINVAL, "more than %d columns", COLUMNS_MAX);
	while (r == 0 && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		for (int i = 0; i < n; i++) {
			int type = sqlite3_column_type(s, i);
			names[i] = sqlite3_column_name(s, i);
			numbers[i] = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
			values[i] = (const char *)sqlite3_column_text(s, i);
		}
		r = fn(ctx, n, names, values, numbers);
	}
	if (r == 0 && rc != SQLITE_DONE)
		return fail(x, rc, err);
	return r;
}

int ward_index_query(struct ward_store *st, const char *sql, ward_index_row_fn *fn, void *ctx,
	struct ward_err *err)
{
	ward_cleanup(close_index) struct index x = {0};
	sqlite3_stmt *s = NULL;
	const char *rest = NULL;
	int r = open_index(st, SQLITE_OPEN_READONLY, &x, err);
	if (r < 0)
		return r;
	(void)sqlite3_set_authorizer(x.db, authorize, NULL);
	int rc = sqlite3_prepare_v2(x.db, sql, -1, &s, &rest);
	if (rc != SQLITE_OK || !s)
		r = ward_err_set(err, -EINVAL, "%s",
			s		  ? sqlite3_errmsg(x.db)
			: rc != SQLITE_OK ? sqlite3_errmsg(x.db)
					  : "no question");
	else if (!sqlite3_stmt_readonly(s) || rest[strspn(rest, " \t\n;")])
		r = ward_err_set(err, -EINVAL, "one SELECT, no more");
	else
		r = answer(&x, s, fn, ctx, err);
	(void)sqlite3_finalize(s);
	return r;
}

/* --- where to look --- */

/* The index as it stands, for this trail; -ENODATA: not for it. */
static int open_for(struct ward_store *st, const char *session, struct ward_log *log,
	struct index *x, uint64_t *ret_bytes, struct ward_err *err)
{
	static const char text[] =
		"SELECT id, bytes, last FROM session WHERE name = ? AND odd = 0 AND records > 0";
	sqlite3_stmt *s = NULL;
	uint64_t version = 0;
	int r = open_index(st, SQLITE_OPEN_READONLY, x, err);
	if (r == 0)
		r = number_of(x, "PRAGMA user_version", &version, err);
	if (r == 0 && version == strtoull(SCHEMA, NULL, 10))
		r = check_schema(x, err);
	else if (r == 0)
		r = -ENODATA;
	if (r < 0)
		return -ENODATA;
	(void)sqlite3_set_authorizer(x->db, authorize, NULL);
	if (sqlite3_prepare_v2(x->db, text, -1, &s, NULL) != SQLITE_OK)
		return -ENODATA;
	bind_text(s, 1, session);
	r = -ENODATA;
	if (sqlite3_step(s) == SQLITE_ROW) {
		const char *last = (const char *)sqlite3_column_text(s, 2);
		int64_t bytes = sqlite3_column_int64(s, 1);
		x->session = sqlite3_column_int64(s, 0);
		if (bytes > 0 && last && same_trail(log, (uint64_t)bytes, last)) {
			*ret_bytes = (uint64_t)bytes;
			r = 0;
		}
	}
	(void)sqlite3_finalize(s);
	return r;
}

/* Beneath a path: whatever begins with it and a slash. Not for patterns, nor for "/". */
static bool plain_path(const char *path)
{
	return path && path[0] == '/' && !strpbrk(path, "*?[") && path[strspn(path, "/")];
}

/* SQL: can a record of this thread be one that the filter asks for? */
static void meant(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	const struct ward_actors *a = sqlite3_user_data(ctx);
	(void)n;
	sqlite3_result_int(ctx, ward_actors_may(a, (uint64_t)sqlite3_value_int64(v[0])));
}

static void put_where(
	struct ward_buf *b, const struct ward_filter *f, bool name, enum ward_index_which which)
{
	bool path = name || plain_path(f->path);
	if (which == WARD_INDEX_MOVES) {
		ward_buf_puts(b, "SELECT at FROM record INDEXED BY record_move"
				 " WHERE session = ?1 AND kind IN ('rename', 'link')");
		return;
	}
	if (which == WARD_INDEX_ACTORS) {
		ward_buf_puts(b, "SELECT at FROM record INDEXED BY record_actor"
				 " WHERE session = ?1 AND parent IS NOT NULL");
		return;
	}
	/* "+": by the path, not through all records of the session. */
	ward_buf_printf(b, "SELECT at FROM record WHERE %ssession = ?1", path ? "+" : "");
	if (f->kind)
		ward_buf_puts(b, " AND kind = ?2");
	if (f->verdict)
		ward_buf_puts(b, " AND verdict = ?3");
	if (f->rule)
		ward_buf_puts(b, " AND rule = ?4");
	if (f->comm)
		ward_buf_puts(b, " AND comm = ?5");
	if (f->since)
		ward_buf_puts(b, " AND time >= ?6");
	if (f->until)
		ward_buf_puts(b, " AND substr(time, 1, length(?7)) <= ?7");
	if (f->actors)
		ward_buf_puts(b, " AND meant(pid)");
	else if (f->pid)
		ward_buf_puts(b, " AND pid = ?8");
	if (name)
		ward_buf_puts(b, " AND (path = ?9 OR path2 = ?9)");
	else if (path)
		ward_buf_puts(b, " AND (path = ?9 OR (path >= ?10 AND path < ?11) OR path2 = ?9 OR"
				 " (path2 >= ?10 AND path2 < ?11))");
}

static void bind_named(sqlite3_stmt *s, const char *param, const char *text)
{
	int at = sqlite3_bind_parameter_index(s, param);
	if (at > 0)
		(void)sqlite3_bind_text(s, at, text, -1, SQLITE_TRANSIENT);
}

static void bind_filter(sqlite3_stmt *s, const struct ward_filter *f, const char *name)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	bind_named(s, "?2", f->kind);
	bind_named(s, "?3", f->verdict);
	bind_named(s, "?4", f->rule);
	bind_named(s, "?5", f->comm);
	bind_named(s, "?6", f->since);
	bind_named(s, "?7", f->until);
	if (sqlite3_bind_parameter_index(s, "?8") > 0)
		(void)sqlite3_bind_int64(s, 8, (int64_t)f->pid);
	if (name) {
		bind_named(s, "?9", name);
		return;
	}
	size_t len = f->path ? strlen(f->path) : 0;
	while (len > 1 && f->path[len - 1] == '/')
		len--;
	ward_buf_add(&b, f->path, len);
	bind_named(s, "?9", ward_buf_str(&b));
	/* "0" is what follows "/". */
	ward_buf_putc(&b, '/');
	bind_named(s, "?10", ward_buf_str(&b));
	if (b.len > 0)
		b.data[b.len - 1] = '0';
	bind_named(s, "?11", ward_buf_str(&b));
}

static int collect(struct index *x, const struct ward_filter *f, const char *name,
	enum ward_index_which which, struct ward_query_lines *l, size_t *cap)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	sqlite3_stmt *s = NULL;
	int r = 0;
	put_where(&b, f, name != NULL, which);
	if (f->actors &&
		sqlite3_create_function_v2(x->db, "meant", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
			f->actors, meant, NULL, NULL, NULL) != SQLITE_OK)
		return -ENOMEM;
	int rc = sqlite3_prepare_v2(x->db, ward_buf_str(&b), -1, &s, NULL);
	if (rc != SQLITE_OK)
		return -ENODATA;
	(void)sqlite3_bind_int64(s, 1, x->session);
	bind_filter(s, f, name);
	while (r == 0 && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		int64_t at = sqlite3_column_int64(s, 0);
		if (l->n == *cap) {
			size_t n = *cap ? 2 * *cap : 256;
			uint64_t *v = reallocarray(l->v, n, sizeof(*v));
			if (!v) {
				r = -ENOMEM;
				break;
			}
			l->v = v;
			*cap = n;
		}
		/* Behind what was indexed it cannot be: the index is not what it was. */
		if (at < 0 || (uint64_t)at >= l->end)
			r = -ENODATA;
		else
			l->v[l->n++] = (uint64_t)at;
	}
	(void)sqlite3_finalize(s);
	return r == 0 && rc != SQLITE_DONE ? -ENODATA : r;
}

static int by_offset(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

int ward_index_find(struct ward_store *st, const char *session, struct ward_log *log,
	const struct ward_filter *f, const struct ward_file_names *names,
	enum ward_index_which which, struct ward_query_lines *ret, struct ward_err *err)
{
	ward_cleanup(close_index) struct index x = {0};
	ward_cleanup(ward_query_lines_clear) struct ward_query_lines l = {0};
	size_t cap = 0;
	int r = open_for(st, session, log, &x, &l.end, err);
	bool matches = which == WARD_INDEX_MATCHES;
	if (r == 0 && (!matches || !names))
		r = collect(&x, f, NULL, which, &l, &cap);
	for (size_t i = 0; r == 0 && matches && ward_file_names_get(names, i); i++)
		r = collect(&x, f, ward_file_names_get(names, i), which, &l, &cap);
	if (r < 0)
		return ward_err_sys(err, r, "index");
	/* A record can have two of the names. */
	size_t n = 0;
	if (l.n > 0)
		qsort(l.v, l.n, sizeof(*l.v), by_offset);
	for (size_t i = 0; i < l.n; i++)
		if (n == 0 || l.v[n - 1] != l.v[i])
			l.v[n++] = l.v[i];
	l.n = n;
	*ret = l;
	l = (struct ward_query_lines){0};
	return 0;
}
