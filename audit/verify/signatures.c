/* SPDX-License-Identifier: Apache-2.0 */
/* Checks signed answers of a trail. */
#include "audit/verify/signatures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/query.h"
#include "audit/verify/signed_answer.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/timestamp.h"
#include "enforcer/policy/policy.h"

/* From when a session takes an answer to its record. */
#define LATER_S 60U

struct all {
	struct ward_signed_answer v[WARD_APPROVERS_MAX];
	size_t n;
};

static void all_clear(struct all *a)
{
	for (size_t i = 0; i < a->n; i++)
		ward_signed_answer_clear(&a->v[i]);
}

/* Seconds since 1970 of the record; 0: it does not say. */
static uint64_t time_of(const json_t *rec)
{
	return ward_timestamp_ns(ward_query_text(rec, "time")) / WARD_NS_PER_SEC;
}

static const char *add(struct all *a, const struct ward_settings *s, const json_t *text,
	const json_t *rec, const json_t *shown)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_signed_answer one = {.says = NULL};
	const char *digest = ward_query_text(rec, "shown");
	const uint64_t at = time_of(rec);
	if (!json_is_string(text) || a->n == WARD_APPROVERS_MAX ||
		ward_signed_answer_read(
			json_string_value(text), json_string_length(text), &one, &err) < 0)
		return "a signature does not fit";
	a->v[a->n++] = one;
	if (ward_signed_answer_known(&one, s, &err) < 0)
		return "no approver of the policy signed it";
	if (ward_signed_answer_fits(
		    &one, shown, digest ? digest : "", at > LATER_S ? at - LATER_S : 0, &err) < 0)
		return "another answer was signed";
	for (size_t i = 0; i + 1 < a->n; i++)
		if (ward_signed_answer_join(&a->v[i], &one, &err) < 0)
			return "its signers are not different ones of one answer";
	return NULL;
}

/* Does the pattern stand for this name alone? Both as a trail writes names. */
static bool quotes(const char *pattern, const char *name)
{
	ward_cleanup(ward_buf_clear) struct ward_buf p = WARD_BUF_INIT, n = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf plain = WARD_BUF_INIT;
	if (!pattern || !name || ward_unescape(&p, pattern, strlen(pattern)) < 0 ||
		ward_unescape(&n, name, strlen(name)) < 0)
		return false;
	for (size_t i = 0; i < p.len; i++) {
		/* A blank where a policy would lose it. */
		if (p.len - i >= 3 && memcmp(p.data + i, "[ ]", 3) == 0) {
			ward_buf_putc(&plain, ' ');
			i += 2;
			continue;
		}
		if (strchr("*?[", p.data[i]))
			return false;
		if (p.data[i] == '\\' && i + 1 < p.len)
			i++;
		ward_buf_putc(&plain, p.data[i]);
	}
	return ward_buf_error(&plain) == 0 && plain.len == n.len &&
	       memcmp(ward_buf_str(&plain), ward_buf_str(&n), n.len) == 0;
}

/* Of one of the paths that joined the question, in what was shown. */
static bool quotes_more(const char *path, const json_t *shown)
{
	const json_t *one = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(shown, "more"), i, one)
	{
		if (quotes(path, ward_query_text(one, "path")) ||
			quotes(path, ward_query_text(one, "path2")))
			return true;
	}
	return false;
}

static bool covers(const json_t *grant, const json_t *says, const json_t *shown)
{
	ward_cleanup(ward_buf_clear) struct ward_buf plain = WARD_BUF_INIT;
	const char *pattern = ward_query_text(says, "pattern");
	const char *what = ward_query_text(says, "what"), *what2 = ward_query_text(says, "what2");
	const char *path = ward_query_text(grant, "path"), *host = ward_query_text(grant, "host");
	const char *has = path ? path : host;
	if (pattern)
		return has && ward_unescape(&plain, has, strlen(has)) == 0 &&
		       ward_buf_error(&plain) == 0 && strcmp(ward_buf_str(&plain), pattern) == 0;
	if (host)
		return what && strcmp(host, what) == 0;
	return quotes(path, what) || quotes(path, what2) || quotes_more(path, shown);
}

