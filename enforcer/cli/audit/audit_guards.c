/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the policy of a trail whether a line would permit what was refused. */
#include "enforcer/cli/audit/audit_guards.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/query.h"
#include "audit/terms.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/policy/explain.h"

/* A policy's sources, as many as one may have. */
#define BLOB_MAX ((size_t)64 << 20)

struct texts {
	struct ward_buf blob;
	char digest[72]; /* of the policy whose pieces these are */
};

static int take_piece(void *ctx, const char *line, size_t len, const json_t *record)
{
	struct texts *t = ctx;
	const char *text = ward_query_text(record, "text");
	const char *digest = ward_query_text(record, "policy");
	(void)line, (void)len;
	const char *name = ward_query_text(record, "name");
	if (ward_query_kind(record) != WARD_EVENT_POLICY || !text || !digest ||
		(name && strcmp(name, WARD_POLICY_SOURCES) != 0) ||
		strlen(digest) >= sizeof(t->digest))
		return 0;
	if (strcmp(digest, t->digest) != 0) {
		ward_buf_clear(&t->blob);
		t->blob.max = BLOB_MAX;
		strcpy(t->digest, digest);
	}
	return ward_unescape(&t->blob, text, strlen(text)) == -EINVAL ? -EINVAL : 0;
}

/* NULL: the trail has none that can be read. */
static struct ward_policy *policy_of(struct ward_log *log)
{
	struct texts t = {.blob = WARD_BUF_INIT};
	struct ward_err ignored = WARD_ERR_INIT;
	struct ward_policy *p = NULL;
	if (ward_query_walk(log, true, take_piece, &t, &ignored) == 0 &&
		ward_buf_error(&t.blob) == 0 && t.blob.len)
		(void)!ward_policy_decode(t.blob.data, t.blob.len, &p, &ignored);
	ward_buf_clear(&t.blob);
	return p;
}

/* The rights that a record asked for; of a program that was refused, executing it. */
static uint32_t asked(const json_t *record)
{
	uint32_t rights = 0;
	const json_t *v = NULL;
	size_t i = 0;
	json_array_foreach(json_object_get(record, "asked"), i, v)
	{
		for (unsigned bit = 0; json_string_value(v) && 1U << bit < WARD_RIGHTS_ALL; bit++) {
			ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
			ward_rights_format(&b, 1U << bit);
			if (strcmp(ward_buf_str(&b), json_string_value(v)) == 0)
				rights |= 1U << bit;
		}
	}
	return rights ? rights : WARD_RIGHT_EXEC;
}

static char *name_rule(const struct ward_rule *r)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_rule_place(r, &b);
	ward_buf_puts(&b, "  ");
	ward_rule_text(r, &b);
	return ward_buf_steal(&b);
}

/* The rule that no line of the owner's lifts and that leaves less than was asked for; NULL: none.
 */
static char *taken_by(const struct ward_policy *p, const char *path, uint32_t want)
{
	const struct ward_state *s = NULL;
	struct ward_trace trace = {.n = 0};
	char *by = NULL;
	if (ward_policy_walk(p, path, strlen(path), &s) < 0)
		return NULL;
	const struct ward_request req = {.action = WARD_ACTION_ACCESS, .rights = want, .state = s};
	(void)ward_policy_decide(p, &req, &trace);
	for (size_t i = 0; i < trace.n && !by; i++) {
		const struct ward_trace_entry *e = &trace.entries[i];
		const struct ward_rule *r = e->rule;
		if (r && e->decides && want & ~e->rights && r->verb != WARD_VERB_PROGRAM &&
			(r->guard || r->verb == WARD_VERB_NOEXEC ||
				r->source == WARD_SOURCE_FLOOR || r->source == WARD_SOURCE_PROJECT))
			by = name_rule(r);
	}
	ward_policy_state_put(p, s);
	return by;
}

/* The floor's own list of programs, which a line of the base never widens. */
static char *closed_by_floor(const struct ward_policy *p, const char *path)
{
	struct ward_source_text floor;
	struct ward_policy *alone = NULL;
	const struct ward_state *s = NULL;
	char *by = NULL;
	if (!ward_policy_source(p, WARD_SOURCE_FLOOR, &floor))
		return NULL;
	floor.kind = WARD_SOURCE_BASE;
	if (ward_policy_compile(&floor, 1, &alone, NULL) == 0 && ward_policy_has_programs(alone) &&
		ward_policy_walk(alone, path, strlen(path), &s) == 0 &&
		ward_policy_listed(alone, s) != WARD_LISTED)
		by = name_rule(ward_policy_first_program(alone));
	if (s)
		ward_policy_state_put(alone, s);
	ward_policy_unref(alone);
	return by;
}

void audit_guards_look(struct ward_log *log, struct ward_denials *d)
{
	struct ward_policy *p = NULL;
	bool looked = false;
	for (size_t i = 0; i < d->n; i++) {
		const char *is = d->v[i].line ? strstr(d->v[i].line, " = /") : NULL;
		if (!is)
			continue;
		if (!looked)
			p = policy_of(log);
		looked = true;
		if (!p)
			return;
		const char *path = is + strlen(" = ");
		char *by = taken_by(p, path, asked(d->v[i].record));
		if (!by && strncmp(d->v[i].line, "exec = ", 7) == 0)
			by = closed_by_floor(p, path);
		if (by)
			ward_denial_forbid(&d->v[i], by);
	}
	ward_policy_unref(p);
}
