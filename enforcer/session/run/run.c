/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one session, from the plan to the exit status. */
#include "enforcer/session/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/sched.h"
#include "enforcer/modes/modes.h"
#include "enforcer/session/control/beside.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/control/signals.h"
#include "enforcer/session/control/status.h"
#include "enforcer/session/control/status_events.h"
#include "enforcer/session/exec/execs.h"
#include "enforcer/session/guard/anchor.h"
#include "enforcer/session/guard/ask_fs.h"
#include "enforcer/session/guard/guard.h"
#include "enforcer/session/limits/limits.h"
#include "enforcer/session/limits/limits_helpers.h"
#include "enforcer/session/owner/remembered.h"
#include "enforcer/session/plan/network.h"
#include "enforcer/session/plan/not_executed.h"
#include "enforcer/session/plan/runtime.h"
#include "enforcer/session/plan/seed.h"
#include "enforcer/session/plan/staged.h"
#include "enforcer/session/records/session_records.h"
#include "enforcer/session/reload/reload.h"
#include "enforcer/session/run/end_lines.h"
#include "enforcer/session/run/run_glass.h"
#include "enforcer/session/run/exec_watch.h"
#include "enforcer/session/run/facts.h"
#include "enforcer/session/run/no_network.h"
#include "enforcer/session/run/probes.h"
#include "enforcer/session/run/run_loop.h"
#include "enforcer/session/run/run_asks.h"
#include "enforcer/session/run/run_project.h"
#include "enforcer/session/run/run_sandbox.h"
#include "enforcer/session/run/run_staged.h"
#include "enforcer/session/run/run_tokens.h"
#include "enforcer/session/run/run_warm.h"
#include "enforcer/session/run/running.h"
#include "enforcer/session/run/silent_mount.h"
#include "enforcer/session/terminal/relay.h"
#include "enforcer/session/tree/executed.h"

/* wardfs-fs ends with its mount; if it does not, ward_guard_finish() asks it to. */
#define FS_END_MS 5000
/* With digests to make of what is closed last, each of up to 1 GiB from a slow disk. */
#define FS_DIGESTS_MS 60000
#define DRAIN_MS 1000

static int setup_signals(struct ward_running *r, struct ward_err *err)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGCHLD, SIGCONT,
		SIGTSTP, SIGUSR1, SIGUSR2};
	int e = ward_signals_catch(caught, sizeof(caught) / sizeof(*caught), &r->signals, err);
	if (e < 0)
		return e;
	r->clock = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->clock < 0 || pipe2(r->alive, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "supervisor");
	return ward_wallclock_open(&r->wallclock, err);
}

static int make_sandbox(struct ward_running *r, struct ward_err *err)
{
	const struct ward_settings *s = r->plan->settings;
	ward_cleanup(ward_run_sandbox_clear) struct ward_run_sandbox made = {.reads = NULL};
	int lifelines[] = {r->alive[0], r->guard.audit.lifeline, r->guard.fs.lifeline,
		r->network.helper.lifeline};
	int e = ward_run_sandbox_make(
		r->plan, r->options, r->envp, r->limits, &r->network.sockets, &made, err);
	if (e < 0)
		return e;
	ward_limits_starve(r->limits, made.command.starved);
	ward_run_sandbox_show(&made, ward_permission_path(r->permission), WARD_RUNTIME_ASKS_PATH);
	made.spec.served = true;
	made.spec.session = r->guard.store.name;
	made.spec.policy_digest = ward_policy_digest(r->plan->policy);
	made.spec.keep = r->options->keep;
	made.spec.pty = ward_relay_wants_pty(r->relay);
	made.spec.winsize = ward_relay_winsize(r->relay);
	made.spec.listen_execs = s->exec;
	made.spec.lifelines = lifelines;
	made.spec.n_lifelines = ward_network_brokered(&r->network) ? 4 : 3;
	ward_network_describe(&r->network, &made.spec);
	ward_relay_stdio(r->relay, made.spec.stdio);
	ward_probes_offer(&r->probes, &made.spec);
	ward_cleanup_fd int inside = -1;
	if (ward_layers_replay(r->plan->mode->layers) && r->plan->n_trees) {
		e = ward_guard_replay_open(&r->guard, &inside, err);
		if (e < 0)
			return e;
		made.spec.replay = &inside;
	}
	/* Abstract sockets are the network namespace's, and here that is the host's. */
	if (s->net == WARD_NET_HOST)
		made.spec.probe_socket = NULL;
	e = ward_mode_build(r->plan->mode, &r->plan->found, &made.spec, err);
	if (e < 0)
		return e;
	e = ward_mode_begin(r->plan->mode, &made.spec, &r->confined, err);
	r->sandbox = ward_mode_sandbox(r->confined);
	return e;
}

