/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the file that a command name means, on this host and inside a planned run. */
#include "enforcer/cli/base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/patient.h"
#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/plan/not_executed.h"
#include "enforcer/session/owner/as_owner.h"

/* What the kernel reads of a script's first line (BINPRM_BUF_SIZE). */
#define FIRST_LINE 256

static bool executable(const char *path)
{
	struct stat st;
	return ward_patient_reach(path, NULL) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       st.st_mode & 0111;
}

/*
 * The i-th directory of PATH and the name; NULL past the end. A relative directory is one of cwd's;
 * "" where that is NULL.
 */
static char *candidate(const char *path, size_t i, const char *name, const char *cwd)
{
	for (; i > 0; i--) {
		path = strchr(path, ':');
		if (!path++)
			return NULL;
	}
	char *full = NULL;
	int n = (int)strcspn(path, ":"), r = 0;
	if (*path == '/')
		r = asprintf(&full, "%.*s/%s", n, path, name);
	else if (cwd)
		r = asprintf(&full, "%s/%.*s%s%s", cwd, n, path, n ? "/" : "", name);
	else
		return strdup("");
	return r < 0 ? NULL : full;
}

char *ward_program_in_path(const char *name, const char *path)
{
	for (size_t i = 0; path; i++) {
		ward_cleanup_free char *full = candidate(path, i, name, NULL);
		if (!full)
			return NULL;
		if (*full && executable(full))
			return ward_steal_ptr(&full);
	}
	return NULL;
}

