/* SPDX-License-Identifier: Apache-2.0 */
/* Takes signed answers to a question. */
#include "enforcer/session/ask/signed.h"

#include <errno.h>

#include "audit/log/chain.h"
#include "audit/verify/signed_answer.h"
#include "enforcer/base/clock.h"

struct taken {
	struct ward_signed_answer v[WARD_APPROVERS_MAX];
	size_t n;
	json_t *texts;
};

static void taken_clear(struct taken *t)
{
	for (size_t i = 0; i < t->n; i++)
		ward_signed_answer_clear(&t->v[i]);
	json_decref(t->texts);
}

static int take(struct taken *t, const json_t *text, const json_t *shown, const char *digest,
	const struct ward_settings *s, struct ward_err *err)
{
	struct ward_signed_answer a = {.says = NULL};
	if (t->n == WARD_APPROVERS_MAX)
		return ward_err_set(
			err, -EINVAL, "more than %u signed answers", WARD_APPROVERS_MAX);
	if (!json_is_string(text))
		return ward_err_set(err, -EBADMSG, "this is not an answer of wardfs");
	int r = ward_signed_answer_read(json_string_value(text), json_string_length(text), &a, err);
	if (r < 0)
		return r;
	r = ward_signed_answer_known(&a, s, err);
	if (r == 0)
		r = ward_signed_answer_fits(
			&a, shown, digest, ward_clock_real_ns() / WARD_NS_PER_SEC, err);
	for (size_t i = 0; r == 0 && i < t->n; i++)
		r = ward_signed_answer_join(&t->v[i], &a, err);
	if (r == 0 && json_array_append(t->texts, (json_t *)(uintptr_t)text) < 0)
		r = ward_err_sys(err, -ENOMEM, "answer");
	if (r < 0)
		ward_signed_answer_clear(&a);
	else
		t->v[t->n++] = a;
	return r;
}

static bool read_one(const json_t *text, struct ward_signed_answer *ret)
{
	struct ward_err ignored = WARD_ERR_INIT;
	return json_is_string(text) && ward_signed_answer_read(json_string_value(text),
					       json_string_length(text), ret, &ignored) == 0;
}

/* Has the signer of this answer signed another one since, which comes now? */
static bool is_replaced(const json_t *old, const json_t *texts)
{
	struct ward_signed_answer a = {.says = NULL}, b = {.says = NULL};
	bool found = false;
	const json_t *v = NULL;
	size_t i = 0;
	if (!read_one(old, &a))
		return true;
	json_array_foreach(texts, i, v)
	{
		if (read_one(v, &b))
			found = found || ward_signed_answer_replaces(&b, &a);
		ward_signed_answer_clear(&b);
	}
	ward_signed_answer_clear(&a);
	return found;
}

static int take_all(struct taken *t, const struct ward_asked *q, const json_t *shown,
	const char *digest, const struct ward_settings *s, const json_t *texts,
	struct ward_err *err)
{
	struct ward_err ignored = WARD_ERR_INIT;
	const json_t *v = NULL;
	size_t i = 0;
	int r = 0;
	/* An approver can have gone, the time of an answer be over, or a newer one say more. */
	json_array_foreach(q->signed_by, i, v)
	{
		if (!is_replaced(v, texts))
			(void)!take(t, v, shown, digest, s, &ignored);
	}
	if (json_array_size(texts) == 0)
		return ward_err_set(err, -EINVAL, "no signed answer came");
	json_array_foreach(texts, i, v)
	{
		if (r == 0)
			r = take(t, v, shown, digest, s, err);
	}
	return r;
}

/*
 * The digest that the first of those names which come now, if q was shown so: an approver can have
 * signed before another path joined. What was signed earlier, of fewer paths or of more, does not
 * count any more. Else the digest of what is shown now.
 */
static void digest_of(const struct ward_asked *q, const json_t *texts, char ret[65])
{
	struct ward_signed_answer a = {.says = NULL};
	uint32_t n = 0;
	if (read_one(json_array_get(texts, 0), &a)) {
		const char *digest = json_string_value(json_object_get(a.says, "digest"));
		n = digest ? ward_asks_shown(q, digest) : 0;
	}
	ward_signed_answer_clear(&a);
	ward_asks_digest(q, n ? n : q->n, ret);
}

int ward_signed_add(struct ward_asks *a, struct ward_asked *q, const struct ward_settings *s,
	const json_t *texts, json_t **ret_says, struct ward_buf *ret_keys, struct ward_err *err)
{
	struct taken t = {.texts = json_array()};
	json_t *shown = json_loads(q->shown, 0, NULL);
	char digest[65];
	digest_of(q, texts, digest);
	int r = ward_chain_setup() < 0 ? ward_err_set(err, -EIO, "libsodium cannot be used")
		: !t.texts || !shown   ? ward_err_sys(err, -ENOMEM, "answer")
				       : take_all(&t, q, shown, digest, s, texts, err);
	if (r == 0 && (r = ward_asks_set_signed(a, q, json_incref(t.texts))) < 0)
		ward_err_set(err, r, "the questions that wait have too many signed answers");
	for (size_t i = 0; r == 0 && i < t.n; i++)
		ward_buf_printf(ret_keys, "%s%s", i ? " " : "", t.v[i].key.name);
	if (r == 0 && ward_buf_error(ret_keys) < 0)
		r = ward_err_sys(err, -ENOMEM, "answer");
	if (r == 0 && t.n > 0 && t.n >= s->approvers_needed) {
		*ret_says = json_incref(t.v[0].says);
		r = 1;
	}
	json_decref(shown);
	taken_clear(&t);
	return r;
}
