/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/session/run.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/control.h"
#include "enforcer/session/executed.h"
#include "enforcer/session/guard.h"
#include "enforcer/session/record.h"
#include "enforcer/session/relay.h"
#include "enforcer/session/status.h"

/* After SIGTERM (wall clock, `wardfs kill`) a command has this long. */
#define GRACE_NS (2 * WARD_NS_PER_SEC)
#define DRAIN_MS 1000
/* New files named on stderr; the trail has them all. */
#define NAMED_MAX 20

struct run {
	struct ward_run_plan *plan;
	const struct ward_run_options *options;
	struct ward_guard guard;
	struct ward_sandbox *sandbox;
	struct ward_relay *relay;
	int alive[2]; /* our own lifeline: pid 1 has the other end */
	int signals;
	int clock; /* wall clock, then grace */
	int control;
	int control_dir;
	uint64_t started_ns;
	struct ward_executed_before *before;
	bool started; /* the command, perhaps */
	bool ending;  /* SIGTERM was sent; the clock now means SIGKILL */
	bool over;
	int status;	  /* exit status for our caller */
	int child_status; /* the command's, -1 if it has none */
	int child_signal;
	const char *cause; /* why it ended, if not by itself */
	char **envp;
};

static void kill_sandbox(struct run *r, int status, const char *cause, struct ward_err *err)
{
	if (r->over)
		return;
	r->over = true;
	r->status = status;
	r->cause = cause;
	ward_sandbox_kill(r->sandbox);
	if (status == WARD_EXIT_SETUP)
		ward_err_set(err, -EIO, "%s", cause);
}

static void arm(int timer, uint64_t ns)
{
	struct itimerspec its = {.it_value = {.tv_sec = (time_t)(ns / WARD_NS_PER_SEC),
					 .tv_nsec = (long)(ns % WARD_NS_PER_SEC)}};
	timerfd_settime(timer, 0, &its, NULL);
}

/* Asks the command to end; the clock ends it if it does not. */
static void terminate(struct run *r, int status, const char *cause)
{
	if (r->ending)
		return;
	r->ending = true;
	r->status = status;
	r->cause = cause;
	if (ward_sandbox_signal(r->sandbox, SIGTERM) < 0)
		arm(r->clock, 1);
	else
		arm(r->clock, GRACE_NS);
}

static int setup_signals(struct run *r, struct ward_err *err)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGCHLD, SIGCONT,
		SIGTSTP, SIGUSR1, SIGUSR2};
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(caught) / sizeof(*caught); i++)
		sigaddset(&set, caught[i]);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return ward_err_sys(err, -errno, "signals");
	r->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	r->clock = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->signals < 0 || r->clock < 0 || pipe2(r->alive, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "supervisor");
	return 0;
}

/* 127: where the command is on the host, if its PATH finds it there, is what the caller must know.
 */
static void say_where(const struct run *r, struct ward_err *err)
{
	const char *name = r->options->argv[0];
	const char *path = NULL;
	for (char **e = r->envp; *e; e++)
		if (strncmp(*e, "PATH=", 5) == 0)
			path = *e + 5;
	if (strchr(name, '/')) {
		struct stat st;
		bool there = stat(name, &st) == 0 && S_ISREG(st.st_mode);
		ward_err_set(err, -ENOENT,
			there ? "%s: not found inside, though it is on the host: it, or the "
				"interpreter that it names, is not in the view (--read shows more)"
			      : "%s: not found",
			name);
		return;
	}
	for (size_t len = 0; path && *path; path += len + (path[len] == ':')) {
		char full[4096];
		struct stat st;
		len = strcspn(path, ":");
		int n = snprintf(full, sizeof(full), "%.*s/%s", (int)len, path, name);
		if (*path != '/' || n <= 0 || (size_t)n >= sizeof(full) || stat(full, &st) < 0 ||
			!S_ISREG(st.st_mode) || !(st.st_mode & 0111))
			continue;
		ward_err_set(err, -ENOENT,
			"%s: not found inside; the host's %s is not in the view: --read %.*s shows it, "
			"for every run '[system] read' of a policy",
			name, full, (int)len, path);
		return;
	}
	ward_err_set(err, -ENOENT, "%s: not found in PATH", name);
}

