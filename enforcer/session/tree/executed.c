/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what a session changed that the host may execute later. */
#include "enforcer/session/tree/executed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/mounted.h"
#include "enforcer/session/tree/executed_list.h"

#define KEY_SIZE crypto_generichash_KEYBYTES
#define DIGEST_SIZE 32U

/* Three looks at clocks fit into a tick, unless others get the processor each time. */
#define SAME_TICK_TRIES 100

/* Something that the list names. */
struct item {
	char *path;   /* owned */
	bool git;     /* what git executes of this git directory */
	bool whole;   /* all of it was looked at: the digest can be compared */
	bool by_time; /* the first look does not go there: new only by its time of change */
	unsigned char digest[DIGEST_SIZE];
	uint64_t changed_ns;	  /* the latest st_ctime of it and what belongs to it */
	enum ward_left_kind left; /* not what the list names, but this */
	char *to;		  /* owned; what a link says */
};

struct items {
	struct item *v; /* sorted by path once the look is over */
	size_t n, cap;
	bool whole; /* of what may be executed; what else was left is bounded by itself: */
	size_t n_left;
	size_t n_left_out;
};

struct ward_executed_before {
	uint64_t real_ns, mono_ns; /* when the look began */
	unsigned char key[KEY_SIZE];
	struct items items;
};

/* One look. */
struct search {
	struct ward_executed_list list;
	uint64_t deadline_ns;
	bool over; /* the time is, or the number of entries */
	bool out;  /* what is looked at lies outside of the tree */
	size_t entries_out;
	int tree;
	dev_t dev;
	unsigned entries;
	size_t bytes; /* read of files */
	bool unread;  /* some file was not, for WARD_EXECUTED_READ_ALL_MAX */
	bool by_time; /* among git's objects, in directories that are as they were */
	const unsigned char *key;
	unsigned char *buf; /* WARD_EXECUTED_READ_MAX bytes */
	struct items *found;
	struct ward_links links;
};

/* The clock that files get their times from. */
static uint64_t coarse(clockid_t clock)
{
	struct timespec t = {0, 0};
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * WARD_NS_PER_SEC + (uint64_t)t.tv_nsec;
}

/* --- bounds --- */

/* False: a bound is met, which is written down. */
static bool go_on(struct search *s, unsigned depth)
{
	/* Between two looks at the clock files are read, perhaps from a slow disk. */
	if (s->entries++ >= WARD_EXECUTED_ENTRIES_MAX ||
		(s->entries % 16 == 0 && coarse(CLOCK_MONOTONIC_COARSE) >= s->deadline_ns))
		s->over = true;
	/* A link may lead to all of the host: what is new in the project comes first. */
	s->entries_out += s->out;
	bool ok = !s->over && depth <= WARD_EXECUTED_DEPTH_MAX &&
		  !(s->out && s->entries_out > WARD_EXECUTED_OUTSIDE_MAX);
	if (!ok)
		s->found->whole = false;
	return ok;
}

/* Takes fd. NULL: not to be entered, or it cannot be, which is written down. */
static DIR *enter_fd(struct search *s, int fd)
{
	struct stat st;
	if (fd < 0) {
		s->found->whole = s->found->whole && (errno == ENOENT || errno == ENOTDIR);
		return NULL;
	}
	DIR *d = fstat(fd, &st) == 0 && st.st_dev == s->dev ? fdopendir(fd) : NULL;
	if (!d)
		close(fd);
	return d;
}

static uint64_t ctime_ns(const struct stat *st)
{
	return (uint64_t)st->st_ctim.tv_sec * WARD_NS_PER_SEC + (uint64_t)st->st_ctim.tv_nsec;
}

/* Closed to us all the while since the start, and so to the session: nothing is new in there. */
static bool stayed_closed(const struct search *s, int at, const char *name)
{
	struct stat st;
	return fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       ctime_ns(&st) < s->links.since_ns;
}

