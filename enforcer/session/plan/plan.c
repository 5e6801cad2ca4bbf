/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the plan of a run from options, policy and host. */
#include "enforcer/session/plan/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/store/store.h"
#include "audit/verify/ledger_view.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/patient.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/modes/modes.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/load.h"
#include "enforcer/sandbox/blueprint.h"
#include "enforcer/session/owner/agents.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/worktree.h"
#include "enforcer/session/owner/git_outside.h"
#include "enforcer/session/owner/git_settings.h"
#include "enforcer/session/owner/remembered.h"
#include "enforcer/session/owner/session_place.h"
#include "enforcer/session/plan/trees_say.h"
#include "enforcer/session/plan/image.h"
#include "enforcer/session/plan/image_fetch.h"
#include "enforcer/session/plan/ca_files.h"
#include "enforcer/session/plan/lifts.h"
#include "enforcer/session/plan/places.h"
#include "enforcer/session/plan/staged.h"
#include "enforcer/session/plan/policy_files.h"
#include "enforcer/session/plan/run_text.h"
#include "enforcer/session/plan/runtime.h"
#include "enforcer/session/plan/single_files.h"
#include "enforcer/session/plan/weigh.h"
#include "enforcer/session/tree/tree_backing.h"

_Static_assert(sizeof(((struct ward_run_plan *)0)->trees) / sizeof(struct ward_run_plan_tree) ==
		       WARD_POLICY_TREES_MAX,
	"a plan has room for every tree a session can have");

static int find_wanted(const char *word, const struct ward_mode **ret, struct ward_err *err)
{
	char all[160];
	*ret = ward_mode_find(word);
	if (*ret)
		return 0;
	ward_mode_list(false, " or ", all, sizeof(all));
	return ward_err_set(err, -EINVAL, "--mode %s: expected %s", word, all);
}

/* --mode is part of the run's own source (run_text.c); the floor may ask for more. */
static int choose_mode(struct ward_run_plan *p, const char *wanted, struct ward_err *err)
{
	p->mode = p->settings->mode;
	const struct ward_mode *w = NULL;
	int r = wanted ? find_wanted(wanted, &w, err) : 0;
	if (r < 0)
		return r;
	if (w && w->strictness > 0 && w != p->mode)
		return ward_err_set(err, -EINVAL,
			"--mode %s: the floor or the project file asks for '%s' ('wardfs policy "
			"show' prints the line)",
			wanted, p->mode->word);
	struct ward_err why = WARD_ERR_INIT;
	r = ward_mode_usable(p->mode, &why);
	if (r < 0 && !p->mode->ready)
		return ward_err_set(err, r,
			"mode '%s' is not available yet (%s); '" WARD_DEFAULT_MODE
			"' is (leave --mode away)",
			p->mode->word, why.text);
	return r < 0 ? ward_err_set(
			       err, r, "mode '%s' cannot run here: %s", p->mode->word, why.text)
		     : 0;
}

static int take_allowed(
	const struct ward_run_options *o, struct ward_run_plan *p, struct ward_err *err)
{
	for (size_t i = 0; i < o->allow_missing.n; i++) {
		const char *name = o->allow_missing.v[i];
		enum ward_guarantee g = ward_guarantee_find(name);
		if (g < WARD_GUARANTEE_CPUS)
			return ward_err_set(err, -EINVAL,
				"--allow-missing %s: mode %s never runs without this guarantee; you can leave out only limits",
				name, p->mode->word);
		if (g == WARD_GUARANTEES) {
			ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
			for (unsigned k = WARD_GUARANTEE_CPUS; k < WARD_GUARANTEES; k++)
				ward_buf_printf(
					&b, " %s", ward_guarantee_name((enum ward_guarantee)k));
			return ward_err_set(err, -EINVAL,
				"--allow-missing %s: unknown name; the names are:%s", name,
				ward_buf_str(&b));
		}
		p->allow_missing |= WARD_GUARANTEE_BIT(g);
	}
	return 0;
}

