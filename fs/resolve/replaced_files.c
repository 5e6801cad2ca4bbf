/* SPDX-License-Identifier: Apache-2.0 */
/* Holds files that are replaced while a program is on its way to them. */
#include "fs/resolve/replaced_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "fs/kernel/forget_queue.h"
#include "fs/request/quota_name.h"

/* As many as programs would race for names at a time. */
#define MARKS_MAX 32U
#define HELD_MAX 64U
/* How long looks of a program at a name hold what they find. */
#define MARK_NS UINT64_C(1000000000)

struct mark {
	uint64_t dir; /* number of the directory's node; 0: none */
	uint64_t until_ns;
	uint32_t pid; /* of the thread that was told -ESTALE */
	char name[NAME_MAX + 1];
};

struct held {
	uint64_t number; /* of its node; 0: none */
	uint64_t until_ns;
	uint32_t pid;		       /* of the thread that looked */
	int fd;			       /* O_PATH */
	struct ward_quota_file *quota; /* in use, or NULL */
};

struct ward_replaced {
	pthread_mutex_t lock; /* innermost but for quotas' own */
	atomic_bool marked;   /* some name is */
	struct mark marks[MARKS_MAX];
	struct held held[HELD_MAX];
	size_t next_mark, next_held;
};

int ward_replaced_new(struct ward_replaced **ret)
{
	struct ward_replaced *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	pthread_mutex_init(&r->lock, NULL);
	*ret = r;
	return 0;
}

/* Locked. */
static void let_go(struct ward_fs_tree *tree, struct held *h)
{
	if (!h->number)
		return;
	/* What keeps its space in use goes before that is given back. */
	close(h->fd);
	ward_quota_put(tree->fs->quotas, h->quota);
	*h = (struct held){.number = 0};
}

void ward_replaced_end(struct ward_fs_tree *tree)
{
	struct ward_replaced *r = tree->replaced;

	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < HELD_MAX; i++)
		let_go(tree, &r->held[i]);
	pthread_mutex_unlock(&r->lock);
}

void ward_replaced_free(struct ward_fs_tree *tree)
{
	struct ward_replaced *r = tree->replaced;

	if (!r)
		return;
	ward_replaced_end(tree);
	pthread_mutex_destroy(&r->lock);
	free(r);
	tree->replaced = NULL;
}

/* Locked: by who asks. */
static bool is_marked(
	const struct ward_replaced *r, uint64_t dir, const char *name, uint64_t now_ns)
{
	for (size_t i = 0; i < MARKS_MAX; i++)
		if (r->marks[i].dir == dir && r->marks[i].pid == ward_op_asker() &&
			r->marks[i].until_ns > now_ns && strcmp(r->marks[i].name, name) == 0)
			return true;
	return false;
}

int ward_replaced_look(struct ward_fs_tree *tree, struct ward_node *parent, const char *name,
	int dirfd, struct ward_file *ret, int *ret_fd)
{
	struct ward_replaced *r = tree->replaced;
	ward_cleanup_fd int fd = -1;
	bool asks;
	int e;

	if (!atomic_load_explicit(&r->marked, memory_order_relaxed))
		return ward_backing_stat(tree, dirfd, name, ret);
	pthread_mutex_lock(&r->lock);
	asks = is_marked(r, ward_node_to_ino(tree->nodes, parent), name, ward_clock_mono_ns());
	pthread_mutex_unlock(&r->lock);
	if (!asks)
		return ward_backing_stat(tree, dirfd, name, ret);
	e = ward_backing_open_shown(tree, dirfd, name, O_PATH, &fd);
	/* Without a descriptor it is not held, and looked at nevertheless. */
	if (e == -EMFILE || e == -ENFILE || e == -ENOMEM)
		return ward_backing_stat(tree, dirfd, name, ret);
	if (e == 0)
		e = ward_backing_stat(tree, fd, "", ret);
	if (e == 0 && !S_ISDIR(ret->st.st_mode))
		*ret_fd = ward_steal_fd(&fd);
	return e;
}

/*
 * What is held is given back to its quota later than it is removed. So nothing is held that it
 * could be short of: all together may take half of what is left.
 */
static bool room_for(struct ward_quotas *q, struct ward_quota_file *f, const struct stat *st)
{
	struct ward_quota_room room;

	if (!f)
		return true;
	ward_quota_room(q, ward_quota_domain_of(q, f), &room);
	return (room.bytes == WARD_UNLIMITED ||
		       (uint64_t)st->st_size <= room.bytes_free / (2 * (uint64_t)HELD_MAX)) &&
	       (room.files == WARD_UNLIMITED || room.files_free >= 2 * (uint64_t)HELD_MAX);
}

