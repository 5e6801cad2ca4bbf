/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at the namespaces of others that a container joins. */
#include "enforcer/oci/floor_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* The file below /proc/PID/ns. floor: may be the host's only where its file says so. */
static const struct kind {
	const char *type, *file;
	bool floor;
} kinds[] = {
	{"pid", "pid", true},
	{"ipc", "ipc", true},
	{"network", "net", true},
	{"uts", "uts", false},
	{"cgroup", "cgroup", false},
	{"user", "user", false},
	{"time", "time", false},
};

/* Ours, which is the engine's, and that of the host's first process. */
static bool is_hosts(const struct stat *st, const char *file)
{
	static const char *const whose[] = {"self", "1"};
	for (size_t i = 0; i < 2; i++) {
		char path[64];
		struct stat host;
		(void)snprintf(path, sizeof(path), "/proc/%s/ns/%s", whose[i], file);
		if (stat(path, &host) == 0 && host.st_dev == st->st_dev &&
			host.st_ino == st->st_ino)
			return true;
	}
	return false;
}

static int mount_it(json_t *v, int fd, const char *view, const struct kind *k, struct ward_err *err)
{
	char from[64];
	char to[PATH_MAX];
	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	if (snprintf(to, sizeof(to), "%s/ns-%s", view, k->file) >= (int)sizeof(to))
		return ward_err_sys(err, -ENAMETOOLONG, "%s", view);
	ward_cleanup_fd int made = open(to, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (made < 0 || mount(from, to, NULL, MS_BIND, NULL) < 0)
		return ward_err_sys(err, -errno, "the %s namespace", k->type);
	return json_object_set_new(v, "path", json_string(to)) < 0
		       ? ward_err_sys(err, -ENOMEM, "%s", k->type)
		       : 0;
}

static int join(json_t *v, const char *path, const struct ward_oci_host *h, const char *view,
	struct ward_err *err)
{
	const char *type = json_string_value(json_object_get(v, "type"));
	const struct kind *k = NULL;
	struct statfs fs;
	struct stat st;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (type && strcmp(kinds[i].type, type) == 0)
			k = &kinds[i];
	if (!k)
		return ward_err_set(err, -EINVAL, "the container asks for the %s namespace of %s",
			type ? type : "?", path);
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || fstatfs(fd, &fs) < 0)
		return ward_err_sys(err, -errno, "the %s namespace %s", type, path);
	if (fs.f_type != NSFS_MAGIC)
		return ward_err_set(err, -EINVAL, "%s is no %s namespace", path, type);
	if (k->floor && is_hosts(&st, k->file) && !ward_oci_lists(&h->host_namespace, type))
		return ward_err_set(err, -EINVAL,
			"the container asks for the host's %s namespace, by the path %s", type,
			path);
	return mount_it(v, fd, view, k, err);
}

int ward_oci_join(
	json_t *config, const struct ward_oci_host *h, const char *view, struct ward_err *err)
{
	json_t *v = NULL;
	size_t i = 0;
	int r = 0;
	json_array_foreach(json_object_get(json_object_get(config, "linux"), "namespaces"), i, v)
	{
		const char *path = json_string_value(json_object_get(v, "path"));
		if (r == 0 && path && *path)
			r = join(v, path, h, view, err);
	}
	return r;
}
