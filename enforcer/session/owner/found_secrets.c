/* SPDX-License-Identifier: Apache-2.0 */
/* Compares files under rules of `secret` with what git has of them. */
#include "enforcer/session/owner/found_secrets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/stat.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/load.h"
#include "enforcer/policy/mounted.h"
#include "enforcer/session/owner/git_tracked.h"

/* Packages by the thousand, and no repository that anybody works in. */
#define PACKAGES "node_modules"

/* A file that was changed so lately could be changed again without its times telling: file systems
 * keep them in steps of a few milliseconds. */
#define SETTLE_NS INT64_C(50000000)

struct finder {
	const struct ward_policy *p;
	struct ward_buf *text;
	uint64_t until_ns;
	size_t bytes; /* that may still be read */
	unsigned dirs, names, unreadable;
	bool cut;
	/* the repository at hand */
	int fd; /* of the directory that stands at `inside` */
	const char *inside;
};

static void put(struct finder *f, const char *word, const char *path)
{
	ward_buf_printf(f->text, "%s ", word);
	ward_buf_add(f->text, path, strlen(path) + 1);
}

/* --- content --- */

static int64_t ns_of(const struct statx_timestamp *t)
{
	return t->tv_sec * INT64_C(1000000000) + t->tv_nsec;
}

static int look(int fd, struct ward_file_seen *ret, mode_t *ret_type)
{
	struct statx x;
	if (statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME,
		    &x) < 0)
		return -errno;
	*ret_type = x.stx_mode & S_IFMT;
	*ret = (struct ward_file_seen){.dev = makedev(x.stx_dev_major, x.stx_dev_minor),
		.ino = x.stx_ino,
		.btime_ns = x.stx_mask & STATX_BTIME ? ns_of(&x.stx_btime) : 0,
		.mtime_ns = ns_of(&x.stx_mtime),
		.ctime_ns = ns_of(&x.stx_ctime),
		.size = x.stx_size};
	return 0;
}

static bool same(const struct ward_file_seen *a, const struct ward_file_seen *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->btime_ns == b->btime_ns &&
	       a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns && a->size == b->size;
}

enum ward_fact ward_found_fact(
	const struct ward_policy *p, int dirfd, const char *name, const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
	ward_cleanup_fd int fd = ward_fd_openat2(dirfd, name, &how);
	struct ward_file_seen seen;
	mode_t type;
	if (fd == -ENOENT || fd == -ENOTDIR)
		return WARD_FACT_ABSENT;
	if (fd < 0 || look(fd, &seen, &type) < 0)
		return WARD_FACT_THERE;
	seen.dir = type == S_IFDIR;
	return ward_policy_found(p, &seen, path, strlen(path));
}

/* Waits until the file's times tell of the next change. */
static void settle(const struct ward_file_seen *seen)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	int64_t age = now.tv_sec * INT64_C(1000000000) + now.tv_nsec - seen->ctime_ns;
	if (age >= 0 && age < SETTLE_NS)
		(void)nanosleep(&(const struct timespec){.tv_nsec = SETTLE_NS - age}, NULL);
}

static bool digest_is(const struct ward_git_entry *e, const char *data, size_t len)
{
	char head[32];
	unsigned char got[SHA256_DIGEST_SIZE];
	/* "blob N" and NUL: gitformat-loose(5) */
	const size_t n = (size_t)snprintf(head, sizeof(head), "blob %zu", len) + 1;
	if (e->digest_len == SHA256_DIGEST_SIZE) {
		struct sha256_ctx c;
		sha256_init(&c);
		sha256_update(&c, n, (const uint8_t *)head);
		sha256_update(&c, len, (const uint8_t *)data);
		sha256_digest(&c, SHA256_DIGEST_SIZE, got);
	} else {
		struct sha1_ctx c;
		sha1_init(&c);
		sha1_update(&c, n, (const uint8_t *)head);
		sha1_update(&c, len, (const uint8_t *)data);
		sha1_digest(&c, SHA1_DIGEST_SIZE, got);
	}
	return memcmp(got, e->digest, e->digest_len) == 0;
}

static int open_beneath(int at, const char *name, int flags)
{
	const struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV};
	return ward_fd_openat2(at, name, &how);
}