static int check_python(const struct ward_run_plan *p, struct ward_err *err)
{
	if (p->settings->python != WARD_PYTHON_RESTRICTED || p->mode->takes & WARD_TAKES_PYTHON)
		return 0;
	return ward_err_set(err, -ENOTSUP,
		"[process] python = restricted puts a layer around a script, and mode '%s' cannot; "
		"nothing was started; fix: --mode restricted",
		p->mode->word);
}

/* Before anything is started, with the owner's rights; what a script lacks is said. */
static int find_programs(
	const struct ward_run_options *o, struct ward_run_plan *p, struct ward_err *err)
{
	struct ward_as_owner as;
	if (!ward_policy_has_programs(p->policy))
		return 0;
	if (!(p->mode->takes & WARD_TAKES_PROGRAMS))
		return ward_err_set(err, -ENOTSUP,
			"mode '%s' cannot enforce the list of programs in [process] exec; nothing was started; fix: --mode restricted",
			p->mode->word);
	int r = ward_as_owner_begin(&p->id, &as, err);
	if (r == 0)
		r = ward_programs_find(p->policy, &p->programs, err);
	ward_as_owner_end(&as);
	/* A line each. */
	for (char *line = p->programs.note, *end; line && *line && o->say; line = end) {
		end = line + strcspn(line, "\n");
		end += *end ? (*end = '\0', 1) : 0;
		o->say(line);
	}
	return r;
}

/* Keys whose machinery does not exist yet are refused by name: no silent downgrade. */
static int check_available(const struct ward_settings *s, struct ward_err *err)
{
	if (s->unavailable.n == 0)
		return 0;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	for (size_t i = 0; i < s->unavailable.n; i++)
		ward_buf_printf(&b, "%s%s", i ? "; " : "", s->unavailable.v[i]);
	return ward_err_set(err, -ENOTSUP,
		"the policy asks for something that is not available yet; nothing was started: %s",
		ward_buf_str(&b));
}

/*
 * Where a line would have to be written to count in a session like this one: the file of --policy,
 * else, as a shipped profile is nobody's to edit, the owner's of the project.
 */
static int owner_policy_file(
	const char *config, const char *given, struct ward_run_plan *p, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	size_t len = 0;
	if (given && !ward_profile_text(given, &len)) {
		int found = ward_policy_find(given, &text, &b, err);
		if (found < 0)
			return found;
		p->owner_policy = ward_buf_steal(&b);
		if (!p->owner_policy)
			return ward_err_sys(err, -ENOMEM, "policy file");
	}
	if (!config)
		return 0;
	if (asprintf(&p->config, "%s/wardfs", config) < 0) {
		p->config = NULL;
		return ward_err_sys(err, -ENOMEM, "policy directory");
	}
	if (p->owner_policy) {
		free(p->shared);
		p->shared = NULL;
		return 0;
	}
	if (p->shared) {
		p->owner_policy = strdup(p->shared);
		return p->owner_policy ? 0 : ward_err_sys(err, -ENOMEM, "policy file");
	}
	int r = ward_worktree_main(&p->project, &p->id, config, &p->main_checkout, err);
	if (r < 0)
		return r;
	ward_buf_printf(&b, "%s/wardfs/projects/", config);
	r = ward_project_file_name(p->project.path, &b);
	if (r == 0)
		p->owner_policy = ward_buf_steal(&b);
	return p->owner_policy ? 0 : ward_err_sys(err, r ? r : -ENOMEM, "owner's policy file");
}

/* What the policy makes of [home] mode = project. */
static int add_home(struct ward_run_plan *p, const struct ward_policy *policy,
	const struct ward_mode *mode, struct ward_buf *b, struct ward_err *err)
{
	size_t before = b->len;
	int r = ward_home_text(&p->home, policy, mode, b, err);
	/* Its content belongs to the earlier directory at this path. An empty home in memory
	 * replaces it. */
	if (r == 0 && b->len > before && p->home.other) {
		p->home_other = true;
		b->len = before;
		b->data[before] = '\0';
	}
	if (r < 0 || !b->len) {
		ward_home_clear(&p->home);
		return r;
	}
	free(p->id.agent_home);
	p->id.agent_home = strdup(WARD_HOME_PATH);
	return p->id.agent_home ? 0 : ward_err_sys(err, -ENOMEM, "home");
}

