/* SPDX-License-Identifier: Apache-2.0 */
/* What happens while the command runs, and in which order it is handled. */
#include "enforcer/session/run/run_loop.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/session/control/status_events.h"
#include "enforcer/session/guard/segment_keeper.h"
#include "enforcer/session/run/run_asks.h"
#include "enforcer/session/run/run_glass.h"
#include "enforcer/session/run/run_control.h"
#include "enforcer/session/run/run_panel.h"
#include "enforcer/session/run/run_warm.h"
#include "enforcer/session/terminal/detach.h"
#include "enforcer/session/terminal/suspend.h"

#define DRAIN_MS 1000
/* Of pid 1 in one round: more than its socket holds, so that an end is heard before what follows
 * from it. */
#define EVENTS_MAX 4096U

/*
 * Who comes first in a round. An end ends the round, so each end stands before those that merely
 * follow from it, and what still belongs to the session stands before the ends.
 */
enum turn {
	/* `fg` gave us the terminal: before the relay reads what is typed there. */
	TURN_FRONT = 1,
	/* What the command wrote counts as activity (TURN_LIMITS), and what was typed reaches it,
	 * before its end is heard. */
	TURN_RELAY,
	/* A client's signal goes to its command before that command's end is heard. */
	TURN_EXECS,
	TURN_ATTACH,
	/* Behind the relay, which saw its key. */
	TURN_PANEL,
	/* Behind the relay, which saw the keys for leaving; before the command's end, whose status
	 * the caller would get otherwise. */
	TURN_AWAY,
	/*
	 * The first of the ends. With the last process inside the mounts go, and wardfs-fs ends by
	 * itself: read before the command's end, that would be a wardfs-fs that died. And where a
	 * helper did die, wardfs-init says which lifeline closed first.
	 */
	TURN_SANDBOX,
	/* Who asks us to end is the cause, and no limit that is met in the same round. */
	TURN_SIGNALS,
	TURN_GRACE,
	/* Before requests at the control socket for the use, or for the end. */
	TURN_LIMITS,
	TURN_CONTROL,
	/* A writer that died takes wardfs-fs along, which waits for it: the writer is the cause. */
	TURN_AUDIT,
	TURN_FS,
	TURN_NET,
	/* Behind wardfs-fs, whose answer is the reload's next step. */
	TURN_RELOAD,
	TURN_CLOCK,
	/* Last: whose answer came in this round was not late. */
	TURN_TICKS,
};

static void go_on(struct ward_running *r)
{
	r->stopped = false;
	ward_relay_resume(r->relay);
	(void)!ward_mode_signal(r->confined, 0, SIGCONT);
}

static void look_in_front(void *arg, short revents)
{
	struct ward_running *r = arg;
	(void)revents;
	if (r->stopped && ward_relay_in_front(r->relay))
		go_on(r);
}

/*
 * We stop with the command, and go on with it; before, if anything needs us: what the command
 * started may not have stopped.
 */
static void stop_ourselves(struct ward_running *r)
{
	const int fds[] = {ward_sandbox_fd(r->sandbox), r->clock, r->control,
		r->guard.audit.control, r->guard.fs.control, ward_reload_fd(&r->reload)};
	ward_run_panel_close(r);
	ward_relay_suspend(r->relay);
	enum ward_suspend_end end = ward_suspend(
		fds, sizeof(fds) / sizeof(*fds), ward_limits_due(r->limits), &r->waker);
	if (end == WARD_SUSPEND_WANTED)
		go_on(r);
	else
		r->stopped = true;
}

/*
 * --keep: the first command is over, the session is not. Its caller gets the status.
 */
static void let_go(struct ward_running *r)
{
	if (r->over || r->let_go)
		return;
	ward_run_panel_close(r);
	r->let_go = true;
	if (r->detached)
		ward_relay_drain(r->relay, DRAIN_MS);
	else
		ward_keep_let_go(r->relay, r->guard.store.name, r->options->keep_fd, r->status);
	ward_attach_end(&r->attach, r->child_status, r->child_signal);
}

static void look_panel(void *arg, short revents)
{
	(void)revents;
	ward_run_panel_look(arg);
}

static void look_away(void *arg, short revents)
{
	struct ward_running *r = arg;
	(void)revents;
	if (!ward_relay_wants_away(r->relay) || r->let_go || r->detached)
		return;
	r->detached = true;
	ward_cleanup(ward_buf_clear) struct ward_buf undo = WARD_BUF_INIT;
	ward_screen_undo(&r->screen, &undo);
	ward_relay_put_back(r->relay, undo.data, undo.len);
	ward_keep_detach(r->relay, r->guard.store.name, r->options->keep_fd);
}