/* The content of a regular file or symbolic link, if it fits what may be read. */
static int read_content(struct finder *f, int path_fd, mode_t type,
	const struct ward_file_seen *seen, const struct ward_git_entry *e, struct ward_buf *ret)
{
	if (type == S_IFLNK && (e->mode & S_IFMT) == S_IFLNK) {
		char target[PATH_MAX];
		ssize_t n = readlinkat(path_fd, "", target, sizeof(target));
		if (n < 0)
			return -errno;
		ward_buf_add(ret, target, (size_t)n);
		return ward_buf_error(ret);
	}
	if (type != S_IFREG || (e->mode & S_IFMT) != S_IFREG || seen->size > WARD_FOUND_FILE_MAX ||
		seen->size > f->bytes)
		return -EFBIG;
	f->bytes -= seen->size;
	ward_cleanup_fd int fd = ward_fd_open_beneath(f->fd, e->name);
	struct ward_file_seen opened;
	if (fd < 0)
		return fd;
	int r = look(fd, &opened, &type);
	if (r == 0 && !same(&opened, seen))
		r = -ESTALE;
	return r < 0 ? r : ward_fd_read_all(fd, WARD_FOUND_FILE_MAX, ret);
}

/* Does the file hold what git has? It stayed as it is while that was found out. */
static bool is_committed(
	struct finder *f, const struct ward_git_entry *e, struct ward_file_seen *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf data = WARD_BUF_INIT;
	ward_cleanup_fd int fd = open_beneath(f->fd, e->name, O_PATH);
	struct ward_file_seen after;
	mode_t type = 0, type_after = 0;
	if (fd < 0 || look(fd, ret, &type) < 0)
		return false;
	settle(ret);
	return read_content(f, fd, type, ret, e, &data) == 0 &&
	       look(fd, &after, &type_after) == 0 && same(ret, &after) && type == type_after &&
	       digest_is(e, ward_buf_str(&data), data.len);
}

/* --- one repository --- */

static bool is_secret(const struct finder *f, const char *path)
{
	const struct ward_state *s = NULL;
	/* No program asks for a name that no policy can contain. */
	if (ward_policy_walk(f->p, path, strlen(path), &s) < 0)
		return false;
	bool secret = ward_policy_secret(s);
	ward_policy_state_put(f->p, s);
	return secret;
}

static int on_entry(void *user, const struct ward_git_entry *e)
{
	struct finder *f = user;
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	struct ward_file_seen seen = {0};
	/* Git has no such name. It would be another spelling of a path, and so another guess. */
	if (strstr(e->name, "//"))
		return 0;
	ward_buf_printf(&path, "%s/%s", f->inside, e->name);
	if (ward_buf_error(&path) < 0)
		return -ENOMEM;
	if (!is_secret(f, ward_buf_str(&path)) || (e->mode & S_IFMT) == (S_IFLNK | S_IFDIR))
		return 0;
	if (f->names++ >= WARD_FOUND_NAMES_MAX)
		return -E2BIG;
	/* A missing file goes to `absent`. If it appears later, it is tracked. */
	const bool committed = ward_clock_mono_ns() < f->until_ns && is_committed(f, e, &seen);
	if (seen.ino) {
		ward_buf_printf(f->text, "%s %llu %llu %llu %llu %llu %llu ",
			committed ? "committed" : "differs", (unsigned long long)seen.dev,
			(unsigned long long)seen.ino, (unsigned long long)seen.btime_ns,
			(unsigned long long)seen.mtime_ns, (unsigned long long)seen.ctime_ns,
			(unsigned long long)seen.size);
		ward_buf_add(f->text, path.data, path.len + 1);
	} else {
		put(f, "tracked", ward_buf_str(&path));
	}
	return ward_buf_error(f->text);
}

static int repository(struct finder *f, int fd, const char *host, const char *inside)
{
	size_t before = f->text->len;
	f->fd = fd;
	f->inside = inside;
	int r = ward_git_entries(host, WARD_FOUND_INDEX_MAX, on_entry, f);
	if (r == 0 || r == -ENOMEM)
		return r;
	/* Damaged, too large, not the owner's to read: what it tracks is not known. */
	f->text->len = before;
	/* One that an agent made costs a line; of many the tree as a whole is not known. */
	f->cut = f->cut || ++f->unreadable >= WARD_FOUND_UNREADABLE_MAX;
	put(f, "unknown", inside);
	return ward_buf_error(f->text);
}

/* --- repositories in a tree --- */