/* Returns how many. */
static size_t list_trees(const struct ward_running *r, struct ward_guard_tree ret[WARD_TREES_MAX])
{
	const struct ward_run_plan *p = r->plan;
	const bool files = p->single_files >= 0;
	for (size_t i = 0; i < p->n_trees + files; i++) {
		const bool last = i == p->n_trees;
		ret[i] = (struct ward_guard_tree){.path = last ? "/" : p->trees[i].path,
			.fuse = r->sandbox ? ward_sandbox_fuse_fd(r->sandbox, i) : -1,
			.backing = last ? p->single_files : p->trees[i].backing,
			.elsewhere = last ? 0 : p->spots.elsewhere[i],
			.kind = last			 ? WARD_FS_TREE_FILES
				: ward_plan_stages(p, i) ? WARD_FS_TREE_STAGED
							 : WARD_FS_TREE_DIRECTORY};
	}
	return p->n_trees + files;
}

static int serve(struct ward_running *r, struct ward_err *err)
{
	const struct ward_run_plan *p = r->plan;
	struct ward_guard_tree trees[WARD_TREES_MAX];
	const size_t n = list_trees(r, trees);
	uint32_t flags = p->id.root ? WARD_FS_ROOT | WARD_FS_PASSTHROUGH : WARD_FS_MASK_IDS;
	int e = ward_guard_serve(&r->guard, &p->id, flags, trees, n, err);
	ward_sandbox_forget_fuse(r->sandbox);
	int freezer[WARD_FREEZER_FILES];
	if (e == 0 && r->guard.review >= 0 &&
		ward_cgroup_freezer(ward_limits_cgroup(r->limits), freezer) == 0)
		e = ward_guard_freezer(&r->guard, freezer, err);
	return e < 0 ? e : ward_guard_replay(&r->guard, err);
}

/* A missing feature of the host is the same at each start, so it is reported once. */
static void say_unheld(const struct ward_running *r)
{
	ward_cleanup_free char *text = ward_limits_unheld(r->limits);
	if (text && r->options->say &&
		(r->options->verbose || !r->guard.state ||
			ward_store_is_news(r->guard.state, "limits-said", text)))
		r->options->say(text);
}

static int open_limits(struct ward_running *r, struct ward_err *err)
{
	const struct ward_run_plan *p = r->plan;
	struct ward_limits_spec spec = {.settings = p->settings,
		.policy = p->policy,
		.mode = p->mode,
		.session = r->guard.store.name,
		.plan = p,
		.root = p->id.root,
		.allow_missing = p->allow_missing};
	int e = ward_limits_open(&spec, &r->limits, err);
	ward_cleanup_free char *text = e == 0 ? ward_limits_warning(r->limits) : NULL;
	if (text && r->options->say)
		r->options->say(text);
	if (e == 0)
		say_unheld(r);
	return e;
}

/* Those that are there already begin to enter the session's groups. */
static int count_helpers(struct ward_running *r, struct ward_err *err)
{
	const struct ward_helper *fs = &r->guard.fs, *audit = &r->guard.audit;
	const pid_t helpers[] = {fs->pid > 0 ? fs->pid : fs->waiting,
		r->guard.system	 ? 0
		: audit->pid > 0 ? audit->pid
				 : audit->waiting,
		r->network.helper.pid, r->screen.helper.pid};
	return ward_limits_helpers(r->limits, helpers, 4, err);
}

