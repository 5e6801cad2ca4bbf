/* SPDX-License-Identifier: Apache-2.0 */
/* One run: prepared, started and told about; for run, for learn, and without starting (--dry-run).
 */
#include "enforcer/cli/run/run_once.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/kernel.h"
#include "enforcer/base/sched.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/doctor/doctor_list.h"
#include "enforcer/cli/place/agent_profile.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/run/run_dry.h"
#include "enforcer/session/guard/guard.h"
#include "enforcer/session/limits/delegate.h"
#include "enforcer/session/run/run.h"

static int exit_of(int code)
{
	return code == -EINVAL || code == -ENOENT ? WARD_EXIT_USAGE : WARD_EXIT_SETUP;
}

/*
 * The kernel's name of a path, as given where it lies on another mount: what stands in a project
 * may name a file system that never answers. NULL: nothing is there.
 */
static char *real_name(const struct ward_project *p, const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS};
	char *real = NULL;
	const char *rel = ward_path_beneath(path, p->path);
	ward_cleanup_fd int fd =
		rel ? ward_fd_openat2(p->fd, rel, &how) : ward_fd_openat2(AT_FDCWD, path, &how);
	if (fd == -EXDEV)
		return strdup(path);
	return fd >= 0 && ward_fd_path(fd, &real) == 0 ? real : NULL;
}

/* Inside, git fails in such a project with a message that explains nothing. */
static void say_git_elsewhere(const struct ward_run_plan *p)
{
	ward_cleanup_free char *given = ward_project_git_elsewhere(&p->project);
	ward_cleanup_free char *path = given ? real_name(&p->project, given) : NULL;
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
	ward_project_say(&p->project);
	say_git_elsewhere(p);
	if (p->settings->net == WARD_NET_HOST)
		ward_say(
			"[network] mode = host: the command has the network of this host, with its "
			"loopback and its abstract sockets; nothing of it is decided or recorded");
	if (p->mode->warning)
		ward_say(p->mode->warning);
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

int ward_run_once_dry(const struct ward_run_options *o, bool json)
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