static int walk(
	struct finder *f, int fd, struct ward_buf *host, struct ward_buf *inside, unsigned depth);

static int walk_into(struct finder *f, int dir, const struct dirent *e, struct ward_buf *host,
	struct ward_buf *inside, unsigned depth)
{
	const size_t n_host = host->len, n_inside = inside->len;
	int fd = ward_mounted_open(NULL, dir, e->d_name);
	if (fd < 0)
		return 0;
	ward_buf_printf(host, "/%s", e->d_name);
	ward_buf_printf(inside, "/%s", e->d_name);
	int r = ward_buf_error(host) < 0 || ward_buf_error(inside) < 0 ? -ENOMEM : 0;
	if (r == 0)
		r = walk(f, fd, host, inside, depth + 1);
	else
		close(fd);
	host->len = n_host;
	inside->len = n_inside;
	return r;
}

/* Takes fd. The top's own repository may lie above it, and is looked at by the caller. */
static int walk(
	struct finder *f, int fd, struct ward_buf *host, struct ward_buf *inside, unsigned depth)
{
	ward_cleanup_dir DIR *d = fdopendir(fd);
	struct stat st;
	struct dirent *e;
	int r = 0;
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	if (depth > WARD_FOUND_DEPTH_MAX || f->dirs++ >= WARD_FOUND_DIRS_MAX ||
		ward_clock_mono_ns() >= f->until_ns) {
		f->cut = true;
		return 0;
	}
	if (depth > 0 && fstatat(dirfd(d), ".git", &st, AT_SYMLINK_NOFOLLOW) == 0)
		r = repository(f, dirfd(d), ward_buf_str(host), ward_buf_str(inside));
	while (r == 0 && !f->cut && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
			strcmp(e->d_name, ".git") == 0 || strcmp(e->d_name, PACKAGES) == 0 ||
			(e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
			continue;
		r = walk_into(f, dirfd(d), e, host, inside, depth);
	}
	return r;
}

static int find_in_tree(struct finder *f, const char *host_path, const char *path)
{
	ward_cleanup(ward_buf_clear) struct ward_buf host = WARD_BUF_INIT, inside = WARD_BUF_INIT;
	ward_cleanup_fd int fd = open(host_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ward_buf_puts(&host, strcmp(host_path, "/") ? host_path : "");
	ward_buf_puts(&inside, path);
	int r = ward_buf_error(&host) < 0 || ward_buf_error(&inside) < 0 ? -ENOMEM : 0;
	f->cut = false;
	if (r == 0)
		r = repository(f, fd, host_path, path);
	int copy = r == 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
	if (copy >= 0)
		r = walk(f, copy, &host, &inside, 0);
	/* A repository that was not found may track what is there. */
	if (r == 0 && (f->cut || copy < 0))
		put(f, "unknown", path);
	return r < 0 ? r : ward_buf_error(f->text);
}

/* Where nothing can be made, git commits nothing: what is there may as well be hidden. */
static bool may_make(const struct ward_policy *p, const char *path)
{
	const struct ward_state *s = NULL;
	if (strcmp(path, "/workspace") == 0)
		return true;
	if (ward_policy_walk(p, path, strlen(path), &s) < 0)
		return false;
	bool may = ward_policy_rights(p, s) & WARD_RIGHT_CREATE;
	ward_policy_state_put(p, s);
	return may;
}

int ward_found_secrets(const struct ward_identity *id, const char *project, struct ward_policy *p,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	const struct ward_settings *s = ward_policy_settings(p);
	struct finder f = {.p = p,
		.text = &text,
		.until_ns = ward_clock_mono_ns() + WARD_FOUND_NS,
		.bytes = WARD_FOUND_BYTES_MAX};
	int r = 0;
	if (!ward_policy_has_secrets(p))
		return 0;
	for (size_t i = 0; r == 0 && i < s->n_trees; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf host = WARD_BUF_INIT;
		struct ward_err ignored = WARD_ERR_INIT;
		if (!s->trees[i].source || !may_make(p, s->trees[i].path) ||
			ward_tree_source_resolve(
				s->trees[i].source, id->home, project, &host, &ignored) < 0)
			continue;
		r = find_in_tree(&f, ward_buf_str(&host), s->trees[i].path);
	}
	if (r < 0)
		return ward_err_sys(err, r, "looking for what git has of secrets");
	return text.len ? ward_policy_set_found(p, text.data, text.len, err) : 0;
}
