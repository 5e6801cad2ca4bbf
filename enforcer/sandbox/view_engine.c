/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root in which an engine runs: the host's programs and libraries, its own program, its bundle
 * and a directory for its state. The view becomes one directory of it (init/mounts.c).
 */
#include "enforcer/sandbox/view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"

static const char *const system_dirs[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr"};
static const char *const managed[] = {"/etc", "/run", "/var"};
static const char *const devices[] = {"full", "null", "random", "urandom", "zero"};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void add(struct ward_view_list *w, enum ward_blueprint_kind kind, const char *path,
	const char *text, uint32_t mode, uint32_t flags)
{
	ward_view_add(w, kind, path, text, mode, flags | WARD_BLUEPRINT_OUTER);
}

void ward_view_engine(const struct ward_sandbox_spec *spec, struct ward_view_list *w)
{
	const struct ward_sandbox_engine *e = spec->engine;
	for (size_t i = 0; i < COUNT(system_dirs); i++) {
		char target[4096];
		ssize_t n = readlink(system_dirs[i], target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		if (n > 0)
			add(w, WARD_BLUEPRINT_LINK, system_dirs[i], target, 0, 0);
		else
			add(w, WARD_BLUEPRINT_BIND, system_dirs[i], system_dirs[i], 0,
				WARD_BLUEPRINT_OPTIONAL);
	}
	for (size_t i = 0; i < COUNT(devices); i++) {
		char path[64];
		snprintf(path, sizeof(path), "/dev/%s", devices[i]);
		add(w, WARD_BLUEPRINT_DEVICE, path, path, 0, 0);
	}
	add(w, WARD_BLUEPRINT_DIR, "/proc", NULL, 0555, 0);
	/* gVisor makes the root of its kernel there. */
	add(w, WARD_BLUEPRINT_DIR, "/tmp", NULL, 0755, 0);
	add(w, WARD_BLUEPRINT_TMPFS, WARD_SANDBOX_ENGINE_STATE, NULL, 0700, 0);
	for (size_t i = 0; e->files[i].name; i++) {
		char path[64];
		snprintf(path, sizeof(path), WARD_SANDBOX_ENGINE_BUNDLE "/%s", e->files[i].name);
		add(w, WARD_BLUEPRINT_FILE, path, e->files[i].text, 0555, 0);
	}
	/* Engines that manage containers keep sockets and states of their own in these. */
	for (size_t i = 0; e->how && i < COUNT(managed); i++)
		add(w, WARD_BLUEPRINT_TMPFS, managed[i], NULL, 0700, 0);
	add(w, WARD_BLUEPRINT_BIND, "/etc/ld.so.cache", "/etc/ld.so.cache", 0,
		WARD_BLUEPRINT_OPTIONAL);
	add(w, WARD_BLUEPRINT_BIND, WARD_SANDBOX_ENGINE_INIT, spec->init_program, 0, 0);
	add(w, WARD_BLUEPRINT_BIND, "/sys/fs/cgroup", e->cgroup, 0, 0);
	char program[256];
	snprintf(program, sizeof(program), WARD_SANDBOX_ENGINE_PROGRAM "/%s",
		strrchr(e->program, '/') + 1);
	add(w, WARD_BLUEPRINT_BIND, program, e->program, 0, WARD_BLUEPRINT_PLAIN);
	if (!w->error) {
		w->v[w->n - 1].dev = e->dev;
		w->v[w->n - 1].ino = e->ino;
	}
}
