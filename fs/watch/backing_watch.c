/* SPDX-License-Identifier: Apache-2.0 */
/* Marks directories with fanotify and hands out what others did there. */
#include "fs/watch/backing_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/helper.h"
#include "fs/node/node_links.h"

/* Directories watched in one tree: each keeps its inode in the kernel's memory. */
#define DIRS_MAX 65536U
#define BUCKETS 4096U
/* Requests of a tree before its directories are watched. */
#define REQUESTS_MIN 32U
#define READ_SIZE (64U << 10)
/* What is left for the reading thread; it is given up beyond, as the kernel's queue is. */
#define LEFT_MAX (1U << 20)
/* What a request reads at once, on its stack; the longest event is one name and one handle. */
#define PULL_SIZE 4096U
/* MAX_HANDLE_SZ of include/linux/exportfs.h. */
#define HANDLE_MAX 128U
/* name_to_handle_at(2): any identifier will do, it is never opened. Linux 6.5, fcntl.h. */
#define HANDLE_FID 0x200

/* Those that tell of a name. */
#define NAMES (FAN_CREATE | FAN_DELETE | FAN_MOVED_FROM | FAN_MOVED_TO)
#define CHANGES                                                                                    \
	(FAN_CREATE | FAN_DELETE | FAN_MOVED_FROM | FAN_MOVED_TO | FAN_ATTRIB | FAN_MODIFY |       \
		FAN_EVENT_ON_CHILD | FAN_ONDIR)

struct handle {
	int32_t type;
	uint32_t len;
	uint8_t bytes[HANDLE_MAX];
};

/* What others did, read by somebody who could not hand it out. */
struct left {
	struct left *next;
	size_t len;
	char bytes[];
};

/* A watched directory. */
struct ward_watched {
	struct ward_watched *next;
	uint64_t number; /* of the node; 0: none is left, but the mark */
	uint64_t since;	 /* tree->watch_seq once the mark stood; 0: not yet */
	struct handle handle;
};

struct ward_watch {
	int fd;
	pid_t self;
	pthread_mutex_t lock; /* protects the rest; innermost */
	struct ward_watched *buckets[BUCKETS];
	size_t n, max; /* directories */
	uint64_t refused;
	int error;		    /* of the last refusal, a negative errno */
	atomic_uint_fast64_t round; /* calls of read(2) that were begun */
	/* Over a read(2) of the queue and a look through what came; taken before nodes->lock. */
	pthread_mutex_t reading; /* protects these */
	struct left *left, **left_end;
	size_t n_left;	/* bytes */
	bool lost;	/* there was no room for more */
	uint64_t empty; /* the round in which there was nothing last */
	/* the reading thread's own */
	char *buf;
};

/* Kinds of file system on which every change passes this kernel: no network, no other FUSE. */
static bool is_local(int fd)
{
	/* statfs(2); the last two are not in <linux/magic.h>. */
	static const uint32_t kinds[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
		TMPFS_MAGIC, F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, 0x2fc12fc1 /* zfs */,
		0xca451a4e /* bcachefs */};
	struct statfs st;

	if (fstatfs(fd, &st) < 0)
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if ((uint32_t)st.f_type == kinds[i])
			return true;
	return false;
}

/* Directories that a root may lie beneath; PATH_MAX of one-letter names. */
#define ABOVE_MAX 2048

static int look(int fd, struct statx *ret)
{
	if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, ret) < 0)
		return -errno;
	return ret->stx_mask & STATX_MNT_ID ? 0 : -EOPNOTSUPP;
}

/* Is `dir` the directory `top`, or beneath it in the same mount? True also where that is unknown.
 */
static bool beneath(int dir, const struct statx *top)
{
	ward_cleanup_fd int at = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	uint64_t last = 0;

	for (unsigned i = 0; at >= 0 && i < ABOVE_MAX; i++) {
		struct statx here;
		int up;

		if (look(at, &here) < 0 ||
			(here.stx_mnt_id == top->stx_mnt_id && here.stx_ino == top->stx_ino))
			return true;
		if (here.stx_mnt_id != top->stx_mnt_id || (i && here.stx_ino == last))
			return false;
		last = here.stx_ino;
		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = up;
	}
	return true;
}

