/* SPDX-License-Identifier: Apache-2.0 */
/* Says which symbolic links lead past rules, behind what is said of repositories. */
#include "enforcer/session/plan/trees_say.h"

#include <stdbool.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/policy/explain.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/plan/guards_say.h"
#include "enforcer/session/tree/links_above.h"

/* A start is short: the top of a tree and the directories in it, and not too many names there. */
static const struct ward_links_bounds most = {.levels = 2, .names = 2000};

struct found {
	struct ward_buf first; /* path and rule */
	size_t n;
};

static int take(void *user, const char *path, const struct ward_rule *rule)
{
	struct found *f = user;
	if (f->n++)
		return 0;
	ward_escape(&f->first, path, strlen(path));
	ward_buf_puts(&f->first, " is a symbolic link, and ");
	ward_rule_text(rule, &f->first);
	ward_buf_puts(&f->first, " (");
	ward_rule_place(rule, &f->first);
	ward_buf_puts(&f->first, ") is about a name beneath it");
	return ward_buf_error(&f->first);
}

static int say_found(const struct found *f, void (*say)(const char *text))
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	ward_buf_printf(&line,
		"%s. Programs outside that follow the link find what no rule protects",
		ward_buf_str(&f->first));
	if (f->n > 1)
		ward_buf_printf(&line, ". %zu more such link%s: 'wardfs policy check'", f->n - 1,
			f->n == 2 ? "" : "s");
	const int r = ward_buf_error(&line);
	if (r == 0)
		say(ward_buf_str(&line));
	return r;
}

int ward_trees_say(
	const struct ward_run_plan *p, void (*say)(const char *text), struct ward_err *err)
{
	struct found f = {.first = WARD_BUF_INIT};
	struct ward_as_owner as;
	bool all;
	int r = ward_guards_say(&p->known, say, err);
	if (r == 0)
		r = ward_as_owner_begin(&p->id, &as, err);
	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < p->n_trees; i++)
		if (p->trees[i].source && p->trees[i].backing >= 0)
			r = ward_links_above(p->policy, p->trees[i].backing, p->trees[i].path,
				&most, take, &f, &all);
	ward_as_owner_end(&as);
	if (r == 0 && f.n)
		r = say_found(&f, say);
	ward_buf_clear(&f.first);
	return r < 0 ? ward_err_sys(err, r, "symbolic links in the project") : 0;
}
