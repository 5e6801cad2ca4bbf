/* SPDX-License-Identifier: Apache-2.0 */
/* POSIX locks and flock(2), carried to the backing. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "fs/base/caller_signals.h"
#include "fs/ops/lock_circle.h"
#include "fs/ops/lock_count.h"
#include "fs/ops/lock_shares.h"
#include "fs/ops/lock_try.h"
#include "fs/ops/ops.h"
#include "fs/ops/ops_lock.h"
#include "fs/request/fs_records.h"

/* A thread does little but wait. */
#define WAITER_STACK (64U << 10)
/*
 * A waiting thread looks up this often, lest an interrupt came just before it began to wait; and
 * because over io_uring the kernel forgets an interrupt that came before its request was handed out
 * (fuse_uring_prepare_send(), unlike fuse_dev_do_read(), does not look at FR_INTERRUPTED).
 */
#define WAITER_LOOK_NS 50000000L
/* Lock owners of one file that are asked whether a lock is theirs. */
#define HOLDERS_MAX 64
/* Ranges of an owner that are counted without asking the kernel whether they exist. */
#define RANGES_FREE 16U
/* Percent of a bound that are left when the kernel was asked. */
#define ROOM_LEFT 5U
/* Past a bound the kernel is asked for one call in so many. */
#define REFUSALS 256U

struct ward_locker {
	struct ward_locker *next;
	uint64_t owner;
	pid_t pid; /* who locked last, as the mounter sees it */
	uid_t uid; /* whose share it is of */
	/* fd is of this one's open file, which may be gone: to compare alone. NULL: its own. */
	const struct ward_handle *borrowed;
	int fd; /* O_RDWR where the owner may, since a read lock may become a write lock */
	struct ward_lock_count count;
	unsigned users;
	unsigned calls; /* that have used it */
	bool detached;
};

/* nodes->lock held. */
static struct ward_locker *find(const struct ward_node *node, uint64_t owner)
{
	struct ward_locker *l = node->lockers;

	while (l && l->owner != owner)
		l = l->next;
	return l;
}

/* ward_lock_descriptor() */
static int descriptor(struct ward_fs_tree *tree, const struct ward_node *node, uint64_t owner)
{
	const struct ward_locker *l;
	int fd = -ENOENT;

	pthread_mutex_lock(&tree->nodes->lock);
	l = find(node, owner);
	if (l)
		fd = fcntl(l->fd, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&tree->nodes->lock);
	return fd;
}

static void unlock_all(const struct ward_locker *l)
{
	const struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

	(void)fcntl(l->fd, F_OFD_SETLK, &all);
}

static void put(struct ward_fs_tree *tree, struct ward_locker *l)
{
	bool last;

	pthread_mutex_lock(&tree->nodes->lock);
	last = --l->users == 0 && l->detached;
	pthread_mutex_unlock(&tree->nodes->lock);
	if (last) {
		atomic_fetch_sub(&tree->fs->n_locks, l->count.ranges);
		ward_share_give(tree->fs->shares, WARD_SHARE_RANGES, l->uid, l->count.ranges);
		ward_lock_give_locker(tree->fs, l->uid);
		if (l->borrowed)
			unlock_all(l);
		close(l->fd);
		free(l);
	}
}

/* nodes->lock held: does the handle remember the owner? Then, with `forget`, no more. */
static bool remembers(struct ward_fs *fs, struct ward_handle *h, uint64_t owner, bool forget)
{
	for (size_t i = 0; i < h->n_owners; i++) {
		if (h->owners[i] != owner)
			continue;
		if (forget) {
			h->owners[i] = h->owners[--h->n_owners];
			ward_lock_give_owner(fs, h);
		}
		return true;
	}
	return false;
}