static int make_sandbox(struct run *r, struct ward_err *err)
{
	const struct ward_run_plan *p = r->plan;
	const struct ward_settings *s = p->settings;
	ward_cleanup_free char *init = NULL;
	int e = ward_helper_program("wardfs-init", &init, err);
	if (e < 0)
		return e;
	struct ward_sandbox_tree trees[WARD_TREES_MAX];
	for (size_t i = 0; i < p->n_trees; i++)
		trees[i] = (struct ward_sandbox_tree){p->trees[i].path, p->trees[i].at};
	ward_cleanup_free struct ward_sandbox_bind *reads = calloc(p->n_reads + 1, sizeof(*reads));
	if (!reads)
		return ward_err_sys(err, -ENOMEM, "sandbox");
	for (size_t i = 0; i < p->n_reads; i++)
		reads[i] = (struct ward_sandbox_bind){.host = p->reads[i], .optional = true};
	int lifelines[] = {r->alive[0], r->guard.audit.lifeline, r->guard.fs.lifeline};
	struct ward_sandbox_spec spec = {.init_program = init,
		.root = p->id.root,
		.owner_uid = p->id.owner_uid,
		.owner_gid = p->id.owner_gid,
		.groups = p->id.groups,
		.n_groups = p->id.n_groups,
		.agent_uid = p->id.agent_uid,
		.agent_gid = p->id.agent_gid,
		.user_name = p->id.agent_name,
		.home = s->home == WARD_HOME_NONE ? NULL : p->id.agent_home,
		.hostname = "wardfs",
		.trees = trees,
		.n_trees = p->n_trees,
		.served = true,
		.reads = reads,
		.n_reads = p->n_reads,
		.tmp_bytes = s->tmp_bytes,
		.processes = s->processes,
		.open_files = s->open_files,
		.file_size = s->file_size,
		.core = s->core,
		.argv = r->options->argv,
		.envp = r->envp,
		.cwd = p->cwd,
		.pty = ward_relay_wants_pty(r->relay),
		.winsize = ward_relay_winsize(r->relay),
		.lifelines = lifelines,
		.n_lifelines = 3};
	ward_relay_stdio(r->relay, spec.stdio);
	return ward_sandbox_create(&spec, &r->sandbox, err);
}

static int serve(struct run *r, struct ward_err *err)
{
	const struct ward_run_plan *p = r->plan;
	struct ward_guard_tree trees[WARD_TREES_MAX];
	for (size_t i = 0; i < p->n_trees; i++)
		trees[i] = (struct ward_guard_tree){
			p->trees[i].path, ward_sandbox_fuse_fd(r->sandbox, i), p->trees[i].backing};
	uint32_t flags = p->id.root ? WARD_FS_ROOT | WARD_FS_PASSTHROUGH : WARD_FS_MASK_IDS;
	int e = ward_guard_serve(&r->guard, &p->id, flags, trees, p->n_trees, err);
	ward_sandbox_forget_fuse(r->sandbox);
	return e;
}

static int prepare(struct run *r, struct ward_err *err)
{
	struct ward_run_plan *p = r->plan;
	int e = setup_signals(r, err);
	if (e == 0)
		e = ward_relay_open(p->settings->terminal, &r->relay, err);
	if (e == 0)
		e = ward_guard_open(p->state, r->options->session, p->policy, &r->guard, err);
	if (e < 0)
		return e;
	struct ward_env_ours ours = {
		.home = p->settings->home == WARD_HOME_NONE ? NULL : p->id.agent_home,
		.user = p->id.agent_name,
		.session = r->guard.store.name,
		.pwd = p->cwd};
	e = ward_environment_build(p->settings, &r->options->env, &ours, &r->envp, err);
	if (e < 0)
		return e;
	e = ward_control_listen(p->runtime, r->guard.store.name, &r->control_dir, &r->control, err);
	if (e == 0)
		e = make_sandbox(r, err);
	return e < 0 ? e : serve(r, err);
}

/* The tree that the summary at the end is about; NULL: nothing of this host. */
static const struct ward_run_plan_tree *project_tree(const struct run *r)
{
	for (size_t i = 0; i < r->plan->n_trees; i++) {
		const struct ward_run_plan_tree *t = &r->plan->trees[i];
		if (t->source && strcmp(t->path, "/workspace") == 0)
			return t;
	}
	return NULL;
}

/* What this host may execute of the project, before the command can change it. */
static void look_before(struct run *r)
{
	const struct ward_run_plan_tree *t = project_tree(r);
	if (t && ward_executed_look(t->backing, &r->before) < 0)
		r->before = NULL;
}

