/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the index what sessions were. */
#include "audit/query/index_about.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/index_db.h"
#include "audit/query/index_today.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"

/* Texts by their number: many sessions have the same ones. */
struct text {
	int64_t number; /* 0: free */
	json_t *v;
};
struct ward_index_texts {
	struct text *v;
	size_t n, slots; /* a power of two; half of them are in use at most */
};

static struct text *slot_of(const struct ward_index_texts *t, int64_t number)
{
	size_t i = (size_t)((uint64_t)number * UINT64_C(0x9e3779b97f4a7c15) >> 20);
	for (;; i++) {
		struct text *s = &t->v[i & (t->slots - 1)];
		if (s->number == 0 || s->number == number)
			return s;
	}
}

static int grow(struct ward_index_texts *t)
{
	const struct ward_index_texts before = *t;
	if (t->slots && t->n < t->slots / 2)
		return 0;
	t->slots = t->slots ? 2 * t->slots : 256;
	t->v = calloc(t->slots, sizeof(*t->v));
	if (!t->v) {
		*t = before;
		return -ENOMEM;
	}
	for (size_t i = 0; i < before.slots; i++)
		if (before.v[i].number)
			*slot_of(t, before.v[i].number) = before.v[i];
	free(before.v);
	return 0;
}

void ward_index_abouts_clear(struct ward_index_abouts *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->v[i].name);
	for (size_t i = 0; a->texts && i < a->texts->slots; i++)
		json_decref(a->texts->v[i].v);
	if (a->texts)
		free(a->texts->v);
	free(a->texts);
	free(a->v);
	ward_store_names_free(&a->open);
	*a = (struct ward_index_abouts){0};
}

/* The text as a JSON string, or (parse) as the JSON it contains. NULL: the text is not JSON. */
static json_t *value_of(const char *text, bool parse)
{
	return parse ? json_loads(text, JSON_DECODE_ANY, NULL) : json_string(text);
}

static int text_of(struct ward_index_texts *t, sqlite3_stmt *find, int64_t number, bool parse,
	const json_t **ret)
{
	*ret = NULL;
	if (number <= 0)
		return 0;
	if (grow(t) < 0)
		return -ENOMEM;
	/* One text can be asked for as both. */
	struct text *s = slot_of(t, parse ? -number : number);
	if (s->number == 0) {
		(void)sqlite3_bind_int64(find, 1, number);
		const char *text = sqlite3_step(find) == SQLITE_ROW
					   ? (const char *)sqlite3_column_text(find, 0)
					   : NULL;
		*s = (struct text){parse ? -number : number, text ? value_of(text, parse) : NULL};
		t->n++;
		(void)sqlite3_reset(find);
	}
	*ret = s->v;
	return 0;
}

static void put_wanted(struct ward_buf *b, const struct ward_index_wanted *w)
{
	ward_buf_puts(b, "true");
	if (w->has_login)
		ward_buf_puts(b, " AND coalesce(a.login = ?1, false)");
	if (w->has_audit_session)
		ward_buf_puts(b, " AND coalesce(a.audit_session = ?2, false)");
	for (size_t i = 0; i < w->n_labels; i++)
		ward_buf_printf(b,
			" AND EXISTS(SELECT 1 FROM label WHERE session = s.id"
			" AND key = (SELECT id FROM word WHERE text = ?%zu)"
			" AND value = (SELECT id FROM word WHERE text = ?%zu))",
			3 + 2 * i, 4 + 2 * i);
}

static void bind_text(sqlite3_stmt *s, int at, const char *text, size_t len)
{
	(void)sqlite3_bind_text(s, at, text, (int)len, SQLITE_TRANSIENT);
}

/* Keys stand in the index as they are, values escaped, as in the trail. */
static void bind_wanted(sqlite3_stmt *s, const struct ward_index_wanted *w)
{
	if (w->has_login)
		(void)sqlite3_bind_int64(s, 1, (int64_t)w->login);
	if (w->has_audit_session)
		(void)sqlite3_bind_int64(s, 2, (int64_t)w->audit_session);
	for (size_t i = 0; i < w->n_labels; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf value = WARD_BUF_INIT;
		const size_t key = strcspn(w->labels[i], "=");
		const char *text = w->labels[i] + key + (w->labels[i][key] == '=');
		ward_escape(&value, text, strlen(text));
		bind_text(s, 3 + 2 * (int)i, w->labels[i], key);
		bind_text(s, 4 + 2 * (int)i, ward_buf_str(&value), value.len);
	}
}

static int take_row(struct ward_index_abouts *l, sqlite3_stmt *s, sqlite3_stmt *find)
{
	struct ward_index_about *v =
		l->n & (l->n - 1) ? l->v : reallocarray(l->v, l->n ? 2 * l->n : 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	l->v = v;
	struct ward_index_about a = {.has_status = sqlite3_column_type(s, 6) == SQLITE_INTEGER,
		.has_signal = sqlite3_column_type(s, 7) == SQLITE_INTEGER,
		.status = sqlite3_column_int64(s, 6),
		.signal = sqlite3_column_int64(s, 7),
		.started = sqlite3_column_int64(s, 8),
		.wanted = sqlite3_column_int(s, 9)};
	int r = text_of(l->texts, find, sqlite3_column_int64(s, 3), false, &a.mode);
	if (r == 0)
		r = text_of(l->texts, find, sqlite3_column_int64(s, 4), false, &a.project);
	if (r == 0)
		r = text_of(l->texts, find, sqlite3_column_int64(s, 5), true, &a.command);
	if (r == 0 && !(a.name = strdup((const char *)sqlite3_column_text(s, 0))))
		r = -ENOMEM;
	if (r == 0)
		v[l->n++] = a;
	return r;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct ward_index_about *)a)->name,
		((const struct ward_index_about *)b)->name);
}

