/* SPDX-License-Identifier: Apache-2.0 */
/* What a description of a sandbox must be before anything is made of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/sandbox/blueprint.h"
#include "enforcer/sandbox/internal.h"

/*
 * What confines the command opens some files after their limit is set, up to number 11: twelve with
 * Landlock and the records of programs, and some for what later kernels bring.
 */
#define OPEN_FILES_MIN 16

int ward_sandbox_spec_check(const struct ward_sandbox_spec *s, struct ward_err *err)
{
	if (s->agent_uid == 0 || s->agent_uid == (uid_t)-1)
		return ward_err_set(
			err, -EINVAL, "the command may not run as user %d", (int)s->agent_uid);
	if (!s->root && (s->agent_uid != s->owner_uid || s->agent_gid != s->owner_gid))
		return ward_err_set(
			err, -EINVAL, "without root the command can only run as the owner");
	if (s->n_trees > WARD_POLICY_TREES_MAX || s->n_lifelines > WARD_BLUEPRINT_LIFELINES_MAX ||
		s->n_groups > WARD_BLUEPRINT_GROUPS_MAX)
		return ward_err_set(err, -E2BIG, "there are too many trees, lifelines or groups");
	if (s->n_join > WARD_SANDBOX_JOIN_MAX)
		return ward_err_set(err, -E2BIG, "too many control groups");
	if (s->image && (!(s->layers & WARD_LAYER_VIEW) || s->programs || s->image->fd < 0 ||
				!ward_blueprint_path_ok(s->image->root)))
		return ward_err_set(err, -EINVAL,
			"an image needs a view of its own, a path without "
			"links, and no list of programs");
	if (s->engine && (s->layers != WARD_LAYERS_ALL || !s->engine->argv || !s->engine->argv[0] ||
				 !s->engine->files || !s->engine->cgroup ||
				 (s->engine->how & WARD_SANDBOX_ENGINE_ZERO && !s->root) ||
				 !ward_blueprint_path_ok(s->engine->program)))
		return ward_err_set(err, -EINVAL, "an engine needs all layers and its bundle");
	if (s->replay && !ward_layers_replay(s->layers))
		return ward_err_set(
			err, -EINVAL, "changes of the host cannot be replayed in this session");
	if (s->layers == 0 || s->layers & ~WARD_LAYERS_ALL)
		return ward_err_set(err, -EINVAL, "the description names no layers of the sandbox");
	if (s->open_files < OPEN_FILES_MIN)
		return ward_err_set(err, -EINVAL,
			"[limits] open-files = %llu is too small: the sandbox itself needs %d",
			(unsigned long long)s->open_files, OPEN_FILES_MIN);
	if (!s->argv || !s->argv[0] || !s->argv[0][0])
		return ward_err_set(err, -EINVAL, "no command");
	if (!s->init_program || s->init_program[0] != '/' || !s->hostname || !s->cwd)
		return ward_err_set(err, -EINVAL, "the description of the sandbox is incomplete");
	/* It becomes a line of /etc/passwd. */
	if (!s->user_name || !s->user_name[0] || strpbrk(s->user_name, ":\n/"))
		return ward_err_set(err, -EINVAL, "bad user name");
	if (s->home && strpbrk(s->home, ":\n"))
		return ward_err_set(err, -EINVAL, "bad home directory");
	if (strcmp(s->cwd, "/") != 0 && !ward_blueprint_path_ok(s->cwd))
		return ward_err_set(err, -EINVAL,
			"start directory %s: write an absolute path without '.', '..' and '//'",
			s->cwd);
	return 0;
}

int ward_sandbox_groups(const struct ward_sandbox_spec *s, gid_t **ret, size_t *ret_n)
{
	size_t kept = 0;
	gid_t *groups = calloc(s->n_groups + 1, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	for (size_t i = 0; s->root && s->owner_uid == s->agent_uid && i < s->n_groups; i++) {
		bool known = s->groups[i] == 0 || s->groups[i] == s->agent_gid;
		for (size_t j = 0; j < kept && !known; j++)
			known = groups[j] == s->groups[i];
		if (!known)
			groups[kept++] = s->groups[i];
	}
	*ret = groups;
	*ret_n = kept;
	return 0;
}

static uint32_t engine_flags(const struct ward_sandbox_engine *e)
{
	return WARD_BLUEPRINT_ENGINE | (e->exec_argv ? WARD_BLUEPRINT_FOREIGN : 0) |
	       (e->how ? WARD_BLUEPRINT_CALLS : 0) |
	       (e->how & WARD_SANDBOX_ENGINE_NESTED ? WARD_BLUEPRINT_USER_ZERO : 0) |
	       (e->how & WARD_SANDBOX_ENGINE_ZERO ? WARD_BLUEPRINT_ALL_ZERO : 0);
}

uint32_t ward_sandbox_flags(const struct ward_sandbox_spec *s, bool filtered)
{
	bool once = filtered && s->seccomp == WARD_SECCOMP_NO_EXEC;
	return (s->keep ? WARD_BLUEPRINT_KEEP : 0) | (once ? WARD_BLUEPRINT_ONCE : 0) |
	       (s->programs ? WARD_BLUEPRINT_LISTED : 0) | (s->served ? WARD_BLUEPRINT_SERVED : 0) |
	       (s->root ? WARD_BLUEPRINT_ROOT : 0) |
	       (s->net == WARD_SANDBOX_NET_WIRE ? WARD_BLUEPRINT_WIRE : 0) |
	       (s->replay ? WARD_BLUEPRINT_REPLAY : 0) | (s->pty ? WARD_BLUEPRINT_PTY : 0) |
	       (s->grouped ? WARD_BLUEPRINT_GROUPED : 0) |
	       (s->engine ? engine_flags(s->engine) : 0);
}
