/* SPDX-License-Identifier: Apache-2.0 */
/* A step of a session as a store of its own, for as long as a command looks at it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/review/journal_read.h"
#include "enforcer/review/review_place.h"

#define VIEWS "views"
#define BASES "bases"
#define DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
/* Bytes of a name in a view, or in VIEWS: a word and a number. */
#define NAME 32
/* Seconds that a command waits for another one to make its view. */
#define PATIENCE 30

/* A view is locked while a command uses it: what is not was left by one that was killed. */
static int remove_stale(int views)
{
	ward_cleanup_fd int copy = openat(views, ".", DIRECTORY);
	ward_cleanup_dir DIR *d = copy < 0 ? NULL : fdopendir(copy);
	int r = d ? 0 : -errno;
	if (d)
		copy = -1;
	for (struct dirent *e = NULL; r == 0 && (errno = 0, e = readdir(d));) {
		ward_cleanup_fd int one =
			e->d_name[0] == '.' ? -1 : openat(views, e->d_name, DIRECTORY);
		if (one >= 0 && flock(one, LOCK_EX | LOCK_NB) == 0)
			r = ward_reviews_remove_tree(views, e->d_name);
	}
	return r;
}

/* What small files of the host had in them. */
static int link_bases(int dir_fd, int view, const struct ward_journal *j)
{
	if (mkdirat(view, BASES, 0700) < 0)
		return -errno;
	for (uint32_t i = 1; i < j->n_files; i++) {
		char name[NAME];
		if (!j->files[i].known || !j->files[i].has_lower)
			continue;
		snprintf(name, sizeof(name), BASES "/%u", i);
		if (linkat(dir_fd, name, view, name, 0) < 0 && errno != ENOENT)
			return -errno;
	}
	return 0;
}

/* What `review discard PATH` threw away is thrown away at every step. */
static int link_discarded(int dir_fd, int view)
{
	static const char name[] = "discarded";
	return linkat(dir_fd, name, view, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

static int fill(int dir_fd, const char *step, int view, struct ward_err *err)
{
	ward_cleanup(ward_journal_clear) struct ward_journal j = {.roots = NULL};
	int r = ward_reviews_branch(dir_fd, step, view, err);
	if (r < 0)
		return r;
	/* Both have the same entries. */
	if (renameat(view, "branch", view, "journal") < 0)
		return ward_err_sys(err, -errno, "a step");
	r = ward_journal_read(view, &j, err);
	if (r < 0)
		return r;
	r = link_bases(dir_fd, view, &j);
	if (r == 0)
		r = link_discarded(dir_fd, view);
	return r < 0 ? ward_err_sys(err, r, "a step") : 0;
}

int ward_reviews_view(int dir_fd, const char *step, int *ret_fd, struct ward_err *err)
{
	if (mkdirat(dir_fd, VIEWS, 0700) < 0 && errno != EEXIST)
		return ward_err_sys(err, -errno, "the place of a step");
	ward_cleanup_fd int views = openat(dir_fd, VIEWS, DIRECTORY), view = -1;
	char name[NAME] = "";
	int r = views < 0 ? -errno : ward_fd_lock(views, LOCK_EX, PATIENCE);
	if (r == 0)
		r = remove_stale(views);
	for (unsigned n = 1; r == 0 && view < 0; n++) {
		snprintf(name, sizeof(name), "%u", n);
		if (mkdirat(views, name, 0700) == 0) {
			view = openat(views, name, DIRECTORY);
			r = view < 0 ? -errno : ward_fd_lock(view, LOCK_EX, 1);
		} else if (errno != EEXIST) {
			r = -errno;
		}
	}
	if (views >= 0)
		(void)flock(views, LOCK_UN);
	if (r < 0)
		return ward_err_sys(err, r, "the place of a step");
	r = fill(dir_fd, step, view, err);
	if (r < 0) {
		(void)!ward_reviews_remove_tree(views, name);
		return r;
	}
	*ret_fd = ward_steal_fd(&view);
	return 0;
}

void ward_reviews_view_drop(int dir_fd, int view_fd)
{
	ward_cleanup_fd int views = openat(dir_fd, VIEWS, DIRECTORY);
	if (views < 0 || ward_fd_lock(views, LOCK_EX, PATIENCE) < 0)
		return;
	(void)flock(view_fd, LOCK_UN);
	(void)!remove_stale(views);
}
