/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what came into the ledger since the index followed it. */
#include "audit/query/index_today.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/log/chain.h"
#include "audit/log/lines.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"

/*
 * A directory that changed later than this ago could change again without another time: the clock
 * of the file system goes in steps of some milliseconds.
 */
#define STEADY_NS WARD_NS_PER_SEC

/* Where the index left the ledger. */
struct place {
	uint64_t dev, ino, offset;
	char mac[WARD_MAC_HEX + 1]; /* of the entry that ends there */
};

void ward_index_today_clear(struct ward_index_today *t)
{
	free(t->v);
	ward_buf_clear(&t->text);
	*t = (struct ward_index_today){0};
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct ward_index_news *)a)->name,
		((const struct ward_index_news *)b)->name);
}

static int by_name_and_order(const void *a, const void *b)
{
	const struct ward_index_news *x = a, *y = b;
	const int r = by_name(a, b);
	return r ? r : x->order < y->order ? -1 : x->order > y->order;
}

static const struct ward_index_news *find_news(
	const struct ward_index_today *t, const char *session)
{
	const struct ward_index_news wanted = {.name = session};
	return t->n ? bsearch(&wanted, t->v, t->n, sizeof(*t->v), by_name) : NULL;
}

/* --- the ledger --- */

/* The names go into text one behind the other; `name` is their place until all are there. */
static int add_news(struct ward_index_today *t, const struct ward_line *l)
{
	const bool ended = ward_line_is(l, "end");
	if (!ended && !ward_line_is(l, "start") && !ward_line_is(l, "removed") &&
		!ward_line_is(l, "expired"))
		return 0;
	struct ward_index_news *v =
		t->n & (t->n - 1) ? t->v : reallocarray(t->v, t->n ? 2 * t->n : 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	t->v = v;
	v[t->n] = (struct ward_index_news){.order = t->n, .ended = ended};
	t->n++;
	ward_buf_add(&t->text, l->session, l->session_len);
	ward_buf_putc(&t->text, '\0');
	return ward_buf_error(&t->text);
}

/* Of each session the last entry. */
static void sort_news(struct ward_index_today *t)
{
	size_t n = 0, at = 0;
	for (size_t i = 0; i < t->n; i++) {
		t->v[i].name = t->text.data + at;
		at += strlen(t->v[i].name) + 1;
	}
	if (t->n > 0)
		qsort(t->v, t->n, sizeof(*t->v), by_name_and_order);
	for (size_t i = 0; i < t->n; i++) {
		if (n > 0 && strcmp(t->v[n - 1].name, t->v[i].name) == 0)
			n--;
		t->v[n++] = t->v[i];
	}
	t->n = n;
}

/* Whole entries from `at` on; *at: behind the last one. -EBADMSG: a line is none. */
static int read_entries(
	struct ward_log *log, struct ward_index_today *t, uint64_t *at, char mac[WARD_MAC_HEX + 1])
{
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_lines_line text;
	struct ward_line l;
	int r = ward_lines_open(&lines, log, *at);
	while (r == 0 && (r = ward_lines_next(&lines, &text)) == 1) {
		/* An entry that is being written. */
		if (!text.whole)
			return 0;
		if (ward_line_parse(text.p, text.len, &l) < 0)
			return -EBADMSG;
		r = add_news(t, &l);
		*at = text.offset + text.len + 1;
		(void)sodium_bin2hex(mac, WARD_MAC_HEX + 1, l.mac, sizeof(l.mac));
	}
	return r;
}

static int follow(struct ward_index_today *t, int fd, const struct place *had)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	struct place p = {0};
	struct stat sb;
	if (fstat(fd, &sb) < 0)
		return -errno;
	int r = ward_log_open_file(fd, &log);
	if (r < 0)
		return r;
	t->followed = had->offset > 0 && had->dev == sb.st_dev && had->ino == sb.st_ino &&
		      ward_index_same(log, had->offset, had->mac);
	if (t->followed)
		p = *had;
	const uint64_t from = p.offset;
	r = read_entries(log, t, &p.offset, p.mac);
	/* It is verification that tells what is wrong there. */
	if (r == -EBADMSG) {
		t->followed = false;
		return 0;
	}
	if (r == 0 && p.offset > 0)
		snprintf(t->ledger, sizeof(t->ledger), "%" PRIu64 " %" PRIu64 " %" PRIu64 " %s",
			(uint64_t)sb.st_dev, (uint64_t)sb.st_ino, p.offset, p.mac);
	t->behind = p.offset - from;
	return r;
}

static bool read_place(const char *text, struct place *ret)
{
	char mac[WARD_MAC_HEX + 2] = "";
	struct place p = {0};
	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %65s", &p.dev, &p.ino, &p.offset,
		    mac) != 4 ||
		strlen(mac) != WARD_MAC_HEX)
		return false;
	memcpy(p.mac, mac, sizeof(p.mac));
	*ret = p;
	return true;
}