/* nodes->lock held: the handle remembers the owner, RELEASE ends its locks. */
static int remember(struct ward_fs *fs, struct ward_handle *h, uint64_t owner)
{
	uint64_t *v;

	if (remembers(fs, h, owner, false))
		return 0;
	if (!ward_lock_take_owner(fs, h))
		return -ENOLCK;
	v = realloc(h->owners, (h->n_owners + 1) * sizeof(*v));
	if (!v) {
		ward_lock_give_owner(fs, h);
		return -ENOLCK;
	}
	h->owners = v;
	v[h->n_owners++] = owner;
	return 0;
}

/*
 * The file was made with, or got, a mode under which nobody may open it so again: the open file of
 * the handle serves, for one owner at a time.
 */
static int borrow(struct ward_fs_tree *tree, const struct ward_handle *h, struct ward_locker *ret)
{
	bool taken = false;

	pthread_mutex_lock(&tree->nodes->lock);
	for (const struct ward_locker *l = h->node->lockers; l; l = l->next)
		taken = taken || l->borrowed == h;
	pthread_mutex_unlock(&tree->nodes->lock);
	if (taken)
		return -ENOLCK;
	ret->borrowed = h;
	ret->fd = fcntl(ward_handle_locks(h), F_DUPFD_CLOEXEC, 0);
	return ret->fd < 0 ? -errno : 0;
}

/* A locker that no node has. */
static int make(
	struct ward_op *op, const struct ward_handle *h, uint64_t owner, struct ward_locker **ret)
{
	struct ward_locker *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOLCK;
	l->owner = owner;
	l->uid = op->uid;
	l->count.ask_at = RANGES_FREE;
	r = ward_backing_reopen_itself(ward_handle_locks(h), O_RDWR, &l->fd);
	/* No more than the handle has, which may have come from another user (SCM_RIGHTS): what
	 * the caller could open does not matter. */
	if (r < 0) {
		ward_op_end(op);
		r = ward_backing_reopen_itself(ward_handle_locks(h), h->flags & O_ACCMODE, &l->fd);
	}
	if (r == -EACCES)
		r = borrow(op->tree, h, l);
	if (r < 0) {
		free(l);
		return r;
	}
	*ret = l;
	return 0;
}

/*
 * The owner's locker, in use until put(). Takes the node's, or else the one in *io_made; if that
 * becomes the node's, *io_made is NULL afterwards. NULL: neither exists, or r < 0.
 */
static struct ward_locker *use(struct ward_fs_tree *tree, struct ward_handle *h, uint64_t owner,
	struct ward_locker **io_made, int *ret_r)
{
	struct ward_locker *l;

	pthread_mutex_lock(&tree->nodes->lock);
	l = find(h->node, owner);
	*ret_r = l || *io_made ? remember(tree->fs, h, owner) : 0;
	if (!l && *io_made && *ret_r == 0) {
		l = *io_made;
		l->next = h->node->lockers;
		h->node->lockers = l;
		*io_made = NULL;
	}
	if (l) {
		l->users++;
		l->calls++;
	}
	pthread_mutex_unlock(&tree->nodes->lock);
	return l;
}

/* The owner's locker, made if it does not exist; in use until put(). */
static int get(struct ward_op *op, struct ward_handle *h, uint64_t owner, struct ward_locker **ret)
{
	struct ward_fs_tree *tree = op->tree;
	struct ward_locker *made = NULL;
	int r;
	struct ward_locker *l = use(tree, h, owner, &made, &r);

	if (!l && r == 0 && !ward_lock_take_locker(tree->fs, op->uid))
		return -ENOLCK;
	if (!l) {
		r = make(op, h, owner, &made);
		if (r == 0)
			l = use(tree, h, owner, &made, &r);
		/* Another request was first, or the node has no locker of this owner. */
		if (made || !l)
			ward_lock_give_locker(tree->fs, op->uid);
		if (made) {
			close(made->fd);
			free(made);
		}
	}
	if (r < 0) {
		if (l)
			put(tree, l);
		return r;
	}
	*ret = l;
	return 0;
}

