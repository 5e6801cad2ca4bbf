/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One layer onto those before it (image-spec, layer.md), in two passes. The first one reads all of
 * it: its digest, what it would cost, and what it takes away, which is of the layers before it
 * alone, wherever in the archive it stands. The second one adds what it has.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/image/unpack/unpack.h"

#define WHITEOUT ".wh."
#define OPAQUE ".wh..wh..opq"
#define CHUNK ((size_t)64 << 10)

struct input {
	int fd;
	struct sha256_ctx digest;
	uint64_t bytes;
	uint8_t chunk[CHUNK];
};

struct reading {
	struct archive *a;
	struct input *in;
	uint64_t plain; /* bytes of content so far */
	uint64_t files;
};

static la_ssize_t read_more(struct archive *a, void *user, const void **ret)
{
	struct input *in = user;
	ssize_t n = 0;
	do
		n = read(in->fd, in->chunk, sizeof(in->chunk));
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		archive_set_error(a, errno, "read");
		return -1;
	}
	sha256_update(&in->digest, (size_t)n, in->chunk);
	in->bytes += (uint64_t)n;
	*ret = in->chunk;
	return n;
}

static void reading_clear(struct reading *r)
{
	if (r->a)
		archive_read_free(r->a);
	if (r->in && r->in->fd >= 0)
		close(r->in->fd);
	free(r->in);
}

static int archive_error(const struct reading *r, struct ward_err *err)
{
	const char *text = archive_error_string(r->a);
	return ward_err_set(err, -EBADMSG, "cannot read a layer: %s", text ? text : "?");
}

static int begin(const struct unpack_source *s, const struct unpack_layer *layer,
	struct reading *ret, struct ward_err *err)
{
	int fd = -1;
	int r = unpack_source_get(s, layer->name, &fd, err);
	if (r < 0)
		return r;
	ret->in = malloc(sizeof(*ret->in));
	ret->a = archive_read_new();
	if (!ret->in || !ret->a) {
		close(fd);
		return ward_err_sys(err, -ENOMEM, "layer");
	}
	ret->in->fd = fd;
	ret->in->bytes = 0;
	sha256_init(&ret->in->digest);
	/* No others: some of libarchive's filters are programs that it would start. */
	if (archive_read_support_filter_gzip(ret->a) != ARCHIVE_OK ||
		archive_read_support_filter_zstd(ret->a) != ARCHIVE_OK ||
		archive_read_support_filter_none(ret->a) != ARCHIVE_OK ||
		archive_read_support_format_tar(ret->a) != ARCHIVE_OK ||
		archive_read_support_format_empty(ret->a) != ARCHIVE_OK ||
		archive_read_open(ret->a, ret->in, NULL, read_more, NULL) != ARCHIVE_OK)
		return archive_error(ret, err);
	return 0;
}

/* 1: an entry, 0: the end. name: as unpack_name(). */
static int next(struct reading *r, struct archive_entry **ret, char name[UNPACK_PATH_MAX + 1],
	struct ward_err *err)
{
	int got = archive_read_next_header(r->a, ret);
	if (got == ARCHIVE_EOF)
		return 0;
	if (got != ARCHIVE_OK && got != ARCHIVE_WARN)
		return archive_error(r, err);
	const char *given = archive_entry_pathname(*ret);
	if (!given)
		return ward_err_set(
			err, -EINVAL, "the image contains a name that is not valid text");
	if (++r->files > UNPACK_FILES_MAX)
		return ward_err_set(
			err, -E2BIG, "the image has more than %u files", UNPACK_FILES_MAX);
	int e = unpack_name(given, name, err);
	return e < 0 ? e : 1;
}

/* The next piece of an entry's content. 1: more, 0: the end. */
static int content(struct reading *r, const void **ret, size_t *ret_len, int64_t *ret_at,
	uint64_t before, struct ward_err *err)
{
	la_int64_t at = 0;
	int got = archive_read_data_block(r->a, ret, ret_len, &at);
	if (got == ARCHIVE_EOF)
		return 0;
	if (got != ARCHIVE_OK)
		return archive_error(r, err);
	r->plain += *ret_len;
	/* A sparse file has ends without content; what it says of itself counts as well. */
	if (at < 0 || (uint64_t)at > UNPACK_BYTES_MAX || r->plain + before > UNPACK_BYTES_MAX)
		return ward_err_set(err, -EFBIG, "the image has more than %llu GiB",
			(unsigned long long)(UNPACK_BYTES_MAX >> 30));
	if (r->plain > UNPACK_RATIO_SLACK && r->plain / UNPACK_RATIO_MAX > r->in->bytes)
		return ward_err_set(err, -EFBIG,
			"a layer contains more than %u times its own size: wardfs takes it for a compression bomb",
			UNPACK_RATIO_MAX);
	*ret_at = at;
	return 1;
}

