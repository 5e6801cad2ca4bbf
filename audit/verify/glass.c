/* SPDX-License-Identifier: Apache-2.0 */
/* Checks break-glass grants of a trail. docs/grants.md has what is signed. */
#include "audit/verify/glass.h"

#include <errno.h>
#include <string.h>

#include "audit/log/note.h"
#include "audit/query/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/timestamp.h"

#define HEAD "wardfs-token 1\n"
#define GLASS_S 3600
/* Between the look at a clock and the record, and between two clocks. */
#define SLACK_S 2

static bool same(const char *a, const char *b)
{
	return a && b && *a && strcmp(a, b) == 0;
}

/* a as a trail writes names. */
static bool same_name(const char *a, const char *b)
{
	ward_cleanup(ward_buf_clear) struct ward_buf plain = WARD_BUF_INIT;
	return a && b && ward_unescape(&plain, a, strlen(a)) == 0 && ward_buf_error(&plain) == 0 &&
	       strcmp(ward_buf_str(&plain), b) == 0;
}

static bool named(const struct ward_settings *s, const char *key)
{
	for (size_t i = 0; key && i < s->break_glass.n; i++)
		if (strcmp(s->break_glass.v[i], key) == 0)
			return true;
	return false;
}

static bool is_signed(const char *payload, const char *signature, const char *issuer)
{
	static const char none[WARD_SIGN_BYTES];
	ward_cleanup(ward_buf_clear) struct ward_buf over = WARD_BUF_INIT;
	struct ward_public_key key;
	ward_buf_add(&over, HEAD, sizeof(HEAD) - 1);
	ward_buf_add(&over, none, sizeof(none));
	ward_buf_puts(&over, payload);
	return ward_buf_error(&over) == 0 && issuer &&
	       ward_public_key_parse(issuer, strlen(issuer), &key) == 0 &&
	       ward_public_key_check(&key, over.data, over.len, signature);
}

static json_int_t number(const json_t *o, const char *name)
{
	return json_integer_value(json_object_get(o, name));
}

static json_int_t seconds(const json_t *rec, const char *name)
{
	return (json_int_t)(ward_timestamp_ns(ward_query_text(rec, name)) / WARD_NS_PER_SEC);
}

/* Reading is a part of each right; the others are told by one of their own. */
static bool gives_no_more(const json_t *rec, const char *right)
{
	static const char *const appends[] = {"append", "create"};
	static const char *const writes[] = {"write", "remove", "attr"};
	const bool write = same(right, "write"), append = write || same(right, "append");
	const json_t *v = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(rec, "asked"), i, v)
	{
		const char *word = json_string_value(v);
		for (size_t k = 0; !append && k < 2; k++)
			if (same(word, appends[k]))
				return false;
		for (size_t k = 0; !write && k < 3; k++)
			if (same(word, writes[k]))
				return false;
	}
	return write || append || same(right, "read");
}

static const char *wrong_payload(const json_t *rec, const json_t *p, const char *lifts)
{
	const char *session = ward_query_text(rec, "session");
	const json_int_t from = number(p, "from"), until = number(p, "until");
	if (!same(lifts, ward_query_text(p, "lifts")))
		return "other guards were signed";
	if (session && !same(session, ward_query_text(p, "session")))
		return "another session was signed";
	if (!same_name(ward_query_text(rec, "path"), ward_query_text(p, "what")) ||
		!gives_no_more(rec, ward_query_text(p, "right")))
		return "another right was signed";
	if (!same(ward_query_text(rec, "text"), ward_query_text(p, "reason")))
		return "another reason was signed";
	if (from < 1 || until <= from || until - from > GLASS_S)
		return "more than an hour was signed";
	if (!json_object_get(rec, "ends") || seconds(rec, "until") > until + SLACK_S ||
		seconds(rec, "time") >= until + SLACK_S || seconds(rec, "time") + SLACK_S < from)
		return "another time was signed";
	return NULL;
}

const char *ward_glass_wrong(const struct ward_settings *s, const json_t *rec)
{
	const json_t *detail = json_object_get(rec, "detail");
	const char *lifts = ward_query_text(detail, "lifts");
	const char *payload = ward_query_text(detail, "payload");
	const char *signature = ward_query_text(detail, "signature");
	if (!lifts && !same(ward_query_text(rec, "how"), "break-glass"))
		return NULL;
	json_t *p = payload ? json_loads(payload, JSON_REJECT_DUPLICATES, NULL) : NULL;
	const char *issuer = ward_query_text(p, "issuer"), *why = NULL;
	if (!lifts || !signature || !p || !is_signed(payload, signature, issuer))
		why = "nobody signed it";
	else if (!named(s, issuer) || !same(issuer, ward_query_text(rec, "key")))
		why = "the floor does not name the key";
	else
		why = wrong_payload(rec, p, lifts);
	json_decref(p);
	return why;
}
