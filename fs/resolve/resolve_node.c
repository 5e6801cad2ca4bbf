/* SPDX-License-Identifier: Apache-2.0 */
/* Finds descriptors for nodes, and looks whether they still stand where they were. */
#include "fs/resolve/resolve_node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/helper.h"
#include "fs/base/shared_moves.h"
#include "fs/kernel/folding.h"
#include "fs/node/removed_files.h"
#include "fs/quota/quota.h"
#include "fs/resolve/replaced_files.h"
#include "fs/review/review.h"
#include "fs/watch/backing_watch.h"

static uint64_t coarse_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

#define STALE_MAX 64U

/* One directory to be looked at: what is needed for it outside the lock. */
struct job {
	struct ward_node *node;	  /* pinned */
	struct ward_node *parent; /* its descriptor in use; NULL: the node is the root */
	int parent_fd;
	int fd;		/* in use if >= 0 */
	uint64_t moves; /* ward_moves_seq() when it was taken up */
	char name[NAME_MAX + 1];
};

/* Locked: closes the least recently used descriptors that nobody uses. */
static void shrink(struct ward_nodes *nodes)
{
	struct ward_node *node = TAILQ_LAST(&nodes->lru, ward_node_list), *prev;

	for (; node && nodes->n_open_dirs > WARD_NODE_DIRS_MAX; node = prev) {
		prev = TAILQ_PREV(node, ward_node_list, dir->lru);
		if (node->dir->users)
			continue;
		TAILQ_REMOVE(&nodes->lru, node, dir->lru);
		node->dir->in_lru = false;
		close(node->dir->fd);
		node->dir->fd = -1;
		nodes->n_open_dirs--;
	}
}

/* Locked. */
static void use(struct ward_nodes *nodes, struct ward_node *node)
{
	node->dir->users++;
	if (node->dir->in_lru && TAILQ_FIRST(&nodes->lru) != node) {
		TAILQ_REMOVE(&nodes->lru, node, dir->lru);
		TAILQ_INSERT_HEAD(&nodes->lru, node, dir->lru);
	}
}

static bool fresh(const struct ward_nodes *nodes, const struct ward_node *node, uint64_t now)
{
	/* What was looked at before there were watches gets its own. */
	if (!node->dir->watch_tried && ward_watch_due(nodes->tree))
		return false;
	/* Others have moved directories: only what was looked at since is known. */
	if (node->dir->checked_moves != ward_moves_seq(nodes->tree->fs->moves))
		return false;
	return node->dir->checked_ns && now - node->dir->checked_ns < WARD_RESOLVE_FRESH_NS;
}

/* Directories to be looked at, from above to below: many at once, since each walk goes all the way
 * up. */
struct todo {
	struct ward_node *v[STALE_MAX]; /* pinned */
	size_t n;
};

/*
 * Locked: what has to be done before node's descriptor may be used. 0: nothing; 1: *ret, not pinned
 * yet; -EACCES.
 */
static int next_jobs(struct ward_nodes *nodes, struct ward_node *node, struct todo *ret)
{
	const bool search = !(nodes->tree->fs->flags & WARD_FS_ALLOW_OTHER);
	const uint64_t now = coarse_ns();
	struct ward_node *stale[STALE_MAX], *top;
	size_t n_stale = 0;

	for (struct ward_node *n = node;; n = n->names->parent) {
		if (!fresh(nodes, n, now))
			stale[n_stale++ % STALE_MAX] = n;
		else if (search && n != node && !n->dir->searchable && !n_stale)
			return -EACCES;
		if (n == &nodes->root)
			break;
		if (!ward_node_first_name(n))
			return -ESTALE;
	}
	if (!n_stale && node->dir->fd >= 0)
		return 0;
	top = n_stale ? stale[(n_stale - 1) % STALE_MAX] : node;
	ret->n = 0;
	if (top == &nodes->root || top->names->parent->dir->fd >= 0) {
		ret->v[ret->n++] = top;
		while (ret->n < n_stale && ret->n < STALE_MAX) {
			ret->v[ret->n] = stale[(n_stale - 1 - ret->n) % STALE_MAX];
			ret->n++;
		}
		return 1;
	}
	while (top != &nodes->root && top->names->parent->dir->fd < 0)
		top = top->names->parent;
	ret->v[ret->n++] = top;
	return 1;
}

/* Locked. */
static void take_job(struct ward_nodes *nodes, struct ward_node *node, struct job *job)
{
	job->node = node;
	node->refs++;
	job->moves = ward_moves_seq(nodes->tree->fs->moves);
	job->fd = node->dir->fd;
	if (job->fd >= 0)
		use(nodes, node);
	job->parent = NULL;
	job->parent_fd = -1;
	if (node == &nodes->root)
		return;
	job->parent = node->names->parent;
	job->parent->refs++;
	job->parent_fd = job->parent->dir->fd;
	use(nodes, job->parent);
	memcpy(job->name, node->names->text, node->names->len + 1U);
}

