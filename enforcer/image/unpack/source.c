/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the blobs of an image come from. Those of a layout are opened as files in it; those of an
 * archive are copied out first, since a layer is read twice, and an archive may be compressed.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/image/unpack/unpack.h"

/* Where members of an archive lie meanwhile, as 0, 1, …; wardfs removes it. */
#define MEMBERS "members"

struct unpack_source {
	int layout; /* -1: an archive */
	int members;
	char **names;
	size_t n;
};

void unpack_digest_text(const uint8_t digest[32], char ret[UNPACK_DIGEST_LEN + 1])
{
	memcpy(ret, "sha256:", 8);
	for (size_t i = 0; i < SHA256_DIGEST_SIZE; i++)
		snprintf(ret + 7 + 2 * i, 3, "%02x", digest[i]);
}

bool unpack_blob_name(const char *digest, char *ret, size_t size)
{
	if (!digest || strncmp(digest, "sha256:", 7) != 0 || strlen(digest) != UNPACK_DIGEST_LEN ||
		strspn(digest + 7, "0123456789abcdef") != UNPACK_DIGEST_LEN - 7)
		return false;
	snprintf(ret, size, "blobs/sha256/%s", digest + 7);
	return true;
}

void unpack_source_free(struct unpack_source *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->names[i]);
	free(s->names);
	if (s->members >= 0)
		close(s->members);
	free(s);
}