/* Records what is in force, starts the command. Returns 0, or the exit status that follows. */
static int start(struct run *r, struct ward_err *err)
{
	struct ward_sandbox_facts facts;
	ward_sandbox_get_facts(r->sandbox, &facts);
	char text[512];
	/* ward_sandbox_create() has failed where one of these could not be had. */
	snprintf(text, sizeof(text),
		"{\"namespaces\":[\"user\",\"mnt\",\"pid\",\"ipc\",\"uts\",\"net\",\"cgroup\"],"
		"\"network\":\"none\",\"seccomp\":\"default\",\"no_new_privs\":true,"
		"\"capabilities\":\"none\",\"landlock_abi\":%u,\"groups_kept\":%s,"
		"\"keyring\":%s,\"userns_closed\":%s}",
		facts.landlock_abi, facts.groups_kept ? "true" : "false",
		facts.keyring ? "true" : "false", facts.userns_closed ? "true" : "false");
	struct ward_record_start s = {.verb = "run",
		.mode = "restricted",
		.argv = r->options->argv,
		.env = &r->options->env,
		.sandbox_facts = text};
	if (ward_record_session_start(&r->guard, r->plan, &s, err) < 0)
		return WARD_EXIT_SETUP;
	if (r->plan->settings->wall_ns != WARD_UNLIMITED)
		arm(r->clock, r->plan->settings->wall_ns);
	look_before(r);
	r->started = true;
	int e = ward_sandbox_start(r->sandbox, err);
	if (e == -ENOENT)
		say_where(r, err);
	if (e == -ENOENT)
		return WARD_EXIT_NOT_FOUND;
	if (e == -EACCES || e == -ENOEXEC)
		return WARD_EXIT_NOT_EXECUTABLE;
	if (e < 0)
		return WARD_EXIT_SETUP;
	e = ward_relay_start(r->relay, ward_sandbox_pty(r->sandbox), err);
	return e < 0 ? WARD_EXIT_SETUP : 0;
}

/* We stop with the command, and go on with it. */
static void stop_ourselves(struct run *r)
{
	ward_relay_suspend(r->relay);
	raise(SIGSTOP);
	ward_relay_resume(r->relay);
	(void)!ward_sandbox_signal(r->sandbox, SIGCONT);
}

static void sandbox_events(struct run *r, struct ward_err *err)
{
	struct ward_sandbox_event ev = {WARD_SANDBOX_NOTHING, 0};
	while (!r->over) {
		if (ward_sandbox_next(r->sandbox, &ev) < 0)
			ev.kind = WARD_SANDBOX_GONE;
		switch (ev.kind) {
		case WARD_SANDBOX_NOTHING:
			return;
		case WARD_SANDBOX_STOPPED:
			stop_ourselves(r);
			break;
		case WARD_SANDBOX_EXITED:
			r->over = true;
			r->child_status = ev.value;
			if (!r->ending)
				r->status = ev.value;
			break;
		case WARD_SANDBOX_SIGNALED:
			r->over = true;
			r->child_signal = ev.value;
			if (!r->ending)
				r->status = 128 + ev.value;
			break;
		case WARD_SANDBOX_LIFELINE:
			if (ev.value == 1)
				ward_guard_writer_died(&r->guard);
			kill_sandbox(r, WARD_EXIT_SETUP,
				ev.value == 1 ? "wardfs-audit died; the session was ended"
					      : "wardfs-fs died; the session was ended",
				err);
			break;
		case WARD_SANDBOX_GONE:
			kill_sandbox(r, WARD_EXIT_SETUP,
				"pid 1 of the sandbox died; the session was ended", err);
			break;
		}
	}
}

