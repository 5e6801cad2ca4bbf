/* SPDX-License-Identifier: Apache-2.0 */
/* Queues changes by others, and has the replayer make an operation for each. */
#include "fs/replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "fs/base/request_turn.h"
#include "fs/gate/gate.h"
#include "fs/kernel/forget_queue.h"
#include "fs/replay/replay_channel.h"
#include "fs/resolve/resolve_node.h"
#include "fs/resolve/trees_beneath.h"

/* Changes that wait; beyond, their directories have one event each. */
#define QUEUE_MAX 32768U
/* Directories that wait so; what changes in others then is not told. */
#define DIRS_MAX 1024U
/* Between two rounds: each asks who watches, which takes the replayer a millisecond or so. */
#define ROUND_MS 20
/* At most between two batches of one round. */
#define REST_MS 50
/* How often, and how long after its change, we check whether a file is still open. */
#define STILL_OPEN_MS 100
#define STILL_OPEN_NS (UINT64_C(3) * 1000000000U)

/* A change to replay. */
struct item {
	struct item *next;
	struct ward_fs_tree *tree;
	uint64_t dir;	    /* number of the directory */
	uint64_t inodes[2]; /* of the directory, and of what changed: 0 if that is not known */
	struct ward_replay_change change;
	uint64_t until_ns; /* of CLOSE: CLOCK_MONOTONIC, 0: not looked at yet */
	char name[];
};

enum ticket_state {
	TICKET_NONE = 0,
	TICKET_GIVEN,
	TICKET_LOOKED, /* the replayer has looked the name up, for this */
};

struct ticket {
	enum ticket_state state;
	const struct ward_fs_tree *tree;
	uint64_t dir;
	struct ward_replay_change change;
	char name[NAME_MAX + 1];
};

struct dir {
	struct ward_fs_tree *tree;
	uint64_t number;
};

struct ward_replay {
	struct ward_fs *fs;
	struct ward_replay_channel channel;
	int wake; /* an eventfd: something is in the queue */
	pthread_t thread;
	bool running;

	atomic_uint pid; /* of the replayer, as requests have it; 0: nobody */
	int pidfd;	 /* set before pid: that number is nobody else's while it has not ended */

	pthread_mutex_t lock; /* protects the rest; innermost */
	struct item *first, **last;
	size_t n;
	struct item *closing; /* CLOSE of what was changed last, behind all of those; NULL: none */
	struct dir dirs[DIRS_MAX];
	size_t n_dirs;
	struct ticket tickets[WARD_REPLAY_BATCH]; /* in the order in which they are made */
	size_t n_tickets;
	uint32_t standins; /* numbers of those that were given out */
};

int ward_replay_new(struct ward_fs *fs, struct ward_replay **ret)
{
	struct ward_replay *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->fs = fs;
	r->pidfd = r->channel.sock = -1;
	r->last = &r->first;
	r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->channel.stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&r->lock, NULL);
	if (r->wake < 0 || r->channel.stop < 0) {
		ward_replay_free(r);
		return -EMFILE;
	}
	*ret = r;
	return 0;
}

void ward_replay_end(struct ward_replay *r)
{
	if (!r || !r->running)
		return;
	(void)!eventfd_write(r->channel.stop, 1);
	pthread_join(r->thread, NULL);
	r->running = false;
}

void ward_replay_free(struct ward_replay *r)
{
	const int fds[] = {r ? r->wake : -1, r ? r->channel.stop : -1, r ? r->channel.sock : -1,
		r ? r->pidfd : -1};

	if (!r)
		return;
	ward_replay_end(r);
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(r->closing);
	while (r->first) {
		struct item *item = r->first;

		r->first = item->next;
		free(item);
	}
	pthread_mutex_destroy(&r->lock);
	free(r);
}

bool ward_replay_on(const struct ward_fs *fs)
{
	return fs->replay && atomic_load_explicit(&fs->replay->pid, memory_order_relaxed);
}