/*
 * wardfs-init, the writer, the file system and the network come up side by side, each started as
 * soon as it can do something; a thread waits for the disk from prepare() on, and we look at the
 * project meanwhile.
 * For the network, which nothing needs before the command, start() waits.
 */
static int bring_up(struct ward_running *r, struct ward_err *err)
{
	int made = open_limits(r, err);
	if (made == 0)
		made = count_helpers(r, err);
	if (made == 0)
		made = make_sandbox(r, err);
	/* Also where that cannot be: the trail reports it. */
	struct ward_guard_tree trees[WARD_TREES_MAX];
	const size_t n = list_trees(r, trees);
	int e = ward_guard_start(&r->guard, trees, made < 0 ? 0 : n, made < 0 ? NULL : err);
	if (made < 0 || e < 0)
		return made < 0 ? made : e;
	e = ward_network_spawn(&r->network, &r->guard, r->plan, err);
	if (e < 0)
		return e;
	ward_run_project_look(r);
	e = ward_mode_reach(r->confined, WARD_STAGE_STAGED, err);
	if (e == 0)
		e = serve(r, err);
	if (e == 0)
		e = ward_mode_reach(r->confined, WARD_STAGE_MAPPED, err);
	if (e == 0)
		e = ward_network_start(&r->network, r->sandbox, err);
	if (e == 0)
		e = ward_mode_reach(r->confined, WARD_STAGE_READY, err);
	if (e == 0 && ward_relay_wants_pty(r->relay))
		ward_screen_start(&r->screen);
	if (e == 0)
		e = count_helpers(r, err);
	return e < 0 ? e : ward_guard_wait(&r->guard, err);
}

/* The name that was asked for was used before. */
static void say_name(const struct ward_running *r)
{
	ward_cleanup_free char *text = NULL;
	const char *asked = r->options->session, *got = r->guard.store.name;
	if (asked && r->options->say && strcmp(asked, got) != 0 &&
		asprintf(&text, "the name %s was used before: this session is %s", asked, got) >= 0)
		r->options->say(text);
}

static int prepare(struct ward_running *r, struct ward_err *err)
{
	struct ward_run_plan *p = r->plan;
	int moves = -1;
	int e = setup_signals(r, err);
	if (e == 0)
		e = ward_running_relay(r, err);
	r->guard.keep_min_s = p->keep_min_s;
	r->guard.via = p->via;
	if (e == 0)
		e = ward_guard_open(p->state, r->options->session, p->policy, &r->guard, err);
	if (e == 0)
		e = ward_run_stage(p, &r->guard, r->options->from, err);
	if (e == 0)
		e = ward_remembered_moves(&p->id, p->state, &moves, err);
	if (e < 0)
		return e;
	ward_guard_share(&r->guard, moves);
	say_name(r);
	ward_stream(
		r->options->status_fd, json_pack("{s:s, s:s, s:i}", "event", "session", "session",
					       r->guard.store.name, "pid", (int)getpid()));
	ward_cleanup(ward_buf_clear) struct ward_buf note = WARD_BUF_INIT;
	e = ward_runtime_environment(p, r->options, r->guard.store.name, &r->envp, &note, err);
	if (e < 0)
		return e;
	if (note.len && r->options->say)
		r->options->say(ward_buf_str(&note));
	ward_cleanup(ward_buf_clear) struct ward_buf seeded = WARD_BUF_INIT;
	e = ward_seed_write(p, r->envp, &seeded, err);
	if (e < 0)
		return e;
	if (seeded.len && r->options->say)
		r->options->say(ward_buf_str(&seeded));
	if (!r->options->prepared)
		ward_beside_say(p, r->guard.moves_file, r->options->say);
	e = ward_control_listen(p->runtime, r->guard.store.name, &r->control_dir, &r->control, err);
	if (e == 0)
		e = ward_probes_open(p, r->guard.store.name, &r->probes, err);
	if (e == 0)
		e = ward_network_prepare(p, r->control_dir, r->guard.store.name, &r->network, err);
	if (e == 0)
		e = ward_permission_open(
			p, r->control_dir, r->guard.store.name, &r->guard, &r->permission, err);
	return e < 0 ? e : bring_up(r, err);
}

