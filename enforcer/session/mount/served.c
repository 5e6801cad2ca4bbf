/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the guard of a session whose processes are not ours. */
#include "enforcer/session/mount/served.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/session/ask/asks.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/control/signals.h"
#include "enforcer/session/control/status.h"
#include "enforcer/session/guard/segment_keeper.h"
#include "enforcer/session/owner/remembered.h"
#include "enforcer/session/plan/staged.h"
#include "enforcer/session/run/run_staged.h"

void ward_served_init(struct ward_served *s, struct ward_err *err)
{
	*s = (struct ward_served){.err = err,
		.plan = WARD_RUN_PLAN_INIT,
		.ended = "unmounted",
		.guard = WARD_GUARD_INIT,
		.signals = -1,
		.wallclock = WARD_WALLCLOCK_INIT,
		.control = -1,
		.control_dir = -1,
		.reload = WARD_RELOAD_INIT,
		.started_ns = ward_clock_real_ns()};
}

static size_t trees_of(const struct ward_run_plan *p, const int *fuse,
	struct ward_guard_tree trees[WARD_TREES_MAX])
{
	for (size_t i = 0; i < p->n_trees; i++)
		trees[i] = (struct ward_guard_tree){.path = p->trees[i].path,
			.fuse = fuse ? fuse[i] : -1,
			.backing = p->trees[i].backing,
			.kind = ward_plan_stages(p, i) ? WARD_FS_TREE_STAGED
						       : WARD_FS_TREE_DIRECTORY};
	return p->n_trees;
}

int ward_served_open(struct ward_served *s, struct ward_err *err)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
	struct ward_guard_tree trees[WARD_TREES_MAX];
	const struct ward_run_plan *p = &s->plan;
	int moves = -1;
	int r = ward_signals_catch(caught, sizeof(caught) / sizeof(*caught), &s->signals, err);
	if (r == 0)
		r = ward_wallclock_open(&s->wallclock, err);
	s->guard.keep_min_s = p->keep_min_s;
	s->guard.via = p->via;
	if (r == 0)
		r = ward_guard_open(p->state, s->session, p->policy, &s->guard, err);
	if (r == 0)
		r = ward_run_stage(p, &s->guard, s->from, err);
	if (r == 0)
		r = ward_remembered_moves(&p->id, p->state, &moves, err);
	if (r == 0)
		ward_guard_share(&s->guard, moves);
	if (r == 0)
		r = ward_guard_start(&s->guard, trees, trees_of(p, NULL, trees), err);
	if (r == 0)
		r = ward_control_listen(
			p->runtime, s->guard.store.name, &s->control_dir, &s->control, err);
	return r;
}

int ward_served_go(struct ward_served *s, const int *fuse, uint32_t flags, struct ward_err *err)
{
	struct ward_guard_tree trees[WARD_TREES_MAX];
	const size_t n = trees_of(&s->plan, fuse, trees);
	int r = n ? ward_guard_serve(&s->guard, &s->plan.id, flags, trees, n, err) : 0;
	return r == 0 ? ward_guard_wait(&s->guard, err) : r;
}

int ward_served_begin(
	struct ward_served *s, const struct ward_record_start *start, struct ward_err *err)
{
	int r = ward_record_session_start(&s->guard, &s->plan, start, err);
	if (r == 0)
		r = ward_anchors_start(s->plan.settings, &s->plan.id, s->guard.store.checkpoints_fd,
			s->guard.store.ledger.notes_fd, &s->anchors, err);
	return r;
}

json_t *ward_served_status(const struct ward_served *s, const char *verb)
{
	char when[WARD_CLOCK_TEXT_MAX];
	ward_clock_format(s->started_ns, when);
	json_t *o = json_pack("{s:s, s:i, s:s, s:s, s:i, s:i}", "session", s->guard.store.name,
		"pid", (int)getpid(), "started", when, "verb", verb, "fs_pid", (int)s->guard.fs.pid,
		"audit_pid", (int)s->guard.audit.pid);
	/* As of a run: `wardfs review` looks for a session of the project. */
	if (s->guard.review >= 0)
		json_object_update_new(o, json_pack("{s:b, s:o}", "staged", 1, "project",
						  ward_control_text(s->plan.project.path)));
	const struct ward_policy *now = s->reload.current ? s->reload.current : s->plan.policy;
	ward_status_add_trees(o, &s->plan, now);
	json_object_set_new(o, "moves", json_string(s->guard.moves_file));
	ward_status_add_follows(o, &s->plan);
	json_object_set_new(o, "policy", json_string(ward_policy_digest(now)));
	return o;
}

/* --- the loop --- */

void ward_served_fail(struct ward_served *s, int r)
{
	s->failed = r;
	s->over = true;
	ward_pollset_stop(&s->set);
}

static void on_fs(void *arg, short revents)
{
	struct ward_served *s = arg;
	(void)revents;
	if (ward_ask_fs_message(&s->ask_fs, s->guard.fs.control) == 0)
		return;
	int st = ward_helper_reap(&s->guard.fs, 5000, false);
	s->over = true;
	s->cause = s->ended;
	s->guard.lost = st != 0;
	if (st != 0)
		ward_served_fail(s, ward_err_set(s->err, -EIO, "wardfs-fs died"));
}

