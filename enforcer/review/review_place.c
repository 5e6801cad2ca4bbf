/* SPDX-License-Identifier: Apache-2.0 */
/* Directories of staged changes: made, found, removed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/review/review_place.h"
#include "enforcer/review/review.h"

#define REVIEWS "reviews"
#define DEPTH_MAX 4

static int open_dir(int at, const char *name, int flags)
{
	int fd = openat(at, name, flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int ward_reviews_make(
	int state_fd, const char *session, uid_t uid, gid_t gid, int *ret_fd, struct ward_err *err)
{
	if (mkdirat(state_fd, REVIEWS, 0711) < 0 && errno != EEXIST)
		return ward_err_sys(err, -errno, "%s in the state directory", REVIEWS);
	ward_cleanup_fd int all = open_dir(state_fd, REVIEWS, O_RDONLY);
	if (all < 0)
		return ward_err_sys(err, all, "%s in the state directory", REVIEWS);
	if (mkdirat(all, session, 0700) < 0)
		return ward_err_sys(err, -errno, "%s/%s", REVIEWS, session);
	ward_cleanup_fd int fd = open_dir(all, session, O_RDONLY);
	if (fd >= 0 && (uid != geteuid() || gid != getegid()) && fchown(fd, uid, gid) < 0)
		return ward_err_sys(err, -errno, "%s/%s", REVIEWS, session);
	int own = fd < 0 ? fd : open_dir(all, session, O_PATH);
	if (own < 0)
		return ward_err_sys(err, own, "%s/%s", REVIEWS, session);
	*ret_fd = own;
	return 0;
}

int ward_reviews_open(int state_fd, const char *session, int *ret_fd)
{
	ward_cleanup_fd int all = open_dir(state_fd, REVIEWS, O_RDONLY);
	int fd = all < 0 ? all : open_dir(all, session, O_RDONLY);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}

/* Objects are flat, and so is what is beside them: what is deeper is none of ours. */
static int remove_tree(int at, const char *name, unsigned depth)
{
	if (depth > DEPTH_MAX)
		return -ELOOP;
	int fd = open_dir(at, name, O_RDONLY);
	/* The session may have taken the right to read from a directory that it made. */
	if (fd == -EACCES && fchmodat(at, name, 0700, 0) == 0)
		fd = open_dir(at, name, O_RDONLY);
	if (fd < 0)
		return fd;
	(void)fchmod(fd, 0700);
	ward_cleanup_dir DIR *d = fdopendir(fd);
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	int r = 0;
	for (struct dirent *e = NULL; r == 0 && (errno = 0, (e = readdir(d)));) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, e->d_name, 0) == 0)
			continue;
		r = errno == EISDIR ? remove_tree(fd, e->d_name, depth + 1) : -errno;
	}
	if (r == 0 && unlinkat(at, name, AT_REMOVEDIR) < 0)
		r = -errno;
	return r;
}

int ward_reviews_remove_tree(int at, const char *name)
{
	return remove_tree(at, name, 0);
}

int ward_reviews_remove(int state_fd, const char *session, struct ward_err *err)
{
	ward_cleanup_fd int all = open_dir(state_fd, REVIEWS, O_RDONLY);
	int r = all < 0 ? all : remove_tree(all, session, 0);
	return r < 0 ? ward_err_sys(err, r, "%s/%s", REVIEWS, session) : 0;
}

int ward_reviews_discard(int state_fd, const char *session, struct ward_err *err)
{
	static const char *const staged[] = {
		"objects", "bases", "parts", "steps", "views", "discarded", "journal"};
	ward_cleanup_fd int dir = -1;
	int r = ward_reviews_open(state_fd, session, &dir);
	/* The journal last: what has one is there. */
	for (size_t i = 0; r == 0 && i < sizeof(staged) / sizeof(*staged); i++) {
		r = unlinkat(dir, staged[i], 0) < 0 ? -errno : 0;
		if (r == -EISDIR)
			r = remove_tree(dir, staged[i], 0);
		r = r == -ENOENT ? 0 : r;
	}
	if (r == 0 && faccessat(dir, "undo", F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return ward_reviews_remove(state_fd, session, err);
	return r < 0 ? ward_err_sys(err, r, "%s/%s", REVIEWS, session) : 0;
}

static void expire(int state_fd, int all, const char *session, uint64_t now_s)
{
	ward_cleanup(ward_applied_clear) struct ward_applied a = {.v = NULL};
	struct ward_err err = WARD_ERR_INIT;
	uint64_t until = 0;
	ward_cleanup_fd int dir = open_dir(all, session, O_RDONLY);
	if (dir < 0 || ward_applied_of(dir, &a, &err) < 0 || !a.n_steps)
		return;
	for (size_t i = 0; i < a.n_steps; i++)
		until = a.steps[i].until_s > until ? a.steps[i].until_s : until;
	if (until > now_s || remove_tree(dir, "undo", 0) < 0)
		return;
	if (faccessat(dir, "journal", F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		(void)!ward_reviews_remove(state_fd, session, &err);
}

void ward_applied_expire(int state_fd, uint64_t now_s)
{
	int fd = open_dir(state_fd, REVIEWS, O_RDONLY);
	ward_cleanup_dir DIR *d = fd < 0 ? NULL : fdopendir(fd);
	for (struct dirent *e = NULL; d && (e = readdir(d));)
		if (e->d_name[0] != '.')
			expire(state_fd, fd, e->d_name, now_s);
}