bool ward_replay_asks(const struct ward_fs *fs, uint32_t pid)
{
	return pid && fs->replay &&
	       atomic_load_explicit(&fs->replay->pid, memory_order_acquire) == pid;
}

/* --- the queue --- */

/* Locked. */
static bool known(const struct ward_replay *r, const struct ward_fs_tree *tree, uint64_t dir)
{
	for (size_t i = 0; i < r->n_dirs; i++)
		if (r->dirs[i].number == dir && r->dirs[i].tree == tree)
			return true;
	return false;
}

/* Locked: too much happens at once. */
static void add_dir(struct ward_replay *r, struct ward_fs_tree *tree, uint64_t dir)
{
	if (r->n_dirs < DIRS_MAX && !known(r, tree, dir))
		r->dirs[r->n_dirs++] = (struct dir){tree, dir};
}

/* Locked: taken; false: there is no room. */
static bool append(struct ward_replay *r, struct item *item)
{
	if (r->n >= QUEUE_MAX || r->n_dirs)
		return false;
	item->next = NULL;
	*r->last = item;
	r->last = &item->next;
	r->n++;
	return true;
}

static bool same_name(const struct item *a, const struct item *b)
{
	return a->tree == b->tree && a->dir == b->dir && strcmp(a->name, b->name) == 0;
}

/*
 * closing: CLOSE for the same, or NULL. A program writes a file in several steps: only after the
 * last of them in a row wardfs reports that the file was closed.
 */
static void add(struct ward_replay *r, struct item *item, struct item *closing)
{
	struct item *drop[2] = {item, NULL};

	pthread_mutex_lock(&r->lock);
	if (r->closing && (closing || !same_name(r->closing, item) ||
				  item->change.kind == WARD_REPLAY_REMOVE)) {
		if (same_name(r->closing, item) || !append(r, r->closing))
			drop[1] = r->closing;
		r->closing = NULL;
	}
	if (append(r, item)) {
		drop[0] = NULL;
		if (closing)
			r->closing = closing;
	} else {
		add_dir(r, item->tree, item->dir);
	}
	if (r->closing == closing)
		closing = NULL;
	pthread_mutex_unlock(&r->lock);
	free(drop[0]);
	free(drop[1]);
	free(closing);
	(void)!eventfd_write(r->wake, 1);
}

/* Of a directory, as who watches it has it. The table does not keep the root's. */
static uint64_t inode_of(const struct ward_fs_tree *tree, const struct ward_node *dir)
{
	struct ward_file root;

	if (dir->id.ino)
		return dir->id.ino;
	return ward_backing_fstat(tree->root_fd, &root) == 0 ? root.id.ino : 0;
}

/*
 * Only what the agent could read, or list: of nothing else does it hear, nor is it counted. What
 * leads to another tree is not touched.
 */
static bool shown(struct ward_fs_tree *tree, struct ward_node *dir, const char *name, mode_t type)
{
	bool is;

	ward_turn_begin(tree->fs);
	is = strcmp(name, ".") == 0 ? ward_gate_readable(tree, dir, NULL, true)
				    : ward_gate_readable(tree, dir, name, S_ISDIR(type)) &&
					      !ward_beneath_flags(tree, dir, name);
	ward_turn_end(tree->fs);
	return is;
}

static struct item *make_item(struct ward_fs_tree *tree, const struct ward_node *dir,
	const char *name, const struct ward_replay_change *c)
{
	const size_t len = strlen(name);
	struct item *item = malloc(sizeof(*item) + len + 1);

	if (!item)
		return NULL;
	*item = (struct item){.tree = tree,
		.dir = ward_node_to_ino(tree->nodes, dir),
		.inodes = {inode_of(tree, dir), c->ino},
		.change = *c};
	item->change.type &= S_IFMT;
	memcpy(item->name, name, len + 1);
	return item;
}