static json_int_t number(const json_t *o, const char *name)
{
	return json_integer_value(json_object_get(o, name));
}

static bool same_text(const json_t *a, const char *a_name, const json_t *b, const char *b_name)
{
	const char *x = ward_query_text(a, a_name), *y = ward_query_text(b, b_name);
	return !x == !y && (!x || strcmp(x, y) == 0);
}

/* "append,write", of an array. */
static bool rights_are(const json_t *asked, const char *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf all = WARD_BUF_INIT;
	const json_t *v = NULL;
	uint32_t rights = 0;
	size_t i = 0;
	for (unsigned bit = 0; 1U << bit <= WARD_RIGHTS_ALL; bit++) {
		ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT;
		ward_rights_format(&name, 1U << bit);
		json_array_foreach(asked, i, v)
		{
			if (json_is_string(v) &&
				strcmp(json_string_value(v), ward_buf_str(&name)) == 0)
				rights |= 1U << bit;
		}
	}
	ward_rights_format(&all, rights);
	return text && ward_buf_error(&all) == 0 && strcmp(ward_buf_str(&all), text) == 0;
}

static bool host_is(const json_t *question, const char *text)
{
	const char *host = ward_query_text(question, "host");
	const json_int_t port = number(question, "port");
	ward_cleanup(ward_buf_clear) struct ward_buf plain = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf address = WARD_BUF_INIT;
	ward_buf_printf(&plain, "%s:%" JSON_INTEGER_FORMAT, host, port);
	ward_buf_printf(&address, "[%s]:%" JSON_INTEGER_FORMAT, host, port);
	return text && (strcmp(text, ward_buf_str(&plain)) == 0 ||
			       strcmp(text, ward_buf_str(&address)) == 0);
}

/* Is what was shown of this question, in this session? */
static bool is_its_own(const json_t *question)
{
	const json_t *shown = json_object_get(question, "detail");
	const char *rights = ward_query_text(shown, "rights");
	if (!ward_query_text(question, "shown") || !ward_query_text(shown, "session") ||
		!same_text(shown, "session", question, "session") ||
		!ward_query_text(shown, "question") ||
		!same_text(shown, "question", question, "request"))
		return false;
	if (ward_query_text(question, "host"))
		return host_is(question, ward_query_text(shown, "host")) && rights &&
		       strcmp(rights, "connect") == 0;
	return !ward_query_text(shown, "host") &&
	       rights_are(json_object_get(question, "asked"), rights) &&
	       (json_object_get(question, "cut") ||
		       (same_text(shown, "path", question, "path") &&
			       same_text(shown, "path2", question, "path2")));
}

/* Is the grant what was signed, and no more? */
static bool gives(const json_t *grant, const json_t *says, const json_t *shown)
{
	const char *answer = ward_query_text(says, "answer");
	/* The record of a grant is begun before its end is known. */
	const json_int_t slack = 1000000000;
	if (!grant || !answer || !covers(grant, says, shown))
		return false;
	if (strcmp(answer, "once") == 0)
		return number(grant, "uses") == 1;
	if (strcmp(answer, "for") != 0)
		return true;
	return json_object_get(grant, "ends") &&
	       number(grant, "ends") <=
		       number(grant, "mono") + number(says, "seconds") * 1000000000 + slack;
}

/* What the answer of rec gives, and to what. */
struct giving {
	const json_t *in; /* grants by id */
	const json_t *says, *shown, *rec;
};

/* For each id in rec's list of grants; false where there is none. */
static bool each_grant(const json_t *rec, bool (*fn)(const struct giving *g, const char *id),
	const struct giving *g)
{
	const char *ids = ward_query_text(rec, "grant");
	ward_cleanup_free char *list = ids ? strdup(ids) : NULL;
	char *rest = NULL;
	bool ok = list && *list;
	for (char *id = list ? strtok_r(list, " ", &rest) : NULL; id;
		id = strtok_r(NULL, " ", &rest))
		ok = ok && fn(g, id);
	return ok;
}