static int copy_out(
	struct archive *a, const struct unpack_source *s, uint64_t *total, struct ward_err *err)
{
	char file[24];
	const void *data = NULL;
	size_t len = 0;
	la_int64_t at = 0;
	int got = 0;
	snprintf(file, sizeof(file), "%zu", s->n);
	ward_cleanup_fd int fd = openat(
		s->members, file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return ward_err_sys(err, -errno, "copy a part of the archive");
	while ((got = archive_read_data_block(a, &data, &len, &at)) == ARCHIVE_OK) {
		*total += len;
		if (*total > UNPACK_BYTES_MAX || at < 0 || (uint64_t)at > UNPACK_BYTES_MAX)
			return ward_err_set(err, -EFBIG, "the archive has more than %llu GiB",
				(unsigned long long)(UNPACK_BYTES_MAX >> 30));
		if (*total > UNPACK_RATIO_SLACK &&
			*total / UNPACK_RATIO_MAX > (uint64_t)archive_filter_bytes(a, -1))
			return ward_err_set(err, -EFBIG,
				"the archive contains more than %u times its own size: wardfs takes it for a compression bomb",
				UNPACK_RATIO_MAX);
		if (lseek(fd, at, SEEK_SET) < 0)
			return ward_err_sys(err, -errno, "copy a part of the archive");
		int r = ward_fd_write_all(fd, data, len);
		if (r < 0)
			return ward_err_sys(err, r, "copy a part of the archive");
	}
	return got == ARCHIVE_EOF
		       ? 0
		       : ward_err_set(err, -EBADMSG, "the archive: %s", archive_error_string(a));
}

/*
 * podman and skopeo write ID/layer.tar as a link to each layer, for readers from before there was
 * manifest.json, which names the layer itself. Left out, so nothing is found by it.
 */
static bool is_old_name(struct archive_entry *e, const char *name)
{
	const char *slash = strchr(name, '/');
	return S_ISLNK(archive_entry_mode(e)) && slash && strcmp(slash, "/layer.tar") == 0;
}

static int take_member(struct archive *a, struct archive_entry *e, struct unpack_source *s,
	uint64_t *total, struct ward_err *err)
{
	const char *given = archive_entry_pathname(e);
	char name[UNPACK_PATH_MAX + 1];
	int r = given ? unpack_name(given, name, err)
		      : ward_err_set(
				err, -EINVAL, "the archive contains a name that is not valid text");
	if (r < 0 || S_ISDIR(archive_entry_mode(e)) || is_old_name(e, name))
		return r;
	if (!S_ISREG(archive_entry_mode(e)) || archive_entry_hardlink(e))
		return ward_err_set(err, -EINVAL,
			"the archive contains %s, which is neither a file nor a directory, as an archive of an image must",
			name);
	if (s->n == UNPACK_MEMBERS_MAX)
		return ward_err_set(
			err, -E2BIG, "the archive has more than %u members", UNPACK_MEMBERS_MAX);
	if (unpack_source_has(s, name))
		return ward_err_set(err, -EINVAL, "the archive holds %s twice", name);
	r = copy_out(a, s, total, err);
	if (r < 0)
		return r;
	s->names[s->n] = strdup(name);
	return s->names[s->n++] ? 0 : ward_err_sys(err, -ENOMEM, "archive");
}

static int take_members(struct archive *a, struct unpack_source *s, struct ward_err *err)
{
	struct archive_entry *e = NULL;
	uint64_t total = 0;
	if (archive_read_support_filter_gzip(a) != ARCHIVE_OK ||
		archive_read_support_filter_zstd(a) != ARCHIVE_OK ||
		archive_read_support_format_tar(a) != ARCHIVE_OK ||
		archive_read_open_fd(a, UNPACK_IN, 1 << 16) != ARCHIVE_OK)
		return ward_err_set(err, -EBADMSG, "the archive: %s", archive_error_string(a));
	for (;;) {
		int got = archive_read_next_header(a, &e);
		if (got == ARCHIVE_EOF)
			return 0;
		if (got != ARCHIVE_OK && got != ARCHIVE_WARN)
			return ward_err_set(
				err, -EBADMSG, "the archive: %s", archive_error_string(a));
		int r = take_member(a, e, s, &total, err);
		if (r < 0)
			return r;
	}
}

static int open_archive(struct unpack_source *s, struct ward_err *err)
{
	s->names = calloc(UNPACK_MEMBERS_MAX, sizeof(*s->names));
	struct archive *a = s->names ? archive_read_new() : NULL;
	if (!a)
		return ward_err_sys(err, -ENOMEM, "archive");
	int r = 0;
	if (mkdirat(UNPACK_OUT, MEMBERS, 0700) < 0 ||
		(s->members = openat(
			 UNPACK_OUT, MEMBERS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		r = ward_err_sys(err, -errno, "make a directory");
	if (r == 0)
		r = take_members(a, s, err);
	archive_read_free(a);
	return r;
}

int unpack_source_open(struct unpack_source **ret, struct ward_err *err)
{
	struct stat st;
	struct unpack_source *s = calloc(1, sizeof(*s));
	if (!s)
		return ward_err_sys(err, -ENOMEM, "image");
	s->layout = s->members = -1;
	int r = fstat(UNPACK_IN, &st) < 0 ? ward_err_sys(err, -errno, "image") : 0;
	if (r == 0 && S_ISDIR(st.st_mode))
		s->layout = UNPACK_IN;
	else if (r == 0)
		r = open_archive(s, err);
	if (r < 0)
		unpack_source_free(s);
	else
		*ret = s;
	return r;
}

static int get(const struct unpack_source *s, const char *name)
{
	char file[24];
	struct stat st;
	struct open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	if (s->layout < 0) {
		size_t i = 0;
		while (i < s->n && strcmp(s->names[i], name) != 0)
			i++;
		if (i == s->n)
			return -ENOENT;
		snprintf(file, sizeof(file), "%zu", i);
		name = file;
	}
	ward_cleanup_fd int fd =
		ward_fd_openat2(s->layout < 0 ? s->members : s->layout, name, &how);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? ward_steal_fd(&fd) : -EINVAL;
}

bool unpack_source_has(const struct unpack_source *s, const char *name)
{
	ward_cleanup_fd int fd = get(s, name);
	return fd >= 0;
}

int unpack_source_get(
	const struct unpack_source *s, const char *name, int *ret_fd, struct ward_err *err)
{
	int fd = get(s, name);
	if (fd < 0)
		return ward_err_set(err, fd, "the image lacks %s: %s", name, strerror(-fd));
	*ret_fd = fd;
	return 0;
}

int unpack_source_read(const struct unpack_source *s, const char *name, const char *digest,
	struct ward_buf *ret, struct ward_err *err)
{
	uint8_t d[SHA256_DIGEST_SIZE];
	char is[UNPACK_DIGEST_LEN + 1];
	struct sha256_ctx ctx;
	ward_cleanup_fd int fd = -1;
	int r = unpack_source_get(s, name, &fd, err);
	if (r == 0 && (r = ward_fd_read_all(fd, UNPACK_JSON_MAX, ret)) < 0)
		ward_err_set(err, r, "%s: %s", name,
			r == -EFBIG ? "it is longer than 4 MiB" : strerror(-r));
	if (r < 0 || !digest)
		return r;
	sha256_init(&ctx);
	sha256_update(&ctx, ret->len, (const uint8_t *)ret->data);
	sha256_digest(&ctx, sizeof(d), d);
	unpack_digest_text(d, is);
	return strcmp(is, digest) == 0
		       ? 0
		       : ward_err_set(err, -EBADMSG, "%s has another digest: %s", name, is);
}