/* --- what a layer takes away --- */

static bool is_whiteout(const char *path)
{
	const char *slash = strrchr(path, '/');
	return strncmp(slash ? slash + 1 : path, WHITEOUT, strlen(WHITEOUT)) == 0;
}

static int take_away(int root, const char *path, struct ward_err *err)
{
	ward_cleanup_fd int dir = -1;
	const char *name = NULL;
	char above[UNPACK_PATH_MAX + 1];
	int r = unpack_parent(root, path, NULL, &dir, &name, err);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	if (strcmp(name, OPAQUE) == 0) {
		const size_t n = name == path ? 0 : (size_t)(name - path) - 1;
		memcpy(above, path, n);
		above[n] = '\0';
		return unpack_empty(root, above, err);
	}
	/* Others of this kind are notes of aufs to itself. */
	if (strncmp(name, WHITEOUT WHITEOUT, 2 * strlen(WHITEOUT)) == 0)
		return 0;
	name += strlen(WHITEOUT);
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return ward_err_set(
			err, -EINVAL, "the image contains the invalid whiteout %s", path);
	return unpack_remove(dir, name, err);
}

/* At the end of the archive. A layout may change while it is read: each pass checks for itself. */
static int check_digest(struct reading *r, const struct unpack_layer *layer, struct ward_err *err)
{
	char is[UNPACK_DIGEST_LEN + 1];
	uint8_t digest[SHA256_DIGEST_SIZE];
	/* What stands behind the end of the archive is of the digest, too. */
	const void *rest = NULL;
	la_ssize_t n = 0;
	while ((n = read_more(r->a, r->in, &rest)) > 0)
		continue;
	if (n < 0)
		return ward_err_set(err, -EIO, "a layer cannot be read");
	sha256_digest(&r->in->digest, sizeof(digest), digest);
	unpack_digest_text(digest, is);
	return strcmp(is, layer->digest) == 0
		       ? 0
		       : ward_err_set(err, -EBADMSG, "the layer %s has another digest: %s",
				 layer->digest, is);
}

static int first_pass(const struct unpack_source *s, const struct unpack_layer *layer, int root,
	const struct unpack_tally *tally, struct ward_err *err)
{
	ward_cleanup(reading_clear) struct reading r = {.files = tally->files};
	char name[UNPACK_PATH_MAX + 1];
	struct archive_entry *e = NULL;
	int got = begin(s, layer, &r, err);
	if (got < 0)
		return got;
	while ((got = next(&r, &e, name, err)) > 0) {
		const void *data = NULL;
		size_t len = 0;
		int64_t at = 0;
		int more = is_whiteout(name) ? take_away(root, name, err) : 0;
		while (more == 0 && (more = content(&r, &data, &len, &at, tally->bytes, err)) > 0)
			more = 0;
		if (more < 0)
			return more;
	}
	return got < 0 ? got : check_digest(&r, layer, err);
}

/* --- what it adds --- */

static int write_at(int fd, const void *data, size_t len, int64_t at)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pwrite(fd, (const char *)data + done, len - done, at + (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

static int add_file(struct reading *r, struct archive_entry *entry, int dir, const char *name,
	const struct unpack_tally *tally, struct ward_err *err)
{
	const mode_t mode = archive_entry_mode(entry);
	const void *data = NULL;
	size_t len = 0;
	int64_t at = 0;
	int more = 0, e = 0;
	ward_cleanup_fd int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return ward_err_sys(err, -errno, "%s", name);
	while (e == 0 && (more = content(r, &data, &len, &at, tally->bytes, err)) > 0)
		e = write_at(fd, data, len, at);
	if (e < 0 || more < 0)
		return more < 0 ? more : ward_err_sys(err, e, "%s", name);
	/* A sparse file may end in a hole. */
	const la_int64_t size = archive_entry_size(entry);
	if (size < 0 || (uint64_t)size > UNPACK_BYTES_MAX || ftruncate(fd, size) < 0)
		return ward_err_set(err, -EFBIG, "%s has an impossible size", name);
	/* Its owner reads it, so that it can be shown and removed. */
	if (fchmod(fd, (mode & 0777) | 0600) < 0)
		return ward_err_sys(err, -errno, "%s", name);
	return 0;
}

static int add_directory(int dir, const char *name, mode_t mode, struct ward_err *err)
{
	struct stat st;
	int r = 0;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode))
		r = unpack_remove(dir, name, err);
	if (r == 0 && mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		r = ward_err_sys(err, -errno, "%s", name);
	ward_cleanup_fd int fd =
		r < 0 ? -1 : openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r == 0 && (fd < 0 || fchmod(fd, (mode & 01777) | 0700) < 0))
		r = ward_err_sys(err, -errno, "%s", name);
	return r;
}

