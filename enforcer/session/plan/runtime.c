/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the mode of a plan for its runtime and for command lines. */
#include "enforcer/session/plan/runtime.h"

#include <stdlib.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/container/container.h"
#include "enforcer/session/guard/helper.h"
#include "enforcer/session/owner/as_owner.h"

static int look(const struct ward_run_plan *p, const struct ward_mode *mode, bool escalates,
	char *const *argv, const struct ward_policy *policy, struct ward_mode_found *ret,
	struct ward_buf *b, struct ward_err *err)
{
	ward_cleanup_free char *own = NULL;
	int r = ward_helper_program("", &own, err);
	if (r < 0)
		return r;
	const struct ward_mode_host h = {.policy = policy,
		.own = own,
		.state = p->state,
		.home = p->id.home,
		.path = getenv("PATH"),
		.project = p->project.path,
		.argv = argv,
		.escalates = escalates,
		.owner = p->id.owner_uid};
	struct ward_as_owner as;
	r = ward_as_owner_begin(&p->id, &as, err);
	if (r == 0)
		r = ward_mode_look(mode, &h, ret, b, err);
	ward_as_owner_end(&as);
	return r;
}

int ward_runtime_look(struct ward_run_plan *p, const struct ward_mode *mode, char *const *argv,
	const struct ward_policy *policy, struct ward_buf *b, struct ward_err *err)
{
	int r = look(p, mode, p->picked == mode, argv, policy, &p->found, b, err);
	p->via = r == 0 && mode->takes & WARD_TAKES_ENGINE ? ward_engine_via(p->found.program)
							   : NULL;
	return r;
}

int ward_runtime_suits(const struct ward_run_plan *p, const struct ward_mode *mode,
	char *const *argv, struct ward_err *err)
{
	ward_cleanup(ward_mode_found_clear) struct ward_mode_found found = WARD_RUNTIME_FOUND_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	return look(p, mode, true, argv, p->policy, &found, &text, err);
}

const char *ward_runtime_home(const struct ward_run_plan *p)
{
	if (p->mode->layers & WARD_LAYER_VIEW)
		return p->settings->home == WARD_HOME_NONE ? NULL : p->id.agent_home;
	return p->id.agent_uid == p->id.owner_uid ? p->id.home : NULL;
}

int ward_runtime_command(const struct ward_run_plan *p, char *const *argv, char *const *envp,
	struct ward_mode_command *ret, struct ward_err *err)
{
	struct ward_sandbox_tree trees[WARD_TREES_MAX];
	for (size_t i = 0; i < p->n_trees; i++)
		trees[i] = (struct ward_sandbox_tree){p->trees[i].path, p->trees[i].at};
	const struct ward_mode_asked a = {.policy = p->policy,
		.found = &p->found,
		.trees = trees,
		.n_trees = p->n_trees,
		.home = ward_runtime_home(p),
		.argv = argv,
		.envp = envp};
	return ward_mode_command(p->mode, &a, ret, err);
}

int ward_runtime_environment(const struct ward_run_plan *p, const struct ward_run_options *o,
	const char *session, char ***ret, struct ward_buf *note, struct ward_err *err)
{
	const struct ward_env_ours ours = {.home = ward_runtime_home(p),
		.user = p->id.agent_name,
		.session = session,
		.proxied = p->settings->net == WARD_NET_ALLOWLIST ||
			   p->settings->net == WARD_NET_PROXY,
		.offline = p->settings->net == WARD_NET_NONE,
		.ca = p->image.fd < 0 ? p->ca : NULL,
		.pwd = p->pwd ? p->pwd : p->cwd,
		.of_image = p->image.fd >= 0,
		.image = p->image.env,
		.trust = ward_environment_trust(&p->id, o->policy)};
	return ward_environment_build(p->settings, &o->env, &ours, ret, note, err);
}
