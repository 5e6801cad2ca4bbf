/* SPDX-License-Identifier: Apache-2.0 */
/* Finds rules of the owner's that show, in one directory, what the shipped profile refuses. */
#include <errno.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/plural.h"
#include "enforcer/policy/check.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/internal.h"

/* A byte that valid UTF-8 never holds: what a wildcard stands for, and no literal names. */
#define FRESH ((char)0xfe)

/*
 * What the profile refuses wherever it stands in that directory: "*.pem" of that pattern, and
 * of one with two stars in front. NULL: the rule is none of that kind.
 */
static const char *refused_in(const struct ward_rule *r, const char *dir)
{
	if (r->source != WARD_SOURCE_PROFILE || r->guard || strpbrk(r->pattern, "[\\") ||
		(r->verb != WARD_VERB_HIDE && r->verb != WARD_VERB_DENY &&
			r->verb != WARD_VERB_SECRET))
		return NULL;
	if (*r->pattern != '/')
		return r->pattern;
	const char *deep = strstr(r->pattern, "/**/");
	const size_t n = deep ? (size_t)(deep - r->pattern) : 0;
	return deep && strncmp(dir, r->pattern, n) == 0 && dir[n] == '/' ? deep + 4 : NULL;
}

/* One directory, by its name, which is no tree: of a whole tree "too wide" is said. */
static bool names_one(const struct ward_policy *p, const struct ward_rule *r)
{
	if (r->source != WARD_SOURCE_BASE || r->guard || *r->pattern != '/' || !r->pattern[1] ||
		strpbrk(r->pattern, "*?[\\") ||
		(r->verb != WARD_VERB_READ && r->verb != WARD_VERB_APPEND &&
			r->verb != WARD_VERB_WRITE))
		return false;
	for (size_t i = 0; i < p->settings.n_trees; i++)
		if (strcmp(p->settings.trees[i].path, r->pattern) == 0)
			return false;
	return true;
}

/* Does rule i let what `refused` names be read in its directory? -errno. */
static int shows(const struct ward_policy *p, uint32_t i, const char *refused)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	const struct ward_state *s = NULL;
	ward_buf_printf(&path, "%s/", p->rules[i].pattern);
	for (const char *c = refused; *c; c++)
		ward_buf_putc(&path, *c == '*' || *c == '?' ? FRESH : *c);
	int r = ward_buf_error(&path);
	if (r == 0)
		r = ward_policy_walk(p, ward_buf_str(&path), path.len, &s);
	if (r < 0)
		return r == -EINVAL ? 0 : r;
	r = !s->outcome.secret && s->outcome.rule[0] == i + 1 && s->outcome.give & WARD_RIGHT_READ;
	ward_state_put(s);
	return r;
}

static void say(const struct ward_rule *rule, const struct ward_rule *first, unsigned n,
	ward_finding_fn fn, void *user)
{
	ward_cleanup(ward_buf_clear) struct ward_buf what = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	ward_rule_text(rule, &what);
	ward_buf_puts(&why, "in this directory it also allows what other lines refuse: ");
	ward_rule_place(first, &why);
	ward_buf_puts(&why, "  ");
	ward_rule_text(first, &why);
	if (n > 1)
		ward_buf_printf(&why, " and %u more line%s", n - 1, ward_s(n - 1));
	const struct ward_finding f = {.file = rule->file,
		.line = rule->line,
		.what = ward_buf_str(&what),
		.why = ward_buf_str(&why),
		.fix = "repeat those lines after this one, unless you mean to allow them here"};
	fn(user, &f);
}

int ward_policy_check_shown(
	const struct ward_policy *p, ward_is_dir_fn is_dir, ward_finding_fn fn, void *user)
{
	for (uint32_t i = 0; i < p->n_rules; i++) {
		const struct ward_rule *first = NULL;
		unsigned n = 0;
		if (!names_one(p, &p->rules[i]) || !is_dir(user, p->rules[i].pattern))
			continue;
		for (uint32_t k = 0; k < i; k++) {
			const char *refused = refused_in(&p->rules[k], p->rules[i].pattern);
			const int r = refused ? shows(p, i, refused) : 0;
			if (r < 0)
				return r;
			first = first || r == 0 ? first : &p->rules[k];
			n += r > 0;
		}
		if (first)
			say(&p->rules[i], first, n, fn, user);
	}
	return 0;
}