struct load_user {
	const struct ward_run_options *options;
	struct ward_run_plan *plan;
	bool unfit; /* the mode's runtime is missing, which no policy fixes */
};

/* What follows from what the sources say; struct ward_load. */
static int add_more(
	void *user, const struct ward_policy *policy, struct ward_buf *b, struct ward_err *err)
{
	struct load_user *u = user;
	struct ward_run_plan *p = u->plan;
	struct ward_as_owner as = {0};
	const struct ward_mode *weighed = ward_weigh_mode(u->options, p, policy);
	const struct ward_mode *mode = weighed ? weighed : ward_policy_settings(policy)->mode;
	int r = add_home(p, policy, mode, b, err);
	if (weighed)
		ward_buf_printf(b, "[policy]\nmode = %s\n", weighed->word);
	if (r == 0 && u->options->policy)
		r = ward_as_caller_begin(&as, err);
	if (r == 0)
		r = ward_policy_files_guard(policy, p->id.home, p->project.path, b, err);
	ward_as_owner_end(&as);
	if (p->own_guards)
		ward_buf_puts(b, p->own_guards);
	if (r == 0 && !u->options->policy)
		ward_git_shared(p->shared, p->project.fd, policy, b);
	if (r == 0)
		r = ward_single_files_grant(p, policy, b, err);
	if (r == 0)
		r = ward_runtime_look(p, mode, u->options->argv, policy, b, err);
	u->unfit = r == -ENOTSUP;
	return r;
}

/* As the mode has it that is known so far. */
static int load_once(const struct ward_load *l, struct ward_run_plan *p, struct ward_err *err)
{
	const struct load_user *user = l->user;
	ward_policy_unref(p->policy);
	p->policy = NULL;
	ward_mode_found_clear(&p->found);
	int r = ward_policy_load_owned(&p->id, l, &p->policy, err);
	if (r < 0)
		return r == -ENOMEM || user->unfit
			       ? r
			       : -EINVAL; /* of the policy, whatever the system call said */
	p->settings = ward_policy_settings(p->policy);
	return 0;
}

/* Mode auto weighs what was loaded, and what it picks may bring more. */
static int load_weighed(const struct ward_run_options *o, const struct ward_load *l,
	struct ward_run_plan *p, struct ward_err *err)
{
	int r = load_once(l, p, err);
	if (r == 0)
		r = ward_weigh(o, p, err);
	return r == 0 && p->picked && p->picked != p->settings->mode ? load_once(l, p, err) : r;
}

static int load_policy(
	const struct ward_run_options *o, struct ward_run_plan *p, struct ward_err *err)
{
	ward_cleanup_free char *run_text = NULL;
	ward_cleanup_free char *config = NULL;
	int r = ward_run_text(o, p->project.path, p->project.cwd, &run_text, err);
	if (r < 0)
		return r;
	r = ward_config_home(p->id.home, p->id.owner_uid == getuid(), &config, err);
	if (r == 0 && config)
		r = ward_shared_policy(&p->id, config, p->project.path, &p->shared, err);
	if (r < 0)
		return r;
	struct load_user user = {.options = o, .plan = p};
	struct ward_load l = {.base = o->base,
		.policy = o->policy,
		.stand_in = o->stand_in,
		.config_home = config,
		.tree_fd = p->project.fd,
		.tree_path = p->project.path,
		.home = p->id.home,
		.known = &p->known,
		.run_text = run_text,
		.run_name = o->learn ? "wardfs learn" : NULL,
		.more = add_more,
		.user = &user};
	r = ward_home_look(
		p->state, p->id.owner_uid, p->project.path, p->project.fd, &p->home, err);
	if (r == 0)
		r = ward_remembered_read(&p->id, p->state, &p->known, err);
	if (r == 0)
		r = load_weighed(o, &l, p, err);
	if (r < 0)
		return r;
	p->given = o->policy != NULL;
	p->stand_in = o->stand_in;
	if (p->id.root && p->id.owner_uid != 0 && !o->policy)
		p->keep_min_s = WARD_KEEP_SECONDS;
	r = owner_policy_file(config, o->trial ? NULL : o->policy, p, err);
	/* Places of our own that the policy keeps from the agent stay so: no grant opens them. */
	if (r == 0 && (r = ward_places_guard(p, err)) > 0)
		r = load_once(&l, p, err);
	if (r < 0)
		return r;
	r = choose_mode(p, o->mode, err);
	if (r == 0)
		r = take_allowed(o, p, err);
	return r < 0 ? r : check_available(p->settings, err);
}