void ward_replay_put(struct ward_fs_tree *tree, struct ward_node *dir, const char *name,
	const struct ward_replay_change *c)
{
	const bool written = S_ISREG(c->type) &&
			     (c->kind == WARD_REPLAY_CREATE || c->kind == WARD_REPLAY_MODIFY);
	struct ward_replay_change close = *c;
	struct item *item;

	close.kind = WARD_REPLAY_CLOSE;
	/* Whiteouts and other devices cannot be made, nor looked up. */
	if (!ward_replay_on(tree->fs) || S_ISCHR(c->type) || S_ISBLK(c->type) ||
		strlen(name) > NAME_MAX || !shown(tree, dir, name, c->type))
		return;
	item = make_item(tree, dir, name, c);
	if (item)
		add(tree->fs->replay, item, written ? make_item(tree, dir, name, &close) : NULL);
}

void ward_replay_lost(struct ward_fs_tree *tree)
{
	struct ward_replay *r = tree->fs->replay;
	uint64_t number = FUSE_ROOT_ID;

	if (!ward_replay_on(tree->fs))
		return;
	do {
		struct ward_node *node = ward_nodes_pin(tree->nodes, number);

		if (node && node->dir && shown(tree, node, ".", S_IFDIR)) {
			pthread_mutex_lock(&r->lock);
			add_dir(r, tree, number);
			pthread_mutex_unlock(&r->lock);
		}
		if (node)
			ward_node_unpin(tree->nodes, node);
		number = ward_nodes_next(tree->nodes, number);
	} while (number);
	(void)!eventfd_write(r->wake, 1);
}

static struct item *next(struct ward_replay *r)
{
	struct item *item;

	pthread_mutex_lock(&r->lock);
	item = r->first;
	if (item) {
		r->first = item->next;
		if (!r->first)
			r->last = &r->first;
		r->n--;
	} else {
		item = r->closing;
		r->closing = NULL;
	}
	pthread_mutex_unlock(&r->lock);
	return item;
}

/* Behind the queue: the directories of what found no room in it. */
static struct item *next_dir(struct ward_replay *r)
{
	struct dir d = {.tree = NULL};
	struct ward_node *node;
	struct item *item = NULL;

	pthread_mutex_lock(&r->lock);
	if (r->n_dirs)
		d = r->dirs[--r->n_dirs];
	pthread_mutex_unlock(&r->lock);
	node = d.tree ? ward_nodes_pin(d.tree->nodes, d.number) : NULL;
	if (node && (item = malloc(sizeof(*item) + 2))) {
		*item = (struct item){.tree = d.tree,
			.dir = d.number,
			.inodes = {inode_of(d.tree, node), 0},
			.change = {.kind = WARD_REPLAY_ATTRIB, .type = S_IFDIR}};
		memcpy(item->name, ".", 2);
	}
	if (node)
		ward_node_unpin(d.tree->nodes, node);
	return item;
}

static bool any(struct ward_replay *r)
{
	bool is;

	pthread_mutex_lock(&r->lock);
	is = r->first || r->closing || r->n_dirs;
	pthread_mutex_unlock(&r->lock);
	return is;
}

/* --- the thread --- */

/* Puts the operation into m, and a ticket for it; false: its directory is nowhere. */
static bool put(struct ward_replay *r, const struct item *item, struct ward_msg *m)
{
	struct ward_node *dir = ward_nodes_pin(item->tree->nodes, item->dir);
	char buf[WARD_NODE_PATH_MAX];
	const char *path;
	size_t len = 0;
	struct ticket *t;

	if (!dir)
		return false;
	path = ward_node_path(item->tree->nodes, dir, NULL, buf, &len);
	ward_node_unpin(item->tree->nodes, dir);
	/* Too deep to be said. */
	if (*path != '/' || len >= PATH_MAX)
		return false;
	ward_msg_put_u32(m, item->change.kind);
	ward_msg_put_u32(m, item->change.type);
	ward_msg_put_bytes(m, path, len);
	ward_msg_put_str(m, item->name);
	pthread_mutex_lock(&r->lock);
	t = &r->tickets[r->n_tickets++];
	*t = (struct ticket){.state = TICKET_GIVEN,
		.tree = item->tree,
		.dir = item->dir,
		.change = item->change};
	memcpy(t->name, item->name, strlen(item->name) + 1);
	pthread_mutex_unlock(&r->lock);
	return true;
}

