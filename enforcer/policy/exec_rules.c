/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [process] exec: the list of programs. Its patterns are rules of a verb of their own, which give
 * and take nothing by themselves: a path that none of them covers has no right to be executed
 * (outcome.c), wherever there is a list. And the places that `noexec` closes as a whole.
 */
#include "enforcer/policy/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/policy/pattern.h"

/* Does component a match every name that component b matches? False where it is not seen at once.
 */
static bool component_covers(const struct ward_pattern *pa, const struct ward_component *a,
	const struct ward_pattern *pb, const struct ward_component *b)
{
	uint8_t name[WARD_NAME_MAX];
	const struct ward_glob_elem *e = pa->elems + a->first;
	if (a->n == 1 && e[0].kind == WARD_GLOB_STAR)
		return true;
	if (!b->literal || b->n > sizeof(name))
		return false;
	for (size_t i = 0; i < b->n; i++)
		name[i] = pb->elems[b->first + i].byte;
	return ward_component_matches(pa, a, name, b->n);
}

static bool pattern_covers(const struct ward_pattern *a, const struct ward_pattern *b)
{
	if (a->n > b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->components[i].loop || b->components[i].loop ||
			!component_covers(a, &a->components[i], b, &b->components[i]))
			return false;
	return true;
}

/* Does pattern a cover every path that b covers? -ENOMEM. */
static int covers(const char *a, const char *b, bool *ret)
{
	struct ward_pattern pa, pb;
	*ret = strcmp(a, b) == 0;
	if (*ret)
		return 0;
	int r = ward_pattern_parse(a, false, &pa, NULL);
	if (r < 0)
		return r;
	r = ward_pattern_parse(b, false, &pb, NULL);
	if (r == 0) {
		*ret = pattern_covers(&pa, &pb);
		ward_pattern_clear(&pb);
	}
	ward_pattern_clear(&pa);
	return r;
}

static bool floor_entry(const struct ward_entry *e)
{
	return e->source == WARD_SOURCE_FLOOR;
}

/* Is e allowed by the other side (what grants, or the floor), or does that side say nothing? */
static int other_allows(
	const struct ward_entry *const *v, size_t n, const struct ward_entry *e, bool *ret)
{
	bool speaks = false, allows = false;
	for (size_t i = 0; i < n && !allows; i++) {
		if (floor_entry(v[i]) == floor_entry(e))
			continue;
		speaks = true;
		int r = covers(v[i]->value, e->value, &allows);
		if (r < 0)
			return r;
	}
	*ret = allows || !speaks;
	return 0;
}

int ward_programs_merge(struct ward_policy *p, const struct ward_entry *const *v, size_t n)
{
	size_t from = p->n_effective;
	p->programs = n > 0;
	for (size_t i = 0; i < n; i++) {
		bool keep = false;
		int r = other_allows(v, n, v[i], &keep);
		if (r < 0)
			return r;
		for (size_t k = from; keep && k < p->n_effective; k++)
			keep = strcmp(p->effective[k]->value, v[i]->value) != 0;
		if (keep)
			p->effective[p->n_effective++] = v[i];
	}
	return 0;
}

static int add_rule(struct ward_policy *p, const struct ward_entry *e)
{
	if (p->n_rules == p->cap_rules) {
		size_t more = p->cap_rules + 32;
		struct ward_rule *v = reallocarray(p->rules, more, sizeof(*v));
		if (!v)
			return -ENOMEM;
		p->rules = v;
		p->cap_rules = more;
	}
	char *copy = strdup(e->value);
	if (!copy)
		return -ENOMEM;
	/* A guard, to all that looks for rules which one later line could beat. */
	p->rules[p->n_rules++] = (struct ward_rule){.source = e->source,
		.file = e->file,
		.line = e->line,
		.guard = true,
		.verb = WARD_VERB_PROGRAM,
		.pattern = copy};
	return 0;
}

