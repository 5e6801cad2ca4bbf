/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the literal paths where a policy gives a right, and where it takes the right away. */
#include "enforcer/policy/outline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/internal.h"
#include "enforcer/policy/pattern.h"

/* A pattern's leading names without wildcards, as a path. */
struct stem {
	char *path;  /* owned; "/" where the pattern begins with a wildcard */
	bool whole;  /* the pattern is this path and no more */
	bool floats; /* the pattern may begin at every depth */
};

static int stem_of(const struct ward_rule *rule, struct stem *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	struct ward_pattern pattern;
	size_t i = 0;
	int r = ward_pattern_parse(rule->pattern, false, &pattern, NULL);
	if (r < 0)
		return r;
	for (; i < pattern.n && !pattern.components[i].loop && pattern.components[i].literal; i++) {
		const struct ward_component *c = &pattern.components[i];
		ward_buf_putc(&b, '/');
		for (size_t k = 0; k < c->n; k++)
			ward_buf_putc(&b, (char)pattern.elems[c->first + k].byte);
	}
	if (i == 0)
		ward_buf_putc(&b, '/');
	ret->whole = i == pattern.n;
	ret->floats = pattern.n > 0 && pattern.components[0].loop;
	ward_pattern_clear(&pattern);
	ret->path = ward_buf_steal(&b);
	return ret->path ? 0 : -ENOMEM;
}

static bool beneath(const char *path, const char *above)
{
	size_t n = strlen(above);
	if (strcmp(above, "/") == 0)
		return true;
	return strncmp(path, above, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

static int add(struct ward_outline *o, const char *path, bool deny, const struct ward_rule *rule)
{
	for (size_t i = 0; i < o->n; i++)
		if (strcmp(o->v[i].path, path) == 0)
			return 0;
	struct ward_outline_path *v = reallocarray(o->v, o->n + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	o->v = v;
	char *copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	v[o->n++] = (struct ward_outline_path){copy, deny, rule};
	return 0;
}

static bool listed_above(const struct ward_outline *o, const char *path)
{
	for (size_t i = 0; i < o->n; i++)
		if (!o->v[i].deny && beneath(path, o->v[i].path))
			return true;
	return false;
}

/* Does rule number i give the right? Guards and sources that only take away give nothing. */
static bool gives(const struct ward_policy *p, size_t i, uint32_t right)
{
	const struct ward_rule *rule = &p->rules[i];
	return !rule->guard && ward_rule_group(rule) == WARD_GROUP_BASE &&
	       (ward_verb_rights(rule->verb) & right);
}

/*
 * May something at the path or beneath it have the right, though rule number `rule` covers it? Of
 * one list the last rule that matches decides: only a later one can give it back.
 */
static bool given_back(const struct ward_policy *p, const struct stem *stems, size_t rule,
	const char *path, uint32_t right)
{
	for (size_t i = rule + 1; i < p->n_rules; i++)
		if (gives(p, i, right) &&
			(stems[i].floats || beneath(stems[i].path, path) ||
				(!stems[i].whole && beneath(path, stems[i].path))))
			return true;
	return false;
}

static int rights_of(const struct ward_policy *p, const char *path, uint32_t *ret)
{
	const struct ward_state *s = NULL;
	int r = ward_policy_walk(p, path, strlen(path), &s);
	if (r < 0)
		return r;
	*ret = ward_policy_rights(p, s);
	ward_policy_state_put(p, s);
	return 0;
}

/* The paths that may have the right: each stem of a rule that gives it. */
static int list_given(const struct ward_policy *p, const struct stem *stems, uint32_t right,
	struct ward_outline *ret)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < p->n_rules; i++)
		if (gives(p, i, right))
			r = add(ret, stems[i].path, false, &p->rules[i]);
	/* What stands beneath another of the list says nothing more. */
	for (size_t i = 0; i < ret->n;) {
		bool covered = false;
		for (size_t k = 0; k < ret->n && !covered; k++)
			covered = k != i && beneath(ret->v[i].path, ret->v[k].path);
		if (!covered) {
			i++;
			continue;
		}
		free(ret->v[i].path);
		ret->v[i] = ret->v[--ret->n];
	}
	return r;
}

/* Beneath those, the paths that a rule names without wildcards and that lack the right as a whole.
 */
static int list_taken(const struct ward_policy *p, const struct stem *stems, uint32_t right,
	struct ward_outline *ret)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < p->n_rules; i++) {
		const struct ward_rule *rule = &p->rules[i];
		uint32_t rights = 0;
		if (!stems[i].whole || rule->verb == WARD_VERB_PROGRAM ||
			rule->verb ==
				WARD_VERB_SECRET /* not where git has it, or the session made it */
			|| rule->verb == WARD_VERB_NOEXEC || ward_verb_rights(rule->verb) & right ||
			!listed_above(ret, stems[i].path))
			continue;
		r = rights_of(p, stems[i].path, &rights);
		bool taken = ward_rule_group(rule) != WARD_GROUP_BASE || rule->guard;
		if (r == 0 && !(rights & right) &&
			(taken || !given_back(p, stems, i, stems[i].path, right)))
			r = add(ret, stems[i].path, true, rule);
	}
	return r;
}

static int by_path(const void *a, const void *b)
{
	const struct ward_outline_path *x = a, *y = b;
	return strcmp(x->path, y->path);
}

int ward_policy_outline(const struct ward_policy *p, uint32_t right, struct ward_outline *ret)
{
	*ret = (struct ward_outline){0};
	struct stem *stems = calloc(p->n_rules + 1, sizeof(*stems));
	int r = stems ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < p->n_rules; i++)
		r = stem_of(&p->rules[i], &stems[i]);
	if (r == 0)
		r = list_given(p, stems, right, ret);
	if (r == 0)
		r = list_taken(p, stems, right, ret);
	for (size_t i = 0; stems && i < p->n_rules; i++)
		free(stems[i].path);
	free(stems);
	if (r < 0) {
		ward_outline_clear(ret);
		return r;
	}
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_path);
	return 0;
}

void ward_outline_clear(struct ward_outline *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->v[i].path);
	free(o->v);
	*o = (struct ward_outline){0};
}

static bool is_of(const struct ward_entry *e, enum ward_listed_key key)
{
	switch (key) {
	case WARD_LISTED_CONNECT:
		return e->key->type == WARD_KEY_TYPE_ALLOW;
	case WARD_LISTED_PROGRAMS:
		return e->key->type == WARD_KEY_TYPE_PROGRAM;
	case WARD_LISTED_READ:
		return WARD_ENTRY_IS(e, system_read);
	}
	return false;
}

int ward_policy_listed_values(const struct ward_policy *p, enum ward_listed_key key,
	int (*fn)(void *user, const char *value, const char *place), void *user)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
		if (!is_of(e, key))
			continue;
		ward_buf_printf(&place, WARD_PLACE_FMT, WARD_PLACE(e->file, e->line));
		r = ward_buf_error(&place);
		if (r == 0)
			r = fn(user, e->value, ward_buf_str(&place));
	}
	return r;
}
