/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the project, its owner and the policy in force where a verb is called. */
#include "enforcer/cli/place/policy_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/store/store.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/patient.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/session/owner/git_outside.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/remembered.h"
#include "enforcer/session/owner/worktree.h"

/* A directory without a project: what is there counts, as the caller's. */
static int no_project(struct ward_policy_place *p, struct ward_err *err)
{
	struct stat st;
	p->project = (struct ward_project){.fd = -1, .cwd = getcwd(NULL, 0)};
	if (!p->project.cwd || stat(".", &st) < 0)
		return ward_err_sys(err, -errno, "current directory");
	p->project.uid = st.st_uid;
	return 0;
}

static int find_owner_file(struct ward_policy_place *p, struct ward_err *err)
{
	if (!p->in_project || !p->config_home)
		return 0;
	/* A caller that makes it a project makes a project of its own. */
	int shared = p->which == WARD_PROJECT_OWNERS ? ward_shared_policy(&p->id, p->config_home,
							       p->project.path, &p->owner_file, err)
						     : 0;
	p->shared = p->owner_file;
	if (shared < 0 || p->shared)
		return shared;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, "%s/wardfs/projects/", p->config_home);
	int r = ward_project_file_name(p->project.path, &b);
	if (r == 0)
		p->owner_file = ward_buf_steal(&b);
	return p->owner_file ? 0 : ward_err_sys(err, r ? r : -ENOMEM, "owner's policy file");
}

static int find_sources(struct ward_policy_place *p, struct ward_err *err)
{
	const struct ward_settings *s = ward_policy_settings(p->policy);
	p->sources = calloc(s->n_trees, sizeof(*p->sources));
	if (!p->sources)
		return ward_err_sys(err, -ENOMEM, "trees");
	for (size_t i = 0; i < s->n_trees; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		const char *project = p->in_project ? p->project.path : p->project.cwd;
		if (!s->trees[i].source)
			continue;
		int r = ward_tree_source_resolve(s->trees[i].source, p->id.home, project, &b, err);
		if (r < 0)
			return ward_err_wrap(err, "[tree %s]", s->trees[i].path);
		p->sources[i] = ward_buf_steal(&b);
		if (!p->sources[i])
			return ward_err_sys(err, -ENOMEM, "trees");
	}
	return 0;
}

void ward_project_say(const struct ward_project *project)
{
	static const char *const why[] = {
		[WARD_PROJECT_BY_FILE] = "its .wardfs.policy applies to everything beneath",
		[WARD_PROJECT_BY_HOME] = "a session ran there",
		[WARD_PROJECT_BY_BEFORE] = "it was one before the first session around it",
		[WARD_PROJECT_BY_POLICY] = "you have a policy for it",
	};
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	if (!project->nearer || !why[project->by])
		return;
	/* The home is all that makes it one. */
	if (project->by == WARD_PROJECT_BY_HOME) {
		ward_buf_puts(
			&word, "; if only directories in it are projects: wardfs home clear ");
		ward_shell_word(&word, project->path);
	}
	ward_sayf("the project is %s, because %s. %s in it also looks like a project; to make it "
		  "one, run 'wardfs init' there%s",
		project->path, why[project->by], project->nearer, ward_buf_str(&word));
}

void ward_shared_say(const char *file)
{
	if (file)
		ward_sayf("this project shares the policy of another one: %s", file);
}

/* struct ward_load: as a session that shares the policy has it. */
static int add_shared(
	void *user, const struct ward_policy *policy, struct ward_buf *b, struct ward_err *err)
{
	const struct ward_policy_place *p = user;
	ward_git_shared(p->owner_file, p->project.fd, policy, b);
	return ward_buf_error(b) < 0 ? ward_err_sys(err, -ENOMEM, "policy") : 0;
}

int ward_policy_place_find(const char *policy, struct ward_policy_place *p, struct ward_err *err)
{
	int r = ward_policy_place_look(policy, WARD_PROJECT_OWNERS, p, err);
	ward_project_say(&p->project);
	ward_shared_say(!policy && p->shared ? p->owner_file : NULL);
	return r;
}