/* Records the programs started inside, and limits the time of an agent's commands. */
static int watch_programs(struct ward_running *r, struct ward_err *err)
{
	int e = ward_commands_new(
		r->plan, &r->guard, ward_sandbox_pid(r->sandbox), &r->commands, err);
	return e < 0 ? e
		     : ward_exec_watch_start(
			       &r->guard, r->plan, r->sandbox, r->commands, &r->exec_watch, err);
}

/* Records what is in force, and that it holds. 0, or the exit status that follows. */
static int prove(struct ward_running *r, struct ward_err *err)
{
	ward_cleanup_free char *text = ward_sandbox_facts_text(r->plan, r->sandbox, r->limits,
		ward_seccomp_name(ward_fact_seccomp(r->plan->settings->seccomp)));
	if (!text) {
		ward_err_sys(err, -ENOMEM, "trail");
		return WARD_EXIT_SETUP;
	}
	/* Whoever takes it says so: a record `take`. */
	const bool prepared = r->options->prepared;
	struct ward_record_start s = {.verb = "run",
		.mode = r->plan->mode->word,
		.argv = prepared ? NULL : r->options->argv,
		.env = prepared ? NULL : &r->options->env,
		.labels = prepared ? NULL : &r->options->labels,
		.prepared = prepared,
		.agent = r->options->stand_in,
		.listens = ward_sandbox_listens(r->sandbox),
		.sandbox_facts = text};
	if (ward_record_session_start(&r->guard, r->plan, &s, err) < 0)
		return WARD_EXIT_SETUP;
	int e = ward_probes_make(&r->guard, r->confined, err);
	if (e < 0)
		e = ward_network_explain(&r->network, e, err);
	/* The probes' counterparts on the host are no longer needed. */
	ward_probes_close(&r->probes);
	if (e == 0)
		e = ward_anchors_start(r->plan->settings, &r->plan->id,
			r->guard.store.checkpoints_fd, r->guard.store.ledger.notes_fd, &r->anchors,
			err);
	if (e == 0 && ward_sandbox_listens(r->sandbox))
		e = watch_programs(r, err);
	if (e == 0)
		e = ward_permission_start(r->permission, err);
	if (e == 0)
		e = ward_network_wait(&r->network, err);
	ward_cleanup_free char *leads = e == 0 ? ward_network_leads(&r->network, r->options) : NULL;
	if (leads && r->options->say)
		r->options->say(leads);
	if (e == 0)
		e = ward_limits_helpers_in(r->limits, err);
	if (e == 0)
		e = ward_limits_settle(r->limits, err);
	return e < 0 ? WARD_EXIT_SETUP : 0;
}

