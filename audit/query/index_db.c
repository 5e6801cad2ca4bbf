/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the database of the index, makes and checks its tables. */
#include "audit/query/index_db.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/log/chain.h"
#include "audit/log/segments.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/timestamp.h"

/* Another process may be updating it. */
#define BUSY_MS 30000

#define STRING_(x) #x
#define STRING(x) STRING_(x)
/* The text of a number, where a column holds one. */
#define WORD(table, column) " LEFT JOIN word " table " ON " table ".id = record." column
#define NET_WORD(table, column) " LEFT JOIN word " table " ON " table ".id = net." column

/* As records have it, of nanoseconds since 1970. */
#define TIME(ns)                                                                                   \
	" strftime('%Y-%m-%dT%H:%M:%S', " ns " / 1000000000, 'unixepoch') ||"                      \
	" printf('.%09dZ', " ns " % 1000000000)"
#define STARTED TIME("about.started")
#define AT TIME("time")

/*
 * Rows come in the order of the trail, but what each session has at its start alike comes last: the
 * first rows say what the session did. The key gives the order of the sessions, so that each is
 * sorted alone.
 */
#define STARTS_LAST " ORDER BY record.session, record.kind IN (4, 5), record.seq"

/*
 * 50 to 80 bytes a record: each text stands once, in word, and the time is a number. The first
 * words are those that partial indexes name by number.
 */
static const char schema[] =
	"CREATE TABLE word(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
	"INSERT INTO word VALUES(1, 'rename'), (2, 'link'), (3, 'connect'),"
	" (4, 'policy'), (5, 'probe');"
	"CREATE TABLE session(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
	" bytes INTEGER NOT NULL, records INTEGER NOT NULL, last TEXT NOT NULL,"
	" odd INTEGER NOT NULL, stamp TEXT NOT NULL, settled INTEGER NOT NULL,"
	" sum INTEGER NOT NULL);"
	"CREATE TABLE today(id INTEGER PRIMARY KEY, ledger TEXT NOT NULL, names TEXT NOT NULL);"
	"CREATE INDEX session_open ON session(settled) WHERE settled < 2;"
	"CREATE INDEX session_whole ON session(sum) WHERE " WARD_INDEX_WHOLE ";"
	"CREATE INDEX session_part ON session(name) WHERE " WARD_INDEX_PART ";"
	"CREATE TABLE record(session INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL,"
	" time INTEGER, kind INTEGER, verdict INTEGER, action INTEGER, path INTEGER,"
	" path2 INTEGER, comm INTEGER, rule INTEGER, errno INTEGER, pid INTEGER, process INTEGER,"
	" parent INTEGER, read INTEGER, written INTEGER, PRIMARY KEY(session, seq)) WITHOUT ROWID;"
	"CREATE TABLE net(session INTEGER NOT NULL, seq INTEGER NOT NULL, host INTEGER,"
	" addr INTEGER, proto INTEGER, via INTEGER, port INTEGER, sent INTEGER, received INTEGER,"
	" duration INTEGER, PRIMARY KEY(session, seq)) WITHOUT ROWID;"
	"CREATE TABLE tally(session INTEGER NOT NULL, kind INTEGER NOT NULL,"
	" verdict INTEGER NOT NULL, comm INTEGER NOT NULL, n INTEGER NOT NULL,"
	" PRIMARY KEY(session, kind, verdict, comm)) WITHOUT ROWID;"
	"CREATE TABLE label(session INTEGER NOT NULL, key INTEGER NOT NULL, value INTEGER NOT NULL,"
	" PRIMARY KEY(session, key)) WITHOUT ROWID;"
	"CREATE TABLE about(session INTEGER PRIMARY KEY, started INTEGER, verb INTEGER,"
	" mode INTEGER, project INTEGER, owner INTEGER, agent INTEGER, login INTEGER,"
	" audit_session INTEGER, command INTEGER, status INTEGER, signal INTEGER,"
	" walls INTEGER, failed INTEGER NOT NULL DEFAULT 0, earliest INTEGER,"
	" latest INTEGER);"
	"CREATE INDEX label_value ON label(key, value);"
	"CREATE INDEX about_login ON about(login) WHERE login IS NOT NULL;"
	"CREATE INDEX about_audit ON about(audit_session) WHERE audit_session IS NOT NULL;"
	"CREATE INDEX about_walls ON about(walls, mode, started) WHERE failed = 0;"
	"CREATE INDEX about_failed ON about(session) WHERE failed > 0 OR walls IS NULL;"
	"CREATE VIEW labels AS SELECT session.name AS session, k.text AS key, v.text AS value"
	" FROM label JOIN session ON session.id = label.session JOIN word k ON k.id = key"
	" JOIN word v ON v.id = value;"
	"CREATE VIEW sessions AS SELECT session.name AS session," STARTED
	" AS started, v.text AS verb, m.text AS mode, p.text AS project,"
	" o.text AS owner, a.text AS agent, login, audit_session, records"
	" FROM session LEFT JOIN about ON about.session = session.id"
	" LEFT JOIN word v ON v.id = verb LEFT JOIN word m ON m.id = mode"
	" LEFT JOIN word p ON p.id = project LEFT JOIN word o ON o.id = owner"
	" LEFT JOIN word a ON a.id = agent;"
	"CREATE INDEX record_path ON record(path, session, kind) WHERE path IS NOT NULL;"
	"CREATE INDEX record_path2 ON record(path2) WHERE path2 IS NOT NULL;"
	"CREATE INDEX record_move ON record(session, at) WHERE kind IN (1, 2);"
	"CREATE INDEX record_actor ON record(session, at) WHERE parent IS NOT NULL;"
	"CREATE INDEX net_host ON net(host) WHERE host IS NOT NULL;"
	"CREATE INDEX net_addr ON net(addr) WHERE addr IS NOT NULL;"
	"CREATE VIEW records AS SELECT session.name AS session, record.seq AS seq, at," AT
	" AS time,"
	" w_kind.text AS kind, w_verdict.text AS verdict, w_action.text AS action,"
	" w_path.text AS path, w_path2.text AS path2, pid, process, parent, w_comm.text AS comm,"
	" w_rule.text AS rule, w_errno.text AS errno, read, written, w_host.text AS host,"
	" w_addr.text AS addr, port, w_proto.text AS proto, w_via.text AS via, sent, received, duration,"
	" login, audit_session FROM record JOIN session ON session.id = record.session"
	" LEFT JOIN about ON about.session = record.session" WORD("w_kind", "kind") WORD(
		"w_verdict", "verdict") WORD("w_action", "action") WORD("w_path",
		"path") WORD("w_path2", "path2") WORD("w_comm", "comm") WORD("w_rule",
		"rule") WORD("w_errno",
		"errno") " LEFT JOIN net ON net.session = record.session AND net.seq = record.seq" NET_WORD("w_host",
		"host") NET_WORD("w_addr", "addr") NET_WORD("w_proto", "proto")
		NET_WORD("w_via", "via") STARTS_LAST
	";"
	"PRAGMA user_version = " STRING(WARD_INDEX_SCHEMA) ";";

