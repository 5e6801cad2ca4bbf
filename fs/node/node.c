/* SPDX-License-Identifier: Apache-2.0 */
/* The table of nodes: found, entered, moved, removed, freed. */
#include "fs/node/node.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs/base/fuse_kernel.h"
#include "fs/node/node_depth.h"
#include "fs/node/node_names.h"
#include "fs/node/node_table.h"
#include "fs/node/removed_files.h"

#define HASH_START 1024U

/* With eight bytes more, malloc(3) takes 16 more for each file that the kernel has seen. */
static_assert(sizeof(void *) != 8 || sizeof(struct ward_node) <= 136, "memory of a million files");

/* Numbers of files that were made together lie side by side, and so do their places here. */
static size_t hash_ino(uint64_t ino)
{
	return (size_t)(((ino >> 6) * UINT64_C(0x9e3779b97f4a7c15)) >> 20 << 6 | (ino & 63));
}

struct ward_name *ward_node_first_name(const struct ward_node *node)
{
	return node->names && node->names->live ? node->names : NULL;
}

static struct ward_node *find_ino(
	const struct ward_nodes *nodes, const struct ward_file_id *id, uint32_t type)
{
	struct ward_node *n = nodes->inos[hash_ino(id->ino) & nodes->mask_inos];

	for (; n; n = n->ino_next)
		if (!n->gone && n->type == type && ward_file_id_equal(&n->id, id))
			return n;
	return NULL;
}

struct ward_handle *ward_node_handles(const struct ward_nodes *nodes, const struct ward_file_id *id)
{
	const struct ward_node *node = find_ino(nodes, id, S_IFREG);

	return node ? node->handles : NULL;
}

struct ward_node *ward_nodes_by_id(
	struct ward_nodes *nodes, const struct ward_file_id *id, uint32_t type)
{
	struct ward_node *node;

	pthread_mutex_lock(&nodes->lock);
	node = find_ino(nodes, id, type);
	if (!node && type == S_IFDIR && ward_file_id_equal(&nodes->root.id, id))
		node = &nodes->root;
	if (node)
		node->refs++;
	pthread_mutex_unlock(&nodes->lock);
	return node;
}

/* Locked: nothing leads to the directory any more, and nothing watches it. */
static void close_dir(struct ward_nodes *nodes, struct ward_node *node)
{
	struct ward_dir *dir = node->dir;

	if (dir->watched)
		nodes->hooks->unwatch(nodes->tree, node);
	if (dir->in_lru)
		TAILQ_REMOVE(&nodes->lru, node, dir->lru);
	dir->in_lru = false;
	if (dir->fd >= 0) {
		close(dir->fd);
		nodes->n_open_dirs--;
	}
	dir->fd = -1;
	dir->watch_tried = false;
}

/*
 * Locked: a directory that others took from where it was, seen again: who is in it, or has it open,
 * goes on. Where the time of birth is known, its number is not another's; should it be, nothing
 * that was opened before leads there.
 */
static struct ward_node *find_missed(
	struct ward_nodes *nodes, const struct ward_file_id *id, uint32_t type)
{
	struct ward_node *n = nodes->inos[hash_ino(id->ino) & nodes->mask_inos];

	if (type != S_IFDIR || !id->btime_ns)
		return NULL;
	while (n && !(n->missed && ward_file_id_equal(&n->id, id) && !n->dir->users))
		n = n->ino_next;
	if (n) {
		close_dir(nodes, n);
		n->gone = n->missed = false;
	}
	return n;
}

static void grow_inos(struct ward_nodes *nodes)
{
	size_t size = (nodes->mask_inos + 1) * 2;
	struct ward_node **v;

	if (nodes->n_inos <= nodes->mask_inos || !(v = calloc(size, sizeof(struct ward_node *))))
		return;
	for (size_t i = 0; i <= nodes->mask_inos; i++) {
		struct ward_node *n, *next;

		for (n = nodes->inos[i]; n; n = next) {
			size_t at = hash_ino(n->id.ino) & (size - 1);

			next = n->ino_next;
			n->ino_next = v[at];
			v[at] = n;
		}
	}
	free(nodes->inos);
	nodes->inos = v;
	nodes->mask_inos = size - 1;
}

