/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a plan into the description that the sandbox is made from. */
#include "enforcer/session/run/run_sandbox.h"

#include <errno.h>
#include <stdlib.h>

#include "enforcer/ipc/system.h"
#include "enforcer/session/guard/helper.h"
#include "enforcer/session/plan/runtime.h"
#include "enforcer/session/plan/single_files.h"
#include "enforcer/session/run/facts.h"

/* More of the host that is shown. */
static int describe_reads(const struct ward_run_plan *p, const struct ward_sockets *sockets,
	struct ward_run_sandbox *ret)
{
	const size_t n_sockets = sockets ? sockets->n : 0;
	size_t n = 0;
	ret->reads = calloc(2 * p->n_reads + n_sockets + 3, sizeof(*ret->reads));
	if (!ret->reads)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_reads; i++) {
		const struct ward_shown_file *s = &p->shown[i];
		struct ward_sandbox_bind bind = {.host = s->real,
			.inside = p->reads[i],
			.optional = true,
			.plain = true,
			.dev = s->dev,
			.ino = s->ino,
			.noexec = !(s->rights & WARD_RIGHT_EXEC),
			.served = ward_single_file(p, i) ? p->reads[i] : NULL};
		if (!s->real)
			continue;
		ret->spec.single_files |= bind.served != NULL;
		ret->reads[n++] = bind;
		bind.inside = p->reads_at[i];
		if (bind.inside)
			ret->reads[n++] = bind;
	}
	if (p->found.object)
		ret->reads[n++] = (struct ward_sandbox_bind){.host = p->found.object,
			.inside = WARD_RUNTIME_OBJECT_PATH,
			.optional = true,
			.ours = true};
	if (sockets)
		ward_sockets_describe(sockets, p, ret->reads + n);
	ret->spec.reads = ret->reads;
	ret->spec.n_reads = p->mode->layers & WARD_LAYER_VIEW ? n + n_sockets : 0;
	return 0;
}

/* Which directories of the host only trees may show. */
static void describe_guarded(const struct ward_run_plan *p, struct ward_run_sandbox *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < p->spots.n; i++)
		if (p->spots.v[i].path)
			ret->guarded[n++] = (struct ward_sandbox_guarded){
				&p->spots.v[i], p->spots.dev[i], p->spots.ino[i]};
	ret->spec.guarded = ret->guarded;
	ret->spec.n_guarded = n;
	ret->spec.mounts = &p->spots.mounts;
}

/* Who the command is, and what it sees. */
static void describe_view(const struct ward_run_plan *p, struct ward_run_sandbox *ret)
{
	const struct ward_settings *s = p->settings;
	const bool view = p->mode->layers & WARD_LAYER_VIEW;
	const char *const covers[] = {
		p->state, p->runtime, p->config ? p->config : p->state, WARD_SYSTEM_STATE, NULL};
	_Static_assert(sizeof(covers) == sizeof(ret->covers), "room for all");
	for (size_t i = 0; i < sizeof(covers) / sizeof(*covers); i++)
		ret->covers[i] = covers[i];
	for (size_t i = 0; i < p->n_trees; i++)
		ret->trees[i] = (struct ward_sandbox_tree){p->trees[i].path, p->trees[i].at};
	ret->programs = (struct ward_sandbox_programs){.v = (const char *const *)p->programs.v,
		.n = p->programs.n,
		.listed = ward_programs_listed,
		.user = p->policy};
	ret->image = (struct ward_sandbox_image){
		.root = p->image.root, .fd = p->image.fd, .ours = p->image.digest != NULL};
	ret->spec = (struct ward_sandbox_spec){.init_program = ret->init,
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
		.runtime = p->mode->takes & WARD_TAKES_ENGINE ? p->found.program : NULL,
		.trees = ret->trees,
		.n_trees = p->n_trees,
		.link = p->entered,
		.link_to = p->project.path,
		.gitconfig = p->git_settings,
		.whole = s->view == WARD_VIEW_READONLY && p->image.fd < 0,
		.image = p->image.fd >= 0 ? &ret->image : NULL,
		.covers = ret->covers,
		.noexec = (const char *const *)p->noexec,
		.programs = ward_policy_has_programs(p->policy) ? &ret->programs : NULL,
		.cwd = p->cwd};
}

/* With a list of programs, what the mode's runtime loads is code as well. */
static int describe_programs(const struct ward_run_plan *p, struct ward_run_sandbox *ret)
{
	if (!p->found.object || !ret->spec.programs)
		return 0;
	ret->listed = calloc(p->programs.n + 1, sizeof(*ret->listed));
	if (!ret->listed)
		return -ENOMEM;
	for (size_t i = 0; i < p->programs.n; i++)
		ret->listed[i] = p->programs.v[i];
	ret->listed[p->programs.n] = WARD_RUNTIME_OBJECT_PATH;
	ret->programs.v = ret->listed;
	ret->programs.n++;
	return 0;
}

static void describe_limits(const struct ward_settings *s, const struct ward_limits *limits,
	struct ward_run_sandbox *ret)
{
	uint64_t data = ward_limits_process_data(limits);
	const uint64_t seconds = ward_limits_process_seconds(limits);
	struct ward_sandbox_spec *spec = &ret->spec;
	spec->tmp_bytes = s->tmp_bytes;
	spec->processes = s->processes;
	spec->open_files = s->open_files;
	spec->file_size = s->file_size;
	if (__builtin_add_overflow(data, ret->command.reserved, &data))
		data = WARD_UNLIMITED;
	spec->data_bytes = data == WARD_UNLIMITED ? 0 : data;
	spec->cpu_seconds = seconds == WARD_UNLIMITED ? 0 : seconds;
	spec->core = s->core;
	spec->seccomp = ward_fact_seccomp(s->seccomp);
	spec->join = ret->join;
	spec->n_join = ward_cgroup_join(ward_limits_cgroup(limits), ret->join);
	spec->grouped = ward_cgroup_has(ward_limits_cgroup(limits), WARD_CGROUP_PIDS);
}

int ward_run_sandbox_make(const struct ward_run_plan *p, const struct ward_run_options *o,
	char *const *envp, const struct ward_limits *limits, const struct ward_sockets *sockets,
	struct ward_run_sandbox *ret, struct ward_err *err)
{
	*ret = (struct ward_run_sandbox){.reads = NULL};
	int r = ward_helper_program("wardfs-init", &ret->init, err);
	if (r < 0)
		return r;
	describe_view(p, ret);
	describe_guarded(p, ret);
	r = ward_runtime_command(p, o->argv, envp, &ret->command, err);
	if (r < 0)
		return r;
	describe_limits(p->settings, limits, ret);
	ret->spec.argv = ret->command.argv ? ret->command.argv : o->argv;
	ret->spec.envp = ret->command.envp ? ret->command.envp : envp;
	if (describe_reads(p, sockets, ret) < 0 || describe_programs(p, ret) < 0)
		return ward_err_sys(err, -ENOMEM, "sandbox");
	return 0;
}

void ward_run_sandbox_show(struct ward_run_sandbox *s, const char *host, const char *inside)
{
	if (host && s->spec.n_reads)
		s->reads[s->spec.n_reads++] =
			(struct ward_sandbox_bind){.host = host, .inside = inside, .ours = true};
}

void ward_run_sandbox_clear(struct ward_run_sandbox *s)
{
	free(s->reads);
	free(s->listed);
	free(s->init);
	ward_mode_command_clear(&s->command);
	*s = (struct ward_run_sandbox){.reads = NULL};
}