/*
 * l, in use, was made while its file could be opened for reading alone, and the owner has come to
 * another open file since. l gets a descriptor with the access of h, which has its locks. -ENOLCK:
 * it has locks that a second descriptor cannot have beside the first, or is used otherwise.
 */
static int widen(struct ward_op *op, const struct ward_handle *h, struct ward_locker *l)
{
	struct ward_locker *more = NULL, old = {.fd = -1};
	int r = make(op, h, l->owner, &more);
	unsigned calls;

	if (r < 0)
		return r;
	pthread_mutex_lock(&op->tree->nodes->lock);
	calls = l->calls;
	pthread_mutex_unlock(&op->tree->nodes->lock);
	r = ward_locks_copy(l->fd, more->fd);
	old.fd = more->fd;
	old.borrowed = more->borrowed;
	pthread_mutex_lock(&op->tree->nodes->lock);
	if (r == 0 && (l->users > 1 || l->calls != calls))
		r = -ENOLCK;
	if (r == 0) {
		old.fd = l->fd;
		old.borrowed = l->borrowed;
		l->fd = more->fd;
		l->borrowed = more->borrowed;
	}
	pthread_mutex_unlock(&op->tree->nodes->lock);
	if (old.borrowed)
		unlock_all(&old);
	close(old.fd);
	free(more);
	return r;
}

/*
 * nodes->lock held: are there too many? asked: they were just counted. Then some room must be left,
 * lest the kernel is asked, which takes a millisecond, at each call of a program that is near.
 */
static bool too_many(struct ward_fs *fs, const struct ward_node *node, uid_t uid, bool asked)
{
	const unsigned part = asked ? ROOM_LEFT : 0;
	const unsigned left = WARD_LOCKS_FILE_MAX / 100 * part;
	unsigned n = left, mine = left;

	for (const struct ward_locker *l = node->lockers; l; l = l->next) {
		n += l->count.ranges;
		mine += l->uid == uid ? l->count.ranges : 0;
	}
	return n > WARD_LOCKS_FILE_MAX ||
	       (fs->shares && !ward_share_fair(uid, mine, n, WARD_LOCKS_FILE_MAX)) ||
	       ward_share_over(fs->shares, WARD_SHARE_RANGES, uid, part) ||
	       atomic_load(&fs->n_locks) > WARD_LOCKS_MAX - WARD_LOCKS_MAX / 100 * part;
}

/* nodes->lock held: l, in use, has so many ranges, and those that its users are about to add. */
static void counted(struct ward_fs *fs, struct ward_locker *l, unsigned ranges)
{
	const unsigned n = ranges + l->users * WARD_LOCK_ADDS;

	if (n < l->count.ranges) {
		atomic_fetch_sub(&fs->n_locks, l->count.ranges - n);
		ward_share_give(fs->shares, WARD_SHARE_RANGES, l->uid, l->count.ranges - n);
		l->count.ranges = n;
	}
	l->count.ask_at = n * 2 > RANGES_FREE ? n * 2 : RANGES_FREE;
}