static DIR *enter(struct search *s, int at, const char *name)
{
	int fd = ward_mounted_open(NULL, at, name);
	errno = fd < 0 ? -fd : 0;
	if (fd < 0 && errno == EACCES && stayed_closed(s, at, name))
		return NULL;
	return enter_fd(s, fd);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* --- what it is --- */

/* What of a file's metadata says that it is the same. */
struct facts {
	uint64_t dev, ino, mode, uid, gid, size, sec, nsec;
};

/*
 * Adds an entry to the item: the digests of all of its entries are summed up by exclusive or, since
 * a directory lists them in any order. Nobody who does not know the key can make two sums equal.
 */
static void put_entry(const struct search *s, struct item *it, const char *path,
	const struct stat *st, const void *data, size_t n)
{
	const struct facts f = {(uint64_t)st->st_dev, (uint64_t)st->st_ino, (uint64_t)st->st_mode,
		(uint64_t)st->st_uid, (uint64_t)st->st_gid,
		/* the size of a directory is the file system's affair */
		S_ISDIR(st->st_mode) ? 0 : (uint64_t)st->st_size, (uint64_t)st->st_ctim.tv_sec,
		(uint64_t)st->st_ctim.tv_nsec};
	uint64_t at = f.sec * WARD_NS_PER_SEC + f.nsec;
	unsigned char sum[DIGEST_SIZE];
	crypto_generichash_state state;
	crypto_generichash_init(&state, s->key, KEY_SIZE, sizeof(sum));
	crypto_generichash_update(&state, (const unsigned char *)path, strlen(path) + 1);
	crypto_generichash_update(&state, (const unsigned char *)&f, sizeof(f));
	crypto_generichash_update(&state, data, n);
	crypto_generichash_final(&state, sum, sizeof(sum));
	for (size_t i = 0; i < sizeof(sum); i++)
		it->digest[i] ^= sum[i];
	if (at > it->changed_ns)
		it->changed_ns = at;
}

/* The content of a small regular file: its length, 0 where it is not read. */
static size_t read_small(struct search *s, int at, const char *name, const struct stat *st)
{
	if (!S_ISREG(st->st_mode) || st->st_size > (off_t)WARD_EXECUTED_READ_MAX)
		return 0;
	s->unread = s->unread || s->bytes + WARD_EXECUTED_READ_MAX > WARD_EXECUTED_READ_ALL_MAX;
	if (s->unread)
		return 0;
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	ward_cleanup_fd int fd = openat(at, name, flags | O_NOATIME);
	/* only the owner of a file may leave no trace of reading it */
	if (fd < 0 && errno == EPERM)
		fd = openat(at, name, flags);
	struct stat now;
	if (fd < 0 || fstat(fd, &now) < 0 || !S_ISREG(now.st_mode) || now.st_ino != st->st_ino)
		return 0;
	size_t have = 0;
	ssize_t n = 1;
	while (n > 0 && have < WARD_EXECUTED_READ_MAX) {
		n = read(fd, s->buf + have, WARD_EXECUTED_READ_MAX - have);
		have += n > 0 ? (size_t)n : 0;
	}
	s->bytes += have;
	return have;
}

/* What takes part of an item, and how far. */
struct part {
	struct item *item;
	struct ward_buf *path; /* from the tree's root */
	bool follow;	       /* links are followed: once on a way */
};

static void take_down(
	struct search *s, const struct part *p, int at, const char *name, unsigned depth);

static void take_down_dir(struct search *s, const struct part *p, DIR *d, unsigned depth)
{
	struct dirent *e;
	size_t len = p->path->len;
	while (d && (e = readdir(d)) && go_on(s, depth)) {
		if (is_dots(e->d_name))
			continue;
		ward_buf_printf(p->path, "/%s", e->d_name);
		if (ward_buf_error(p->path) < 0)
			return;
		take_down(s, p, dirfd(d), e->d_name, depth + 1);
		p->path->len = len;
		p->path->data[len] = 0;
	}
}

/* What the link at p->path leads to, as far as it is looked at. */
static void take_down_behind(struct search *s, const struct part *p, unsigned depth)
{
	const char *path = ward_buf_str(p->path);
	bool out = false;
	ward_cleanup_fd int fd = ward_links_open(&s->links, path, &out);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != s->dev)
		return;
	const struct part once = {p->item, p->path, false};
	put_entry(s, p->item, path, &st, "", 0);
	/* by the descriptor, which leads nowhere else any more */
	if (S_ISDIR(st.st_mode)) {
		ward_cleanup_dir DIR *d = enter(s, fd, ".");
		s->out = out;
		take_down_dir(s, &once, d, depth + 1);
		s->out = false;
	}
}

