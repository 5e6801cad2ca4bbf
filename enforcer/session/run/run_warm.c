/* SPDX-License-Identifier: Apache-2.0 */
/* A prepared session: waits, and is handed its command. */
#include "enforcer/session/run/run_warm.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/guard/segment_keeper.h"
#include "enforcer/session/records/session_records.h"
#include "enforcer/session/run/run_control.h"
#include "enforcer/session/run/run_project.h"
#include "enforcer/session/warm/listed.h"
#include "enforcer/session/warm/take.h"

/* From "ready" to "go" a client needs a moment. One that was stopped keeps it from nobody else for
 * longer. */
#define CLAIM_NS (10 * WARD_NS_PER_SEC)

/* An end comes before a take that is ready in the same round. */
enum turn { TURN_ENDS = 1, TURN_CLOCK, TURN_TAKE, TURN_CONTROL, TURN_TIME };

struct waiting {
	struct ward_running *r;
	struct ward_prepared *with;
	struct ward_pollset set;
	struct ward_control_desk desk;
	uint64_t until_ns;
	uint64_t claim_ns; /* with a claim: until when it holds */
	int claim;	   /* who may say "go"; -1: nobody */
	ward_pollset_id claimed;
	bool over, taken;
	const char *cause; /* of the end */
};

static void stop(struct waiting *w, const char *cause)
{
	w->cause = cause;
	w->over = true;
	ward_pollset_stop(&w->set);
}

/* --- what ends it --- */

static void on_end(void *arg, short revents)
{
	(void)revents;
	stop(arg, "prepared, and ended before it was taken: a process of the session is gone");
}

static void on_audit(void *arg, short revents)
{
	struct waiting *w = arg;
	struct ward_msg_reader m = {0};
	ward_cleanup_free char *buf = malloc(WARD_MSG_MAX);
	(void)revents;
	ssize_t len = buf ? ward_msg_recv(w->r->guard.audit.control, buf, WARD_MSG_MAX, NULL, NULL)
			  : -ENOMEM;
	if (len > 0)
		ward_msg_reader_init(&m, buf, (size_t)len);
	/* A log that cannot be written, among others, has nobody wait for a command. */
	if (len <= 0 || !ward_segments_message(&w->r->guard, &m))
		stop(w, "prepared, and ended before it was taken: the writer reported a failure");
}

static void on_signals(void *arg, short revents)
{
	struct waiting *w = arg;
	struct signalfd_siginfo si;
	(void)revents;
	while (read(w->r->signals, &si, sizeof(si)) == (ssize_t)sizeof(si))
		if (si.ssi_signo == SIGTERM || si.ssi_signo == SIGHUP || si.ssi_signo == SIGINT ||
			si.ssi_signo == SIGQUIT)
			stop(w, "prepared, and told to end before it was taken");
}

static void on_clock(void *arg, short revents)
{
	struct waiting *w = arg;
	(void)revents;
	if (ward_wallclock_event(&w->r->wallclock, &w->r->guard) < 0)
		stop(w, "prepared, and ended before it was taken: the trail failed");
}

static int until(void *arg)
{
	const struct waiting *w = arg;
	const uint64_t now = ward_clock_mono_ns();
	const uint64_t next = w->claim >= 0 ? w->claim_ns : w->until_ns;
	const uint64_t ms = next > now ? (next - now) / 1000000 + 1 : 0;
	return ms < 60000 ? (int)ms : 60000;
}

static void let_go(struct waiting *w)
{
	ward_pollset_remove(&w->set, w->claimed);
	if (w->claim >= 0)
		ward_fd_drop(w->claim);
	w->claim = -1;
	w->claimed = 0;
}

static void on_time(void *arg, short revents)
{
	struct waiting *w = arg;
	(void)revents;
	ward_segments_tick(&w->r->guard);
	if (w->claim >= 0 && ward_clock_mono_ns() >= w->claim_ns)
		let_go(w);
	if (ward_clock_mono_ns() >= w->until_ns && w->claim < 0)
		stop(w, "prepared, and never taken");
}

/* --- the take --- */

/* Puts the caller's in place of our 0, 1, 2, which were of nobody. */
static int take_stdio(const int *fds, struct ward_err *err)
{
	for (int i = 0; i < 3; i++)
		if (dup2(fds[i], i) < 0)
			return ward_err_sys(err, -errno, "descriptor %d", i);
	return 0;
}

static void take(struct waiting *w, const int *fds, size_t n)
{
	struct ward_err err = WARD_ERR_INIT;
	int r = n == 4 ? ward_warm_taken_decode(fds[0], &w->r->taken, &err) : -EBADMSG;
	if (r == 0)
		r = take_stdio(fds + 1, &err);
	if (r < 0) {
		stop(w, "prepared, and taken by what is no client of wardfs");
		return;
	}
	w->with->taker = w->claim;
	w->claim = -1;
	w->taken = true;
	stop(w, NULL);
}