/* A call that locks or unlocks with l, in use, may add ranges. -ENOLCK: there are too many. */
static int reserve(struct ward_fs_tree *tree, const struct ward_node *node, struct ward_locker *l,
	const struct flock *lock)
{
	struct ward_lock_count *c = &l->count;
	bool ask, many;
	int n = -ENOLCK;

	pthread_mutex_lock(&tree->nodes->lock);
	/* To unlock the whole file adds nothing. */
	if (lock->l_type == F_UNLCK && !lock->l_start && !lock->l_len) {
		c->refusals = 0;
		pthread_mutex_unlock(&tree->nodes->lock);
		return 0;
	}
	c->ranges += WARD_LOCK_ADDS;
	atomic_fetch_add(&tree->fs->n_locks, WARD_LOCK_ADDS);
	ward_share_add(tree->fs->shares, WARD_SHARE_RANGES, l->uid, WARD_LOCK_ADDS);
	many = too_many(tree->fs, node, l->uid, false);
	ask = c->ranges > c->ask_at || (many && c->refusals == 0);
	pthread_mutex_unlock(&tree->nodes->lock);
	if (ask)
		n = ward_locks_of(l->fd);
	if (!ask && !many)
		return 0;
	pthread_mutex_lock(&tree->nodes->lock);
	if (n >= 0)
		counted(tree->fs, l, (unsigned)n);
	else if (c->refusals)
		c->refusals--;
	many = many && too_many(tree->fs, node, l->uid, n >= 0);
	if (many && n >= 0)
		c->refusals = REFUSALS;
	if (many) {
		c->ranges -= WARD_LOCK_ADDS;
		atomic_fetch_sub(&tree->fs->n_locks, WARD_LOCK_ADDS);
		ward_share_give(tree->fs->shares, WARD_SHARE_RANGES, l->uid, WARD_LOCK_ADDS);
	}
	pthread_mutex_unlock(&tree->nodes->lock);
	return many ? -ENOLCK : 0;
}

/* nodes->lock held: takes the owner's locker from the node, for end(). NULL: it has none. */
static struct ward_locker *detach(struct ward_node *node, uint64_t owner, bool *ret_idle)
{
	struct ward_locker **at, *l;

	for (at = &node->lockers; *at && (*at)->owner != owner; at = &(*at)->next)
		;
	l = *at;
	if (!l)
		return NULL;
	*at = l->next;
	l->detached = true;
	*ret_idle = l->users++ == 0;
	return l;
}

/* The locks of a detached locker. */
static void end(struct ward_fs_tree *tree, struct ward_locker *l, bool idle)
{
	/* Somebody of the same owner still waits with it: what is held now ends nevertheless. */
	if (!idle)
		unlock_all(l);
	put(tree, l);
}

void ward_lock_drop_owner(struct ward_fs_tree *tree, struct ward_node *node, uint64_t owner)
{
	struct ward_locker *l;
	bool idle = false;

	pthread_mutex_lock(&tree->nodes->lock);
	l = detach(node, owner, &idle);
	/* Whatever the owner locks from here on is nothing that these handles have locked. */
	for (struct ward_handle *h = l ? node->handles : NULL; h; h = h->next)
		(void)remembers(tree->fs, h, owner, true);
	pthread_mutex_unlock(&tree->nodes->lock);
	if (l)
		end(tree, l, idle);
}

/*
 * A handle can end long after the owner closed its descriptor (another process had it, too), and
 * RELEASE can be late (handle.h): by then the owner may hold locks through another handle.
 */
void ward_lock_drop_handle(struct ward_fs_tree *tree, struct ward_handle *h)
{
	struct ward_locker *l;
	bool idle = false;

	pthread_mutex_lock(&tree->nodes->lock);
	while (h->n_owners) {
		const uint64_t owner = h->owners[--h->n_owners];
		bool others = false;

		ward_lock_give_owner(tree->fs, h);
		for (struct ward_handle *o = h->node->handles; o && !others; o = o->next)
			others = o != h && remembers(tree->fs, o, owner, false);
		l = others ? NULL : detach(h->node, owner, &idle);
		if (!l)
			continue;
		pthread_mutex_unlock(&tree->nodes->lock);
		end(tree, l, idle);
		pthread_mutex_lock(&tree->nodes->lock);
	}
	pthread_mutex_unlock(&tree->nodes->lock);
}

/* One request that waits for a lock. */
struct waiter {
	fuse_req_t req;
	struct ward_fs_tree *tree;
	struct ward_locker *locker; /* NULL: flock on the handle */
	struct ward_handle *handle; /* a reference */
	struct flock lock;
	int flock_op;
	pthread_t thread;
	struct ward_lock_wait wait; /* of a POSIX lock */
	atomic_bool interrupted;
	atomic_bool started;
	pid_t pid; /* the client's thread */
	uid_t uid;
	bool signalled; /* a signal to it was pending when we last looked */
};