/* Paths of the host as the owner means them. */
static int resolve_paths(const struct ward_run_plan *p, const struct ward_strings *s,
	const char *key, char ***ret, size_t *ret_n, struct ward_err *err)
{
	*ret = calloc(s->n + 1, sizeof(**ret));
	if (!*ret)
		return ward_err_sys(err, -ENOMEM, "%s", key);
	for (size_t i = 0; i < s->n; i++) {
		int r = ward_shown_path(s->v[i], p->id.home, p->project.path, &(*ret)[*ret_n], err);
		if (r < 0)
			return ward_err_wrap(err, "%s", key);
		++*ret_n;
	}
	return 0;
}

/*
 * Programs look beneath $HOME for their toolchain. Where the agent's home is not the owner's (a
 * session of root's), what is shown of the one is also to be found in the other. NULL: not so.
 */
static int in_agent_home(const struct ward_run_plan *p, const char *path, char **ret)
{
	const char *rel = p->id.home ? ward_path_beneath(path, p->id.home) : NULL;
	*ret = NULL;
	/* Into a kept one links lead. */
	if (!rel || !*rel || p->settings->home == WARD_HOME_NONE || p->home.dir ||
		strcmp(p->id.home, p->id.agent_home) == 0)
		return 0;
	return asprintf(ret, "%s/%s", p->id.agent_home, rel) < 0 ? -ENOMEM : 0;
}

/* By the owner or the caller: not by a shipped profile, nor by a mode for its runtime. */
static bool is_named(const struct ward_run_plan *p, size_t i, const char *path)
{
	const char *const own[] = {p->found.program, p->found.launcher, p->found.library};
	for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
		if (own[k] && strcmp(path, own[k]) == 0)
			return false;
	return !ward_policy_shows_shipped(p->policy, i);
}