/* --- the directory --- */

static void look_at_names(struct ward_store *st, const char *had, struct ward_index_today *t)
{
	struct stat sb;
	if (ward_store_stat_sessions(st, &sb) < 0)
		return;
	const uint64_t changed =
		(uint64_t)sb.st_ctim.tv_sec * WARD_NS_PER_SEC + (uint64_t)sb.st_ctim.tv_nsec;
	const uint64_t now = ward_clock_real_ns();
	snprintf(t->names, sizeof(t->names), "%" PRIu64 " %" PRIu64 " %" PRIu64 " %lld.%09ld",
		(uint64_t)sb.st_dev, (uint64_t)sb.st_ino, changed, (long long)sb.st_mtim.tv_sec,
		sb.st_mtim.tv_nsec);
	t->same_names = strcmp(t->names, had) == 0;
	if (!t->same_names && (now < changed || now - changed < STEADY_NS))
		t->names[0] = '\0';
}

int ward_index_today_look(struct ward_store *st, const struct ward_index_db *x,
	struct ward_index_today *ret, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	struct ward_err none = WARD_ERR_INIT;
	struct place had = {0};
	char names[sizeof(ret->names)] = "";
	sqlite3_stmt *s = NULL;
	*ret = (struct ward_index_today){0};
	int rc = sqlite3_prepare_v2(x->db, "SELECT ledger, names FROM today", -1, &s, NULL);
	if (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *ledger = (const char *)sqlite3_column_text(s, 0);
		const char *text = (const char *)sqlite3_column_text(s, 1);
		if (!ledger || !read_place(ledger, &had))
			had = (struct place){0};
		snprintf(names, sizeof(names), "%s", text ? text : "");
	}
	(void)sqlite3_finalize(s);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return ward_index_db_fail(x, rc, err);
	look_at_names(st, names, ret);
	int r = ward_store_open_ledger(st, &fd, &none);
	if (r == 0)
		r = follow(ret, fd, &had);
	/* No ledger, or one that is not the caller's to read: nothing is settled. */
	if (r == -ENOMEM)
		return ward_err_sys(err, r, "index");
	if (r < 0)
		ret->followed = false;
	sort_news(ret);
	return 0;
}

/* Numbers go up: what was removed counts, too. */
static bool few(const struct ward_index_db *x)
{
	sqlite3_stmt *s = NULL;
	bool is = false;
	if (sqlite3_prepare_v2(x->db, "SELECT max(id) FROM session", -1, &s, NULL) == SQLITE_OK &&
		sqlite3_step(s) == SQLITE_ROW)
		is = sqlite3_column_int64(s, 0) <= WARD_INDEX_FEW;
	(void)sqlite3_finalize(s);
	return is;
}

int ward_index_current_look(struct ward_store *st, const struct ward_index_db *x,
	struct ward_index_current *ret, struct ward_err *err)
{
	*ret = (struct ward_index_current){.st = st, .few = few(x)};
	int r = ward_index_today_look(st, x, &ret->today, err);
	if (r == 0 && ret->today.followed && !ret->today.same_names)
		r = ward_store_list(st, &ret->names, err);
	return r;
}

bool ward_index_is_of_today(const struct ward_index_current *c)
{
	return !c->few && c->today.followed && c->today.same_names && c->today.n == 0;
}

void ward_index_current_clear(struct ward_index_current *c)
{
	ward_index_today_clear(&c->today);
	ward_store_names_free(&c->names);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool ward_index_is_current(
	const struct ward_index_current *c, const char *session, const char *stamp, int64_t settled)
{
	const struct ward_index_today *t = &c->today;
	char now[WARD_INDEX_STAMP_MAX];
	if (!c->few && settled == WARD_INDEX_SETTLED && t->followed && !find_news(t, session) &&
		(t->same_names || (c->names.n && bsearch(&session, c->names.v, c->names.n,
							 sizeof(*c->names.v), by_text))))
		return true;
	ward_index_stamp(c->st, session, now);
	return now[0] && strcmp(now, stamp) == 0;
}

int ward_index_today_keep(
	const struct ward_index_db *x, const struct ward_index_today *t, struct ward_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(
		x->db, "INSERT OR REPLACE INTO today VALUES(1, ?, ?)", -1, &s, NULL);
	if (rc == SQLITE_OK) {
		(void)sqlite3_bind_text(s, 1, t->ledger, -1, SQLITE_STATIC);
		(void)sqlite3_bind_text(s, 2, t->names, -1, SQLITE_STATIC);
		rc = sqlite3_step(s);
	}
	(void)sqlite3_finalize(s);
	return rc == SQLITE_DONE ? 0 : ward_index_db_fail(x, rc, err);
}
