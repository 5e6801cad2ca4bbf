/* SPDX-License-Identifier: Apache-2.0 */
/* One run: prepared, started and told about; for run, for learn, and without starting (--dry-run).
 */
#include "enforcer/policy/explain.h"
#include "enforcer/cli/run/run_once.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/kernel.h"
#include "enforcer/base/sched.h"
#include "enforcer/cli/base/ask.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/doctor/doctor_list.h"
#include "enforcer/cli/place/agent_profile.h"
#include "enforcer/cli/place/moved.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/place/proposal.h"
#include "enforcer/cli/run/run_dry.h"
#include "enforcer/cli/run/run_index.h"
#include "enforcer/cli/run/run_take.h"
#include "enforcer/cli/run/run_prepare.h"
#include "enforcer/sandbox/cgroup.h"
#include "enforcer/session/guard/guard.h"
#include "enforcer/session/owner/git_outside.h"
#include "enforcer/session/limits/delegate.h"
#include "enforcer/session/plan/weigh.h"
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
	/* What is offered then serves it (place/moved.h). */
	if (p->main_checkout)
		return;
	ward_cleanup_free char *given = ward_project_git_elsewhere(&p->project);
	ward_cleanup_free char *path = given ? real_name(&p->project, given) : NULL;
	for (size_t i = 0; path && i < p->n_trees; i++)
		if (p->trees[i].source && ward_path_beneath(path, p->trees[i].source))
			return;
	if (!path)
		return;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	ward_shell_word(&word, p->project.path);
	if (ward_git_outside(p->project.fd, &text))
		ward_sayf(
			"git will not work inside, because its directory %s lies outside the project. To serve it: cd %s && wardfs init",
			path, ward_buf_str(&word));
	else
		ward_sayf(
			"git will not work inside, because its directory %s lies outside the project and does not name this project as its work tree. If you moved the work tree: git -C %s worktree repair",
			path, ward_buf_str(&word));
}

/* Lifted files that are named at the start; of more, their number. */
#define LIFTS_NAMED 2

struct lifts {
	const struct ward_policy *policy;
	struct ward_buf text;
	size_t n;
};

static void take_lift(void *user, const struct ward_rule *lift, uint32_t want)
{
	struct lifts *l = user;
	const struct ward_rule *lifts = NULL, *left = NULL;
	if (ward_policy_lift_look(l->policy, lift->pattern, want, &lifts, &left) < 0)
		return;
	if (!lifts) {
		ward_sayf(WARD_PLACE_FMT " lifts nothing of %s", WARD_PLACE(lift->file, lift->line),
			lift->pattern);
		return;
	}
	if (l->n++ < LIFTS_NAMED)
		ward_buf_printf(&l->text, "%s%s (%s)", l->n > 1 ? ", " : "", lift->pattern,
			ward_verb_name(lift->verb));
}

/* At each start: a policy of the owner's opens secrets. */
static void say_lifts(const struct ward_policy *policy)
{
	struct lifts l = {.policy = policy, .text = WARD_BUF_INIT};
	ward_policy_each_lift(policy, take_lift, &l);
	if (l.n > LIFTS_NAMED)
		ward_sayf(
			"your policy lifts the guards of %zu files: %s, …; 'wardfs policy check' lists all",
			l.n, ward_buf_str(&l.text));
	else if (l.n)
		ward_sayf("your policy lifts the guard of %s", ward_buf_str(&l.text));
	ward_buf_clear(&l.text);
}

/* To a person, once for each state directory: before its first session there is no ledger. */
static void say_kept(const struct ward_run_plan *p)
{
	ward_cleanup_free char *ledger = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	const uint64_t hours = p->settings->keep_ns / (3600 * WARD_NS_PER_SEC);
	struct stat st;
	if (!ask_possible() || p->settings->writer != WARD_WRITER_OWN ||
		asprintf(&ledger, "%s/ledger.jsonl", p->state) < 0 || stat(ledger, &st) == 0)
		return;
	ward_sayf(
		"wardfs records each session below %s, and keeps the record for %llu %s ([audit] keep). 'wardfs audit list' lists the sessions, 'wardfs audit show' prints the last one",
		ward_shell_quoted(&word, p->state),
		(unsigned long long)(hours >= 48 ? hours / 24 : hours),
		hours >= 48 ? "days" : "hours");
}