/*
 * What the node stands for is no longer under that name: nothing, something else, or something that
 * was mounted over it. -ESTALE then makes the kernel look up, which tells what is there.
 */
static bool elsewhere(int r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -ELOOP || r == -EXDEV;
}

/* Looks at the directory; opens it if need be into *fresh_fd. */
static int do_job(
	struct ward_fs_tree *tree, const struct job *job, int *fresh_fd, bool *ret_searchable)
{
	struct ward_file file = {.id = {0}};
	int r;

	if (job->parent && job->fd < 0) {
		r = ward_backing_open(job->parent_fd, job->name, O_PATH | O_DIRECTORY, 0, fresh_fd);
		if (r == 0)
			r = ward_backing_stat(tree, *fresh_fd, "", &file);
		if (r == 0 && ward_file_id_equal(&file.id, &job->node->id))
			r = ward_folding_check(tree, *fresh_fd);
	} else if (job->parent) {
		r = ward_backing_stat(tree, job->parent_fd, job->name, &file);
	} else {
		r = 0;
	}
	if (elsewhere(r))
		return -ESTALE;
	if (r < 0)
		return r;
	if (job->parent && !ward_file_id_equal(&file.id, &job->node->id))
		return -ESTALE;
	ward_watch_dir(tree, job->node, job->fd >= 0 ? job->fd : *fresh_fd);
	r = ward_backing_searchable(job->fd >= 0 ? job->fd : *fresh_fd);
	*ret_searchable = r == 0;
	return r == -EACCES ? 0 : r;
}

/* Locked: takes over the descriptor unless there is one. */
static void keep_fd(struct ward_nodes *nodes, struct ward_node *node, int *fd)
{
	if (node->dir->fd >= 0)
		return;
	node->dir->fd = ward_steal_fd(fd);
	node->dir->in_lru = true;
	TAILQ_INSERT_HEAD(&nodes->lru, node, dir->lru);
	nodes->n_open_dirs++;
	shrink(nodes);
}

static void finish_job(
	struct ward_fs_tree *tree, struct job *job, int r, int *fresh_fd, bool searchable)
{
	struct ward_nodes *nodes = tree->nodes;
	struct ward_dir *dir = job->node->dir;

	pthread_mutex_lock(&nodes->lock);
	if (job->fd >= 0)
		dir->users--;
	if (job->parent)
		job->parent->dir->users--;
	if (r == 0) {
		dir->searchable = searchable;
		dir->checked_ns = coarse_ns();
		dir->checked_moves = job->moves;
		keep_fd(nodes, job->node, fresh_fd);
	}
	pthread_mutex_unlock(&nodes->lock);
	if (job->parent)
		ward_node_unpin(nodes, job->parent);
	ward_node_unpin(nodes, job->node);
}

/* Locked: false where a change since next_jobs() asks for another look at the whole. */
static bool still_to_do(const struct ward_nodes *nodes, const struct ward_node *node)
{
	return node == &nodes->root ||
	       (ward_node_first_name(node) && node->names->parent->dir->fd >= 0);
}

static int run_jobs(struct ward_fs_tree *tree, const struct todo *todo)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < todo->n; i++) {
		ward_cleanup_fd int fresh_fd = -1;
		bool searchable = false, go_on;
		struct job job;

		pthread_mutex_lock(&tree->nodes->lock);
		go_on = still_to_do(tree->nodes, todo->v[i]);
		if (go_on)
			take_job(tree->nodes, todo->v[i], &job);
		pthread_mutex_unlock(&tree->nodes->lock);
		if (!go_on)
			break;
		r = do_job(tree, &job, &fresh_fd, &searchable);
		finish_job(tree, &job, r, &fresh_fd, searchable);
	}
	for (size_t i = 0; i < todo->n; i++)
		ward_node_unpin(tree->nodes, todo->v[i]);
	return r;
}

static int resolve_dir(struct ward_fs_tree *tree, struct ward_node *node, struct ward_dirref *ret)
{
	struct ward_nodes *nodes = tree->nodes;

	if (!node->dir)
		return -ENOTDIR;
	for (;;) {
		struct todo todo;
		int r;

		pthread_mutex_lock(&nodes->lock);
		r = next_jobs(nodes, node, &todo);
		if (r == 0) {
			use(nodes, node);
			ret->node = node;
			ret->fd = node->dir->fd;
		}
		for (size_t i = 0; r > 0 && i < todo.n; i++)
			todo.v[i]->refs++;
		pthread_mutex_unlock(&nodes->lock);
		if (r <= 0)
			return r;
		r = run_jobs(tree, &todo);
		if (r < 0)
			return r;
	}
}

