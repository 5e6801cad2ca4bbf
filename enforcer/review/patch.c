/* SPDX-License-Identifier: Apache-2.0 */
/* Changes as git writes them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <nettle/sha1.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/review/applied.h"
#include "enforcer/review/swap.h"
#include "enforcer/review/text_hunks.h"

/* Of a file in an exact patch; one that people look at is not read beyond the second. */
#define CONTENT_MAX ((size_t)1 << 30)
#define SHOWN_MAX ((off_t)1 << 26)
#define DEPTH_MAX 256U

/* --- content --- */

/*
 * A file's or a link's, at a name; type: which it is to be. -EFBIG: more than p shows. Nothing is
 * read of such a file, which may be a hole.
 */
static int read_content(
	const struct ward_patch *p, int dir, const char *name, mode_t type, struct ward_buf *ret)
{
	struct stat st;
	if (S_ISLNK(type)) {
		char to[PATH_MAX];
		ssize_t n = readlinkat(dir, name, to, sizeof(to));
		if (n < 0)
			return -errno;
		ward_buf_add(ret, to, (size_t)n);
		return ward_buf_error(ret);
	}
	ward_cleanup_fd int fd = ward_fd_open_regular(dir, name, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	if (st.st_size > (p->exact ? (off_t)CONTENT_MAX : SHOWN_MAX))
		return -EFBIG;
	return ward_fd_read_all(fd, CONTENT_MAX, ret);
}

/* At a path of the host, if the file of base is there. */
static int read_host(const struct ward_patch *p, size_t root, const char *path,
	const struct ward_change *c, struct ward_buf *ret)
{
	struct ward_review_base now;
	const char *name = NULL;
	mode_t type;
	ward_cleanup_fd int dir =
		p->roots[root] < 0 ? -ENOENT : ward_host_parent(p->roots[root], path, &name);
	int r = dir < 0 ? dir : ward_host_stat_at(dir, name, &now, &type);
	if (r < 0 || type != c->type || !ward_host_same(&now, &c->base, true))
		return -ESTALE;
	return read_content(p, dir, name, type, ret);
}

/* What an apply displaced, which had been the file that the session saw. */
static int read_kept(const struct ward_patch *p, const struct ward_change *c, struct ward_buf *ret)
{
	char name[24];
	for (size_t i = p->applied->n; i-- > 0;) {
		const struct ward_done *d = &p->applied->v[i];
		if (d->off || d->undone || d->c.kind != c->kind || d->c.root != c->root ||
			strcmp(d->c.path, c->path) != 0)
			continue;
		ward_cleanup_fd int undo = ward_applied_dir(p->dir_fd, false);
		snprintf(name, sizeof(name), "%zu", i + 1);
		return undo < 0 ? undo : read_content(p, undo, name, c->type, ret);
	}
	return -ESTALE;
}

static int read_old(const struct ward_patch *p, const struct ward_change *c, struct ward_buf *ret)
{
	int r = read_host(p, c->host ? c->host_root : c->root, c->host ? c->host : c->path, c, ret);
	if (r == -ESTALE && c->host)
		r = read_host(p, c->root, c->path, c, ret);
	return r == -ESTALE ? read_kept(p, c, ret) : r;
}

static int read_new(const struct ward_patch *p, const struct ward_change *c, struct ward_buf *ret)
{
	char name[32];
	snprintf(name, sizeof(name), "objects/%u", c->object);
	return read_content(p, p->dir_fd, name, c->type, ret);
}

/* --- heads --- */

/* As git quotes names: bytes that are not printable ASCII in octal. */
static void put_name(struct ward_buf *b, const char *before, const char *path)
{
	bool plain = true;
	for (const char *s = path; *s; s++)
		plain = plain && *s > 0x1f && *s < 0x7f && *s != '"' && *s != '\\';
	ward_buf_printf(b, plain ? "%s" : "\"%s", before);
	for (const char *s = path; *s; s++) {
		const unsigned char c = (unsigned char)*s;
		if (plain)
			ward_buf_putc(b, *s);
		else if (c < 0x20 || c >= 0x7f)
			ward_buf_printf(b, "\\%03o", c);
		else if (c == '"' || c == '\\')
			ward_buf_printf(b, "\\%c", c);
		else
			ward_buf_putc(b, *s);
	}
	ward_buf_puts(b, plain ? "" : "\"");
}

static void put_head(struct ward_buf *b, const char *from, const char *to)
{
	ward_buf_puts(b, "diff --git ");
	put_name(b, "a/", from);
	ward_buf_putc(b, ' ');
	put_name(b, "b/", to);
	ward_buf_putc(b, '\n');
}

static unsigned git_mode(mode_t type, mode_t mode)
{
	return S_ISLNK(type) ? 0120000 : mode & 0100 ? 0100755 : 0100644;
}

static void put_id(struct ward_buf *b, const struct ward_buf *content)
{
	struct sha1_ctx hash;
	uint8_t id[SHA1_DIGEST_SIZE];
	char head[32];
	if (!content) {
		for (size_t i = 0; i < sizeof(id); i++)
			ward_buf_puts(b, "00");
		return;
	}
	sha1_init(&hash);
	/* With its NUL, as git has it. */
	int n = snprintf(head, sizeof(head), "blob %zu", content->len);
	sha1_update(&hash, (size_t)n + 1, (const uint8_t *)head);
	sha1_update(&hash, content->len, (const uint8_t *)ward_buf_str(content));
	sha1_digest(&hash, sizeof(id), id);
	for (size_t i = 0; i < sizeof(id); i++)
		ward_buf_printf(b, "%02x", id[i]);
}

/* --- binary --- */

/* In the letters of git's base85. */
static void put_85(struct ward_buf *b, const uint8_t *v, size_t n)
{
	static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwx"
				      "yz!#$%&()*+-;<=>?@^_`{|}~";
	for (size_t i = 0; i < n; i += 4) {
		uint32_t word = 0;
		char five[5];
		for (size_t k = 0; k < 4; k++)
			word = word << 8 | (i + k < n ? v[i + k] : 0);
		for (size_t k = 5; k-- > 0; word /= 85)
			five[k] = letters[word % 85];
		ward_buf_add(b, five, sizeof(five));
	}
}

static int put_literal(struct ward_buf *b, const struct ward_buf *content)
{
	const size_t len = content ? content->len : 0;
	uLongf room = compressBound(len);
	ward_cleanup_free uint8_t *packed = malloc(room);
	if (!packed)
		return -ENOMEM;
	if (compress(packed, &room, (const uint8_t *)(content ? ward_buf_str(content) : ""), len) !=
		Z_OK)
		return -EIO;
	ward_buf_printf(b, "literal %zu\n", len);
	for (size_t i = 0; i < room; i += 52) {
		const size_t n = room - i < 52 ? room - i : 52;
		ward_buf_putc(b, (char)(n <= 26 ? 'A' + n - 1 : 'a' + n - 27));
		put_85(b, packed + i, n);
		ward_buf_putc(b, '\n');
	}
	ward_buf_putc(b, '\n');
	return ward_buf_error(b);
}

static int put_binary(const struct ward_patch *p, struct ward_buf *b, const struct ward_buf *old,
	const struct ward_buf *new)
{
	if (!p->exact) {
		ward_buf_printf(b, "Binary files differ: %zu bytes, then %zu\n", old ? old->len : 0,
			new ? new->len : 0);
		return 0;
	}
	ward_buf_puts(b, "GIT binary patch\n");
	int r = put_literal(b, new);
	return r < 0 ? r : put_literal(b, old);
}

/* --- one file --- */

/* What is behind the head; NULL: there is no such file. */
static int put_content(const struct ward_patch *p, const char *path, const struct ward_buf *old,
	const struct ward_buf *new, struct ward_buf *b)
{
	if (old && new && old->len == new->len &&
		memcmp(ward_buf_str(old), ward_buf_str(new), old->len) == 0)
		return ward_buf_error(b);
	ward_buf_puts(b, "index ");
	put_id(b, old);
	ward_buf_puts(b, "..");
	put_id(b, new);
	ward_buf_putc(b, '\n');
	if ((old && ward_text_is_binary(ward_buf_str(old), old->len)) ||
		(new &&ward_text_is_binary(ward_buf_str(new), new->len)))
		return put_binary(p, b, old, new);
	if (!(old && old->len) && !(new &&new->len))
		return ward_buf_error(b);
	ward_buf_puts(b, "--- ");
	put_name(b, old ? "a/" : "/dev/null", old ? path : "");
	ward_buf_puts(b, "\n+++ ");
	put_name(b, new ? "b/" : "/dev/null", new ? path : "");
	ward_buf_putc(b, '\n');
	return ward_text_diff(old ? ward_buf_str(old) : "", old ? old->len : 0,
		new ? ward_buf_str(new) : "", new ? new->len : 0, b);
}

static int put_added(const struct ward_patch *p, const struct ward_change *c, struct ward_buf *b)
{
	ward_cleanup(ward_buf_clear) struct ward_buf new = {.max = CONTENT_MAX + 1};
	int r = read_new(p, c, &new);
	if (r < 0)
		return r;
	put_head(b, c->path, c->path);
	ward_buf_printf(b, "new file mode %06o\n", git_mode(c->type, c->mode));
	return put_content(p, c->path, NULL, &new, b);
}

/* git has no links: a further name is a file with the same content. */
static int put_copy(const struct ward_patch *p, const struct ward_change *c, struct ward_buf *b)
{
	ward_cleanup(ward_buf_clear) struct ward_buf new = {.max = CONTENT_MAX + 1};
	const struct ward_change *of =
		ward_changes_find(p->changes, c->from_root, c->from, WARD_CHANGE_ADDED);
	if (!of)
		of = ward_changes_find(p->changes, c->from_root, c->from, WARD_CHANGE_MODIFIED);
	int r = of ? read_new(p, of, &new) : read_host(p, c->from_root, c->from, c, &new);
	if (r == -ESTALE)
		r = read_host(p, c->root, c->path, c, &new);
	if (r < 0)
		return r;
	put_head(b, c->path, c->path);
	ward_buf_printf(b, "new file mode %06o\n", git_mode(c->type, of ? of->mode : c->mode));
	return put_content(p, c->path, NULL, &new, b);
}

static int put_removed(const struct ward_patch *p, const struct ward_change *c, struct ward_buf *b)
{
	ward_cleanup(ward_buf_clear) struct ward_buf old = {.max = CONTENT_MAX + 1};
	int r = read_old(p, c, &old);
	if (r < 0)
		return r;
	put_head(b, c->path, c->path);
	ward_buf_printf(b, "deleted file mode %06o\n", git_mode(c->type, c->mode));
	return put_content(p, c->path, &old, NULL, b);
}

int ward_patch_texts(const struct ward_patch *p, const struct ward_change *c, struct ward_buf *old,
	struct ward_buf *new)
{
	int r = read_old(p, c, old);
	return r < 0 ? r : read_new(p, c, new);
}

static int put_modified(const struct ward_patch *p, const struct ward_change *c, struct ward_buf *b)
{
	ward_cleanup(ward_buf_clear) struct ward_buf old = {.max = CONTENT_MAX + 1};
	ward_cleanup(ward_buf_clear) struct ward_buf new = {.max = CONTENT_MAX + 1};
	unsigned before = git_mode(c->type, c->base.mode), after = git_mode(c->type, c->mode);
	int r = ward_patch_texts(p, c, &old, &new);
	if (r < 0)
		return r;
	put_head(b, c->path, c->path);
	if (before != after)
		ward_buf_printf(b, "old mode %06o\nnew mode %06o\n", before, after);
	else if (!p->exact && c->base.mode != c->mode && !S_ISLNK(c->type))
		ward_buf_printf(
			b, "permissions %04o, then %04o\n", c->base.mode, (unsigned)c->mode);
	return put_content(p, c->path, &old, &new, b);
}

/* --- names --- */

static void put_renamed(struct ward_buf *b, const char *from, const char *to)
{
	put_head(b, from, to);
	ward_buf_puts(b, "similarity index 100%\nrename from ");
	put_name(b, "", from);
	ward_buf_puts(b, "\nrename to ");
	put_name(b, "", to);
	ward_buf_putc(b, '\n');
}

/* Was the host's name taken away, or did it go elsewhere? */
static bool is_left(const struct ward_patch *p, size_t root, const char *path)
{
	if (ward_changes_find(p->changes, root, path, WARD_CHANGE_REMOVED))
		return true;
	for (size_t i = 0; i < p->changes->n; i++) {
		const struct ward_change *c = &p->changes->v[i];
		if (c->kind == WARD_CHANGE_RENAMED && c->from_root == root &&
			strcmp(c->from, path) == 0)
			return true;
	}
	return false;
}

/* Each file beneath a directory of the host's that is renamed. */
static int put_beneath(const struct ward_patch *p, size_t root, const char *from, const char *to,
	unsigned depth, struct ward_buf *b)
{
	if (depth > DEPTH_MAX)
		return -ELOOP;
	int fd = ward_host_open(p->roots[root], from, O_RDONLY | O_DIRECTORY);
	ward_cleanup_dir DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d)
		return fd < 0 ? fd : -ENOMEM;
	int r = 0;
	for (struct dirent *e = NULL; r == 0 && (errno = 0, (e = readdir(d)));) {
		ward_cleanup_free char *one = NULL, *there = NULL;
		struct stat st;
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (asprintf(&one, "%s/%s", from, e->d_name) < 0 ||
			asprintf(&there, "%s/%s", to, e->d_name) < 0)
			return -ENOMEM;
		if (is_left(p, root, one) || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			r = put_beneath(p, root, one, there, depth + 1, b);
		else if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
			put_renamed(b, one, there);
	}
	return r;
}

static int put_name_change(
	const struct ward_patch *p, const struct ward_change *c, struct ward_buf *b)
{
	if (c->kind == WARD_CHANGE_RENAMED && S_ISDIR(c->type) && p->exact)
		return p->roots[c->from_root] < 0
			       ? -ESTALE
			       : put_beneath(p, c->from_root, c->from, c->path, 0, b);
	if (c->kind == WARD_CHANGE_RENAMED) {
		put_renamed(b, c->from, c->path);
	} else if (!p->exact) {
		put_head(b, c->from, c->path);
		ward_buf_puts(b, "link from ");
		put_name(b, "", c->from);
		ward_buf_puts(b, "\nlink to ");
		put_name(b, "", c->path);
		ward_buf_putc(b, '\n');
	}
	return ward_buf_error(b);
}

/* In words, what git has none for. */
static void put_other(struct ward_patch *p, const struct ward_change *c, struct ward_buf *b)
{
	bool dir = S_ISDIR(c->type);
	/* A directory comes and goes with its files. */
	if (p->exact) {
		p->n_left += !dir || c->kind == WARD_CHANGE_MODE;
		return;
	}
	put_head(b, c->path, c->path);
	if (c->kind == WARD_CHANGE_MODE)
		ward_buf_printf(
			b, "permissions %04o, then %04o\n", c->base.mode, (unsigned)c->mode);
	else
		ward_buf_printf(b, "%s %s\n", c->kind == WARD_CHANGE_REMOVED ? "removed" : "new",
			dir ? "directory" : "pipe, socket or device");
}

static int put_change(struct ward_patch *p, const struct ward_change *c, struct ward_buf *b)
{
	if (c->kind == WARD_CHANGE_RENAMED || (c->kind == WARD_CHANGE_LINKED && !p->exact))
		return put_name_change(p, c, b);
	/* git takes no path within .git. */
	bool git = strncmp(c->path, ".git/", 5) == 0 || strstr(c->path, "/.git/");
	if (p->exact && git) {
		p->n_left++;
		return 0;
	}
	if (c->kind == WARD_CHANGE_LINKED)
		return put_copy(p, c, b);
	if (!S_ISREG(c->type) && !S_ISLNK(c->type)) {
		put_other(p, c, b);
		return ward_buf_error(b);
	}
	switch (c->kind) {
	case WARD_CHANGE_ADDED:
		return put_added(p, c, b);
	case WARD_CHANGE_REMOVED:
		return put_removed(p, c, b);
	case WARD_CHANGE_MODIFIED:
	case WARD_CHANGE_MODE:
		return put_modified(p, c, b);
	case WARD_CHANGE_NONE:
	case WARD_CHANGE_RENAMED:
	case WARD_CHANGE_LINKED:
		break;
	}
	return -EINVAL;
}

int ward_patch_put(struct ward_patch *p, const struct ward_change *c, struct ward_buf *b)
{
	int r = put_change(p, c, b);
	/* One file of that size does not hide what comes after it. */
	if (r != -EFBIG || p->exact)
		return r;
	put_head(b, c->path, c->path);
	ward_buf_printf(b, "more than %u MiB: not shown (--stat has the size)\n",
		(unsigned)(SHOWN_MAX >> 20));
	return ward_buf_error(b);
}
