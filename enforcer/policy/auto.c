/* SPDX-License-Identifier: Apache-2.0 */
/* The sections [auto] and [agent]: their values, and who asks for the mode. */
#include "enforcer/policy/auto.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/quantity.h"
#include "enforcer/modes/table/mode.h"
#include "enforcer/policy/internal.h"
#include "enforcer/policy/value.h"

/* --- the table --- */

static const char *const row_words[] = {
#define RISK(id, word, points, most, count, sentence) word,
#include "conf/risk.table"
#undef RISK
	NULL};
static const unsigned row_points[] = {
#define RISK(id, word, points, most, count, sentence) points,
#include "conf/risk.table"
#undef RISK
};
static const char *const tool_words[] = {
#define RISK_TOOL(id, word) word,
#include "conf/risk.table"
#undef RISK_TOOL
	NULL};
static const struct {
	const char *mode;
	unsigned points;
} shipped[] = {
#define RISK_FROM(mode, points) {mode, points},
#include "conf/risk.table"
#undef RISK_FROM
};

const char *ward_risk_word(enum ward_risk_row row)
{
	return row < WARD_RISK_ROWS ? row_words[row] : "?";
}

unsigned ward_risk_points(enum ward_risk_row row)
{
	return row < WARD_RISK_ROWS ? row_points[row] : 0;
}

unsigned ward_risk_from(const struct ward_mode *m)
{
	for (size_t i = 0; i < sizeof(shipped) / sizeof(shipped[0]); i++)
		if (strcmp(shipped[i].mode, m->word) == 0)
			return shipped[i].points;
	return WARD_RISK_NEVER;
}

/* --- values --- */

/* The word in front of the number into `word`, the number into *ret. */
static int split(const char *value, char word[64], unsigned *ret, struct ward_err *err)
{
	size_t n = strcspn(value, " \t");
	const char *rest = value + n + strspn(value + n, " \t");
	uint64_t number = 0;
	if (n == 0 || n >= 64 || !*rest)
		return ward_err_set(err, -EINVAL,
			"'%.80s': write a word and a number, such as no-time 20", value);
	int r = ward_quantity_whole(rest, 0, WARD_RISK_POINTS_MAX, &number, err);
	if (r < 0)
		return r;
	memcpy(word, value, n);
	word[n] = '\0';
	*ret = (unsigned)number;
	return 0;
}

/* The spelling in words that is nearest to this one. NULL: none is near. */
static const char *near(const char *word, const char *const *words)
{
	const char *found = NULL;
	unsigned best = WARD_NEAR;
	for (size_t i = 0; words[i]; i++) {
		unsigned d = ward_value_distance(word, words[i], WARD_NEAR);
		if (d < best) {
			best = d;
			found = words[i];
		}
	}
	return found;
}