/* [system] read: what is there of it. */
static int find_reads(struct ward_run_plan *p, struct ward_err *err)
{
	const struct ward_strings *s = &p->settings->system_read;
	p->reads = calloc(s->n + 1, sizeof(*p->reads));
	p->reads_at = calloc(s->n + 1, sizeof(*p->reads_at));
	p->shown = calloc(s->n + 1, sizeof(*p->shown));
	if (!p->reads || !p->reads_at || !p->shown)
		return ward_err_sys(err, -ENOMEM, "[system] read");
	int r = ward_shown_reach(s, p->id.home, p->project.path, err);
	for (size_t i = 0; i < s->n && r == 0; i++) {
		ward_cleanup_free char *path = NULL;
		struct stat st;
		/* An account without a home (a uid that only a container knows) has nothing in it.
		 */
		if (s->v[i][0] == '~' && !p->id.home)
			continue;
		r = ward_shown_path(s->v[i], p->id.home, p->project.path, &path, err);
		if (r < 0)
			return ward_err_wrap(err, "[system] read");
		/* Whether its owner may reach it, setting up the sandbox tells. */
		if (stat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
			continue;
		if (in_agent_home(p, path, &p->reads_at[p->n_reads]) < 0)
			return ward_err_sys(err, -ENOMEM, "[system] read");
		p->shown[p->n_reads] = WARD_SHOWN_FILE_INIT;
		p->shown[p->n_reads].named = is_named(p, i, path);
		p->reads[p->n_reads++] = ward_steal_ptr(&path);
	}
	return r;
}

/* The tree's second path: its host path, another one, or none. */
static int tree_at(const struct ward_tree *t, struct ward_run_plan_tree *pt, struct ward_err *err)
{
	const char *at = t->at;
	if (!at || strcmp(at, "none") == 0)
		return 0;
	if (strcmp(at, "same") == 0)
		at = pt->source;
	if (!at || strcmp(at, pt->path) == 0)
		return 0;
	ward_cleanup(ward_buf_clear) struct ward_buf copy = WARD_BUF_INIT;
	ward_buf_puts(&copy, at);
	pt->at = ward_buf_steal(&copy);
	return pt->at ? 0 : ward_err_sys(err, -ENOMEM, "tree %s", pt->path);
}

/* No empty component, no "." and no "..": what a path inside must be, too. */
static bool is_plain(const char *path)
{
	for (const char *s = path; *s == '/';) {
		size_t n = strcspn(++s, "/");
		if (n == 0 || (s[0] == '.' && (n == 1 || (n == 2 && s[1] == '.'))))
			return false;
		s += n;
	}
	return path[0] == '/';
}

/*
 * A source such as ../data gets the name that the kernel has for the directory that is open now: a
 * link on the way there decides what ".." means, so the text alone cannot say.
 */
static int name_source(struct ward_run_plan_tree *pt, struct ward_err *err)
{
	char link[64];
	char name[PATH_MAX];
	if (is_plain(pt->source))
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", pt->backing);
	ssize_t n = readlink(link, name, sizeof(name) - 1);
	if (n <= 0 || name[0] != '/')
		return ward_err_sys(err, n < 0 ? -errno : -EIO, "tree source %s", pt->source);
	name[n] = '\0';
	char *copy = strdup(name);
	if (!copy)
		return ward_err_sys(err, -ENOMEM, "tree source %s", pt->source);
	free(pt->source);
	pt->source = copy;
	return 0;
}

static int open_tree_backing(
	const struct ward_tree *t, struct ward_run_plan *p, struct ward_err *err)
{
	struct ward_run_plan_tree *pt = &p->trees[p->n_trees++];
	*pt = (struct ward_run_plan_tree){.path = t->path, .backing = -1};
	/* Each has a place of its own. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	if (p->home.dir && strcmp(t->path, WARD_HOME_PATH) == 0) {
		pt->source = strdup(p->home.source);
		return pt->source ? 0 : ward_err_sys(err, -ENOMEM, "tree %s", t->path);
	}
	if (!t->source)
		return ward_backing_tmpfs(t->tmpfs_size, p->id.owner_uid, p->id.owner_gid,
			p->id.root, &pt->backing, err);
	ward_cleanup(ward_buf_clear) struct ward_buf source = WARD_BUF_INIT;
	int r = ward_tree_source_resolve(t->source, p->id.home, p->project.path, &source, err);
	if (r < 0)
		return ward_err_wrap(err, "[tree %s] source", t->path);
	pt->source = ward_buf_steal(&source);
	if (!pt->source)
		return ward_err_sys(err, -ENOMEM, "tree %s", t->path);
	if (strcmp(pt->source, p->project.path) == 0) {
		/* Where the caller stands: theirs to choose, and already open. */
		pt->backing = fcntl(p->project.fd, F_DUPFD_CLOEXEC, 3);
		return pt->backing < 0 ? ward_err_sys(err, -errno, "tree %s", t->path)
				       : tree_at(t, pt, err);
	}
	bool workspace = strcmp(t->path, "/workspace") == 0;
	struct ward_as_owner as;
	r = ward_as_owner_begin(&p->id, &as, err);
	if (r == 0)
		r = ward_agents_make(pt->source, p->id.home, err);
	if (r == 0)
		r = ward_tree_backing_open(
			pt->source, workspace ? p->id.home : NULL, &pt->backing, err);
	ward_as_owner_end(&as);
	if (r == 0)
		r = name_source(pt, err);
	return r < 0 ? r : tree_at(t, pt, err);
}

