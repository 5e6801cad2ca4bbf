/* SPDX-License-Identifier: Apache-2.0 */
/* Finds rules that hide names in directories that programs will want to remove. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/check_say.h"
#include "enforcer/policy/explain.h"

/* A byte that valid UTF-8 never holds: what a wildcard stands for, and no literal names. */
#define FRESH 0xfe

/* One way to turn a pattern into a path: how long a '*' is, how many names `**` stands for. */
struct sample {
	unsigned star, names;
};

static void put_fresh(struct ward_buf *b, unsigned n)
{
	while (n--)
		ward_buf_putc(b, (char)FRESH);
}

static uint8_t member(const struct ward_byte_set *s)
{
	if (ward_byte_set_has(s, FRESH))
		return FRESH;
	for (unsigned b = 1; b < 256; b++)
		if (b != '/' && ward_byte_set_has(s, (uint8_t)b))
			return (uint8_t)b;
	return 0;
}

/* Appends a path that the pattern names. False: this sample is not a path (an empty or too long
 * name). */
static bool sample_path(const struct ward_pattern *p, struct sample s, struct ward_buf *b)
{
	if (p->n == 0)
		ward_buf_putc(b, '/');
	for (size_t i = 0; i < p->n; i++) {
		const struct ward_component *c = &p->components[i];
		for (unsigned k = 0; c->loop && k < s.names; k++) {
			ward_buf_putc(b, '/');
			put_fresh(b, 1 + s.star);
		}
		ward_buf_putc(b, '/');
		size_t from = b->len;
		for (size_t k = 0; k < c->n; k++) {
			const struct ward_glob_elem *e = &p->elems[c->first + k];
			switch ((enum ward_glob_kind)e->kind) {
			case WARD_GLOB_BYTE:
				ward_buf_putc(b, (char)e->byte);
				break;
			case WARD_GLOB_ANY:
				put_fresh(b, 1);
				break;
			case WARD_GLOB_SET:
				ward_buf_putc(b, (char)member(&p->sets[e->set]));
				break;
			case WARD_GLOB_STAR:
				put_fresh(b, s.star);
				break;
			case WARD_GLOB_END:
				break;
			}
		}
		if (b->len == from || b->len - from > WARD_NAME_MAX)
			return false;
	}
	return ward_buf_error(b) == 0;
}

/* Does rule i hide the path, in a directory that may be removed? */
static int hides_in_removable(
	const struct ward_policy *p, uint32_t i, const struct ward_buf *path, bool *ret)
{
	const struct ward_state *s = NULL, *above = NULL;
	const char *slash = strrchr(ward_buf_str(path), '/');
	int r = ward_policy_walk(p, ward_buf_str(path), path->len, &s);
	if (r < 0)
		return r == -EINVAL ? 0 : r;
	if (slash > path->data)
		r = ward_policy_walk(p, path->data, (size_t)(slash - path->data), &above);
	if (r == 0 && above)
		*ret = !s->outcome.give && s->outcome.rule[0] == i + 1 &&
		       above->outcome.give & WARD_RIGHT_REMOVE;
	ward_state_put(s);
	if (above)
		ward_state_put(above);
	return r;
}

static void say_kept_dir(const struct ward_checker *c, const struct ward_rule *r)
{
	ward_cleanup(ward_buf_clear) struct ward_buf what = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf fix = WARD_BUF_INIT;
	ward_rule_text(r, &what);
	/* One name may be that of a directory, and is meant once, perhaps. */
	if (*r->pattern == '/' || strpbrk(r->pattern, "*?[\\/"))
		ward_buf_puts(&fix, "use deny, which shows the name; or hide the whole directory");
	else
		ward_buf_printf(&fix,
			"if you mean the one at the top, write /workspace/%s; else use deny, which shows the name",
			r->pattern);
	const struct ward_finding f = {.advice = true,
		.file = r->file,
		.line = r->line,
		.what = ward_buf_str(&what),
		.why = "a directory with such a hidden name in it cannot be removed: rm -r and git checkout fail with 'Directory not empty', and do not show why",
		.fix = ward_buf_str(&fix)};
	c->fn(c->user, &f);
}

/* Hidden names in directories that programs will want to remove: rm -r sees an empty directory. */
int ward_checker_hidden(const struct ward_checker *c)
{
	static const struct sample sample = {1, 0};
	const struct ward_policy *p = c->p;
	for (uint32_t i = 0; i < p->n_rules; i++) {
		const struct ward_rule *rule = &p->rules[i];
		bool found = false;
		struct ward_pattern pattern;
		if (rule->verb != WARD_VERB_HIDE || rule->source == WARD_SOURCE_NONE)
			continue;
		int r = ward_pattern_parse(rule->pattern, ward_rule_folds(p, rule), &pattern, NULL);
		if (r < 0)
			return r;
		for (size_t k = 0; r == 0 && !found && k < p->settings.n_trees; k++) {
			const struct ward_tree *t = &p->settings.trees[k];
			ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
			if (*rule->pattern != '/')
				ward_buf_printf(&path, "%s/%c", t->path, FRESH);
			if (t->tmpfs_size || !sample_path(&pattern, sample, &path))
				continue;
			const char *slash = strrchr(path.data, '/');
			/* the tree's root itself is nobody's to remove */
			if (ward_checker_lies_in(path.data, t->path) &&
				(size_t)(slash - path.data) > strlen(t->path))
				r = hides_in_removable(p, i, &path, &found);
		}
		ward_pattern_clear(&pattern);
		if (r < 0)
			return r;
		if (found)
			say_kept_dir(c, rule);
	}
	return 0;
}