static void on_go(void *arg, short revents)
{
	struct waiting *w = arg;
	ward_cleanup_free char *text = NULL;
	int fds[WARD_CONTROL_FDS_MAX];
	size_t n = WARD_CONTROL_FDS_MAX;
	(void)revents;
	int r = ward_control_hear(w->claim, &text, fds, &n);
	if (r == -EAGAIN || r == -EINTR)
		return;
	json_t *o = r == 0 ? json_loads(text, 0, NULL) : NULL;
	/* Whoever hangs up has taken nothing: the session waits for the next one. */
	if (r == 0 && json_is_true(json_object_get(o, "go")))
		take(w, fds, n);
	else
		let_go(w);
	json_decref(o);
	for (size_t i = 0; r == 0 && i < n; i++)
		ward_fd_drop(fds[i]);
	if (!w->taken && !w->over)
		return;
	ward_pollset_remove(&w->set, w->claimed);
	w->claimed = 0;
}

static void refuse(const struct ward_control_request *q, const char *text)
{
	ward_control_reply(
		q, json_pack("{s:b, s:i, s:s}", "ok", 0, "status", WARD_EXIT_SETUP, "error", text));
}

static void on_take(void *arg, struct ward_control_request *q)
{
	struct waiting *w = arg;
	const char *key = json_string_value(json_object_get(q->body, "key"));
	if (w->claim >= 0) {
		refuse(q, "somebody else takes this session");
	} else if (!key || strcmp(key, w->with->key.whole) != 0) {
		refuse(q, "this session was prepared for another run");
	} else if (ward_pollset_add(&w->set, TURN_TAKE, q->client, POLLIN, on_go, w, &w->claimed) ==
		   0) {
		w->claim = ward_steal_fd(&q->client);
		w->claim_ns = ward_clock_mono_ns() + CLAIM_NS;
		(void)!ward_control_send(w->claim, "{\"ready\":true}", NULL, 0);
		/* While the client goes on: the project as it is before this command. */
		ward_run_project_forget(w->r);
		ward_run_project_look(w->r);
	}
}

static void on_unfit(void *arg, struct ward_control_request *q)
{
	struct waiting *w = arg;
	(void)q;
	if (w->claim < 0)
		stop(w, "prepared, and never taken: what it was prepared for has changed");
}

static void on_kill(void *arg, struct ward_control_request *q)
{
	ward_control_reply(q, json_pack("{s:b}", "ok", 1));
	stop(arg, "prepared, and ended by wardfs kill");
}

static void on_status(void *arg, struct ward_control_request *q)
{
	const struct waiting *w = arg;
	json_t *o = ward_run_status(w->r);
	json_object_set_new(o, "prepared", json_true());
	json_object_set_new(o, "argv", json_array());
	ward_control_reply(q, o);
}

static void on_control(void *arg, short revents)
{
	struct waiting *w = arg;
	(void)revents;
	ward_control_serve(&w->desk);
}

static int watch(struct waiting *w)
{
	static const struct ward_control_handlers handlers = {
		.status = on_status, .kill = on_kill, .take = on_take, .unfit = on_unfit};
	const struct ward_running *r = w->r;
	const struct {
		enum turn turn;
		int fd;
		ward_pollset_fn *fn;
	} fds[] = {
		{TURN_ENDS, ward_sandbox_fd(r->sandbox), on_end},
		{TURN_ENDS, r->guard.fs.control, on_end},
		{TURN_ENDS, r->guard.audit.control, on_audit},
		{TURN_ENDS, r->network.helper.control, on_end},
		{TURN_ENDS, r->signals, on_signals},
		{TURN_CLOCK, r->wallclock.fd, on_clock},
		{TURN_CONTROL, r->control, on_control},
	};
	w->desk = (struct ward_control_desk){.listen_fd = r->control,
		.set = &w->set,
		.rank = TURN_CONTROL,
		.users = {.owner = r->plan->id.owner_uid,
			.chooser = r->options->policy ? geteuid() : r->plan->id.owner_uid},
		.handlers = &handlers,
		.arg = w};
	int e = ward_pollset_each(&w->set, TURN_TIME, until, on_time, w, NULL);
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds) && e == 0; i++)
		e = ward_pollset_add(&w->set, fds[i].turn, fds[i].fd, POLLIN, fds[i].fn, w, NULL);
	return e;
}

/* --- what was handed over becomes the run's --- */