char *ward_program_interpreter(const char *host)
{
	char line[FIRST_LINE + 1] = "";
	ward_cleanup_fd int fd = open(host, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || read(fd, line, FIRST_LINE) < 3 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	char *save = NULL;
	const char *first = strtok_r(line + 2, " \t\r", &save);
	const char *base = first ? strrchr(first, '/') : NULL;
	if (base && strcmp(base, "/env") == 0) {
		const char *word = strtok_r(NULL, " \t\r", &save);
		while (word && (*word == '-' || strchr(word, '=')))
			word = strtok_r(NULL, " \t\r", &save);
		first = word ? word : first;
	}
	return first ? strdup(first) : NULL;
}

void ward_program_clear(struct ward_program *p)
{
	free(p->inside);
	free(p->host);
	free(p->interpreter);
	*p = (struct ward_program){0};
}

/* --- what the plan shows --- */

/* The tree at an inside path (the deepest), and the part of the path beneath it. */
static const struct ward_run_plan_tree *tree_at(
	const struct ward_run_plan *p, const char *inside, const char **ret_rel)
{
	const struct ward_run_plan_tree *best = NULL;
	size_t longest = 0;
	for (size_t i = 0; i < p->n_trees; i++) {
		const char *const places[] = {p->trees[i].path, p->trees[i].at};
		for (size_t k = 0; k < 2; k++) {
			const char *rel = places[k] ? ward_path_beneath(inside, places[k]) : NULL;
			if (rel && (!best || strlen(places[k]) > longest)) {
				best = &p->trees[i];
				longest = strlen(places[k]);
				*ret_rel = rel;
			}
		}
	}
	return best;
}

/* As enforcer/sandbox/view.c has it. */
bool ward_program_made_inside(const char *path)
{
	static const char *const own[] = {
		"/dev", "/etc", "/proc", "/root", "/run", "/sys", "/tmp", "/var/tmp"};
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (ward_path_beneath(path, own[i]))
			return true;
	return false;
}

/* Does the view show this path of the host at the same path? */
static bool shown(const struct ward_run_plan *p, const char *path)
{
	const char *own[WARD_SANDBOX_OWN_MAX];
	for (size_t i = 0; i < p->n_reads; i++)
		if (ward_path_beneath(path, p->reads[i]))
			return true;
	if (!(p->mode->layers & WARD_LAYER_VIEW))
		return true;
	if (ward_program_made_inside(path) ||
		(p->id.agent_home && ward_path_beneath(path, p->id.agent_home)))
		return false;
	if (p->settings->view == WARD_VIEW_READONLY)
		return true;
	size_t n = ward_sandbox_own_paths(own);
	for (size_t i = 0; i < n; i++)
		if (ward_path_beneath(path, own[i]))
			return true;
	return false;
}

/* Is a file of the host, named without links, in some tree or shown? */
static bool reached(const struct ward_run_plan *p, const char *host)
{
	for (size_t i = 0; i < p->n_trees; i++)
		if (p->trees[i].source && ward_path_beneath(host, p->trees[i].source))
			return true;
	const char *rel = NULL;
	return !tree_at(p, host, &rel) && shown(p, host); /* else a tree lies over it */
}

/* The host's path behind an inside path, or NULL where nothing of the host is. */
static char *behind(const struct ward_run_plan *p, const char *inside)
{
	const char *rel = NULL;
	const struct ward_run_plan_tree *t = tree_at(p, inside, &rel);
	char *host = NULL;
	if (t && !t->source)
		return NULL;
	if (t)
		return asprintf(&host, "%s%s%s", t->source, *rel ? "/" : "", rel) < 0 ? NULL : host;
	return shown(p, inside) ? strdup(inside) : NULL;
}

/* What the rules say of executing a path in a tree. */
static enum ward_verdict decide(const struct ward_run_plan *p, const char *tree, const char *rel)
{
	ward_cleanup_free char *path = NULL;
	const struct ward_state *s = NULL;
	if (asprintf(&path, "%s%s%s", tree, *rel ? "/" : "", rel) < 0) {
		path = NULL;
		return WARD_VERDICT_DENY;
	}
	if (ward_policy_walk(p->policy, path, strlen(path), &s) < 0)
		return WARD_VERDICT_DENY;
	const struct ward_request req = {
		.action = WARD_ACTION_ACCESS, .rights = WARD_RIGHT_EXEC, .state = s};
	enum ward_verdict v = ward_policy_decide(p->policy, &req, NULL).verdict;
	ward_policy_state_put(p->policy, s);
	return v;
}

/* May the file that was found be executed? As the rules of its tree say, or the list of programs.
 */
static enum ward_verdict permitted(const struct ward_run_plan *p, const struct ward_program *x)
{
	const struct ward_run_plan_tree *best = NULL;
	for (size_t i = 0; i < p->n_trees; i++) {
		const struct ward_run_plan_tree *t = &p->trees[i];
		if (t->source && ward_path_beneath(x->host, t->source) &&
			(!best || strlen(t->source) > strlen(best->source)))
			best = t;
	}
	if (best)
		return decide(p, best->path, ward_path_beneath(x->host, best->source));
	return !ward_policy_has_programs(p->policy) || ward_programs_have(&p->programs, x->host)
		       ? WARD_VERDICT_ALLOW
		       : WARD_VERDICT_DENY;
}

/* --- finding --- */

static const char *path_of(char *const *envp)
{
	for (; *envp; envp++)
		if (strncmp(*envp, "PATH=", 5) == 0)
			return *envp + 5;
	return "";
}

/* A link can have taken the file's place: it is read with the owner's rights. */
static char *first_line(const struct ward_run_plan *p, const char *host)
{
	struct ward_err ignored = WARD_ERR_INIT;
	struct ward_as_owner owner = {0};
	char *name = NULL;
	if (ward_as_owner_begin(&p->id, &owner, &ignored) == 0)
		name = ward_program_interpreter(host);
	ward_as_owner_end(&owner);
	return name;
}

/* What is at this path inside? *ret_host is the caller's. -ENOENT, -EACCES. */
static int look_at(const struct ward_run_plan *p, const char *inside, char **ret_host)
{
	ward_cleanup_free char *host = behind(p, inside);
	ward_cleanup_free char *real = host ? realpath(host, NULL) : NULL; /* a name only */
	if (!real || !reached(p, real))
		return -ENOENT;
	if (!executable(real))
		return -EACCES;
	*ret_host = ward_steal_ptr(&real);
	return 0;
}

/* A name with a '/': a path inside. */
static int find_path(const struct ward_run_plan *p, const char *name, char *const *envp,
	struct ward_program *x, struct ward_err *err)
{
	while (strncmp(name, "./", 2) == 0)
		name += 2;
	int r = name[0] == '/' ? asprintf(&x->inside, "%s", name)
			       : asprintf(&x->inside, "%s/%s", p->cwd, name);
	if (r < 0) {
		x->inside = NULL;
		return ward_err_sys(err, -ENOMEM, "%s", name);
	}
	r = look_at(p, x->inside, &x->host);
	if (r == -EACCES)
		return ward_err_set(
			err, r, "%s cannot be executed: it is not a program", x->inside);
	if (r < 0)
		ward_say_where(name, envp, err);
	return r;
}

static int find_name(const struct ward_run_plan *p, const char *name, char *const *envp,
	struct ward_program *x, struct ward_err *err)
{
	if (strchr(name, '/'))
		return find_path(p, name, envp, x, err);
	for (size_t i = 0;; i++) {
		ward_cleanup_free char *full = candidate(path_of(envp), i, name, p->cwd);
		if (!full)
			break;
		if (look_at(p, full, &x->host) == 0) {
			x->inside = ward_steal_ptr(&full);
			return 0;
		}
	}
	ward_say_where(name, envp, err);
	return -ENOENT;
}

int ward_program_find(const struct ward_run_plan *plan, const char *name, char *const *envp,
	struct ward_program *ret, struct ward_err *err)
{
	ward_cleanup(ward_program_clear) struct ward_program x = {0};
	int r = find_name(plan, name, envp, &x, err);
	if (r < 0)
		return r;
	enum ward_verdict v = permitted(plan, &x);
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	(void)ward_shell_quoted(&word, x.inside);
	if (v == WARD_VERDICT_HIDE)
		return ward_err_set(err, -ENOENT, "%s is hidden (wardfs policy explain exec %s)",
			x.inside, ward_buf_str(&word));
	if (v != WARD_VERDICT_ALLOW)
		return ward_err_set(err, -EACCES,
			"%s may not be executed (wardfs policy explain exec %s)", x.inside,
			ward_buf_str(&word));
	x.interpreter = first_line(plan, x.host);
	if (x.interpreter) {
		struct ward_program other = {0};
		struct ward_err ignored = WARD_ERR_INIT;
		r = find_name(plan, x.interpreter, envp, &other, &ignored);
		ward_program_clear(&other);
		if (r < 0)
			return ward_err_set(err, -ENOENT,
				"%s: its interpreter %s does not exist inside; fix: --read FILE shows it",
				x.inside, x.interpreter);
	}
	*ret = x;
	x = (struct ward_program){0};
	return 0;
}
