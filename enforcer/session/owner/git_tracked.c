/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the repository around a directory and reads the names in its index. */
#include "enforcer/session/owner/git_tracked.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/patient.h"
#include "enforcer/policy/gitconfig.h"
#include "enforcer/policy/gitindex.h"
#include "enforcer/session/owner/as_owner.h"

#define CONFIG_MAX ((size_t)1 << 20)
/* Of files that hold one path. */
#define POINTER_MAX ((size_t)8 << 10)
/* A directory in a sparse index. */
#define MODE_TREE 0040000U

struct tracked {
	int git_dir; /* where the index lies */
	unsigned digest_len;
	const char *prefix; /* of dir in the work tree: "" or "a/b/" */
	size_t index_max;
	ward_git_entry_fn *fn;
	void *user;
	const bool *deleted; /* of the shared index, by position; NULL: none */
	uint32_t at, n_deleted;
};

static int open_dir(int at, const char *path, uint64_t resolve)
{
	const struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = resolve | RESOLVE_NO_MAGICLINKS};
	return ward_fd_openat2(at, path, &how);
}

/* A regular file; -ENOENT where there is none of that name. */
static int read_file(int at, const char *name, size_t max, struct ward_buf *ret)
{
	ward_cleanup_fd int fd = ward_fd_open_beneath(at, name);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	/* A sparse file must not be read until memory is full. */
	return (uint64_t)st.st_size > max ? -EFBIG : ward_fd_read_all(fd, max, ret);
}

/* The directory that a file names in one line, behind `before`. Relative paths begin at `at`. */
static int open_named(int at, const char *name, const char *before, int *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	int r = read_file(at, name, POINTER_MAX, &text);
	if (r < 0)
		return r;
	if (strncmp(ward_buf_str(&text), before, strlen(before)) != 0)
		return -EBADMSG;
	char *path = text.data + strlen(before);
	path[strcspn(path, "\r\n")] = 0;
	/* It may name a file system that answers to nobody. */
	struct stat st;
	int fd = ward_patient_open_dir(at, path, WARD_PATIENT_NS, &st);
	if (fd < 0)
		return fd;
	*ret = fd;
	return 0;
}

