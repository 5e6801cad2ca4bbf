/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses trees that would reach our own places, or lie in them. */
#include "enforcer/session/plan/places.h"
#include "enforcer/session/plan/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/way.h"
#include "enforcer/image/save.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/image_name.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/project.h"
#include "enforcer/session/owner/remembered.h"
#include "enforcer/session/owner/session_place.h"
#include "enforcer/session/plan/policy_files.h"
#include "enforcer/session/plan/shown.h"

/* Levels from a directory up to the root: PATH_MAX has room for 2048. */
#define LEVELS_MAX 2048

/* A place of ours as it is on the host. */
struct place {
	int fd;		  /* the directory, or the nearest one above that exists; O_PATH */
	char *real;	  /* how the kernel names fd */
	const char *rest; /* what is missing below it; "" if the place is there */
	char *path;	  /* as it was given; owns rest */
};

static void place_clear(struct place *p)
{
	if (p->fd >= 0)
		close(p->fd);
	free(p->real);
	free(p->path);
	*p = (struct place){.fd = -1};
}

static int place_find(const char *path, struct place *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf copy = WARD_BUF_INIT;
	ward_buf_puts(&copy, path);
	struct place p = {.fd = -1, .path = ward_buf_steal(&copy)};
	if (!p.path)
		return -ENOMEM;
	size_t len = strlen(path);
	p.rest = p.path + len;
	int r = 0;
	for (;;) {
		ward_cleanup(ward_buf_clear) struct ward_buf head = WARD_BUF_INIT;
		ward_buf_add(&head, path, len);
		r = ward_buf_error(&head);
		if (r < 0)
			break;
		p.fd = open(len ? ward_buf_str(&head) : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		const char *slash = memrchr(path, '/', len);
		if (p.fd >= 0 || !slash)
			break;
		len = (size_t)(slash - path);
		p.rest = p.path + len + 1;
	}
	if (r == 0)
		r = p.fd < 0 ? -ENOENT : ward_fd_path(p.fd, &p.real);
	if (r < 0) {
		place_clear(&p);
		return r;
	}
	*ret = p;
	return 0;
}

/* 1 if the directory fd is `top` or lies below it, 0 if not, or a negative errno. */
static int lies_below(int fd, int top)
{
	struct stat want;
	struct stat st;
	struct stat before = {0};
	ward_cleanup_fd int at = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (at < 0 || fstat(top, &want) < 0)
		return -errno;
	for (int i = 0; i < LEVELS_MAX; i++) {
		if (fstat(at, &st) < 0)
			return -errno;
		if (st.st_dev == want.st_dev && st.st_ino == want.st_ino)
			return 1;
		if (i > 0 && st.st_dev == before.st_dev && st.st_ino == before.st_ino)
			return 0; /* ".." of the root is the root */
		before = st;
		int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			return -errno;
		close(at);
		at = up;
	}
	return -ELOOP;
}

/* The tree's place in its file system; NULL: unknown, or the mode shows the whole host anyway. */
static const struct ward_spot *tree_spot(
	const struct ward_run_plan *p, const struct ward_run_plan_tree *t)
{
	const size_t i = (size_t)(t - p->trees);
	return i < p->spots.n && p->spots.v[i].path ? &p->spots.v[i] : NULL;
}

/*
 * The way down to the host's path from the tree's top, in whatever mount the path leads to it: a
 * bind mount shows a directory under a name that no tree has. Borrowed from path or from keep;
 * NULL: the tree does not serve it.
 */
static const char *beneath_tree(const struct ward_run_plan *p, const struct ward_run_plan_tree *t,
	const char *path, struct ward_spot *keep)
{
	ward_cleanup_free char *top = NULL;
	const struct ward_spot *tree = tree_spot(p, t);
	int r = ward_fd_path(t->backing, &top);
	const char *rel = r == 0 ? ward_path_beneath(path, top) : NULL;
	if (r == -ENOENT)
		r = 0; /* a mount that this process does not see has no path */
	if (r == 0 && !rel && tree)
		r = ward_spot_of_name(&p->spots.mounts, path, keep);
	/* Where that fails, it may be anything of the tree's. */
	return r < 0 ? "" : rel || !tree ? rel : ward_spot_beneath(keep, tree);
}

/* What the policy gives on rel/rest in the tree; everything where that is unknown. */
static uint32_t rights_on(const struct ward_run_plan *p, const struct ward_run_plan_tree *t,
	const char *rel, const char *rest)
{
	ward_cleanup_free char *inside = NULL;
	const struct ward_state *s = NULL;
	if (!rel || asprintf(&inside, "%s%s%s%s%s", t->path, *rel ? "/" : "", rel, *rest ? "/" : "",
			    rest) < 0)
		return WARD_RIGHTS_ALL;
	if (ward_policy_walk(p->policy, inside, strlen(inside), &s) < 0)
		return WARD_RIGHTS_ALL;
	uint32_t rights = ward_policy_rights(p->policy, s);
	ward_policy_state_put(p->policy, s);
	return rights;
}

/* The same by what lies in which file system: a bind mount of one has no way up to the other. */
static int spot_below(
	const struct ward_run_plan *p, const struct place *pl, const struct ward_shown_file *shown)
{
	ward_cleanup(ward_spot_clear) struct ward_spot place = {0};
	int r = shown->spot.path ? ward_spot_find(&p->spots.mounts, pl->fd, &place) : 0;
	if (r < 0 || !place.path)
		return r;
	return (!*pl->rest && ward_spot_beneath(&shown->spot, &place)) ||
	       ward_spot_beneath(&place, &shown->spot);
}

/* Where the home lies in the tree, no variable helps: everything of the owner's is in reach. */
static int in_reach(const struct ward_run_plan *p, const struct ward_run_plan_tree *t,
	const char *what, const char *path, const char *variable, struct ward_err *err)
{
	if (p->id.home && ward_path_beneath(p->id.home, t->source))
		return ward_err_set(err, -EPERM,
			"the %s %s lies in the tree %s, within the agent's reach, because your home "
			"directory does; change into the directory of one project, or hide it there",
			what, path, t->path);
	return ward_err_set(err, -EPERM,
		"the %s %s lies in the tree %s, within the agent's reach; set %s to a place outside, or hide it there",
		what, path, t->path, variable);
}

/* [system] read shows files as they are: no rule stands between, so ours may not be among them. */
static int check_reads(const struct ward_run_plan *p, const char *what, const char *variable,
	const struct place *pl, struct ward_err *err)
{
	for (size_t i = 0; i < p->n_reads; i++) {
		const struct ward_shown_file *shown = &p->shown[i];
		/* What does not exist is left out of the view as well. */
		int in = shown->fd < 0 ? 0 : lies_below(pl->fd, shown->fd);
		if (in == 0)
			in = spot_below(p, pl, shown);
		if (in < 0)
			return ward_err_sys(err, in, "[system] read = %s", p->reads[i]);
		if (in)
			return ward_err_set(err, -EPERM,
				"the %s %s lies in [system] read = %s, so the agent could read its keys; name a smaller directory, or set %s to a place outside",
				what, pl->path, p->reads[i], variable);
	}
	return 0;
}

/* By the directories above each, and by what lies where in which file system. */
static int check_tree(const struct ward_run_plan *p, const char *what, const char *variable,
	const struct ward_run_plan_tree *t, const struct place *pl, uint32_t forbidden,
	struct ward_err *err)
{
	ward_cleanup_free char *top = NULL;
	ward_cleanup(ward_spot_clear) struct ward_spot place = {0};
	const struct ward_spot *tree = tree_spot(p, t);
	int around = *pl->rest ? 0 : lies_below(t->backing, pl->fd);
	int in = around < 0 ? around : lies_below(pl->fd, t->backing);
	if (in >= 0 && tree) {
		int r = ward_spot_find(&p->spots.mounts, pl->fd, &place);
		in = r < 0 ? r : in;
	}
	if (in < 0)
		return ward_err_sys(
			err, in, "the directories above the tree %s (%s)", t->path, t->source);
	if (around || (tree && !*pl->rest && ward_spot_beneath(tree, &place)))
		return ward_err_set(err, -EPERM,
			"the tree %s lies in the %s %s, so the agent could change wardfs' own files",
			t->path, what, pl->path);
	const char *rel =
		in && ward_fd_path(t->backing, &top) == 0 ? ward_path_beneath(pl->real, top) : NULL;
	const char *bound = tree ? ward_spot_beneath(&place, tree) : NULL;
	if ((in && rights_on(p, t, rel, pl->rest) & forbidden) ||
		(bound && rights_on(p, t, bound, pl->rest) & forbidden))
		return in_reach(p, t, what, pl->path, variable, err);
	return 0;
}

static int check(const struct ward_run_plan *p, const char *what, const char *variable,
	const char *path, uint32_t forbidden, struct ward_err *err)
{
	ward_cleanup(place_clear) struct place pl = {.fd = -1};
	int r = place_find(path, &pl);
	if (r < 0)
		return ward_err_sys(err, r, "%s %s", what, path);
	if (forbidden & WARD_RIGHT_READ)
		r = check_reads(p, what, variable, &pl, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p->n_trees && r == 0; i++)
		/* The kept home is ours to give, and not open yet. */
		if (p->trees[i].source && p->trees[i].backing >= 0)
			r = check_tree(p, what, variable, &p->trees[i], &pl, forbidden, err);
	return r;
}

/* --- what leads to a place --- */

#define CHANGE                                                                                     \
	(WARD_RIGHTS_ALL & ~(uint32_t)(WARD_RIGHT_STAT | WARD_RIGHT_LIST | WARD_RIGHT_READ |       \
				       WARD_RIGHT_EXEC))

/* The way to what the policy or the command line names. */
struct named {
	const struct ward_run_plan *plan;
	const char *what, *path;
	char *target;	    /* where it leads now; NULL: nowhere */
	const char *then;   /* not only the links count: what is there in the end, wardfs would use
			     * like this; NULL: the links alone */
	const char *opened; /* what was opened by this path before; NULL: nothing */
	bool told;	    /* err is set */
	struct ward_err *err;
};

/* The tree in which a session could change this name; NULL: none. */
static const struct ward_run_plan_tree *changed_in(
	const struct ward_run_plan *p, const char *dir, const char *name, const char *target)
{
	for (size_t i = 0; i < p->n_trees; i++) {
		const struct ward_run_plan_tree *t = &p->trees[i];
		ward_cleanup(ward_spot_clear) struct ward_spot of_dir = {0}, of_target = {0};
		const char *rel =
			t->source && t->backing >= 0 ? beneath_tree(p, t, dir, &of_dir) : NULL;
		if (!rel || !(rights_on(p, t, rel, name) & CHANGE))
			continue;
		/* From one place of the tree to another: the rules of the tree apply there as well.
		 */
		if (!target || !beneath_tree(p, t, target, &of_target))
			return t;
	}
	return NULL;
}

static bool is_at(const char *path, const char *dir, const char *name)
{
	const char *rel = ward_path_beneath(path, dir);
	return rel && strcmp(rel, name) == 0;
}

/* ward_way_fn */
static int check_name(void *user, const char *dir, const char *name, bool is_link)
{
	struct named *n = user;
	if (!is_link && n->opened && !is_at(n->opened, dir, name)) {
		n->told = true;
		return ward_err_set(n->err, -EPERM,
			"nothing was started: %s %s led to %s and now leads elsewhere, so somebody is changing it",
			n->what, n->path, n->opened);
	}
	if (!is_link && !n->then)
		return 0;
	const struct ward_run_plan_tree *t =
		changed_in(n->plan, dir, name, n->then ? NULL : n->target);
	if (!t)
		return 0;
	n->told = true;
	if (n->then)
		return ward_err_set(n->err, -EPERM,
			"%s %s: %s/%s lies in the tree %s, within the agent's reach, and %s; fix: move it out of the tree",
			n->what, n->path, dir, name, t->path, n->then);
	return ward_err_set(n->err, -EPERM,
		"%s %s leads out of the tree %s to %s, by a link that a session can change: %s/%s; fix: if you mean the target, name %s",
		n->what, n->path, t->path, n->target ? n->target : "nowhere", dir, name,
		n->target ? n->target : "it");
}

static int go_along(struct named *n)
{
	ward_cleanup_fd int fd = open(n->path, O_PATH | O_CLOEXEC);
	int r = fd < 0 ? 0 : ward_fd_path(fd, &n->target);
	if (r == 0)
		r = ward_way_each(n->path, check_name, n);
	free(n->target);
	n->target = NULL;
	return r;
}

static int check_way(const struct ward_run_plan *p, const char *what, const char *path,
	const char *then, struct ward_err *err)
{
	struct named n = {.plan = p, .what = what, .path = path, .then = then, .err = err};
	int r = go_along(&n);
	/* What does not exist gives nothing. */
	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	return r < 0 && !n.told ? ward_err_sys(err, r, "what leads to %s", path) : r;
}

static int check_anchors(const struct ward_run_plan *p, struct ward_err *err)
{
	const struct ward_strings *anchors = &p->settings->anchors;
	int r = 0;
	for (size_t i = 0; i < anchors->n && r == 0; i++) {
		const char *path = strchr(anchors->v[i], ':');
		if (path)
			r = check_way(p, "[audit] anchor =", path + 1,
				"this host would run or write it", err);
	}
	return r;
}

/*
 * What the mode puts in front of the command: the program, and the name by which it was found. And
 * the name of what it loads: by a link of a session's, the next session would see what the link
 * names of the host.
 */
static int check_runtime(const struct ward_run_plan *p, struct ward_err *err)
{
	const char *const names[] = {p->found.name, p->found.way, p->found.program};
	int r = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && r == 0; i++)
		if (names[i])
			r = check_way(p, "the runtime", names[i],
				"a session could replace what the next one runs", err);
	if (r == 0 && p->found.library_name)
		r = check_way(p, "the package", p->found.library_name,
			"a session could choose by it what the next one sees", err);
	return r;
}

