/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes which repositories earlier starts found. */
#include "enforcer/session/owner/remembered.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/store/store.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/patient.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/chosen.h"

#define GUARDS "guards"
#define LOCK "lock"
#define MOVES ".moves"
#define MAGIC "wardfs-guards 1"
#define LOCK_TRIES 400
#define LOCK_WAIT_NS 25000000L
/* Trees of one owner. From the second number on, those that are gone are dropped. */
#define FILES_MAX 4096U
#define FILES_MANY 3072U
/* The same of bytes of all files. */
#define BYTES_MANY (WARD_REMEMBERED_ALL_MAX / 2)
/* What is written for one tree: beyond it all of the tree is guarded. So one cannot use up the room
 * of the others. */
#define TREE_BYTES (WARD_REMEMBERED_FILE_MAX / 4)
/* For all looks whether they are gone. */
#define GONE_NS WARD_PATIENT_NS
/* "g PATH", and its NUL. */
#define ENTRY_EXTRA 3

/* One of the two places. */
struct place {
	const struct ward_identity *id;
	char *top;     /* guards/UID in a state directory; owned */
	size_t state;  /* of top: as long as the state directory's name */
	bool as_owner; /* it is in the owner's home, and we are root */
	int dir;       /* top, while it is open */
	size_t bytes;  /* read so far */
	unsigned files;
	bool whole; /* all files are read, however many there are */
};

static void place_clear(struct place *p)
{
	free(p->top);
	if (p->dir >= 0)
		close(p->dir);
	*p = (struct place){.dir = -1};
}

static bool is_others(const struct ward_identity *id)
{
	return id->root && id->owner_uid != geteuid();
}

char *ward_remembered_place(const struct ward_identity *id)
{
	char *path = NULL;
	if (!is_others(id) || !id->home ||
		asprintf(&path, "%s/.local/state/wardfs/" GUARDS, id->home) < 0)
		return NULL;
	return path;
}

/* The owner's own place (i = 0) and the caller's (1). 0: there is none; 1. */
static int place_find(
	const struct ward_identity *id, const char *state, unsigned i, struct place *ret)
{
	ward_cleanup_free char *home = NULL;
	*ret = (struct place){.id = id, .dir = -1};
	if (i == 0 && (!is_others(id) || !id->home))
		return 0;
	if (i == 0 && asprintf(&home, "%s/.local/state/wardfs", id->home) < 0) {
		home = NULL;
		return -ENOMEM;
	}
	ret->as_owner = i == 0;
	ret->state = strlen(home ? home : state);
	if (asprintf(&ret->top, "%s/" GUARDS "/%u", home ? home : state, (unsigned)id->owner_uid) <
		0) {
		ret->top = NULL;
		return -ENOMEM;
	}
	return 1;
}

/* The caller may act as the owner already. */
static int begin(const struct place *p, struct ward_as_owner *as, struct ward_err *err)
{
	*as = (struct ward_as_owner){0};
	return p->as_owner ? ward_as_owner_begin(p->id, as, err) : ward_as_caller_begin(as, err);
}

/* --- a file --- */

/* No name of it is empty, "." or "..". */
static bool is_plain(const char *path)
{
	for (;;) {
		size_t n = strcspn(path, "/");
		if (n == 0 || (path[0] == '.' && (n == 1 || (n == 2 && path[1] == '.'))))
			return false;
		path += n;
		if (!*path)
			return true;
		path++;
	}
}

static bool is_absolute(const char *path)
{
	return path[0] == '/' && (!path[1] || is_plain(path + 1));
}

/* How each class begins its line. */
static const char letters[] = {
	[WARD_KNOWN_GIT] = 'g', [WARD_KNOWN_BARE] = 'b', [WARD_KNOWN_EVERY] = 'e'};

static enum ward_known_class class_of(char letter)
{
	for (size_t i = 1; i < sizeof(letters); i++)
		if (letters[i] == letter)
			return (enum ward_known_class)i;
	return WARD_KNOWN_NONE;
}

typedef int (*entry_fn)(
	void *user, const char *tree, const char *path, enum ward_known_class class);

