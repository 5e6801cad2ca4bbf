/* SPDX-License-Identifier: Apache-2.0 */
/* Holds the directories that lead to other trees, and says which names lie there. */
#include "fs/resolve/trees_beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "fs/node/node_names.h"

/* A directory above another tree's place, or the place itself. */
struct point {
	const char *path; /* below this tree, of the other tree's; not terminated */
	size_t len;
	bool place;
	struct ward_node *node; /* held: a reference; NULL until then. Protected by nodes->lock */
	int fd;			/* O_PATH, with node; never changed afterwards */
};

struct ward_beneath {
	struct ward_file_id elsewhere[WARD_TREES_MAX]; /* tops of other trees */
	size_t n_elsewhere;
	size_t n;
	struct point v[];
};

/* The path of other below tree, without the slash; NULL: it is not beneath. */
static const char *below(const struct ward_fs_tree *tree, const struct ward_fs_tree *other)
{
	const size_t len = tree->path_len == 1 ? 0 : tree->path_len;

	if (other == tree || tree->files || other->path_len <= len + 1 ||
		memcmp(other->path, tree->path, len) != 0 || other->path[len] != '/')
		return NULL;
	return other->path + len + 1;
}

static size_t components(const char *path)
{
	size_t n = path != NULL;

	for (; path && *path; path++)
		n += *path == '/';
	return n;
}

static void add_points(struct ward_beneath *b, const char *path)
{
	for (const char *at = path;; at++) {
		if (*at != '/' && *at)
			continue;
		b->v[b->n++] = (struct point){
			.path = path, .len = (size_t)(at - path), .place = !*at, .fd = -1};
		if (!*at)
			return;
	}
}

static int add_elsewhere(
	const struct ward_fs_tree *tree, struct ward_beneath *b, struct ward_err *err)
{
	const struct ward_fs *fs = tree->fs;

	for (size_t i = 0; i < fs->n_trees; i++) {
		struct ward_file file;
		int r;

		if (!(tree->elsewhere & 1U << i))
			continue;
		r = ward_backing_fstat(fs->trees[i].root_fd, &file);
		if (r < 0)
			return ward_err_sys(err, r, "%s", fs->trees[i].path);
		b->elsewhere[b->n_elsewhere++] = file.id;
	}
	return 0;
}

int ward_beneath_new(
	const struct ward_fs_tree *tree, struct ward_beneath **ret, struct ward_err *err)
{
	const struct ward_fs *fs = tree->fs;
	struct ward_beneath *b;
	size_t n = 0;
	int r;

	for (size_t i = 0; i < fs->n_trees; i++)
		n += components(below(tree, &fs->trees[i]));
	if (!n && !tree->elsewhere) {
		*ret = NULL;
		return 0;
	}
	b = calloc(1, sizeof(*b) + n * sizeof(*b->v));
	if (!b)
		return ward_err_sys(err, -ENOMEM, "%s", tree->path);
	for (size_t i = 0; i < fs->n_trees; i++) {
		const char *p = below(tree, &fs->trees[i]);

		if (p)
			add_points(b, p);
	}
	r = add_elsewhere(tree, b, err);
	if (r < 0)
		free(b);
	else
		*ret = b;
	return r;
}

void ward_beneath_free(struct ward_fs_tree *tree)
{
	struct ward_beneath *b = tree->beneath;

	for (size_t i = 0; b && i < b->n; i++) {
		if (b->v[i].node)
			ward_node_unpin(tree->nodes, b->v[i].node);
		if (b->v[i].fd >= 0)
			close(b->v[i].fd);
	}
	free(b);
	tree->beneath = NULL;
}

/* Where a name of a node stands: its parent and its last component. */
struct at {
	const struct ward_node *parent;
	const char *name;
	size_t len;
};

static bool up(const struct ward_nodes *nodes, struct at *at)
{
	const struct ward_name *n = at->parent == &nodes->root ? NULL : at->parent->names;

	if (!n)
		return false;
	*at = (struct at){.parent = n->parent, .name = n->text, .len = n->len};
	return true;
}

/* Has the place where at stands this very path? Compared from behind. */
static bool is_path(const struct ward_nodes *nodes, struct at at, const struct point *p)
{
	size_t left = p->len;

	for (;;) {
		if (at.len > left || memcmp(p->path + left - at.len, at.name, at.len) != 0)
			return false;
		left -= at.len;
		if (at.parent == &nodes->root)
			return left == 0;
		if (!left || p->path[--left] != '/' || !up(nodes, &at))
			return false;
	}
}

/* Does a point stand there, by its path? */
static const struct point *find(
	const struct ward_fs_tree *tree, const struct at *at, bool place_only)
{
	const struct ward_beneath *b = tree->beneath;

	for (size_t i = 0; i < b->n; i++)
		if ((b->v[i].place || !place_only) && is_path(tree->nodes, *at, &b->v[i]))
			return &b->v[i];
	return NULL;
}

static const struct point *find_node(
	const struct ward_fs_tree *tree, const struct ward_node *node, bool place_only)
{
	const struct ward_beneath *b = tree->beneath;

	for (size_t i = 0; i < b->n; i++)
		if ((b->v[i].place || !place_only) && b->v[i].node == node)
			return &b->v[i];
	return NULL;
}