static void hash_in_ino(struct ward_nodes *nodes, struct ward_node *node)
{
	struct ward_node **at;

	grow_inos(nodes);
	at = &nodes->inos[hash_ino(node->id.ino) & nodes->mask_inos];
	node->ino_next = *at;
	*at = node;
	node->hashed = true;
	nodes->n_inos++;
}

static void hash_out_ino(struct ward_nodes *nodes, struct ward_node *node)
{
	struct ward_node **at = &nodes->inos[hash_ino(node->id.ino) & nodes->mask_inos];

	if (!node->hashed)
		return;
	while (*at && *at != node)
		at = &(*at)->ino_next;
	if (*at) {
		*at = node->ino_next;
		nodes->n_inos--;
	}
	node->hashed = false;
}

static void drop_ref(struct ward_nodes *nodes, struct ward_node *node);

static void free_name(struct ward_nodes *nodes, struct ward_name *n)
{
	ward_policy_state_put(nodes->policy, n->state);
	free(n);
}

/* The node has lost everything that kept it; returns the parents that it held, one by one. */
static void free_node(struct ward_nodes *nodes, struct ward_node *node)
{
	if (node->dir) {
		close_dir(nodes, node);
		free(node->dir->names);
		free(node->dir);
	}
	if (node->fd_kept)
		ward_removed_drop(nodes, node);
	if (node->backing_id > 0 || node->quota_held)
		nodes->hooks->ended(nodes->tree, node);
	hash_out_ino(nodes, node);
	ward_node_ids_give(&nodes->ids, node->number);
	free(node->digest);
	free(node);
}

/*
 * Iterative: a chain of directories that live only for their child may be longer than a stack is
 * deep.
 */
static void drop_ref(struct ward_nodes *nodes, struct ward_node *node)
{
	while (node) {
		struct ward_node *up = NULL;
		struct ward_name *n, *next;

		if (node == &nodes->root || --node->refs || node->nlookup)
			return;
		for (n = node->names; n; n = next) {
			next = ward_node_name_older(n);
			if (n->live)
				ward_node_table_take(nodes, n);
			/* All but the last parent recurse by one level at most: only files have
			 * several names, and a file is nobody's parent. */
			if (up)
				drop_ref(nodes, up);
			up = n->parent;
			free_name(nodes, n);
		}
		ward_node_names_clear(nodes, node);
		free_node(nodes, node);
		node = up;
	}
}

void ward_node_unpin(struct ward_nodes *nodes, struct ward_node *node)
{
	pthread_mutex_lock(&nodes->lock);
	drop_ref(nodes, node);
	pthread_mutex_unlock(&nodes->lock);
}

void ward_node_told(struct ward_nodes *nodes, struct ward_node *node)
{
	pthread_mutex_lock(&nodes->lock);
	node->nlookup++;
	pthread_mutex_unlock(&nodes->lock);
}

void ward_node_forget(struct ward_nodes *nodes, struct ward_node *node, uint64_t n)
{
	pthread_mutex_lock(&nodes->lock);
	if (node != &nodes->root && node != &nodes->nowhere) {
		node->nlookup -= n < node->nlookup ? n : node->nlookup;
		node->refs++;
		drop_ref(nodes, node);
	}
	pthread_mutex_unlock(&nodes->lock);
}

uint64_t ward_node_to_ino(const struct ward_nodes *nodes, const struct ward_node *node)
{
	return node == &nodes->root ? FUSE_ROOT_ID : node->number;
}

struct ward_node *ward_nodes_from_ino(struct ward_nodes *nodes, uint64_t ino)
{
	struct ward_node *node;

	if (ino == FUSE_ROOT_ID)
		return &nodes->root;
	pthread_mutex_lock(&nodes->lock);
	node = ward_node_ids_find(&nodes->ids, ino);
	pthread_mutex_unlock(&nodes->lock);
	return node ? node : &nodes->nowhere;
}

struct ward_node *ward_nodes_pin(struct ward_nodes *nodes, uint64_t number)
{
	struct ward_node *node;

