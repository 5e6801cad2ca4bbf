/* SPDX-License-Identifier: Apache-2.0 */
/* Charges quotas for names that are made, linked and removed. */
#include "fs/request/quota_name.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "fs/node/node_names.h"

#define NAMES_MAX WARD_QUOTA_DEPTH_MAX

/* The first names of a path: paths of quotas have no more. */
struct way {
	struct ward_name_bytes v[NAMES_MAX];
	size_t n;
};

static void add_name(struct way *w, const char *p, size_t len)
{
	if (w->n < NAMES_MAX && len)
		w->v[w->n++] = (struct ward_name_bytes){.p = p, .len = len};
}

static void add_tree(const struct ward_fs_tree *tree, struct way *w)
{
	for (const char *p = tree->path; *p;) {
		const size_t len = strcspn(++p, "/");

		add_name(w, p, len);
		p += len;
	}
}

/* Locked: the names from the root of the tree to n, itself with it. */
static void add_names(const struct ward_nodes *nodes, const struct ward_name *n, struct way *w)
{
	const struct ward_name *up[NAMES_MAX];
	size_t k = 0;

	for (; n; n = n->parent->names) {
		up[k++ % NAMES_MAX] = n;
		if (n->parent == &nodes->root)
			break;
	}
	/* Of a longer way the names next to the root: those that were seen last. */
	for (size_t i = 0; i < k && i < NAMES_MAX; i++) {
		n = up[(k - 1 - i) % NAMES_MAX];
		add_name(w, n->text, n->len);
	}
}

/* Locked: by one name of node (NULL: the root) and its child's (NULL: itself). */
static struct ward_quota_domain *find_locked(const struct ward_nodes *nodes,
	const struct ward_name *n, const char *child, bool *ret_splits)
{
	struct way w = {.n = 0};

	add_tree(nodes->tree, &w);
	if (n)
		add_names(nodes, n, &w);
	if (child)
		add_name(&w, child, strlen(child));
	return ward_quotas_find(nodes->tree->fs->quotas, w.v, w.n, ret_splits);
}

/*
 * Locked: does some name lie in another domain than the newest one, which lies in d? Names are
 * placed once; other paths of quotas (a reload) are counted as moves as well.
 */
static bool in_several(
	struct ward_nodes *nodes, struct ward_several *s, struct ward_quota_domain *d)
{
	if (s->quota_moves != nodes->moves) {
		for (uint32_t i = s->first; i < s->end; i++)
			if (s->v[i])
				s->v[i]->placed = false;
		s->n_placed = 0;
		s->domain = d;
		s->differs = false;
		s->quota_moves = nodes->moves;
	}
	for (uint32_t i = s->end; s->n_placed < s->n && i-- > s->first;)
		if (s->v[i] && !s->v[i]->placed) {
			s->differs =
				s->differs || find_locked(nodes, s->v[i], NULL, NULL) != s->domain;
			s->v[i]->placed = true;
			s->n_placed++;
		}
	return s->differs || s->domain != d;
}

static struct ward_quota_domain *find(struct ward_fs_tree *tree, const struct ward_node *node,
	const char *name, bool *ret_splits, bool *ret_several)
{
	struct ward_nodes *nodes = tree->nodes;
	struct ward_quota_domain *d;

	*ret_splits = *ret_several = false;
	if (!ward_quotas_any(tree->fs->quotas))
		return NULL;
	pthread_mutex_lock(&nodes->lock);
	d = find_locked(nodes, node == &nodes->root ? NULL : node->names, name, ret_splits);
	if (!name && node->several)
		*ret_several = in_several(nodes, node->several, d);
	pthread_mutex_unlock(&nodes->lock);
	return d;
}

struct ward_quota_domain *ward_quota_at(
	struct ward_fs_tree *tree, struct ward_node *node, const char *name)
{
	bool splits, several;
	struct ward_quota_domain *d = find(tree, node, name, &splits, &several);

	return ward_quota_wants(d) ? d : NULL;
}