static void void_tickets(struct ward_replay *r)
{
	pthread_mutex_lock(&r->lock);
	r->n_tickets = 0;
	pthread_mutex_unlock(&r->lock);
}

static bool is_watched(const struct ward_replay_watched *w, const struct item *item)
{
	return ward_replay_is_watched(w, item->inodes[0]) ||
	       (item->inodes[1] && ward_replay_is_watched(w, item->inodes[1]));
}

/*
 * Does somebody still have the file open for writing? Then no lease on it is given (fcntl(2)); one
 * that is given is given back at once. Whose file it is not is not told, and nobody waits.
 */
static bool still_written(const struct item *item)
{
	struct ward_fs_tree *tree = item->tree;
	struct ward_node *dir = ward_nodes_pin(tree->nodes, item->dir);
	struct ward_dirref ref = {0};
	ward_cleanup_fd int fd = -1;
	bool written = false;

	if (!dir)
		return false;
	ward_turn_begin(tree->fs);
	if (ward_resolve_dir(tree, dir, &ref) == 0) {
		if (ward_backing_open(ref.fd, item->name, O_RDONLY, 0, &fd) == 0) {
			written = fcntl(fd, F_SETLEASE, F_RDLCK) < 0 && errno == EAGAIN;
			if (!written)
				(void)fcntl(fd, F_SETLEASE, F_UNLCK);
		}
		ward_dirref_put(tree, &ref);
	}
	ward_turn_end(tree->fs);
	ward_node_unpin(tree->nodes, dir);
	return written;
}

/* Is CLOSE left for a later round, or for none? Then it is taken. */
static bool put_off(struct ward_replay *r, const struct ward_replay_watched *w, struct item *item)
{
	const uint64_t now = ward_clock_mono_ns();
	bool kept = false;

	if (item->change.kind != WARD_REPLAY_CLOSE || (w->closes && !still_written(item)))
		return false;
	if (!item->until_ns)
		item->until_ns = now + STILL_OPEN_NS;
	if (w->closes && now < item->until_ns) {
		pthread_mutex_lock(&r->lock);
		kept = append(r, item);
		pthread_mutex_unlock(&r->lock);
	}
	if (!kept)
		free(item);
	return true;
}

/* Has up to a batch made; *ret_n: how many. */
static int batch(struct ward_replay *r, const struct ward_replay_watched *w, size_t *io_left,
	uint32_t *ret_n)
{
	ward_cleanup(ward_msg_clear) struct ward_msg ops;
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	struct item *item;
	uint32_t n = 0;
	int e = 0;

	ward_msg_init(&ops, WARD_REPLAY_MAKE);
	ops.buf.len = 0; /* the operations alone: how many, the head says */
	while (n < WARD_REPLAY_BATCH && ops.buf.len < WARD_REPLAY_BYTES && *io_left &&
		((item = next(r)) || (item = next_dir(r)))) {
		--*io_left;
		if (is_watched(w, item)) {
			if (put_off(r, w, item))
				continue;
			n += put(r, item, &ops);
		}
		free(item);
	}
	ward_msg_init(&m, WARD_REPLAY_MAKE);
	ward_msg_put_u32(&m, n);
	ward_buf_add(&m.buf, ops.buf.data, ops.buf.len);
	if (n)
		e = ward_buf_error(&m.buf) || ward_buf_error(&ops.buf)
			    ? -ENOMEM
			    : ward_replay_make(&r->channel, &m);
	void_tickets(r);
	*ret_n = n;
	return e;
}