int ward_auto_points(
	const char *value, enum ward_risk_row *ret_row, unsigned *ret_points, struct ward_err *err)
{
	char word[64];
	unsigned points = 0;
	size_t i = 0;
	int r = split(value, word, &points, err);
	if (r < 0)
		return r;
	while (row_words[i] && strcmp(row_words[i], word) != 0)
		i++;
	if (!row_words[i]) {
		const char *meant = near(word, row_words);
		return ward_err_set(err, -EINVAL,
			"no row '%s'%s%s%s ('wardfs risk -v' lists all rows)", word,
			meant ? ": did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
	}
	if (points < row_points[i])
		return ward_err_set(err, -EINVAL,
			"%s costs %u points: a policy can raise that, not lower it", word,
			row_points[i]);
	*ret_row = (enum ward_risk_row)i;
	*ret_points = points;
	return 0;
}

/* A mode that is a wall by itself. */
static int find_wall(const char *word, const struct ward_mode **ret, struct ward_err *err)
{
	uint64_t i = 0;
	int r = ward_value_word(word, ward_mode_words, &i, err);
	if (r < 0)
		return r;
	if (ward_mode_at(i)->strictness == 0)
		return ward_err_set(err, -EINVAL,
			"'%s' is not a mode of its own here: it picks one of the others", word);
	*ret = ward_mode_at(i);
	return 0;
}

int ward_auto_from(const char *value, const struct ward_mode **ret_mode, unsigned *ret_points,
	struct ward_err *err)
{
	char word[64];
	unsigned points = 0;
	const struct ward_mode *m = NULL;
	int r = split(value, word, &points, err);
	if (r == 0)
		r = find_wall(word, &m, err);
	if (r < 0)
		return r;
	if (points > ward_risk_from(m))
		return ward_err_set(err, -EINVAL,
			"wardfs takes %s from %u points on: a policy can lower that number, not raise it",
			word, ward_risk_from(m));
	*ret_mode = m;
	*ret_points = points;
	return 0;
}

static int parse_tools(const char *value, uint64_t *ret, struct ward_err *err)
{
	uint64_t all = 0;
	for (const char *s = value;; s++) {
		char word[64];
		uint64_t i = 0;
		s += strspn(s, " \t");
		size_t n = strcspn(s, ", \t");
		if (n >= sizeof(word))
			n = sizeof(word) - 1;
		memcpy(word, s, n);
		word[n] = '\0';
		int r = ward_value_word(word, tool_words, &i, err);
		if (r < 0)
			return r;
		all |= UINT64_C(1) << i;
		s += n + strspn(s + n, " \t");
		if (!*s)
			break;
		if (*s != ',')
			return ward_err_set(
				err, -EINVAL, "'%.80s': write a comma between two tools", value);
	}
	*ret = all;
	return 0;
}

/* Three letters of ISO 4217. */
static bool is_currency(const char *s)
{
	for (size_t i = 0; i < 3; i++)
		if (s[i] < 'A' || s[i] > 'Z')
			return false;
	return !s[3];
}

static int parse_money(const char *value, uint64_t *ret, struct ward_err *err)
{
	const char *s = value;
	uint64_t whole = 0;
	uint64_t cents = 0;
	bool ok = ward_quantity_digits(&s, &whole) && whole <= WARD_QUANTITY_MAX / 100;
	if (ok && *s == '.') {
		const char *from = ++s;
		ok = ward_quantity_digits(&s, &cents) && s - from == 2;
	}
	if (ok && *s == ' ')
		ok = is_currency(++s);
	else
		ok = ok && !*s;
	if (!ok)
		return ward_err_set(
			err, -EINVAL, "'%.80s': write an amount, such as 20 or 12.50 EUR", value);
	*ret = whole * 100 + cents;
	return 0;
}

/* --- key types --- */

int ward_parse_least(
	const struct ward_key *k, const char *value, uint64_t *number, struct ward_err *err)
{
	const struct ward_mode *m = NULL;
	(void)k;
	int r = find_wall(value, &m, err);
	while (r == 0 && ward_mode_at(*number) != m)
		++*number;
	return r;
}

int ward_parse_points(
	const struct ward_key *k, const char *value, uint64_t *number, struct ward_err *err)
{
	enum ward_risk_row row = WARD_RISK_ROWS;
	unsigned points = 0;
	(void)k;
	int r = ward_auto_points(value, &row, &points, err);
	*number = points;
	return r;
}

int ward_parse_from(
	const struct ward_key *k, const char *value, uint64_t *number, struct ward_err *err)
{
	const struct ward_mode *m = NULL;
	unsigned points = 0;
	(void)k;
	int r = ward_auto_from(value, &m, &points, err);
	*number = points;
	return r;
}

int ward_parse_tools(
	const struct ward_key *k, const char *value, uint64_t *number, struct ward_err *err)
{
	(void)k;
	return parse_tools(value, number, err);
}

int ward_parse_money(
	const struct ward_key *k, const char *value, uint64_t *number, struct ward_err *err)
{
	(void)k;
	return parse_money(value, number, err);
}

int ward_tools_read(struct ward_policy *p, const struct ward_key *k, const char *instance,
	void *base, struct ward_err *err)
{
	uint32_t *to = base;
	(void)instance, (void)err;
	*to = 0;
	for (size_t i = 0; i < p->n_effective; i++)
		if (p->effective[i]->key == k)
			*to |= (uint32_t)p->effective[i]->number;
	return 0;
}

/* --- who says what --- */

void ward_policy_auto(const struct ward_policy *p, struct ward_auto_ask *ret)
{
	const struct ward_entry *said = NULL;
	*ret = (struct ward_auto_ask){.asked = false};
	/* Entries stand in the order profile, base, run, floor, project. */
	for (size_t i = 0; i < p->n_entries; i++) {
		const struct ward_entry *e = &p->entries[i];
		if (!WARD_ENTRY_IS(e, mode))
			continue;
		const struct ward_mode *m = ward_mode_at(e->number);
		if (e->source == WARD_SOURCE_PROFILE || e->source == WARD_SOURCE_BASE)
			said = e;
		if (e->source == WARD_SOURCE_FLOOR && m->strictness > 0)
			ret->floor = m;
	}
	if (!said || ward_mode_at(said->number)->strictness > 0)
		return;
	ret->asked = true;
	ret->file = said->file;
	ret->line = said->line;
}

void ward_policy_each_line(const struct ward_policy *p, ward_policy_line_fn fn, void *user)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		const struct ward_policy_line l = {.key = e->key,
			.instance = e->instance,
			.value = e->value,
			.file = e->file,
			.line = e->line};
		fn(user, &l);
	}
}