/* A message from the writer, or its end. */
static int audit_message(struct ward_served *s, struct ward_err *err)
{
	char buf[256];
	ssize_t n = recv(s->guard.audit.control, buf, sizeof(buf), MSG_DONTWAIT);
	struct ward_msg_reader msg = {0};
	if (n > 0)
		ward_msg_reader_init(&msg, buf, (size_t)n);
	if (n == 0 || (n < 0 && errno != EAGAIN) || msg.type == WARD_MSG_SYSTEM_DIED) {
		ward_guard_writer_died(&s->guard);
		return ward_err_set(err, -EIO, "wardfs-audit died");
	}
	if (n < 0 || ward_segments_message(&s->guard, &msg))
		return 0;
	if (msg.type == WARD_MSG_AUDIT_BROKEN &&
		s->plan.settings->on_failure == WARD_ON_FAILURE_STOP)
		return ward_err_set(err, -EIO, "cannot write the trail");
	return 0;
}

static void on_audit(void *arg, short revents)
{
	struct ward_served *s = arg;
	(void)revents;
	int r = s->over ? 0 : audit_message(s, s->err);
	if (r < 0)
		ward_served_fail(s, r);
}

static void on_control(void *arg, short revents)
{
	struct ward_served *s = arg;
	(void)revents;
	s->desk.listen_fd = s->control;
	s->desk.set = &s->set;
	s->desk.rank = WARD_SERVED_CONTROL;
	s->desk.users = s->users;
	s->desk.handlers = s->handlers;
	s->desk.arg = s->arg;
	ward_control_serve(&s->desk);
}

static void on_reload(void *arg, short revents)
{
	struct ward_served *s = arg;
	(void)revents;
	if (!s->over)
		ward_reload_event(&s->reload);
}

static void on_clock(void *arg, short revents)
{
	struct ward_served *s = arg;
	(void)revents;
	int r = s->over ? 0 : ward_wallclock_event(&s->wallclock, &s->guard);
	if (r < 0)
		ward_served_fail(s, ward_err_sys(s->err, r, "the trail"));
}

static void on_signals(void *arg, short revents)
{
	struct ward_served *s = arg;
	(void)revents;
	s->over = true;
	s->cause = "ended by a signal";
}

/* A reload has a child of its own each time. */
static int before_round(void *arg)
{
	struct ward_served *s = arg;
	ward_pollset_ask(&s->set, s->reloads, ward_reload_fd(&s->reload), POLLIN);
	return ward_pollset_nearer(
		ward_ask_fs_timeout(&s->ask_fs), ward_reload_timeout(&s->reload));
}

static void tick(void *arg, short revents)
{
	struct ward_served *s = arg;
	(void)revents;
	ward_segments_tick(&s->guard);
	ward_ask_fs_tick(&s->ask_fs, s->guard.fs.control);
	ward_reload_tick(&s->reload);
}

/* Nobody is asked here: without a sandbox of ours, who asks could also answer. */
static int on_question(void *arg, struct ward_msg_reader *msg)
{
	const struct ward_served *s = arg;
	return ward_asks_refuse(s->guard.fs.control, msg);
}

int ward_served_loop(struct ward_served *s)
{
	const struct {
		enum ward_served_turn turn;
		int fd;
		ward_pollset_fn *fn;
		ward_pollset_id *id;
	} fds[] = {
		{WARD_SERVED_FS, s->plan.n_trees ? s->guard.fs.control : -1, on_fs, NULL},
		{WARD_SERVED_AUDIT, s->guard.audit.control, on_audit, NULL},
		{WARD_SERVED_CONTROL, s->control, on_control, NULL},
		{WARD_SERVED_RELOAD, -1, on_reload, &s->reloads},
		{WARD_SERVED_CLOCK, s->wallclock.fd, on_clock, NULL},
		{WARD_SERVED_SIGNALS, s->signals, on_signals, NULL},
	};
	s->ask_fs.question = on_question;
	s->ask_fs.question_arg = s;
	int r = ward_pollset_each(&s->set, WARD_SERVED_TICKS, before_round, tick, s, NULL);
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds) && r == 0; i++)
		r = ward_pollset_add(
			&s->set, fds[i].turn, fds[i].fd, POLLIN, fds[i].fn, s, fds[i].id);
	while (r == 0 && !s->over)
		r = ward_pollset_round(&s->set);
	r = r < 0 ? ward_err_sys(s->err, r, "poll") : s->failed;
	ward_ask_fs_clear(&s->ask_fs);
	ward_reload_clear(&s->reload);
	return r;
}

int ward_served_finish(struct ward_served *s, int r, json_t *details, struct ward_err *err)
{
	struct ward_err why = WARD_ERR_INIT;
	int e = 0;
	if (r < 0 && ward_guard_writer_ended(&s->guard))
		e = ward_guard_recover(&s->guard, err->text, &why);
	if (e == 0)
		e = ward_record_session_end(
			&s->guard, -1, 0, r < 0 ? err->text : s->cause, NULL, details);
	if (e == 0)
		e = ward_guard_finish(&s->guard, NULL, &why);
	/* Nothing is staged any more. */
	(void)!ward_helper_reap(&s->guard.fs, 0, true);
	s->staged = ward_run_staged(&s->plan, &s->guard);
	int anchored = ward_anchors_finish(s->anchors, e == 0 ? &why : NULL);
	e = e == 0 ? anchored : e;
	if (e < 0 && r == 0) {
		*err = why;
		r = e;
	}
	return r;
}

void ward_served_close(struct ward_served *s)
{
	ward_control_desk_clear(&s->desk);
	if (s->control >= 0)
		ward_control_remove(s->plan.runtime, s->guard.store.name, s->control_dir);
	ward_guard_close(&s->guard);
	free(s->staged);
	ward_run_plan_clear(&s->plan);
	ward_wallclock_close(&s->wallclock);
	const int fds[] = {s->signals, s->control, s->control_dir};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}
