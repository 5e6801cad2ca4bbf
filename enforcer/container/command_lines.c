/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of each engine. Everything that it takes from elsewhere is named here. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/container/container_internal.h"

/* One container has one session, and the engine's state lives no longer than both. */
#define NAME WARD_SANDBOX_ENGINE_NAME
#define STATE WARD_SANDBOX_ENGINE_STATE
#define LOG STATE "/log"

/* Strings until NULL behind what v has. */
static int put(char **v, size_t max, ...)
{
	va_list args;
	size_t n = 0;
	int r = 0;
	while (v[n])
		n++;
	va_start(args, max);
	for (const char *s = va_arg(args, const char *); s && r == 0;
		s = va_arg(args, const char *)) {
		v[n] = n + 1 < max ? strdup(s) : NULL;
		r = v[n++] ? 0 : -ENOMEM;
	}
	va_end(args);
	return r;
}
#define PUT(v, ...) put(v, sizeof(v) / sizeof(*(v)), __VA_ARGS__, NULL)

static int program(struct ward_container *c, char **v, size_t max)
{
	char path[256];
	const char *name = strrchr(c->engine.program, '/') + 1;
	int n = snprintf(path, sizeof(path), WARD_SANDBOX_ENGINE_PROGRAM "/%s", name);
	return n < 0 || (size_t)n >= sizeof(path) ? -E2BIG : put(v, max, path, NULL);
}

/* The container's pid 1 has our descriptors, and speaks for itself. */
static int run(struct ward_container *c, const struct ward_sandbox_spec *spec)
{
	char fds[32];
	snprintf(fds, sizeof(fds), "--preserve-fds=%zu",
		ward_sandbox_engine_fds(spec->n_lifelines, spec->replay, spec->pty));
	return PUT(c->argv, "run", "--detach", "--no-new-keyring", fds, "--bundle",
		WARD_SANDBOX_ENGINE_BUNDLE, NAME);
}

int ward_container_runc(struct ward_container *c, const struct ward_sandbox_spec *spec)
{
	int r = program(c, c->argv, sizeof(c->argv) / sizeof(*c->argv));
	if (r == 0)
		r = PUT(c->argv, "--root", STATE "/runc", "--log", LOG, "--log-format", "json");
	return r < 0 ? r : run(c, spec);
}

/* It refuses a host with both versions of control groups. The session's own groups hold anyway. */
int ward_container_crun(struct ward_container *c, const struct ward_sandbox_spec *spec)
{
	int r = program(c, c->argv, sizeof(c->argv) / sizeof(*c->argv));
	if (r == 0)
		r = PUT(c->argv, "--cgroup-manager=disabled", "--root", STATE "/crun", "--log", LOG,
			"--log-format", "json");
	return r < 0 ? r : run(c, spec);
}

/* Our pid 1 in a kernel of its own gets no descriptors, and each process is an exec. */
static int own_kernel(struct ward_container *c, const char *const *global)
{
	char **const lines[] = {c->argv, c->exec_argv};
	const size_t max = sizeof(c->argv) / sizeof(*c->argv);
	int r = 0;
	for (size_t i = 0; i < 2 && r == 0; i++) {
		r = program(c, lines[i], max);
		for (size_t k = 0; global[k] && r == 0; k++)
			r = put(lines[i], max, global[k], NULL);
	}
	if (r == 0)
		r = PUT(c->argv, "run", "--bundle", WARD_SANDBOX_ENGINE_BUNDLE, NAME);
	return r == 0 ? PUT(c->exec_argv, "exec", "--user", "0:0") : r;
}

/*
 * Network and files are the session's, so its own layers for them stay off: sockets are those of
 * our network namespace, and what the host changes in a tree shows. The platform ptrace needs no
 * virtualisation.
 */
int ward_container_runsc(struct ward_container *c, const struct ward_sandbox_spec *spec)
{
	static const char *const global[] = {"--root", STATE "/runsc", "--log", LOG, "--log-format",
		"json", "--rootless", "--ignore-cgroups", "--platform=ptrace", "--network=host",
		"--file-access=shared", "--file-access-mounts=shared", NULL};
	(void)spec;
	return own_kernel(c, global);
}

/*
 * The command line of kata-runtime 1.x: from 2.0 on it has no `run`, and containerd starts a shim
 * in its place. engines.def refuses it, since no host to try it on was found. Sandbox and agent are
 * told by its own configuration, which root wrote.
 */
int ward_container_kata(struct ward_container *c, const struct ward_sandbox_spec *spec)
{
	static const char *const global[] = {
		"--root", STATE "/kata", "--log", LOG, "--log-format", "json", NULL};
	(void)spec;
	return own_kernel(c, global);
}