	pthread_mutex_lock(&nodes->lock);
	node = number == FUSE_ROOT_ID ? &nodes->root : ward_node_ids_find(&nodes->ids, number);
	if (node)
		node->refs++;
	pthread_mutex_unlock(&nodes->lock);
	return node;
}

uint64_t ward_nodes_next(struct ward_nodes *nodes, uint64_t number)
{
	uint64_t next;

	pthread_mutex_lock(&nodes->lock);
	next = ward_node_ids_next(&nodes->ids, number);
	pthread_mutex_unlock(&nodes->lock);
	return next;
}

/* Locked: takes the name from its node; the last one stays as a ghost. */
static void unbind(struct ward_nodes *nodes, struct ward_name *n)
{
	struct ward_node *node = n->node;

	ward_node_table_take(nodes, n);
	n->live = false;
	if (!node->several) {
		/* No name leads here: an inode number that comes back is another file. */
		if (node->dir) {
			node->dir->checked_ns = 0;
			nodes->dirs_gen += node->refs > 0;
		}
		return;
	}
	ward_node_names_take(nodes, node, n);
	node->refs++;
	drop_ref(nodes, n->parent);
	free_name(nodes, n);
	drop_ref(nodes, node);
}

/* Locked: gives node the name; a ghost makes way. */
static int bind_name(struct ward_nodes *nodes, struct ward_node *node, struct ward_node *parent,
	const char *name, size_t len)
{
	struct ward_name *ghost = node->names && !node->names->live ? node->names : NULL;
	struct ward_name *n = parent->dir ? calloc(1, sizeof(*n) + len + 1) : NULL;
	int r;

	if (!n)
		return parent->dir ? -ENOMEM : -ENOTDIR;
	if (ghost)
		node->names = NULL;
	r = ward_node_names_add(nodes, node, n);
	if (r < 0) {
		free(n);
		return r;
	}
	n->node = node;
	n->parent = parent;
	parent->refs++;
	n->len = (uint8_t)len;
	n->live = true;
	n->gen = nodes->gen - 1;
	memcpy(n->text, name, len);
	ward_node_table_add(nodes, n);
	ward_node_came(nodes, parent, node);
	if (ghost) {
		drop_ref(nodes, ghost->parent);
		free_name(nodes, ghost);
	}
	return 0;
}

static struct ward_node *new_node(struct ward_nodes *nodes, const struct ward_file *file)
{
	struct ward_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	if (ward_node_ids_take(&nodes->ids, node, &node->number) < 0) {
		free(node);
		return NULL;
	}
	node->id = file->id;
	node->type = (uint16_t)(file->st.st_mode & S_IFMT);
	if (S_ISDIR(file->st.st_mode)) {
		node->dir = calloc(1, sizeof(*node->dir));
		if (!node->dir) {
			ward_node_ids_give(&nodes->ids, node->number);
			free(node);
			return NULL;
		}
		node->dir->fd = -1;
	}
	hash_in_ino(nodes, node);
	return node;
}

static bool is_above(
	const struct ward_nodes *nodes, const struct ward_node *above, const struct ward_node *node)
{
	for (; node != &nodes->root && node->names; node = node->names->parent)
		if (node == above)
			return true;
	return false;
}

/* Locked: a known file was seen under a name that it did not have. */
static void take_old_names(
	struct ward_nodes *nodes, struct ward_node *node, const struct ward_file *file)
{
	struct ward_name *n, *next;

	if (!node->dir && file->st.st_nlink > 1)
		return;
	for (n = node->names; n; n = next) {
		next = ward_node_name_older(n);
		if (n->live)
			unbind(nodes, n);
	}
	/* Beneath a moved directory, states are others; the kernel moves what it knows of it along.
	 */
	if (node->dir) {
		nodes->gen++;
		nodes->moves++;
		nodes->hooks->moved(nodes->tree, node->number);
	}
}