int ward_resolve_dir(struct ward_fs_tree *tree, struct ward_node *node, struct ward_dirref *ret)
{
	int r = resolve_dir(tree, node, ret);

	if (r != -ESTALE)
		return r;
	/* Perhaps a rename of ours is done on the backing but not yet in the table. */
	pthread_rwlock_rdlock(&tree->nodes->renames_lock);
	r = resolve_dir(tree, node, ret);
	pthread_rwlock_unlock(&tree->nodes->renames_lock);
	return r;
}

void ward_dirref_put(struct ward_fs_tree *tree, struct ward_dirref *ref)
{
	if (!ref->node)
		return;
	pthread_mutex_lock(&tree->nodes->lock);
	ref->node->dir->users--;
	pthread_mutex_unlock(&tree->nodes->lock);
	ref->node = NULL;
}

void ward_resolve_changed(struct ward_fs_tree *tree, struct ward_node *node)
{
	if (!node->dir)
		return;
	pthread_mutex_lock(&tree->nodes->lock);
	node->dir->checked_ns = 0;
	pthread_mutex_unlock(&tree->nodes->lock);
}

/*
 * Locked: would a descriptor of what stands there be of use? What is held keeps its space in use:
 * not of files where a quota would have it back.
 */
static bool keeps(const struct ward_fs_tree *tree, const struct ward_name *n)
{
	if (!n)
		return false;
	if (n->node->dir)
		return n->node->dir->fd < 0;
	return !ward_quotas_any(tree->fs->quotas) && ward_removed_wanted(n);
}

void ward_resolve_keep(
	struct ward_fs_tree *tree, struct ward_node *parent, int dirfd, const char *name)
{
	struct ward_nodes *nodes = tree->nodes;
	ward_cleanup_fd int fd = -1;
	struct ward_name *n;
	int flags = O_PATH;
	bool asks;

	pthread_mutex_lock(&nodes->lock);
	n = ward_nodes_find(nodes, parent, name, strlen(name));
	asks = keeps(tree, n);
	if (asks && n->node->dir)
		flags |= O_DIRECTORY;
	pthread_mutex_unlock(&nodes->lock);
	if (!asks || ward_backing_open(dirfd, name, flags, 0, &fd) < 0)
		return;
	pthread_mutex_lock(&nodes->lock);
	n = ward_nodes_find(nodes, parent, name, strlen(name));
	if (n && n->node->dir)
		keep_fd(nodes, n->node, &fd);
	else if (keeps(tree, n))
		ward_removed_keep(nodes, n, ward_steal_fd(&fd));
	pthread_mutex_unlock(&nodes->lock);
}

/*
 * A file without a name, because it was removed or replaced: reached by its kept descriptor.
 * -ESTALE: no descriptor is kept, or the file is elsewhere, perhaps outside the tree.
 */
static int removed(
	struct ward_fs_tree *tree, struct ward_node *node, int *ret_fd, struct ward_file *ret)
{
	ward_cleanup_fd int fd = -1;
	struct ward_file file;

	if (!node->dir) {
		fd = ward_removed_fd(tree->nodes, node);
		if (fd < 0)
			return ward_replaced_fd(tree, node, ret_fd, ret);
	}
	pthread_mutex_lock(&tree->nodes->lock);
	if (node->dir && node->dir->fd >= 0 && node != &tree->nodes->root &&
		!ward_node_first_name(node))
		fd = fcntl(node->dir->fd, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&tree->nodes->lock);
	if (fd < 0 || ward_backing_fstat(fd, &file) < 0 || file.st.st_nlink ||
		!ward_file_id_equal(&file.id, &node->id))
		return -ESTALE;
	*ret_fd = ward_steal_fd(&fd);
	*ret = file;
	return 0;
}

/*
 * Tries the names of a node one after the other: flags < 0 asks for metadata alone. *ret_fd is
 * untouched then.
 */
static int by_names(struct ward_fs_tree *tree, struct ward_node *node, int flags, int *ret_fd,
	struct ward_file *ret)
{
	int error = -ESTALE;

	for (size_t i = 0;; i++) {
		ward_cleanup_fd int fd = -1;
		struct ward_dirref dir = {0};
		struct ward_place place;
		struct ward_file file = {.id = {0}};
		int r = ward_node_place(tree->nodes, node, i, &place);

		if (r < 0)
			return error;
		r = ward_resolve_dir(tree, place.parent ? place.parent : node, &dir);
		if (r == 0 && flags >= 0) {
			r = ward_backing_open_shown(tree, dir.fd, place.name, flags, &fd);
			if (r == 0)
				r = ward_backing_fstat(fd, &file);
		} else if (r == 0) {
			r = ward_backing_stat(tree, dir.fd, place.name, &file);
		}
		ward_dirref_put(tree, &dir);
		ward_place_put(tree->nodes, &place);
		if (r == 0 &&
			(node == &tree->nodes->root || ward_file_id_equal(&file.id, &node->id))) {
			if (flags >= 0)
				*ret_fd = ward_steal_fd(&fd);
			*ret = file;
			return 0;
		}
		/* The first real answer counts. */
		if (r < 0 && !elsewhere(r) && error == -ESTALE)
			error = r;
	}
}

