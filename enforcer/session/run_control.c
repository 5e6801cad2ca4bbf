/* SPDX-License-Identifier: Apache-2.0 */
/* Requests at the control socket of a running session (control.h). */
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/session/control.h"
#include "enforcer/session/running.h"
#include "enforcer/session/status.h"

const struct ward_policy *ward_running_policy(const struct ward_running *r)
{
	return r->reload.current ? r->reload.current : r->plan->policy;
}

static json_t *status_json(const struct ward_running *r)
{
	char when[WARD_CLOCK_TEXT_MAX];
	ward_clock_format(r->started_ns, when);
	json_t *o = json_pack("{s:s, s:i, s:i, s:s, s:s, s:i, s:i, s:s}", "session",
		r->guard.store.name, "pid", (int)getpid(), "init_pid",
		(int)ward_sandbox_pid(r->sandbox), "mode", r->plan->backend->name, "started", when,
		"fs_pid", (int)r->guard.fs.pid, "audit_pid", (int)r->guard.audit.pid, "verb",
		"run");
	json_object_set_new(o, "argv", ward_control_argv(r->options->argv));
	json_object_set_new(o, "project", ward_control_text(r->plan->project.path));
	ward_status_add_trees(o, r->plan);
	json_object_set_new(o, "owner", json_string(r->plan->id.name));
	json_object_set_new(o, "policy", json_string(ward_policy_digest(ward_running_policy(r))));
	json_object_set_new(o, "use", ward_limits_usage(r->limits, true));
	return o;
}

static void begin_reload(struct ward_running *r, int *client, int *base)
{
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
	l->as_caller = r->options->policy != NULL;
	ward_reload_begin(l, client, base);
}

void ward_running_control(struct ward_running *r)
{
	ward_cleanup_fd int fd = -1;
	ward_cleanup_fd int passed = -1;
	if (ward_control_accept(r->control, r->plan->id.owner_uid, &fd) < 0)
		return;
	ward_cleanup_free char *buf = NULL;
	int fds[3];
	size_t n_fds = 3;
	const struct timeval tv = {.tv_sec = 1};
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	int got = ward_control_hear(fd, &buf, fds, &n_fds);
	json_t *q = got == 0 ? json_loads(buf, 0, NULL) : NULL;
	const char *verb = q ? json_string_value(json_object_get(q, "verb")) : NULL;
	json_t *a = NULL;
	if (verb && strcmp(verb, "exec") == 0) {
		ward_execs_request(&r->execs, ward_steal_fd(&fd), q, fds, n_fds);
		json_decref(q);
		return;
	}
	if (verb && strcmp(verb, "attach") == 0) {
		for (size_t i = 0; i < n_fds; i++)
			close(fds[i]);
		ward_attach_request(&r->attach, ward_steal_fd(&fd), q);
		json_decref(q);
		return;
	}
	/* The others take one at most. */
	passed = n_fds > 0 ? fds[0] : -1;
	for (size_t i = 1; i < n_fds; i++)
		close(fds[i]);
	bool kill_it = verb && strcmp(verb, "kill") == 0;
	if (verb && strcmp(verb, "status") == 0)
		a = status_json(r);
	else if (verb && strcmp(verb, "reload") == 0)
		begin_reload(r, &fd, &passed);
	else if (!verb || !ward_ask_fs_verb(&r->ask_fs, r->guard.fs.control, verb, &fd))
		a = json_pack("{s:b}", "ok", kill_it);
	ward_cleanup_free char *text = a ? json_dumps(a, JSON_COMPACT) : NULL;
	if (text && fd >= 0)
		(void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
	json_decref(a);
	json_decref(q);
	if (kill_it)
		ward_running_end(r, 128 + SIGTERM, "ended by wardfs kill");
}
