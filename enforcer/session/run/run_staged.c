/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the place for staged changes, and looks into it when the session has ended. */
#include "enforcer/session/run/run_staged.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/review/review.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/plan/staged.h"
#include "enforcer/session/run/staged_bound.h"

/* Nobody waits for what a session staged to be compared: a file may have terabytes. */
#define LOOK_NS (2 * WARD_NS_PER_SEC)

/* Did the session that staged this serve a directory of ours? wardfs-fs looks at all of them. */
static int check_trees(const struct ward_run_plan *p, int from, struct ward_err *err)
{
	ward_cleanup(ward_changes_clear) struct ward_review_changes c = {.v = NULL};
	int e = ward_changes_read(from, 1, &c, err);
	if (e < 0)
		return e;
	for (size_t i = 0; i < c.n_roots; i++)
		for (size_t k = 0; k < p->n_trees; k++)
			if (ward_plan_stages(p, k) && strcmp(c.roots[i], p->trees[k].source) == 0)
				return 0;
	return ward_err_set(err, -ESTALE, "that session was in another project");
}

/* SESSION@STEP: where that session was, which has ended. */
static int branch(const struct ward_run_plan *p, const struct ward_guard *g, const char *name,
	struct ward_err *err)
{
	ward_cleanup_free char *session = strdup(name);
	ward_cleanup_fd int from = -1, to = -1, mark = -1;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	struct ward_err why = WARD_ERR_INIT;
	struct ward_as_owner as;
	if (!session)
		return ward_err_sys(err, -ENOMEM, "--from");
	char *at = strchr(session, '@');
	if (at)
		*at++ = '\0';
	if (!*session || *session == '.' || strchr(session, '/'))
		return ward_err_set(err, -EINVAL, "--from: '%s' is no session", session);
	if (ward_store_take_mark(g->state, session, &mark, &text, &why) == -EWOULDBLOCK)
		return ward_err_set(err, -EBUSY,
			"--from: session %s still runs: others can begin where it was when it has "
			"ended",
			session);
	int e = ward_reviews_open(ward_store_dir(g->state), session, &from);
	if (e == 0 && faccessat(from, "journal", F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		e = -errno;
	if (e < 0)
		return ward_err_set(err, e, "--from: session %s has no staged changes", session);
	e = ward_reviews_open(ward_store_dir(g->state), g->store.name, &to);
	if (e < 0)
		return ward_err_sys(err, e, "--from");
	e = ward_as_owner_begin(&p->id, &as, err);
	if (e < 0)
		return e;
	e = ward_reviews_finish(from, err);
	if (e == 0)
		e = check_trees(p, from, err);
	if (e == 0)
		e = ward_reviews_branch(from, at ? at : "", to, err);
	ward_as_owner_end(&as);
	return e < 0 ? ward_err_wrap(err, "--from %s", session) : 0;
}

int ward_run_stage(
	const struct ward_run_plan *p, struct ward_guard *g, const char *from, struct ward_err *err)
{
	const struct ward_identity *id = &p->id;
	if (p->changes == WARD_CHANGES_DIRECT)
		return 0;
	if (g->system)
		return ward_err_set(err, -EINVAL,
			"changes cannot be staged yet where wardfs-auditd keeps the trail (fix: "
			"[audit] writer = own)");
	int e = ward_reviews_make(ward_store_dir(g->state), g->store.name,
		id->root ? id->owner_uid : geteuid(), id->root ? id->owner_gid : getegid(),
		&g->review, err);
	if (e == 0 && (e = ward_staged_bound_write(g->review, p)) < 0)
		(void)ward_err_sys(err, e, "the place for staged changes");
	return e == 0 && from ? branch(p, g, from, err) : e;
}

static char *describe(const struct ward_run_plan *p, const struct ward_guard *g, int dir)
{
	ward_cleanup(ward_changes_clear) struct ward_review_changes c = {.v = NULL};
	struct ward_err why = WARD_ERR_INIT;
	struct ward_as_owner as;
	char *text = NULL;
	int said;
	/* The owner may have put anything there, and into the project. */
	int e = ward_as_owner_begin(&p->id, &as, &why);
	if (e == 0) {
		e = ward_reviews_finish(dir, &why);
		if (e == 0)
			e = ward_changes_read(dir, ward_clock_mono_ns() + LOOK_NS, &c, &why);
		ward_as_owner_end(&as);
	}
	if (e < 0) {
		said = asprintf(&text, "what was staged cannot be read: %s", why.text);
	} else {
		ward_cleanup_free char *line = ward_changes_line(&c);
		ward_cleanup(ward_buf_clear) struct ward_buf cd = WARD_BUF_INIT;
		/* Who unmounts may be anywhere. */
		if (!p->mode) {
			ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
			ward_buf_printf(
				&cd, "cd %s && ", ward_shell_quoted(&word, p->project.path));
		}
		said = line ? asprintf(&text,
				      c.n ? "%s; nothing is in the project yet: %swardfs review %s"
					  : "%s",
				      line, ward_buf_str(&cd), g->store.name)
			    : -1;
	}
	return said < 0 ? NULL : text;
}

char *ward_run_staged(const struct ward_run_plan *p, const struct ward_guard *g)
{
	struct ward_err why = WARD_ERR_INIT;
	char *text = NULL;
	ward_cleanup_fd int dir = -1;
	if (g->review < 0)
		return NULL;
	int state = ward_store_dir(g->state);
	if (p->changes == WARD_CHANGES_DISCARD) {
		if (ward_reviews_remove(state, g->store.name, &why) < 0 &&
			asprintf(&text, "what was staged could not be removed: %s", why.text) < 0)
			return NULL;
		return text;
	}
	if (ward_reviews_open(state, g->store.name, &dir) < 0)
		return NULL;
	return describe(p, g, dir);
}

void ward_run_unstage(const struct ward_guard *g)
{
	struct ward_err why = WARD_ERR_INIT;
	if (g->review >= 0)
		(void)!ward_reviews_remove(ward_store_dir(g->state), g->store.name, &why);
}