int ward_quota_say(
	struct ward_op *op, const struct ward_record_paths *paths, const struct ward_quota_hit *hit)
{
	int r = ward_record_quota(op, paths, hit);

	return r < 0 ? r : -hit->error;
}

static struct ward_quota_id id_of(const struct ward_fs_tree *tree, const struct ward_file_id *id)
{
	return (struct ward_quota_id){.dev = tree->dev, .ino = id->ino, .btime_ns = id->btime_ns};
}

int ward_quota_pin(
	struct ward_op *op, struct ward_node *node, bool write, struct ward_quota_file **ret)
{
	static const struct ward_quota_hit several_names = {.error = EDQUOT,
		.rule = "[quota]",
		.place = "default",
		.text = "it has names under different quotas"};
	const struct ward_record_paths paths = {.node = node};
	const struct ward_quota_id id = id_of(op->tree, &node->id);
	bool splits, several;
	struct ward_quota_domain *d = find(op->tree, node, NULL, &splits, &several);

	*ret = NULL;
	if (several && write)
		return ward_quota_say(op, &paths, &several_names);
	if (!ward_quota_wants(d))
		return 0;
	return ward_quota_get(op->tree->fs->quotas, d, &id, ret);
}

/* As project quotas of ext4 and xfs answer: mv then copies. */
static const struct ward_quota_hit elsewhere = {.error = EXDEV,
	.rule = "[quota]",
	.place = "default",
	.text = "it would come under another quota: it has to be copied"};

int ward_quota_check_move(struct ward_op *op, const struct ward_record_paths *paths, bool dir,
	bool dir2, bool exchange)
{
	struct ward_fs_tree *tree = op->tree;
	bool splits, splits2, several;
	const struct ward_quota_domain *d, *d2;

	if (!ward_quotas_any(tree->fs->quotas))
		return 0;
	d = find(tree, paths->node, paths->name, &splits, &several);
	d2 = find(tree, paths->node2, paths->name2, &splits2, &several);
	if (d == d2 && !(dir && (splits || splits2)) && !(exchange && dir2 && (splits || splits2)))
		return 0;
	return ward_quota_say(op, paths, &elsewhere);
}

/* --- new names --- */

static int begin(
	struct ward_op *op, const struct ward_record_paths *paths, struct ward_quota_new *n)
{
	struct ward_quota_hit hit = {.error = 0};
	int r;

	if (!n->domain)
		return 0;
	r = ward_quota_make(op->tree->fs->quotas, n->domain, n->bytes, &hit);
	if (r < 0) {
		n->domain = NULL;
		return ward_quota_say(op, paths, &hit);
	}
	return 0;
}

int ward_quota_new_begin(struct ward_op *op, struct ward_node *parent, const char *name,
	const char *target, uint64_t inherited, struct ward_quota_new *ret)
{
	const struct ward_record_paths paths = {.node = parent, .name = name, .target = target};

	*ret = (struct ward_quota_new){.domain = ward_quota_at(op->tree, parent, name),
		.bytes = (target ? strlen(target) : 0) + inherited};
	return begin(op, &paths, ret);
}

int ward_quota_new_unnamed(struct ward_op *op, struct ward_node *parent, uint64_t inherited,
	struct ward_quota_new *ret)
{
	const struct ward_record_paths paths = {.node = parent};

	/* Any name: that of no quota, since a file of that name would lie in its parent's. */
	*ret = (struct ward_quota_new){
		.domain = ward_quota_at(op->tree, parent, NULL), .bytes = inherited};
	return begin(op, &paths, ret);
}

struct ward_quota_file *ward_quota_new_done(struct ward_op *op, const struct ward_quota_new *n,
	const struct ward_file *file, bool named)
{
	const struct ward_quota_id id = id_of(op->tree, &file->id);
	struct ward_quota_file *f;

	if (!n->domain)
		return NULL;
	/* Without memory it stays charged, and is nobody's: never too little. */
	if (ward_quota_get(op->tree->fs->quotas, n->domain, &id, &f) < 0)
		return NULL;
	ward_quota_made(op->tree->fs->quotas, f, n->bytes, named);
	return f;
}

