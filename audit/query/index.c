/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the index: one SELECT, where to look in a trail, and how many records each session has. */
#include "audit/query/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/query/index_db.h"
#include "audit/query/index_today.h"
#include "enforcer/base/cleanup.h"

/* Columns of an answer. */
#define COLUMNS_MAX 64

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
	(void)sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
}

static int answer(struct ward_index_db *x, sqlite3_stmt *s, ward_index_row_fn *fn, void *ctx,
	struct ward_err *err)
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
		return ward_index_db_fail(x, rc, err);
	return r;
}

int ward_index_query(struct ward_store *st, const char *sql, ward_index_row_fn *fn, void *ctx,
	struct ward_err *err)
{
	ward_cleanup(ward_index_db_close) struct ward_index_db x = {0};
	sqlite3_stmt *s = NULL;
	const char *rest = NULL;
	int r = ward_index_db_open(st, SQLITE_OPEN_READONLY, &x, err);
	if (r < 0)
		return r;
	ward_index_db_only_read(&x);
	int rc = sqlite3_prepare_v2(x.db, sql, -1, &s, &rest);
	if (rc != SQLITE_OK || !s)
		r = ward_err_set(err, -EINVAL, "%s (wardfs audit sql --help names the columns)",
			s || rc != SQLITE_OK ? sqlite3_errmsg(x.db) : "no question");
	else if (!sqlite3_stmt_readonly(s) || rest[strspn(rest, " \t\n;")])
		r = ward_err_set(err, -EINVAL, "one SELECT, no more");
	else
		r = answer(&x, s, fn, ctx, err);
	(void)sqlite3_finalize(s);
	return r;
}

/* --- where to look --- */

struct ward_index {
	struct ward_store *st;
	struct ward_index_db db;
};

struct ward_index *ward_index_open(struct ward_store *st)
{
	struct ward_err none = WARD_ERR_INIT;
	struct ward_index *x = calloc(1, sizeof(*x));
	if (!x)
		return NULL;
	x->st = st;
	if (ward_index_open_asked(st, &x->db, &none) == 0)
		return x;
	ward_index_close(x);
	return NULL;
}

void ward_index_close(struct ward_index *x)
{
	if (x)
		ward_index_db_close(&x->db);
	free(x);
}

static void index_closep(struct ward_index **x)
{
	ward_index_close(*x);
}

