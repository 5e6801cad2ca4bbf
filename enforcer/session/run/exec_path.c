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
/* PROC_ROOT_INO of the kernel (include/linux/proc_ns.h). */
#define PROC_TOP 1
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
	pid_t tid;
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

/* Puts the target of a link in front of the rest. */
static enum step go_on(struct walk *w, const char *target)
{
	size_t n = strlen(target), behind = strlen(w->rest);
	if (++w->links > LINKS_MAX || n + 1 + behind >= sizeof(w->rest))
		return STEP_NOWHERE;
	memmove(w->rest + n + 1, w->rest, behind + 1);
	memcpy(w->rest, target, n);
	w->rest[n] = '/';
	return target[0] == '/' ? go_into(w, fcntl(w->root, F_DUPFD_CLOEXEC, 3), "") : STEP_ON;
}

/* What the link says; false where it says nothing, or too much. */
static bool says(int link, char to[PATH_MAX])
{
	ssize_t n = readlinkat(link, "", to, PATH_MAX);
	if (n <= 0 || n == PATH_MAX)
		return false;
	to[n] = '\0';
	return true;
}

/* The thread's own numbers: proc(5), the last of NStgid and NSpid is that of its own namespace. */
static bool own_numbers(pid_t tid, int *ret_process, int *ret_thread)
{
	char path[64];
	ward_cleanup_free char *line = NULL;
	size_t size = 0;
	*ret_process = *ret_thread = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	FILE *f = fopen(path, "re");
	while (f && getline(&line, &size, f) > 0) {
		const char *last = strrchr(line, '\t');
		if (last && strncmp(line, "NStgid:", 7) == 0)
			*ret_process = atoi(last + 1);
		else if (last && strncmp(line, "NSpid:", 6) == 0)
			*ret_thread = atoi(last + 1);
	}
	if (f)
		fclose(f);
	return *ret_process > 0 && *ret_thread > 0;
}

/*
 * A link of /proc. self and thread-self say something else to each who asks. What lies below leads
 * to an object, not along a path: it is opened as the kernel does it, and says where it is.
 */
static enum step follow_proc(struct walk *w, int link, const char *name)
{
	char target[PATH_MAX], own[32];
	struct statfs fs;
	struct stat st;
	int process = 0, thread = 0;
	bool self = strcmp(name, "self") == 0;
	if (fstat(w->dir, &st) < 0)
		return failed(errno);
	if (st.st_ino == PROC_TOP) {
		if (!self && strcmp(name, "thread-self") != 0)
			return says(link, target) ? go_on(w, target) : STEP_NOWHERE;
		if (!own_numbers(w->tid, &process, &thread))
			return STEP_NOWHERE;
		snprintf(target, sizeof(target), "%d/task/%d", process, thread);
		*(self ? strchr(target, '/') : target + strlen(target)) = '\0';
		return go_on(w, target);
	}
	/* Opened first: what such a link says, another thread can change. O_PATH asks no file
	 * system; fstatfs(2) does, and is not for what is in a tree. */
	ward_cleanup_fd int fd = openat(w->dir, name, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return failed(errno);
	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(own, target, sizeof(target));
	if (n <= 0 || n == sizeof(target) || target[0] != '/' || ++w->links > LINKS_MAX)
		return STEP_NOWHERE;
	target[n] = '\0';
	bool tree = ward_exec_path_in_tree(w->plan, target);
	if (!tree && fstatfs(fd, &fs) < 0)
		return failed(errno);
	if (tree || fs.f_type == FUSE_SUPER_MAGIC) {
		memcpy(w->at, target, strlen(target) + 1);
		return STEP_TREE;
	}
	return go_into(w, ward_steal_fd(&fd), strcmp(target, "/") == 0 ? "" : target);
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
	if (fs.f_type == PROC_SUPER_MAGIC)
		return follow_proc(w, fd, name);
	return says(fd, at) ? go_on(w, at) : STEP_NOWHERE;
}

bool ward_exec_path_follow(const struct ward_run_plan *plan, pid_t tid, int root, const char *path,
	char to[PATH_MAX], int *ret_fd)
{
	ward_cleanup_free struct walk *w = calloc(1, sizeof(*w));
	enum step s = STEP_ON;
	if (!w || strlen(path) >= PATH_MAX)
		return false;
	*w = (struct walk){.plan = plan, .tid = tid, .root = root, .dir = -1};
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