/* Starts the command. Returns 0, or the exit status that follows. */
static int start(struct ward_running *r, struct ward_err *err)
{
	if (ward_run_tokens(r, err) < 0)
		return WARD_EXIT_USAGE;
	ward_limits_start(r->limits, ward_sandbox_pid(r->sandbox));
	if (r->plan->settings->net != WARD_NET_HOST && r->plan->mode->layers & WARD_LAYER_VIEW)
		ward_listened_open(&r->listened, ward_sandbox_pid(r->sandbox),
			r->plan->settings->net == WARD_NET_NONE);
	r->started = true;
	/* Before the command: a short one is over, and pid 1 with it, before we run again. */
	if (r->plan->settings->net == WARD_NET_NONE && r->plan->mode->layers & WARD_LAYER_VIEW)
		r->offline = ward_offline_open(ward_sandbox_pid(r->sandbox));
	int e = ward_mode_start(r->confined, err);
	if (e == -ENOENT && r->plan->image.fd >= 0)
		ward_err_set(err, e, "%s: not found in the image %s", r->options->argv[0],
			r->plan->image.name);
	else if (e == -ENOENT)
		ward_say_where(r->options->argv[0], r->envp, err);
	if (e == -ENOENT)
		return WARD_EXIT_NOT_FOUND;
	if (e == -EACCES && ward_policy_has_programs(r->plan->policy))
		ward_say_unlisted(r->options->argv[0], r->plan->found.program, err);
	if (e == -EACCES || e == -ENOEXEC)
		return WARD_EXIT_NOT_EXECUTABLE;
	if (e < 0)
		return WARD_EXIT_SETUP;
	ward_stream(r->options->status_fd, json_pack("{s:s, s:i}", "event", "started", "init_pid",
						   (int)ward_sandbox_pid(r->sandbox)));
	r->execs = (struct ward_execs){.confined = r->confined,
		.guard = &r->guard,
		.plan = r->plan,
		.envp = r->envp,
		.cwd = r->plan->cwd,
		.terminal = r->plan->settings->terminal,
		.no_argv = ward_word_said(r->plan->settings->redact, WARD_REDACT_ARGV),
		.apart = ward_running_apart(r->plan),
		.owner = ward_running_uid(r->plan),
		.file_size = r->plan->settings->file_size,
		.per_command_ns = r->plan->settings->per_command_ns < r->plan->settings->command_ns
					  ? r->plan->settings->per_command_ns
					  : r->plan->settings->command_ns};
	if (r->options->keep)
		ward_relay_detachable(r->relay);
	ward_attach_start(&r->attach, r->confined, &r->guard, r->relay, &r->screen);
	e = ward_relay_start(r->relay, ward_sandbox_pty(r->sandbox), err);
	return e < 0 ? WARD_EXIT_SETUP : 0;
}

/* Before the kill: the kernel forgets with the processes, and the groups go with the session. */
static int last_figures(struct ward_running *r)
{
	struct ward_limit_hit hit;
	int e = ward_limits_finish(
		r->limits, &r->guard, r->ending || r->child_signal < 0 ? 0 : r->child_signal, &hit);
	if (e == 0 && hit.name) {
		r->hit = hit;
		r->cause = r->hit.text;
	}
	return e;
}

/* The names of the helpers that somebody had stopped. */
static json_t *continued(const struct ward_running *r)
{
	json_t *names = json_array();
	for (size_t i = 0; i < WARD_RUNNING_HELPERS; i++)
		if (r->continued[i])
			json_array_append_new(names, json_string(r->continued[i]));
	return names;
}

/* What ended the run, and what it used. */
static json_t *end_details(const struct ward_running *r)
{
	json_t *o = json_object();
	json_t *stopped = continued(r);
	if (json_array_size(stopped))
		json_object_set(o, "stopped", stopped);
	json_decref(stopped);
	const char *by = r->hit.name	       ? "limit"
			 : r->cause	       ? "wardfs"
			 : r->child_signal > 0 ? "signal"
					       : "exit";
	json_object_set_new(o, "ended_by", json_string(by));
	if (r->hit.name)
		json_object_set_new(o, "limit", json_string(r->hit.name));
	json_object_set_new(o, "use", ward_limits_usage(r->limits, false));
	if (r->fs_late)
		json_object_set_new(o, "unrecorded",
			json_string("wardfs-fs did not end in time: closes of files, and digests "
				    "made then, can be missing"));
	else if (r->net_late)
		json_object_set_new(o, "unrecorded",
			json_string("wardfs-net did not end in time: ends of connections can be "
				    "missing"));
	return o;
}

/*
 * The command may end over the death of its file system before anybody else hears of that. With the
 * last process inside the mount is gone, and wardfs-fs ends by itself: with status 0.
 */
