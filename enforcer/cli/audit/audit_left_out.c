/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions of the ledger that an answer about all sessions does not cover, and why. */
#include "enforcer/cli/audit/audit_left_out.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/query/index.h"
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
	*l = (struct audit_left_out){0};
}

static void add(struct ward_buf *b, uint64_t *n, const char *session, const char *reason)
{
	if ((*n)++ < NAMED_MAX)
		ward_buf_printf(b, "%s%s (%s)", b->len ? ", " : "", session, reason);
}

void audit_left_out_add(struct audit_left_out *l, const char *session, const char *reason)
{
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

static int read_ledger(struct audit_cmd *c, struct audit_left_out *l, const struct rows *rows,
	struct ward_err *err)
{
	struct ward_ledger_view v = {0};
	uint8_t root[WARD_KEY_BYTES];
	int r = ward_store_read_key(c->store, root, err);
	/* Nothing ran here yet; or the system's writer keeps the key from whom the trails are
	 * about. */
	if (r == -ENOENT || r == -EACCES) {
		*err = WARD_ERR_INIT;
		return 0;
	}
	if (r == 0)
		r = audit_ledger_list(c, root, NULL, &v, err);
	ward_chain_wipe(root, sizeof(root));
	for (size_t i = 0; r == 0 && i < v.n; i++) {
		const struct ward_ledger_session *s = &v.v[i];
		if (!s->started ||
			!ward_timestamp_within(s->start_time, c->since ? c->since_time : NULL,
				c->until ? c->until_time : NULL))
			continue;
		if (rows)
			compare(c, l, s, rows);
		else
			(void)look(c, l, s, false);
	}
	ward_ledger_view_free(&v);
	return r;
}

int audit_left_out_absent(struct audit_cmd *c, struct audit_left_out *l, struct ward_err *err)
{
	return read_ledger(c, l, NULL, err);
}

int audit_left_out_indexed(
	struct audit_cmd *c, bool today, struct audit_left_out *l, struct ward_err *err)
{
	static const char question[] = "SELECT name, records, odd FROM session ORDER BY name";
	ward_cleanup(clear_rows) struct rows rows = {.today = today};
	int r = ward_index_query(c->store, question, take_row, &rows, err);
	if (r < 0 && today)
		return r;
	/* Without an index each trail is opened. */
	*err = r < 0 ? WARD_ERR_INIT : *err;
	return read_ledger(c, l, &rows, err);
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