/* Where the command starts: where the caller stands, as the closest tree calls it inside. */
static int start_directory(struct ward_run_plan *p, struct ward_err *err)
{
	const struct ward_run_plan_tree *closest = NULL;
	for (size_t i = 0; i < p->n_trees; i++) {
		const struct ward_run_plan_tree *t = &p->trees[i];
		if (t->source && ward_path_beneath(p->project.cwd, t->source) &&
			(!closest || strlen(t->source) > strlen(closest->source)))
			closest = t;
	}
	int n = 0;
	if (closest) {
		const char *rel = ward_path_beneath(p->project.cwd, closest->source);
		n = asprintf(&p->cwd, "%s%s%s", closest->at ? closest->at : closest->path,
			*rel ? "/" : "", rel);
	} else {
		n = asprintf(&p->cwd, "/workspace");
	}
	return n > 0 ? 0 : ward_err_sys(err, -ENOMEM, "start directory");
}

/*
 * Tools write down the path by which they were called: where the project is seen at its own path,
 * the one by which the caller came to it leads there inside, too.
 */
static int find_entered(struct ward_run_plan *p, struct ward_err *err)
{
	const char *rel = ward_path_beneath(p->cwd, p->project.path);
	bool seen = false;
	for (size_t i = 0; i < p->n_trees; i++)
		seen |= p->trees[i].at && strcmp(p->trees[i].at, p->project.path) == 0;
	if (!seen || !rel || !(p->entered = ward_project_entered(&p->project, getenv("PWD"))))
		return 0;
	if (!ward_blueprint_path_ok(p->entered)) {
		free(p->entered);
		p->entered = NULL;
		return 0;
	}
	if (asprintf(&p->pwd, "%s%s%s", p->entered, *rel ? "/" : "", rel) < 0) {
		p->pwd = NULL;
		return ward_err_sys(err, -ENOMEM, "start directory");
	}
	return 0;
}

/*
 * The same for each session in a project: git keeps the uid of every file in its index, and reads
 * all files again where it changed.
 */
static unsigned project_salt(const struct ward_project *project)
{
	struct stat st;
	return fstat(project->fd, &st) == 0 ? (unsigned)(st.st_ino ^ st.st_ino >> 16) : 0;
}

/*
 * An ephemeral tree gets the directories in which trees beneath it stand; in a tree of the host
 * they have to be there, and pid 1 says so if not.
 */
static int make_points(const struct ward_run_plan *p, struct ward_err *err)
{
	int r = 0;
	for (size_t i = 0; i < p->n_trees && r == 0; i++) {
		for (size_t j = i; j-- > 0;) {
			/* Sorted by path: the nearest above is the last before. */
			const char *rel = ward_path_beneath(p->trees[i].path, p->trees[j].path);
			if (!rel || !*rel)
				continue;
			if (!p->trees[j].source)
				r = ward_backing_point(p->trees[j].backing, rel, p->id.owner_uid,
					p->id.owner_gid, err);
			break;
		}
	}
	return r;
}

/* An anchored --hide that lies in no tree would do nothing: said, not done in silence. */
static int check_hides(
	const struct ward_run_options *o, const struct ward_run_plan *p, struct ward_err *err)
{
	for (size_t i = 0; i < o->hide.n; i++) {
		const char *h = o->hide.v[i];
		bool found = h[0] != '/' || ward_path_beneath(h, p->project.path);
		for (size_t t = 0; t < p->n_trees; t++)
			found = found || ward_path_beneath(h, p->trees[t].path);
		if (!found)
			return ward_err_set(err, -EINVAL,
				"--hide %s lies in no tree, so it would hide nothing", h);
	}
	return 0;
}

