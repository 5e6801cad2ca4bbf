/* SPDX-License-Identifier: Apache-2.0 */
/* Makes points of facts. Pure. */
#include "enforcer/risk/risk.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"

static const struct {
	unsigned most;
	const char *sentence;
} rows[WARD_RISK_ROWS] = {
#define RISK(id, word, points, most, count, sentence) {most, sentence},
#include "conf/risk.table"
#undef RISK
};

static unsigned counted(enum ward_risk_row row, const struct ward_risk_facts *f)
{
	switch (row) {
#define RISK(id, word, points, most, count, sentence)                                              \
	case WARD_RISK_##id:                                                                       \
		return (unsigned)(count);
#include "conf/risk.table"
#undef RISK
	case WARD_RISK_ROWS:
		break;
	}
	return 0;
}

const char *ward_signed_word(enum ward_signed_state s)
{
	switch (s) {
	case WARD_SIGNED_NONE:
		break;
	case WARD_SIGNED_FOREIGN:
		return "foreign";
	case WARD_SIGNED_GOOD:
		return "good";
	case WARD_SIGNED_BAD:
		return "bad";
	}
	return "none";
}

const char *ward_risk_sentence(enum ward_risk_row row)
{
	return row < WARD_RISK_ROWS ? rows[row].sentence : "?";
}

void ward_risk_score(const struct ward_risk_facts *f, const struct ward_settings *s,
	struct ward_risk_report *ret)
{
	*ret = (struct ward_risk_report){.points = 0};
	for (unsigned i = 0; i < WARD_RISK_ROWS; i++)
		ret->rows[i].each = ward_risk_points((enum ward_risk_row)i);
	/* Each was checked when the policy was loaded. */
	for (size_t i = 0; s && i < s->auto_points.n; i++) {
		enum ward_risk_row row = WARD_RISK_ROWS;
		unsigned points = 0;
		if (ward_auto_points(s->auto_points.v[i], &row, &points, NULL) == 0 &&
			points > ret->rows[row].each)
			ret->rows[row].each = points;
	}
	for (unsigned i = 0; i < WARD_RISK_ROWS; i++) {
		struct ward_risk_scored *r = &ret->rows[i];
		unsigned n = counted((enum ward_risk_row)i, f);
		r->count = n < rows[i].most ? n : rows[i].most;
		r->points = r->count * r->each;
		ret->points += r->points;
	}
}

/* --- facts --- */

void ward_risk_facts_clear(struct ward_risk_facts *f)
{
	for (unsigned i = 0; i < WARD_RISK_ROWS; i++)
		free(f->behind[i]);
	free(f->program.path);
	free(f->program.package);
	free(f->program.made_by);
	*f = WARD_RISK_FACTS_INIT;
}

void ward_risk_behind(struct ward_risk_facts *f, enum ward_risk_row row, const char *fmt, ...)
{
	static const char more[] = ", …";
	char text[WARD_RISK_BEHIND_MAX];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	char **to = &f->behind[row];
	size_t have = *to ? strlen(*to) : 0;
	if (have >= sizeof(more) && strcmp(*to + have - (sizeof(more) - 1), more) == 0)
		return;
	bool fits = have + 2 + strlen(text) <= WARD_RISK_BEHIND_MAX;
	char *whole = NULL;
	/* What does not fit in memory is only not told. */
	int n = asprintf(&whole, "%s%s%s", *to ? *to : "",
		!*to   ? ""
		: fits ? ", "
		       : more,
		*to && !fits ? "" : text);
	if (n < 0)
		return;
	free(*to);
	*to = whole;
}

/* --- a line of it --- */

/* Rows that the line tells; the table has all. */
#define TOLD 5

void ward_risk_line(
	const struct ward_risk_report *r, const struct ward_risk_choice *c, struct ward_buf *ret)
{
	bool told[WARD_RISK_ROWS] = {false};
	unsigned left = 0;
	ward_buf_printf(ret, "%u point%s → %s", r->points, r->points == 1 ? "" : "s",
		c->mode ? c->mode->word : "refused");
	for (unsigned i = 0; i < WARD_RISK_ROWS; i++)
		left += r->rows[i].points > 0;
	for (unsigned n = 0; n < TOLD && left > 0; n++, left--) {
		unsigned best = 0;
		unsigned points = 0;
		for (unsigned i = 0; i < WARD_RISK_ROWS; i++)
			if (!told[i] && r->rows[i].points > points) {
				best = i;
				points = r->rows[i].points;
			}
		told[best] = true;
		ward_buf_printf(ret, "%s%s (+%u)", n ? ", " : ": ",
			ward_risk_sentence((enum ward_risk_row)best), points);
	}
	if (left)
		ward_buf_printf(ret, ", and %u more", left);
}