/* Of a waiter's flock_op, also with a POSIX lock: to wait for ends that are late, and no longer. */
static bool tries(int flock_op)
{
	return flock_op & LOCK_NB;
}

static void on_interrupt(fuse_req_t req, void *data)
{
	struct waiter *w = data;

	atomic_store(&w->interrupted, true);
	if (atomic_load(&w->started))
		pthread_kill(w->thread, WARD_LOCK_SIGNAL);
}

static void free_waiter(struct waiter *w)
{
	if (w->locker)
		put(w->tree, w->locker);
	ward_handle_put(w->tree->nodes, w->handle);
	ward_lock_give_waiter(w->tree->fs, w->uid);
	free(w);
}

/* Signals the calling thread again and again; what it interrupts looks at `interrupted`. */
static int start_timer(timer_t *ret)
{
	struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WARD_LOCK_SIGNAL};
	const struct itimerspec every = {
		.it_value.tv_nsec = WAITER_LOOK_NS, .it_interval.tv_nsec = WAITER_LOOK_NS};

	ev._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &ev, ret) < 0)
		return -errno;
	if (timer_settime(*ret, 0, &every, NULL) < 0) {
		timer_delete(*ret);
		return -errno;
	}
	return 0;
}

/* At this look and at the one before. */
static bool signalled(struct waiter *w)
{
	const bool again = w->signalled;

	if (!w->tree->rings)
		return false;
	w->signalled = ward_pending(w->pid);
	return again && w->signalled;
}

/* F_RDLCK …, of an operation of flock(2). */
static int flock_type(int flock_op)
{
	if (flock_op & LOCK_UN)
		return F_UNLCK;
	return flock_op & LOCK_EX ? F_WRLCK : F_RDLCK;
}

/*
 * Records the result r, which is known only afterwards. If the trail fails, gives the lock back.
 * locker NULL: flock on the handle. Returns the answer to the request.
 */
static int recorded(const struct ward_op *op, const struct ward_handle *h,
	const struct ward_locker *locker, const struct flock *lock, int flock_op, int r)
{
	const int type = locker ? lock->l_type : flock_type(flock_op);
	struct flock back;

	if (ward_record_lock(
		    op, h, type, locker ? lock->l_start : 0, locker ? lock->l_len : 0, r) == 0)
		return r;
	if (r == 0 && type != F_UNLCK && locker) {
		back = *lock;
		back.l_type = F_UNLCK;
		(void)fcntl(locker->fd, F_OFD_SETLK, &back);
	} else if (r == 0 && type != F_UNLCK) {
		(void)flock(ward_handle_locks(h), LOCK_UN);
	}
	return r < 0 ? r : -EIO;
}

/* Until it has the lock, or is not to wait any longer. */
static int obtain(struct waiter *w)
{
	timer_t timer;
	int r = start_timer(&timer);

	if (r < 0)
		return r;
	fuse_req_interrupt_func(w->req, on_interrupt, w);
	do {
		if (atomic_load(&w->interrupted))
			r = -EINTR;
		else if (w->locker)
			r = fcntl(w->locker->fd, F_OFD_SETLKW, &w->lock) < 0 ? -errno : 0;
		else
			r = flock(ward_handle_locks(w->handle), w->flock_op) < 0 ? -errno : 0;
	} while (r == -EINTR && !atomic_load(&w->interrupted) && !signalled(w));
	timer_delete(timer);
	/* From here on nobody calls on_interrupt() with w. */
	fuse_req_interrupt_func(w->req, NULL, NULL);
	return r;
}

