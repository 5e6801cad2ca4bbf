/* SPDX-License-Identifier: Apache-2.0 */
/* Brings the tables up to date with what others did to the backing. */
#include "fs/forget/outside_change.h"

#include <errno.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/stat.h>

#include "fs/node/node_links.h"
#include "fs/replay/replay.h"
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
	uint32_t nlink;
	bool dir, kept, writing, muted;
	uint64_t passed; /* UINT64_MAX: processes in here may still write to it by themselves */
};

/* What is there now. */
struct found {
	int r; /* of the look: 0, -ENOENT or what else failed */
	struct ward_file file;
	bool same; /* as what the table has */
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
		k.nlink = n->node->nlink;
		k.passed = n->node->n_writing || n->node->mapped
				   ? UINT64_MAX
				   : ward_handle_passed(nodes, k.number);
		n->node->kept = false;
	}
	pthread_mutex_unlock(&nodes->lock);
	return k;
}

/* The kernel's cache may have what lies beneath for users who may not search it any more. */
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

/* Was directory number removed, and not moved to somewhere else? */
static bool dir_ended(struct ward_fs_tree *tree, uint64_t number)
{
	struct ward_node *node = ward_nodes_pin(tree->nodes, number);
	struct ward_file file;
	bool ended;

	if (!node)
		return false;
	ended = ward_resolve_stat(tree, node, &file) == 0 && file.st.st_nlink == 0;
	ward_node_unpin(tree->nodes, node);
	return ended;
}

static void forget_name(struct ward_fs_tree *tree, const struct ward_forget_calls *forget,
	uint64_t dir, const char *name, const struct known *k)
{
	/* Of a directory that lives on elsewhere the kernel would let nobody use its inode again.
	 */
	if (k->number && ward_replay_on(tree->fs) &&
		(k->dir ? dir_ended(tree, k->number) : k->nlink == 1))
		forget->removed(forget->arg, dir, k->number, name);
	else
		forget->entry(forget->arg, dir, name);
}

/* A name came, went or leads elsewhere. */
static void name_changed(struct ward_fs_tree *tree, const struct ward_forget_calls *forget,
	struct ward_node *dir, const char *name, struct known *k, struct found *f)
{
	const uint64_t number = ward_node_to_ino(tree->nodes, dir);
	struct ward_dirref ref = {0};
	const uint64_t before = ward_nodes_number(tree->nodes, dir, name);
	uint64_t linked = 0;
	int r = ward_resolve_dir(tree, dir, &ref);

	pthread_rwlock_rdlock(&tree->nodes->renames_lock);
	if (r == 0)
		r = ward_backing_stat(tree, ref.fd, name, &f->file);
	*k = look_up(tree->nodes, dir, name);
	/* Not what the agent made there since we looked. */
	if (r == 0 || r == -ENOENT)
		ward_quota_missing(tree, dir, name, before, r == 0 ? &f->file : NULL);
	if (r == -ENOENT && k->number && k->number == before)
		ward_nodes_miss(tree->nodes, dir, name);
	else if (r == 0 && k->number)
		f->same = k->type == (f->file.st.st_mode & S_IFMT) &&
			  ward_file_id_equal(&k->id, &f->file.id);
	if (r == 0 && !f->same && f->file.st.st_nlink > 1)
		linked = ward_nodes_linked(tree->nodes, &f->file);
	pthread_rwlock_unlock(&tree->nodes->renames_lock);
	ward_dirref_put(tree, &ref);
	f->r = r;
	/* Told to be gone, it would lose what is mounted on it. */
	if (!f->same && (r == 0 || ward_beneath_look(tree, dir, name, r, &f->file) < 0))
		forget_name(tree, forget, number, name, k);
	if (linked)
		forget->attr(forget->arg, linked);
	forget->attr(forget->arg, number);
}

/* --- told to watchers inside --- */

static void replay_content(struct ward_fs_tree *tree, struct ward_node *dir,
	const struct ward_watch_change *c, mode_t type, uint64_t ino)
{
	struct ward_replay_change change = {.type = type, .ino = ino};

	change.kind = WARD_REPLAY_MODIFY;
	if (c->mask & FAN_MODIFY)
		ward_replay_put(tree, dir, c->name, &change);
	change.kind = WARD_REPLAY_ATTRIB;
	if (c->mask & FAN_ATTRIB)
		ward_replay_put(tree, dir, c->name, &change);
}

/*
 * Several changes of one name come as one, in no order: what was there before, and what is there
 * now, tells what watchers have to know.
 */
static void replay_name(struct ward_fs_tree *tree, struct ward_node *dir,
	const struct ward_watch_change *c, const struct known *k, const struct found *f)
{
	const bool came = c->mask & (FAN_CREATE | FAN_MOVED_TO);
	const struct ward_replay_change went = {.kind = WARD_REPLAY_REMOVE,
		.type = k->number	      ? k->type
			: c->mask & FAN_ONDIR ? S_IFDIR
					      : S_IFREG,
		.ino = k->id.ino,
		.gone = k->number};
	const struct ward_replay_change new = {
		.kind = WARD_REPLAY_CREATE, .type = f->file.st.st_mode, .ino = f->file.id.ino};

	if (f->r == -ENOENT) {
		/* What came and went unseen was nothing. */
		if (k->number || !came)
			ward_replay_put(tree, dir, c->name, &went);
		return;
	}
	if (f->r < 0)
		return;
	if (came && k->number && !f->same)
		ward_replay_put(tree, dir, c->name, &went);
	if (came)
		ward_replay_put(tree, dir, c->name, &new);
	if (!came || c->mask & FAN_MODIFY)
		replay_content(tree, dir, c, new.type, new.ino);
}

/* Its parent's watch told of it as well, by its name. */
static bool told_by_name(struct ward_fs_tree *tree, const struct ward_node *dir)
{
	const struct ward_name *name;
	bool told;

	pthread_mutex_lock(&tree->nodes->lock);
	name = ward_node_first_name(dir);
	told = name && name->parent->dir->watched;
	pthread_mutex_unlock(&tree->nodes->lock);
	return told;
}

void ward_outside_change(struct ward_fs_tree *tree, const struct ward_forget_calls *forget,
	const struct ward_watch_change *c, bool others)
{
	struct ward_node *node = ward_nodes_pin(tree->nodes, c->dir);
	const char *name = c->name;
	struct known k = {.number = 0};
	struct found f = {.r = -EINVAL};

	if (!node)
		return;
	ward_watch_changed(tree, node);
	/* For requests that began after the event was read. */
	if (c->mask & NAMES)
		ward_links_changed(tree->nodes, c->dir, name);
	if (!strcmp(name, ".")) {
		dir_attributes(tree, forget, node);
		if (c->mask & FAN_ATTRIB && !told_by_name(tree, node))
			ward_replay_put(tree, node, ".",
				&(const struct ward_replay_change){
					.kind = WARD_REPLAY_ATTRIB, .type = S_IFDIR});
	} else {
		if (c->mask & NAMES)
			name_changed(tree, forget, node, name, &k, &f);
		else
			k = look_up(tree->nodes, node, name);
		if (k.number)
			attributes(tree, forget, &k, c->mask);
		if (c->mask & NAMES)
			replay_name(tree, node, c, &k, &f);
		else if (others || k.passed <= c->empty)
			replay_content(tree, node, c, k.type, k.id.ino);
	}
	ward_node_unpin(tree->nodes, node);
}