int ward_index_db_error(int rc)
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

int ward_index_db_fail(const struct ward_index_db *x, int rc, struct ward_err *err)
{
	int r = ward_index_db_error(rc);
	return ward_err_set(err, r ? r : -EIO, "index: %s", sqlite3_errmsg(x->db));
}

int ward_index_db_run(const struct ward_index_db *x, const char *sql, struct ward_err *err)
{
	int rc = sqlite3_exec(x->db, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : ward_index_db_fail(x, rc, err);
}

int ward_index_db_run_for(
	const struct ward_index_db *x, const char *sql, int64_t session, struct ward_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(x->db, sql, -1, &s, NULL);
	if (rc == SQLITE_OK) {
		(void)sqlite3_bind_int64(s, 1, session);
		rc = sqlite3_step(s);
	}
	(void)sqlite3_finalize(s);
	return rc == SQLITE_DONE ? 0 : ward_index_db_fail(x, rc, err);
}

int ward_index_db_number(
	const struct ward_index_db *x, const char *sql, uint64_t *ret, struct ward_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(x->db, sql, -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		*ret = (uint64_t)sqlite3_column_int64(s, 0);
	(void)sqlite3_finalize(s);
	return rc == SQLITE_ROW ? 0 : ward_index_db_fail(x, rc, err);
}

void ward_index_db_close(struct ward_index_db *x)
{
	(void)sqlite3_close(x->db);
	x->db = NULL;
}

int ward_index_db_open(
	struct ward_store *st, int flags, struct ward_index_db *ret, struct ward_err *err)
{
	ward_cleanup_free char *path = ward_store_index_path(st);
	if (!path)
		return ward_err_sys(err, -ENOMEM, "index");
	/* SQLite would wait at a pipe. */
	ward_cleanup_fd int fd = ward_fd_open_regular(AT_FDCWD, path, O_RDONLY);
	if (fd < 0 || !ward_store_index_ours(st))
		return ward_err_sys(err, fd < 0 ? fd : -EPERM, "%s", path);
	int rc = sqlite3_open_v2(path, &ret->db, flags | SQLITE_OPEN_NOFOLLOW, NULL);
	if (rc != SQLITE_OK)
		return ward_err_set(err, ret->db ? -EIO : -ENOMEM, "%s: %s", path,
			ret->db ? sqlite3_errmsg(ret->db) : "out of memory");
	/* Neither extensions nor tricks with its own schema: an index can have been exchanged. */
	(void)sqlite3_db_config(ret->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_db_config(ret->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	(void)sqlite3_busy_timeout(ret->db, BUSY_MS);
	return 0;
}

int ward_index_db_make(const struct ward_index_db *x, struct ward_err *err)
{
	return ward_index_db_run(x, schema, err);
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
		r = ward_index_db_error(rc);
		r = r == -ENOMEM || r == -EBUSY ? r : -EBADMSG;
	}
	(void)sqlite3_finalize(s);
	return r;
}

int ward_index_db_check(const struct ward_index_db *x, struct ward_err *err)
{
	ward_cleanup_free char *have = NULL;
	ward_cleanup_free char *want = NULL;
	ward_cleanup(ward_index_db_close) struct ward_index_db fresh = {0};
	int rc = sqlite3_open_v2(
		":memory:", &fresh.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	int r = rc == SQLITE_OK ? ward_index_db_make(&fresh, err) : -ENOMEM;
	if (r == 0)
		r = schema_of(fresh.db, &want);
	if (r == 0)
		r = schema_of(x->db, &have);
	if (r != 0)
		return ward_err_sys(err, r, "index");
	return strcmp(have, want) == 0
		       ? 0
		       : ward_err_set(err, -EBADMSG, "index: this file is not an index of wardfs");
}

void ward_index_stamp(struct ward_store *st, const char *session, char ret[WARD_INDEX_STAMP_MAX])
{
	struct ward_err none = WARD_ERR_INIT;
	ward_cleanup_free struct ward_segment *v = NULL;
	ward_cleanup_fd int dir = -1;
	size_t n = 0;
	unsigned char hash[(WARD_INDEX_STAMP_MAX - 1) / 2];
	crypto_generichash_state state;
	ret[0] = '\0';
	if (ward_store_open_session(st, session, &dir, &none) < 0 ||
		ward_segments_list(dir, &v, &n) < 0 || n == 0)
		return;
	(void)crypto_generichash_init(&state, NULL, 0, sizeof(hash));
	for (size_t i = 0; i < n; i++) {
		char name[WARD_SEGMENT_NAME_MAX];
		struct stat sb;
		ward_segment_name(name, v[i].number, !v[i].plain);
		if (fstatat(dir, name, &sb, AT_SYMLINK_NOFOLLOW) < 0)
			return;
		const uint64_t what[] = {v[i].number, v[i].plain, sb.st_ino, (uint64_t)sb.st_size,
			(uint64_t)sb.st_mtim.tv_sec, (uint64_t)sb.st_mtim.tv_nsec,
			(uint64_t)sb.st_ctim.tv_sec, (uint64_t)sb.st_ctim.tv_nsec};
		(void)crypto_generichash_update(&state, (const unsigned char *)what, sizeof(what));
	}
	(void)crypto_generichash_final(&state, hash, sizeof(hash));
	(void)sodium_bin2hex(ret, WARD_INDEX_STAMP_MAX, hash, sizeof(hash));
}

bool ward_index_same(struct ward_log *log, uint64_t bytes, const char *last)
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

void ward_index_db_only_read(const struct ward_index_db *x)
{
	(void)sqlite3_set_authorizer(x->db, authorize, NULL);
}

int ward_index_open_asked(struct ward_store *st, struct ward_index_db *x, struct ward_err *err)
{
	uint64_t version = 0;
	int r = ward_index_db_open(st, SQLITE_OPEN_READONLY, x, err);
	if (r == 0)
		r = ward_index_db_number(x, "PRAGMA user_version", &version, err);
	if (r == 0 && version == WARD_INDEX_SCHEMA)
		r = ward_index_db_check(x, err);
	else if (r == 0)
		r = -ENODATA;
	if (r < 0)
		return -ENODATA;
	ward_index_db_only_read(x);
	return 0;
}

/*
 * The first or the last moment that a beginning of a time ("2026-01-02T03") covers, in ns since
 * 1970. A text that is no such beginning ("2026-01-02T2", up to 29 hours) gives `otherwise`: the
 * filter then checks each record.
 */
static int64_t bound(const char *text, const char *rest, int64_t otherwise)
{
	char whole[WARD_CLOCK_TEXT_MAX];
	const size_t len = strlen(text);
	if (len >= sizeof(whole) || len > strlen(rest))
		return otherwise;
	memcpy(whole, text, len);
	strcpy(whole + len, rest + len);
	const uint64_t ns = ward_timestamp_ns(whole);
	return ns > 0 && ns <= INT64_MAX ? (int64_t)ns : otherwise;
}

bool ward_index_times(const char *since, const char *until, int64_t *ret_from, int64_t *ret_to)
{
	const int64_t from = since ? bound(since, "0000-01-01T00:00:00.000000000Z", -1) : 0;
	const int64_t to =
		until ? bound(until, "9999-12-31T23:59:59.999999999Z", INT64_MAX) : INT64_MAX;
	*ret_from = from;
	*ret_to = to;
	return from >= 0 && (!until || to < INT64_MAX);
}
