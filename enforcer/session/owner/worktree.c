/* SPDX-License-Identifier: Apache-2.0 */
/* Tells by git's own directories which checkout a work tree belongs to. */
#include "enforcer/session/owner/worktree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/patient.h"
#include "enforcer/policy/load.h"
#include "enforcer/session/owner/as_owner.h"

/* A regular file of at most `max` bytes. */
static bool read_small(int dir, const char *name, size_t max, struct ward_buf *ret)
{
	ward_cleanup_fd int fd = ward_fd_open_regular(dir, name, O_RDONLY);
	return fd >= 0 && ward_fd_read_all(fd, max, ret) >= 0;
}

/* The first line of a small file, without what is in front of it. False: none, or no such line. */
static bool first_line(int dir, const char *name, const char *front, struct ward_buf *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (!read_small(dir, name, 8192, &b))
		return false;
	size_t n = strlen(front), len = strcspn(ward_buf_str(&b), "\n");
	if (len <= n || strncmp(ward_buf_str(&b), front, n) != 0)
		return false;
	ward_buf_add(ret, b.data + n, len - n);
	return ward_buf_error(ret) == 0;
}

bool ward_git_same_dir(int a, int b)
{
	struct stat x, y;
	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

int ward_git_open_dir(int at, const char *path)
{
	struct stat st;
	/* The path may come from anybody who worked in the project, and name what answers to
	 * nobody. */
	return ward_patient_open_dir(at, path, WARD_PATIENT_NS, &st);
}

/* "PROJECT/.git" or a directory, as the git directory names the project: is it this one? */
static bool names(int git, const char *path, int project)
{
	ward_cleanup_fd int fd = ward_git_open_dir(git, path);
	return fd >= 0 && ward_git_same_dir(fd, project);
}

/* Of a worktree: COMMON/worktrees/NAME, whose `gitdir` is PROJECT/.git. */
bool ward_git_is_worktree(int git, int common, int project)
{
	ward_cleanup(ward_buf_clear) struct ward_buf back = WARD_BUF_INIT;
	ward_cleanup_fd int above = ward_git_open_dir(git, "../..");
	ward_cleanup_fd int worktrees =
		above >= 0
			? openat(above, "worktrees", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
			: -1;
	ward_cleanup_fd int parent = ward_git_open_dir(git, "..");
	if (worktrees < 0 || parent < 0 || !ward_git_same_dir(above, common) ||
		!ward_git_same_dir(parent, worktrees) || !first_line(git, "gitdir", "", &back))
		return false;
	char *slash = strrchr(ward_buf_str(&back), '/');
	if (!slash || strcmp(slash, "/.git") != 0)
		return false;
	*slash = 0;
	return names(git, back.data, project);
}

/* Of a submodule: core.worktree, relative to the git directory. */
bool ward_git_is_submodule(int git, int project)
{
	ward_cleanup(ward_buf_clear) struct ward_buf config = WARD_BUF_INIT;
	if (!read_small(git, "config", 1 << 20, &config))
		return false;
	const char *s = strstr(ward_buf_str(&config), "\tworktree = ");
	if (!s)
		return false;
	s += strlen("\tworktree = ");
	ward_cleanup_free char *path = strndup(s, strcspn(s, "\n"));
	return path && names(git, path, project);
}

/* The git directory that the project's `.git` names, and what it shares with others; -1: none. */
void ward_git_named(int project, int *ret_git, int *ret_common)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf rel = WARD_BUF_INIT;
	if (first_line(project, ".git", "gitdir: ", &line))
		*ret_git = ward_git_open_dir(project, ward_buf_str(&line));
	if (*ret_git >= 0)
		*ret_common = ward_git_open_dir(*ret_git,
			first_line(*ret_git, "commondir", "", &rel) ? ward_buf_str(&rel) : ".");
}

static bool is_owners(int fd, uid_t uid)
{
	struct stat st;
	return fstat(fd, &st) == 0 && st.st_uid == uid;
}

/* The directory whose `.git` is `common`. False: there is none, as of a bare repository. */
static bool main_of(int common, uid_t uid, char **ret_path)
{
	ward_cleanup_fd int top = ward_git_open_dir(common, "..");
	ward_cleanup_fd int git =
		top >= 0 ? openat(top, ".git", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	return git >= 0 && ward_git_same_dir(git, common) && is_owners(top, uid) &&
	       is_owners(git, uid) && ward_fd_path(top, ret_path) == 0;
}

static bool is_file(int project)
{
	struct stat st;
	return fstatat(project, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

static bool has_file(const char *config, const char *path)
{
	ward_cleanup(ward_buf_clear) struct ward_buf file = WARD_BUF_INIT;
	struct stat st;
	ward_buf_printf(&file, "%s/wardfs/projects/", config);
	return ward_project_file_name(path, &file) == 0 &&
	       (stat(ward_buf_str(&file), &st) == 0 || (errno != ENOENT && errno != ENOTDIR));
}

int ward_worktree_main(const struct ward_project *p, const struct ward_identity *id,
	const char *config, char **ret_path, struct ward_err *err)
{
	ward_cleanup_free char *path = NULL;
	ward_cleanup_fd int git = -1, common = -1;
	struct ward_as_owner as;
	*ret_path = NULL;
	if (!config || p->fd < 0 || !p->path || !is_file(p->fd))
		return 0;
	int r = ward_as_owner_begin(id, &as, err);
	if (r < 0)
		return r;
	if (!has_file(config, p->path) && is_owners(p->fd, id->owner_uid)) {
		ward_git_named(p->fd, &git, &common);
		if (git >= 0 && common >= 0 && is_owners(git, id->owner_uid) &&
			ward_git_is_worktree(git, common, p->fd) &&
			main_of(common, id->owner_uid, &path) && has_file(config, path))
			*ret_path = ward_steal_ptr(&path);
	}
	ward_as_owner_end(&as);
	return 0;
}

int ward_shared_policy(const struct ward_identity *id, const char *config, const char *project,
	char **ret_file, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf dir = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf file = WARD_BUF_INIT;
	struct ward_as_owner as;
	char to[4096];
	*ret_file = NULL;
	ward_buf_printf(&dir, "%s/wardfs/projects/", config);
	ward_buf_puts(&file, ward_buf_str(&dir));
	int r = ward_project_file_name(project, &file);
	if (r == 0)
		r = ward_as_owner_begin(id, &as, err);
	if (r < 0)
		return r;
	const ssize_t n = readlink(ward_buf_str(&file), to, sizeof(to) - 1);
	ward_as_owner_end(&as);
	to[n > 0 ? n : 0] = '\0';
	if (n <= 0 || strncmp(to, ward_buf_str(&dir), dir.len) != 0 || strchr(to + dir.len, '/'))
		return 0;
	*ret_file = strdup(to);
	return *ret_file ? 0 : ward_err_sys(err, -ENOMEM, "policy file");
}