void ward_quota_new_undo(struct ward_op *op, const struct ward_quota_new *n)
{
	if (n->domain)
		ward_quota_unmake(op->tree->fs->quotas, n->domain, n->bytes);
}

/* --- names that go --- */

int ward_quota_touch(
	struct ward_op *op, const struct ward_record_paths *paths, struct ward_quota_file *f)
{
	struct ward_quotas *q = op->tree->fs->quotas;
	struct ward_quota_hit hit = {.error = 0};
	struct ward_quota_domain *d;

	if (!f)
		return 0;
	d = ward_quota_domain_of(q, f);
	if (!(ward_quota_wants(d) & WARD_QUOTA_WANT_CHURN) || ward_quota_is_made(q, f))
		return 0;
	if (ward_quota_churn(q, d, ward_clock_mono_ns(), &hit) < 0)
		return ward_quota_say(op, paths, &hit);
	return 0;
}

/* Can a name that went here have been moved by the agent through another tree? */
static bool is_shared(const struct ward_fs_tree *tree)
{
	for (size_t i = 0; i < tree->fs->n_trees; i++)
		if (&tree->fs->trees[i] != tree && tree->fs->trees[i].dev == tree->dev)
			return true;
	return false;
}

uint64_t ward_quota_before(struct ward_fs_tree *tree, struct ward_node *parent, const char *name)
{
	return ward_quotas_any(tree->fs->quotas) ? ward_nodes_number(tree->nodes, parent, name) : 0;
}

void ward_quota_missing(struct ward_fs_tree *tree, struct ward_node *parent, const char *name,
	uint64_t before, const struct ward_file *now)
{
	struct ward_quotas *q = tree->fs->quotas;
	struct ward_nodes *nodes = tree->nodes;
	struct ward_name *n;

	if (!before || !ward_quotas_any(q) || is_shared(tree))
		return;
	pthread_mutex_lock(&nodes->lock);
	n = ward_nodes_find(nodes, parent, name, strlen(name));
	/* With further names it is still there. */
	if (n && n->node->number == before && (n->node->dir || n->node->nlink <= 1) &&
		!(now && ward_file_id_equal(&now->id, &n->node->id))) {
		const struct ward_quota_id id = id_of(tree, &n->node->id);

		n->node->quota_held = true;
		ward_quota_lost(q, &id);
	}
	pthread_mutex_unlock(&nodes->lock);
}

/*
 * O_PATH of what is about to go. What is known under that name may be another file, which others
 * replaced before. A rename (second) holds renames_lock by itself.
 */
static int look_at_old(struct ward_op *op, struct ward_node *parent, int dirfd, const char *name,
	bool second, int *ret_fd, struct ward_file *ret)
{
	const uint64_t before = ward_quota_before(op->tree, parent, name);
	int r;

	if (!second)
		pthread_rwlock_rdlock(&op->tree->nodes->renames_lock);
	r = ward_backing_open(dirfd, name, O_PATH, 0, ret_fd);
	if (r == 0)
		r = ward_backing_fstat(*ret_fd, ret);
	if (r == 0)
		ward_quota_missing(op->tree, parent, name, before, ret);
	if (!second)
		pthread_rwlock_unlock(&op->tree->nodes->renames_lock);
	return r;
}