/* A time that would bound nothing of this run (wardfs-policy(5), "The time of one command"). */
static void say_command_time(const struct ward_run_plan *p)
{
	const struct ward_settings *s = p->settings;
	if (s->command_ns != WARD_UNLIMITED && !s->shells.n && s->python == WARD_PYTHON_ANY)
		ward_say(
			"[limits] command bounds only what 'wardfs exec' starts here, because no [process] shell says how the commands of this program begin. To bound the whole session: [limits] wall");
}

/* A directory of projects was hardly meant as one. Once: then its home makes it one. */
static void say_several(const struct ward_run_plan *p)
{
	const char *first = NULL;
	size_t n = 0;
	if (p->project.by != WARD_PROJECT_BY_NOTHING)
		return;
	for (size_t i = 0; i < p->known.n_marked; i++) {
		const char *rel = ward_known_beneath(p->known.marked[i], p->project.path);
		if (!rel || !*rel || strchr(rel, '/'))
			continue;
		first = first ? first : rel;
		n++;
	}
	if (n > 1)
		ward_sayf(
			"%s has %zu projects in it, such as %s, and the command reaches all of them. "
			"For one of them, change into it first",
			p->project.path, n, first);
}

/* Neither was a directory that all users share, nor one with homes in it. */
static void say_place(const struct ward_run_plan *p)
{
	const char *path = p->project.path, *what = NULL;
	struct stat st;
	if (p->project.by != WARD_PROJECT_BY_NOTHING && p->project.by != WARD_PROJECT_BY_HOME)
		return;
	if (strcmp(path, "/home") == 0)
		what = "home directories lie in it";
	else if (fstat(p->project.fd, &st) == 0 && st.st_mode & S_IWOTH)
		what = "all users of this host share it";
	if (what)
		ward_sayf(
			"the project is %s, and %s. The command reaches everything there. To give the "
			"command one directory, change into it and run 'wardfs init'",
			path, what);
}

/* Said before the command starts, and by --dry-run. */
static void say_first(const struct ward_run_plan *p, bool given)
{
	say_lifts(p->policy);
	ward_project_say(&p->project);
	say_several(p);
	say_place(p);
	/* With --policy no file of the owner's for a project counts, nor what is accepted in it. */
	if (!given) {
		ward_proposal_say(&p->id, p->project.fd, p->owner_policy);
		ward_shared_say(p->shared);
		ward_moved_say(p);
	}
	say_git_elsewhere(p);
	say_command_time(p);
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	ward_shell_word(&word, p->project.path);
	if (p->home_other)
		ward_sayf(
			"%s is not the directory for which wardfs kept this home. The session starts with an empty home in memory, and the kept home stays unchanged. To give it to this directory: wardfs home keep %s; to remove it: wardfs home clear %s",
			p->project.path, ward_buf_str(&word), ward_buf_str(&word));
	if (p->settings->net == WARD_NET_HOST)
		ward_say(
			"[network] mode = host: the command uses the network of this host, including its loopback and abstract sockets; wardfs neither checks nor records its connections");
	ward_cleanup_free char *weighed = p->weighed ? ward_weighed_line(p->weighed) : NULL;
	if (weighed)
		ward_sayf("%s", weighed);
	if (p->found.note) {
		ward_cleanup(ward_buf_clear) struct ward_buf note = WARD_BUF_INIT;
		const char *at = strstr(p->found.note, "%s");
		ward_buf_add(&note, p->found.note, (size_t)(at - p->found.note));
		ward_buf_printf(&note, "%s%s", p->found.program, at + 2);
		ward_sayf("%s", ward_buf_str(&note));
	}
	if (p->mode->warning)
		ward_say(p->mode->warning);
	if (p->found.no_wall)
		ward_sayf("mode %s: %s confines nothing by itself: what runs in it can do all that "
			  "the session may",
			p->mode->word, p->found.about);
}

/* What the name of the command adds to what was asked for, and the plan. */
struct prepared {
	struct ward_run_options o;
	struct ward_agent agent;
	char **argv; /* owned vector of borrowed strings, or NULL: that of o as it was */
	char port[WARD_AGENT_PORT_SIZE];
	const char **publish; /* the same of o.publish, with port */
	struct ward_run_plan plan;
	bool said; /* what is said before the command */
};

static void prepared_clear(struct prepared *p)
{
	ward_agent_clear(&p->agent);
	free(p->argv);
	free(p->publish);
	ward_run_plan_clear(&p->plan);
}

