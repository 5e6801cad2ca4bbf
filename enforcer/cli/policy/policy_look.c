/* SPDX-License-Identifier: Apache-2.0 */
/* Looks on the host at what a mounted tree sees before it renames a directory. */
#include "enforcer/cli/policy/policy_look.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

static int open_at(int at, const char *name, void **ret)
{
	ward_cleanup_fd int fd =
		openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d)
		return -errno;
	(void)ward_steal_fd(&fd);
	*ret = d;
	return 0;
}

static int open_dir(void *user, void *dir, const char *name, void **ret)
{
	(void)user;
	return open_at(dirfd(dir), name, ret);
}

static int next_entry(void *user, void *dir, char name[WARD_LOOK_NAME_SIZE], bool *ret_is_dir)
{
	const struct dirent *e;
	struct stat st;
	(void)user;
	do {
		errno = 0;
		e = readdir(dir);
		if (!e)
			return -errno;
	} while (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0);
	size_t size = strlen(e->d_name) + 1;
	if (size > WARD_LOOK_NAME_SIZE ||
		fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -EXDEV;
	*ret_is_dir = S_ISDIR(st.st_mode);
	memcpy(name, e->d_name, size);
	return 1;
}

static void close_dir(void *user, void *dir)
{
	(void)user;
	(void)closedir(dir);
}

static bool holds(const struct ward_policy_place *place, const struct ward_state *src,
	const struct ward_state *dst, const char *path)
{
	static const struct ward_look_ops ops = {
		.open = open_dir, .next = next_entry, .close = close_dir};
	ward_cleanup_free char *host = ward_policy_place_host(place, path);
	void *dir = NULL;
	if (!host || open_at(AT_FDCWD, host, &dir) < 0 || !dir)
		return false;
	int r = ward_policy_look(place->policy, src, dst, &ops, NULL, dir);
	close_dir(NULL, dir);
	return r == 0;
}

void ward_place_look(const struct ward_policy_place *place, struct ward_request *req,
	const char *path, const char *path2, struct ward_decision *d)
{
	if (!d->look)
		return;
	if (req->flags & WARD_REQUEST_DIR && !holds(place, req->state, req->state2, path))
		return;
	if (req->flags & WARD_REQUEST_EXCHANGE && req->flags & WARD_REQUEST_DST_DIR &&
		!holds(place, req->state2, req->state, path2))
		return;
	req->flags |= WARD_REQUEST_LOOKED;
	*d = ward_policy_decide(place->policy, req, NULL);
}

int ward_place_trees(
	const struct ward_policy_place *place, struct ward_tree_spots *ret, struct ward_err *err)
{
	int fds[WARD_TREES_MAX];
	size_t n = ward_policy_settings(place->policy)->n_trees;
	for (size_t i = 0; i < n && i < WARD_TREES_MAX; i++)
		fds[i] = place->sources[i]
				 ? open(place->sources[i], O_PATH | O_DIRECTORY | O_CLOEXEC)
				 : -1;
	int r = ward_tree_spots_find(fds, n, ret, err);
	for (size_t i = 0; i < n && i < WARD_TREES_MAX; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return r;
}