/* Locked: where that node is held already for who asks, else the oldest one. */
static struct held *slot_for(struct ward_replaced *r, uint64_t number)
{
	for (size_t i = 0; i < HELD_MAX; i++)
		if (r->held[i].number == number && r->held[i].pid == ward_op_asker())
			return &r->held[i];
	return &r->held[r->next_held++ % HELD_MAX];
}

int ward_replaced_hold(struct ward_op *op, struct ward_node *node, int *fd)
{
	struct ward_replaced *r = op->tree->replaced;
	ward_cleanup(ward_quota_use_end) struct ward_quota_use use = {op->tree->fs->quotas, NULL};
	struct ward_file file;
	struct held *h;
	int e = ward_quota_pin(op, node, false, &use.f);

	/* In use before it is seen to have a link: what loses its last one then stays charged. */
	if (e == 0)
		e = ward_backing_fstat(*fd, &file);
	if (e == 0 && use.f && !file.st.st_nlink)
		e = -ESTALE;
	if (e < 0 || !room_for(op->tree->fs->quotas, use.f, &file.st))
		return e;
	pthread_mutex_lock(&r->lock);
	h = slot_for(r, node->number);
	let_go(op->tree, h);
	*h = (struct held){.number = node->number,
		.pid = ward_op_asker(),
		.until_ns = ward_clock_mono_ns() + WARD_REPLACED_HOLD_NS,
		.fd = ward_steal_fd(fd),
		.quota = use.f};
	use.f = NULL;
	pthread_mutex_unlock(&r->lock);
	return 0;
}

/* Looks at the newest name of node hold what they find from now on. */
static void mark(struct ward_fs_tree *tree, struct ward_node *node)
{
	struct ward_replaced *r = tree->replaced;
	const uint64_t now = ward_clock_mono_ns();
	char name[NAME_MAX + 1] = "";
	uint64_t dir = 0;

	pthread_mutex_lock(&tree->nodes->lock);
	if (node->names && node->names->parent) {
		dir = ward_node_to_ino(tree->nodes, node->names->parent);
		memcpy(name, node->names->text, node->names->len + 1U);
	}
	pthread_mutex_unlock(&tree->nodes->lock);
	if (!dir)
		return;
	pthread_mutex_lock(&r->lock);
	if (!is_marked(r, dir, name, now + MARK_NS / 2)) {
		struct mark *m = &r->marks[r->next_mark++ % MARKS_MAX];

		m->dir = dir;
		m->pid = ward_op_asker();
		m->until_ns = now + MARK_NS;
		memcpy(m->name, name, sizeof(name));
		atomic_store_explicit(&r->marked, true, memory_order_relaxed);
	}
	pthread_mutex_unlock(&r->lock);
	/* It tidies up. */
	ward_forget_wake(tree->forget);
}

int ward_replaced_fd(
	struct ward_fs_tree *tree, struct ward_node *node, int *ret_fd, struct ward_file *ret)
{
	struct ward_replaced *r = tree->replaced;
	ward_cleanup_fd int fd = -1;
	struct ward_file file;

	if (node->dir || node == &tree->nodes->nowhere)
		return -ESTALE;
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < HELD_MAX && fd < 0; i++)
		if (r->held[i].number == node->number && r->held[i].pid == ward_op_asker())
			fd = fcntl(r->held[i].fd, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&r->lock);
	if (fd < 0) {
		mark(tree, node);
		return -ESTALE;
	}
	if (ward_backing_fstat(fd, &file) < 0 || file.st.st_nlink ||
		!ward_file_id_equal(&file.id, &node->id))
		return -ESTALE;
	*ret_fd = ward_steal_fd(&fd);
	*ret = file;
	return 0;
}

bool ward_replaced_tidy(struct ward_fs_tree *tree)
{
	struct ward_replaced *r = tree->replaced;
	const uint64_t now = ward_clock_mono_ns();
	bool marked = false, holds = false;

	if (!atomic_load_explicit(&r->marked, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < MARKS_MAX; i++)
		marked = marked || r->marks[i].until_ns > now;
	for (size_t i = 0; i < HELD_MAX; i++) {
		if (r->held[i].until_ns <= now)
			let_go(tree, &r->held[i]);
		holds = holds || r->held[i].number;
	}
	/* Nothing is held any more before it is not looked at any more. */
	atomic_store_explicit(&r->marked, marked || holds, memory_order_relaxed);
	pthread_mutex_unlock(&r->lock);
	return marked || holds;
}
