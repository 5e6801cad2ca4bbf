/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the shipped profile for the agent that a command starts. */
#include "enforcer/cli/place/agent_profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/cli/base/program.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/project.h"

/* A line of a shipped profile: the names of programs that it is for, blanks between them. */
#define MARK "\n;@program "
#define ANY "*"
/* A file in the directory that the agent keeps, and variables: one of them, and it is signed in. */
#define SIGN_IN "\n;@sign-in "
/* What to know before signing in, until that was done. */
#define SIGN_IN_NOTE "\n;@sign-in-note "
/* A port of the host at which the browser answers that signs in. */
#define SIGN_IN_PORT "\n;@sign-in-port "
/* How its program is installed outside. */
#define INSTALL "\n;@install "
#define KEPT "/var/agent/"

void ward_agent_clear(struct ward_agent *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->places[i]);
	free(a->program);
	free(a->told);
	*a = (struct ward_agent){0};
}

/* Does the profile's text name this program? */
static bool is_for(const char *text, const char *name)
{
	size_t len = strlen(name);
	const char *s = strstr(text, MARK);
	if (!s || !len)
		return false;
	s += strlen(MARK);
	for (size_t n = 0; *s && *s != '\n'; s += n) {
		s += strspn(s, " ");
		n = strcspn(s, " \n");
		if (n == len && memcmp(s, name, n) == 0)
			return true;
	}
	return false;
}

static const char *profile_for(const char *name)
{
	for (size_t i = 0; ward_profile_name(i); i++) {
		size_t len = 0;
		const char *text = ward_profile_text(ward_profile_name(i), &len);
		if (text && strcmp(name, ANY) != 0 && is_for(text, name))
			return ward_profile_name(i);
	}
	return NULL;
}

/* A profile for agents that have none of their own, which only --policy chooses. */
static bool is_for_any(const char *profile)
{
	size_t len = 0;
	const char *text = ward_profile_text(profile, &len);
	return text && is_for(text, ANY);
}

/* --- where it is --- */

struct search {
	struct ward_agent *a;
	const char *home; /* or NULL */
	const char *project;
};

/* Stands as it is in a policy, which knows no quoting there, and in the view. */
static bool good_path(const char *path)
{
	for (const char *s = path; *s; s++)
		if ((unsigned char)*s < 0x20 || strchr("];#~\\\x7f", *s))
			return false;
	return !strstr(path, "//") && !strstr(path, "/./") && !strstr(path, "/../");
}

static int add_place(const struct search *f, const char *path, size_t len)
{
	struct ward_agent *a = f->a;
	ward_cleanup_free char *copy = strndup(path, len);
	struct stat st;
	if (!copy)
		return -ENOMEM;
	/* A program in the project is visible anyway. */
	if (!good_path(copy) || ward_path_beneath(copy, f->project) ||
		ward_path_beneath(f->project, copy))
		return 0;
	for (size_t i = 0; i < a->n; i++)
		if (ward_path_beneath(copy, a->places[i]))
			return 0;
	if (a->n < WARD_AGENT_PLACES_MAX && stat(copy, &st) == 0) {
		a->shown[a->n] = copy;
		a->places[a->n++] = ward_steal_ptr(&copy);
	}
	return 0;
}

/* Does every view show it without being told? */
static bool is_system(const char *path)
{
	const char *own[WARD_SANDBOX_OWN_MAX];
	size_t n = ward_sandbox_own_paths(own);
	for (size_t i = 0; i < n; i++)
		if (!ward_program_made_inside(own[i]) && ward_path_beneath(path, own[i]))
			return true;
	return false;
}

/*
 * How many bytes of path the sandbox shows, if the surroundings of the program are known: the
 * node_modules around it, the environment of python, a directory of programs. 0: only the file.
 */
static size_t around(const char *path)
{
	static const char modules[] = "/node_modules/", bin[] = "/bin";
	struct stat st;
	const char *s = strstr(path, modules);
	if (s)
		return (size_t)(s - path) + strlen(modules) - 1;
	size_t dir = (size_t)(strrchr(path, '/') - path);
	if (dir <= strlen(bin) || strncmp(path + dir - strlen(bin), bin, strlen(bin)) != 0)
		return 0;
	size_t above = dir - strlen(bin);
	ward_cleanup_free char *mark = NULL;
	if (asprintf(&mark, "%.*s/pyvenv.cfg", (int)above, path) < 0) {
		mark = NULL;
		return dir;
	}
	return stat(mark, &st) == 0 ? above : dir;
}

/* Never a home, or what is above one. */
static int add_around(const struct search *f, const char *path)
{
	size_t n = around(path);
	ward_cleanup_free char *dir = strndup(path, n);
	if (!dir)
		return -ENOMEM;
	bool whole = n > 0 && !(f->home && ward_path_beneath(f->home, dir));
	return add_place(f, path, whole ? n : strlen(path));
}