/* 1 if a tree shows the file, and no tree lets a session read it; then `place` says which rule. */
static int is_hidden(const struct ward_run_plan *p, const char *path, struct ward_buf *place)
{
	bool shown = false;
	for (size_t i = 0; i < p->n_trees; i++) {
		const struct ward_run_plan_tree *t = &p->trees[i];
		ward_cleanup(ward_spot_clear) struct ward_spot keep = {0};
		ward_cleanup_free char *inside = NULL;
		const struct ward_state *s = NULL;
		const char *rel =
			t->source && t->backing >= 0 ? beneath_tree(p, t, path, &keep) : NULL;
		if (!rel)
			continue;
		if (asprintf(&inside, "%s%s%s", t->path, *rel ? "/" : "", rel) < 0) {
			inside = NULL;
			return -ENOMEM;
		}
		int r = ward_policy_walk(p->policy, inside, strlen(inside), &s);
		if (r < 0)
			return r;
		const struct ward_request req = {.action = WARD_ACTION_ACCESS,
			.rights = WARD_RIGHT_READ,
			.fact = WARD_FACT_THERE,
			.state = s};
		const struct ward_decision d = ward_policy_decide(p->policy, &req, NULL);
		ward_policy_state_put(p->policy, s);
		if (d.verdict == WARD_VERDICT_ALLOW)
			return 0;
		if (!shown && d.rule)
			ward_rule_place(d.rule, place);
		shown = true;
	}
	return shown;
}

