/* SPDX-License-Identifier: Apache-2.0 */
/* Requests at the control socket of a running session (control.h). */
#include "enforcer/session/run/run_control.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/control/control_verbs.h"
#include "enforcer/session/control/status.h"
#include "enforcer/session/run/run_asks.h"
#include "enforcer/session/run/run_glass.h"
#include "enforcer/session/run/run_steps.h"

json_t *ward_run_status(const struct ward_running *r)
{
	char when[WARD_CLOCK_TEXT_MAX];
	ward_clock_format(r->started_ns, when);
	json_t *o = json_pack("{s:s, s:i, s:i, s:s, s:s, s:i, s:i, s:s}", "session",
		r->guard.store.name, "pid", (int)getpid(), "init_pid",
		(int)ward_sandbox_pid(r->sandbox), "mode", r->plan->mode->word, "started", when,
		"fs_pid", (int)r->guard.fs.pid, "audit_pid", (int)r->guard.audit.pid, "verb",
		"run");
	json_object_set_new(o, "argv", ward_control_argv(r->options->argv));
	json_object_set_new(o, "project", ward_control_text(r->plan->project.path));
	ward_status_add_trees(o, r->plan, ward_running_policy(r));
	json_object_set_new(o, "moves", json_string(r->guard.moves_file));
	ward_status_add_follows(o, r->plan);
	if (r->network.n_published)
		json_object_set_new(o, "publish", ward_network_published(&r->network));
	json_object_set_new(o, "owner", json_string(r->plan->id.name));
	json_object_set_new(o, "policy", json_string(ward_policy_digest(ward_running_policy(r))));
	json_object_set_new(o, "use", ward_limits_usage(r->limits, true));
	json_t *not_held = json_array();
	ward_limits_not_held(r->limits, not_held);
	ward_granting_status(r->granting, o);
	json_object_set_new(o, "questions", json_integer((json_int_t)r->asks.n));
	json_object_set_new(o, "not_held", not_held);
	if (ward_ask_fs_silent(&r->ask_fs))
		json_object_set_new(o, "silent", json_string("wardfs-fs"));
	return o;
}

static void on_status(void *arg, struct ward_control_request *q)
{
	ward_control_reply(q, ward_run_status(arg));
}

static void on_kill(void *arg, struct ward_control_request *q)
{
	ward_control_reply(q, json_pack("{s:b}", "ok", 1));
	ward_running_end(arg, 128 + SIGTERM, "ended by wardfs kill");
}

static void on_exec(void *arg, struct ward_control_request *q)
{
	struct ward_running *r = arg;
	if (ward_run_steps_before_exec(r, q))
		return;
	ward_execs_request(&r->execs, ward_steal_fd(&q->client), q->body, q->fds, q->n_fds);
	q->n_fds = 0;
}

static void on_attach(void *arg, struct ward_control_request *q)
{
	struct ward_running *r = arg;
	ward_attach_request(&r->attach, ward_steal_fd(&q->client), q->body);
}

static void on_reload(void *arg, struct ward_control_request *q)
{
	struct ward_running *r = arg;
	struct ward_reload *l = &r->reload;
	for (size_t i = 0; i < r->plan->n_trees; i++)
		if (!l->trees[i] &&
			asprintf(&l->trees[i], "/proc/%d/root%s", (int)ward_sandbox_pid(r->sandbox),
				r->plan->trees[i].path) < 0)
			l->trees[i] = NULL;
	l->guard = &r->guard;
	l->net_control = r->network.helper.control;
	l->ask = &r->ask_fs;
	l->plan = r->plan;
	ward_reload_begin(l, &q->client, q->fds[0]);
}

static void on_ask_fs(void *arg, struct ward_control_request *q)
{
	struct ward_running *r = arg;
	ward_ask_fs_client(&r->ask_fs, r->guard.fs.control, q->what, &q->client);
}

static const struct ward_policy *policy_now(void *session)
{
	return ward_running_policy(session);
}

int ward_run_granting(struct ward_running *r)
{
	if (r->granting)
		return 0;
	const struct ward_granting_host host = {.guard = &r->guard,
		.ask = &r->ask_fs,
		.policy = policy_now,
		.session = r,
		.owner = &r->plan->id,
		.project = r->plan->project.path,
		.net_control = r->network.helper.control,
		.owned = !(
			r->plan->mode->guarantees & WARD_GUARANTEE_BIT(WARD_GUARANTEE_INTEGRITY))};
	int e = ward_granting_new(&host, &r->granting);
	if (e == 0)
		ward_granting_watch(r->granting, ward_run_glass_changed, r);
	return e;
}

static void on_grants(void *arg, struct ward_control_request *q)
{
	struct ward_running *r = arg;
	ward_granting_request(r->granting, q);
}

void ward_run_control(struct ward_running *r, unsigned rank)
{
	static const struct ward_control_handlers handlers = {.status = on_status,
		.kill = on_kill,
		.exec = on_exec,
		.attach = on_attach,
		.reload = on_reload,
		.questions = ward_run_asks_list,
		.answer = ward_run_asks_answer,
		.ask_fs = on_ask_fs,
		.steps = ward_run_steps_asked,
		.grants = on_grants};
	r->desk.listen_fd = r->control;
	r->desk.set = &r->set;
	r->desk.rank = rank;
	r->desk.users = (struct ward_control_users){.owner = r->plan->id.owner_uid,
		.panel = r->panel.pid,
		.chooser = r->options->policy ? geteuid() : r->plan->id.owner_uid};
	r->desk.handlers = &handlers;
	r->desk.arg = r;
	ward_control_serve(&r->desk);
}
