/* SPDX-License-Identifier: Apache-2.0 */
/* Moves files to and from names of secrets, and puts back what the host had put there meanwhile. */
#include "fs/ops/secret_moves.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <unistd.h>

#include "fs/gate/gate.h"
#include "fs/kernel/backing.h"

/* How often what the host replaces all the while is put back. */
#define EVICT_TRIES 16

void ward_secret_move_end(struct ward_secret_move *m)
{
	if (m->fd >= 0)
		close(m->fd);
	if (m->fd2 >= 0)
		close(m->fd2);
	*m = WARD_SECRET_MOVE_INIT;
}

static bool covers_secret(struct ward_op *op, struct ward_node *parent, const char *name)
{
	const struct ward_state *state = NULL;
	const bool secret = ward_node_child_state(op->tree->nodes, parent, name, &state) < 0 ||
			    ward_policy_secret(state);

	ward_policy_state_put(op->tree->fs->policy, state);
	return secret;
}

void ward_secret_move_begin(
	struct ward_op *op, const struct ward_two_names *at, struct ward_secret_move *m)
{
	ward_secret_move_end(m);
	m->from = covers_secret(op, at->parent, at->name);
	m->to = covers_secret(op, at->parent2, at->name2);
	if (!m->from && !m->to)
		return;
	(void)!ward_backing_open(at->dir, at->name, O_PATH, 0, &m->fd);
	(void)!ward_backing_open(at->dir2, at->name2, O_PATH, 0, &m->fd2);
}

static bool is_there(const struct ward_fs_tree *tree, int dirfd, const char *name, int fd)
{
	struct ward_file held, now;

	return fd >= 0 && ward_backing_fstat(fd, &held) == 0 &&
	       ward_backing_stat(tree, dirfd, name, &now) == 0 &&
	       ward_file_id_equal(&held.id, &now.id);
}

static bool is_file(int fd)
{
	struct ward_file file;

	return fd >= 0 && ward_backing_fstat(fd, &file) == 0 && !S_ISDIR(file.st.st_mode);
}

/*
 * What stands at name came from home, where the host had put it; mine, which belongs at name, may
 * be at home now (-1: nothing does). Where the host has put yet another file at home it would have
 * replaced this one.
 */
static void evict(const struct ward_fs_tree *tree, int dir, const char *name, int home_dir,
	const char *home, int mine)
{
	for (int i = 0; i < EVICT_TRIES; i++) {
		int r;

		if (is_there(tree, home_dir, home, mine)) {
			r = ward_backing_rename(dir, name, home_dir, home, RENAME_EXCHANGE);
			if (r == 0 && is_there(tree, dir, name, mine))
				return;
			continue;
		}
		r = ward_backing_rename(dir, name, home_dir, home, RENAME_NOREPLACE);
		if (r == 0 || r == -ENOENT)
			return;
		if (r == -EEXIST && ward_backing_unlink(dir, name, false) == 0)
			return;
	}
	(void)!ward_backing_unlink(dir, name, false);
}

int ward_secret_rename(struct ward_op *op, const struct ward_two_names *at,
	struct ward_secret_move *m, unsigned flags, bool there)
{
	const struct ward_fs_tree *tree = op->tree;
	bool exchange = flags & RENAME_EXCHANGE;
	/* What is replaced is looked at before it is gone; of a directory nothing is lost by it. */
	bool swap = there && m->to && !exchange && !(flags & RENAME_NOREPLACE) && is_file(m->fd) &&
		    is_file(m->fd2);
	int r;

	if (!m->from && !m->to)
		return ward_backing_rename(at->dir, at->name, at->dir2, at->name2, flags);
	r = ward_backing_rename(
		at->dir, at->name, at->dir2, at->name2, swap ? RENAME_EXCHANGE : flags);
	if (r == -EINVAL && swap) { /* a backing without RENAME_EXCHANGE */
		swap = false;
		r = ward_backing_rename(at->dir, at->name, at->dir2, at->name2, flags);
	}
	if (r < 0)
		return r;
	if (m->from && !is_there(tree, at->dir2, at->name2, m->fd)) {
		evict(tree, at->dir2, at->name2, at->dir, at->name, swap || exchange ? m->fd2 : -1);
		return -ESTALE;
	}
	if (m->to && (swap || exchange) && !is_there(tree, at->dir, at->name, m->fd2)) {
		evict(tree, at->dir, at->name, at->dir2, at->name2, m->fd);
		return -ESTALE;
	}
	if (swap)
		r = ward_backing_unlink(at->dir, at->name, false);
	if (r == 0 && m->fd >= 0)
		r = ward_gate_made(op, at->parent2, at->name2, m->fd, NULL);
	if (r == 0 && exchange && m->fd2 >= 0)
		r = ward_gate_made(op, at->parent, at->name, m->fd2, NULL);
	return r;
}