/* Processor time of wardfs-fs, which has most of the work. */
static uint64_t used_ns(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts) < 0)
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

/*
 * As long as the batch before took of the CPU: whatever the host does, replaying it takes half of
 * one. stop ends it: -ECANCELED.
 */
static int rest(struct ward_replay *r, uint64_t took_ns)
{
	struct pollfd p = {.fd = r->channel.stop, .events = POLLIN};
	const uint64_t ms = took_ns / 1000000U + 1;

	return poll(&p, 1, ms > REST_MS ? REST_MS : (int)ms) > 0 ? -ECANCELED : 0;
}

/* All that is in the queue now, for those who watch now. */
static int make_round(struct ward_replay *r, struct ward_replay_watched *w)
{
	size_t left;
	uint32_t n = 0;
	int e;

	pthread_mutex_lock(&r->lock);
	left = r->n + (r->closing != NULL) + r->n_dirs;
	pthread_mutex_unlock(&r->lock);
	e = ward_replay_ask(&r->channel, w);
	while (e == 0 && left && any(r)) {
		const uint64_t before = used_ns();

		e = batch(r, w, &left, &n);
		if (e == 0 && left)
			e = rest(r, used_ns() - before);
	}
	return e;
}

/* The process at the other end, as long as the number is its own. */
static int meet(struct ward_replay *r)
{
	const pid_t pid = ward_replay_hear(&r->channel);

	if (pid < 0)
		return pid;
	r->pidfd = pidfd_open(pid, 0);
	if (r->pidfd < 0)
		return -errno;
	atomic_store_explicit(&r->pid, (unsigned)pid, memory_order_release);
	/* From now on it matters what changes where nothing more is asked for. */
	for (size_t i = 0; i < r->fs->n_trees; i++)
		ward_forget_wake(r->fs->trees[i].forget);
	return 0;
}

static void *run(void *arg)
{
	struct ward_replay *r = arg;
	struct ward_replay_watched *w = malloc(sizeof(*w));
	struct pollfd p[3] = {{.fd = r->channel.stop, .events = POLLIN},
		{.fd = r->wake, .events = POLLIN}, {.fd = r->channel.sock}};
	eventfd_t n;
	int e = w ? meet(r) : -ENOMEM;

	while (e == 0) {
		p[0].revents = p[1].revents = p[2].revents = 0;
		/* Open files are checked again; new changes do not wait for that. */
		if (poll(p, 3, any(r) ? STILL_OPEN_MS : -1) < 0 && errno != EINTR)
			break;
		if (p[0].revents || p[2].revents)
			break;
		(void)!eventfd_read(r->wake, &n);
		if (any(r))
			e = make_round(r, w);
		/* Changes that arrive meanwhile are replayed together. */
		if (e == 0 && poll(p, 1, ROUND_MS) > 0)
			break;
	}
	/* The number may be another one's from now on. */
	atomic_store(&r->pid, 0);
	free(w);
	return NULL;
}

void ward_replay_reach(struct ward_replay *r, int sock)
{
	if (r->channel.sock >= 0) {
		close(sock);
		return;
	}
	r->channel.sock = sock;
	r->running = pthread_create(&r->thread, NULL, run, r) == 0;
}

/* --- its requests --- */

/* Locked: the first ticket for this that is not used up. */
static struct ticket *find(const struct ward_fs_tree *tree, uint64_t dir, const char *name)
{
	struct ward_replay *r = tree->fs->replay;

	for (size_t i = 0; i < r->n_tickets; i++) {
		struct ticket *t = &r->tickets[i];

		if (t->state && t->tree == tree && t->dir == dir && strcmp(t->name, name) == 0)
			return t;
	}
	return NULL;
}