static int by_names_surely(struct ward_fs_tree *tree, struct ward_node *node, int flags,
	int *ret_fd, struct ward_file *ret)
{
	int r = by_names(tree, node, flags, ret_fd, ret);

	if (r != -ESTALE)
		return r;
	/* No recursion of read locks: ward_resolve_dir() within may take it once more, which a
	 * reader-preferring lock (the default kind) allows. */
	pthread_rwlock_rdlock(&tree->nodes->renames_lock);
	r = by_names(tree, node, flags, ret_fd, ret);
	pthread_rwlock_unlock(&tree->nodes->renames_lock);
	return r;
}

int ward_resolve_stat(struct ward_fs_tree *tree, struct ward_node *node, struct ward_file *ret)
{
	struct ward_handle *h = ward_handle_any(tree->nodes, node);
	ward_cleanup_fd int fd = -1;
	int r;

	if (!h) {
		r = by_names_surely(tree, node, -1, NULL, ret);
		return r == -ESTALE ? removed(tree, node, &fd, ret) : r;
	}
	r = ward_backing_fstat(h->fd, ret);
	ward_handle_put(tree->nodes, h);
	return r;
}

int ward_resolve_open(struct ward_fs_tree *tree, struct ward_node *node, int flags, int *ret_fd,
	struct ward_file *ret_file)
{
	ward_cleanup_fd int kept = -1;
	struct ward_handle *h;
	int fd = -1;
	int r = by_names_surely(tree, node, flags, ret_fd, ret_file);

	if (r != -ESTALE || flags & O_PATH)
		return r;
	/* Unlinked but open: /proc/self/fd of the client leads here. */
	h = ward_handle_any(tree->nodes, node);
	if (h) {
		r = ward_backing_reopen(h->fd, flags, &fd);
		ward_handle_put(tree->nodes, h);
	} else {
		r = removed(tree, node, &kept, ret_file);
		if (r == 0)
			r = ward_backing_reopen(kept, flags, &fd);
	}
	if (r == 0)
		r = ward_backing_fstat(fd, ret_file);
	if (r < 0) {
		if (fd >= 0)
			close(fd);
		return r;
	}
	*ret_fd = fd;
	return 0;
}

int ward_resolve_fd(struct ward_fs_tree *tree, struct ward_node *node, struct ward_fdref *ret)
{
	struct ward_file file;
	int r;

	ret->handle = ward_handle_any(tree->nodes, node);
	if (ret->handle) {
		ret->fd = ret->handle->fd;
		return 0;
	}
	r = by_names_surely(tree, node, O_PATH, &ret->fd, &file);
	return r == -ESTALE ? removed(tree, node, &ret->fd, &file) : r;
}

void ward_fdref_put(struct ward_fs_tree *tree, struct ward_fdref *ref)
{
	if (ref->handle)
		ward_handle_put(tree->nodes, ref->handle);
	else if (ref->fd >= 0)
		close(ref->fd);
	ref->handle = NULL;
	ref->fd = -1;
}

/* --- files that are staged --- */

/* A look at a name is all that the staged changes need. */
static void look_at_names(
	struct ward_fs_tree *tree, struct ward_node *node, const struct ward_review_file *f)
{
	struct ward_review *rv = ward_backing_staged();
	struct ward_place place;

	for (size_t i = 0; ward_review_still_unplaced(rv, f) &&
			   ward_node_place(tree->nodes, node, i, &place) == 0;
		i++) {
		struct ward_dirref dir = {0};
		struct ward_file file;

		if (place.parent && ward_resolve_dir(tree, place.parent, &dir) == 0)
			(void)!ward_backing_stat(tree, dir.fd, place.name, &file);
		ward_dirref_put(tree, &dir);
		ward_place_put(tree->nodes, &place);
	}
}

void ward_resolve_places(struct ward_fs_tree *tree)
{
	struct ward_review *rv = ward_backing_staged();
	const struct ward_review_file *f;
	struct ward_file_id id;
	mode_t type;

	while (rv && (f = ward_review_unplaced(rv, &id, &type))) {
		struct ward_node *node = ward_nodes_by_id(tree->nodes, &id, type);

		if (!node)
			continue;
		look_at_names(tree, node, f);
		ward_node_unpin(tree->nodes, node);
	}
}