/* The number of the session in it. -ENODATA: it is not the index of this trail. */
static int find_trail(struct ward_index *x, const char *session, struct ward_log *log,
	int64_t *ret_session, uint64_t *ret_bytes)
{
	static const char text[] = "SELECT id, bytes, last, stamp FROM session"
				   " WHERE name = ? AND odd = 0 AND records > 0";
	char stamp[WARD_INDEX_STAMP_MAX];
	sqlite3_stmt *s = NULL;
	if (sqlite3_prepare_v2(x->db.db, text, -1, &s, NULL) != SQLITE_OK)
		return -ENODATA;
	bind_text(s, 1, session);
	int r = -ENODATA;
	if (sqlite3_step(s) == SQLITE_ROW) {
		const char *last = (const char *)sqlite3_column_text(s, 2);
		const char *have = (const char *)sqlite3_column_text(s, 3);
		int64_t bytes = sqlite3_column_int64(s, 1);
		ward_index_stamp(x->st, session, stamp);
		*ret_session = sqlite3_column_int64(s, 0);
		/* What is as it was need not be read, which takes a while where it is compressed.
		 */
		if (bytes > 0 && last && have &&
			((stamp[0] && strcmp(stamp, have) == 0) ||
				ward_index_same(log, (uint64_t)bytes, last))) {
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

/* The number of a text, once a question; none where the index does not have it. */
#define NUMBER_OF(param) "(SELECT id FROM word WHERE text = " param ")"
/* The numbers of a path and of all beneath. */
#define BENEATH "(SELECT id FROM word WHERE text = ?9 OR (text >= ?10 AND text < ?11))"

/* What the filter asks of a row. False: rows that the filter does not mean are among them. */
static bool put_asked(struct ward_buf *b, const struct ward_filter *f, bool name)
{
	if (f->kind)
		ward_buf_puts(b, " AND kind = " NUMBER_OF("?2"));
	if (f->verdict)
		ward_buf_puts(b, " AND verdict = " NUMBER_OF("?3"));
	if (ward_filter_passes_probes(f))
		ward_buf_puts(b, " AND kind IS NOT " NUMBER_OF("'probe'"));
	if (f->rule)
		ward_buf_puts(b, " AND rule = " NUMBER_OF("?4"));
	if (f->comm)
		ward_buf_puts(b, " AND comm = " NUMBER_OF("?5"));
	if (f->since)
		ward_buf_puts(b, " AND time >= ?6");
	if (f->until)
		ward_buf_puts(b, " AND time <= ?7");
	if (f->actors)
		ward_buf_puts(b, " AND meant(pid)");
	else if (f->pid)
		ward_buf_puts(b, " AND pid = ?8");
	if (name)
		ward_buf_puts(
			b, " AND (path = " NUMBER_OF("?9") " OR path2 = " NUMBER_OF("?9") ")");
	else if (plain_path(f->path))
		ward_buf_puts(b, " AND (path IN " BENEATH " OR path2 IN " BENEATH ")");
	/* Of a pattern the rows say nothing. */
	return (!f->path || plain_path(f->path)) && !f->pid && !f->exe;
}

static void put_where(
	struct ward_buf *b, const struct ward_filter *f, bool name, enum ward_index_which which)
{
	bool path = name || plain_path(f->path);
	if (which == WARD_INDEX_MOVES) {
		ward_buf_puts(b, "SELECT at FROM record INDEXED BY record_move"
				 " WHERE session = ?1 AND kind IN (1, 2)");
		return;
	}
	if (which == WARD_INDEX_ACTORS) {
		ward_buf_puts(b, "SELECT at FROM record INDEXED BY record_actor"
				 " WHERE session = ?1 AND parent IS NOT NULL");
		return;
	}
	/* "+": by the path, not through all records of the session. */
	ward_buf_printf(b, "SELECT at FROM record WHERE %ssession = ?1", path ? "+" : "");
	(void)put_asked(b, f, name);
}

static void bind_named(sqlite3_stmt *s, const char *param, const char *text)
{
	int at = sqlite3_bind_parameter_index(s, param);
	if (at > 0)
		(void)sqlite3_bind_text(s, at, text, -1, SQLITE_TRANSIENT);
}

static bool bind_times(sqlite3_stmt *s, const struct ward_filter *f)
{
	int64_t from = 0, to = 0;
	const bool exact = ward_index_times(f->since, f->until, &from, &to);
	if (f->since)
		(void)sqlite3_bind_int64(s, sqlite3_bind_parameter_index(s, "?6"), from);
	if (f->until)
		(void)sqlite3_bind_int64(s, sqlite3_bind_parameter_index(s, "?7"), to);
	return exact;
}

/* False: as put_asked(). */
static bool bind_filter(sqlite3_stmt *s, const struct ward_filter *f, const char *name)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const bool exact = bind_times(s, f);
	bind_named(s, "?2", f->kind);
	bind_named(s, "?3", f->verdict);
	bind_named(s, "?4", f->rule);
	bind_named(s, "?5", f->comm);
	if (sqlite3_bind_parameter_index(s, "?8") > 0)
		(void)sqlite3_bind_int64(s, sqlite3_bind_parameter_index(s, "?8"), (int64_t)f->pid);
	if (name) {
		bind_named(s, "?9", name);
		return exact;
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
	return exact;
}

static int collect(struct ward_index_db *x, int64_t session, const struct ward_filter *f,
	const char *name, enum ward_index_which which, struct ward_query_lines *l, size_t *cap)
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
	(void)sqlite3_bind_int64(s, 1, session);
	(void)bind_filter(s, f, name);
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
	ward_cleanup(index_closep) struct ward_index *x = ward_index_open(st);
	return ward_index_find_in(x, session, log, f, names, which, ret, err);
}

int ward_index_find_in(struct ward_index *x, const char *session, struct ward_log *log,
	const struct ward_filter *f, const struct ward_file_names *names,
	enum ward_index_which which, struct ward_query_lines *ret, struct ward_err *err)
{
	ward_cleanup(ward_query_lines_clear) struct ward_query_lines l = {0};
	size_t cap = 0;
	int64_t number = 0;
	int r = x ? find_trail(x, session, log, &number, &l.end) : -ENODATA;
	bool matches = which == WARD_INDEX_MATCHES;
	if (r == 0 && (!matches || !names))
		r = collect(&x->db, number, f, NULL, which, &l, &cap);
	for (size_t i = 0; r == 0 && matches && ward_file_names_get(names, i); i++)
		r = collect(&x->db, number, f, ward_file_names_get(names, i), which, &l, &cap);
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

/* --- how many, over all sessions --- */

void ward_index_counts_clear(struct ward_index_counts *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->v[i].name);
	free(c->v);
	ward_store_names_free(&c->unknown);
	*c = (struct ward_index_counts){0};
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct ward_index_count *)a)->name,
		((const struct ward_index_count *)b)->name);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool ward_index_counts_find(const struct ward_index_counts *c, const char *session, uint64_t *ret)
{
	const struct ward_index_count wanted = {.name = (char *)(uintptr_t)session};
	const struct ward_index_count *found =
		c->n ? bsearch(&wanted, c->v, c->n, sizeof(*c->v), by_name) : NULL;
	const struct ward_store_names *u = &c->unknown;
	if (found)
		*ret = found->n;
	else if (!c->complete || (u->n && bsearch(&session, u->v, u->n, sizeof(*u->v), by_text)))
		return false;
	else
		*ret = 0;
	return true;
}