/* Has it not ended? If it has, a request with its number is from another process. */
static bool lives(const struct ward_replay *r)
{
	struct pollfd p = {.fd = r->pidfd, .events = POLLIN};

	return poll(&p, 1, 0) == 0;
}

enum ward_replay_look ward_replay_look(const struct ward_fs_tree *tree, uint64_t dir,
	const char *name, struct ward_replay_standin *ret)
{
	struct ward_replay *r = tree->fs->replay;
	enum ward_replay_look look = WARD_REPLAY_LOOK_PLAIN;
	const bool is = lives(r);
	struct ticket *t;

	pthread_mutex_lock(&r->lock);
	t = is ? find(tree, dir, name) : NULL;
	if (t && t->change.kind == WARD_REPLAY_CREATE) {
		t->state = TICKET_LOOKED;
		look = WARD_REPLAY_LOOK_ABSENT;
	} else if (t && t->change.kind == WARD_REPLAY_REMOVE) {
		t->state = TICKET_LOOKED;
		*ret = (struct ward_replay_standin){.type = t->change.type,
			.number = (uint64_t)++r->standins << 32 | WARD_REPLAY_STANDIN,
			.gone = t->change.gone};
		look = WARD_REPLAY_LOOK_STANDIN;
	}
	pthread_mutex_unlock(&r->lock);
	return look;
}

bool ward_replay_is_made(const struct ward_fs_tree *tree, uint64_t dir, const char *name)
{
	struct ward_replay *r = tree->fs->replay;
	bool is;

	if (!ward_replay_on(tree->fs))
		return false;
	pthread_mutex_lock(&r->lock);
	is = find(tree, dir, name);
	pthread_mutex_unlock(&r->lock);
	return is;
}

bool ward_replay_take(const struct ward_fs_tree *tree, uint64_t dir, const char *name,
	enum ward_replay_kind kind, mode_t type)
{
	struct ward_replay *r = tree->fs->replay;
	const bool is = lives(r);
	struct ticket *t;
	bool taken;

	pthread_mutex_lock(&r->lock);
	t = is ? find(tree, dir, name) : NULL;
	/* Without a look before, the kernel would act on an inode that it has. */
	taken = t && t->state == TICKET_LOOKED && t->change.kind == kind &&
		(kind != WARD_REPLAY_CREATE || t->change.type == type);
	if (taken)
		t->state = TICKET_NONE;
	pthread_mutex_unlock(&r->lock);
	return taken;
}

bool ward_replay_take_node(const struct ward_fs_tree *tree, uint64_t number, bool closes)
{
	struct ward_replay *r = tree->fs->replay;
	struct ticket found = {.state = TICKET_NONE};
	const bool is = lives(r);

	for (size_t i = 0; is && i < WARD_REPLAY_BATCH; i++) {
		struct ward_node *dir;
		uint64_t at = 0;

		pthread_mutex_lock(&r->lock);
		found = i < r->n_tickets ? r->tickets[i] : (struct ticket){.state = TICKET_NONE};
		pthread_mutex_unlock(&r->lock);
		if (!found.state || found.tree != tree ||
			(closes ? found.change.kind != WARD_REPLAY_CLOSE
				: found.change.kind != WARD_REPLAY_MODIFY &&
						found.change.kind != WARD_REPLAY_ATTRIB))
			continue;
		dir = strcmp(found.name, ".") ? ward_nodes_pin(tree->nodes, found.dir) : NULL;
		at = dir ? ward_nodes_number(tree->nodes, dir, found.name) : found.dir;
		if (dir)
			ward_node_unpin(tree->nodes, dir);
		if (at != number)
			continue;
		pthread_mutex_lock(&r->lock);
		if (i < r->n_tickets)
			r->tickets[i].state = TICKET_NONE;
		pthread_mutex_unlock(&r->lock);
		return true;
	}
	return false;
}