/*
 * A module is read on the host, where no guard stands between. So it is none that the session could
 * not read, and the caller names it, not a link of a session's.
 */
static int check_module(const struct ward_run_plan *p, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
	struct named n = {.plan = p,
		.what = "the module",
		.path = p->found.module,
		.opened = p->found.module_at,
		.err = err};
	if (!p->found.module || !p->found.module_at)
		return 0;
	int r = go_along(&n);
	if (r < 0)
		return n.told ? r : ward_err_sys(err, r, "what leads to %s", n.path);
	r = is_hidden(p, p->found.module_at, &place);
	if (r < 0)
		return ward_err_sys(err, r, "the module %s", n.path);
	return r == 0 ? 0
		      : ward_err_set(err, -EPERM,
				"the module %s: the policy lets no session read it (%s), so none runs it",
				n.path, place.len ? ward_buf_str(&place) : "it gives no right");
}

/*
 * By a link of a session's the next session would see what the link names of the host. o: the
 * command line, whose path is the caller's; NULL: the policy's, as the owner reaches it.
 */
static int check_image(
	const struct ward_run_options *o, const struct ward_run_plan *p, struct ward_err *err)
{
	ward_cleanup_free char *path = NULL;
	const char *name = o ? o->image : ward_plan_image_name(p);
	if (p->image.fd < 0 || !name || !ward_image_name_is_path(name))
		return 0;
	int r = o && name[0] != '~'
			? 0
			: ward_shown_path(name, p->id.home, p->project.path, &path, err);
	if (r < 0)
		return r;
	/* What the store has goes by the path of the archive. */
	struct named n = {.plan = p,
		.what = "the image",
		.path = path ? path : name,
		.opened = p->image.digest ? p->image.name : p->image.root,
		.err = err};
	r = go_along(&n);
	return r < 0 && !n.told ? ward_err_sys(err, r, "what leads to %s", n.path) : r;
}

