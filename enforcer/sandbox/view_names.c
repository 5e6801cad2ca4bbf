/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Under which paths the mounts of the host show a file. A text says little: /home may be a link to
 * /data/home, and a mount may show the same directory a second time.
 */
#include "enforcer/sandbox/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* A host with more mounts is refused, not looked at in part (fs.mount-max is 100,000). */
#define MOUNTS_MAX 100000

struct ward_view_mount {
	uint64_t id;
	char *device; /* "major:minor" */
	char *root;   /* the directory of its file system that it shows */
	char *point;
	bool remote; /* a lookup may wait for somebody else */
};

/* File systems that another machine or a process serves, who may never answer. */
static const char *const remote_types[] = {
	"9p", "afs", "autofs", "ceph", "cifs", "fuse", "lustre", "ncpfs", "nfs", "smb3"};

/* proc_pid_mountinfo(5): blanks, newlines and backslashes stand as \ooo. */
static void unescape(char *s)
{
	char *to = s;
	for (; *s; to++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
			s[3] >= '0' && s[3] <= '7') {
			*to = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			s += 4;
		} else {
			*to = *s++;
		}
	}
	*to = '\0';
}

/* "nfs4" and "fuse.sshfs" begin with one of them. */
static bool is_remote(const char *type)
{
	for (size_t i = 0; i < sizeof(remote_types) / sizeof(*remote_types); i++)
		if (strncmp(type, remote_types[i], strlen(remote_types[i])) == 0)
			return true;
	return false;
}

/* "ID PARENT DEVICE ROOT POINT OPTIONS … - TYPE SOURCE OPTIONS" */
static int take_line(struct ward_view_mounts *m, char *line)
{
	char *save = NULL;
	const char *dash = strstr(line, " - ");
	bool remote = !dash || is_remote(dash + 3);
	const char *id = strtok_r(line, " ", &save);
	const char *parent = id ? strtok_r(NULL, " ", &save) : NULL;
	const char *device = parent ? strtok_r(NULL, " ", &save) : NULL;
	char *root = device ? strtok_r(NULL, " ", &save) : NULL;
	char *point = root ? strtok_r(NULL, " ", &save) : NULL;
	if (!point)
		return -EBADMSG;
	if (m->n == MOUNTS_MAX)
		return -E2BIG;
	if (m->n == m->cap) {
		size_t cap = m->cap ? 2 * m->cap : 64;
		struct ward_view_mount *v = reallocarray(m->v, cap, sizeof(*v));
		if (!v)
			return -ENOMEM;
		m->v = v;
		m->cap = cap;
	}
	unescape(root);
	unescape(point);
	struct ward_view_mount *row = &m->v[m->n++];
	*row = (struct ward_view_mount){.id = strtoull(id, NULL, 10),
		.device = strdup(device),
		.root = strdup(root),
		.point = strdup(point),
		.remote = remote};
	return row->device && row->root && row->point ? 0 : -ENOMEM;
}

int ward_view_mounts_read(struct ward_view_mounts *ret)
{
	struct ward_view_mounts m = {0};
	ward_cleanup_free char *line = NULL;
	size_t cap = 0;
	ward_cleanup_file FILE *f = fopen("/proc/self/mountinfo", "re");
	int r = f ? 0 : -errno;
	while (r == 0 && getline(&line, &cap, f) > 0)
		r = take_line(&m, line);
	if (r == 0 && ferror(f))
		r = -EIO;
	if (r < 0)
		ward_view_mounts_clear(&m);
	else
		*ret = m;
	return r;
}

void ward_view_mounts_clear(struct ward_view_mounts *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->v[i].device);
		free(m->v[i].root);
		free(m->v[i].point);
	}
	free(m->v);
	*m = (struct ward_view_mounts){0};
}

/* What of path lies beneath dir: "" for dir itself, else with its slash; NULL: nothing. */
static const char *beneath(const char *path, const char *dir)
{
	size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);
	return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0') ? path + n : NULL;
}

static char *join(const char *dir, const char *rest)
{
	char *s = NULL;
	if (strcmp(rest, "/") == 0)
		rest = "";
	if (strcmp(dir, "/") == 0 && *rest)
		dir = "";
	return asprintf(&s, "%s%s", dir, rest) < 0 ? NULL : s;
}

bool ward_view_unreachable(int code)
{
	return code == ENOENT || code == ENOTDIR || code == EACCES || code == ELOOP ||
	       code == ENOTCONN;
}

/* By the longest mount point above it, or by the id of its mount. */
bool ward_view_may_wait(const struct ward_view_mounts *m, int dir, const char *path)
{
	struct statx st = {0};
	const struct ward_view_mount *at = NULL;
	bool absolute = path[0] == '/';
	if (!absolute && statx(dir, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &st) < 0)
		return true;
	for (size_t i = 0; i < m->n; i++)
		if (absolute ? beneath(path, m->v[i].point) &&
					(!at || strlen(m->v[i].point) >= strlen(at->point))
			     : m->v[i].id == st.stx_mnt_id)
			at = &m->v[i];
	return !at || at->remote;
}

static int look(const char *path, struct statx *ret)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
	ward_cleanup_fd int fd = ward_fd_openat2(AT_FDCWD, path, &how);
	if (fd < 0)
		return fd;
	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		       STATX_TYPE | STATX_INO | STATX_MNT_ID, ret) < 0
		       ? -errno
		       : 0;
}

static bool same(const struct statx *a, const struct statx *b)
{
	return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
	       a->stx_dev_minor == b->stx_dev_minor;
}

/* One mount of the same file system. wanted: what the path has to lead to. */
static int name_in(const struct ward_view_mount *row, const char *inner, bool parts,
	const struct statx *wanted, ward_view_name_fn fn, void *user)
{
	struct statx st = {0};
	const char *rest = beneath(inner, row->root);
	bool part = !rest && parts && beneath(row->root, inner);
	if (!rest && !part)
		return 0;
	ward_cleanup_free char *path = join(row->point, part ? "" : rest);
	if (!path)
		return -ENOMEM;
	/* Something else may be mounted on it or above. */
	int r = look(path, &st);
	if (r < 0)
		return ward_view_unreachable(-r) ? 0 : r;
	if (st.stx_mnt_id != row->id)
		return 0;
	if (!part && !same(&st, wanted))
		return 0;
	return fn(user, path, st.stx_mode & S_IFMT);
}

int ward_view_names(
	const struct ward_view_mounts *m, int fd, bool parts, ward_view_name_fn fn, void *user)
{
	struct statx st = {0};
	const struct ward_view_mount *own = NULL;
	ward_cleanup_free char *path = NULL;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO | STATX_MNT_ID,
		    &st) < 0)
		return -errno;
	int r = ward_fd_path(fd, &path);
	if (r < 0)
		return r;
	for (size_t i = 0; i < m->n && !own; i++)
		if (m->v[i].id == st.stx_mnt_id)
			own = &m->v[i];
	const char *rest = own ? beneath(path, own->point) : NULL;
	/* Mounted or renamed this moment, or of another mount namespace: by the name that it has.
	 */
	if (!rest) {
		struct statx found = {0};
		return look(path, &found) == 0 && same(&found, &st)
			       ? fn(user, path, st.stx_mode & S_IFMT)
			       : 0;
	}
	ward_cleanup_free char *inner = join(own->root, rest);
	r = inner ? 0 : -ENOMEM;
	for (size_t i = 0; i < m->n && r == 0; i++)
		if (strcmp(m->v[i].device, own->device) == 0)
			r = name_in(&m->v[i], inner, parts, &st, fn, user);
	return r;
}