static int look(const char *policy, bool owners, enum ward_project_which which,
	struct ward_policy_place *p, struct ward_err *err)
{
	*p = (struct ward_policy_place){.project = {.fd = -1}, .which = which};
	struct ward_err why = WARD_ERR_INIT;
	int r = ward_project_find(NULL, which, &p->project, &why);
	p->in_project = r == 0;
	if (r == -EACCES)
		return ward_err_set(err, r, "%s", why.text);
	if (r < 0 && !(p->no_project = strdup(why.text)))
		return ward_err_sys(err, -ENOMEM, "project");
	if (r < 0)
		r = no_project(p, err);
	if (r == 0)
		r = ward_identity_find(NULL, p->project.uid, 0, &p->id, err);
	if (r < 0)
		return r;
	r = ward_config_home(p->id.home, p->id.owner_uid == getuid(), &p->config_home, err);
	if (r == 0)
		r = find_owner_file(p, err);
	if (r < 0)
		return r;
	ward_cleanup_free char *state = NULL;
	struct ward_err ignored = WARD_ERR_INIT;
	/* A user without a state directory has started no session. */
	if (ward_store_default_path(
		    geteuid(), getenv("XDG_STATE_HOME"), p->id.home, &state, &ignored) == 0)
		r = ward_remembered_read(&p->id, state, &p->known, err);
	if (r < 0)
		return r;
	const struct ward_load l = {.policy = policy,
		.config_home = p->config_home,
		.tree_fd = p->in_project ? p->project.fd : -1,
		.tree_path = p->in_project ? p->project.path : NULL,
		.home = p->id.home,
		.known = &p->known,
		.more = owners && p->shared ? add_shared : NULL,
		.user = p};
	r = ward_policy_load_owned(&p->id, &l, &p->policy, err);
	return r == 0 ? find_sources(p, err) : r;
}

int ward_policy_place_look(const char *policy, enum ward_project_which which,
	struct ward_policy_place *p, struct ward_err *err)
{
	return look(policy, !policy, which, p, err);
}

int ward_policy_place_would(const char *policy, enum ward_project_which which,
	struct ward_policy_place *p, struct ward_err *err)
{
	return look(policy, true, which, p, err);
}

int ward_policy_place_need(const struct ward_policy_place *place, struct ward_err *err)
{
	if (place->owner_file)
		return 0;
	return ward_err_set(err, -ENOENT, "%s",
		place->no_project ? place->no_project
				  : "you have no home directory, so your policy has no place");
}

void ward_policy_place_say_none(const struct ward_policy_place *place)
{
	if (place->no_project)
		ward_say("no project is here; the answer is for one without a policy of its own");
}

int ward_policy_place_named(struct ward_policy_place *place, struct ward_err *err)
{
	struct ward_source_text base;
	size_t len = 0;
	char *name = NULL;
	if (!ward_policy_source(place->policy, WARD_SOURCE_BASE, &base))
		return 0;
	if (!ward_profile_text(base.file, &len))
		name = strdup(base.file);
	else if (asprintf(&name, "a file of yours that extends %s", base.file) < 0)
		name = NULL;
	if (!name)
		return ward_err_sys(err, -ENOMEM, "policy");
	free(place->owner_file);
	place->owner_file = name;
	return 0;
}

void ward_policy_place_clear(struct ward_policy_place *p)
{
	size_t n = p->sources ? ward_policy_settings(p->policy)->n_trees : 0;
	for (size_t i = 0; i < n; i++)
		free(p->sources[i]);
	free(p->sources);
	ward_policy_unref(p->policy);
	ward_known_clear(&p->known);
	ward_project_clear(&p->project);
	ward_identity_clear(&p->id);
	free(p->config_home);
	free(p->owner_file);
	free(p->no_project);
	*p = (struct ward_policy_place){.project = {.fd = -1}};
}

/* Appends path to b, names that are "." or "..", and double '/', resolved as text. */
static int normalise(const char *path, struct ward_buf *b, struct ward_err *err)
{
	const char *whole = path;
	while (*path) {
		path += strspn(path, "/");
		size_t n = strcspn(path, "/");
		if (n == 2 && memcmp(path, "..", 2) == 0) {
			const char *slash = b->len ? strrchr(b->data, '/') : NULL;
			if (!slash)
				return ward_err_set(err, -EINVAL, "%s leads above '/'", whole);
			b->len = (size_t)(slash - b->data);
			b->data[b->len] = 0;
		} else if (n > 0 && !(n == 1 && *path == '.')) {
			ward_buf_putc(b, '/');
			ward_buf_add(b, path, n);
		}
		path += n;
	}
	return 0;
}

