/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a trail, and has each decision in it looked at once more. */
#include "audit/verify/verify_decided.h"

#include <errno.h>

#include "audit/log/chain.h"
#include "audit/query/parse.h"
#include "audit/query/query.h"
#include "audit/verify/access_again.h"
#include "audit/verify/answers.h"

#define ACCESS "an access that no rule and no live grant allows"

struct look {
	struct ward_access_again *again;
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
	if (r == 0 && ward_query_kind(rec) == WARD_EVENT_GRANT)
		r = ward_access_again_grant(l->again, rec);
	return r < 0 ? r : say(l, seq, "an answer that nobody outside of the session gave", why);
}

static int take_use(struct look *l, const json_t *rec, uint64_t seq)
{
	const char *why = NULL;
	int r = ward_access_again_use(l->again, rec, &why);
	const char *none = NULL;
	r = r == 0 ? ward_answers_take(&l->answers, rec, &none) : r;
	return r < 0 ? r : say(l, seq, ACCESS, why);
}

static int take_moved(struct look *l, const json_t *rec, uint64_t seq)
{
	const char *why = NULL;
	int r = ward_access_again_moved(l->again, rec, &why);
	return r < 0 ? r : say(l, seq, ACCESS, why);
}

static int take(void *ctx, const char *line, size_t len, const json_t *none)
{
	struct look *l = ctx;
	struct ward_line head;
	(void)none;
	if (ward_line_parse(line, len, &head) < 0)
		return 0;
	if (ward_line_is(&head, "open") || ward_line_is(&head, "create") ||
		ward_line_is(&head, "remove"))
		return take_done(l, line, len, head.seq);
	const bool use = ward_line_is(&head, "use");
	const bool moved = ward_line_is(&head, "rename") || ward_line_is(&head, "link");
	if (!use && !moved && !ward_line_is(&head, "ask") && !ward_line_is(&head, "answer") &&
		!ward_line_is(&head, "grant") && !ward_line_is(&head, "exec") &&
		!ward_line_is(&head, "session.start"))
		return 0;
	json_t *rec = ward_parse_record(line, len);
	int r = use	? take_use(l, rec, head.seq)
		: moved ? take_moved(l, rec, head.seq)
			: take_question(l, rec, head.seq);
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
	ward_answers_clear(&l.answers);
	return r < 0 ? ward_err_sys(err, r, "the decisions of the trail") : 0;
}
