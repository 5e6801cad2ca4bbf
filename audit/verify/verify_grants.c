/* SPDX-License-Identifier: Apache-2.0 */
/* Checks uses of grants against the grants of the trail. */
#include "audit/verify/verify_grants.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/query/parse.h"
#include "audit/query/query.h"
#include "audit/verify/verify_decided.h"
#include "enforcer/base/escape.h"

/* As `rule` names one. */
#define RULE "grant "
#define RULE_MEMBER "\"rule\":\"" RULE

/* A grant, as the trail has it. Times are of `mono`; UINT64_MAX: none. */
struct granted {
	char *id;
	uint64_t since, ends, over;
	uint64_t uses; /* UINT64_MAX: any number */
	json_t *asked; /* NULL: of a host */
	uint64_t first_use;
	uint64_t used, connected; /* uses so far; connections that began under it */
};

struct look {
	struct granted *v;
	size_t n;
	bool ends_only; /* the first walk: what there is, and when it ended */
	struct ward_verify_result *ret;
};

static void look_clear(struct look *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].id);
		json_decref(l->v[i].asked);
	}
	free(l->v);
}

static struct granted *find(struct look *l, const char *id)
{
	for (size_t i = 0; id && i < l->n; i++)
		if (strcmp(l->v[i].id, id) == 0)
			return &l->v[i];
	return NULL;
}

static uint64_t number(const json_t *rec, const char *name, uint64_t none)
{
	const json_t *v = json_object_get(rec, name);
	return json_is_integer(v) ? (uint64_t)json_integer_value(v) : none;
}

static int take_grant(struct look *l, const json_t *rec)
{
	const char *id = ward_query_text(rec, "grant");
	/* An answer of a person to a question gives none by itself. */
	if (!id || find(l, id))
		return 0;
	struct granted *v = reallocarray(l->v, l->n + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	l->v = v;
	v[l->n] = (struct granted){.id = strdup(id),
		.since = number(rec, "mono", UINT64_MAX),
		.ends = number(rec, "ends", UINT64_MAX),
		.over = UINT64_MAX,
		.uses = number(rec, "uses", UINT64_MAX),
		.asked = json_incref(json_object_get(rec, "asked")),
		.first_use = UINT64_MAX};
	if (!v[l->n].id)
		return -ENOMEM;
	l->n++;
	return 0;
}

static void take_end(struct look *l, const json_t *rec)
{
	struct granted *g = find(l, ward_query_text(rec, "grant"));
	const char *result = ward_query_text(rec, "result");
	const uint64_t mono = number(rec, "mono", UINT64_MAX);
	/* The count of uses shows that a grant is spent; these records end one earlier. */
	if (g && result && (strcmp(result, "expired") == 0 || strcmp(result, "revoked") == 0) &&
		mono < g->over)
		g->over = mono;
}

static bool has(const json_t *list, const json_t *word)
{
	const json_t *v = NULL;
	size_t i = 0;
	json_array_foreach(list, i, v) if (json_equal(v, word)) return true;
	return false;
}

static bool within(const json_t *asked, const json_t *given)
{
	const json_t *v = NULL;
	size_t i = 0;
	json_array_foreach(asked, i, v) if (!has(given, v)) return false;
	return true;
}

/* Why the use is none that this grant allows; NULL: it is. */
static const char *wrong_use(const struct granted *g, const json_t *rec)
{
	const uint64_t mono = number(rec, "mono", 0);
	if (!g)
		return "no grant of that id was given";
	if (mono < g->since)
		return "the grant was given later";
	if (mono >= g->ends || mono > g->over)
		return "the grant had ended";
	if (number(rec, "used", 0) > g->uses)
		return "the uses of the grant were spent";
	return within(json_object_get(rec, "asked"), g->asked) ? NULL
							       : "the grant gives other rights";
}

static bool say(struct look *l, const json_t *rec, const char *why)
{
	const uint64_t seq = number(rec, "seq", 0);
	ward_verify_say(l->ret, WARD_VERIFY_EDITED, seq,
		"an access that no rule and no live grant allows: %s", why);
	return true;
}

/* A use of the grant precedes each operation under it. */
static bool check_done(struct look *l, const json_t *rec)
{
	const char *rule = ward_query_text(rec, "rule");
	const char *kind = ward_query_text(rec, "kind");
	struct granted *g = find(l, rule ? rule + strlen(RULE) : NULL);
	if (!g)
		return say(l, rec, "no grant of that id was given");
	/* An answer with an address is not a use. */
	if (kind && strcmp(kind, "dns") == 0)
		return false;
	/* The end of a connection has a duration, and one that was none an errno. */
	if (kind && strcmp(kind, "connect") == 0 && !json_object_get(rec, "duration") &&
		!json_object_get(rec, "errno") && ++g->connected > g->used)
		return say(l, rec, "no use of the grant is before it");
	return g->first_use > number(rec, "mono", 0) &&
	       say(l, rec, "no use of the grant is before it");
}

static bool check_use(struct look *l, const json_t *rec)
{
	struct granted *g = find(l, ward_query_text(rec, "grant"));
	const char *why = wrong_use(g, rec);
	const uint64_t mono = number(rec, "mono", 0);
	if (!ward_query_text(rec, "grant"))
		return false; /* it says of none that it was used */
	if (why)
		return say(l, rec, why);
	g->used++;
	if (mono < g->first_use)
		g->first_use = mono;
	return false;
}

static bool names_grant(const char *line, size_t len)
{
	return memmem(line, len, RULE_MEMBER, strlen(RULE_MEMBER)) != NULL;
}

/* 1: enough was seen. */
static int take(void *ctx, const char *line, size_t len, const json_t *none)
{
	struct look *l = ctx;
	struct ward_line head;
	(void)none;
	if (ward_line_parse(line, len, &head) < 0)
		return 0;
	const bool grant = ward_line_is(&head, "grant"), use = ward_line_is(&head, "use");
	const bool end = ward_line_is(&head, "expire") || ward_line_is(&head, "revoke");
	const bool done = !grant && !use && !end && names_grant(line, len);
	if (l->ends_only ? !grant && !end : !use && !done)
		return 0;
	json_t *rec = ward_parse_record(line, len);
	int r = 0;
	if (grant)
		r = take_grant(l, rec);
	else if (end)
		take_end(l, rec);
	else if (use)
		r = check_use(l, rec);
	else
		r = check_done(l, rec);
	json_decref(rec);
	return r;
}

int ward_verify_grants(struct ward_log *log, struct ward_verify_result *ret, struct ward_err *err)
{
	struct look l = {.ends_only = true, .ret = ret};
	if (ret->state != WARD_VERIFY_INTACT && ret->state != WARD_VERIFY_GAP &&
		ret->state != WARD_VERIFY_INCOMPLETE)
		return 0;
	int r = ward_query_walk(log, false, take, &l, err);
	l.ends_only = false;
	if (r >= 0)
		r = ward_query_walk(log, false, take, &l, err);
	look_clear(&l);
	return r < 0 ? ward_err_sys(err, r, "the grants of the trail")
		     : ward_verify_decided(log, ret, err);
}