static bool fs_died(struct ward_running *r)
{
	if (r->guard.fs.pid <= 0)
		return false;
	const bool digests = r->plan->settings->hash != WARD_HASH_NONE;
	int status = ward_helper_reap(&r->guard.fs, digests ? FS_DIGESTS_MS : FS_END_MS, false);
	/* Killed, and not ended yet: so are requests that it had in hand. */
	if (status == -ETIMEDOUT && ward_helper_dying(&r->guard.fs))
		return true;
	r->fs_late = status == -ETIMEDOUT;
	uint64_t added = 0;
	if (status == 0 && ward_ask_fs_added(r->guard.fs.control, WARD_HOME_PATH, &added) == 0)
		ward_home_ended(&r->plan->home, added);
	return status > 0;
}

/*
 * Processes inside wait for a file system of the host that took a request and does not answer, and
 * wardfs-fs does so for them: SIGKILL ends neither. They are left behind. The name of the mount.
 */
static char *look_stuck(struct ward_running *r, struct ward_err *err)
{
	if (!ward_sandbox_stuck(r->sandbox))
		return NULL;
	char *silent = ward_silent_mount(r->plan);
	r->fs_late = ward_helper_reap(&r->guard.fs, 0, true) == -ETIMEDOUT;
	r->status = WARD_EXIT_SETUP;
	r->guard.lost = true;
	r->cause = "processes of the session wait for a file system that does not answer, and were "
		   "left behind";
	if (silent)
		ward_err_set(err, -ETIMEDOUT,
			"%s: the file system mounted at %s (fix: restart its server, or end it; then the processes end)",
			r->cause, silent);
	else
		ward_err_set(err, -ETIMEDOUT, "%s", r->cause);
	return silent;
}

/* A program that was killed leaves the terminal as it had it. One that ends may mean to. */
static void put_back_terminal(struct ward_running *r)
{
	ward_cleanup(ward_buf_clear) struct ward_buf undo = WARD_BUF_INIT;
	if (!r->started || r->detached || (r->child_signal <= 0 && r->child_status >= 0) ||
		!ward_screen_is_up(&r->screen))
		return;
	ward_screen_undo(&r->screen, &undo);
	ward_relay_put_back(r->relay, undo.data, undo.len);
}

/* The command may end over the death of wardfs-net, too. */
static void end_network(struct ward_running *r, struct ward_err *err)
{
	const enum ward_network_end end = ward_network_end(&r->network);
	r->net_late = end == WARD_NETWORK_LATE;
	if (end != WARD_NETWORK_DIED || r->status == WARD_EXIT_SETUP)
		return;
	r->status = WARD_EXIT_SETUP;
	r->guard.lost = true;
	r->cause = "wardfs-net died; the session was ended";
	ward_err_set(err, -EIO, "%s", r->cause);
}

/* Why the command may have failed. */
static void note_causes(const struct ward_running *r, const struct ward_guard_summary *s,
	const char *hint, struct ward_run_notes *ret_notes)
{
	ret_notes->hidden = ward_note_hidden(s, r->guard.store.name, r->guard.system);
	/* With --policy no line of the owner's file counts. */
	if (!ret_notes->hidden && !r->options->policy)
		ret_notes->hidden = ward_note_there(s, r->plan->policy);
	ret_notes->unreached = ward_note_unreached(s);
	if (ward_offline_looked(r->offline))
		ret_notes->offline = ward_note_offline;
	ret_notes->hint = hint;
}

/* Clients that still wait for an answer get one. */
static void end_questions(struct ward_running *r)
{
	ward_ask_fs_clear(&r->ask_fs);
	ward_hook_free(r->hook);
	ward_asleep_free(r->asleep);
	r->asleep = NULL;
	ward_granting_free(r->granting);
	r->granting = NULL;
	ward_execs_close(&r->execs);
	ward_reload_clear(&r->reload);
}