/* As the owner reaches it. */
static int check_sources(const struct ward_run_plan *p, struct ward_err *err)
{
	int r = 0;
	for (size_t i = 0; i < p->n_trees && r == 0; i++)
		if (p->trees[i].source && p->trees[i].backing >= 0)
			r = check_way(p, "[tree] source =", p->trees[i].source, NULL, err);
	for (size_t i = 0; i < p->n_reads && r == 0; i++)
		r = check_way(p, "[system] read =", p->reads[i], NULL, err);
	for (size_t i = 0; i < p->n_sockets && r == 0; i++)
		r = check_way(p, "[network] socket =", p->sockets[i], NULL, err);
	if (r == 0)
		r = check_anchors(p, err);
	if (r == 0)
		r = check_image(NULL, p, err);
	if (r == 0)
		r = check_runtime(p, err);
	return r == 0 ? check_module(p, err) : r;
}

int ward_places_check_ways(
	const struct ward_run_options *o, const struct ward_run_plan *p, struct ward_err *err)
{
	struct ward_as_owner as;
	int r = 0;
	for (size_t i = 0; i < o->read.n && r == 0; i++)
		r = check_way(p, "--read", o->read.v[i], NULL, err);
	for (size_t i = 0; i < o->write.n && r == 0; i++)
		r = check_way(p, "--write", o->write.v[i], NULL, err);
	if (r == 0)
		r = check_image(o, p, err);
	if (r == 0)
		r = ward_as_owner_begin(&p->id, &as, err);
	if (r == 0) {
		r = check_sources(p, err);
		ward_as_owner_end(&as);
	}
	return r;
}