static bool is_covered(const struct giving *g, const char *id)
{
	return json_object_get(g->in, id) != NULL;
}

static bool is_given(const struct giving *g, const char *id)
{
	const json_t *grant = json_object_get(g->in, id);
	return same_text(grant, "request", g->rec, "request") && gives(grant, g->says, g->shown);
}

/* A grant of another question ended this one as well. */
static bool is_shown(const struct giving *g, const char *id)
{
	const json_t *grant = json_object_get(g->in, id);
	const char *path = ward_query_text(grant, "path");
	if (!path || !same_text(grant, "request", g->rec, "request"))
		return true;
	return quotes(path, ward_query_text(g->says, "path")) ||
	       quotes(path, ward_query_text(g->says, "path2")) || quotes_more(path, g->shown);
}

bool ward_signatures_only_shown(const json_t *rec, const json_t *question, const json_t *given)
{
	const char *scope = ward_query_text(rec, "scope");
	const struct giving g = {.in = given,
		.says = question,
		.shown = json_object_get(question, "detail"),
		.rec = rec};
	/* Another scope has a pattern, or can have one. */
	if (!scope ||
		(strcmp(scope, "once") != 0 && strcmp(scope, "path") != 0 &&
			strcmp(scope, "always") != 0) ||
		json_object_get(question, "cut"))
		return true;
	return each_grant(rec, is_shown, &g);
}

/* Also one that came before another one of the same answer could not be made. */
static const char *cover(const struct giving *g, json_t *covered)
{
	const char *id = NULL;
	json_t *grant = NULL;
	json_object_foreach((json_t *)(uintptr_t)g->in, id, grant)
	{
		if (is_given(g, id) && json_object_set_new(covered, id, json_true()) < 0)
			return "out of memory";
	}
	return NULL;
}

const char *ward_signatures_wrong(const struct ward_settings *s, const json_t *rec,
	const json_t *question, const json_t *given, json_t *covered)
{
	const json_t *shown = json_object_get(question, "detail");
	const json_t *texts = json_object_get(json_object_get(rec, "detail"), "signed"), *v = NULL;
	struct all all = {.n = 0};
	const char *why = NULL;
	size_t i = 0;
	if (!texts && s->approvers_needed == 0)
		return NULL;
	if (!is_its_own(question))
		return "what was shown is not this question";
	/* Too few of its own, perhaps, but the grants of another answer ended it. */
	if (each_grant(rec, is_covered, &(struct giving){.in = covered}))
		return NULL;
	if (!texts)
		return "nobody signed it, and the policy demands signatures";
	json_array_foreach(texts, i, v)
	{
		if (!why)
			why = add(&all, s, v, rec, shown);
	}
	if (!why && (all.n == 0 || all.n < s->approvers_needed))
		why = "the policy demands more signatures";
	const struct giving g = {.in = given, .says = all.v[0].says, .shown = shown, .rec = rec};
	if (!why && !each_grant(rec, is_given, &g))
		why = "the grant is not what was signed";
	if (!why)
		why = cover(&g, covered);
	all_clear(&all);
	return why;
}

const char *ward_signatures_grant_wrong(const struct ward_settings *s, const json_t *rec)
{
	const char *key = ward_query_text(rec, "key"), *how = ward_query_text(rec, "how");
	if (s->approvers_needed == 0)
		return NULL;
	if (!key || !how || strcmp(how, "token") != 0)
		return "the policy demands signed answers, and this grant is of none";
	if (s->approvers_needed > 1)
		return "the policy demands more signatures than a token has";
	for (size_t i = 0; i < s->approvers.n; i++)
		if (strcmp(s->approvers.v[i], key) == 0)
			return NULL;
	return "no approver of the policy signed its token";
}
