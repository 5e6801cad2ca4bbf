/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions of the ledger that an answer about all sessions does not cover, and why. */
#include "enforcer/cli/audit/audit_left_out.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/query/index.h"
#include "audit/query/index_about.h"
#include "audit/query/index_db.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/plural.h"
#include "enforcer/base/timestamp.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/base/say.h"

/* A message names so many; the others are a number. */
#define NAMED_MAX 10

void audit_left_out_clear(struct audit_left_out *l)
{
	ward_buf_clear(&l->lost);
	ward_buf_clear(&l->gone);
	json_decref(l->names);
	*l = (struct audit_left_out){0};
}

static void add(struct ward_buf *b, uint64_t *n, const char *session, const char *reason)
{
	if ((*n)++ < NAMED_MAX)
		ward_buf_printf(b, "%s%s (%s)", b->len ? ", " : "", session, reason);
}

void audit_left_out_add(struct audit_left_out *l, const char *session, const char *reason)
{
	if (!l->names)
		l->names = json_object();
	if (json_object_get(l->names, session))
		return;
	(void)json_object_set_new(l->names, session, json_true());
	add(&l->lost, &l->n_lost, session, reason);
}

/* What the index has of a session. */
struct row {
	char *name;
	uint64_t records, odd;
};
struct rows {
	struct row *v; /* by name */
	size_t n;
	bool today;
	bool part; /* without those of WARD_INDEX_WHOLE */
};

static void clear_rows(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		free(rows->v[i].name);
	free(rows->v);
}

static int take_row(
	void *ctx, int n, const char *const *names, const char *const *values, const bool *numbers)
{
	struct rows *rows = ctx;
	(void)names, (void)numbers;
	if (n != 3 || !values[0] || !values[1] || !values[2])
		return -EBADMSG;
	struct row *v = rows->n & (rows->n - 1)
				? rows->v
				: reallocarray(rows->v, rows->n ? 2 * rows->n : 1, sizeof(*v));
	rows->v = v ? v : rows->v;
	char *name = v ? strdup(values[0]) : NULL;
	if (!name)
		return -ENOMEM;
	rows->v[rows->n++] =
		(struct row){name, strtoull(values[1], NULL, 10), strtoull(values[2], NULL, 10)};
	return 0;
}

static int by_name(const void *key, const void *row)
{
	return strcmp(key, ((const struct row *)row)->name);
}

/* Opens the trail, to say why nothing of it is known. Returns false if there is nothing to say. */
static bool look(struct audit_cmd *c, struct audit_left_out *l, const struct ward_ledger_session *s,
	bool unread)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	struct ward_err why = WARD_ERR_INIT;
	int r = ward_store_open_log(c->store, s->name, &log, &why);
	if (r == -ENOENT && (s->removed || s->expired)) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		audit_ledger_gone_text(s, &b);
		add(&l->gone, &l->n_gone, s->name, ward_buf_str(&b));
	} else if (r == -ENOENT || (r < 0 && unread)) {
		audit_left_out_add(l, s->name, r == -ENOENT ? "its trail is missing" : why.text);
	}
	return r < 0;
}

/* As the sums of ward_ledger_seen_take() take them. */
static bool is_settled(const struct ward_ledger_session *s)
{
	return s->started && s->ended && !s->expired && !s->removed && s->records > 0;
}

static void compare(struct audit_cmd *c, struct audit_left_out *l,
	const struct ward_ledger_session *s, const struct rows *rows)
{
	const struct row *row =
		rows->n ? bsearch(s->name, rows->v, rows->n, sizeof(*row), by_name) : NULL;
	const uint64_t has = row ? row->records : 0, odd = row ? row->odd : 0;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if ((has == 0 && look(c, l, s, true)) || !rows->today ||
		(odd == 0 && (!s->ended || has >= s->records)))
		return;
	if (odd)
		ward_buf_printf(&b, "%" PRIu64 " line%s of its trail %s damaged", odd, ward_s(odd),
			ward_is(odd));
	else
		ward_buf_printf(
			&b, "its trail has %" PRIu64 " of %" PRIu64 " records", has, s->records);
	audit_left_out_add(l, s->name, ward_buf_str(&b));
}

/* NULL rows: each trail is opened. */
static void look_all(struct audit_cmd *c, struct audit_left_out *l,
	const struct ward_ledger_view *v, const struct rows *rows)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct ward_ledger_session *s = &v->v[i];
		/* What the index has whole is not among the rows. */
		if (!s->started || (rows && rows->part && is_settled(s)) ||
			!ward_timestamp_within(s->start_time, c->since ? c->since_time : NULL,
				c->until ? c->until_time : NULL))
			continue;
		if (rows)
			compare(c, l, s, rows);
		else
			(void)look(c, l, s, false);
	}
}

