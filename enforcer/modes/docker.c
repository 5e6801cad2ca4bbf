/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mode docker: a container engine within the walls of restricted. The walls are made first; the
 * engine is started in them, and makes a container of the view (enforcer/container/container.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/container/container.h"
#include "enforcer/modes/operations.h"
#include "enforcer/policy/settings.h"

/* From `prepare` to `free`. */
struct own {
	struct ward_engine_found found;
	struct ward_container *container;
};

/* What an engine cannot give refuses by name. */
static int check_gives(
	const struct ward_engine *e, const struct ward_policy *policy, struct ward_err *err)
{
	const char *what = NULL;
	if (!ward_engine_own_kernel(e))
		return 0;
	if (ward_policy_has_programs(policy))
		what = "[process] exec lists programs";
	else if (ward_policy_has_noexec(policy))
		/* It reads a program as it reads any file, and starts it without asking. */
		what = "a noexec rule refuses programs";
	else if (ward_policy_settings(policy)->seccomp == WARD_LIST_NO_EXEC)
		what = "[process] seccomp = no-exec lets one program run";
	return what ? ward_err_set(err, -ENOTSUP,
			      "%s, and the engine %s has a kernel of its own, which cannot enforce "
			      "that; fix: --engine runc",
			      what, ward_engine_word(e))
		    : 0;
}

/* Anybody who can talk to one of these is root on the host. */
static const char *const sockets[] = {"docker.sock", "podman.sock", "containerd.sock", "crio.sock",
	"cri-dockerd.sock", "buildkitd.sock"};

static bool is_engine_socket(const char *path)
{
	const char *slash = strrchr(path, '/');
	for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++)
		if (strcmp(slash ? slash + 1 : path, sockets[i]) == 0)
			return true;
	return false;
}

static bool is_whole(const char *source, const char *home)
{
	return strcmp(source, "/") == 0 || strcmp(source, "~") == 0 || strcmp(source, "~/") == 0 ||
	       (home && strcmp(source, home) == 0);
}

/* What makes a container no wall at all, even if the owner asks for it. */
static int check_patterns(const struct ward_settings *s, const char *home, struct ward_err *err)
{
	if (s->net == WARD_NET_HOST)
		return ward_err_set(err, -EINVAL,
			"a container never gets the host's network namespace; fix: [network] mode = "
			"allowlist");
	for (size_t i = 0; i < s->net_socket.n; i++)
		if (is_engine_socket(s->net_socket.v[i]))
			return ward_err_set(err, -EINVAL,
				"[network] socket = %s is the socket of an engine, and as good as "
				"root; a container never gets it",
				s->net_socket.v[i]);
	for (size_t i = 0; i < s->n_trees; i++)
		if (s->trees[i].source && is_whole(s->trees[i].source, home))
			return ward_err_set(err, -EINVAL,
				"[tree %s] source = %s is the whole host or home; a container gets the "
				"directories that it needs",
				s->trees[i].path, s->trees[i].source);
	return 0;
}

/* An engine whose container has a kernel of its own, and that can hold the policy. */
static int find_own_kernel(const struct ward_policy *policy, struct ward_engine_found *ret)
{
	const struct ward_engine *e = NULL;
	for (size_t i = 0; (e = ward_engine_at(i)); i++) {
		struct ward_err why = WARD_ERR_INIT;
		if (!ward_engine_own_kernel(e) || check_gives(e, policy, &why) < 0)
			continue;
		if (ward_engine_look(ward_engine_word(e), geteuid(), ret, &why) == 0)
			return 0;
	}
	return -ENOENT;
}

/* Of the engine the path is enough: `prepare` finds the rest by it. */
static int look(const struct ward_mode_host *h, struct ward_mode_found *ret,
	struct ward_buf *ret_text, struct ward_err *err)
{
	ward_cleanup(ward_engine_found_clear) struct ward_engine_found f = WARD_ENGINE_FOUND_INIT;
	const char *named = h->policy ? ward_policy_settings(h->policy)->engine : NULL;
	(void)ret_text;
	const bool strictest = h->escalates && h->policy && !named;
	int r = strictest ? find_own_kernel(h->policy, &f) : -ENOENT;
	if (r < 0)
		r = ward_engine_look(named, geteuid(), &f, err);
	if (r == 0 && ward_engine_needs_root(f.engine) && geteuid() != 0)
		r = ward_err_set(err, -ENOTSUP,
			"the engine %s needs root, because its daemon does; fix: --engine podman or "
			"--engine runc",
			ward_engine_word(f.engine));
	if (r == 0 && h->policy)
		r = check_gives(f.engine, h->policy, err);
	if (r == 0 && h->policy)
		r = check_patterns(ward_policy_settings(h->policy), h->home, err);
	if (r < 0)
		return ward_err_wrap(err, "mode docker");
	if (!named && h->policy)
		ret->note = strictest
				    ? "mode docker: engine %s, the first that this host has; it "
				      "shares the host's kernel, since no engine with a kernel of "
				      "its own (runsc) works here for this policy"
				    : "mode docker: engine %s, the first that this host has";
	if (ward_engine_own_kernel(f.engine))
		ret->note = "engine %s: the container has a kernel of its own: no Landlock, no "
			    "records of the programs that start, and no record of each open";
	/* By a link of a session's, the next one would have another engine. */
	if (named && named[0] == '/' && !(ret->name = strdup(named)))
		return ward_err_sys(err, -ENOMEM, "mode docker");
	ret->program = ward_steal_ptr(&f.program);
	return 0;
}

static int prepare(struct ward_confined *c, struct ward_sandbox_spec *spec, struct ward_err *err)
{
	struct own *own = calloc(1, sizeof(*own));
	if (!own)
		return ward_err_sys(err, -ENOMEM, "mode docker");
	c->own = own;
	/* Looked for without a policy (doctor), it is the first. */
	int r = ward_engine_look(spec->runtime, spec->owner_uid, &own->found, err);
	if (r == 0)
		r = ward_container_make(&own->found, spec, &own->container, err);
	if (r < 0)
		return r;
	spec->engine = &own->container->engine;
	/* Programs in there hear of changes from their own kernel alone. */
	if (ward_engine_own_kernel(own->found.engine))
		spec->replay = NULL;
	return 0;
}

static void release(struct ward_confined *c)
{
	struct own *own = c->own;
	ward_walls_free(c);
	if (!own)
		return;
	ward_container_free(own->container);
	ward_engine_found_clear(&own->found);
	free(own);
	c->own = NULL;
}

const struct ward_mode_ops ward_mode_ops_docker = {.usable = ward_walls_usable,
	.look = look,
	.prepare = prepare,
	.begin = ward_walls_begin,
	.reach = ward_walls_reach,
	.probe = ward_walls_probe,
	.start = ward_walls_start,
	.next = ward_walls_next,
	.exec = ward_walls_exec,
	.signal = ward_walls_signal,
	.stop = ward_walls_stop,
	.free = release};