static void tell_number(
	const struct ward_running *r, const char *event, const char *name, int value)
{
	ward_stream(r->options->status_fd, json_pack("{s:s, s:i}", "event", event, name, value));
}

/* Did pid 1 die because memory ran out? Then that is what ended the run. */
static bool killed_by_kernel(struct ward_running *r)
{
	struct ward_limit_hit hit;
	if (ward_limits_finish(r->limits, &r->guard, SIGKILL, &hit) < 0 || !hit.name)
		return false;
	ward_running_over(r);
	r->hit = hit;
	r->status = WARD_EXIT_MEMORY;
	r->cause = r->hit.text;
	return true;
}

/* The command ended. */
static void on_command_end(struct ward_running *r, int status)
{
	if (!r->options->keep || r->ending)
		ward_running_over(r);
	if (!r->ending)
		r->status = status;
	let_go(r);
}

static void on_event(struct ward_running *r, struct ward_sandbox_event *ev)
{
	switch (ev->kind) {
	case WARD_SANDBOX_NOTHING:
	case WARD_SANDBOX_STOPPED:
		break;
	case WARD_SANDBOX_EXITED:
		r->child_status = ev->value;
		tell_number(r, "exited", "status", ev->value);
		on_command_end(r, ev->value);
		break;
	case WARD_SANDBOX_SIGNALED:
		r->child_signal = ev->value;
		tell_number(r, "signaled", "signal", ev->value);
		on_command_end(r, 128 + ev->value);
		break;
	case WARD_SANDBOX_LIFELINE:
		if (ev->value == 1)
			ward_guard_writer_died(&r->guard);
		r->guard.lost = true;
		ward_running_kill(r, WARD_EXIT_SETUP,
			ev->value == 1	 ? "wardfs-audit died; the session was ended"
			: ev->value == 3 ? "wardfs-net died; the session was ended"
					 : "wardfs-fs died; the session was ended");
		break;
	case WARD_SANDBOX_UNMOUNTED:
		ward_running_kill(r, WARD_EXIT_SETUP,
			"a mount of the session disappeared (its directory was removed, replaced or closed); the session was ended");
		break;
	case WARD_SANDBOX_GONE:
		if (killed_by_kernel(r))
			break;
		r->guard.lost = true;
		ward_running_kill(
			r, WARD_EXIT_SETUP, "pid 1 of the sandbox died; the session was ended");
		break;
	case WARD_SANDBOX_EXEC_STARTED:
	case WARD_SANDBOX_EXEC_FAILED:
	case WARD_SANDBOX_EXEC_EXITED:
	case WARD_SANDBOX_EXEC_SIGNALED:
		ward_execs_event(&r->execs, ev);
		break;
	}
}

/*
 * The command decides how often it stops, and each stop can take us a second: so of those that wait
 * the last one counts, and whoever wants to end the session is heard in between.
 */
static void on_sandbox(void *arg, short revents)
{
	struct ward_running *r = arg;
	struct ward_sandbox_event ev = {.kind = WARD_SANDBOX_NOTHING};
	int stopped = 0;
	(void)revents;
	for (unsigned n = 0; n < EVENTS_MAX && !r->over; n++) {
		if (ward_mode_next(r->confined, &ev) < 0)
			ev.kind = WARD_SANDBOX_GONE;
		if (ev.kind == WARD_SANDBOX_NOTHING)
			break;
		if (ev.kind == WARD_SANDBOX_STOPPED)
			stopped = ev.value;
		else if (ev.kind == WARD_SANDBOX_EXITED || ev.kind == WARD_SANDBOX_SIGNALED)
			stopped = 0;
		on_event(r, &ev);
	}
	if (!stopped || r->over)
		return;
	tell_number(r, "stopped", "signal", stopped);
	if (!r->ending)
		stop_ourselves(r);
}

/*
 * SIGINT goes to the command, which may continue. A second SIGINT asks for the end of the session.
 * Two at once do not: a program between wardfs and the terminal can pass the same one on. On the
 * session's own terminal Ctrl-C is a byte, and never arrives here as a signal.
 */
static void interrupt(struct ward_running *r)
{
	const uint64_t now = ward_clock_mono_ns(), since = now - r->interrupted_ns;
	const bool again = r->interrupted_ns && since >= WARD_RUN_INTERRUPT_MIN_NS &&
			   since <= WARD_RUN_INTERRUPT_MAX_NS;
	(void)!ward_mode_signal(r->confined, 0, SIGINT);
	if (!r->interrupted_ns || since >= WARD_RUN_INTERRUPT_MIN_NS)
		r->interrupted_ns = now;
	if (again)
		ward_running_end(r, 128 + SIGINT, "it was interrupted twice");
}