/*
 * Programs look beneath $HOME for their tool chain: what is shown of the owner's home is found in
 * the kept one as well.
 */
static int link_reads(const struct ward_run_plan *p, int backing, struct ward_err *err)
{
	int r = 0;
	for (size_t i = 0; i < p->n_reads && r == 0; i++) {
		const char *rel = p->id.home ? ward_path_beneath(p->reads[i], p->id.home) : NULL;
		if (rel && *rel)
			r = ward_home_link(backing, &p->id, rel, p->reads[i], err);
	}
	return r;
}

/* The kept home, once nothing is left that could be wrong about the request. */
static int open_home(
	const struct ward_run_options *o, struct ward_run_plan *p, struct ward_err *err)
{
	struct ward_run_plan_tree *t = NULL;
	for (size_t i = 0; i < p->n_trees; i++)
		if (strcmp(p->trees[i].path, WARD_HOME_PATH) == 0)
			t = &p->trees[i];
	if (!p->home.dir || !t)
		return o->dry ? 0 : ward_home_mark(&p->id, p->state, &p->project, &p->known, err);
	/* A rehearsal makes nothing, so it has an empty one. */
	if (o->dry)
		return ward_backing_tmpfs(
			1 << 20, p->id.owner_uid, p->id.owner_gid, p->id.root, &t->backing, err);
	int r = ward_home_open(
		&p->home, &p->id, p->state, p->project.path, &p->known, &t->backing, err);
	return r < 0 ? r : link_reads(p, t->backing, err);
}

/* What a tree guards must not be seen by another name: in another tree, or as it is. */
static int check_overlaps(
	const struct ward_run_options *o, struct ward_run_plan *p, struct ward_err *err)
{
	int backings[WARD_TREES_MAX];
	struct ward_as_owner as;
	for (size_t i = 0; i < p->n_trees; i++)
		backings[i] = p->trees[i].source ? p->trees[i].backing : -1;
	int r = ward_as_owner_begin(&p->id, &as, err);
	/* If the command sees the host, no rule applies to files that it reaches by other paths. */
	if (r == 0)
		r = ward_tree_spots_find(backings,
			p->mode->layers & WARD_LAYER_VIEW ? p->n_trees : 0, &p->spots, err);
	ward_as_owner_end(&as);
	if (r == 0)
		r = ward_tree_spots_check(&p->spots, p->policy, err);
	if (r == 0)
		r = ward_shown_check(p, err);
	if (r == 0)
		r = ward_ca_find(o, p, err);
	return r < 0 || o->dry ? r : ward_single_files_open(p, err);
}

