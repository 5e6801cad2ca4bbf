/* SPDX-License-Identifier: Apache-2.0 */
/* Says what the search for repositories did not find. */
#include "enforcer/session/plan/guards_say.h"

#include <errno.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/plural.h"

bool ward_guards_remembered(const struct ward_known *k, const struct ward_known_repo *repo)
{
	if (!repo->before || repo->now || repo->gone || repo->class == WARD_KNOWN_EVERY)
		return false;
	/* A .git directory that is now a tree of its own was found as a bare repository. */
	for (size_t i = 0; i < k->n; i++)
		if (k->v[i].now && strcmp(k->v[i].path, repo->path) == 0)
			return false;
	for (size_t i = 0; i < k->n_trees; i++)
		if (ward_known_beneath(repo->path, k->trees[i].path))
			return true;
	return false;
}

void ward_guards_stopped(
	const struct ward_known_tree *t, struct ward_buf *why, struct ward_buf *fix)
{
	ward_buf_printf(why,
		"the search for repositories in %s ended early, before %s: a bare repository that it "
		"did not reach is not guarded, and 'git init' fails inside",
		t->path, t->stopped);
	ward_buf_puts(fix,
		"start in a smaller directory, move what is large out of this one, or name the hooks "
		"and config of bare repositories in a [guard]");
}

bool ward_guards_everywhere(const struct ward_known *k, const struct ward_known_repo *repo,
	struct ward_buf *why, struct ward_buf *fix)
{
	bool in = false;
	for (size_t i = 0; i < k->n_trees; i++)
		in = in || ward_known_beneath(repo->path, k->trees[i].path);
	if (!in || repo->class != WARD_KNOWN_EVERY || repo->gone)
		return false;
	ward_buf_printf(why,
		"%s has had more than %u git directories, or fewer at long paths: what git runs or "
		"obeys in one (hooks, config and the like) can at most be read in every directory "
		"there",
		repo->path, WARD_KNOWN_MAX);
	ward_buf_puts(
		fix, "look at them, remove those that are not yours, then: wardfs policy forget ");
	ward_shell_word(fix, repo->path);
	return true;
}

static int say_text(void (*say)(const char *text), const struct ward_buf *b, struct ward_err *err)
{
	int r = ward_buf_error(b);
	if (r < 0)
		return ward_err_sys(err, r, "guards");
	say(ward_buf_str(b));
	return 0;
}

int ward_guards_say(const struct ward_known *k, void (*say)(const char *text), struct ward_err *err)
{
	const struct ward_known_repo *first = NULL;
	size_t n = 0;
	int r = 0;
	for (size_t i = 0; i < k->n_trees && r == 0; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT, fix = WARD_BUF_INIT;
		if (!k->trees[i].stopped)
			continue;
		ward_guards_stopped(&k->trees[i], &b, &fix);
		ward_buf_printf(&b, " (fix: %s)", ward_buf_str(&fix));
		r = say_text(say, &b, err);
	}
	for (size_t i = 0; i < k->n && r == 0; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT, fix = WARD_BUF_INIT;
		if (!ward_guards_everywhere(k, &k->v[i], &b, &fix))
			continue;
		ward_buf_printf(&b, " (fix: %s)", ward_buf_str(&fix));
		r = say_text(say, &b, err);
	}
	for (size_t i = 0; i < k->n; i++) {
		if (!ward_guards_remembered(k, &k->v[i]))
			continue;
		first = first ? first : &k->v[i];
		n++;
	}
	if (r < 0 || n == 0)
		return r;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, "%s was a repository at an earlier start, and this one did not find it",
		first->path);
	if (n > 1)
		ward_buf_printf(
			&b, " (nor %zu other%s: wardfs policy check)", n - 1, ward_s(n - 1));
	ward_buf_puts(&b,
		": what is left is guarded as before. Look at it; if it is no longer a repository: wardfs "
		"policy forget ");
	ward_shell_word(&b, first->path);
	return say_text(say, &b, err);
}