int ward_programs_read(struct ward_policy *p, const struct ward_key *k, const char *instance,
	void *base, struct ward_err *err)
{
	(void)instance, (void)base;
	const struct ward_entry *any = NULL;
	p->first_program = 0;
	for (size_t i = 0; i < p->n_effective; i++) {
		if (p->effective[i]->key != k)
			continue;
		int r = add_rule(p, p->effective[i]);
		if (r < 0)
			return ward_err_set(err, r, "out of memory");
		if (!p->first_program)
			p->first_program = (uint32_t)p->n_rules;
	}
	for (size_t i = 0; i < p->n_entries && !any; i++)
		any = p->entries[i].key == k ? &p->entries[i] : NULL;
	if (p->programs && !p->first_program && any)
		return ward_err_set(err, -EINVAL,
			WARD_PLACE_FMT
			": [process] exec: this list and the list of the floor have no program in common, so the session could execute nothing",
			WARD_PLACE(any->file, any->line));
	return 0;
}

bool ward_policy_has_programs(const struct ward_policy *p)
{
	return p->programs;
}

const struct ward_rule *ward_policy_first_program(const struct ward_policy *p)
{
	return p->first_program ? &p->rules[p->first_program - 1] : NULL;
}

enum ward_listed ward_policy_listed(const struct ward_policy *p, const struct ward_state *s)
{
	if (!p->programs)
		return WARD_LISTED;
	for (uint32_t i = 0; i < s->n_hits; i++)
		if (p->rules[ward_state_hits(s)[i]].verb == WARD_VERB_PROGRAM)
			return WARD_LISTED;
	for (uint32_t i = 0; i < s->n_live; i++)
		if (p->rules[ward_automaton_pattern(p->automaton, s->ids[i])].verb ==
			WARD_VERB_PROGRAM)
			return WARD_LISTED_BENEATH;
	return WARD_LISTED_NOT;
}

bool ward_programs_fit(const struct ward_policy *p, const struct ward_state *src,
	const struct ward_state *dst, uint32_t *ret_rule)
{
	enum ward_listed from = ward_policy_listed(p, src);
	/* Where src is listed so is all beneath it; what dst alone may still meet is a gain. */
	if (from == WARD_LISTED)
		return true;
	for (uint32_t i = 0; i < dst->n_hits; i++) {
		uint32_t n = ward_state_hits(dst)[i];
		if (p->rules[n].verb != WARD_VERB_PROGRAM)
			continue;
		*ret_rule = n + 1;
		return false;
	}
	for (uint32_t i = 0; i < dst->n_live; i++) {
		uint32_t n = ward_automaton_pattern(p->automaton, dst->ids[i]);
		bool both = false;
		for (uint32_t k = 0; k < src->n_live && !both; k++)
			both = src->ids[k] == dst->ids[i];
		if (p->rules[n].verb != WARD_VERB_PROGRAM || both)
			continue;
		*ret_rule = n + 1;
		return false;
	}
	return true;
}

/* The path that a pattern names, if it names a single one; else NULL in *ret. */
static int plain_path(const char *text, char **ret)
{
	struct ward_pattern pattern;
	struct ward_buf b = WARD_BUF_INIT;
	int r = ward_pattern_parse(text, false, &pattern, NULL);
	*ret = NULL;
	if (r < 0)
		return r;
	bool plain = text[0] == '/';
	for (size_t i = 0; i < pattern.n && plain; i++) {
		const struct ward_component *c = &pattern.components[i];
		plain = c->literal && !c->loop;
		ward_buf_putc(&b, '/');
		for (size_t k = 0; k < c->n && plain; k++)
			ward_buf_putc(&b, (char)pattern.elems[c->first + k].byte);
	}
	if (pattern.n == 0)
		ward_buf_putc(&b, '/');
	ward_pattern_clear(&pattern);
	r = ward_buf_error(&b);
	*ret = r == 0 && plain ? ward_buf_steal(&b) : NULL;
	ward_buf_clear(&b);
	return r;
}

bool ward_policy_has_noexec(const struct ward_policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].verb == WARD_VERB_NOEXEC)
			return true;
	return false;
}

int ward_policy_noexec(const struct ward_policy *p, char ***ret)
{
	size_t n = 0;
	int r = 0;
	char **v = calloc(p->n_rules + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_rules && r == 0; i++)
		if (p->rules[i].verb == WARD_VERB_NOEXEC &&
			(r = plain_path(p->rules[i].pattern, &v[n])) == 0 && v[n])
			n++;
	if (r < 0) {
		while (n > 0)
			free(v[--n]);
		free(v);
		return r;
	}
	*ret = v;
	return 0;
}