static int make(const struct ward_run_options *o, struct ward_run_plan *p, struct ward_err *err)
{
	if (o->session && !ward_session_name_ok(o->session))
		return ward_err_set(
			err, -EINVAL, "--session '%s': %s", o->session, WARD_SESSION_NAME_RULE);
	int r = ward_project_find(o->user, WARD_PROJECT_OWNERS, &p->project, err);
	if (r < 0)
		return -EINVAL; /* the user can fix it: stand elsewhere */
	r = ward_identity_find(o->user, p->project.uid, project_salt(&p->project), &p->id, err);
	if (r < 0)
		return r;
	r = ward_store_default_path(
		geteuid(), getenv("XDG_STATE_HOME"), p->id.home, &p->state, err);
	if (r == 0)
		r = ward_patient_reach(p->state, err);
	if (r == 0)
		r = load_policy(o, p, err);
	if (r < 0)
		return r;
	if (p->settings->n_trees > WARD_POLICY_TREES_MAX)
		return ward_err_set(err, -EINVAL, "the policy has %zu trees; the maximum is %d",
			p->settings->n_trees, WARD_POLICY_TREES_MAX);
	for (size_t i = 0; i < p->settings->n_trees; i++) {
		r = open_tree_backing(&p->settings->trees[i], p, err);
		if (r < 0)
			return r;
	}
	r = ward_lifts_check(p, err);
	if (r == 0)
		r = make_points(p, err);
	if (r == 0 && (r = check_hides(o, p, err)) == 0)
		r = find_reads(p, err);
	if (r == 0)
		r = check_overlaps(o, p, err);
	if (r == 0 && p->mode->layers & WARD_LAYER_VIEW)
		r = ward_git_settings(&p->id, &p->git_settings, err);
	if (r == 0)
		r = resolve_paths(p, &p->settings->net_socket, "[network] socket", &p->sockets,
			&p->n_sockets, err);
	if (r < 0)
		return r;
	r = ward_control_runtime(&p->runtime, err);
	if (r == 0)
		r = ward_places_check(p, err);
	if (r == 0)
		r = ward_plan_image(p, err);
	if (r > 0)
		r = ward_plan_image_fetch(o, p, ward_plan_image_name(p), err);
	if (r == 0)
		r = ward_places_check_ways(o, p, err);
	if (r == 0)
		r = check_python(p, err);
	if (r == 0)
		r = find_programs(o, p, err);
	if (r == 0 && (r = ward_policy_noexec(p->policy, &p->noexec)) < 0)
		ward_err_sys(err, r, "policy");
	/* A state directory that cannot be written to is the host's to fix, whatever it answers.
	 */
	if (r == 0 && !o->dry && p->known.n_trees &&
		ward_remembered_write(&p->id, p->state, &p->known, err) < 0)
		r = err->code = -EIO;
	if (r == 0 && o->say)
		r = ward_trees_say(p, o->say, err);
	if (r == 0)
		r = open_home(o, p, err);
	if (r == 0 && (r = ward_plan_staged(o, p, err)) == 0)
		r = start_directory(p, err);
	return r < 0 ? r : find_entered(p, err);
}

int ward_run_plan_make(
	const struct ward_run_options *o, struct ward_run_plan *ret, struct ward_err *err)
{
	struct ward_run_plan p = WARD_RUN_PLAN_INIT;
	int r = make(o, &p, err);
	if (r == 0)
		*ret = p;
	else
		ward_run_plan_clear(&p);
	return r;
}

void ward_run_plan_clear(struct ward_run_plan *p)
{
	ward_identity_clear(&p->id);
	ward_weighed_free(p->weighed);
	ward_mode_found_clear(&p->found);
	ward_image_clear(&p->image);
	ward_project_clear(&p->project);
	for (size_t i = 0; i < p->n_trees; i++) {
		free(p->trees[i].at);
		free(p->trees[i].source);
		if (p->trees[i].backing >= 0)
			close(p->trees[i].backing);
	}
	ward_policy_unref(p->policy);
	ward_known_clear(&p->known);
	for (size_t i = 0; i < p->n_reads; i++) {
		free(p->reads[i]);
		if (p->reads_at)
			free(p->reads_at[i]);
		if (p->shown)
			ward_shown_file_clear(&p->shown[i]);
	}
	free(p->shown);
	if (p->single_files >= 0)
		close(p->single_files);
	ward_tree_spots_clear(&p->spots);
	free(p->reads);
	free(p->reads_at);
	free(p->git_settings);
	for (size_t i = 0; i < p->n_sockets; i++)
		free(p->sockets[i]);
	free(p->sockets);
	ward_programs_clear(&p->programs);
	for (size_t i = 0; p->noexec && p->noexec[i]; i++)
		free(p->noexec[i]);
	free(p->noexec);
	ward_home_clear(&p->home);
	free(p->state);
	free(p->runtime);
	free(p->cwd);
	free(p->entered);
	free(p->pwd);
	free(p->owner_policy);
	free(p->shared);
	free(p->main_checkout);
	free(p->config);
	free(p->own_guards);
	*p = WARD_RUN_PLAN_INIT;
}