static int enter_locked(struct ward_nodes *nodes, struct ward_node *parent, const char *name,
	const struct ward_file *file, struct ward_node **ret)
{
	size_t len = strlen(name);
	struct ward_name *n = ward_nodes_find(nodes, parent, name, len);
	struct ward_node *node;
	uint32_t type = file->st.st_mode & S_IFMT;
	int r;

	if (n && n->node->type == type && ward_file_id_equal(&n->node->id, &file->id)) {
		*ret = n->node;
		return 0;
	}
	if (!ward_node_fits(nodes, parent, NULL))
		return -ENAMETOOLONG;
	if (n)
		unbind(nodes, n);
	node = find_ino(nodes, &file->id, type);
	if (!node)
		node = find_missed(nodes, &file->id, type);
	/* A directory above itself: the host is moving things as we look. A fresh node then. */
	if (node && (node == &nodes->root || (node->dir && is_above(nodes, node, parent))))
		node = NULL;
	if (node && !ward_node_fits(nodes, parent, node))
		return -ENAMETOOLONG;
	if (node)
		take_old_names(nodes, node, file);
	else
		node = new_node(nodes, file);
	if (!node)
		return -ENOMEM;
	r = bind_name(nodes, node, parent, name, len);
	if (r < 0) {
		node->refs++;
		drop_ref(nodes, node);
		return r;
	}
	*ret = node;
	return 0;
}

int ward_nodes_enter(struct ward_nodes *nodes, struct ward_node *parent, const char *name,
	const struct ward_file *file, struct ward_node **ret)
{
	struct ward_node *node;
	int r;

	pthread_mutex_lock(&nodes->lock);
	r = enter_locked(nodes, parent, name, file, &node);
	if (r == 0) {
		node->nlookup++;
		node->nlink = (uint32_t)file->st.st_nlink;
		*ret = node;
	}
	pthread_mutex_unlock(&nodes->lock);
	return r;
}

int ward_nodes_enter_unnamed(struct ward_nodes *nodes, struct ward_node *parent,
	const struct ward_file *file, struct ward_node **ret)
{
	struct ward_name *n = calloc(1, sizeof(*n) + 1);
	struct ward_node *node;
	int r = n ? 0 : -ENOMEM;

	pthread_mutex_lock(&nodes->lock);
	if (r == 0 && !ward_node_fits(nodes, parent, NULL))
		r = -ENAMETOOLONG;
	node = r == 0 ? new_node(nodes, file) : NULL;
	if (node) {
		/* A ghost from the start: what it may be used for is what its directory says. */
		n->node = node;
		n->parent = parent;
		parent->refs++;
		n->gen = nodes->gen - 1;
		node->names = n;
		node->nlookup = 1;
		*ret = node;
	}
	pthread_mutex_unlock(&nodes->lock);
	if (!node) {
		free(n);
		return r < 0 ? r : -ENOMEM;
	}
	return 0;
}

bool ward_node_unnamed(struct ward_nodes *nodes, const struct ward_node *node)
{
	bool unnamed;

	pthread_mutex_lock(&nodes->lock);
	unnamed = node->names && !node->names->live && !node->names->len;
	pthread_mutex_unlock(&nodes->lock);
	return unnamed;
}

void ward_node_check_gone(struct ward_node *node)
{
	/* What is open or mapped keeps its number; and it may have been moved on the host: seen
	 * under its new name it must find this node, which knows who writes to it. */
	if (node->dir)
		node->gone = true;
	else if (!node->nlink && !node->handles && !(node->mapped && node->id.btime_ns))
		node->gone = true;
}

bool ward_nodes_hold_quota(struct ward_nodes *nodes, const struct ward_file *file)
{
	struct ward_node *node;

	pthread_mutex_lock(&nodes->lock);
	node = find_ino(nodes, &file->id, file->st.st_mode & S_IFMT);
	if (node)
		node->quota_held = true;
	pthread_mutex_unlock(&nodes->lock);
	return node != NULL;
}

