/* SPDX-License-Identifier: Apache-2.0 */
/* Staged files, written somewhere else than to the project. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/content.h"

/* The directory that path lies in, made with those above it; *ret_name: its last component. */
static int make_above(int top, const char *path, const char **ret_name)
{
	ward_cleanup_fd int at = fcntl(top, F_DUPFD_CLOEXEC, 0);
	if (at < 0)
		return -errno;
	for (const char *slash; (slash = strchr(path, '/')); path = slash + 1) {
		char name[NAME_MAX + 1];
		const size_t len = (size_t)(slash - path);
		if (len > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, path, len);
		name[len] = '\0';
		if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
			return -errno;
		/* A link is no way: one of the session's may lie there. */
		int next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			return -errno;
		close(at);
		at = next;
	}
	*ret_name = path;
	return ward_steal_fd(&at);
}

static int put(int dir_fd, const struct ward_change *c, int top)
{
	char object[32];
	const char *name = NULL;
	ward_cleanup_fd int dir = make_above(top, c->path, &name);
	if (dir < 0)
		return dir;
	snprintf(object, sizeof(object), "objects/%u", c->object);
	int r = ward_content_copy(dir_fd, object, c->type, dir, name, NULL);
	/* What it may do on this host is for an apply to say. */
	if (r == 0 && S_ISREG(c->type) && fchmodat(dir, name, c->mode & 0777, 0) < 0)
		r = -errno;
	return r;
}

int ward_changes_export(int dir_fd, const struct ward_review_changes *c, const bool *wanted,
	int top, size_t *ret_n, struct ward_err *err)
{
	size_t n = 0;
	for (size_t i = 0; i < c->n; i++) {
		const struct ward_change *v = &c->v[i];
		if (!wanted[i] || !v->object || (!S_ISREG(v->type) && !S_ISLNK(v->type)))
			continue;
		int r = put(dir_fd, v, top);
		if (r < 0)
			return ward_err_sys(err, r, "%s", v->path);
		n++;
	}
	*ret_n = n;
	return 0;
}
