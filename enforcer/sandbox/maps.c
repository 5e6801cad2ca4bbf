/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the maps of ids of a sandbox that root makes. */
#include "enforcer/sandbox/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* A gid_map is written at once and has to fit a page (user_namespaces(7)). */
#define GID_MAP_MAX 4000

static int write_proc(pid_t pid, const char *file, const char *text, size_t len)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	ward_cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : ward_fd_write_all(fd, text, len);
}

int ward_maps_write(pid_t pid, uid_t uid, gid_t gid, bool zero, const gid_t *groups,
	size_t n_groups, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf map = WARD_BUF_INIT;
	ward_buf_printf(&map, "%u %u 1\n", zero ? 0 : uid, uid);
	int r = write_proc(pid, "setgroups", "deny", 4);
	if (r == 0)
		r = write_proc(pid, "uid_map", map.data, map.len);
	ward_buf_clear(&map);
	ward_buf_printf(&map, "%u %u 1\n", zero ? 0 : gid, gid);
	for (size_t i = 0; i < n_groups && map.len < GID_MAP_MAX; i++)
		ward_buf_printf(&map, "%u %u 1\n", groups[i], groups[i]);
	if (r == 0)
		r = ward_buf_error(&map);
	if (r == 0)
		r = write_proc(pid, "gid_map", map.data, map.len);
	return r < 0 ? ward_err_sys(err, r, "map the ids of the sandbox") : 0;
}