static int add_unknown(struct ward_index_counts *c, const char *name)
{
	char **v = reallocarray(c->unknown.v, c->unknown.n + 1, sizeof(*v));
	c->unknown.v = v ? v : c->unknown.v;
	if (!v || !(v[c->unknown.n] = strdup(name)))
		return -ENOMEM;
	c->unknown.n++;
	return 0;
}

static int add_count(struct ward_index_counts *c, const char *name, uint64_t n)
{
	struct ward_index_count *v =
		c->n & (c->n - 1) ? c->v : reallocarray(c->v, c->n ? 2 * c->n : 1, sizeof(*v));
	char *copy = v ? strdup(name) : NULL;
	if (v)
		c->v = v;
	if (!copy)
		return -ENOMEM;
	v[c->n++] = (struct ward_index_count){.name = copy, .n = n};
	return 0;
}

/* All records of the session are within the times; and none is. */
#define WITHIN "(latest <= coalesce(?7, latest) AND earliest >= coalesce(?6, earliest))"
#define WITHOUT "(latest < ?6 OR earliest > ?7)"

/* How many records with a path, by what the index of paths holds. */
static void put_paths(struct ward_buf *b, const struct ward_filter *f)
{
	const char *kind =
		f->kind ? " AND kind = " NUMBER_OF("?2") : " AND kind IS NOT " NUMBER_OF("'probe'");
	ward_buf_printf(b,
		"SELECT session, sum(n) AS n FROM (SELECT session, count(*) AS n"
		" FROM record INDEXED BY record_path WHERE path IN " BENEATH "%s"
		/* What has both names was counted. */
		" GROUP BY session UNION ALL SELECT session, count(*) FROM record"
		" INDEXED BY record_path2 WHERE path2 IN " BENEATH
		" AND NOT coalesce(path IN " BENEATH ", 0)%s GROUP BY session)",
		kind, kind);
}

/* How many records, by what was counted when they were indexed; each is looked at only in sessions
   that the times cut in two. */