/* The program by the name that PATH leads to, and what that is a link to. */
static int add_program(const struct search *f, const char *path)
{
	ward_cleanup_free char *real = realpath(path, NULL); /* a name only */
	int r = is_system(path) ? 0 : add_around(f, path);
	if (r == 0 && real && !is_system(real))
		r = add_around(f, real);
	return r;
}

static int add_interpreter(const struct search *f)
{
	ward_cleanup_free char *name = ward_program_interpreter(f->a->program);
	if (!name)
		return 0;
	ward_cleanup_free char *path =
		strchr(name, '/') ? strdup(name) : ward_program_in_path(name, getenv("PATH"));
	return path && path[0] == '/' ? add_program(f, path) : 0;
}

/* --- the choice --- */

/* The program's path, its directory without links. NULL: not found; the run says so. */
static char *locate(const char *name, const char *base)
{
	ward_cleanup_free char *path =
		strchr(name, '/') ? strdup(name) : ward_program_in_path(name, getenv("PATH"));
	const char *slash = path ? strrchr(path, '/') : NULL;
	ward_cleanup_free char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;
	ward_cleanup_free char *real = dir ? realpath(dir, NULL) : NULL;
	char *ret = NULL;
	return !real || asprintf(&ret, "%s/%s", strcmp(real, "/") ? real : "", base) < 0 ? NULL
											 : ret;
}

/* In the project, by its name or by what it is a link to. */
static bool in_project(const char *program, const char *project)
{
	ward_cleanup_free char *real = realpath(program, NULL);
	ward_cleanup_free char *top = realpath(project, NULL);
	return !real || !top || ward_path_beneath(real, top) || ward_path_beneath(program, top);
}

int ward_agent_find(struct ward_run_options *o, struct ward_agent *ret, struct ward_err *err)
{
	const char *name = o->argv[0], *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;
	struct ward_err ignored = WARD_ERR_INIT;
	ward_cleanup(ward_project_clear) struct ward_project project = {.fd = -1};
	*ret = (struct ward_agent){0};
	const char *profile = profile_for(base);
	if (!profile && o->policy && is_for_any(o->policy))
		profile = o->policy;
	if (profile && o->policy && strcmp(o->policy, profile) != 0)
		return 0;
	ret->chosen = o->policy != NULL;
	/* Where there is no project the plan says so. */
	if (!profile || ward_project_find(o->user, WARD_PROJECT_OWNERS, &project, &ignored) < 0)
		return 0;
	ret->program = locate(name, base);
	if (!ret->program) {
		ret->missing = slash ? NULL : profile;
		return 0;
	}
	if (in_project(ret->program, project.path)) {
		if (!ret->chosen &&
			asprintf(&ret->told,
				"%s lies in the project: the profile %s is not taken for it "
				"(--policy %s takes it)",
				ret->program, profile, profile) < 0)
			ret->told = NULL;
		return 0;
	}
	ret->profile = profile;
	const struct search f = {ret, getenv("HOME"), project.path};
	int r = add_program(&f, ret->program);
	if (r == 0)
		r = add_interpreter(&f);
	if (r < 0)
		return ward_err_sys(err, r, "%s", name);
	o->stand_in = profile;
	o->shown = (struct ward_strs){ret->shown, ret->n};
	return 0;
}

void ward_agent_say_install(const struct ward_agent *a)
{
	size_t len = 0;
	const char *text = a->missing ? ward_profile_text(a->missing, &len) : NULL;
	const char *command = text ? strstr(text, INSTALL) : NULL;
	if (!command)
		return;
	command += strlen(INSTALL);
	ward_sayf("%s is not installed on this host. Install it outside of the session: %.*s",
		a->missing, (int)strcspn(command, "\n"), command);
}

bool ward_agent_say(const struct ward_agent *a, const struct ward_run_plan *p)
{
	struct ward_source_text base, extended;
	if (a->told)
		ward_say(a->told);
	if (!a->profile || !ward_policy_source(p->policy, WARD_SOURCE_BASE, &base))
		return false;
	if (strcmp(base.file, a->profile) == 0 && a->chosen)
		return true;
	if (strcmp(base.file, a->profile) == 0) {
		ward_sayf(
			"using the profile %s, by the name of the program (--policy chooses another)",
			a->profile);
		return true;
	}
	if (ward_policy_source(p->policy, WARD_SOURCE_PROFILE, &extended) &&
		strcmp(extended.file, a->profile) == 0) {
		ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
		ward_sayf(
			"using the profile %s, by the name of the program, and your file %s on top",
			a->profile, ward_shell_quoted(&word, base.file));
		return true;
	}
	ward_sayf(
		"%s decides instead of the profile %s, because it extends neither that profile nor medium",
		base.file, a->profile);
	return false;
}

/* --- after it --- */