static void signals(struct run *r)
{
	struct signalfd_siginfo si;
	while (read(r->signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		int sig = (int)si.ssi_signo;
		switch (sig) {
		case SIGWINCH:
			ward_relay_resize(r->relay);
			break;
		case SIGCHLD:
		case SIGCONT:
			break;
		case SIGTSTP:
			stop_ourselves(r);
			break;
		case SIGTERM:
		case SIGHUP:
			terminate(r, 128 + sig, "the supervisor was told to end");
			break;
		default:
			(void)!ward_sandbox_signal(r->sandbox, sig);
		}
	}
}

static void clock_rang(struct run *r, struct ward_err *err)
{
	uint64_t n = 0;
	if (read(r->clock, &n, sizeof(n)) != (ssize_t)sizeof(n))
		return;
	if (r->ending) {
		kill_sandbox(r, r->status, r->cause, err);
		return;
	}
	ward_err_set(err, -ETIME, "the wall clock of %llu s ended the session",
		(unsigned long long)(r->plan->settings->wall_ns / WARD_NS_PER_SEC));
	if (ward_record_limit(&r->guard, "wall clock") < 0)
		kill_sandbox(r, WARD_EXIT_SETUP, "the trail failed", err);
	else
		terminate(r, WARD_EXIT_WALL, "wall clock");
}

/* A message from the writer, or its end. */
static void audit_message(struct run *r, struct ward_err *err)
{
	ward_cleanup_free char *buf = malloc(WARD_MSG_MAX);
	ssize_t len = buf ? ward_msg_recv(r->guard.audit.control, buf, WARD_MSG_MAX, NULL, NULL)
			  : -ENOMEM;
	if (len <= 0) {
		ward_guard_writer_died(&r->guard);
		kill_sandbox(r, WARD_EXIT_SETUP, "wardfs-audit died; the session was ended", err);
		return;
	}
	struct ward_msg_reader m;
	ward_msg_reader_init(&m, buf, (size_t)len);
	if (m.type != WARD_MSG_AUDIT_BROKEN)
		return;
	r->guard.broken = true;
	if (r->plan->settings->on_failure == WARD_ON_FAILURE_STOP)
		kill_sandbox(r, WARD_EXIT_SETUP,
			"the trail cannot be written; the session was ended", err);
}

static json_t *status_json(const struct run *r)
{
	char when[WARD_CLOCK_TEXT_MAX];
	ward_clock_format(r->started_ns, when);
	json_t *o = json_pack("{s:s, s:i, s:i, s:s, s:s, s:i, s:i, s:s}", "session",
		r->guard.store.name, "pid", (int)getpid(), "init_pid",
		(int)ward_sandbox_pid(r->sandbox), "mode", "restricted", "started", when, "fs_pid",
		(int)r->guard.fs.pid, "audit_pid", (int)r->guard.audit.pid, "verb", "run");
	json_object_set_new(o, "argv", ward_control_argv(r->options->argv));
	json_object_set_new(o, "project", ward_control_text(r->plan->project.path));
	ward_status_add_trees(o, r->plan);
	json_object_set_new(o, "owner", json_string(r->plan->id.name));
	return o;
}

static void control_request(struct run *r)
{
	ward_cleanup_fd int fd = -1;
	if (ward_control_accept(r->control, r->plan->id.owner_uid, &fd) < 0)
		return;
	struct timeval tv = {.tv_sec = 1};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	char buf[1024];
	ssize_t n = recv(fd, buf, sizeof(buf), 0);
	json_t *q = n > 0 ? json_loadb(buf, (size_t)n, 0, NULL) : NULL;
	const char *verb = q ? json_string_value(json_object_get(q, "verb")) : NULL;
	json_t *a = NULL;
	bool kill_it = verb && strcmp(verb, "kill") == 0;
	if (verb && strcmp(verb, "status") == 0)
		a = status_json(r);
	else
		a = json_pack("{s:b}", "ok", kill_it);
	ward_cleanup_free char *text = json_dumps(a, JSON_COMPACT);
	if (text)
		(void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
	json_decref(a);
	json_decref(q);
	if (kill_it)
		terminate(r, 128 + SIGTERM, "ended by wardfs kill");
}

static void supervise(struct run *r, struct ward_err *err)
{
	while (!r->over) {
		struct pollfd fds[6 + WARD_RELAY_POLL_MAX] = {
			{.fd = ward_sandbox_fd(r->sandbox), .events = POLLIN},
			{.fd = r->signals, .events = POLLIN},
			{.fd = r->clock, .events = POLLIN},
			{.fd = r->control, .events = POLLIN},
			{.fd = r->guard.audit.control, .events = POLLIN},
			{.fd = r->guard.fs.control, .events = POLLIN},
		};
		size_t relay = ward_relay_poll(r->relay, fds + 6);
		if (poll(fds, 6 + relay, -1) < 0) {
			if (errno == EINTR)
				continue;
			kill_sandbox(r, WARD_EXIT_SETUP, "the supervisor failed", err);
			return;
		}
		ward_relay_move(r->relay, fds + 6, relay);
		if (fds[0].revents)
			sandbox_events(r, err);
		if (fds[1].revents && !r->over)
			signals(r);
		if (fds[2].revents && !r->over)
			clock_rang(r, err);
		if (fds[3].revents && !r->over)
			control_request(r);
		if (fds[4].revents && !r->over)
			audit_message(r, err);
		if (fds[5].revents && !r->over)
			kill_sandbox(
				r, WARD_EXIT_SETUP, "wardfs-fs died; the session was ended", err);
	}
}

static char *refusal_note(const struct run *r, const struct ward_guard_summary *s)
{
	if (s->refusals == 0)
		return NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, "%llu refused:", (unsigned long long)s->refusals);
	for (size_t i = 0; i < s->n_first; i++)
		ward_buf_printf(&b, "%s %s %s (%s)", i ? ";" : "", s->first[i].action,
			s->first[i].path, s->first[i].rule);
	ward_buf_printf(&b, "%s more: wardfs audit denials %s",
		s->refusals > s->n_first ? "; …" : ";", r->guard.store.name);
	return ward_buf_steal(&b);
}

/* What the session leaves in the project that this host may execute. */
static void find_executed(const struct run *r, struct ward_executed *found)
{
	const struct ward_run_plan_tree *t = project_tree(r);
	if (!t || !r->started)
		return;
	if (!r->before || ward_executed_find(t->backing, r->before, found) < 0)
		*found = (struct ward_executed){.whole = false};
}

static char *executed_note(const struct run *r, const struct ward_executed *found)
{
	if (found->n == 0 && found->whole)
		return NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_puts(&b, found->n ? "new files that this host may execute:" : "");
	for (size_t i = 0; i < found->n && i < NAMED_MAX; i++) {
		ward_buf_puts(&b, i ? ", " : " ");
		ward_escape(&b, found->paths[i], strlen(found->paths[i]));
	}
	if (found->n > NAMED_MAX)
		ward_buf_printf(&b, ", and %zu more", found->n - NAMED_MAX);
	if (found->n)
		ward_buf_puts(&b, "; look at them before you use them");
	if (!found->whole)
		ward_buf_printf(&b,
			"%snot all of the project could be searched for new files that this host may "
			"execute",
			found->n ? "; " : "");
	ward_buf_printf(&b, "; the trail: wardfs audit show %s", r->guard.store.name);
	return ward_buf_steal(&b);
}

/* Everything inside is dead: end the trail. */
static void finish(struct run *r, struct ward_run_notes *ret_notes, struct ward_err *err)
{
	ward_relay_drain(r->relay, DRAIN_MS);
	ward_sandbox_kill(r->sandbox);
	struct ward_err why = WARD_ERR_INIT;
	bool died = r->guard.audit.pid > 0 && ward_helper_reap(&r->guard.audit, 0, false) >= 0;
	int e = 0;
	ward_cleanup(ward_executed_clear) struct ward_executed found = {.whole = true};
	find_executed(r, &found);
	if (died)
		e = ward_guard_recover(&r->guard, "wardfs-audit died", &why);
	if (e == 0)
		e = ward_record_session_end(
			&r->guard, r->child_status, r->child_signal, r->cause, &found);
	ward_cleanup(ward_guard_summary_clear) struct ward_guard_summary s = {0};
	if (e == 0)
		e = ward_guard_finish(&r->guard, &s, &why);
	else if (!why.code)
		ward_err_sys(&why, e, "the trail could not be finished");
	ret_notes->refused = refusal_note(r, &s);
	ret_notes->executed = executed_note(r, &found);
	if (e < 0 && r->status != WARD_EXIT_SETUP) {
		r->status = WARD_EXIT_SETUP;
		if (err)
			*err = why;
	}
}

static void close_run(struct run *r)
{
	ward_relay_close(r->relay);
	ward_sandbox_free(r->sandbox);
	if (r->control >= 0)
		ward_control_remove(r->plan->runtime, r->guard.store.name);
	ward_guard_close(&r->guard);
	const int fds[] = {
		r->alive[0], r->alive[1], r->signals, r->clock, r->control, r->control_dir};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	ward_environment_free(r->envp);
	ward_executed_before_free(r->before);
}

void ward_run_notes_clear(struct ward_run_notes *n)
{
	free(n->refused);
	free(n->executed);
	*n = (struct ward_run_notes){0};
}

int ward_run(struct ward_run_plan *p, const struct ward_run_options *o,
	struct ward_run_notes *ret_notes, struct ward_err *err)
{
	struct run r = {.plan = p,
		.options = o,
		.guard = WARD_GUARD_INIT,
		.alive = {-1, -1},
		.signals = -1,
		.clock = -1,
		.control = -1,
		.control_dir = -1,
		.child_status = -1,
		.started_ns = ward_clock_real_ns(),
		.status = WARD_EXIT_SETUP};
	*ret_notes = (struct ward_run_notes){0};
	/* No process of the owner's reads our memory, or takes our descriptors (ptrace(2)). */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	int e = prepare(&r, err);
	if (e == 0) {
		int status = start(&r, err);
		if (status == 0) {
			supervise(&r, err);
		} else {
			r.status = status;
			r.cause = "the command was not started";
		}
		finish(&r, ret_notes, err);
	} else {
		ward_record_not_started(&r.guard, err->text);
		if (e == -EINVAL)
			r.status = WARD_EXIT_USAGE; /* what was asked for cannot be */
		ret_notes->unprepared = e != -EINVAL;
	}
	close_run(&r);
	return r.status;
}