/* A browser of this host is to reach the agent that somebody signs in to: another plan. */
static int plan_sign_in(struct prepared *p, struct ward_err *err)
{
	struct ward_strs *o = &p->o.publish;
	struct ward_err ignored = WARD_ERR_INIT;
	if (!ward_agent_sign_in_port(&p->agent, &p->plan, &p->o, p->port))
		return 0;
	const struct ward_strs was = *o;
	p->publish = calloc(was.n + 1, sizeof(*p->publish));
	if (!p->publish)
		return ward_err_sys(err, -ENOMEM, "command");
	if (was.n)
		memcpy(p->publish, was.v, was.n * sizeof(*p->publish));
	p->publish[was.n] = p->port;
	*o = (struct ward_strs){p->publish, was.n + 1};
	p->o.sign_in_port = p->port;
	ward_run_plan_clear(&p->plan);
	p->plan = WARD_RUN_PLAN_INIT;
	if (ward_run_plan_make(&p->o, &p->plan, &ignored) == 0)
		return 0;
	/* Nobody asked for the port: where the floor refuses it, the run goes on without. */
	ward_run_plan_clear(&p->plan);
	p->plan = WARD_RUN_PLAN_INIT;
	*o = was;
	return ward_run_plan_make(&p->o, &p->plan, err);
}

static int prepare(const struct ward_run_options *o, struct prepared *p, struct ward_err *err)
{
	p->o = *o;
	int r = ward_agent_find(&p->o, &p->agent, err);
	if (r == 0)
		r = ward_run_plan_make(&p->o, &p->plan, err);
	return r == 0 ? plan_sign_in(p, err) : r;
}

/* Asks first what changes the policy in force. */
static int prepare_asking(
	const struct ward_run_options *o, struct prepared *p, struct ward_err *err)
{
	int r = prepare(o, p, err);
	if (r == 0 && !o->policy)
		r = ward_moved_ask(&p->plan, err);
	if (r <= 0)
		return r;
	prepared_clear(p);
	*p = (struct prepared){.plan = WARD_RUN_PLAN_INIT};
	return prepare(o, p, err);
}

/* Without a command, that of the image, where the image says that it starts. */
static int take_command(struct prepared *p, struct ward_err *err)
{
	struct ward_image *x = &p->plan.image;
	if (!p->o.of_image)
		return 0;
	/* It says so when it is here. */
	if (p->plan.image_fetched)
		return 0;
	if (x->fd < 0 || !x->argv || !x->argv[0])
		return ward_err_set(err, -EINVAL,
			"the image has no command of its own; give one: wardfs run --image IMAGE -- CMD");
	p->o.argv = x->argv;
	if (!x->cwd)
		return 0;
	free(p->plan.cwd);
	free(p->plan.pwd);
	p->plan.pwd = NULL;
	p->plan.cwd = strdup(x->cwd);
	return p->plan.cwd ? 0 : ward_err_sys(err, -ENOMEM, "start directory");
}

/* The program that the profile is for is the one that was looked at, not what PATH finds inside. */
static int name_program(struct prepared *p, struct ward_err *err)
{
	int r = take_command(p, err);
	if (r < 0 || !ward_agent_say(&p->agent, &p->plan))
		return r;
	/* That is the host's, and an image has its own. */
	if (p->plan.image.fd >= 0 || p->plan.image_fetched)
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

int ward_run_once_dry(const struct ward_run_options *o, bool json, bool verbose)
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
		return ward_run_dry(NULL, o, json, verbose, &err);
	say_first(&p.plan, p.o.policy);
	return ward_run_dry(&p.plan, &p.o, json, verbose, &err);
}

static void say_before(void *user)
{
	struct prepared *p = user;
	p->said = true;
	say_first(&p->plan, p->o.policy);
}

/* Or one that could become it, or is told about. */
static bool is_agent(const struct ward_agent *a)
{
	return a->profile || a->missing || a->told;
}

/* The exit status of a run that took a prepared session; -ENOENT: start one. */
static int take_prepared(struct prepared *p, char *const *argv)
{
	const struct ward_run_take t = {.plan = &p->plan,
		.options = &p->o,
		.agent = is_agent(&p->agent),
		.argv = argv,
		.before = say_before,
		.user = p};
	return p->o.prepared ? -ENOENT : ward_run_take(&t);
}

