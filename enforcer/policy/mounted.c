/* SPDX-License-Identifier: Apache-2.0 */
/* Opens directories beneath which something is mounted that may not answer. */
#include "enforcer/policy/mounted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/patient.h"

/* Opening may be answered by the kernel alone; what is in the directory is not. */
static int look(int tree, const char *path, struct ward_patient_found *ret)
{
	ret->fd = ward_mounted_open_in(tree, path, O_RDONLY, 0);
	if (ret->fd < 0)
		return ret->fd;
	(void)fstatat(ret->fd, "HEAD", &ret->st, AT_SYMLINK_NOFOLLOW);
	return fstat(ret->fd, &ret->st) < 0 ? -errno : 0;
}

static int open_patiently(int tree, const char *path)
{
	struct ward_patient_found found = {.fd = -1};
	int r = ward_patient(look, tree, path, WARD_PATIENT_NS, &found);
	return r < 0 ? r : found.fd;
}

/* The part of path beneath the known mount; NULL: path is outside. */
static const char *beneath(const struct ward_mounted *m, const char *path)
{
	const size_t n = m->path ? strlen(m->path) : 0;
	return n && strncmp(path, m->path, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

void ward_mounted_clear(struct ward_mounted *m)
{
	free(m->path);
	if (m->fd >= 0)
		close(m->fd);
	*m = WARD_MOUNTED_INIT;
}

int ward_mounted_open_in(int tree, const char *path, uint64_t flags, uint64_t resolve)
{
	const struct open_how how = {.flags = flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = resolve | RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	return ward_fd_openat2(tree, *path ? path : ".", &how);
}

int ward_mounted_open(struct ward_mounted *m, int tree, const char *path)
{
	const char *rest = m ? beneath(m, path) : NULL;
	int fd = ward_mounted_open_in(tree, path, O_RDONLY, RESOLVE_NO_XDEV);
	if (fd == -EXDEV && rest)
		fd = ward_mounted_open_in(m->fd, rest, O_RDONLY, RESOLVE_NO_XDEV);
	if (fd != -EXDEV)
		return fd;
	fd = open_patiently(tree, path);
	if (!m)
		return fd;
	char *copy = fd < 0 ? NULL : strdup(path);
	int own = copy ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
	/* Without it each look needs a thread. */
	if (own >= 0) {
		ward_mounted_clear(m);
		*m = (struct ward_mounted){.path = copy, .fd = own};
	} else {
		free(copy);
	}
	return fd;
}