/* Calls fn for each entry; *ret_tree, borrowed from b: the tree. -EINVAL: malformed. */
static int parse(const struct ward_buf *b, entry_fn fn, void *user, const char **ret_tree)
{
	const char *s = b->data, *end = b->data + b->len, *tree = NULL;
	unsigned n = 0;
	if (!b->len || end[-1])
		return -EINVAL;
	for (; s < end; s += strlen(s) + 1, n++) {
		if (n == 0) {
			if (strcmp(s, MAGIC) != 0)
				return -EINVAL;
			continue;
		}
		if (strlen(s) >= PATH_MAX || !s[0] || s[1] != ' ')
			return -EINVAL;
		const char *path = s + 2;
		if (n == 1) {
			if (s[0] != 't' || !is_absolute(path))
				return -EINVAL;
			tree = path;
			continue;
		}
		bool top = strcmp(path, ".") == 0;
		const enum ward_known_class class = class_of(s[0]);
		/* Beyond them, "e" and the two lines above. */
		if (!class || (class == WARD_KNOWN_EVERY && !top) || (!top && !is_plain(path)) ||
			n > WARD_KNOWN_MAX + 2)
			return -EINVAL;
		int r = fn(user, tree, top ? "" : path, class);
		if (r < 0)
			return r;
	}
	*ret_tree = tree;
	return tree ? 0 : -EINVAL;
}

/* "tree/path". */
static int whole(const char *tree, const char *path, struct ward_buf *ret)
{
	ward_buf_printf(
		ret, "%s%s%s", strcmp(tree, "/") == 0 && *path ? "" : tree, *path ? "/" : "", path);
	return ward_buf_error(ret);
}

/* entry_fn */
static int remember(void *user, const char *tree, const char *path, enum ward_known_class class)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	int r = whole(tree, path, &b);
	return r < 0 ? r : ward_known_remember(user, ward_buf_str(&b), class);
}

static int read_file(struct place *p, const char *name, struct ward_buf *ret)
{
	ward_cleanup_fd int fd = ward_fd_open_regular(p->dir, name, O_RDONLY);
	int r = fd < 0 ? fd : ward_fd_read_all(fd, WARD_REMEMBERED_FILE_MAX, ret);
	p->bytes += ret->len;
	return r == 0 && p->bytes > WARD_REMEMBERED_ALL_MAX && !p->whole ? -EFBIG : r;
}

static int refuse(const struct place *p, const char *name, int r, struct ward_err *err)
{
	if (r == -ENOMEM)
		return ward_err_sys(err, r, "%s/%s", p->top, name);
	if (r == -E2BIG || r == -EFBIG)
		return ward_err_set(err, r,
			"%s, the list of the repositories that earlier sessions found, has more than %u projects or %zu MiB; fix: 'wardfs policy forget --all DIR' for a directory whose projects no longer exist",
			p->top, FILES_MAX, WARD_REMEMBERED_ALL_MAX >> 20);
	ward_err_set(err, r,
		"%s/%s, the list of the repositories that earlier sessions found, cannot be "
		"read: %s; fix: look at the project's repositories, then remove that file",
		p->top, name, r == -EINVAL ? "it is damaged" : strerror(-r));
	return r;
}

/* --- all files of a place --- */

typedef int (*file_fn)(struct place *p, const char *name, void *user, struct ward_err *err);

