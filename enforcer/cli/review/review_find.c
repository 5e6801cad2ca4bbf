/* SPDX-License-Identifier: Apache-2.0 */
/* Finds staged changes, and asks the policy about each of them. */
#include "enforcer/cli/review/review_find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/review/review_flags.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/run/staged_bound.h"

#define REVIEWS "reviews"

static int open_store(struct ward_review_meant *m, struct ward_err *err)
{
	ward_cleanup_free char *path = NULL;
	int r = ward_store_default_path(
		geteuid(), secure_getenv("XDG_STATE_HOME"), m->place.id.home, &path, err);
	return r < 0 ? r : ward_store_open(path, false, &m->store, err);
}

static bool is_ours(const struct ward_review_meant *m, char *const *roots, size_t n)
{
	size_t n_trees = ward_policy_settings(m->place.policy)->n_trees;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n_trees; k++)
			if (m->place.sources[k] && strcmp(roots[i], m->place.sources[k]) == 0)
				return true;
	return false;
}

/* Is it a session of this project? When it was staged or applied last, in ns; 0: no. */
static uint64_t is_of(const struct ward_review_meant *m, const char *session, bool applied)
{
	ward_cleanup(ward_changes_clear) struct ward_review_changes c = {.v = NULL};
	ward_cleanup(ward_applied_clear) struct ward_applied done = {.v = NULL};
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup_fd int dir = -1;
	struct stat st;
	if (ward_reviews_open(ward_store_dir(m->store), session, &dir) < 0)
		return 0;
	if (applied) {
		if (ward_applied_of(dir, &done, &err) < 0)
			ward_sayf("session %s: %s", session, err.text);
		return done.n && is_ours(m, done.roots, done.n_roots)
			       ? done.steps[done.n_steps - 1].begun_ns
			       : 0;
	}
	/* The journal ends with the session. */
	struct ward_as_owner as;
	if (fstatat(dir, "journal", &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		ward_as_owner_begin(&m->place.id, &as, &err) < 0)
		return 0;
	const int r = ward_changes_roots(dir, &c, &err);
	ward_as_owner_end(&as);
	if (r < 0 || !is_ours(m, c.roots, c.n_roots))
		return 0;
	return (uint64_t)st.st_mtim.tv_sec * WARD_NS_PER_SEC + (uint64_t)st.st_mtim.tv_nsec;
}

static int find_last(struct ward_review_meant *m, bool applied, struct ward_err *err)
{
	int fd = openat(
		ward_store_dir(m->store), REVIEWS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ward_cleanup_dir DIR *d = fd < 0 ? NULL : fdopendir(fd);
	uint64_t best = 0;
	for (struct dirent *e = NULL; d && (e = readdir(d));) {
		uint64_t at = e->d_name[0] == '.' ? 0 : is_of(m, e->d_name, applied);
		if (at <= best)
			continue;
		best = at;
		free(m->session);
		m->session = strdup(e->d_name);
	}
	if (m->session)
		return 0;
	if (applied)
		return ward_err_set(err, -ENOENT,
			"no session of this project has been applied, or it was longer ago than "
			"[review] keep");
	return ward_err_set(err, -ENOENT,
		"no session of this project has staged changes (wardfs run --review -- CMD stages them)");
}

static int check_ended(const struct ward_review_meant *m, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup_fd int mark = -1;
	struct ward_err why = WARD_ERR_INIT;
	if (ward_store_take_mark(m->store, m->session, &mark, &text, &why) == -EWOULDBLOCK)
		return ward_err_set(err, -EBUSY,
			"session %s still runs: what it stages can be looked at when it has ended",
			m->session);
	return 0;
}

/* What has the path now may be another project. */
static bool is_another(const struct ward_review_meant *m, int fd, const char *path)
{
	if (!ward_staged_bound_other(m->place_fd, fd, path))
		return false;
	ward_sayf("%s is not the directory that session %s had there: nothing of it is applied "
		  "here. 'wardfs review export DIR' writes its files elsewhere",
		path, m->session);
	return true;
}

static void open_roots(const struct ward_review_meant *m, char *const *roots, size_t n, int *ret,
	const char **ret_trees)
{
	const struct ward_settings *s = ward_policy_settings(m->place.policy);
	for (size_t i = 0; i < n && i < 16; i++)
		for (size_t k = 0; k < s->n_trees; k++) {
			if (ret[i] >= 0 || !m->place.sources[k] ||
				strcmp(roots[i], m->place.sources[k]) != 0)
				continue;
			ret[i] = open(
				m->place.sources[k], O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			ret_trees[i] = s->trees[k].path;
		}
}

void ward_review_meant_init(struct ward_review_meant *m)
{
	*m = (struct ward_review_meant){.dir_fd = -1, .place_fd = -1};
	for (size_t i = 0; i < 16; i++)
		m->roots[i] = m->undo_roots[i] = -1;
}

static int walk(const struct ward_review_meant *m, size_t root, const char *path,
	const struct ward_state **ret)
{
	ward_cleanup_free char *full = NULL;
	if (asprintf(&full, "%s/%s", strcmp(m->trees[root], "/") ? m->trees[root] : "", path) < 0)
		return -ENOMEM;
	return ward_policy_walk(m->place.policy, full, strlen(full), ret);
}

static enum ward_verdict decide(const struct ward_review_meant *m, const struct ward_change *c,
	uint32_t flags, int *ret_error, char ret_rule[128])
{
	const struct ward_state *state = NULL, *state2 = NULL, *root = NULL;
	struct ward_request req = {
		.rights = WARD_RIGHT_WRITE, .action = WARD_ACTION_ACCESS, .flags = flags};
	snprintf(ret_rule, 128, "default");
	*ret_error = EXDEV;
	if (m->roots[c->root] < 0 || (c->from && m->roots[c->from_root] < 0))
		return WARD_VERDICT_DENY;
	bool moves = c->kind == WARD_CHANGE_RENAMED || c->kind == WARD_CHANGE_LINKED;
	int r = walk(m, moves ? c->from_root : c->root, moves ? c->from : c->path, &state);
	if (r == 0 && moves)
		r = walk(m, c->root, c->path, &state2);
	if (r == 0)
		r = ward_policy_tree_root(m->place.policy, m->trees[c->root], &root);
	if (S_ISDIR(c->type))
		req.flags |= WARD_REQUEST_DIR;
	if (S_ISLNK(c->type))
		req.flags |= WARD_REQUEST_SYMLINK;
	if (c->kind == WARD_CHANGE_ADDED)
		req.action = WARD_ACTION_CREATE;
	else if (c->kind == WARD_CHANGE_REMOVED)
		req.action = WARD_ACTION_REMOVE;
	else if (moves)
		req.action = c->kind == WARD_CHANGE_RENAMED ? WARD_ACTION_RENAME : WARD_ACTION_LINK;
	else if (c->kind == WARD_CHANGE_MODE)
		req.rights = WARD_RIGHT_ATTR;
	if (req.action != WARD_ACTION_ACCESS)
		req.rights = 0;
	struct ward_decision d = {.verdict = WARD_VERDICT_DENY, .error = EACCES};
	if (r == 0) {
		req.state = state;
		req.state2 = state2;
		req.root = root;
		d = ward_policy_decide(m->place.policy, &req, NULL);
		if (d.rule)
			snprintf(ret_rule, 128, "%s:%u", d.rule->file, d.rule->line);
	}
	ward_policy_state_put(m->place.policy, state);
	ward_policy_state_put(m->place.policy, state2);
	ward_policy_state_put(m->place.policy, root);
	*ret_error = d.error ? d.error : EACCES;
	return d.verdict;
}

/* Only since it was staged? Also where a hard link would take a file from where that is asked. */
static bool is_asked(const struct ward_review_meant *m, const struct ward_change *c)
{
	char rule[128];
	int error = 0;
	return decide(m, c, 0, &error, rule) != WARD_VERDICT_ALLOW &&
	       decide(m, c, WARD_REQUEST_STAGED, &error, rule) == WARD_VERDICT_ALLOW;
}

/* What today's policy asks a person about, and is of no other kind that is flagged. */
static int flag_asked(struct ward_review_meant *m)
{
	m->asked = calloc(m->changes.n ? m->changes.n : 1, sizeof(*m->asked));
	if (!m->asked)
		return -ENOMEM;
	for (size_t i = 0; i < m->changes.n; i++) {
		const struct ward_change *c = &m->changes.v[i];
		/* Of a file that the project has elsewhere, it is that one that changes. */
		const struct ward_change at = {.kind = WARD_CHANGE_MODIFIED,
			.root = c->host_root,
			.path = c->host,
			.type = c->type};
		m->asked[i] = is_asked(m, c) || (c->host && is_asked(m, &at));
		if (!*m->flags[i] && m->asked[i])
			m->flags[i] = "the policy asks about it";
	}
	return 0;
}

/* SESSION[@STEP] */
static int take_name(struct ward_review_meant *m, const char *name, struct ward_err *err)
{
	const char *at = strchr(name, '@');
	m->session = strndup(name, at ? (size_t)(at - name) : strlen(name));
	m->step = at ? strdup(at + 1) : NULL;
	if (!m->session || (at && !m->step))
		return ward_err_sys(err, -ENOMEM, "session");
	return at && !at[1] ? ward_err_set(err, -EINVAL,
				      "behind the @ comes a step, by its number "
				      "or name: wardfs review log")
			    : 0;
}

/* Of the last apply of which something is left to be undone: else of the last one. */
static void take_manifest(struct ward_review_meant *m)
{
	const struct ward_applied *a = &m->applied;
	size_t step = a->n_steps, i = a->n;
	while (i > 0 && (a->v[i - 1].off || a->v[i - 1].undone))
		i--;
	step = i ? a->v[i - 1].step + 1 : step;
	if (step)
		memcpy(m->digest, a->steps[step - 1].manifest, sizeof(m->digest));
}

static int read_changes(struct ward_review_meant *m, struct ward_err *err)
{
	int r = m->discarded ? 0 : ward_reviews_finish(m->place_fd, err);
	if (r == 0 && !m->discarded && m->step) {
		m->dir_fd = -1;
		r = ward_reviews_view(m->place_fd, m->step, &m->dir_fd, err);
	}
	if (r == 0 && !m->discarded)
		r = ward_changes_read(m->dir_fd, 0, &m->changes, err);
	if (r == 0 && (r = ward_applied_know_again(&m->changes, &m->applied, true)) < 0)
		r = ward_err_sys(err, r, "what was applied");
	if (r == 0 && !m->discarded)
		r = ward_changes_digest(m->dir_fd, &m->changes, m->digest, err);
	return r;
}

static int read_all(struct ward_review_meant *m, bool applied, struct ward_err *err)
{
	int r = ward_applied_of(m->place_fd, &m->applied, err);
	m->discarded = faccessat(m->place_fd, "journal", F_OK, AT_SYMLINK_NOFOLLOW) < 0;
	if (r == 0 && m->discarded && !m->applied.n_steps)
		r = ward_err_set(err, -ENOENT, "session %s has no staged changes", m->session);
	if (applied)
		take_manifest(m);
	else if (r == 0)
		r = read_changes(m, err);
	if (r == 0) {
		open_roots(m, m->changes.roots, m->changes.n_roots, m->roots, m->trees);
		for (size_t i = 0; i < m->changes.n_roots && i < 16; i++)
			m->another[i] =
				m->roots[i] >= 0 && is_another(m, m->roots[i], m->changes.roots[i]);
		open_roots(m, m->applied.roots, m->applied.n_roots, m->undo_roots, m->undo_trees);
		r = ward_review_flags(m, &m->flags, err);
	}
	return r == 0 && flag_asked(m) < 0 ? ward_err_sys(err, -ENOMEM, "staged changes") : r;
}

/* The owner may have put anything there, and into the project. */
static int read_as_owner(struct ward_review_meant *m, bool applied, struct ward_err *err)
{
	struct ward_as_owner as;
	int r = ward_as_owner_begin(&m->place.id, &as, err);
	if (r < 0)
		return r;
	r = read_all(m, applied, err);
	ward_as_owner_end(&as);
	return r;
}

int ward_review_meant_find(
	const char *session, bool applied, struct ward_review_meant *m, struct ward_err *err)
{
	ward_review_meant_init(m);
	int r = ward_policy_place_find(NULL, &m->place, err);
	if (r == 0)
		r = ward_policy_place_need(&m->place, err);
	if (r == 0)
		r = open_store(m, err);
	if (r == 0)
		ward_applied_expire(
			ward_store_dir(m->store), ward_clock_real_ns() / WARD_NS_PER_SEC);
	if (r == 0 && session)
		r = take_name(m, session, err);
	else if (r == 0)
		r = find_last(m, applied, err);
	if (r == 0 && (strchr(m->session, '/') || m->session[0] == '.'))
		r = ward_err_set(err, -EINVAL, "'%s' is no session", m->session);
	if (r == 0)
		r = check_ended(m, err);
	if (r == 0 &&
		(r = ward_reviews_open(ward_store_dir(m->store), m->session, &m->place_fd)) < 0)
		r = ward_err_set(err, r, "session %s has no staged changes", m->session);
	m->dir_fd = m->place_fd;
	return r == 0 ? read_as_owner(m, applied, err) : r;
}

static void drop_view(struct ward_review_meant *m)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_as_owner as;
	if (m->dir_fd < 0 || m->dir_fd == m->place_fd)
		return;
	/* What stays is removed with the next one. */
	if (ward_as_owner_begin(&m->place.id, &as, &err) == 0) {
		ward_reviews_view_drop(m->place_fd, m->dir_fd);
		ward_as_owner_end(&as);
	}
	close(m->dir_fd);
}

void ward_review_meant_clear(struct ward_review_meant *m)
{
	for (size_t i = 0; i < 16; i++) {
		if (m->roots[i] >= 0)
			close(m->roots[i]);
		if (m->undo_roots[i] >= 0)
			close(m->undo_roots[i]);
	}
	drop_view(m);
	if (m->place_fd >= 0)
		close(m->place_fd);
	ward_changes_clear(&m->changes);
	ward_applied_clear(&m->applied);
	free(m->flags);
	free(m->asked);
	ward_store_close(m->store);
	ward_policy_place_clear(&m->place);
	free(m->session);
	free(m->step);
}

char *ward_review_meant_name(const struct ward_review_meant *m)
{
	char *name = NULL;
	return asprintf(&name, "%s%s%s", m->session, m->step ? "@" : "", m->step ? m->step : "") < 0
		       ? NULL
		       : name;
}

const char *ward_review_flag(const struct ward_review_meant *m, const struct ward_change *c)
{
	return m->flags[c - m->changes.v];
}

/* What `ask` covers was allowed to be staged, and is applied where it is named itself. */
int ward_review_decide(
	const struct ward_review_meant *m, const struct ward_change *c, char ret_rule[128])
{
	int error = EACCES;
	return decide(m, c, WARD_REQUEST_STAGED, &error, ret_rule) == WARD_VERDICT_ALLOW ? 0
											 : error;
}