/* The git directory of the work tree `at`; -ENOENT: `at` is no work tree. */
static int open_git_dir(int at, int *ret)
{
	struct stat st;
	if (fstatat(at, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	int fd = S_ISREG(st.st_mode) ? -ENOTDIR : open_dir(at, ".git", 0);
	if (fd == -ENOTDIR)
		return open_named(at, ".git", "gitdir: ", ret);
	if (fd < 0)
		return fd;
	*ret = fd;
	return 0;
}

/* Looks in dir and above; *ret_prefix: where dir lies in the work tree. 1: found. */
static int find_git_dir(const char *dir, int *ret, const char **ret_prefix)
{
	ward_cleanup_free char *above = strdup(dir);
	if (!above)
		return -ENOMEM;
	for (size_t len = strlen(above);;) {
		ward_cleanup_fd int at = open_dir(AT_FDCWD, len ? above : "/", RESOLVE_NO_SYMLINKS);
		int r = at < 0 ? at : open_git_dir(at, ret);
		if (r != -ENOENT) {
			*ret_prefix = dir + len + (dir[len] == '/');
			return r < 0 ? r : 1;
		}
		if (len == 0)
			return 0;
		while (len > 0 && above[len - 1] != '/')
			len--;
		len -= len > 0;
		above[len] = 0;
	}
}

static int on_config(void *user, const char *name, const char *sub, const char *value)
{
	(void)sub;
	struct tracked *t = user;
	if (strcmp(name, "extensions.objectformat") == 0)
		t->digest_len = strcmp(value, "sha256") == 0 ? 32 : 20;
	return 0;
}

/* How long digests are. A worktree has its configuration in the main git directory. */
static int find_digest(struct tracked *t)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup_fd int common = -1;
	t->digest_len = 20;
	int r = open_named(t->git_dir, "commondir", "", &common);
	if (r < 0 && r != -ENOENT)
		return r;
	r = read_file(r == 0 ? common : t->git_dir, "config", CONFIG_MAX, &text);
	if (r == -ENOENT)
		return 0;
	return r < 0 ? r : ward_git_config_read(ward_buf_str(&text), text.len, on_config, t);
}

static int on_entry(void *user, uint32_t mode, const unsigned char *digest, const char *name)
{
	struct tracked *t = user;
	const struct ward_git_entry e = {.mode = mode,
		.digest = digest,
		.digest_len = t->digest_len,
		.name = name + strlen(t->prefix)};
	uint32_t at = t->at++;
	if ((t->deleted && at < t->n_deleted && t->deleted[at]) || !*name || mode == MODE_TREE ||
		strncmp(name, t->prefix, strlen(t->prefix)) != 0)
		return 0;
	return t->fn(t->user, &e);
}

static int count_entry(void *user, uint32_t mode, const unsigned char *digest, const char *name)
{
	++*(uint32_t *)user;
	return 0;
}

/* The names of the shared index that this one does not delete. */
static int read_shared(struct tracked *t, const struct ward_git_link *link)
{
	static const unsigned char none[WARD_GIT_DIGEST_MAX];
	ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT, text = WARD_BUF_INIT;
	struct ward_git_link more;
	uint32_t n = 0;
	if (memcmp(link->digest, none, t->digest_len) == 0)
		return 0;
	ward_buf_puts(&name, "sharedindex.");
	for (unsigned i = 0; i < t->digest_len; i++)
		ward_buf_printf(&name, "%02x", link->digest[i]);
	int r = ward_buf_error(&name);
	if (r == 0)
		r = read_file(t->git_dir, ward_buf_str(&name), t->index_max, &text);
	const unsigned char *s = (const unsigned char *)text.data;
	if (r == 0)
		r = ward_git_index_read(s, text.len, t->digest_len, count_entry, &n, &more);
	if (r < 0)
		return r;
	ward_cleanup_free bool *deleted = calloc(n ? n : 1, sizeof(bool));
	if (!deleted)
		return -ENOMEM;
	if (link->deleted)
		r = ward_git_bitmap_read(link->deleted, link->deleted_len, deleted, n);
	t->deleted = deleted;
	t->n_deleted = n;
	t->at = 0;
	if (r == 0)
		r = ward_git_index_read(s, text.len, t->digest_len, on_entry, t, &more);
	t->deleted = NULL;
	return r;
}

static int read_index(struct tracked *t)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	struct ward_git_link link = {0};
	int r = find_digest(t);
	if (r == 0)
		r = read_file(t->git_dir, "index", t->index_max, &text);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = ward_git_index_read(
		(const unsigned char *)text.data, text.len, t->digest_len, on_entry, t, &link);
	return r == 0 && link.there ? read_shared(t, &link) : r;
}

int ward_git_entries(const char *dir, size_t index_max, ward_git_entry_fn *fn, void *user)
{
	struct tracked t = {.index_max = index_max, .fn = fn, .user = user};
	ward_cleanup_fd int git_dir = -1;
	int r = find_git_dir(dir, &git_dir, &t.prefix);
	if (r != 1)
		return r;
	ward_cleanup(ward_buf_clear) struct ward_buf prefix = WARD_BUF_INIT;
	ward_buf_printf(&prefix, "%s%s", t.prefix, *t.prefix ? "/" : "");
	t.prefix = ward_buf_str(&prefix);
	t.git_dir = git_dir;
	r = ward_buf_error(&prefix);
	return r == 0 ? read_index(&t) : r;
}

struct names {
	struct ward_buf *names;
	size_t last; /* where the last name stands in names; a conflict has up to three entries */
	bool any;
};

static int add_name(void *user, const struct ward_git_entry *e)
{
	struct names *n = user;
	if (n->any && strcmp(n->names->data + n->last, e->name) == 0)
		return 0;
	n->last = n->names->len;
	n->any = true;
	ward_buf_add(n->names, e->name, strlen(e->name) + 1);
	return ward_buf_error(n->names);
}

int ward_git_tracked(const struct ward_identity *id, const char *dir, struct ward_buf *names,
	struct ward_err *err)
{
	struct ward_as_owner owner;
	struct names n = {.names = names};
	size_t before = names->len;
	int r = ward_as_owner_begin(id, &owner, err);
	if (r < 0)
		return r;
	r = ward_git_entries(dir, WARD_GIT_INDEX_MAX, add_name, &n);
	ward_as_owner_end(&owner);
	if (r < 0) {
		names->len = before;
		return ward_err_sys(err, r, "reading the git index of %s", dir);
	}
	return 0;
}