/*
 * What is done in one tree may show in another one then, and events do not tell which it was: on
 * one file system, unless both are of one mount and neither lies in the other. (A file with a name
 * in each has two, and its attributes are not kept for long.)
 */
static bool may_overlap(const struct ward_fs_tree *a, const struct ward_fs_tree *b)
{
	struct statx sa, sb;
	struct stat st, other;

	if (fstat(a->root_fd, &st) < 0 || fstat(b->root_fd, &other) < 0)
		return true;
	if (st.st_dev != other.st_dev)
		return false;
	if (look(a->root_fd, &sa) < 0 || look(b->root_fd, &sb) < 0 ||
		sa.stx_mnt_id != sb.stx_mnt_id)
		return true;
	return beneath(a->root_fd, &sb) || beneath(b->root_fd, &sa);
}

static bool shared(const struct ward_fs_tree *tree)
{
	const struct ward_fs *fs = tree->fs;

	for (size_t i = 0; i < fs->n_trees; i++)
		if (&fs->trees[i] != tree && may_overlap(tree, &fs->trees[i]))
			return true;
	return false;
}

static const char *no_group(int error)
{
	if (error == EMFILE)
		return "there is no room for its watches (user.max_fanotify_groups)";
	return error == EPERM ? "an ordinary user may not watch before Linux 5.13"
			      : "the kernel does not watch (fanotify)";
}

static const char *no_mark(int error)
{
	switch (error) {
	case 0:
		return NULL;
	case -ENOSPC:
		return "there is no room for more watches (user.max_fanotify_marks)";
	case -EMFILE:
		return "more directories than are watched in one tree";
	case -EACCES:
	case -EPERM:
		return "the owner may not read it";
	default:
		return "the kernel refused the watch";
	}
}

struct ward_watch_report ward_watch_report(const struct ward_fs_tree *tree)
{
	struct ward_watch *w = tree->watch;
	struct ward_watch_report r = {.why = tree->watch_why};

	if (!w)
		return r;
	pthread_mutex_lock(&w->lock);
	r.watched = w->n;
	r.refused = w->refused;
	r.why = no_mark(w->error);
	pthread_mutex_unlock(&w->lock);
	return r;
}

static bool full(struct ward_watch *w)
{
	bool is;

	pthread_mutex_lock(&w->lock);
	is = w->n == w->max;
	pthread_mutex_unlock(&w->lock);
	return is;
}

/* It is looked at again after a second instead. */
static void refused(struct ward_watch *w, int error)
{
	pthread_mutex_lock(&w->lock);
	w->refused++;
	w->error = error;
	pthread_mutex_unlock(&w->lock);
}

/*
 * An ordinary user's marks count together, in all programs of that user: a session that looks at
 * many directories leaves a quarter to the others.
 */
static size_t share_of_marks(const struct ward_fs *fs)
{
	char text[24] = "";
	ward_cleanup_fd int fd = open("/proc/sys/user/max_fanotify_marks", O_RDONLY | O_CLOEXEC);
	uint64_t all;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return DIRS_MAX;
	all = strtoull(text, NULL, 10) / 4 * 3 / fs->n_trees;
	return all < DIRS_MAX ? (size_t)all : DIRS_MAX;
}