static int record(struct ward_running *r)
{
	struct ucred peer = {.pid = 0, .uid = geteuid()};
	socklen_t len = sizeof(peer);
	(void)getsockopt(r->options->prepared->taker, SOL_SOCKET, SO_PEERCRED, &peer, &len);
	const struct ward_record_start s = {
		.argv = r->taken.argv.v, .env = &r->now.env, .labels = &r->now.labels};
	return ward_record_taken(&r->guard, r->plan, &s, r->taken.cwd, peer.pid, peer.uid);
}

static void say_lines(const struct ward_running *r)
{
	const struct ward_buf *said = &r->options->prepared->said;
	for (size_t at = 0; at < said->len; at += strlen(said->data + at) + 1)
		if (r->options->say_taken)
			r->options->say_taken(said->data + at);
}

static int hand_over(struct ward_running *r, struct ward_err *err)
{
	struct ward_run_plan *p = r->plan;
	struct ward_sandbox_exec e = {
		.argv = r->taken.argv.v, .envp = r->taken.envp.v, .cwd = r->taken.cwd};
	r->now = *r->options;
	r->now.argv = r->taken.argv.v;
	r->now.env = (struct ward_env_args){(const char **)r->taken.env.v, r->taken.env.n};
	r->now.labels = (struct ward_strs){(const char **)r->taken.labels.v, r->taken.labels.n};
	r->now.say = r->options->say_taken;
	r->options = &r->now;
	r->started_ns = ward_clock_real_ns();
	free(p->cwd);
	p->cwd = strdup(r->taken.cwd);
	if (!p->cwd)
		return ward_err_sys(err, -ENOMEM, "start directory");
	ward_relay_close(r->relay);
	r->relay = NULL;
	int x = ward_running_relay(r, err);
	if (x < 0)
		return x;
	if (record(r) < 0)
		return ward_err_set(err, -EIO, "cannot write the trail");
	say_lines(r);
	ward_relay_stdio(r->relay, e.stdio);
	return ward_sandbox_give(r->sandbox, &e, err);
}

/* Every setting of the plan is the same, so is its environment's; what was built is the client's.
 */
bool ward_run_warm(struct ward_running *r, struct ward_err *err)
{
	struct ward_prepared *with = r->options->prepared;
	struct waiting w = {.r = r,
		.with = with,
		.claim = -1,
		.until_ns = ward_clock_mono_ns() + r->plan->settings->warm_ns};
	struct ward_warm_key now;
	int e = ward_run_granting(r);
	if (e == 0)
		e = ward_warm_key(r->plan, r->options, with->context, &now, err);
	r->status = 0;
	/* What changed while it was brought up may be in force in one part of it alone. */
	if (e == 0 && strcmp(now.whole, with->key.whole) != 0)
		r->cause = "prepared, and never taken: the host changed meanwhile";
	else if (e == 0)
		e = ward_warm_list(r->plan->runtime, &with->key, r->guard.store.name, err);
	if (with->lock >= 0)
		close(with->lock);
	with->lock = -1;
	if (e == 0 && !r->cause)
		e = watch(&w);
	while (e == 0 && !r->cause && !w.over)
		e = ward_pollset_round(&w.set);
	ward_warm_forget(r->plan->runtime, r->guard.store.name);
	let_go(&w);
	ward_control_desk_clear(&w.desk);
	if (!r->cause)
		r->cause = w.cause;
	if (e == 0 && w.taken) {
		r->status = WARD_EXIT_SETUP;
		r->cause = NULL;
		e = hand_over(r, err);
	}
	if (e < 0) {
		r->status = WARD_EXIT_SETUP;
		r->cause = "the prepared session could not be used";
	}
	return e == 0 && w.taken;
}

/* --- while the command runs --- */

/* As the signals that reach a supervisor which was started with its command. */
static void on_taker(void *arg, short revents)
{
	struct ward_running *r = arg;
	ward_cleanup_free char *text = NULL;
	size_t none = 0;
	(void)revents;
	int e = ward_control_hear(r->now.prepared->taker, &text, NULL, &none);
	json_t *o = e == 0 ? json_loads(text, 0, NULL) : NULL;
	const json_int_t sig = json_integer_value(json_object_get(o, "signal"));
	json_decref(o);
	if (ward_warm_passes(sig))
		(void)raise((int)sig);
	if (e == 0 || e == -EAGAIN || e == -EINTR)
		return;
	ward_pollset_ask(&r->set, r->takers, -1, 0);
	ward_running_end(r, 128 + SIGHUP, "the process that took the session is gone");
}

int ward_run_warm_watch(struct ward_running *r, unsigned rank)
{
	const struct ward_prepared *with = r->options->prepared;
	return with ? ward_pollset_add(&r->set, rank, with->taker, POLLIN, on_taker, r, &r->takers)
		    : 0;
}

void ward_run_warm_clear(struct ward_running *r)
{
	ward_warm_taken_clear(&r->taken);
}