/* ward_image_place_fn */
static int check_engine(void *user, const char *variable, const char *path, struct ward_err *err)
{
	const struct ward_run_plan *p = user;
	/* A directory that is missing could be made meanwhile. */
	int r = variable ? check(p, "engine's place", variable, path, CHANGE, err) : 0;
	return r < 0 ? r
		     : check_way(p, variable ? variable : "the engine", path,
			       variable ? "an engine of this host would use it"
					: "this host would run it",
			       err);
}

int ward_places_check_engines(const struct ward_run_plan *p, bool registry, struct ward_err *err)
{
	return ward_image_places(registry, check_engine, (void *)(uintptr_t)p, err);
}

typedef int (*place_fn)(void *user, const char *what, const char *variable, const char *path,
	uint32_t forbidden, struct ward_err *err);

static int each_place(const struct ward_run_plan *p, place_fn fn, void *user, struct ward_err *err)
{
	ward_cleanup_free char *runtime = NULL;
	int r = ward_control_runtime(&runtime, err);
	if (r == 0)
		r = fn(user, "state directory", "XDG_STATE_HOME", p->state, WARD_RIGHTS_ALL, err);
	if (r == 0)
		r = fn(user, "runtime directory", "XDG_RUNTIME_DIR", runtime, WARD_RIGHTS_ALL, err);
	/* The owner's policies may be read, never written: the next session would obey them. */
	if (r == 0 && p->config)
		r = fn(user, "policy directory", "XDG_CONFIG_HOME", p->config, CHANGE, err);
	ward_cleanup_free char *guards = r == 0 ? ward_remembered_place(&p->id, p->state) : NULL;
	if (guards)
		r = fn(user, "directory of remembered guards", "HOME", guards, CHANGE, err);
	return r;
}

/* place_fn */
static int check_place(void *user, const char *what, const char *variable, const char *path,
	uint32_t forbidden, struct ward_err *err)
{
	return check(user, what, variable, path, forbidden, err);
}

int ward_places_check(const struct ward_run_plan *p, struct ward_err *err)
{
	return each_place(p, check_place, (void *)(uintptr_t)p, err);
}

struct guarded {
	const struct ward_run_plan *plan;
	struct ward_buf *text;
};

/* place_fn */
static int guard_place(void *user, const char *what, const char *variable, const char *path,
	uint32_t forbidden, struct ward_err *err)
{
	const struct guarded *g = user;
	(void)what;
	(void)variable;
	return ward_own_dir_guard(g->plan->policy, g->plan->id.home, g->plan->project.path, path,
		forbidden, g->text, err);
}

int ward_places_guard(struct ward_run_plan *p, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	struct guarded g = {p, &text};
	int r = each_place(p, guard_place, &g, err);
	if (r < 0 || text.len == 0)
		return r;
	free(p->own_guards);
	p->own_guards = ward_buf_steal(&text);
	return p->own_guards ? 1 : ward_err_sys(err, -ENOMEM, "policy");
}