static void *wait_for_lock(void *arg)
{
	struct waiter *w = arg;
	int r;

	w->thread = pthread_self();
	atomic_store(&w->started, true);
	if (tries(w->flock_op))
		r = ward_lock_try(w->tree, w->handle,
			w->locker ? w->locker->fd : ward_handle_locks(w->handle),
			w->locker ? &w->lock : NULL, w->flock_op);
	else
		r = obtain(w);
	if (w->locker && !tries(w->flock_op))
		ward_lock_wait_end(w->tree, &w->wait);
	const struct ward_op op = {.tree = w->tree,
		.pid = (uint32_t)w->pid,
		.uid = w->uid,
		.action = w->locker ? "lock" : "flock"};
	r = recorded(&op, w->handle, w->locker, &w->lock, w->flock_op, r);
	(void)fuse_reply_err(w->req, -r);
	free_waiter(w);
	return NULL;
}

/*
 * True: the request is answered later, from another thread, which takes the locker's use. False: it
 * failed with *ret.
 */
static bool wait_elsewhere(fuse_req_t req, struct ward_fs_tree *tree, struct ward_handle *h,
	struct ward_locker *locker, const struct flock *lock, int flock_op, int *ret)
{
	struct waiter *w = NULL;
	pthread_attr_t attr;
	pthread_t thread;
	const uid_t uid = fuse_req_ctx(req)->uid;
	const bool counted = ward_lock_take_waiter(tree->fs, uid);

	*ret = tries(flock_op) ? -EAGAIN : -ENOLCK;
	if (counted)
		w = calloc(1, sizeof(*w));
	if (!w) {
		if (counted)
			ward_lock_give_waiter(tree->fs, uid);
		return false;
	}
	w->req = req;
	w->pid = fuse_req_ctx(req)->pid;
	w->uid = uid;
	w->tree = tree;
	w->handle = h;
	if (lock)
		w->lock = *lock;
	if (lock && !tries(flock_op)) {
		w->wait = (struct ward_lock_wait){
			.node = h->node, .owner = locker->owner, .lock = &w->lock};
		*ret = ward_lock_wait_begin(tree, &w->wait, descriptor);
		if (*ret < 0) {
			ward_lock_give_waiter(tree->fs, uid);
			free(w);
			return false;
		}
	}
	w->locker = locker;
	w->flock_op = flock_op;
	pthread_mutex_lock(&tree->nodes->lock);
	h->refs++;
	if (locker)
		locker->users++;
	pthread_mutex_unlock(&tree->nodes->lock);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, WAITER_STACK);
	*ret = 0;
	if (pthread_create(&thread, &attr, wait_for_lock, w))
		*ret = tries(flock_op) ? -EAGAIN : -ENOLCK;
	pthread_attr_destroy(&attr);
	if (*ret < 0) {
		if (locker && !tries(flock_op))
			ward_lock_wait_end(tree, &w->wait);
		free_waiter(w);
	} else if (locker) {
		put(tree, locker);
	}
	return *ret == 0;
}

/*
 * Whose lock was found, 0 where that is unknown: somebody's on the host, or a read lock of
 * several. An owner's own lock does not stand in its way, so the owner for whom the range is free
 * is the holder.
 */
static pid_t holder_of(struct ward_fs_tree *tree, struct ward_node *node, const struct flock *found)
{
	struct ward_locker *v[HOLDERS_MAX];
	pid_t pids[HOLDERS_MAX], pid = 0;
	size_t n = 0;

	pthread_mutex_lock(&tree->nodes->lock);
	for (struct ward_locker *l = node->lockers; l && n < HOLDERS_MAX; l = l->next) {
		l->users++;
		pids[n] = l->pid;
		v[n++] = l;
	}
	pthread_mutex_unlock(&tree->nodes->lock);
	for (size_t i = 0; i < n; i++) {
		struct flock range = {.l_type = F_WRLCK,
			.l_whence = SEEK_SET,
			.l_start = found->l_start,
			.l_len = found->l_len};

		if (!pid && fcntl(v[i]->fd, F_OFD_GETLK, &range) == 0 && range.l_type == F_UNLCK)
			pid = pids[i];
		put(tree, v[i]);
	}
	return pid;
}