uint64_t ward_nodes_linked(struct ward_nodes *nodes, const struct ward_file *file)
{
	struct ward_node *node;
	uint64_t number = 0;

	pthread_mutex_lock(&nodes->lock);
	node = find_ino(nodes, &file->id, file->st.st_mode & S_IFMT);
	if (node && !node->dir) {
		node->nlink = (uint32_t)file->st.st_nlink;
		node->kept = false;
		number = ward_node_to_ino(nodes, node);
	}
	pthread_mutex_unlock(&nodes->lock);
	return number;
}

/*
 * Locked: one of node's links is gone. How many are left may have been seen since: the others that
 * are known stay, and with them the node.
 */
static void lost_link(struct ward_node *node)
{
	const struct ward_name *n = ward_node_first_name(node);
	const uint32_t known = n ? 1 + (node->several != NULL) : 0;

	if (node->nlink)
		node->nlink--;
	if (node->nlink < known)
		node->nlink = known;
	/* The number may be given to a new file at once: it must not find this node. */
	if (!n)
		ward_node_check_gone(node);
}

static void take_away(
	struct ward_nodes *nodes, struct ward_node *parent, const char *name, bool missed)
{
	struct ward_name *n;

	pthread_mutex_lock(&nodes->lock);
	n = ward_nodes_find(nodes, parent, name, strlen(name));
	if (n) {
		struct ward_node *node = n->node;

		unbind(nodes, n);
		lost_link(node);
		node->missed = missed && node->dir;
	}
	pthread_mutex_unlock(&nodes->lock);
}

void ward_nodes_remove(struct ward_nodes *nodes, struct ward_node *parent, const char *name)
{
	take_away(nodes, parent, name, false);
}

void ward_nodes_miss(struct ward_nodes *nodes, struct ward_node *parent, const char *name)
{
	take_away(nodes, parent, name, true);
}

static const struct ward_node *known(
	const struct ward_nodes *nodes, const struct ward_node *parent, const char *name)
{
	const struct ward_name *n = ward_nodes_find(nodes, parent, name, strlen(name));

	return n ? n->node : NULL;
}

int ward_nodes_check_move(struct ward_nodes *nodes, const struct ward_node *parent,
	const char *name, const struct ward_node *parent2, const char *name2, bool exchange)
{
	bool fits;

	pthread_mutex_lock(&nodes->lock);
	fits = ward_node_fits(nodes, parent2, known(nodes, parent, name)) &&
	       (!exchange || ward_node_fits(nodes, parent, known(nodes, parent2, name2)));
	pthread_mutex_unlock(&nodes->lock);
	return fits ? 0 : -ENAMETOOLONG;
}

int ward_nodes_move(struct ward_nodes *nodes, struct ward_node *parent, const char *name,
	struct ward_node *parent2, const char *name2, bool exchange)
{
	struct ward_name *a, *b;
	struct ward_node *na = NULL, *nb = NULL;
	bool same;
	int r = 0;

	pthread_mutex_lock(&nodes->lock);
	same = ward_nodes_same_state(nodes, parent, name, parent2, name2);
	a = ward_nodes_find(nodes, parent, name, strlen(name));
	b = ward_nodes_find(nodes, parent2, name2, strlen(name2));
	/* Pinned, so that neither vanishes with its name. */
	if (a) {
		na = a->node;
		na->refs++;
		unbind(nodes, a);
	}
	if (b) {
		nb = b->node;
		nb->refs++;
		unbind(nodes, b);
		if (!exchange)
			lost_link(nb);
	}
	if (na)
		r = bind_name(nodes, na, parent2, name2, strlen(name2));
	if (r == 0 && nb && exchange)
		r = bind_name(nodes, nb, parent, name, strlen(name));
	/* Directories carry everything beneath to new states, if their own is another one. A node
	 * that was not known has no known descendants. */
	if ((na && na->dir) || (nb && nb->dir)) {
		nodes->moves++;
		nodes->gen += !same;
	}
	drop_ref(nodes, na);
	drop_ref(nodes, nb);
	pthread_mutex_unlock(&nodes->lock);
	return r;
}