/*
 * Git runs none of these, and each repository has fourteen. Under its real name it is a new one,
 * and a change shows by its time.
 */
static bool is_sample(const char *name)
{
	size_t n = strlen(name);
	return n > 7 && strcmp(name + n - 7, ".sample") == 0;
}

/* Takes down what stands at name, and what is beneath it. */
static void take_down(
	struct search *s, const struct part *p, int at, const char *name, unsigned depth)
{
	size_t n = 0;
	struct stat st;
	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISLNK(st.st_mode)) {
		ssize_t r = readlinkat(at, name, (char *)s->buf, WARD_EXECUTED_READ_MAX);
		n = r > 0 ? (size_t)r : 0;
	} else if (!is_sample(name)) {
		n = read_small(s, at, name, &st);
	}
	put_entry(s, p->item, ward_buf_str(p->path), &st, s->buf, n);
	if (S_ISLNK(st.st_mode) && p->follow)
		take_down_behind(s, p, depth);
	if (S_ISDIR(st.st_mode) && go_on(s, depth)) {
		ward_cleanup_dir DIR *d = enter(s, at, name);
		take_down_dir(s, p, d, depth);
	}
}

/* --- finding --- */

/* Takes what the item owns. */
static int add(struct search *s, const char *path, struct item *it)
{
	struct items *all = s->found;
	ward_cleanup_free char *to = ward_steal_ptr(&it->to);
	/* The one kind cannot take the room of the other. */
	if (it->left && all->n_left == WARD_LEFT_ITEMS_MAX) {
		all->n_left_out++;
		return 0;
	}
	if (!it->left && all->n - all->n_left == WARD_EXECUTED_ITEMS_MAX) {
		all->whole = false;
		return 0;
	}
	if (all->n == all->cap) {
		size_t cap = all->cap ? all->cap * 2 : 64;
		struct item *v = reallocarray(all->v, cap, sizeof(*v));
		if (!v)
			return -ENOMEM;
		all->v = v;
		all->cap = cap;
	}
	it->path = strdup(*path ? path : ".");
	if (!it->path)
		return -ENOMEM;
	it->whole = all->whole && !s->unread;
	it->by_time = s->by_time;
	it->to = ward_steal_ptr(&to);
	all->n_left += it->left != WARD_LEFT_NONE;
	all->v[all->n++] = *it;
	return 0;
}