static void on_signals(void *arg, short revents)
{
	struct ward_running *r = arg;
	struct signalfd_siginfo si;
	(void)revents;
	while (read(r->signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		int sig = (int)si.ssi_signo;
		switch (sig) {
		case SIGWINCH:
			ward_relay_resize(r->relay);
			break;
		case SIGCHLD:
			break;
		case SIGCONT:
			if (r->stopped && (pid_t)si.ssi_pid != r->waker)
				go_on(r);
			break;
		case SIGTSTP:
			stop_ourselves(r);
			break;
		case SIGTERM:
		case SIGHUP:
			ward_running_end(r, 128 + sig, "the supervisor was told to end");
			break;
		case SIGINT:
			interrupt(r);
			break;
		default:
			(void)!ward_mode_signal(r->confined, 0, sig);
		}
	}
}

static void on_grace(void *arg, short revents)
{
	struct ward_running *r = arg;
	uint64_t n = 0;
	(void)revents;
	if (read(r->clock, &n, sizeof(n)) == (ssize_t)sizeof(n) && r->ending)
		ward_running_kill(r, r->status, r->cause);
}

static void check_limits(void *arg, short revents)
{
	struct ward_running *r = arg;
	struct ward_limit_hit hit;
	(void)revents;
	uint64_t activity = ward_relay_moved(r->relay) + ward_ring_written(r->guard.fs_ring);
	bool attended = ward_relay_shows(r->relay) || ward_panel_is_open(&r->panel) ||
			ward_attach_somebody(&r->attach);
	/* A person is asked, and the command waits for that. */
	ward_limits_hold_idle(r->limits, ward_asks_waiting(&r->asks));
	if (ward_limits_check(r->limits, &r->guard, activity, attended, &hit) < 0) {
		ward_running_kill(r, WARD_EXIT_SETUP, "the trail failed");
	} else if (hit.name && !r->ending) {
		r->hit = hit;
		ward_err_set(r->err, -ETIME, "%s", hit.text);
		ward_running_end(r, WARD_EXIT_WALL, r->hit.text);
	}
}

/* A message from the writer, or its end. */
static void on_audit(void *arg, short revents)
{
	struct ward_running *r = arg;
	(void)revents;
	ward_cleanup_free char *buf = malloc(WARD_MSG_MAX);
	ssize_t len = buf ? ward_msg_recv(r->guard.audit.control, buf, WARD_MSG_MAX, NULL, NULL)
			  : -ENOMEM;
	struct ward_msg_reader m = {0};
	if (len > 0)
		ward_msg_reader_init(&m, buf, (size_t)len);
	if (len <= 0 || m.type == WARD_MSG_SYSTEM_DIED) {
		ward_guard_writer_died(&r->guard);
		ward_running_kill(r, WARD_EXIT_SETUP, "wardfs-audit died; the session was ended");
		return;
	}
	if (m.type == WARD_MSG_AUDIT_BURST) {
		if (ward_limits_burst(&r->guard, &m) < 0)
			ward_running_kill(r, WARD_EXIT_SETUP, "the trail failed");
		return;
	}
	if (ward_segments_message(&r->guard, &m) || m.type != WARD_MSG_AUDIT_BROKEN)
		return;
	r->guard.broken = true;
	if (r->plan->settings->on_failure == WARD_ON_FAILURE_STOP)
		ward_running_kill(
			r, WARD_EXIT_SETUP, "cannot write the trail; wardfs ended the session");
}

static void on_fs(void *arg, short revents)
{
	struct ward_running *r = arg;
	(void)revents;
	if (ward_ask_fs_message(&r->ask_fs, r->guard.fs.control) == 0)
		return;
	r->guard.lost = true;
	ward_running_kill(r, WARD_EXIT_SETUP, "wardfs-fs died; the session was ended");
}

/* Questions, and what grants of hosts were used; whether wardfs-net lives, others say. */
static void on_net(void *arg, short revents)
{
	struct ward_running *r = arg;
	char buf[WARD_NETWORK_SAYS_MAX];
	struct ward_msg_reader m;
	(void)revents;
	ssize_t len = ward_msg_recv(r->network.helper.control, buf, sizeof(buf), NULL, NULL);
	if (len <= 0) {
		ward_pollset_ask(&r->set, r->net_says, -1, 0);
		return;
	}
	ward_msg_reader_init(&m, buf, (size_t)len);
	if (m.type == WARD_MSG_NET_ASK) {
		(void)!ward_run_asks_net(r, &m);
		return;
	}
	ward_cleanup_free char *id = m.type == WARD_MSG_NET_USED ? ward_msg_get_str(&m) : NULL;
	const uint32_t used = ward_msg_get_u32(&m);
	if (id && ward_msg_done(&m) == 0)
		ward_granting_used(r->granting, id, used);
}

static void on_control(void *arg, short revents)
{
	(void)revents;
	ward_run_control(arg, TURN_CONTROL);
}

static void on_reload(void *arg, short revents)
{
	struct ward_running *r = arg;
	(void)revents;
	ward_reload_event(&r->reload);
}

static void on_clock(void *arg, short revents)
{
	struct ward_running *r = arg;
	(void)revents;
	if (ward_wallclock_event(&r->wallclock, &r->guard) < 0)
		ward_running_kill(r, WARD_EXIT_SETUP, "the trail failed");
}

/* A reload has a child of its own each time. Its policy is also for the broker of permissions. */
static int before_round(void *arg)
{
	struct ward_running *r = arg;
	ward_permission_use(r->permission, r->reload.current ? r->reload.current : r->plan->policy);
	ward_pollset_ask(&r->set, r->reloads, ward_reload_fd(&r->reload), POLLIN);
	const int waits = ward_pollset_nearer(
		ward_ask_fs_timeout(&r->ask_fs), ward_reload_timeout(&r->reload));
	const int people = ward_pollset_nearer(ward_run_asks_timeout(r), ward_run_glass_timeout(r));
	return ward_pollset_nearer(
		people, ward_pollset_nearer(waits, ward_listened_timeout(&r->listened)));
}

static void tick(void *arg, short revents)
{
	struct ward_running *r = arg;
	(void)revents;
	ward_segments_tick(&r->guard);
	ward_ask_fs_tick(&r->ask_fs, r->guard.fs.control);
	ward_run_asks_tick(r);
	ward_run_glass_tick(r);
	ward_reload_tick(&r->reload);
	ward_listened_tick(&r->listened, &r->network);
}

static int watch_modules(struct ward_running *r)
{
	int e = ward_relay_watch(r->relay, &r->set, TURN_RELAY, r->err);
	if (e == 0)
		e = ward_execs_watch(&r->execs, &r->set, TURN_EXECS, r->err);
	if (e == 0)
		e = ward_attach_watch(&r->attach, &r->set, TURN_ATTACH, r->err);
	if (e == 0)
		e = ward_screen_watch(&r->screen, &r->set, TURN_ATTACH, r->err);
	if (e == 0)
		e = ward_commands_watch(r->commands, &r->set, TURN_EXECS, r->err);
	return e < 0 ? e : ward_limits_watch(r->limits, &r->set, TURN_LIMITS, r->err);
}

static int watch_all(struct ward_running *r)
{
	const struct {
		enum turn turn;
		int fd;
		ward_pollset_fn *fn;
		ward_pollset_id *id;
	} fds[] = {
		{TURN_SANDBOX, ward_sandbox_fd(r->sandbox), on_sandbox, NULL},
		{TURN_SIGNALS, r->signals, on_signals, NULL},
		{TURN_GRACE, r->clock, on_grace, NULL},
		{TURN_CONTROL, r->control, on_control, NULL},
		{TURN_AUDIT, r->guard.audit.control, on_audit, NULL},
		{TURN_FS, r->guard.fs.control, on_fs, NULL},
		{TURN_NET, r->network.helper.control, on_net, &r->net_says},
		{TURN_RELOAD, -1, on_reload, &r->reloads},
		{TURN_CLOCK, r->wallclock.fd, on_clock, NULL},
	};
	const struct {
		enum turn turn;
		ward_pollset_before_fn *before;
		ward_pollset_fn *fn;
	} each[] = {
		{TURN_FRONT, NULL, look_in_front},
		{TURN_PANEL, NULL, look_panel},
		{TURN_AWAY, NULL, look_away},
		/* Behind the clocks and control groups, which say what there is to check. */
		{TURN_LIMITS, NULL, check_limits},
		{TURN_TICKS, before_round, tick},
	};
	int e = ward_run_granting(r);
	if (e == 0)
		e = ward_run_warm_watch(r, TURN_SIGNALS);
	ward_run_asks_watch(r, TURN_CONTROL);
	ward_run_panel_begin(r, TURN_PANEL);
	if (e == 0)
		e = watch_modules(r);
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds) && e == 0; i++)
		e = ward_pollset_add(
			&r->set, fds[i].turn, fds[i].fd, POLLIN, fds[i].fn, r, fds[i].id);
	for (size_t i = 0; i < sizeof(each) / sizeof(*each) && e == 0; i++)
		e = ward_pollset_each(&r->set, each[i].turn, each[i].before, each[i].fn, r, NULL);
	return e;
}

void ward_run_loop(struct ward_running *r)
{
	int e = watch_all(r);
	while (e == 0 && !r->over)
		e = ward_pollset_round(&r->set);
	ward_run_panel_close(r);
	if (e < 0)
		ward_running_kill(r, WARD_EXIT_SETUP, "the supervisor failed");
}
