/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of each engine. Everything that it takes from elsewhere is named here. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/container/container_internal.h"

#define BUNDLE WARD_SANDBOX_ENGINE_BUNDLE
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

/* The words about a flag, as runsc lists flags: "  -NAME …", and the lines up to the next one. */
static const char *about(const char *text, const char *name, size_t *ret_len)
{
	const size_t len = strlen(name);
	for (const char *s = text; (s = strstr(s, "  -")); s += 3) {
		if ((s != text && s[-1] != '\n') || strncmp(s + 3, name, len) != 0 ||
			!strchr(" \t\n", s[3 + len]))
			continue;
		const char *end = strstr(s + 3, "\n  -");
		*ret_len = end ? (size_t)(end - s) : strlen(s);
		return s;
	}
	*ret_len = 0;
	return NULL;
}

/*
 * Network and files are the session's, so its own layers for them stay off: sockets are those of
 * our network namespace, and what the host changes in a tree shows. No platform with virtualisation
 * is taken. Since 2023 runsc has systrap, which is faster than ptrace; it opens files in the kernel
 * that the command talks to (directfs), where before the gofer did, which holds less; and it puts
 * an overlay of its own on what may be written to.
 */
int ward_container_runsc(struct ward_container *c, const struct ward_sandbox_spec *spec)
{
	const char *global[20] = {"--root", STATE "/runsc", "--log", LOG, "--log-format", "json",
		"--rootless", "--ignore-cgroups", "--platform=ptrace", "--network=host",
		"--file-access=shared", "--file-access-mounts=shared", NULL};
	const char *text = ward_buf_str(&c->offers);
	size_t len = 0, n = 12;
	const char *platform = about(text, "platform", &len);
	(void)spec;
	c->engine.platform = "ptrace";
	if (platform && memmem(platform, len, "systrap", strlen("systrap"))) {
		c->engine.platform = "systrap";
		global[8] = "--platform=systrap";
		if (about(text, "overlay2", &len))
			global[n++] = "--overlay2=none";
	}
	if (about(text, "directfs", &len))
		global[n++] = "--directfs=false";
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

/* --- engines that manage containers; they start pid 1 with `call` --- */

/* What both have by one name: no rights, no network or names but the session's, our list of calls.
 * pid 1 needs the capability for its map of ids (config.c). */
static const char *const held[] = {"--rm", "--name", NAME, "--read-only", "--cap-drop=ALL",
	"--cap-add=SETFCAP", "--security-opt=no-new-privileges",
	"--security-opt=seccomp=" BUNDLE "/seccomp.json", "--network=host", "--log-driver=none",
	NULL};

static int manage(struct ward_container *c, const struct ward_sandbox_spec *spec)
{
	int r = 0;
	for (size_t i = 0; held[i] && r == 0; i++)
		r = PUT(c->argv, held[i]);
	const char *const labels[][2] = {
		{"wardfs.session", spec->session}, {"wardfs.policy", spec->policy_digest}};
	for (size_t i = 0; i < 2 && r == 0; i++) {
		char label[512];
		if (!labels[i][1])
			continue;
		int n = snprintf(label, sizeof(label), "%s=%s", labels[i][0], labels[i][1]);
		r = n < 0 || (size_t)n >= sizeof(label) ? -E2BIG : PUT(c->argv, "--label", label);
	}
	return r;
}

static const char *embedded(const char *name)
{
	for (size_t i = 0; ward_embedded_bundle[i].name; i++)
		if (strcmp(ward_embedded_bundle[i].name, name) == 0)
			return ward_embedded_bundle[i].data;
	return NULL;
}

int ward_container_podman(struct ward_container *c, const struct ward_sandbox_spec *spec)
{
	int r = program(c, c->argv, sizeof(c->argv) / sizeof(*c->argv));
	c->files[0] = (struct ward_sandbox_engine_file){"seccomp.json", ward_oci_seccomp};
	c->files[1] = (struct ward_sandbox_engine_file){"containers.conf", embedded("containers")};
	c->files[2] =
		(struct ward_sandbox_engine_file){"podman-runtime", embedded("podman-runtime")};
	if (r == 0)
		r = PUT(c->argv, "--root", STATE "/podman", "--runroot", "/run/podman", "--tmpdir",
			"/run/libpod", "--storage-driver=vfs", "run");
	char mask[512] = "--security-opt=mask=";
	size_t len = strlen(mask);
	for (size_t i = 0; ward_container_masked[i] && len < sizeof(mask); i++)
		len += (size_t)snprintf(mask + len, sizeof(mask) - len, "%s%s", i ? ":" : "",
			ward_container_masked[i]);
	if (r == 0)
		r = len < sizeof(mask) ? manage(c, spec) : -E2BIG;
	return r < 0 ? r
		     : PUT(c->argv, "--cgroups=disabled", "--pid=private", "--ipc=none",
			       "--uts=host", "--userns=host", "--no-hosts", "--dns=none",
			       "--passwd=false", "--read-only-tmpfs=false",
			       "--volume=" WARD_SANDBOX_ENGINE_VIEW "/dev:/dev:rw,rbind",
			       "--volume=" WARD_SANDBOX_ENGINE_VIEW "/sys:/sys:ro,rbind",
			       /* Instead of the one that podman writes, with the container's id. */
			       "--volume=" WARD_SANDBOX_ENGINE_VIEW
			       "/etc/hostname:/etc/hostname:ro",
			       "--volume=" WARD_SANDBOX_ENGINE_VIEW WARD_SANDBOX_ENGINE_GROUPS
			       ":" WARD_SANDBOX_ENGINE_GROUPS ":ro",
			       mask,
			       "--volume=" WARD_SANDBOX_ENGINE_INIT ":" WARD_SANDBOX_ENGINE_INIT
			       ":ro",
			       "--rootfs", WARD_SANDBOX_ENGINE_VIEW, WARD_SANDBOX_ENGINE_INIT,
			       WARD_SANDBOX_ENGINE_CALL);
}

/* The words after the script are those of `docker run`. */
int ward_container_docker(struct ward_container *c, const struct ward_sandbox_spec *spec)
{
	c->files[0] = (struct ward_sandbox_engine_file){"seccomp.json", ward_oci_seccomp};
	c->files[1] = (struct ward_sandbox_engine_file){"docker-start", embedded("docker-start")};
	int r = PUT(c->argv, "/bin/sh", BUNDLE "/docker-start");
	if (r == 0)
		r = manage(c, spec);
	return r < 0 ? r
		     : PUT(c->argv, "--ipc=none", "--uts=host",
			       "--mount=type=bind,source=" WARD_SANDBOX_ENGINE_INIT
			       ",target=" WARD_SANDBOX_ENGINE_INIT ",readonly");
}
