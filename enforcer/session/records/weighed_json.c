/* SPDX-License-Identifier: Apache-2.0 */
/* Describes what mode auto weighed. */
#include "enforcer/session/records/weighed_json.h"

#include <stdio.h>

#include "enforcer/session/records/record_text.h"

static json_t *word(const struct ward_mode *m)
{
	return m ? json_string(m->word) : json_null();
}

/*
 * Bytes of foreign text in a record. It has to share one event (WARD_EVENT_MAX) with the command
 * line and the trees; what does not fit is null.
 */
#define ROOM 4096U

static json_t *text(const char *s, size_t *room)
{
	json_t *o = s ? ward_record_text(s) : json_null();
	/* A backslash of the escaped form becomes two in JSON. */
	size_t n = s ? 2 * json_string_length(o) : 0;
	if (n <= *room) {
		*room -= n;
		return o;
	}
	json_decref(o);
	return json_null();
}

static json_t *row_json(
	const struct ward_weighed *w, enum ward_risk_row row, bool whole, size_t *room)
{
	const struct ward_risk_scored *s = &w->report.rows[row];
	json_t *o = json_pack("{s:s, s:I, s:o}", "row", ward_risk_word(row), "points",
		(json_int_t)s->points, "fact", text(s->count ? w->facts.behind[row] : NULL, room));
	if (whole)
		json_object_update_new(
			o, json_pack("{s:s, s:I, s:I}", "sentence", ward_risk_sentence(row), "each",
				   (json_int_t)s->each, "count", (json_int_t)s->count));
	return o;
}

/* null: no key is named, or no signature lies beside the program. */
static json_t *signature_json(const struct ward_signed *s)
{
	if (s->state == WARD_SIGNED_NONE)
		return json_null();
	json_t *o = json_pack("{s:s, s:s, s:o}", "state", ward_signed_word(s->state), "suffix",
		s->suffix, "signer", *s->signer ? json_string(s->signer) : json_null());
	if (s->why)
		json_object_set_new(o, "why", json_string(s->why));
	return o;
}

static json_t *program_json(const struct ward_risk_program *p, size_t *room)
{
	char hex[65];
	for (size_t i = 0; i < sizeof(p->digest); i++)
		snprintf(hex + 2 * i, 3, "%02x", p->digest[i]);
	json_t *o = json_pack("{s:o, s:o, s:I, s:I, s:I, s:I}", "path", text(p->path, room),
		"package", text(p->package, room), "dev", (json_int_t)p->dev, "ino",
		(json_int_t)p->ino, "size", (json_int_t)p->size, "ctime", (json_int_t)p->ctime_ns);
	json_object_set_new(o, "sha256", p->has_digest ? json_string(hex) : json_null());
	json_object_set_new(o, "made_by", text(p->made_by, room));
	json_object_set_new(o, "signature", signature_json(&p->sign));
	if (p->no_digest)
		json_object_set_new(o, "no_digest", json_string(p->no_digest));
	return o;
}

static json_t *thresholds_json(const struct ward_settings *s)
{
	json_t *all = json_array();
	for (const struct ward_mode *m = ward_modes; m->word; m++) {
		unsigned from = m->strictness ? ward_risk_threshold(m, s) : WARD_RISK_NEVER;
		if (from != WARD_RISK_NEVER)
			json_array_insert_new(all, 0,
				json_pack(
					"{s:s, s:I}", "mode", m->word, "points", (json_int_t)from));
	}
	return all;
}

json_t *ward_weighed_json(const struct ward_weighed *w, bool whole, const struct ward_settings *s)
{
	size_t room = whole ? SIZE_MAX : ROOM;
	json_t *program =
		w->facts.program.path ? program_json(&w->facts.program, &room) : json_null();
	json_t *rows = json_array();
	for (unsigned i = 0; i < WARD_RISK_ROWS; i++)
		if (whole || w->report.rows[i].points > 0)
			json_array_append_new(
				rows, row_json(w, (enum ward_risk_row)i, whole, &room));
	json_t *o = json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "points",
		(json_int_t)w->report.points, "mode", word(w->choice.mode), "asked",
		word(w->choice.asked), "least", word(w->choice.least), "overrode",
		w->overrode ? json_string(w->overrode) : json_null(), "rows", rows, "program",
		program, "sessions", (json_int_t)w->facts.past);
	json_object_set_new(o, "passed", text(w->choice.passed, &room));
	if (whole)
		json_object_set_new(o, "from", thresholds_json(s));
	return o;
}