static int each_file(struct place *p, file_fn fn, void *user, struct ward_err *err)
{
	ward_cleanup_dir DIR *d = NULL;
	int copy = openat(p->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned n = 0;
	if (copy < 0 || !(d = fdopendir(copy))) {
		int r = -errno;
		if (copy >= 0)
			close(copy);
		return ward_err_sys(err, r, "%s", p->top);
	}
	struct dirent *e;
	int r = 0;
	while (r == 0 && (errno = 0, e = readdir(d))) {
		/* Names with a '.' are those of files that are being written. */
		if (strchr(e->d_name, '.') || strcmp(e->d_name, LOCK) == 0)
			continue;
		r = ++n > FILES_MAX && !p->whole ? refuse(p, e->d_name, -E2BIG, err)
						 : fn(p, e->d_name, user, err);
	}
	p->files = n;
	return r == 0 && errno ? ward_err_sys(err, -errno, "%s", p->top) : r;
}

/* Opens the place if it is there. 1: it is, 0: not. */
static int place_open(struct place *p, struct ward_err *err)
{
	p->dir = open(p->top, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p->dir < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	return p->dir < 0 ? ward_err_sys(err, -errno, "%s", p->top) : 1;
}

/* file_fn */
static int read_one(struct place *p, const char *name, void *user, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const char *tree = NULL;
	int r = read_file(p, name, &b);
	if (r == -ENOENT) /* another session has just taken it away */
		return 0;
	if (r == 0)
		r = parse(&b, remember, user, &tree);
	return r < 0 ? refuse(p, name, r, err) : 0;
}

static int place_make(struct place *p, int *ret_lock, struct ward_err *err);
static void make_room(struct place *p);

/* Too much to be read: once more without what is gone. */
static int read_less(struct place *p, struct ward_known *k, struct ward_err *err)
{
	struct ward_err ignored = WARD_ERR_INIT;
	ward_cleanup_fd int lock = -1;
	close(p->dir);
	p->dir = -1;
	if (place_make(p, &lock, &ignored) < 0)
		return place_open(p, &ignored) > 0 ? each_file(p, read_one, k, err)
						   : ward_err_sys(err, -EIO, "%s", p->top);
	make_room(p);
	p->whole = false;
	p->bytes = 0;
	return each_file(p, read_one, k, err);
}

int ward_remembered_read(const struct ward_identity *id, const char *state, struct ward_known *k,
	struct ward_err *err)
{
	int r = 0;
	for (unsigned i = 0; i < 2 && r == 0; i++) {
		ward_cleanup(place_clear) struct place p = {.dir = -1};
		struct ward_as_owner as;
		r = place_find(id, state, i, &p);
		if (r <= 0) {
			r = r < 0 ? ward_err_sys(err, r, "guards") : 0;
			continue;
		}
		r = begin(&p, &as, err);
		if (r == 0 && (r = place_open(&p, err)) > 0)
			r = each_file(&p, read_one, k, err);
		if (r == -E2BIG || r == -EFBIG) {
			*err = WARD_ERR_INIT;
			r = read_less(&p, k, err);
		}
		ward_as_owner_end(&as);
	}
	return r;
}

/* --- writing --- */

/* Makes the directories of path that are missing, from byte `from` of it on. */
static int make_dirs(char *path, size_t from)
{
	for (char *s = path + from; *s; s++) {
		size_t n = strcspn(s + 1, "/") + 1;
		char was = s[n];
		s[n] = 0;
		int r = mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
		s[n] = was;
		if (r < 0)
			return r;
		s += n - 1;
	}
	return 0;
}

/* The first user of the caller's state directory makes it. */
static int make_state(const struct place *p, struct ward_err *err)
{
	ward_cleanup_free char *state = strndup(p->top, p->state);
	struct ward_store *store = NULL;
	int r = state ? ward_store_open(state, true, &store, err) : -ENOMEM;
	ward_store_close(store);
	return r;
}

/* Opens the place, made where it is missing, and takes its lock. */
static int place_make(struct place *p, int *ret_lock, struct ward_err *err)
{
	struct stat st;
	/* Of the owner's home only what a session of theirs would make, too. */
	size_t from = p->as_owner ? strlen(p->id->home) : p->state;
	int r = p->as_owner ? 0 : make_state(p, err);
	if (r == 0)
		r = make_dirs(p->top, from);
	if (r < 0)
		return r;
	p->dir = open(p->top, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p->dir < 0 || fstat(p->dir, &st) < 0)
		return -errno;
	if (st.st_uid != (p->as_owner ? p->id->owner_uid : geteuid()) || st.st_mode & 022)
		return -EPERM;
	ward_cleanup_fd int lock =
		openat(p->dir, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (lock < 0)
		return -errno;
	/* Held for as long as a small file is written. */
	for (int tries = 0; flock(lock, LOCK_EX | LOCK_NB) < 0; tries++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (tries == LOCK_TRIES)
			return -EBUSY;
		nanosleep(&(const struct timespec){.tv_nsec = LOCK_WAIT_NS}, NULL);
	}
	*ret_lock = ward_steal_fd(&lock);
	return 0;
}

static void put_header(struct ward_buf *b, const char *tree)
{
	ward_buf_add(b, MAGIC, sizeof(MAGIC));
	ward_buf_printf(b, "t %s", tree);
	ward_buf_add(b, "", 1);
}

static void put_entry(struct ward_buf *b, const char *path, enum ward_known_class class)
{
	ward_buf_printf(b, "%c %s", letters[class], *path ? path : ".");
	ward_buf_add(b, "", 1);
}

static int replace(struct place *p, const char *name, const struct ward_buf *text)
{
	char temporary[] = ".new"; /* we hold the lock */
	(void)unlinkat(p->dir, temporary, 0);
	ward_cleanup_fd int fd = openat(
		p->dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	int r = ward_fd_write_all(fd, text->data, text->len);
	if (r == 0 && (fdatasync(fd) < 0 || renameat(p->dir, temporary, p->dir, name) < 0))
		r = -errno;
	if (r < 0)
		(void)unlinkat(p->dir, temporary, 0);
	return r;
}

struct merge {
	const struct ward_known *k;
	struct ward_known *all; /* of the tree */
};

/* entry_fn: what another session wrote meanwhile stays, but for what we know is gone. */
static int merge(void *user, const char *tree, const char *path, enum ward_known_class class)
{
	const struct merge *m = user;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	int r = whole(tree, path, &b);
	if (r < 0)
		return r;
	for (size_t i = 0; i < m->k->n; i++)
		if (m->k->v[i].gone && m->k->v[i].class == class &&
			strcmp(m->k->v[i].path, ward_buf_str(&b)) == 0)
			return 0;
	return ward_known_remember(m->all, ward_buf_str(&b), class);
}

static int by_path(const void *a, const void *b)
{
	const struct ward_known_repo *x = a, *y = b;
	int r = strcmp(x->path, y->path);
	return r ? r : (int)x->class - (int)y->class;
}

static int text_of(const char *tree, struct ward_known *all, struct ward_buf *ret)
{
	if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), by_path);
	put_header(ret, tree);
	for (size_t i = 0; i < all->n; i++)
		put_entry(ret, ward_known_beneath(all->v[i].path, tree), all->v[i].class);
	return ward_buf_error(ret);
}

/*
 * What k knows of the tree beyond what the file had, as far as there is room: then all of the tree
 * is guarded from the next start on.
 */
static int add_rest(const struct ward_known *k, const char *tree, struct ward_known *all)
{
	/* Its header, and the line of EVERY. */
	size_t len = sizeof(MAGIC) + 2 * ENTRY_EXTRA + strlen(tree) + 1;
	bool full = false;
	int r = 0;
	for (size_t i = 0; i < all->n; i++)
		len += strlen(all->v[i].path) + ENTRY_EXTRA;
	for (size_t i = 0; i < k->n && r == 0; i++) {
		const struct ward_known_repo *e = &k->v[i];
		if (e->gone || !ward_known_beneath(e->path, tree))
			continue;
		const size_t had = all->n;
		const size_t more = strlen(e->path) + ENTRY_EXTRA;
		const bool room = all->n < WARD_KNOWN_MAX && len + more <= TREE_BYTES;
		/* That of a project beneath has a file of its own. */
		if (e->class == WARD_KNOWN_EVERY)
			full = full || strcmp(e->path, tree) == 0;
		else if (room || ward_known_has(all, e->path, e->class))
			r = ward_known_remember(all, e->path, e->class);
		else
			full = true;
		len += all->n > had ? more : 0;
	}
	return r == 0 && full ? ward_known_remember(all, tree, WARD_KNOWN_EVERY) : r;
}

static int write_tree(struct place *p, const struct ward_known *k, const char *tree)
{
	ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT, old = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup(ward_known_clear) struct ward_known all = WARD_KNOWN_INIT;
	struct merge m = {k, &all};
	const char *of = NULL;
	ward_chosen_name(&name, tree);
	int r = ward_buf_error(&name);
	if (r == 0)
		r = read_file(p, ward_buf_str(&name), &old);
	if (r == 0)
		r = parse(&old, merge, &m, &of);
	if (r == 0 && strcmp(of, tree) != 0)
		r = -EINVAL;
	if (r == 0 || r == -ENOENT)
		r = add_rest(k, tree, &all);
	if (r == 0)
		r = text_of(tree, &all, &text);
	if (r < 0)
		return r;
	if (!all.n)
		return unlinkat(p->dir, ward_buf_str(&name), 0) < 0 && errno != ENOENT ? -errno : 0;
	if (text.len == old.len && memcmp(text.data, old.data, old.len) == 0)
		return 0;
	return replace(p, ward_buf_str(&name), &text);
}

/* file_fn: a tree that is gone, as the kernel says. */
static int drop_gone(struct place *p, const char *name, void *user, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_known_clear) struct ward_known ignored = WARD_KNOWN_INIT;
	const uint64_t *began_ns = user;
	const uint64_t left_ns = ward_clock_left_ns(*began_ns, GONE_NS);
	const char *tree = NULL;
	struct stat st;
	(void)err;
	if (left_ns == 0 || read_file(p, name, &b) < 0 || parse(&b, remember, &ignored, &tree) < 0)
		return 0;
	ward_cleanup_fd int fd = ward_patient_open_dir(AT_FDCWD, tree, left_ns, &st);
	if (fd == -ENOENT)
		(void)unlinkat(p->dir, name, 0);
	return 0;
}

/* file_fn */
static int count(struct place *p, const char *name, void *user, struct ward_err *err)
{
	uint64_t *bytes = user;
	struct stat st;
	(void)err;
	if (fstatat(p->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		*bytes += (uint64_t)st.st_size;
	return 0;
}

/* Directories that were made for one session and removed leave a file each. */
static void make_room(struct place *p)
{
	struct ward_err ignored = WARD_ERR_INIT;
	uint64_t began_ns = ward_clock_mono_ns(), bytes = 0;
	p->whole = true;
	if (each_file(p, count, &bytes, &ignored) == 0 &&
		(p->files >= FILES_MANY || bytes >= BYTES_MANY))
		(void)!each_file(p, drop_gone, &began_ns, &ignored);
}

static int write_all(struct place *p, const struct ward_known *k, struct ward_err *err)
{
	ward_cleanup_fd int lock = -1;
	int r = place_make(p, &lock, err);
	if (r == 0)
		make_room(p);
	for (size_t i = 0; i < k->n_trees && r == 0; i++)
		r = write_tree(p, k, k->trees[i].path);
	return r;
}

int ward_remembered_write(const struct ward_identity *id, const char *state,
	const struct ward_known *k, struct ward_err *err)
{
	struct ward_err why = WARD_ERR_INIT;
	int r = -ENOENT;
	for (unsigned i = 0; i < 2 && r < 0; i++) {
		ward_cleanup(place_clear) struct place p = {.dir = -1};
		struct ward_as_owner as;
		int found = place_find(id, state, i, &p);
		if (found == 0)
			continue;
		why = WARD_ERR_INIT;
		r = found < 0 ? found : begin(&p, &as, &why);
		if (r < 0)
			continue;
		r = write_all(&p, k, &why);
		ward_as_owner_end(&as);
		if (r < 0 && !why.code)
			ward_err_sys(&why, r,
				"%s, where the repositories are kept that a start finds", p.top);
	}
	return r < 0 ? ward_err_set(err, r, "%s", why.text) : 0;
}

/* --- what sessions share --- */

/* OFD locks: a file system without them would let two sessions move at once. */
static int open_moves(struct place *p, int *ret_fd)
{
	ward_cleanup_fd int lock = -1;
	struct flock l = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = 1};
	struct ward_err ignored = WARD_ERR_INIT;
	int r = place_make(p, &lock, &ignored);
	/* No session of the owner's locks a file beneath a link: each refuses it. */
	if (r == -ENOTDIR || r == -ELOOP)
		return -ENOENT;
	if (r < 0)
		return r;
	ward_cleanup_fd int fd =
		openat(p->dir, MOVES, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (fcntl(fd, F_OFD_SETLK, &l) < 0)
		return -errno;
	l.l_type = F_UNLCK;
	if (fcntl(fd, F_OFD_SETLK, &l) < 0)
		return -errno;
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

int ward_remembered_moves(
	const struct ward_identity *id, const char *state, int *ret_fd, struct ward_err *err)
{
	struct ward_err why = WARD_ERR_INIT;
	int r = -ENOENT;
	for (unsigned i = 0; i < 2 && r < 0; i++) {
		ward_cleanup(place_clear) struct place p = {.dir = -1};
		struct ward_as_owner as;
		int found = place_find(id, state, i, &p);
		if (found == 0)
			continue;
		r = found < 0 ? found : begin(&p, &as, &why);
		if (r == 0) {
			r = open_moves(&p, ret_fd);
			ward_as_owner_end(&as);
			if (r < 0)
				ward_err_sys(&why, r,
					"%s/" MOVES ", which the owner's sessions lock", p.top);
		}
		/* Where the owner's file is there and cannot be had, another one locks nobody out.
		 */
		if (r < 0 && r != -ENOENT && r != -EACCES && r != -EROFS)
			break;
	}
	/* The host's to fix, whatever it answers. */
	return r < 0 ? ward_err_set(err, -EIO, "%s", why.text) : 0;
}

/* --- forgetting --- */

struct forget {
	const char *path;
	bool beneath;
	size_t n;	      /* so far */
	struct ward_known *k; /* what is left of the file */
};

/* entry_fn */
static int keep_other(void *user, const char *tree, const char *path, enum ward_known_class class)
{
	struct forget *f = user;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	int r = whole(tree, path, &b);
	if (r < 0)
		return r;
	const char *rest = ward_known_beneath(ward_buf_str(&b), f->path);
	if (rest && (f->beneath || !*rest)) {
		f->n++;
		return 0;
	}
	return ward_known_remember(f->k, ward_buf_str(&b), class);
}

/* file_fn */
static int forget_one(struct place *p, const char *name, void *user, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT, text = WARD_BUF_INIT;
	ward_cleanup(ward_known_clear) struct ward_known left = WARD_KNOWN_INIT;
	struct forget *f = user;
	const char *tree = NULL;
	size_t before = f->n;
	f->k = &left;
	int r = read_file(p, name, &b);
	if (r == 0)
		r = parse(&b, keep_other, f, &tree);
	if (r < 0)
		return refuse(p, name, r, err);
	if (f->n == before)
		return 0;
	r = text_of(tree, &left, &text);
	if (r == 0 && left.n)
		r = replace(p, name, &text);
	else if (r == 0 && unlinkat(p->dir, name, 0) < 0)
		r = -errno;
	return r < 0 ? ward_err_sys(err, r, "%s/%s", p->top, name) : 0;
}

int ward_remembered_forget(const struct ward_identity *id, const char *state, const char *path,
	bool beneath, size_t *ret_n, struct ward_err *err)
{
	struct forget f = {.path = path, .beneath = beneath};
	int r = 0;
	for (unsigned i = 0; i < 2 && r == 0; i++) {
		ward_cleanup(place_clear) struct place p = {.dir = -1};
		ward_cleanup_fd int lock = -1;
		struct ward_as_owner as;
		int found = place_find(id, state, i, &p);
		if (found == 0)
			continue;
		r = found < 0 ? ward_err_sys(err, found, "guards") : begin(&p, &as, err);
		if (r < 0)
			continue;
		p.whole = true;
		if ((r = place_open(&p, err)) > 0) {
			close(p.dir);
			struct ward_err ignored = WARD_ERR_INIT;
			r = place_make(&p, &lock, &ignored);
			r = r < 0 ? ward_err_sys(err, r, "%s", p.top)
				  : each_file(&p, forget_one, &f, err);
		}
		ward_as_owner_end(&as);
	}
	if (r == 0)
		*ret_n = f.n;
	return r;
}