const struct ward_index_about *ward_index_abouts_find(
	const struct ward_index_abouts *a, const char *session, size_t *hint)
{
	const struct ward_index_about wanted = {.name = (char *)(uintptr_t)session};
	const struct ward_index_about *found =
		*hint < a->n && strcmp(a->v[*hint].name, session) == 0 ? &a->v[*hint]
		: a->n ? bsearch(&wanted, a->v, a->n, sizeof(*a->v), by_name)
		       : NULL;
	if (found)
		*hint = (size_t)(found - a->v) + 1;
	return found;
}

static int list_open(struct ward_index_db *x, struct ward_store_names *ret)
{
	sqlite3_stmt *s = NULL;
	int r = 0;
	int rc = sqlite3_prepare_v2(
		x->db, "SELECT name FROM session WHERE settled < 2 ORDER BY name", -1, &s, NULL);
	while (r == 0 && rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 0);
		char **v = reallocarray(ret->v, ret->n + 1, sizeof(*v));
		ret->v = v ? v : ret->v;
		r = v && (v[ret->n] = strdup(name ? name : "")) ? 0 : -ENOMEM;
		ret->n += r == 0;
		rc = SQLITE_OK;
	}
	(void)sqlite3_finalize(s);
	return r < 0 ? r : rc == SQLITE_DONE ? 0 : -ENODATA;
}

/* The rows that the statement has, of trails that are as they were indexed. SQLITE_DONE: all. */
static int take_rows(sqlite3_stmt *s, sqlite3_stmt *find, const struct ward_index_current *now,
	struct ward_index_abouts *ret, int *ret_rc)
{
	int r = 0, rc = SQLITE_OK;
	while (r == 0 && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 0);
		const char *stamp = (const char *)sqlite3_column_text(s, 1);
		if (name && stamp &&
			ward_index_is_current(now, name, stamp, sqlite3_column_int64(s, 2)))
			r = take_row(ret, s, find);
	}
	*ret_rc = rc;
	return r;
}

/* names NULL: of all. */
static int read_rows(struct ward_index_db *x, const struct ward_index_current *now,
	const struct ward_index_wanted *wanted, const struct ward_store_names *names,
	struct ward_index_abouts *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	sqlite3_stmt *s = NULL, *find = NULL;
	ward_buf_puts(&b, "SELECT s.name, s.stamp, s.settled, a.mode, a.project, a.command,"
			  " a.status, a.signal, a.started, ");
	put_wanted(&b, wanted);
	ward_buf_puts(&b, " FROM session s LEFT JOIN about a ON a.session = s.id"
			  " WHERE s.odd = 0 AND s.records > 0");
	ward_buf_puts(&b, names ? " AND s.name = :name" : " ORDER BY s.name");
	ret->texts = calloc(1, sizeof(*ret->texts));
	int r = ret->texts && ward_buf_error(&b) == 0 ? 0 : -ENOMEM;
	int rc = sqlite3_prepare_v2(x->db, ward_buf_str(&b), -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(
			x->db, "SELECT text FROM word WHERE id = ?", -1, &find, NULL);
	if (rc == SQLITE_OK)
		bind_wanted(s, wanted);
	const int at = s ? sqlite3_bind_parameter_index(s, ":name") : 0;
	for (size_t i = 0; r == 0 && rc == SQLITE_OK && names && i < names->n; i++) {
		bind_text(s, at, names->v[i], strlen(names->v[i]));
		r = take_rows(s, find, now, ret, &rc);
		rc = rc == SQLITE_DONE ? sqlite3_reset(s) : rc;
	}
	if (r == 0 && rc == SQLITE_OK && !names)
		r = take_rows(s, find, now, ret, &rc);
	if (names && ret->n > 0)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_name);
	rc = names && rc == SQLITE_OK ? SQLITE_DONE : rc;
	(void)sqlite3_finalize(s);
	(void)sqlite3_finalize(find);
	ret->filled = true;
	return r < 0 ? r : rc == SQLITE_DONE ? 0 : -ENODATA;
}

static int about(struct ward_store *st, const struct ward_index_wanted *wanted,
	const struct ward_store_names *names, struct ward_index_abouts *ret, struct ward_err *err)
{
	ward_cleanup(ward_index_db_close) struct ward_index_db x = {0};
	ward_cleanup(ward_index_current_clear) struct ward_index_current now = {0};
	int r = ward_index_open_asked(st, &x, err);
	if (r < 0)
		return r;
	r = ward_index_current_look(st, &x, &now, err);
	if (r < 0)
		return r;
	ward_index_abouts_clear(ret);
	ret->complete = ward_index_is_of_today(&now);
	if (wanted)
		r = read_rows(&x, &now, wanted, names, ret);
	if (r == 0 && ret->complete)
		r = list_open(&x, &ret->open);
	return r < 0 && r != -ENODATA ? ward_err_sys(err, r, "index") : r;
}

int ward_index_about_all(struct ward_store *st, const struct ward_index_wanted *wanted,
	struct ward_index_abouts *ret, struct ward_err *err)
{
	return about(st, wanted, NULL, ret, err);
}

int ward_index_about_some(struct ward_store *st, const struct ward_index_wanted *wanted,
	const struct ward_store_names *names, struct ward_index_abouts *ret, struct ward_err *err)
{
	return about(st, wanted, names, ret, err);
}
