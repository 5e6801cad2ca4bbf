/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/session/rehearse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/delegate.h"
#include "enforcer/session/facts.h"
#include "enforcer/session/limits.h"
#include "enforcer/session/network.h"

/* Limits that a group alone holds, which a scope of systemd would bring. */
#define BY_SCOPE                                                                                   \
	(WARD_GUARANTEE_BIT(WARD_GUARANTEE_CPUS) | WARD_GUARANTEE_BIT(WARD_GUARANTEE_MEMORY) |     \
		WARD_GUARANTEE_BIT(WARD_GUARANTEE_CPU_TIME))

static int open_limits(
	const struct ward_run_plan *p, json_t *o, struct ward_limits **ret, struct ward_err *err)
{
	char name[64];
	snprintf(name, sizeof(name), "dry-run-%ld", (long)getpid());
	bool scope =
		!p->id.root && ward_limits_want_delegation(p->settings) && ward_delegate_possible();
	struct ward_limits_spec spec = {.settings = p->settings,
		.backend = p->backend,
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
				    "start; memory, cpus and cpu-time are then held by it"));
		json_object_set_new(o, "missing", json_object());
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
				"[network] socket %s is no socket, or leads over a symbolic link",
				p->sockets[i]);
	}
	return r;
}

/* As run.c makes it, but for what takes a session: sockets, probes, terminal, helpers. */
static int make(const struct ward_run_plan *p, const struct ward_run_options *options,
	char *const *envp, const struct ward_limits *limits, const struct ward_network *net,
	struct ward_err *err)
{
	const struct ward_settings *s = p->settings;
	ward_cleanup_free char *init = NULL;
	int alive[2];
	int r = ward_helper_program("wardfs-init", &init, err);
	if (r < 0)
		return r;
	struct ward_sandbox_tree trees[WARD_TREES_MAX];
	for (size_t i = 0; i < p->n_trees; i++)
		trees[i] = (struct ward_sandbox_tree){p->trees[i].path, p->trees[i].at};
	ward_cleanup_free struct ward_sandbox_bind *reads = calloc(p->n_reads + 1, sizeof(*reads));
	if (!reads)
		return ward_err_sys(err, -ENOMEM, "sandbox");
	for (size_t i = 0; i < p->n_reads; i++)
		reads[i] = (struct ward_sandbox_bind){.host = p->reads[i], .optional = true};
	bool view = p->backend->layers & WARD_LAYER_VIEW;
	struct ward_cgroup_way join[WARD_CGROUP_JOIN_MAX];
	struct ward_sandbox_programs programs = {.v = (const char *const *)p->programs.v,
		.n = p->programs.n,
		.listed = ward_programs_listed,
		.user = p->policy};
	const char *const covers[] = {p->state, p->runtime, p->config ? p->config : p->state, NULL};
	if (pipe2(alive, O_CLOEXEC) < 0)
		return ward_err_sys(err, -errno, "sandbox");
	struct ward_sandbox_spec spec = {.backend = p->backend,
		.init_program = init,
		.root = p->id.root,
		.owner_uid = p->id.owner_uid,
		.owner_gid = p->id.owner_gid,
		.groups = p->id.groups,
		.n_groups = p->id.n_groups,
		.agent_uid = p->id.agent_uid,
		.agent_gid = p->id.agent_gid,
		.user_name = p->id.agent_name,
		.home = s->home == WARD_HOME_NONE || !view ? NULL : p->id.agent_home,
		.hostname = "wardfs",
		.trees = trees,
		.n_trees = p->n_trees,
		.reads = reads,
		.n_reads = view ? p->n_reads : 0,
		.whole = s->view == WARD_VIEW_READONLY,
		.covers = covers,
		.programs = ward_policy_has_programs(p->policy) ? &programs : NULL,
		.tmp_bytes = s->tmp_bytes,
		.processes = s->processes,
		.open_files = s->open_files,
		.file_size = s->file_size,
		.core = s->core,
		.join = join,
		.n_join = ward_cgroup_join(ward_limits_cgroup(limits), join),
		.grouped = ward_cgroup_has(ward_limits_cgroup(limits), WARD_CGROUP_PIDS),
		.seccomp = ward_fact_seccomp(s->seccomp),
		.argv = options->argv,
		.envp = envp,
		.cwd = p->cwd,
		.stdio = {-1, -1, -1},
		.lifelines = alive,
		.n_lifelines = 1};
	ward_network_describe(net, &spec);
	struct ward_sandbox *sb = NULL;
	r = ward_sandbox_create(&spec, &sb, err);
	ward_sandbox_free(sb);
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
	ward_network_close(&net);
	ward_limits_close(limits);
	return r;
}
