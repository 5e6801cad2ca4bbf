/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a trail, and has each decision in it looked at once more. */
#include "audit/verify/verify_decided.h"

#include <errno.h>

#include "audit/log/chain.h"
#include "audit/query/parse.h"
#include "audit/query/query.h"
#include "audit/verify/access_again.h"
#include "audit/verify/answers.h"
#include "audit/verify/connect_again.h"

#define ACCESS "an access that no rule and no live grant allows"

struct look {
	struct ward_access_again *again;
	struct ward_connect_again *connects;
	struct ward_answers answers;
	struct ward_verify_result *ret;
};

/* 1: enough was seen. */
static int say(struct look *l, uint64_t seq, const char *what, const char *why)
{
	if (!why)
		return 0;
	ward_verify_say(l->ret, WARD_VERIFY_EDITED, seq, "%s: %s", what, why);
	return 1;
}

static int take_done(struct look *l, const char *line, size_t len, uint64_t seq)
{
	const char *why = NULL;
	int r = ward_access_again_done(l->again, line, len, seq, &why);
	return r < 0 ? r : say(l, seq, ACCESS, why);
}

static int take_question(struct look *l, const json_t *rec, uint64_t seq)
{
	const char *why = NULL;
	if (ward_query_kind(rec) == WARD_EVENT_ANSWER || ward_query_kind(rec) == WARD_EVENT_GRANT)
		l->answers.n_settings =
			ward_access_again_settings(l->again, seq, l->answers.settings);
	int r = ward_answers_take(&l->answers, rec, &why);
	if (r == 0 && ward_query_kind(rec) == WARD_EVENT_SESSION_START)
		r = ward_access_again_start(l->again, rec);
	if (r == 0 && ward_query_kind(rec) == WARD_EVENT_GRANT)
		r = ward_access_again_grant(l->again, rec);
	if (r == 0 && ward_query_kind(rec) == WARD_EVENT_GRANT)
		r = ward_connect_again_grant(l->connects, rec);
	return r < 0 ? r : say(l, seq, "an answer that nobody outside of the session gave", why);
}

static int take_use(struct look *l, const json_t *rec, uint64_t seq)
{
	const char *why = NULL;
	int r = ward_access_again_use(l->again, rec, &why);
	const char *none = NULL;
	if (r == 0 && !why)
		ward_connect_again_use(l->connects, l->again, rec, &why);
	r = r == 0 ? ward_answers_take(&l->answers, rec, &none) : r;
	return r < 0 ? r : say(l, seq, ACCESS, why);
}

static int take_moved(struct look *l, const json_t *rec, uint64_t seq)
{
	const char *why = NULL;
	int r = ward_access_again_moved(l->again, rec, &why);
	return r < 0 ? r : say(l, seq, ACCESS, why);
}

static int take_connect(struct look *l, const json_t *rec, uint64_t seq)
{
	const char *why = NULL;
	ward_connect_again_done(l->connects, l->again, rec, &why);
	return say(l, seq, ACCESS, why);
}

/* The whole record, of one of the kinds that take() lets through. */
static int take_record(struct look *l, const json_t *rec, uint64_t seq)
{
	const enum ward_event_kind kind = ward_query_kind(rec);
	if (kind == WARD_EVENT_USE)
		return take_use(l, rec, seq);
	if (kind == WARD_EVENT_CONNECT)
		return take_connect(l, rec, seq);
	if (kind == WARD_EVENT_RENAME || kind == WARD_EVENT_LINK)
		return take_moved(l, rec, seq);
	if (kind != WARD_EVENT_EXPIRE && kind != WARD_EVENT_REVOKE)
		return take_question(l, rec, seq);
	ward_connect_again_end(l->connects, rec);
	return 0;
}

static bool is_any(const struct ward_line *head, const char *const *kinds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ward_line_is(head, kinds[i]))
			return true;
	return false;
}

static int take(void *ctx, const char *line, size_t len, const json_t *none)
{
	static const char *const whole[] = {"use", "connect", "rename", "link", "ask", "answer",
		"grant", "expire", "revoke", "exec", "session.start"};
	struct look *l = ctx;
	struct ward_line head;
	(void)none;
	if (ward_line_parse(line, len, &head) < 0)
		return 0;
	if (ward_line_is(&head, "open") || ward_line_is(&head, "create") ||
		ward_line_is(&head, "remove"))
		return take_done(l, line, len, head.seq);
	if (!is_any(&head, whole, sizeof(whole) / sizeof(*whole)))
		return 0;
	json_t *rec = ward_parse_record(line, len);
	int r = take_record(l, rec, head.seq);
	json_decref(rec);
	return r;
}

int ward_verify_decided(struct ward_log *log, struct ward_verify_result *ret, struct ward_err *err)
{
	struct look l = {.ret = ret};
	if (ret->state != WARD_VERIFY_INTACT && ret->state != WARD_VERIFY_GAP &&
		ret->state != WARD_VERIFY_INCOMPLETE)
		return 0;
	int r = ward_answers_begin(&l.answers);
	l.connects = ward_connect_again_new();
	if (r == 0 && !l.connects)
		r = -ENOMEM;
	if (r == 0)
		r = ward_access_again_new(log, &l.again, err);
	if (r == 0)
		r = ward_query_walk(log, false, take, &l, err);
	uint64_t seq = 0;
	/* Where records can be missing, so can the answer. */
	const char *why = r == 0 && ret->state == WARD_VERIFY_INTACT && !ret->running
				  ? ward_answers_missing(&l.answers, &seq)
				  : NULL;
	(void)say(&l, seq, ACCESS, why);
	ward_access_again_free(l.again);
	ward_connect_again_free(l.connects);
	ward_answers_clear(&l.answers);
	return r < 0 ? ward_err_sys(err, r, "the decisions of the trail") : 0;
}