static int read_ledger(struct audit_cmd *c, const struct ward_ledger_seen_only *only,
	struct ward_ledger_view *ret, struct ward_err *err)
{
	uint8_t root[WARD_KEY_BYTES];
	int r = ward_store_read_key(c->store, root, err);
	/* Nothing ran here yet; or the system's writer keeps the key from whom the trails are
	 * about. */
	if (r == -ENOENT || r == -EACCES) {
		*err = WARD_ERR_INIT;
		return 0;
	}
	if (r == 0)
		r = audit_ledger_list(c, root, only, ret, err);
	ward_chain_wipe(root, sizeof(root));
	return r;
}

/* Has the index each session of the ledger that ended, with as many records? */
static bool is_whole(const struct ward_index_whole *w, const struct ward_ledger_view *v)
{
	uint64_t n = v->left_out, sum = v->left_out_sum;
	for (size_t i = 0; i < v->n; i++) {
		const struct ward_ledger_session *s = &v->v[i];
		if (!is_settled(s))
			continue;
		n++;
		sum += ward_chain_session_sum(s->name, strlen(s->name), s->records);
	}
	return w->complete && n == w->n && sum == w->sum;
}

int audit_left_out_ledger(struct audit_cmd *c, struct ward_ledger_view *ret, struct ward_err *err)
{
	static const struct ward_ledger_seen_only unsettled = {.unsettled = true};
	return read_ledger(c, &unsettled, ret, err);
}

bool audit_left_out_none(struct audit_cmd *c, const struct ward_ledger_view *v)
{
	struct ward_index_whole whole = {.complete = false};
	struct ward_err none = WARD_ERR_INIT;
	return ward_index_whole(c->store, &whole, &none) == 0 && is_whole(&whole, v);
}

int audit_left_out_absent(struct audit_cmd *c, struct audit_left_out *l, struct ward_err *err)
{
	struct ward_ledger_view v = {0};
	int r = read_ledger(c, NULL, &v, err);
	if (r == 0)
		look_all(c, l, &v, NULL);
	ward_ledger_view_free(&v);
	return r;
}

static int ask_rows(struct audit_cmd *c, struct rows *rows, bool today, struct ward_err *err)
{
	int r = ward_index_query(c->store,
		rows->part ? "SELECT name, records, odd FROM session WHERE " WARD_INDEX_PART
			     " ORDER BY name"
			   : "SELECT name, records, odd FROM session ORDER BY name",
		take_row, rows, err);
	if (r < 0 && today)
		return r;
	/* Without an index each trail is opened. */
	*err = r < 0 ? WARD_ERR_INIT : *err;
	return 0;
}

int audit_left_out_indexed(struct audit_cmd *c, bool today, const struct ward_ledger_view *v,
	struct audit_left_out *l, struct ward_err *err)
{
	ward_cleanup(clear_rows) struct rows rows = {.today = today};
	ward_cleanup(ward_ledger_view_free) struct ward_ledger_view own = {0}, all = {0};
	struct ward_index_whole whole = {.complete = false};
	struct ward_err none = WARD_ERR_INIT;
	/* Before the ledger: what comes into that meanwhile is missing here. */
	(void)!ward_index_whole(c->store, &whole, &none);
	int r = v ? 0 : audit_left_out_ledger(c, &own, err);
	v = v ? v : &own;
	rows.part = r == 0 && is_whole(&whole, v);
	if (r == 0 && !rows.part && v->left_out > 0) {
		r = read_ledger(c, NULL, &all, err);
		v = &all;
	}
	if (r == 0)
		r = ask_rows(c, &rows, today, err);
	if (r == 0)
		look_all(c, l, v, &rows);
	return r;
}

static void say(const struct ward_buf *b, uint64_t n, const char *what)
{
	ward_cleanup(ward_buf_clear) struct ward_buf more = WARD_BUF_INIT;
	if (n > NAMED_MAX)
		ward_buf_printf(&more, ", and %" PRIu64 " more", n - NAMED_MAX);
	if (n)
		ward_sayf("wardfs left out %" PRIu64 " session%s %s: %s%s", n, ward_s(n), what,
			ward_buf_str(b), more.len ? ward_buf_str(&more) : "");
}

int audit_left_out_say(const struct audit_left_out *l, struct ward_err *err)
{
	say(&l->gone, l->n_gone, "whose trail is gone by the ledger");
	say(&l->lost, l->n_lost, "whose trail is missing or damaged");
	if (l->n_lost)
		return ward_err_set(err, -EIO,
			"this answer is incomplete. 'wardfs audit verify --all' verifies each "
			"trail");
	return 0;
}