/* Is it the top of what another tree serves? */
static bool is_elsewhere(const struct ward_fs_tree *tree, const struct ward_node *node)
{
	const struct ward_beneath *b = tree->beneath;

	for (size_t i = 0; node->dir && i < b->n_elsewhere; i++)
		if (ward_file_id_equal(&node->id, &b->elsewhere[i]))
			return true;
	return false;
}

static uint32_t elsewhere_flag(const struct ward_fs_tree *tree, const struct ward_node *node)
{
	return is_elsewhere(tree, node) ? WARD_REQUEST_ELSEWHERE : 0;
}

static uint32_t flags_of(const struct point *p)
{
	if (!p)
		return 0;
	return WARD_REQUEST_LEADS | (p->place ? WARD_REQUEST_COVERED : 0);
}

/* What stands there leads on, or is covered itself, or lies beneath what is. */
static uint32_t flags_at(const struct ward_fs_tree *tree, struct at at)
{
	const struct ward_nodes *nodes = tree->nodes;
	uint32_t flags = flags_of(find(tree, &at, false));

	/* One tree's place may be above another's. */
	for (;;) {
		if (find_node(tree, at.parent, true) || is_elsewhere(tree, at.parent))
			return flags | WARD_REQUEST_COVERED;
		if (!up(nodes, &at))
			return flags;
		if (find(tree, &at, true))
			return flags | WARD_REQUEST_COVERED;
	}
}

uint32_t ward_beneath_flags_locked(
	const struct ward_fs_tree *tree, const struct ward_node *node, const char *name)
{
	struct ward_nodes *nodes = tree->nodes;
	uint32_t flags = 0;

	if (!tree->beneath)
		return 0;
	if (name) {
		const struct ward_name *n = ward_nodes_find(nodes, node, name, strlen(name));

		flags = flags_at(
			tree, (struct at){.parent = node, .name = name, .len = strlen(name)});
		return n ? flags | flags_of(find_node(tree, n->node, false)) |
				       elsewhere_flag(tree, n->node)
			 : flags;
	}
	if (node == &nodes->root)
		return 0;
	flags = flags_of(find_node(tree, node, false)) | elsewhere_flag(tree, node);
	for (const struct ward_name *n = node->names; n; n = ward_node_name_older(n))
		flags |= flags_at(
			tree, (struct at){.parent = n->parent, .name = n->text, .len = n->len});
	return flags;
}

uint32_t ward_beneath_flags(struct ward_fs_tree *tree, struct ward_node *node, const char *name)
{
	uint32_t flags;

	if (!tree->beneath)
		return 0;
	pthread_mutex_lock(&tree->nodes->lock);
	flags = ward_beneath_flags_locked(tree, node, name);
	pthread_mutex_unlock(&tree->nodes->lock);
	return flags;
}

/* Locked: the points at that name, one for each other tree that it leads to. */
static bool hold_all(
	struct ward_fs_tree *tree, const struct at *at, struct ward_node *node, int *fd)
{
	struct ward_beneath *b = tree->beneath;

	for (size_t i = 0; i < b->n; i++) {
		struct point *p = &b->v[i];

		if (p->node || !is_path(tree->nodes, *at, p))
			continue;
		if (*fd < 0)
			return true;
		p->fd = fcntl(*fd, F_DUPFD_CLOEXEC, 0);
		if (p->fd < 0)
			continue;
		p->node = node;
		node->refs++;
	}
	return false;
}

void ward_beneath_hold(struct ward_fs_tree *tree, struct ward_node *parent, const char *name,
	int dirfd, struct ward_node *node)
{
	const struct at at = {.parent = parent, .name = name, .len = strlen(name)};
	ward_cleanup_fd int fd = -1;
	struct ward_file file;
	bool asks;

	if (!tree->beneath || !node->dir)
		return;
	pthread_mutex_lock(&tree->nodes->lock);
	asks = hold_all(tree, &at, node, &fd);
	pthread_mutex_unlock(&tree->nodes->lock);
	/* A directory that cannot be held is looked up each time, as all others. */
	if (!asks || ward_backing_open(dirfd, name, O_PATH | O_DIRECTORY, 0, &fd) < 0 ||
		ward_backing_fstat(fd, &file) < 0 || !ward_file_id_equal(&file.id, &node->id))
		return;
	pthread_mutex_lock(&tree->nodes->lock);
	(void)hold_all(tree, &at, node, &fd);
	pthread_mutex_unlock(&tree->nodes->lock);
}

/* Not there any more, or something else is: what the host did counts. */
static bool is_gone(int r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -ELOOP || r == -ESTALE;
}

int ward_beneath_look(struct ward_fs_tree *tree, struct ward_node *parent, const char *name, int r,
	struct ward_file *ret)
{
	const struct point *p = NULL;
	const struct ward_name *n;
	struct ward_file file;

	if (!tree->beneath || r >= 0 || is_gone(r))
		return r;
	pthread_mutex_lock(&tree->nodes->lock);
	n = ward_nodes_find(tree->nodes, parent, name, strlen(name));
	if (n)
		p = find_node(tree, n->node, false);
	pthread_mutex_unlock(&tree->nodes->lock);
	if (!p || ward_backing_fstat(p->fd, &file) < 0)
		return r;
	*ret = file;
	return 0;
}