static void free_tables(struct ward_nodes *nodes)
{
	ward_policy_state_put(nodes->policy, nodes->root_state);
	if (nodes->root.dir)
		free(nodes->root.dir->names);
	free(nodes->root.dir);
	free(nodes->removed);
	free(nodes->inos);
	free(nodes->retired);
	free(nodes->written);
	ward_node_ids_clear(&nodes->ids);
	pthread_mutex_destroy(&nodes->lock);
	pthread_rwlock_destroy(&nodes->renames_lock);
	pthread_cond_destroy(&nodes->ended);
	free(nodes);
}

static void init_ended(struct ward_nodes *nodes)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&nodes->ended, &attr);
	pthread_condattr_destroy(&attr);
}

int ward_nodes_new(struct ward_fs_tree *tree, const struct ward_nodes_hooks *hooks,
	struct ward_nodes **ret, struct ward_err *err)
{
	struct ward_nodes *nodes = calloc(1, sizeof(*nodes));
	int r;

	if (!nodes)
		return ward_err_sys(err, -ENOMEM, "%s", tree->path);
	nodes->tree = tree;
	nodes->hooks = hooks;
	nodes->gen = 1;
	nodes->mask_inos = HASH_START - 1;
	nodes->inos = calloc(HASH_START, sizeof(struct ward_node *));
	nodes->root.dir = calloc(1, sizeof(*nodes->root.dir));
	nodes->removed = calloc(WARD_REMOVED_MAX, sizeof(*nodes->removed));
	pthread_mutex_init(&nodes->lock, NULL);
	pthread_rwlock_init(&nodes->renames_lock, NULL);
	init_ended(nodes);
	TAILQ_INIT(&nodes->lru);
	LIST_INIT(&nodes->handles);
	if (!nodes->inos || !nodes->root.dir || !nodes->removed) {
		r = ward_err_sys(err, -ENOMEM, "%s", tree->path);
		goto fail;
	}
	r = ward_dir_key_new(&nodes->dir_key);
	if (r < 0) {
		(void)ward_err_sys(err, r, "%s: random bytes", tree->path);
		goto fail;
	}
	nodes->root.type = S_IFDIR;
	nodes->root.nlookup = 1;
	nodes->nowhere.refs = 1;
	nodes->root.dir->fd = tree->root_fd; /* borrowed: never in the LRU list */
	nodes->policy = tree->fs->policy;
	r = ward_policy_walk(nodes->policy, tree->path, tree->path_len, &nodes->root_state);
	if (r < 0) {
		(void)ward_err_sys(err, r, "%s: state of the policy", tree->path);
		goto fail;
	}
	*ret = nodes;
	return 0;
fail:
	free_tables(nodes);
	return r;
}

/* The directory is pinned. */
static void free_names(struct ward_nodes *nodes, struct ward_dir *dir)
{
	struct ward_name *n;
	size_t at = 0;

	while ((n = ward_node_table_any(dir, &at))) {
		/* unbind() takes n out of the table before it frees it. */
		struct ward_node *node = n->node; // NOLINT(clang-analyzer-unix.Malloc)

		node->refs++; // NOLINT(clang-analyzer-unix.Malloc)
		node->nlookup = 0;
		unbind(nodes, n);
		drop_ref(nodes, node); // NOLINT(clang-analyzer-unix.Malloc)
	}
}

/* Names first: nodes point to each other by them. */
static void free_nodes(struct ward_nodes *nodes)
{
	uint64_t number = FUSE_ROOT_ID;

	free_names(nodes, nodes->root.dir);
	while ((number = ward_node_ids_next(&nodes->ids, number))) {
		struct ward_node *node = ward_node_ids_find(&nodes->ids, number);

		if (!node->dir)
			continue;
		node->refs++;
		free_names(nodes, node->dir);
		drop_ref(nodes, node);
	}
	for (size_t i = 0; i <= nodes->mask_inos; i++)
		while (nodes->inos[i]) {
			struct ward_node *node = nodes->inos[i];

			node->nlookup = 0; // NOLINT(clang-analyzer-unix.Malloc)
			hash_out_ino(nodes, node);
			node->refs++;
			drop_ref(nodes, node);
		}
}

void ward_nodes_free(struct ward_nodes *nodes)
{
	if (!nodes)
		return;
	free_nodes(nodes);
	free_tables(nodes);
}