int ward_watch_open(struct ward_fs_tree *tree, struct ward_err *err)
{
	struct ward_watch *w;

	/* Who changes a kept home are sessions of its project, and an owner has 128 groups. */
	if (strcmp(tree->path, WARD_HOME_PATH) == 0)
		return 0;
	if (tree->files)
		tree->watch_why = "it shows single files";
	else if (!is_local(tree->root_fd))
		tree->watch_why = "its file system does not tell what others change";
	else if (shared(tree))
		tree->watch_why =
			"another tree of the session shows, or could show, the same files";
	if (tree->watch_why)
		return 0;
	w = calloc(1, sizeof(*w));
	if (!w || !(w->buf = malloc(READ_SIZE))) {
		free(w);
		return ward_err_sys(err, -ENOMEM, "%s: watches", tree->path);
	}
	pthread_mutex_init(&w->lock, NULL);
	pthread_mutex_init(&w->reading, NULL);
	w->left_end = &w->left;
	w->self = getpid();
	w->fd = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | FAN_REPORT_DFID_NAME |
				      FAN_UNLIMITED_MARKS,
		O_RDONLY | O_CLOEXEC);
	w->max = DIRS_MAX;
	if (w->fd < 0) { /* unlimited is root's */
		w->max = share_of_marks(tree->fs);
		w->fd = fanotify_init(
			FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | FAN_REPORT_DFID_NAME,
			O_RDONLY | O_CLOEXEC);
	}
	if (w->fd < 0) {
		tree->watch_why = no_group(errno);
		ward_watch_free(w);
		return 0;
	}
	tree->watch = w;
	return 0;
}

void ward_watch_free(struct ward_watch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (w->buckets[i]) {
			struct ward_watched *at = w->buckets[i];

			w->buckets[i] = at->next;
			free(at);
		}
	if (w->fd >= 0)
		close(w->fd);
	while (w->left) {
		struct left *at = w->left;

		w->left = at->next;
		free(at);
	}
	pthread_mutex_destroy(&w->lock);
	pthread_mutex_destroy(&w->reading);
	free(w->buf);
	free(w);
}

static size_t bucket(const struct handle *h)
{
	uint64_t x = UINT64_C(0xcbf29ce484222325) ^ (uint32_t)h->type; /* FNV-1a */

	for (uint32_t i = 0; i < h->len; i++)
		x = (x ^ h->bytes[i]) * UINT64_C(0x100000001b3);
	return (size_t)((x ^ (x >> 32)) % BUCKETS);
}

static bool same_handle(const struct handle *a, const struct handle *b)
{
	return a->type == b->type && a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

static int get_handle(int fd, struct handle *ret)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + HANDLE_MAX];
	} u;
	int mnt;

	u.h.handle_bytes = HANDLE_MAX;
	if (name_to_handle_at(fd, "", &u.h, &mnt, AT_EMPTY_PATH) < 0) {
		u.h.handle_bytes = HANDLE_MAX;
		if (name_to_handle_at(fd, "", &u.h, &mnt, AT_EMPTY_PATH | HANDLE_FID) < 0)
			return -errno;
	}
	if (u.h.handle_bytes > HANDLE_MAX)
		return -EOVERFLOW;
	memset(ret, 0, sizeof(*ret));
	ret->type = u.h.handle_type;
	ret->len = u.h.handle_bytes;
	memcpy(ret->bytes, u.h.f_handle, ret->len);
	return 0;
}

/* Adds the entry of a directory to watch. NULL: this directory is not watched. */
static struct ward_watched *add(struct ward_watch *w, const struct handle *h, uint64_t number)
{
	struct ward_watched **at = &w->buckets[bucket(h)], *found;

	pthread_mutex_lock(&w->lock);
	for (found = *at; found && !same_handle(&found->handle, h); found = found->next)
		;
	if (found && !found->number) {
		found->number = number;
	} else if (found || w->n == w->max || !(found = calloc(1, sizeof(*found)))) {
		/* Two nodes of one directory: the host moves things as we look. The first one has
		 * it. */
		found = NULL;
	} else {
		found->number = number;
		found->handle = *h;
		found->next = *at;
		*at = found;
		w->n++;
	}
	pthread_mutex_unlock(&w->lock);
	return found;
}

static void take_out(struct ward_watch *w, struct ward_watched *entry)
{
	struct ward_watched **at;

	pthread_mutex_lock(&w->lock);
	for (at = &w->buckets[bucket(&entry->handle)]; *at && *at != entry; at = &(*at)->next)
		;
	if (*at) {
		*at = entry->next;
		w->n--;
	}
	pthread_mutex_unlock(&w->lock);
	free(entry);
}