/* The absolute path in terms of the tree whose root is at `from`; NULL: not in it. */
static const char *beneath(const char *path, const char *from)
{
	size_t n = strcmp(from, "/") == 0 ? 0 : strlen(from);
	return strncmp(path, from, n) == 0 && (path[n] == '/' || !path[n]) ? path + n : NULL;
}

/* The sandbox path behind an absolute host path, or NULL. The longest source wins. */
static char *from_host(const struct ward_policy_place *p, const char *host)
{
	const struct ward_settings *s = ward_policy_settings(p->policy);
	const char *best = NULL, *rest = NULL;
	size_t longest = 0;
	for (size_t i = 0; i < s->n_trees; i++) {
		const char *r = p->sources[i] ? beneath(host, p->sources[i]) : NULL;
		if (!r || (best && strlen(p->sources[i]) <= longest))
			continue;
		longest = strlen(p->sources[i]);
		best = s->trees[i].path;
		rest = r;
	}
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (best)
		ward_buf_printf(&b, "%s%s", best, strcmp(rest, "/") == 0 ? "" : rest);
	return best ? ward_buf_steal(&b) : NULL;
}

int ward_policy_place_path(const struct ward_policy_place *p, const char *arg, char **ret,
	bool *ret_dir, struct ward_err *err)
{
	const struct ward_settings *s = ward_policy_settings(p->policy);
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	size_t len = strlen(arg);
	if (len == 0)
		return ward_err_set(err, -EINVAL, "an empty path");
	int r = arg[0] == '/' ? 0 : normalise(p->project.cwd, &b, err);
	if (r == 0)
		r = normalise(arg, &b, err);
	if (r < 0)
		return r;
	const char *path = b.len ? ward_buf_str(&b) : "/";
	char *found = NULL;
	for (size_t i = 0; arg[0] == '/' && !found && i < s->n_trees; i++)
		if (beneath(path, s->trees[i].path))
			found = strdup(path);
	if (!found)
		found = from_host(p, path);
	ward_cleanup_free char *here = found ? NULL : from_host(p, p->project.cwd);
	if (!found && arg[0] != '/' && !here) {
		/* seen from nowhere in a tree: as if from /workspace */
		ward_buf_clear(&b);
		r = normalise("/workspace", &b, err);
		if (r == 0)
			r = normalise(arg, &b, err);
		path = b.len ? ward_buf_str(&b) : "/";
	}
	if (r < 0)
		return r;
	*ret = found ? found : strdup(path);
	*ret_dir = arg[len - 1] == '/';
	return *ret ? 0 : ward_err_sys(err, -ENOMEM, "%s", arg);
}

bool ward_policy_place_in_tree(const struct ward_policy_place *p, const char *path)
{
	const struct ward_settings *s = ward_policy_settings(p->policy);
	bool in = false;
	for (size_t i = 0; i < s->n_trees; i++)
		in = in || beneath(path, s->trees[i].path) || beneath(s->trees[i].path, path);
	return in;
}

char *ward_policy_place_host(const struct ward_policy_place *p, const char *path)
{
	const struct ward_settings *s = ward_policy_settings(p->policy);
	/* Sorted by path: of trees beneath each other the last is the one that shows. */
	for (size_t i = s->n_trees; i-- > 0;) {
		const char *rest = beneath(path, s->trees[i].path);
		if (!rest)
			continue;
		if (!p->sources[i])
			return NULL;
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		ward_buf_printf(&b, "%s%s", p->sources[i], rest);
		return ward_buf_steal(&b);
	}
	return NULL;
}

unsigned ward_policy_place_type(const struct ward_policy_place *p, const char *path)
{
	ward_cleanup_free char *host = ward_policy_place_host(p, path);
	struct stat st;
	return host && ward_patient_reach(host, NULL) == 0 && lstat(host, &st) == 0
		       ? st.st_mode & S_IFMT
		       : 0;
}