/* What there is to say behind a run, in this order. */
static void say_notes(const struct prepared *p, const struct ward_run_notes *notes, int status,
	const struct ward_err *err)
{
	if (err->code)
		ward_say(err->text);
	if (status == WARD_EXIT_NOT_FOUND && err->code)
		ward_agent_say_install(&p->agent);
	/* Some causes tell their fix by themselves. */
	if (notes->unprepared && !strstr(err->text, "fix: "))
		ward_doctor_say();
	if (notes->limits)
		ward_say(notes->limits);
	if (notes->commands)
		ward_say(notes->commands);
	/* the paths in both are escaped already: no backslash is doubled again */
	if (notes->refused)
		ward_say(notes->refused);
	if (notes->glass)
		ward_say(notes->glass);
	if (notes->asked)
		ward_say(notes->asked);
	if (notes->hidden)
		ward_say(notes->hidden);
	/* One cause is enough. */
	if (notes->unreached)
		ward_say(notes->unreached);
	if (notes->failed && !notes->hint && !notes->offline && !notes->limits && !notes->unreached)
		ward_agent_say_sign_in(&p->agent, &p->plan, &p->o);
	if (notes->offline)
		ward_say(notes->offline);
	if (notes->hint)
		ward_say(notes->hint);
	/* What agents start they reach inside. */
	if (notes->listened && !p->agent.profile)
		ward_say(notes->listened);
	if (notes->executed)
		ward_say(notes->executed);
	if (notes->silent)
		ward_say(notes->silent);
	if (notes->staged)
		ward_say(notes->staged);
	if (notes->left)
		ward_say(notes->left);
	if (notes->anchor)
		ward_say(notes->anchor);
}

/* Whoever took a prepared session waits for no more than this. */
static void tell_taker(
	void *user, int status, const struct ward_run_notes *notes, const struct ward_err *err)
{
	const struct prepared *p = user;
	say_notes(p, notes, status, err);
	ward_run_warm_ended(p->o.prepared, status);
}

int ward_run_once(const struct ward_run_options *o, char *const *argv)
{
	struct ward_err err = WARD_ERR_INIT;
	if (!*o->argv[0]) {
		ward_say("command not found: its name is empty");
		return WARD_EXIT_NOT_FOUND;
	}
	if (ward_kernel_check(&err) < 0) {
		ward_say(err.text);
		return WARD_EXIT_SETUP;
	}
	ward_sched_awake(true); /* until ward_run() has started it */
	ward_cleanup(prepared_clear) struct prepared p = {.plan = WARD_RUN_PLAN_INIT};
	ward_cleanup(ward_guard_early_clear) struct ward_guard_early early = WARD_GUARD_EARLY_INIT;
	/*
	 * As an ordinary user we may yet become another program, in a group of systemd's; and where
	 * sessions wait, prepared, this run takes one of them.
	 */
	const bool waits = ward_run_warm_waits();
	if (!waits)
		ward_cgroup_prime();
	if (geteuid() == 0 && !waits)
		ward_guard_early(&early);
	int r = prepare_asking(o, &p, &err);
	p.o.early = &early;
	int taken = r == 0 ? take_prepared(&p, argv) : -ENOENT;
	if (taken >= 0)
		return taken;
	if (r == 0) {
		ward_delegate(&p.plan, o->verb, argv);
		r = name_program(&p, &err);
	}
	if (r < 0) {
		ward_say(err.text);
		return exit_of(r);
	}
	if (o->prepared && !ward_run_prepare_wanted(&p.plan, &p.o, is_agent(&p.agent)))
		return 0;
	if (o->prepared) {
		p.o.say = ward_run_prepare_says();
		p.o.over = tell_taker;
		p.o.over_user = &p;
	}
	if (!p.said)
		say_first(&p.plan, p.o.policy);
	say_kept(&p.plan);
	ward_agent_say_first(&p.agent, &p.plan, &p.o);
	ward_cleanup(ward_run_notes_clear) struct ward_run_notes notes = {0};
	int status = ward_run(&p.plan, &p.o, &notes, &err);
	if (o->ran && notes.session)
		snprintf(o->ran, WARD_SESSION_NAME_MAX + 1, "%s", notes.session);
	if (!o->prepared)
		say_notes(&p, &notes, status, &err);
	ward_run_index(p.plan.state, notes.session);
	return status;
}
