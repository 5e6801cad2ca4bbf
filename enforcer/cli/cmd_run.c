/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs run: a command in a guarded workspace. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/kernel.h"
#include "enforcer/base/sched.h"
#include "enforcer/cli/agent_profile.h"
#include "enforcer/cli/cli.h"
#include "enforcer/cli/run_dry.h"
#include "enforcer/cli/run_keep.h"
#include "enforcer/cli/run_once.h"
#include "enforcer/cli/say.h"
#include "enforcer/session/delegate.h"
#include "enforcer/session/guard.h"
#include "enforcer/session/run.h"

enum {
	OPT_READ = 0x100,
	OPT_WRITE,
	OPT_STATUS_FD,
	OPT_KEEP,
	OPT_HIDE,
	OPT_NET,
	OPT_ALLOW_MISSING,
	OPT_JSON
};

struct args {
	struct ward_run_options o;
	bool dry, json;
};

static const struct argp_option options[] = {
	{"policy", 'p', "FILE|PROFILE", 0,
		"Base policy: a file, or a shipped profile (wardfs profile list). Default: your file for "
		"this project, else medium; for an agent that has a profile, that in place of medium",
		0},
	{"mode", 'm', "MODE", 0, "Isolation: restricted (the default), process, none", 0},
	{"user", 'u', "USER", 0, "Whose session it is; as root only", 0},
	{"session", 's', "NAME", 0, "Name of the session; a name that was used gets a number", 0},
	{"env", 'e', "NAME[=VALUE]", 0,
		"Pass a variable on, or set it; repeats. Values never reach the trail", 0},
	{"keep", OPT_KEEP, NULL, 0,
		"The session goes on when CMD ends, until wardfs kill; wardfs exec runs more in it. Ctrl-] twice leaves before, wardfs attach joins",
		0},
	{"status-fd", OPT_STATUS_FD, "N", 0,
		"Write what happens to the session to descriptor N, a line of JSON each", 0},
	{"read", OPT_READ, "PATH", 0, "For this run PATH may be read; repeats", 0},
	{"write", OPT_WRITE, "PATH", 0, "For this run PATH may be written; repeats", 0},
	{"hide", OPT_HIDE, "PATTERN", 0, "For this run PATTERN is hidden; repeats", 0},
	{"net", OPT_NET, "HOST[:PORT]", 0, "For this run HOST may be reached; repeats", 0},
	{"dry-run", 'n', NULL, 0,
		"Print what would be in force and whether CMD would start; start nothing", 0},
	{"json", OPT_JSON, NULL, 0, "With --dry-run: one JSON object", 0},
	{"allow-missing", OPT_ALLOW_MISSING, "NAME", 0,
		"Run although this host cannot hold the limit NAME (limit-memory, …); repeats; in the trail",
		0},
	{0},
};

