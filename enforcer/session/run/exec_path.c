/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the path of an execve(2), name by name, up to the trees. */
#include "enforcer/session/run/exec_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/owner/project.h"

/* MAXSYMLINKS of the kernel (include/linux/namei.h). */
#define LINKS_MAX 40
#define NAME_FLAGS (O_PATH | O_NOFOLLOW | O_CLOEXEC)

bool ward_exec_path_in_tree(const struct ward_run_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->n_trees; i++)
		if (ward_path_beneath(path, plan->trees[i].path) ||
			(plan->trees[i].at && ward_path_beneath(path, plan->trees[i].at)))
			return true;
	return false;
}

/* The calls report no error; an invalid id changes nothing and tells what is in force. */
static bool become(uid_t uid, gid_t gid)
{
	setfsgid(gid);
	setfsuid(uid);
	return (uid_t)setfsuid((uid_t)-1) == uid && (gid_t)setfsgid((gid_t)-1) == gid;
}

int ward_exec_rights_take(const struct ward_identity *id)
{
	/* As pid 1 does it: the owner's groups are no concern of who runs as somebody else. */
	const size_t n = id->owner_uid == id->agent_uid ? id->n_groups : 0;
	if (!id->root)
		return 0;
	/* setgroups(2) of glibc is for all threads. They stay: root's own ids need no groups. */
	if (syscall(SYS_setgroups, n, id->groups) < 0)
		return -errno;
	if (become(id->agent_uid, id->agent_gid))
		return 0;
	ward_exec_rights_drop(id);
	return -EPERM;
}

void ward_exec_rights_drop(const struct ward_identity *id)
{
	if (id->root && !become(geteuid(), getegid()))
		abort();
}

struct walk {
	const struct ward_run_plan *plan;
	int root;
	int dir;		 /* where we are; owned */
	char at[PATH_MAX];	 /* its path; "" at the root */
	char rest[2 * PATH_MAX]; /* what is still to be looked up */
	unsigned links;
};

enum step { STEP_NOWHERE = 0, STEP_ON, STEP_REFUSED, STEP_TREE, STEP_END };

static enum step failed(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP ? STEP_NOWHERE : STEP_REFUSED;
}

static enum step go_into(struct walk *w, int fd, const char *at)
{
	if (fd < 0)
		return failed(errno);
	if (w->dir >= 0)
		close(w->dir);
	w->dir = fd;
	if (at != w->at)
		snprintf(w->at, sizeof(w->at), "%s", at);
	return STEP_ON;
}

/* Puts what the link says in front of the rest. */
static enum step follow(struct walk *w, int link)
{
	char target[sizeof(w->rest)];
	ssize_t n = readlinkat(link, "", target, PATH_MAX);
	if (n <= 0 || n == PATH_MAX || ++w->links > LINKS_MAX)
		return STEP_NOWHERE;
	size_t behind = strlen(w->rest);
	if ((size_t)n + 1 + behind >= sizeof(w->rest))
		return STEP_NOWHERE;
	memmove(w->rest + n + 1, w->rest, behind + 1);
	memcpy(w->rest, target, (size_t)n);
	w->rest[n] = '/';
	return target[0] == '/' ? go_into(w, fcntl(w->root, F_DUPFD_CLOEXEC, 3), "") : STEP_ON;
}

static enum step go_up(struct walk *w)
{
	char *end = strrchr(w->at, '/');
	if (!end)
		return STEP_ON; /* the root's is itself */
	enum step s = go_into(w, openat(w->dir, "..", NAME_FLAGS | O_DIRECTORY), w->at);
	*end = '\0';
	return s;
}

/* The next name of the rest. */
static enum step step(struct walk *w)
{
	char name[NAME_MAX + 1];
	char at[PATH_MAX];
	struct statfs fs;
	struct stat st;
	size_t skip = strspn(w->rest, "/"), n = strcspn(w->rest + skip, "/");
	if (n == 0)
		return STEP_END;
	if (n > NAME_MAX)
		return STEP_NOWHERE;
	snprintf(name, sizeof(name), "%.*s", (int)n, w->rest + skip);
	memmove(w->rest, w->rest + skip + n, strlen(w->rest + skip + n) + 1);
	if (strcmp(name, ".") == 0)
		return STEP_ON;
	if (strcmp(name, "..") == 0)
		return go_up(w);
	int len = snprintf(at, sizeof(at), "%s/%s", w->at, name);
	if (len < 0 || (size_t)len >= sizeof(at))
		return STEP_NOWHERE;
	bool tree = ward_exec_path_in_tree(w->plan, at);
	ward_cleanup_fd int fd = tree ? -1 : openat(w->dir, name, NAME_FLAGS);
	if (!tree && (fd < 0 || fstatfs(fd, &fs) < 0))
		return failed(errno);
	/* Wherever its mount was moved to. To be at its top asks it nothing but this. */
	if (tree || fs.f_type == FUSE_SUPER_MAGIC) {
		memcpy(w->at, at, (size_t)len + 1);
		return STEP_TREE;
	}
	if (fstat(fd, &st) < 0)
		return failed(errno);
	if (!S_ISLNK(st.st_mode))
		return go_into(w, ward_steal_fd(&fd), at);
	/* Of /proc: they lead to what they say or to anything else, for each process elsewhere. */
	return fs.f_type == PROC_SUPER_MAGIC ? STEP_NOWHERE : follow(w, fd);
}

bool ward_exec_path_follow(const struct ward_run_plan *plan, int root, const char *path,
	char to[PATH_MAX], int *ret_fd)
{
	ward_cleanup_free struct walk *w = calloc(1, sizeof(*w));
	enum step s = STEP_ON;
	if (!w || strlen(path) >= PATH_MAX)
		return false;
	*w = (struct walk){.plan = plan, .root = root, .dir = -1};
	memcpy(w->rest, path, strlen(path) + 1);
	s = go_into(w, fcntl(root, F_DUPFD_CLOEXEC, 3), "");
	while (s == STEP_ON)
		s = step(w);
	ward_cleanup_fd int fd = w->dir;
	if (s == STEP_END)
		*ret_fd = ward_steal_fd(&fd);
	if (s == STEP_END || s == STEP_TREE) {
		const char *rest = s == STEP_TREE ? w->rest : "";
		int n = snprintf(to, PATH_MAX, "%s%s", *w->at ? w->at : "/", rest);
		return n > 0 && n < PATH_MAX;
	}
	if (s == STEP_REFUSED)
		memcpy(to, path, strlen(path) + 1);
	return s == STEP_REFUSED;
}