static int add_link(int root, int dir, const char *name, const char *given, struct ward_err *err)
{
	ward_cleanup_fd int from = -1;
	char target[UNPACK_PATH_MAX + 1];
	const char *last = NULL;
	struct stat st;
	int r = unpack_name(given, target, err);
	if (r == 0)
		r = unpack_parent(root, target, NULL, &from, &last, err);
	if (r == -ENOENT || (r == 0 && fstatat(from, last, &st, AT_SYMLINK_NOFOLLOW) < 0))
		return ward_err_set(err, -EINVAL,
			"the image links %s to %s, which it does not contain", name, given);
	if (r < 0)
		return r;
	if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return ward_err_set(
			err, -EINVAL, "the image links %s to %s, which is not a file", name, given);
	r = unpack_remove(dir, name, err);
	if (r == 0 && linkat(from, last, dir, name, 0) < 0)
		r = ward_err_sys(err, -errno, "link %s to %s", name, given);
	return r;
}

/* Nothing of that is carried over: neither these bits nor extended attributes. */
static void count_stripped(struct archive_entry *e, mode_t mode, struct unpack_tally *tally)
{
	const char *name = NULL;
	const void *value = NULL;
	size_t size = 0;
	bool strong = S_ISREG(mode) && mode & (S_ISUID | S_ISGID);
	archive_entry_xattr_reset(e);
	while (archive_entry_xattr_next(e, &name, &value, &size) == ARCHIVE_OK)
		strong |= name && strcmp(name, "security.capability") == 0;
	tally->stripped += strong;
}

static int add(struct reading *r, struct archive_entry *e, int root, const char *path,
	struct unpack_tally *tally, struct ward_err *err)
{
	ward_cleanup_fd int dir = -1;
	const char *name = NULL;
	const mode_t mode = archive_entry_mode(e);
	const char *hard = archive_entry_hardlink(e), *to = archive_entry_symlink(e);
	int got = unpack_parent(root, path, &r->files, &dir, &name, err);
	if (got < 0)
		return got == -ENOENT ? ward_err_sys(err, got, "%s", path) : got;
	if (hard)
		return add_link(root, dir, name, hard, err);
	if (S_ISDIR(mode))
		return add_directory(dir, name, mode, err);
	count_stripped(e, mode, tally);
	got = unpack_remove(dir, name, err);
	if (got == 0 && S_ISREG(mode))
		got = add_file(r, e, dir, name, tally, err);
	else if (got == 0 && S_ISLNK(mode) && to && *to && strlen(to) <= UNPACK_PATH_MAX)
		got = symlinkat(to, dir, name) < 0 ? ward_err_sys(err, -errno, "%s", path) : 0;
	else if (got == 0)
		tally->skipped++;
	if (got < 0 || !archive_entry_mtime_is_set(e) || S_ISLNK(mode))
		return got;
	const struct timespec times[2] = {
		{.tv_sec = archive_entry_mtime(e)}, {.tv_sec = archive_entry_mtime(e)}};
	(void)utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW);
	return 0;
}

int unpack_layer(const struct unpack_source *s, const struct unpack_layer *layer, int root,
	struct unpack_tally *tally, struct ward_err *err)
{
	ward_cleanup(reading_clear) struct reading r = {.files = tally->files};
	char name[UNPACK_PATH_MAX + 1];
	struct archive_entry *e = NULL;
	int got = first_pass(s, layer, root, tally, err);
	if (got == 0)
		got = begin(s, layer, &r, err);
	if (got < 0)
		return got;
	while ((got = next(&r, &e, name, err)) > 0) {
		int done = *name && !is_whiteout(name) ? add(&r, e, root, name, tally, err) : 0;
		if (done < 0)
			return done;
	}
	tally->files = r.files;
	tally->bytes += r.plain;
	return got < 0 ? got : check_digest(&r, layer, err);
}