static int add(const char ***v, size_t *n, const char *s)
{
	const char **more = realloc(*v, (*n + 1) * sizeof(*more));
	if (!more)
		return ENOMEM;
	more[(*n)++] = s;
	*v = more;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	struct ward_run_options *o = &a->o;
	switch (key) {
	case 'p':
		o->policy = arg;
		return 0;
	case 'm':
		o->mode = arg;
		return 0;
	case 'u':
		o->user = arg;
		return 0;
	case 's':
		o->session = arg;
		return 0;
	case 'e':
		return add(&o->env.v, &o->env.n, arg);
	case OPT_KEEP:
		o->keep = true;
		return 0;
	case OPT_STATUS_FD: {
		char *end = NULL;
		long fd = strtol(arg, &end, 10);
		/* Nobody else gets it: the command and the helpers have descriptors of their own.
		 */
		if (*end || end == arg || fd < 3 || fd > INT_MAX ||
			fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0)
			argp_error(state, "--status-fd %s: an open descriptor from 3 on is meant",
				arg);
		o->status_fd = (int)fd;
		return 0;
	}
	case 'n':
		a->dry = true;
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case OPT_READ:
		return add(&o->read.v, &o->read.n, arg);
	case OPT_WRITE:
		return add(&o->write.v, &o->write.n, arg);
	case OPT_HIDE:
		return add(&o->hide.v, &o->hide.n, arg);
	case OPT_NET:
		return add(&o->net.v, &o->net.n, arg);
	case OPT_ALLOW_MISSING:
		return add(&o->allow_missing.v, &o->allow_missing.n, arg);
	case ARGP_KEY_ARG:
		/* The command begins; its options are its own. */
		o->argv = state->argv + state->next - 1;
		state->next = state->argc;
		if (a->json && !a->dry)
			argp_error(state, "--json goes with --dry-run");
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no command given");
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {options, parse, "[--] CMD [ARG...]",
	"Runs CMD in a guarded workspace: the project around the current directory, served at "
	"/workspace and at its own path, everything else absent or read-only, no network.\v"
	"Exit status: CMD's own; 128+N ended by signal N; 124 a clock (wall, idle, CPU time); 137 memory; 2 usage or policy; 125 "
	"the sandbox could not be set up, or a helper or the trail failed; 126 CMD cannot be executed; "
	"127 CMD was not found. With --dry-run: 0 if CMD would start, else 125.",
	NULL, NULL, NULL};

static int exit_of(int code)
{
	return code == -EINVAL || code == -ENOENT ? WARD_EXIT_USAGE : WARD_EXIT_SETUP;
}

/* Inside, git fails in such a project with a message that explains nothing. */
static void say_git_elsewhere(const struct ward_run_plan *p)
{
	ward_cleanup_free char *given = ward_project_git_elsewhere(&p->project);
	ward_cleanup_free char *path = given ? realpath(given, NULL) : NULL; /* a name only */
	for (size_t i = 0; path && i < p->n_trees; i++)
		if (p->trees[i].source && ward_path_beneath(path, p->trees[i].source))
			return;
	if (path)
		ward_sayf("git will not work inside: its directory %s lies outside of the project; "
			  "wardfs init writes a policy that serves it",
			path);
}

/* Said before the command starts, and by --dry-run. */
static void say_first(const struct ward_run_plan *p)
{
	say_git_elsewhere(p);
	if (p->settings->net == WARD_NET_HOST)
		ward_say(
			"[network] mode = host: the command has the network of this host, with its "
			"loopback and its abstract sockets; nothing of it is decided or recorded");
	if (p->backend->warning)
		ward_say(p->backend->warning);
}

/* What the name of the command adds to what was asked for, and the plan. */
struct prepared {
	struct ward_run_options o;
	struct ward_agent agent;
	char **argv; /* owned vector of borrowed strings, or NULL: that of o as it was */
	struct ward_run_plan plan;
};

static void prepared_clear(struct prepared *p)
{
	ward_agent_clear(&p->agent);
	free(p->argv);
	ward_run_plan_clear(&p->plan);
}

static int prepare(const struct ward_run_options *o, struct prepared *p, struct ward_err *err)
{
	p->o = *o;
	int r = ward_agent_find(&p->o, &p->agent, err);
	return r < 0 ? r : ward_run_plan_make(&p->o, &p->plan, err);
}

/* The program that the profile is for is the one that was looked at, not what PATH finds inside. */
static int name_program(struct prepared *p, struct ward_err *err)
{
	if (!ward_agent_say(&p->agent, &p->plan))
		return 0;
	size_t n = 0;
	while (p->o.argv[n])
		n++;
	p->argv = calloc(n + 1, sizeof(*p->argv));
	if (!p->argv)
		return ward_err_sys(err, -ENOMEM, "command");
	memcpy(p->argv, p->o.argv, n * sizeof(*p->argv));
	p->argv[0] = p->agent.program;
	p->o.argv = p->argv;
	return 0;
}

static int dry_run(const struct ward_run_options *o, bool json)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_run_options dry = *o;
	dry.dry = true;
	ward_cleanup(prepared_clear) struct prepared p = {.plan = WARD_RUN_PLAN_INIT};
	int r = ward_kernel_check(&err);
	if (r == 0)
		r = prepare(&dry, &p, &err);
	if (r == 0)
		r = name_program(&p, &err);
	if (r != 0)
		return ward_run_dry(NULL, o, json, &err);
	say_first(&p.plan);
	return ward_run_dry(&p.plan, &p.o, json, &err);
}

int ward_run_once(const struct ward_run_options *o, char *const *argv)
{
	struct ward_err err = WARD_ERR_INIT;
	if (!*o->argv[0]) {
		ward_say("the command's name is empty: not found");
		return WARD_EXIT_NOT_FOUND;
	}
	if (ward_kernel_check(&err) < 0) {
		ward_say(err.text);
		return WARD_EXIT_SETUP;
	}
	ward_sched_awake(true); /* until ward_run() has started it */
	ward_cleanup(prepared_clear) struct prepared p = {.plan = WARD_RUN_PLAN_INIT};
	ward_cleanup(ward_guard_early_clear) struct ward_guard_early early = WARD_GUARD_EARLY_INIT;
	/* As an ordinary user we may yet become another program, in a group of systemd's. */
	if (geteuid() == 0)
		ward_guard_early(&early);
	int r = prepare(o, &p, &err);
	p.o.early = &early;
	if (r == 0) {
		ward_delegate(&p.plan, o->verb, argv);
		r = name_program(&p, &err);
	}
	if (r < 0) {
		ward_say(err.text);
		return exit_of(r);
	}
	say_first(&p.plan);
	ward_cleanup(ward_run_notes_clear) struct ward_run_notes notes = {0};
	int status = ward_run(&p.plan, &p.o, &notes, &err);
	if (err.code)
		ward_say(err.text);
	/* Some causes tell their fix by themselves. */
	if (notes.unprepared && !strstr(err.text, "fix: "))
		ward_doctor_say();
	if (notes.limits)
		ward_say(notes.limits);
	/* the paths in both are escaped already: no backslash is doubled again */
	if (notes.refused)
		ward_say(notes.refused);
	if (notes.offline)
		ward_say(notes.offline);
	if (notes.executed)
		ward_say(notes.executed);
	if (notes.left)
		ward_say(notes.left);
	if (notes.anchor)
		ward_say(notes.anchor);
	return status;
}

int ward_cmd_run(int argc, char **argv)
{
	struct args a = {.o = {.say = ward_say, .verb = "run"}};
	struct ward_run_options *o = &a.o;
	int r = argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &a);
	int status = r	       ? WARD_EXIT_USAGE
		     : a.dry   ? dry_run(o, a.json)
		     : o->keep ? ward_run_keep(o, argv, ward_run_once)
			       : ward_run_once(o, argv);
	free(o->env.v);
	free(o->read.v);
	free(o->write.v);
	free(o->hide.v);
	free(o->net.v);
	free(o->allow_missing.v);
	return status;
}
