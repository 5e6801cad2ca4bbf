/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the sandbox of a plan and takes it away again, for `--dry-run`. */
#include "enforcer/session/run/rehearse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/modes/modes.h"
#include "enforcer/session/limits/delegate.h"
#include "enforcer/session/limits/limits.h"
#include "enforcer/session/plan/network.h"
#include "enforcer/session/run/facts.h"
#include "enforcer/session/run/run_sandbox.h"

/* Limits that a group alone holds, which a scope of systemd would bring. */
#define BY_SCOPE                                                                                   \
	(WARD_GUARANTEE_BIT(WARD_GUARANTEE_CPUS) | WARD_GUARANTEE_BIT(WARD_GUARANTEE_MEMORY) |     \
		WARD_GUARANTEE_BIT(WARD_GUARANTEE_CPU_TIME))

/* What was left out for this rehearsal, the scope will hold. */
static void by_scope(json_t *o)
{
	const json_t *limits = json_object_get(o, "limits");
	json_t *names = json_object_get(o, "guarantees");
	static const char *const keys[] = {"memory", "cpus", "cpu-time", "processes"};
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *l = json_object_get(limits, keys[i]);
		if (l)
			json_object_set_new(l, "by", json_string("cgroup v2"));
	}
	for (unsigned i = 0; i < WARD_GUARANTEES; i++) {
		const char *name = ward_guarantee_name((enum ward_guarantee)i);
		if (BY_SCOPE & WARD_GUARANTEE_BIT(i) &&
			json_object_get(limits, name + strlen("limit-")))
			json_array_append_new(names, json_string(name));
	}
}

static int open_limits(
	const struct ward_run_plan *p, json_t *o, struct ward_limits **ret, struct ward_err *err)
{
	char name[64];
	snprintf(name, sizeof(name), "dry-run-%ld", (long)getpid());
	bool scope =
		!p->id.root && ward_limits_want_delegation(p->settings) && ward_delegate_possible();
	struct ward_limits_spec spec = {.settings = p->settings,
		.policy = p->policy,
		.mode = p->mode,
		.session = name,
		.root = p->id.root,
		.allow_missing = p->allow_missing | (scope ? BY_SCOPE : 0)};
	int r = ward_limits_open(&spec, ret, err);
	if (r < 0)
		return r;
	ward_limits_describe(*ret, o);
	json_object_del(o, "cgroups"); /* of this rehearsal */
	if (scope) {
		json_object_set_new(o, "delegation",
			json_string("a scope of the user manager of systemd is asked for at the "
				    "start; its group then enforces memory, cpus and cpu-time"));
		json_object_set_new(o, "missing", json_object());
		by_scope(o);
	}
	return 0;
}

/* What ward_network_prepare() finds out without a session; sockets are made in one. */
static int prepare_network(
	const struct ward_run_plan *p, struct ward_network *ret, struct ward_err *err)
{
	struct ward_run_plan without = *p; /* borrows; nothing of it is freed */
	without.n_sockets = 0;
	int r = ward_network_prepare(&without, -1, "dry-run", ret, err);
	for (size_t i = 0; r == 0 && i < p->n_sockets; i++) {
		struct stat st;
		if (lstat(p->sockets[i], &st) == 0 && !S_ISSOCK(st.st_mode))
			r = ward_err_set(err, -EINVAL,
				"[network] socket %s is not a socket, or a symbolic link is on "
				"the way",
				p->sockets[i]);
	}
	return r;
}

/* As run.c makes it, but for what takes a session: sockets, probes, terminal, helpers. */
static int make(const struct ward_run_plan *p, const struct ward_run_options *options,
	char *const *envp, const struct ward_limits *limits, const struct ward_network *net,
	struct ward_err *err)
{
	ward_cleanup(ward_run_sandbox_clear) struct ward_run_sandbox made = {.reads = NULL};
	int alive[2];
	int r = ward_run_sandbox_make(p, options, envp, limits, NULL, &made, err);
	if (r < 0)
		return r;
	if (pipe2(alive, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "sandbox");
	for (size_t i = 0; i < 3; i++)
		made.spec.stdio[i] = -1;
	made.spec.lifelines = alive;
	made.spec.n_lifelines = 1;
	ward_network_describe(net, &made.spec);
	struct ward_confined *c = NULL;
	r = ward_mode_create(p->mode, &made.spec, &c, err);
	ward_mode_free(c);
	close(alive[0]);
	close(alive[1]);
	return r;
}

int ward_rehearse(const struct ward_run_plan *p, const struct ward_run_options *options,
	char *const *envp, json_t *o, struct ward_err *err)
{
	struct ward_limits *limits = NULL;
	struct ward_network net = WARD_NETWORK_INIT;
	int r = open_limits(p, o, &limits, err);
	if (r == 0)
		r = prepare_network(p, &net, err);
	if (r == 0)
		r = make(p, options, envp, limits, &net, err);
	if (r == 0)
		r = ward_limits_settle(limits, err);
	ward_network_close(&net);
	ward_limits_close(limits);
	return r;
}