static void op_getlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock)
{
	ward_cleanup_op op = {.acting = false};
	struct ward_locker *l = NULL;
	int r = ward_op_begin(&op, req, "lock");

	if (r == 0)
		r = get(&op, ward_handle_from(fi->fh), fi->lock_owner, &l);
	if (r == 0) {
		lock->l_pid = 0; /* as F_OFD_GETLK demands */
		if (fcntl(l->fd, F_OFD_GETLK, lock) < 0)
			r = -errno;
		put(op.tree, l);
	}
	if (r < 0) {
		ward_op_reply(&op, r);
		return;
	}
	/* -1: an open-file-description lock, which belongs to no process; ours stand for some. */
	if (lock->l_type != F_UNLCK && lock->l_pid < 0)
		lock->l_pid = holder_of(op.tree, ward_handle_from(fi->fh)->node, lock);
	(void)fuse_reply_lock(req, lock);
}

static void op_setlk(
	fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock, int sleep)
{
	ward_cleanup_op op = {.acting = false};
	struct ward_handle *h = ward_handle_from(fi->fh);
	struct ward_locker *l = NULL;
	uint64_t seen;
	int r = ward_op_begin(&op, req, "lock");

	if (r == 0)
		r = get(&op, h, fi->lock_owner, &l);
	if (r == 0)
		r = reserve(op.tree, h->node, l, lock);
	if (r != 0) {
		if (l)
			put(op.tree, l);
		ward_op_reply(&op, r);
		return;
	}
	if (lock->l_type != F_UNLCK) {
		pthread_mutex_lock(&op.tree->nodes->lock);
		l->pid = lock->l_pid;
		h->node->locked = true;
		pthread_mutex_unlock(&op.tree->nodes->lock);
		atomic_store(&h->locked, true);
	} else if (lock->l_start == 0 && lock->l_len == 0) {
		atomic_store(&h->locked, false);
	}
	lock->l_pid = 0; /* as F_OFD_SETLK demands */
	seen = ward_ends_seen(op.tree->nodes);
	r = ward_lock_attempt(l->fd, lock, 0);
	/* The kernel asks for no lock that the client's own descriptor is not open for. */
	if (r == -EBADF) {
		r = widen(&op, h, l);
		r = r < 0 ? r : ward_lock_attempt(l->fd, lock, 0);
	}
	if (r == -EAGAIN && (sleep || ward_lock_may_end(op.tree, h, seen)) &&
		wait_elsewhere(req, op.tree, h, l, lock, sleep ? 0 : LOCK_NB, &r))
		return;
	r = recorded(&op, h, l, lock, 0, r);
	put(op.tree, l);
	ward_op_reply(&op, r);
}

static void op_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int flock_op)
{
	const struct ward_op op = {.tree = fuse_req_userdata(req),
		.req = req,
		.pid = (uint32_t)fuse_req_ctx(req)->pid,
		.uid = fuse_req_ctx(req)->uid,
		.action = "flock"};
	struct ward_handle *h = ward_handle_from(fi->fh);
	const uint64_t seen = ward_ends_seen(op.tree->nodes);
	int r;

	atomic_store(&h->locked, !(flock_op & LOCK_UN));
	r = ward_lock_attempt(ward_handle_locks(h), NULL, flock_op);
	if (r != -EAGAIN || (tries(flock_op) && !ward_lock_may_end(op.tree, h, seen)) ||
		!wait_elsewhere(req, op.tree, h, NULL, NULL, flock_op, &r))
		(void)fuse_reply_err(req, -recorded(&op, h, NULL, NULL, flock_op, r));
}

void ward_ops_lock_fill(struct fuse_lowlevel_ops *ops)
{
	ops->getlk = op_getlk;
	ops->setlk = op_setlk;
	ops->flock = op_flock;
}