static void put_tallies(struct ward_buf *b, const struct ward_filter *f)
{
	struct ward_filter rest = *f;
	rest.since = rest.until = NULL;
	ward_buf_puts(b, "SELECT session, sum(n) AS n FROM tally WHERE ");
	ward_buf_puts(b, f->since || f->until
				 ? "session IN (SELECT session FROM about WHERE " WITHIN ")"
				 : "true");
	(void)put_asked(b, &rest, false);
	if (!f->since && !f->until)
		return;
	ward_buf_puts(b, " GROUP BY session UNION ALL SELECT session, count(*) FROM record"
			 " WHERE session IN (SELECT o.id FROM session o LEFT JOIN about"
			 " ON about.session = o.id WHERE latest IS NULL OR NOT (" WITHIN
			 " OR coalesce(" WITHOUT ", 0)))");
	(void)put_asked(b, f, false);
}

/* complete: of settled sessions only those that have some. */
static bool put_count(struct ward_buf *b, const struct ward_filter *f, bool complete)
{
	const bool path = plain_path(f->path) && !f->verdict && !f->rule && !f->comm && !f->since &&
			  !f->until && !f->pid;
	const bool exact = (!f->path || plain_path(f->path)) && !f->pid && !f->exe;
	ward_buf_puts(b,
		"SELECT s.name, s.stamp, coalesce(c.n, 0), s.settled, s.odd = 0 AND s.records > 0"
		" FROM session s LEFT JOIN (");
	if (path) {
		put_paths(b, f);
	} else if (!f->path && !f->rule && !f->pid) {
		put_tallies(b, f);
	} else {
		ward_buf_puts(b, "SELECT session, count(*) AS n FROM record WHERE true");
		(void)put_asked(b, f, false);
	}
	ward_buf_printf(b, " GROUP BY session) c ON c.session = s.id WHERE %s ORDER BY s.name",
		complete ? "c.n > 0 OR s.settled < 2 OR s.odd > 0 OR s.records = 0" : "true");
	return exact;
}

static int take_count(
	struct ward_index_counts *ret, const struct ward_index_current *now, sqlite3_stmt *s)
{
	const char *name = (const char *)sqlite3_column_text(s, 0);
	const char *have = (const char *)sqlite3_column_text(s, 1);
	if (!name || !have)
		return 0;
	/* Only what is as it was when it was indexed. */
	if (sqlite3_column_int(s, 4) &&
		ward_index_is_current(now, name, have, sqlite3_column_int64(s, 3)))
		return add_count(ret, name, (uint64_t)sqlite3_column_int64(s, 2));
	return ret->complete ? add_unknown(ret, name) : 0;
}

int ward_index_count(struct ward_store *st, const struct ward_filter *f,
	struct ward_index_counts *ret, struct ward_err *err)
{
	ward_cleanup(ward_index_db_close) struct ward_index_db x = {0};
	ward_cleanup(ward_index_current_clear) struct ward_index_current now = {0};
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	sqlite3_stmt *s = NULL;
	int r = ward_index_open_asked(st, &x, err);
	if (r < 0 || ward_filter_asks_actors(f))
		return -ENODATA;
	r = ward_index_current_look(st, &x, &now, err);
	if (r < 0)
		return r;
	ret->complete = ward_index_is_of_today(&now);
	if (ward_index_db_number(&x, "SELECT count(*) FROM session", &ret->sessions, err) < 0)
		return -ENODATA;
	ret->exact = put_count(&b, f, ret->complete);
	int rc = sqlite3_prepare_v2(x.db, ward_buf_str(&b), -1, &s, NULL);
	if (rc != SQLITE_OK)
		return -ENODATA;
	ret->exact &= bind_filter(s, f, NULL);
	while (r == 0 && (rc = sqlite3_step(s)) == SQLITE_ROW)
		r = take_count(ret, &now, s);
	(void)sqlite3_finalize(s);
	if (r == 0 && rc != SQLITE_DONE)
		return -ENODATA;
	return r < 0 ? ward_err_sys(err, r, "index") : 0;
}