static int mark(const struct ward_watch *w, unsigned flags, uint64_t mask, int fd)
{
	char path[WARD_BACKING_FD_PATH_MAX];

	ward_backing_fd_path(fd, path);
	return fanotify_mark(w->fd, flags, mask, AT_FDCWD, path) < 0 ? -errno : 0;
}

bool ward_watch_due(const struct ward_fs_tree *tree)
{
	return tree->watch &&
	       (atomic_load_explicit(&tree->n_requests, memory_order_relaxed) >= REQUESTS_MIN ||
		       atomic_load_explicit(&tree->watch_now, memory_order_relaxed));
}

void ward_watch_dir(struct ward_fs_tree *tree, struct ward_node *node, int fd)
{
	struct ward_watch *w = tree->watch;
	struct ward_watched *entry;
	struct handle handle = {.len = 0};
	bool tried;
	int r;

	if (!ward_watch_due(tree))
		return;
	pthread_mutex_lock(&tree->nodes->lock);
	tried = node->dir->watch_tried;
	node->dir->watch_tried = true;
	pthread_mutex_unlock(&tree->nodes->lock);
	if (tried)
		return;
	r = get_handle(fd, &handle);
	if (r < 0) {
		refused(w, r);
		return;
	}
	entry = add(w, &handle, ward_node_to_ino(tree->nodes, node));
	if (!entry) {
		if (full(w))
			refused(w, w->max < DIRS_MAX ? -ENOSPC : -EMFILE);
		return;
	}
	r = mark(w, FAN_MARK_ADD | FAN_MARK_ONLYDIR, CHANGES, fd);
	if (r < 0) {
		take_out(w, entry);
		refused(w, r);
		return;
	}
	pthread_mutex_lock(&tree->nodes->lock);
	entry->since = atomic_fetch_add(&tree->watch_seq, 1) + 1;
	node->dir->watched = entry;
	pthread_mutex_unlock(&tree->nodes->lock);
}

void ward_watch_drop(struct ward_fs_tree *tree, struct ward_node *node)
{
	struct ward_watched *entry = node->dir->watched;

	if (!entry)
		return;
	node->dir->watched = NULL;
	if (node->dir->fd >= 0) {
		(void)mark(tree->watch, FAN_MARK_REMOVE, CHANGES, node->dir->fd);
	} else if (!node->gone) {
		/* Without a descriptor the mark stays, and counts: events of it find no node, and a
		 * node that comes back takes it over. */
		pthread_mutex_lock(&tree->watch->lock);
		entry->number = 0;
		pthread_mutex_unlock(&tree->watch->lock);
		return;
	}
	take_out(tree->watch, entry);
}

bool ward_watch_covers(const struct ward_node *dir, uint64_t since)
{
	return dir->dir->watched && dir->dir->watched->since <= since && dir->dir->changed <= since;
}

void ward_watch_changed(struct ward_fs_tree *tree, struct ward_node *dir)
{
	pthread_mutex_lock(&tree->nodes->lock);
	dir->dir->changed = atomic_fetch_add(&tree->watch_seq, 1) + 1;
	pthread_mutex_unlock(&tree->nodes->lock);
}

void ward_watch_mute(struct ward_fs_tree *tree, int fd)
{
	(void)mark(tree->watch, FAN_MARK_ADD | FAN_MARK_IGNORED_MASK | FAN_MARK_IGNORED_SURV_MODIFY,
		FAN_MODIFY, fd);
}

void ward_watch_unmute(struct ward_fs_tree *tree, int fd)
{
	(void)mark(tree->watch, FAN_MARK_REMOVE | FAN_MARK_IGNORED_MASK, FAN_MODIFY, fd);
}

int ward_watch_fd(const struct ward_watch *w)
{
	return w->fd;
}

/* The node of a directory; 0: not watched (any more). */
static uint64_t find(struct ward_watch *w, const struct handle *h)
{
	uint64_t number = 0;

	pthread_mutex_lock(&w->lock);
	for (const struct ward_watched *at = w->buckets[bucket(h)]; at; at = at->next)
		if (same_handle(&at->handle, h)) {
			number = at->number;
			break;
		}
	pthread_mutex_unlock(&w->lock);
	return number;
}