static bool has_variable(const struct ward_run_options *o, const char *name, size_t len)
{
	ward_cleanup_free char *copy = strndup(name, len);
	for (size_t i = 0; i < o->env.n; i++)
		if (strncmp(o->env.v[i], name, len) == 0 && o->env.v[i][len] == '=')
			return true;
	return copy && getenv(copy);
}

static bool has_file(const struct ward_run_plan *p, const char *name, size_t len)
{
	ward_cleanup_free char *copy = strndup(name, len);
	struct ward_as_owner owner;
	struct ward_err ignored = WARD_ERR_INIT;
	bool found = false;
	if (!copy || ward_as_owner_begin(&p->id, &owner, &ignored) < 0)
		return true;
	for (size_t i = 0; i < p->n_trees; i++) {
		const struct ward_run_plan_tree *t = &p->trees[i];
		if (strncmp(t->path, KEPT, strlen(KEPT)) != 0 || t->backing < 0)
			continue;
		ward_cleanup_fd int fd = ward_fd_open_beneath(t->backing, copy);
		found = found || fd != -ENOENT;
	}
	ward_as_owner_end(&owner);
	return found;
}

/* The first variable that would sign in, where nobody has; NULL: somebody has, or none is known. */
static const char *not_signed_in(
	const struct ward_agent *a, const struct ward_run_plan *p, const struct ward_run_options *o)
{
	size_t len = 0;
	const char *text = a->profile ? ward_profile_text(a->profile, &len) : NULL;
	const char *s = text ? strstr(text, SIGN_IN) : NULL;
	if (!s)
		return NULL;
	s += strlen(SIGN_IN);
	size_t n = strcspn(s, " \n");
	if (has_file(p, s, n))
		return NULL;
	const char *first = s + n + strspn(s + n, " ");
	for (s = first; *s && *s != '\n'; s += strspn(s, " ")) {
		n = strcspn(s, " \n");
		if (has_variable(o, s, n))
			return NULL;
		s += n;
	}
	return first;
}

/* "1455" or "8080:1455" leads to that port inside. */
static bool is_led(const char *published, const char *port)
{
	const char *colon = strrchr(published, ':');
	return strcmp(colon ? colon + 1 : published, port) == 0;
}

bool ward_agent_sign_in_port(const struct ward_agent *a, const struct ward_run_plan *p,
	const struct ward_run_options *o, char ret[WARD_AGENT_PORT_SIZE])
{
	size_t len = 0;
	const char *text = a->profile ? ward_profile_text(a->profile, &len) : NULL;
	const char *s = text ? strstr(text, SIGN_IN_PORT) : NULL;
	const struct ward_strings *published = &p->settings->net_publish;
	char port[WARD_AGENT_PORT_SIZE];
	/* With the host's network the browser arrives, and without one nothing does. */
	if (!s || p->settings->net != WARD_NET_ALLOWLIST || !isatty(STDIN_FILENO) ||
		!not_signed_in(a, p, o))
		return false;
	s += strlen(SIGN_IN_PORT);
	const size_t n = strcspn(s, "\n");
	if (n >= sizeof(port))
		return false;
	memcpy(port, s, n);
	port[n] = '\0';
	for (size_t i = 0; i < published->n; i++)
		if (is_led(published->v[i], port))
			return false;
	memcpy(ret, port, n + 1);
	return true;
}

void ward_agent_say_first(
	const struct ward_agent *a, const struct ward_run_plan *p, const struct ward_run_options *o)
{
	size_t len = 0;
	const char *text = a->profile ? ward_profile_text(a->profile, &len) : NULL;
	const char *note = text ? strstr(text, SIGN_IN_NOTE) : NULL;
	/* Elsewhere nobody signs in. */
	if (!note || !isatty(STDIN_FILENO) || !not_signed_in(a, p, o))
		return;
	note += strlen(SIGN_IN_NOTE);
	ward_sayf("%.*s", (int)strcspn(note, "\n"), note);
}

void ward_agent_say_sign_in(
	const struct ward_agent *a, const struct ward_run_plan *p, const struct ward_run_options *o)
{
	const char *first = not_signed_in(a, p, o);
	size_t len = 0;
	if (!first)
		return;
	const char *note = strstr(ward_profile_text(a->profile, &len), SIGN_IN_NOTE);
	const char *base = strrchr(a->program, '/');
	base = base ? base + 1 : a->program;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	/* Where signing in takes more than starting it, the start has said what. */
	if (note) {
		note += strlen(SIGN_IN_NOTE);
		ward_sayf("%s failed: %.*s", base, (int)strcspn(note, "\n"), note);
		return;
	}
	ward_sayf(
		"%s failed, and nobody has signed in to it inside. A sign-in outside does not count: start 'wardfs run -- %s' in a terminal and sign in once, or set %.*s",
		base, ward_shell_quoted(&word, base), (int)strcspn(first, " \n"), first);
}
