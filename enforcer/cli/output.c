/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/identity.h"

/* The directory that the last name of path stands in. */
static int open_above(const char *path)
{
	const char *slash = strrchr(path, '/');
	ward_cleanup_free char *above =
		slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	return above ? open(above, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

/* Root's own files, and those in places that are not the invoking user's, stay root's. */
static int give(int fd, const char *path, struct ward_err *err)
{
	ward_cleanup(ward_identity_clear) struct ward_identity id = {0};
	ward_cleanup_fd int above = open_above(path);
	struct stat st;
	if (geteuid() != 0 || above < 0 || fstat(above, &st) < 0 || st.st_uid == 0)
		return 0;
	int r = ward_identity_find(NULL, 0, 0, &id, err);
	if (r < 0 || id.owner_uid == 0 || st.st_uid != id.owner_uid)
		return r;
	return fchown(fd, id.owner_uid, id.owner_gid) < 0 ? ward_err_sys(err, -errno, "%s", path)
							  : 0;
}

int ward_output_open(const char *path, mode_t mode, bool replace, int *ret_fd, struct ward_err *err)
{
	const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
	ward_cleanup_fd int fd = open(path, flags | O_CREAT | O_EXCL, mode);
	const bool made = fd >= 0;
	if (!made && errno == EEXIST && replace) /* O_CREAT: a link may lead to where nothing is */
		fd = open(path, flags | O_CREAT | O_TRUNC, mode);
	if (fd < 0)
		return ward_err_sys(err, -errno, "%s", path);
	int r = made ? give(fd, path, err) : 0;
	if (r == 0)
		*ret_fd = ward_steal_fd(&fd);
	return r;
}