/* Finds the record with directory and name among those of an event. */
static const char *parse_name(const char *info, size_t len, struct handle *ret)
{
	struct fanotify_event_info_fid fid;
	struct file_handle head;
	const size_t at_handle = offsetof(struct fanotify_event_info_fid, handle);
	const size_t at_bytes = at_handle + offsetof(struct file_handle, f_handle);

	for (; len >= sizeof(fid); info += fid.hdr.len, len -= fid.hdr.len) {
		memcpy(&fid, info, sizeof(fid));
		if (fid.hdr.len < sizeof(fid.hdr) || fid.hdr.len > len)
			return NULL;
		if (fid.hdr.info_type != FAN_EVENT_INFO_TYPE_DFID_NAME || fid.hdr.len <= at_bytes)
			continue;
		memcpy(&head, info + at_handle, offsetof(struct file_handle, f_handle));
		if (head.handle_bytes > HANDLE_MAX || head.handle_bytes >= fid.hdr.len - at_bytes)
			return NULL;
		memset(ret, 0, sizeof(*ret));
		ret->type = head.handle_type;
		ret->len = head.handle_bytes;
		memcpy(ret->bytes, info + at_bytes, ret->len);
		info += at_bytes + ret->len;
		return memchr(info, '\0', fid.hdr.len - at_bytes - ret->len) ? info : NULL;
	}
	return NULL;
}

uint64_t ward_watch_round(const struct ward_watch *w)
{
	return w ? atomic_load(&w->round) : 0;
}

/* To whom events go; empty: as the queue was when they were taken. */
struct handing {
	ward_watch_fn *fn;
	void *arg;
	uint64_t empty;
};

/*
 * Those who write in passthrough do so themselves: their events are not ours by number. But they
 * are in the queue before the handle ends, so a queue that was found empty after that has none of
 * them.
 */
static bool nobody_passed(struct ward_nodes *nodes, uint64_t empty)
{
	bool is;

	pthread_mutex_lock(&nodes->lock);
	is = !nodes->n_passing && nodes->passed <= empty;
	pthread_mutex_unlock(&nodes->lock);
	return is;
}

static void hand_out(struct ward_watch *w, struct ward_nodes *nodes, const char *event,
	const struct fanotify_event_metadata *meta, struct handing *to)
{
	struct handle dir;
	const char *name;
	uint64_t number;

	/* Ours: the kernel and our tables know of it already. */
	if (meta->pid == w->self)
		return;
	name = parse_name(event + meta->metadata_len, meta->event_len - meta->metadata_len, &dir);
	number = name ? find(w, &dir) : 0;
	if (number)
		to->fn(to->arg, &(const struct ward_watch_change){.dir = number,
					.mask = meta->mask,
					.empty = to->empty,
					.name = name,
					.pid = meta->pid > 0 ? (uint32_t)meta->pid : 0,
					.sure = nobody_passed(nodes, to->empty)});
}

/* The events of one read(2), one after the other. */
typedef int each_fn(struct ward_fs_tree *tree, const char *event,
	const struct fanotify_event_metadata *meta, void *arg);

static int each(struct ward_fs_tree *tree, const char *buf, size_t n, each_fn *fn, void *arg)
{
	struct fanotify_event_metadata meta;
	int r = 0;

	for (size_t at = 0; n - at >= sizeof(meta); at += meta.event_len) {
		memcpy(&meta, buf + at, sizeof(meta));
		if (meta.event_len < sizeof(meta) || meta.event_len > n - at ||
			meta.metadata_len < sizeof(meta) || meta.metadata_len > meta.event_len)
			return -EOVERFLOW; /* not the kernel that we know */
		if (meta.mask & FAN_Q_OVERFLOW || fn(tree, buf + at, &meta, arg) < 0)
			r = -EOVERFLOW;
	}
	return r;
}

static int each_hand_out(struct ward_fs_tree *tree, const char *event,
	const struct fanotify_event_metadata *meta, void *arg)
{
	hand_out(tree->watch, tree->nodes, event, meta, arg);
	return 0;
}