/* What the command left in the trees. told: of a mount that does not answer. */
static void note_files(const struct ward_running *r, const struct ward_executed *found, bool told,
	struct ward_run_notes *ret)
{
	const char *name = r->guard.store.name;
	ward_cleanup_free char *mount = found->whole || told ? NULL : ward_silent_mount(r->plan);
	ret->executed = ward_note_executed(found, name, r->guard.system);
	if (mount)
		ret->silent = ward_note_silent(mount);
	ret->left = ward_note_left(found, name, r->guard.system);
}

/* Everything inside is dead: end the trail. */
static void finish(struct ward_running *r, struct ward_run_notes *ret_notes, struct ward_err *err)
{
	ward_sched_awake(true);
	ward_running_continue(r);
	end_questions(r);
	ward_relay_finish(r->relay, DRAIN_MS);
	const struct ward_err *lost = r->started && !r->let_go ? ward_relay_failed(r->relay) : NULL;
	if (lost && !r->ending && r->status != WARD_EXIT_SETUP) {
		r->status = WARD_EXIT_SETUP;
		r->cause = "what the command wrote or read did not arrive";
		ward_err_set(err, lost->code, "%s", lost->text);
	}
	put_back_terminal(r);
	ward_attach_end(&r->attach, r->child_status, r->child_signal);
	ward_screen_close(&r->screen);
	int limits = last_figures(r);
	ward_mode_stop(r->confined);
	const char *hint = ward_exec_watch_hint(r->exec_watch);
	if (ward_exec_watch_stop(r->exec_watch)) {
		ret_notes->commands = ward_commands_note(r->commands, r->guard.store.name);
		ward_commands_free(r->commands);
	}
	r->commands = NULL;
	ward_permission_free(r->permission);
	r->permission = NULL;
	end_network(r, err);
	ward_cleanup_free char *silent = look_stuck(r, err);
	if (r->status != WARD_EXIT_SETUP && fs_died(r)) {
		r->status = WARD_EXIT_SETUP;
		r->guard.lost = true;
		r->cause = "wardfs-fs died; the session was ended";
		ward_err_set(err, -EIO, "%s", r->cause);
	}
	struct ward_err why = WARD_ERR_INIT;
	bool died = ward_guard_writer_ended(&r->guard);
	int e = 0;
	ret_notes->staged = ward_run_staged(r->plan, &r->guard);
	ward_cleanup(ward_executed_clear) struct ward_executed found = {.whole = true};
	ward_run_project_find(r, &found);
	if (died)
		e = ward_guard_recover(&r->guard, "wardfs-audit died", &why);
	if (e == 0)
		e = limits;
	if (e == 0)
		e = ward_run_project_git(r);
	json_t *details = end_details(r);
	if (e == 0)
		e = ward_record_session_end(
			&r->guard, r->child_status, r->child_signal, r->cause, &found, details);
	json_decref(details);
	if (e == 0)
		ward_guard_last_word(&r->guard);
	/* While the writer waits for the disk. Groups may hold our helpers, too. */
	if (r->plan->id.root && !ward_limits_hold_helpers(r->limits))
		ward_limits_leave(r->limits);
	ward_cleanup(ward_guard_summary_clear) struct ward_guard_summary s = {0};
	if (e == 0)
		e = ward_guard_finish(&r->guard, &s, &why);
	else if (!why.code)
		ward_err_sys(&why, e, "could not finish the trail");
	if (!r->guard.system)
		ret_notes->session = strdup(r->guard.store.name);
	ret_notes->anchor = ward_anchors_note(r->anchors, r->guard.store.name);
	ret_notes->limits = r->hit.name && !r->ending ? strdup(r->hit.text)
			    : r->hit.name	      ? NULL
						      : ward_limits_note(r->limits);
	ret_notes->refused = ward_note_refused(&s, r->guard.store.name, r->guard.system,
		r->options->policy ? NULL : r->plan->owner_policy);
	ret_notes->glass = ward_run_glass_rest(r);
	ret_notes->asked = ward_note_asked(&r->asks, r->guard.store.name, r->guard.system);
	note_files(r, &found, silent != NULL, ret_notes);
	ret_notes->listened = ward_note_listened(r->listened.port);
	ret_notes->failed = r->child_status > 0 && !r->ending;
	if (ret_notes->failed)
		note_causes(r, &s, hint, ret_notes);
	r->refused = s.refusals;
	if (e < 0 && r->status != WARD_EXIT_SETUP) {
		r->status = WARD_EXIT_SETUP;
		if (err)
			*err = why;
	}
}

