/* SPDX-License-Identifier: Apache-2.0 */
/* Brings the tables up to date with what others did to the backing. */
#include "fs/forget/outside_change.h"

#include <errno.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/stat.h>

#include "fs/node/node_links.h"
#include "fs/request/quota_name.h"
#include "fs/resolve/resolve_node.h"
#include "fs/resolve/trees_beneath.h"
#include "fs/watch/backing_watch.h"

#define NAMES (FAN_CREATE | FAN_DELETE | FAN_MOVED_FROM | FAN_MOVED_TO)

/* What the table has under a name. */
struct known {
	uint64_t number; /* 0: nothing */
	struct ward_file_id id;
	uint32_t type;
	bool dir, kept, writing, muted;
};

static struct known look_up(struct ward_nodes *nodes, struct ward_node *dir, const char *name)
{
	const struct ward_name *n;
	struct known k = {.number = 0};

	pthread_mutex_lock(&nodes->lock);
	n = ward_nodes_find(nodes, dir, name, strlen(name));
	if (n) {
		k.number = ward_node_to_ino(nodes, n->node);
		k.id = n->node->id;
		k.type = n->node->type;
		k.dir = n->node->dir != NULL;
		k.kept = n->node->kept;
		k.writing = n->node->n_writing;
		k.muted = n->node->muted;
		n->node->kept = false;
	}
	pthread_mutex_unlock(&nodes->lock);
	return k;
}

/* Whoever may not search it any more has what lies beneath in the kernel's cache. */
static void dir_attributes(
	struct ward_fs_tree *tree, const struct ward_forget_calls *forget, struct ward_node *node)
{
	struct ward_dirref ref = {0};

	ward_watch_changed(tree, node);
	ward_resolve_changed(tree, node);
	if (ward_resolve_dir(tree, node, &ref) < 0 || ward_backing_searchable(ref.fd) < 0)
		forget->beneath(forget->arg, ward_node_to_ino(tree->nodes, node));
	ward_dirref_put(tree, &ref);
	forget->attr(forget->arg, ward_node_to_ino(tree->nodes, node));
}

/* Writes through a handle in here come from here: the kernel knows of them, the watch need not. */
static void mute(struct ward_fs_tree *tree, uint64_t number)
{
	struct ward_node *node = ward_nodes_pin(tree->nodes, number);
	struct ward_handle *h = node ? ward_handle_any(tree->nodes, node) : NULL;
	bool still = false;

	if (h) {
		/* Said before it is done and until it is undone: what makes no events is not kept.
		 */
		pthread_mutex_lock(&tree->nodes->lock);
		node->muted = node->n_writing;
		pthread_mutex_unlock(&tree->nodes->lock);
		ward_watch_mute(tree, h->fd);
		pthread_mutex_lock(&tree->nodes->lock);
		still = node->n_writing && node->muted;
		node->muted = true;
		pthread_mutex_unlock(&tree->nodes->lock);
		if (!still) {
			ward_watch_unmute(tree, h->fd);
			pthread_mutex_lock(&tree->nodes->lock);
			node->muted = false;
			pthread_mutex_unlock(&tree->nodes->lock);
		}
		ward_handle_put(tree->nodes, h);
	}
	if (node)
		ward_node_unpin(tree->nodes, node);
}

static void attributes(struct ward_fs_tree *tree, const struct ward_forget_calls *forget,
	const struct known *k, uint64_t mask)
{
	struct ward_node *node;

	if (k->dir && mask & FAN_ATTRIB) {
		node = ward_nodes_pin(tree->nodes, k->number);
		if (!node)
			return;
		dir_attributes(tree, forget, node);
		ward_node_unpin(tree->nodes, node);
	} else if (k->dir || k->kept) {
		forget->attr(forget->arg, k->number);
	}
	if (k->writing && !k->muted && mask & FAN_MODIFY)
		mute(tree, k->number);
}

/* A name came, went or leads elsewhere. */
static void name_changed(struct ward_fs_tree *tree, const struct ward_forget_calls *forget,
	struct ward_node *dir, const char *name, struct known *k)
{
	const uint64_t number = ward_node_to_ino(tree->nodes, dir);
	struct ward_dirref ref = {0};
	struct ward_file file = {.id = {0}};
	const uint64_t before = ward_nodes_number(tree->nodes, dir, name);
	uint64_t linked = 0;
	bool same = false;
	int r = ward_resolve_dir(tree, dir, &ref);

	pthread_rwlock_rdlock(&tree->nodes->renames_lock);
	if (r == 0)
		r = ward_backing_stat(tree, ref.fd, name, &file);
	*k = look_up(tree->nodes, dir, name);
	/* Not what the agent made there since we looked. */
	if (r == 0 || r == -ENOENT)
		ward_quota_missing(tree, dir, name, before, r == 0 ? &file : NULL);
	if (r == -ENOENT && k->number && k->number == before)
		ward_nodes_miss(tree->nodes, dir, name);
	else if (r == 0 && k->number)
		same = k->type == (file.st.st_mode & S_IFMT) &&
		       ward_file_id_equal(&k->id, &file.id);
	if (r == 0 && !same && file.st.st_nlink > 1)
		linked = ward_nodes_linked(tree->nodes, &file);
	pthread_rwlock_unlock(&tree->nodes->renames_lock);
	ward_dirref_put(tree, &ref);
	/* Told to be gone, it would lose what is mounted on it. */
	if (!same && (r == 0 || ward_beneath_look(tree, dir, name, r, &file) < 0))
		forget->entry(forget->arg, number, name);
	if (linked)
		forget->attr(forget->arg, linked);
	forget->attr(forget->arg, number);
}

void ward_outside_change(struct ward_fs_tree *tree, const struct ward_forget_calls *forget,
	uint64_t dir, const char *name, uint64_t mask)
{
	struct ward_node *node = ward_nodes_pin(tree->nodes, dir);
	struct known k;

	if (!node)
		return;
	ward_watch_changed(tree, node);
	/* For those who began to ask after it was read. */
	if (mask & NAMES)
		ward_links_changed(tree->nodes, dir, name);
	if (!strcmp(name, ".")) {
		dir_attributes(tree, forget, node);
	} else {
		if (mask & NAMES)
			name_changed(tree, forget, node, name, &k);
		else
			k = look_up(tree->nodes, node, name);
		if (k.number)
			attributes(tree, forget, &k, mask);
	}
	ward_node_unpin(tree->nodes, node);
}