int ward_quota_old_begin(struct ward_op *op, const struct ward_record_paths *paths, int dirfd,
	const char *name, struct ward_quota_old *ret)
{
	struct ward_quotas *q = op->tree->fs->quotas;
	const bool second = paths->node2 != NULL;
	struct ward_node *parent = second ? paths->node2 : paths->node;
	struct ward_quota_domain *d = ward_quota_at(op->tree, parent, name);
	ward_cleanup_fd int fd = -1;
	struct ward_file file;
	struct ward_quota_id id;
	int r;

	*ret = (struct ward_quota_old){.fd = -1, .lease_fd = -1};
	if (!d)
		return 0;
	r = look_at_old(op, parent, dirfd, name, second, &fd, &file);
	if (r != 0)
		return r == -ENOENT ? 0 : r; /* the operation that removes it says so */
	id = id_of(op->tree, &file.id);
	r = ward_quota_get(q, d, &id, &ret->file);
	if (r == 0) {
		r = ward_quota_touch(op, paths, ret->file);
		if (r < 0) {
			ward_quota_put(q, ret->file);
			ret->file = NULL;
		}
	}
	if (r < 0)
		return r;
	ret->is_dir = S_ISDIR(file.st.st_mode);
	ret->seen = file;
	/* What cannot be opened so may be mapped, for all we know. */
	if (S_ISREG(file.st.st_mode) && ward_quota_maybe_mapped(q, ret->file))
		(void)!ward_backing_reopen(fd, O_RDONLY, &ret->lease_fd);
	ret->fd = ward_steal_fd(&fd);
	return 0;
}

void ward_quota_old_lock(struct ward_op *op, struct ward_quota_old *o)
{
	if (o->file)
		ward_quota_lock(op->tree->fs->quotas, o->file, true);
	o->locked = o->file != NULL;
}

/*
 * Is it open or mapped, by anybody? A write lease is given to who alone has a file open (fcntl(2)).
 * A mapping through a passthrough handle counts: it is one of the backing's file.
 */
static bool nobody_has_it(int fd)
{
	if (fd < 0 || fcntl(fd, F_SETLEASE, F_WRLCK) < 0)
		return false;
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	return true;
}

void ward_quota_old_end(struct ward_op *op, struct ward_quota_old *o, bool removed)
{
	struct ward_quotas *q = op->tree->fs->quotas;
	struct ward_file file;
	bool held;

	if (!o->file)
		return;
	if (removed && ward_backing_fstat(o->fd, &file) == 0) {
		if (o->is_dir || !file.st.st_nlink) {
			held = ward_quota_maybe_mapped(q, o->file) && !nobody_has_it(o->lease_fd);
			/* The kernel forgets the node when the last mapping is gone: it pins the
			 * dentry that it was opened by (fs/backing-file.c: user_path). */
			ward_quota_gone(
				q, o->file, held && ward_nodes_hold_quota(op->tree->nodes, &file));
		} else {
			ward_quota_unlink(q, o->file);
		}
	}
	if (o->locked)
		ward_quota_unlock(q, o->file);
	/* What keeps its space in use goes before that is given back. */
	if (o->lease_fd >= 0)
		close(o->lease_fd);
	close(o->fd);
	ward_quota_put(q, o->file);
	o->file = NULL;
}

/* --- further names --- */

int ward_quota_link_begin(struct ward_op *op, const struct ward_record_paths *paths, bool unnamed,
	struct ward_quota_file **ret)
{
	struct ward_quotas *q = op->tree->fs->quotas;
	struct ward_quota_hit hit = {.error = 0};
	struct ward_quota_file *f;
	bool splits, several, ignored;
	int r;

	*ret = NULL;
	if (!ward_quotas_any(q))
		return 0;
	if (find(op->tree, paths->node, NULL, &splits, &several) !=
			find(op->tree, paths->node2, paths->name2, &splits, &ignored) ||
		several)
		return ward_quota_say(op, paths, &elsewhere);
	r = ward_quota_pin(op, paths->node, false, &f);
	if (r < 0 || !f)
		return r;
	ward_quota_lock(q, f, true);
	if (!unnamed && ward_quota_link(q, f, &hit) < 0) {
		ward_quota_unlock(q, f);
		ward_quota_put(q, f);
		return ward_quota_say(op, paths, &hit);
	}
	*ret = f;
	return 0;
}

void ward_quota_link_end(struct ward_op *op, struct ward_quota_file *f, bool unnamed, int r)
{
	struct ward_quotas *q = op->tree->fs->quotas;

	if (!f)
		return;
	if (r == 0 && unnamed)
		ward_quota_named(q, f);
	else if (r < 0 && !unnamed)
		ward_quota_unlink(q, f);
	ward_quota_unlock(q, f);
	ward_quota_put(q, f);
}
