/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/attack/knock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct ward_knock_layer ward_knock_layers[] = {
	{"guard", "path rules", NULL},
	{"seccomp", "seccomp", NULL},
	{"landlock", "Landlock", "the view and the pid, ipc and network namespaces"},
	{"mount-namespace", "mount namespace", NULL},
	{"user-namespace", "user namespace", NULL},
	{"network-namespace", "network namespace", NULL},
	{"ipc-namespace", "ipc namespace", NULL},
	{"uts-namespace", "uts namespace", NULL},
	{"cgroup-namespace", "cgroup namespace", NULL},
	{"pid-namespace", "pid namespace", NULL},
	{"capabilities", "dropped capabilities", NULL},
	{"keyring", "session keyring", "seccomp"},
	{"limits", "limit", NULL},
};
const size_t ward_n_knock_layers = sizeof(ward_knock_layers) / sizeof(*ward_knock_layers);

const struct ward_knock_layer *ward_knock_find(const char *name)
{
	for (size_t i = 0; i < ward_n_knock_layers; i++)
		if (strcmp(ward_knock_layers[i].name, name) == 0)
			return &ward_knock_layers[i];
	return NULL;
}

bool ward_knock_named(const struct ward_knock_layer *l, const struct ward_attempt *a)
{
	return strstr(a->stops, l->named) != NULL;
}

static const char *const helpers[] = {"wardfs-audit", "wardfs-net", "wardfs-screen", "wardfs-image",
	"wardfs-send", "wardfs-oci", "wardfs-auditd", "wardfs-attack"};
static const char *const knocked[] = {"wardfs-init", "wardfs-fs"};

int ward_knock_make(const struct ward_world *w, const char *wardfs, char **ret)
{
	char from[2 * PATH_MAX], to[64], dir[PATH_MAX];
	const char *slash = strrchr(wardfs, '/');

	if (!slash) {
		errno = ENOENT;
		return -1;
	}
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - wardfs), wardfs);
	/* Before anything is made: is there something to put in place? */
	for (size_t i = 0; i < 2; i++) {
		snprintf(from, sizeof(from), "%s/tests/support/%s-knocked", dir, knocked[i]);
		if (access(from, X_OK) < 0)
			return -1;
	}
	if (ward_tree_dir(w->base_fd, "programs", 0755) < 0 ||
		ward_tree_copy(wardfs, w->base_fd, "programs/wardfs") < 0)
		return -1;
	for (size_t i = 0; i < 2; i++) {
		snprintf(from, sizeof(from), "%s/tests/support/%s-knocked", dir, knocked[i]);
		snprintf(to, sizeof(to), "programs/%s", knocked[i]);
		if (ward_tree_copy(from, w->base_fd, to) < 0)
			return -1;
	}
	for (size_t i = 0; i < sizeof(helpers) / sizeof(*helpers); i++) {
		snprintf(from, sizeof(from), "%s/%s", dir, helpers[i]);
		snprintf(to, sizeof(to), "programs/%s", helpers[i]);
		if (symlinkat(from, w->base_fd, to) < 0)
			return -1;
	}
	return asprintf(ret, "%s/programs/wardfs", w->base) < 0 ? -1 : 0;
}

int ward_knock_choose(const struct ward_world *w, const char *layer)
{
	char text[64];
	snprintf(text, sizeof(text), "%s\n", layer);
	ward_tree_remove(w->base_fd, "programs/knock");
	return ward_tree_put(w->base_fd, "programs/knock", text, 0644);
}
