/* SPDX-License-Identifier: Apache-2.0 */
/* Notes what the end of a run says of its refusals. */
#include "audit/write/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/terms.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"

static char *text_of(const struct ward_event_field *f, bool escaped)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (f->p && escaped)
		ward_escape(&b, f->p, f->len);
	else if (f->p)
		ward_buf_add(&b, f->p, f->len);
	return ward_buf_steal(&b);
}

/* A path; "HOST:PORT", or the address where no name was asked for; else, for attempts that were
 * only counted, what the record says for people. */
static char *object_of(const struct ward_event_fields *fields)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const struct ward_event_field *host = &fields->of[WARD_TAG_HOST];
	const struct ward_event_field *addr = &fields->of[WARD_TAG_ADDR];
	const struct ward_event_field *port = &fields->of[WARD_TAG_PORT];
	const struct ward_event_field *what = host->p ? host : addr;
	if (fields->of[WARD_TAG_PATH].p || !what->p || what->len == 0)
		return text_of(fields->of[WARD_TAG_PATH].p ? &fields->of[WARD_TAG_PATH]
							   : &fields->of[WARD_TAG_TEXT],
			true);
	bool brackets = !host->p && memchr(addr->p, ':', addr->len);
	ward_buf_puts(&b, brackets ? "[" : "");
	ward_escape(&b, what->p, what->len);
	ward_buf_puts(&b, brackets ? "]" : "");
	if (port->p)
		ward_buf_printf(&b, ":%llu", (unsigned long long)port->u64);
	return ward_buf_steal(&b);
}

/* The line that decided; of a quota also what it says: it is what would have to be raised. */
static char *rule_of(const struct ward_event_fields *fields)
{
	if (!fields->of[WARD_TAG_QUOTA].p)
		return text_of(&fields->of[WARD_TAG_RULE], true);
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_escape(&b, fields->of[WARD_TAG_RULE].p, fields->of[WARD_TAG_RULE].len);
	ward_buf_puts(&b, " ");
	ward_escape(&b, fields->of[WARD_TAG_RULE_TEXT].p, fields->of[WARD_TAG_RULE_TEXT].len);
	return ward_buf_steal(&b);
}

static bool is_look(const struct ward_event_field *action)
{
	static const char look[] = "lookup";
	return action->p && action->len == strlen(look) &&
	       memcmp(action->p, look, action->len) == 0;
}

/* The same act, again: the end of the session names it once. */
static bool is_noted(const struct ward_summary *s, const struct ward_writer_refusal *r)
{
	const struct ward_writer_refusal *o = s->first, *end = o + s->n;
	while (o < end && (strcmp(o->action, r->action) != 0 || strcmp(o->path, r->path) != 0 ||
				  strcmp(o->rule, r->rule) != 0))
		o++;
	return o < end;
}

void ward_summary_refusal(struct ward_summary *s, const struct ward_event_fields *fields)
{
	s->refusals++;
	if (fields->of[WARD_TAG_EXPECTED].p) {
		const struct ward_event_field *path = &fields->of[WARD_TAG_PATH];
		s->expected++;
		if (!s->hidden && path->p && is_look(&fields->of[WARD_TAG_ACTION]))
			s->hidden = text_of(path, true);
		return;
	}
	if (s->n >= WARD_WRITER_FIRST)
		return;
	struct ward_writer_refusal *r = &s->first[s->n];
	const struct ward_event_field *verdict = &fields->of[WARD_TAG_VERDICT];
	const char *name = verdict->p ? ward_name_verdict(verdict->u64) : NULL;
	snprintf(r->verdict, sizeof(r->verdict), "%s", name ? name : "deny");
	r->action = text_of(&fields->of[WARD_TAG_ACTION], true);
	r->path = object_of(fields);
	r->rule = rule_of(fields);
	if (r->action && r->path && r->rule && !is_noted(s, r)) {
		s->n++;
		return;
	}
	free(r->action);
	free(r->path);
	free(r->rule);
	*r = (struct ward_writer_refusal){0};
}

/*
 * The policy allowed it, and no connection was made: such a record has an errno, and says why. The
 * text alone does not tell: it can name the way that a connection takes.
 */
void ward_summary_unreached(struct ward_summary *s, const struct ward_event_fields *fields)
{
	const struct ward_event_field *text = &fields->of[WARD_TAG_TEXT];
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (s->unreached || !text->p || !fields->of[WARD_TAG_ERRNO].p ||
		fields->of[WARD_TAG_ACTION].p)
		return;
	ward_cleanup_free char *object = object_of(fields);
	ward_buf_printf(&b, "%s: ", object ? object : "?");
	ward_escape(&b, text->p, text->len);
	s->unreached = ward_buf_steal(&b);
}

void ward_summary_clear(struct ward_summary *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		free(s->first[i].action);
		free(s->first[i].path);
		free(s->first[i].rule);
	}
	free(s->hidden);
	free(s->unreached);
	*s = (struct ward_summary){0};
}