static bool has(int dir, const char *name)
{
	struct stat st;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What git takes for a git directory, or follows from one. */
static bool is_git_dir(int fd)
{
	return has(fd, "HEAD") && ((has(fd, "objects") && has(fd, "refs")) || has(fd, "commondir"));
}

/* Is this the directory of objects of a git directory? */
static bool is_objects_of_git(int objects)
{
	ward_cleanup_fd int above = openat(objects, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return above >= 0 && is_git_dir(above);
}

/* One name of the list in a git directory; path ends in it. */
static void take_down_git(struct search *s, const struct part *p, int dir,
	const struct ward_executed_line *w, size_t from)
{
	struct stat st;
	char *name = p->path->data + from;
	if (w->n_dir) {
		/* "info/attributes": the directory may be a link, which git follows */
		name[w->n_dir] = 0;
		bool there = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
		if (there && S_ISLNK(st.st_mode)) {
			p->path->len = from + w->n_dir;
			return take_down(s, p, dir, name, 0);
		}
		name[w->n_dir] = '/';
	}
	take_down(s, p, dir, name, 0);
}

/* Takes down of a git directory what git executes; nothing of it there is no item. */
static int look_at_git(struct search *s, int dir, struct ward_buf *path)
{
	struct item it = {.git = true};
	const struct part p = {&it, path, true};
	size_t len = path->len;
	for (size_t i = 0; i < s->list.n_git; i++) {
		const struct ward_executed_line *w = &s->list.git[i];
		ward_buf_puts(path, len ? "/" : "");
		size_t from = path->len;
		ward_buf_add(path, w->dir, w->n_dir ? w->n_dir + 1 + w->n_name : w->n_name);
		if (ward_buf_error(path) < 0)
			return -ENOMEM;
		take_down_git(s, &p, dir, w, from);
		path->len = len;
		path->data[len] = 0;
	}
	return it.changed_ns ? add(s, ward_buf_str(path), &it) : 0;
}

/*
 * Notes a name that is no file of the tree; type as in d_type. path ends in name. A tree may have
 * many links, so links that existed before and stay in the tree must cost little.
 */
static int look_at_left(
	struct search *s, int dir, const char *name, unsigned char type, const char *path)
{
	struct item it = {.left = type == DT_FIFO   ? WARD_LEFT_PIPE
				  : type == DT_SOCK ? WARD_LEFT_SOCKET
				  : type == DT_LNK  ? WARD_LEFT_OUT
						    : WARD_LEFT_DEVICE};
	const bool last = s->links.since_ns != UINT64_MAX;
	char *to = (char *)s->buf;
	size_t n = 0;
	struct stat st;
	if (type == DT_LNK) {
		ssize_t r = readlinkat(dir, name, to, WARD_EXECUTED_READ_MAX - 1);
		n = r > 0 ? (size_t)r : 0;
		to[n] = '\0';
		if (r < 0)
			return 0;
		if (!ward_links_leave(&s->links, path, to))
			it.left = WARD_LEFT_NONE;
		if (it.left == WARD_LEFT_NONE && !last)
			return 0;
	}
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (it.left == WARD_LEFT_NONE) {
		it.left = ctime_ns(&st) >= s->links.since_ns
				  ? ward_links_judge(&s->links, path, to)
				  : ward_links_judge_again(&s->links, path, to, &it.changed_ns);
		if (it.left == WARD_LEFT_NONE)
			return 0;
	}
	put_entry(s, &it, path, &st, s->buf, n);
	it.to = type == DT_LNK ? strdup(to) : NULL;
	return type == DT_LNK && !it.to ? -ENOMEM : add(s, path, &it);
}

static bool is_left(unsigned char type)
{
	return type == DT_FIFO || type == DT_SOCK || type == DT_LNK || type == DT_CHR ||
	       type == DT_BLK;
}

/* What the list names beneath a link, by the link's name. */
struct by_link {
	struct search *s;
	struct ward_buf *path; /* of the link */
	int fd;		       /* what it leads to */
	int dir;	       /* where the link is */
	const char *name;      /* its own */
	unsigned depth;
	bool out; /* fd lies outside of the tree */
	int r;
};

/* One of these; rest: by which name beneath the link. */
static void add_by_link(struct by_link *l, const char *rest)
{
	struct item it = {.path = NULL};
	const struct part self = {&it, l->path, false}, p = {&it, l->path, true};
	const size_t len = l->path->len;
	/* The link is part of it: it may come to lead to what was there before. */
	take_down(l->s, &self, l->dir, l->name, l->depth);
	ward_buf_printf(l->path, "/%s", rest);
	l->r = ward_buf_error(l->path);
	if (l->r == 0) {
		take_down_behind(l->s, &p, l->depth);
		l->r = add(l->s, ward_buf_str(l->path), &it);
	}
	l->path->len = len;
	l->path->data[len] = 0;
}

/* Of a line that ends in any rest of a name: those that are there. */
static void look_at_names(struct by_link *l)
{
	const struct search *s = l->s;
	ward_cleanup_dir DIR *d = enter(l->s, l->fd, ".");
	ward_cleanup(ward_buf_clear) struct ward_buf at = WARD_BUF_INIT;
	struct dirent *e;
	while (d && l->r == 0 && (e = readdir(d))) {
		l->s->out = l->out;
		const bool more = go_on(l->s, l->depth);
		l->s->out = false;
		if (!more)
			break;
		at.len = 0;
		ward_buf_printf(&at, "%s/%s", ward_buf_str(l->path), e->d_name);
		if (ward_executed_listed(
			    s->list.names, s->list.n_names, ward_buf_str(&at), e->d_name))
			add_by_link(l, e->d_name);
	}
}

static bool take_down_by_link(void *arg, const char *rest)
{
	struct by_link *l = arg;
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS};
	ward_cleanup_fd int fd = ward_fd_openat2(l->fd, rest, &how);
	if (fd >= 0 && strcmp(rest, ".") == 0)
		look_at_names(l);
	else if (fd >= 0)
		add_by_link(l, rest);
	return l->r < 0;
}

/* `.github` may be a link: the host finds its `workflows` all the same. */
static int look_by_link(
	struct search *s, int dir, const char *name, struct ward_buf *path, unsigned depth)
{
	ward_cleanup_fd int fd = -1;
	struct by_link l = {s, path, -1, dir, name, depth, false, 0};
	if (!ward_executed_list_beneath(&s->list, ward_buf_str(path), NULL, NULL))
		return 0;
	fd = l.fd = ward_links_open(&s->links, ward_buf_str(path), &l.out);
	if (fd >= 0)
		ward_executed_list_beneath(&s->list, ward_buf_str(path), take_down_by_link, &l);
	return l.r;
}

static int look_in(
	struct search *s, int at, const char *name, struct ward_buf *path, unsigned depth);

/* Not changed since the session's start. */
static bool is_old(const struct search *s, int dir, const char *name)
{
	struct stat st;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       ctime_ns(&st) < s->links.since_ns;
}

/*
 * Git's objects are many and named by digests, so they are not listed. But anybody can put anything
 * among them: at the end of a session the directories of a git directory's objects that changed
 * since its start, or hold others (which a directory of two links does not), are looked into like
 * all others.
 */
static bool unchanged_objects(const struct search *s, int dir, const char *name, const char *in)
{
	struct stat st;
	const bool last = s->links.since_ns != UINT64_MAX;
	if (strcmp(name, "objects") == 0 && is_git_dir(dir))
		return !last;
	if (strcmp(in, "objects") != 0 || !is_objects_of_git(dir))
		return false;
	return !last || (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_nlink == 2 &&
				ctime_ns(&st) < s->links.since_ns);
}

static int look_at(struct search *s, int dir, const char *in, const struct dirent *e,
	struct ward_buf *path, unsigned depth)
{
	size_t len = path->len;
	ward_buf_printf(path, "%s%s", len ? "/" : "", e->d_name);
	int r = ward_buf_error(path);
	unsigned char type = e->d_type;
	struct stat st;
	if (type == DT_UNKNOWN && fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		type = IFTODT(st.st_mode);
	bool directory = type == DT_DIR;
	/* Directories are looked at as what they are: everything in these changes always. */
	const bool store = strcmp(e->d_name, ".git") == 0 ||
			   (strcmp(e->d_name, "repo") == 0 && strcmp(in, ".jj") == 0);
	if (r == 0 && !(store && directory) &&
		ward_executed_listed(
			s->list.names, s->list.n_names, ward_buf_str(path), e->d_name)) {
		struct item it = {.path = NULL};
		const struct part p = {&it, path, true};
		take_down(s, &p, dir, e->d_name, depth);
		r = ward_buf_error(path);
		if (r == 0)
			r = add(s, ward_buf_str(path), &it);
	}
	if (r == 0 && type == DT_LNK)
		r = look_by_link(s, dir, e->d_name, path, depth);
	if (r == 0 && is_left(type))
		r = look_at_left(s, dir, e->d_name, type, ward_buf_str(path));
	if (r == 0 && directory && !unchanged_objects(s, dir, e->d_name, in)) {
		const bool before = s->by_time;
		s->by_time = (before || strcmp(in, "objects") == 0) && is_old(s, dir, e->d_name);
		if (s->by_time && !before)
			s->by_time = is_objects_of_git(dir);
		r = look_in(s, dir, e->d_name, path, depth + 1);
		s->by_time = before;
	}
	if (r != -ENOMEM) {
		path->len = len;
		path->data[len] = 0;
	}
	return r;
}

static int look_in(
	struct search *s, int at, const char *name, struct ward_buf *path, unsigned depth)
{
	if (!go_on(s, depth))
		return 0;
	ward_cleanup_dir DIR *d = enter(s, at, name);
	if (!d)
		return 0;
	int r = is_git_dir(dirfd(d)) ? look_at_git(s, dirfd(d), path) : 0;
	struct dirent *e;
	while (r == 0 && (e = readdir(d)) && go_on(s, depth))
		if (!is_dots(e->d_name))
			r = look_at(s, dirfd(d), name, e, path, depth);
	return r;
}

static void clear_items(struct items *all)
{
	for (size_t i = 0; i < all->n; i++) {
		free(all->v[i].path);
		free(all->v[i].to);
	}
	free(all->v);
	*all = (struct items){.n = 0};
}

static int by_path(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int r = strcmp(x->path, y->path);
	if (r == 0)
		r = (int)x->git - (int)y->git;
	return r ? r : (int)x->left - (int)y->left;
}

static int look(const struct ward_links *links, const unsigned char *key, uint64_t time_ns,
	struct items *ret)
{
	const int tree = links->tree;
	struct items found = {.whole = true};
	struct stat st;
	if (fstat(tree, &st) < 0)
		return -errno;
	struct search s = {.deadline_ns = coarse(CLOCK_MONOTONIC_COARSE) + time_ns,
		.tree = tree,
		.dev = st.st_dev,
		.key = key,
		.buf = malloc(WARD_EXECUTED_READ_MAX),
		.found = &found,
		.links = *links};
	if (!s.buf)
		return -ENOMEM;
	ward_executed_list_read(&s.list);
	struct ward_buf path = WARD_BUF_INIT;
	ward_buf_puts(&path, "");
	int r = look_in(&s, tree, ".", &path, 0);
	if (r == 0)
		r = ward_buf_error(&path);
	ward_buf_clear(&path);
	free(s.buf);
	if (r < 0) {
		clear_items(&found);
		return r;
	}
	if (found.n)
		qsort(found.v, found.n, sizeof(*found.v), by_path);
	*ret = found;
	return 0;
}

/* --- before and after --- */

int ward_executed_look(int tree, uint64_t time_ns, struct ward_executed_before **ret)
{
	struct ward_executed_before *b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->real_ns = coarse(CLOCK_REALTIME_COARSE);
	b->mono_ns = coarse(CLOCK_MONOTONIC_COARSE);
	struct ward_links links;
	ward_links_init(&links, tree);
	int r = sodium_init() < 0 ? -EIO : 0;
	if (r == 0) {
		randombytes_buf(b->key, sizeof(b->key));
		r = look(&links, b->key, time_ns, &b->items);
	}
	if (r < 0) {
		free(b);
		return r;
	}
	*ret = b;
	return 0;
}

void ward_executed_before_free(struct ward_executed_before *b)
{
	if (!b)
		return;
	clear_items(&b->items);
	free(b);
}

static bool is_new(const struct ward_executed_before *b, uint64_t since_ns, const struct item *it)
{
	const struct item *old =
		b->items.n ? bsearch(it, b->items.v, b->items.n, sizeof(*b->items.v), by_path)
			   : NULL;
	if (it->changed_ns >= since_ns)
		return true;
	if (!old && it->by_time)
		return false;
	if (!old)
		return it->left ? !b->items.n_left_out : b->items.whole;
	return old->whole && it->whole && memcmp(old->digest, it->digest, sizeof(it->digest)) != 0;
}

/* From when on a time of change is one of the session's. */
static uint64_t since(const struct ward_executed_before *b)
{
	uint64_t now = 0;
	uint64_t mono = 0;
	uint64_t back = 0;
	/* Both of one tick: what passes in between would look like a clock that was set back. */
	for (int i = 0; i < SAME_TICK_TRIES; i++) {
		mono = coarse(CLOCK_MONOTONIC_COARSE);
		now = coarse(CLOCK_REALTIME_COARSE);
		if (coarse(CLOCK_MONOTONIC_COARSE) == mono)
			break;
	}
	uint64_t passed = mono - b->mono_ns;
	/* the wall clock was set back meanwhile: times of changes with it */
	if (now < b->real_ns + passed)
		back = b->real_ns + passed - now;
	return b->real_ns > back ? b->real_ns - back : 0;
}

/* Is it, or something above it, named already? */
static bool named(const struct ward_executed *found, const char *path)
{
	for (size_t i = 0; i < found->n; i++) {
		size_t n = strlen(found->paths[i]);
		if (strncmp(found->paths[i], path, n) == 0 && (path[n] == '/' || path[n] == 0))
			return true;
	}
	return false;
}

/* Takes what is new out of now: first what is executed, then what else was left. */
static int take_new(const struct ward_executed_before *before, uint64_t since_ns, struct items *now,
	struct ward_executed *found)
{
	ward_cleanup_free struct ward_executed_new *new = calloc(now->n + 1, sizeof(*new));
	const char *last = "";
	size_t n = 0;
	if (!new)
		return -ENOMEM;
	for (size_t i = 0; i < now->n; i++) {
		struct item *it = &now->v[i];
		/* a git directory whose name is listed too is there twice */
		if (it->left || !is_new(before, since_ns, it) || strcmp(last, it->path) == 0)
			continue;
		last = it->path;
		new[n++] = (struct ward_executed_new){.path = it->path, .git = it->git};
	}
	int r = ward_executed_take(found, new, n);
	n = 0;
	for (size_t i = 0; r == 0 && i < now->n; i++) {
		struct item *it = &now->v[i];
		if (it->left && is_new(before, since_ns, it) && !named(found, it->path))
			new[n++] = (struct ward_executed_new){
				.path = it->path, .to = it->to, .left = it->left};
	}
	return r < 0 ? r : ward_executed_take_left(found, new, n);
}

int ward_executed_find(int tree, uint64_t time_ns, const struct ward_executed_before *before,
	ward_executed_may_fn *may_write, void *arg, struct ward_executed *ret)
{
	struct items now = {.n = 0};
	struct ward_links links;
	ward_links_init(&links, tree);
	links.since_ns = since(before);
	links.may_write = may_write;
	links.arg = arg;
	int r = look(&links, before->key, time_ns, &now);
	if (r < 0)
		return r;
	struct ward_executed found = {.whole = now.whole, .left_more = now.n_left_out};
	found.paths = calloc(WARD_EXECUTED_FOUND_MAX, sizeof(*found.paths));
	found.left = calloc(WARD_EXECUTED_FOUND_MAX, sizeof(*found.left));
	if (!found.paths || !found.left) {
		ward_executed_clear(&found);
		clear_items(&now);
		return -ENOMEM;
	}
	r = take_new(before, links.since_ns, &now, &found);
	clear_items(&now);
	if (r < 0)
		ward_executed_clear(&found);
	else
		*ret = found;
	return r;
}