static void close_run(struct ward_running *r, const struct ward_run_notes *notes)
{
	ward_control_desk_clear(&r->desk);
	ward_probes_close(&r->probes);
	ward_asks_clear(&r->asks);
	ward_screen_close(&r->screen);
	ward_relay_close(r->relay);
	ward_mode_free(r->confined);
	ward_network_close(&r->network);
	if (r->control >= 0)
		ward_control_remove(r->plan->runtime, r->guard.store.name, r->control_dir);
	ward_guard_close(&r->guard);
	if (r->options->over)
		r->options->over(r->options->over_user, r->status, notes, r->err);
	/* Last: groups may hold our helpers beside the session. */
	ward_limits_close(r->limits);
	const int fds[] = {r->alive[0], r->alive[1], r->signals, r->clock, r->control,
		r->control_dir, r->offline};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	ward_listened_close(&r->listened);
	ward_wallclock_close(&r->wallclock);
	ward_environment_free(r->envp);
	ward_run_warm_clear(r);
	ward_run_project_forget(r);
}

static void run_command(struct ward_running *r, struct ward_err *err)
{
	int status = prove(r, err);
	if (status == 0 && r->options->prepared) {
		ward_sched_awake(false);
		if (!ward_run_warm(r, err))
			return;
	}
	if (status == 0)
		status = start(r, err);
	ward_sched_awake(false);
	if (status == 0) {
		ward_run_loop(r);
		ward_run_asks_end(r);
	} else {
		r->status = status;
		r->cause = "the command was not started";
	}
}

int ward_run(struct ward_run_plan *p, const struct ward_run_options *o,
	struct ward_run_notes *ret_notes, struct ward_err *err)
{
	struct ward_running r = {.plan = p,
		.options = o,
		.err = err,
		.guard = WARD_GUARD_INIT,
		.network = WARD_NETWORK_INIT,
		.screen = WARD_SCREEN_INIT,
		.probes = WARD_PROBES_INIT,
		.wallclock = WARD_WALLCLOCK_INIT,
		.alive = {-1, -1},
		.signals = -1,
		.clock = -1,
		.offline = -1,
		.listened = WARD_LISTENED_INIT,
		.control = -1,
		.control_dir = -1,
		.reload = WARD_RELOAD_INIT,
		.child_status = -1,
		.started_ns = ward_clock_real_ns(),
		.status = WARD_EXIT_SETUP};
	*ret_notes = (struct ward_run_notes){0};
	if (o->early)
		ward_guard_take_early(&r.guard, o->early);
	/* No process of the owner's reads our memory, or takes our descriptors (ptrace(2)). */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	int e = prepare(&r, err);
	if (e == 0) {
		run_command(&r, err);
		finish(&r, ret_notes, err);
	} else {
		ward_record_not_started(&r.guard, err->text);
		if (e == -EINVAL)
			r.status = WARD_EXIT_USAGE; /* what was asked for cannot be */
		ret_notes->unprepared = e != -EINVAL;
	}
	ward_stream(o->status_fd,
		json_pack("{s:s, s:i, s:s?, s:o?, s:I}", "event", "ended", "status", r.status,
			"cause", r.cause, "error", err->code ? ward_control_text(err->text) : NULL,
			"refused", (json_int_t)r.refused));
	close_run(&r, ret_notes);
	ward_sched_awake(false);
	return r.status;
}
