/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the kernel whether others can write to what is renamed. */
#include "fs/gate/alone.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/policy.h"
#include "fs/kernel/backing.h"
#include "fs/node/node.h"

/* A handle of ours that was released is closed a moment later. */
#define TRIES 5
#define PAUSE_NS 2000000L
/* Levels of directories; the guard serves no deeper ones. */
#define DEPTH_MAX 2048U

struct look {
	const struct ward_fs_tree *tree;
	struct ward_alone *a;
	unsigned names;
	uint64_t until_ns;
};

static int keep(struct ward_alone *a, int fd)
{
	if (a->n == WARD_ALONE_FILES_MAX)
		return -EXDEV;
	if (a->n == a->room) {
		const size_t room = a->room ? 2 * a->room : 4;
		int *v = reallocarray(a->fds, room, sizeof(*v));

		if (!v)
			return -ENOMEM;
		a->fds = v;
		a->room = room;
	}
	a->fds[a->n++] = fd;
	return 0;
}

/* Takes fd, which is open for reading. */
static int lease(int fd, struct ward_alone *a)
{
	ward_cleanup_fd int own = fd;
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	int r;

	for (int i = 0; fcntl(own, F_SETLEASE, F_RDLCK) < 0; i++) {
		if (errno != EAGAIN || i == TRIES)
			return -EXDEV;
		(void)nanosleep(&pause, NULL);
	}
	r = keep(a, own);
	if (r == 0)
		(void)ward_steal_fd(&own);
	return r;
}

static bool loses(
	const struct ward_fs_tree *tree, const struct ward_state *src, const struct ward_state *dst)
{
	const struct ward_policy *p = tree->fs->policy;

	return ward_policy_rights(p, src) & ~ward_policy_rights(p, dst) & WARD_RIGHT_WRITE;
}

static int look_at(struct look *l, int at, const char *name, mode_t type,
	const struct ward_state *src, const struct ward_state *dst, unsigned depth);

static int step_into(struct look *l, int at, const struct dirent *e, const struct ward_state *src,
	const struct ward_state *dst, unsigned depth)
{
	struct ward_policy *p = l->tree->fs->policy;
	const struct ward_state *from = NULL, *to = NULL;
	mode_t type = DTTOIF(e->d_type);
	struct ward_file file;
	int r = 0;

	if (++l->names > WARD_ALONE_NAMES_MAX || ward_clock_mono_ns() > l->until_ns)
		return -EXDEV;
	if (e->d_type == DT_UNKNOWN) {
		r = ward_backing_stat(l->tree, at, e->d_name, &file);
		type = r == 0 ? file.st.st_mode & S_IFMT : 0;
		/* Another file system, or gone: nothing of this tree. */
		if (r == -EXDEV || r == -ENOENT)
			return 0;
	}
	if (r == 0)
		r = ward_policy_step(p, src, e->d_name, strlen(e->d_name), &from);
	if (r == 0)
		r = ward_policy_step(p, dst, e->d_name, strlen(e->d_name), &to);
	if (r == 0)
		r = look_at(l, at, e->d_name, type, from, to, depth + 1);
	ward_policy_state_put(p, from);
	ward_policy_state_put(p, to);
	return r;
}

static int look_in(struct look *l, int at, const char *name, const struct ward_state *src,
	const struct ward_state *dst, unsigned depth)
{
	ward_cleanup_fd int fd = -1;
	ward_cleanup_dir DIR *d = NULL;
	const struct dirent *e;
	int r = ward_backing_open(at, name, O_RDONLY | O_DIRECTORY, 0, &fd);

	if (r < 0 || depth > DEPTH_MAX || !(d = fdopendir(fd)))
		return -EXDEV;
	fd = -1;
	while (r == 0 && (errno = 0, (e = readdir(d))))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = step_into(l, dirfd(d), e, src, dst, depth);
	return r == 0 && errno ? -EXDEV : r;
}

static int look_at(struct look *l, int at, const char *name, mode_t type,
	const struct ward_state *src, const struct ward_state *dst, unsigned depth)
{
	int fd, r;

	/* Of one state nothing beneath loses a right. */
	if (ward_policy_same_state(src, dst))
		return 0;
	if (S_ISDIR(type))
		return look_in(l, at, name, src, dst, depth);
	if (!S_ISREG(type) || !loses(l->tree, src, dst))
		return 0;
	r = ward_backing_open(at, name, O_RDONLY, 0, &fd);
	if (r == -ENOENT)
		return depth ? 0 : r;
	return r < 0 ? -EXDEV : lease(fd, l->a);
}

static int refuse(struct ward_op *op, const struct ward_record_paths *paths)
{
	static const char text[] = "somebody else may have it open for writing, which the policy "
				   "does not allow at the new path";
	const struct ward_decision d = {.verdict = WARD_VERDICT_DENY, .error = EXDEV};
	const int r = ward_record_deny(op, paths, WARD_RIGHT_CREATE, &d, text);

	return r < 0 ? r : -EXDEV; /* mv and cp copy then */
}

int ward_alone_rename(struct ward_op *op, const struct ward_record_paths *paths, const int fds[2],
	const struct ward_file *from, const struct ward_file *to, struct ward_alone *a)
{
	struct ward_nodes *nodes = op->tree->nodes;
	struct ward_policy *p = op->tree->fs->policy;
	const struct ward_state *src = NULL, *dst = NULL;
	struct look l = {
		.tree = op->tree, .a = a, .until_ns = ward_clock_mono_ns() + WARD_ALONE_TIME_NS};
	int r;

	/* What is staged, other sessions do not have. */
	if (ward_backing_staged())
		return 0;
	r = ward_node_child_state(nodes, paths->node, paths->name, &src);
	if (r == 0)
		r = ward_node_child_state(nodes, paths->node2, paths->name2, &dst);
	if (r == 0)
		r = look_at(&l, fds[0], paths->name, from->st.st_mode, src, dst, 0);
	if (r == 0 && to)
		r = look_at(&l, fds[1], paths->name2, to->st.st_mode, dst, src, 0);
	ward_policy_state_put(p, src);
	ward_policy_state_put(p, dst);
	return r == -EXDEV ? refuse(op, paths) : r;
}

int ward_alone_link(struct ward_op *op, const struct ward_record_paths *paths, int fd,
	const struct ward_file *file, struct ward_alone *a)
{
	struct ward_policy *p = op->tree->fs->policy;
	const struct ward_state *dst = NULL;
	bool writes;
	int own, r;

	if (ward_backing_staged() || !S_ISREG(file->st.st_mode))
		return 0;
	r = ward_node_child_state(op->tree->nodes, paths->node2, paths->name2, &dst);
	if (r < 0)
		return r;
	writes = ward_policy_rights(p, dst) & WARD_RIGHT_WRITE;
	ward_policy_state_put(p, dst);
	if (writes)
		return 0;
	r = ward_backing_reopen(fd, O_RDONLY, &own) < 0 ? -EXDEV : lease(own, a);
	return r == -EXDEV ? refuse(op, paths) : r;
}

void ward_alone_end(struct ward_alone *a)
{
	/* Closing gives the lease back. */
	for (size_t i = 0; i < a->n; i++)
		close(a->fds[i]);
	free(a->fds);
	*a = WARD_ALONE_INIT;
}