/* Names of files with many are looked at before anything else is done. */
static int each_look(struct ward_fs_tree *tree, const char *event,
	const struct fanotify_event_metadata *meta, void *arg)
{
	struct ward_watch *w = tree->watch;
	struct handle dir;
	const char *name;
	uint64_t number;

	if (meta->pid == w->self || !(meta->mask & NAMES) || !ward_links_ask(tree->nodes))
		return 0;
	name = parse_name(event + meta->metadata_len, meta->event_len - meta->metadata_len, &dir);
	number = name ? find(w, &dir) : 0;
	if (number)
		ward_links_changed(tree->nodes, number, name);
	return 0;
}

/* Locked (reading): what read(2) gives, which is looked through; 0: nothing. */
static size_t read_queue(struct ward_fs_tree *tree, char *buf, size_t size)
{
	struct ward_watch *w = tree->watch;
	uint64_t round;
	ssize_t n;

	do {
		round = atomic_fetch_add(&w->round, 1) + 1;
		n = read(w->fd, buf, size);
	} while (n < 0 && errno == EINTR);
	/* The rest was in the queue before. */
	if (n < 0 && errno == EAGAIN && !w->left)
		w->empty = round;
	if (n <= 0)
		return 0;
	if (each(tree, buf, (size_t)n, each_look, NULL) < 0)
		ward_links_lost(tree->nodes);
	return (size_t)n;
}

/* Locked (reading). */
static int each_leave(struct ward_fs_tree *tree, const char *event,
	const struct fanotify_event_metadata *meta, void *arg)
{
	struct ward_watch *w = tree->watch;
	struct left *left;

	if (meta->pid == w->self)
		return 0;
	if (w->n_left + meta->event_len > LEFT_MAX ||
		!(left = malloc(sizeof(*left) + meta->event_len)))
		return -ENOMEM;
	left->next = NULL;
	left->len = meta->event_len;
	memcpy(left->bytes, event, left->len);
	*w->left_end = left;
	w->left_end = &left->next;
	w->n_left += left->len;
	return 0;
}

bool ward_watch_pull(struct ward_fs_tree *tree)
{
	struct ward_watch *w = tree->watch;
	char buf[PULL_SIZE];
	bool leaves;
	size_t n;

	pthread_mutex_lock(&w->reading);
	while ((n = read_queue(tree, buf, sizeof(buf))))
		w->lost = each(tree, buf, n, each_leave, NULL) < 0 || w->lost;
	leaves = w->left || w->lost;
	if (w->lost)
		ward_links_lost(tree->nodes);
	pthread_mutex_unlock(&w->reading);
	return leaves;
}

bool ward_watch_left(struct ward_watch *w)
{
	bool leaves;

	pthread_mutex_lock(&w->reading);
	leaves = w->left || w->lost;
	pthread_mutex_unlock(&w->reading);
	return leaves;
}

/* Locked (reading): the oldest of what was left; NULL: nothing was. */
static struct left *take_left(struct ward_watch *w)
{
	struct left *left = w->left;

	if (!left)
		return NULL;
	w->left = left->next;
	if (!w->left)
		w->left_end = &w->left;
	w->n_left -= left->len;
	return left;
}

int ward_watch_read(struct ward_fs_tree *tree, ward_watch_fn *fn, void *arg)
{
	struct ward_watch *w = tree->watch;
	struct handing to = {.fn = fn, .arg = arg};
	int r = 0;

	for (;;) {
		ward_cleanup_free struct left *left = NULL;
		size_t n;

		pthread_mutex_lock(&w->reading);
		if (w->lost)
			r = -EOVERFLOW;
		w->lost = false;
		left = take_left(w);
		n = left ? left->len : read_queue(tree, w->buf, READ_SIZE);
		to.empty = w->empty;
		pthread_mutex_unlock(&w->reading);
		if (!n)
			return r;
		if (each(tree, left ? left->bytes : w->buf, n, each_hand_out, &to) < 0)
			r = -EOVERFLOW;
	}
}
