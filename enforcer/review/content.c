/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/review/content.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/xattr.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/review/host_file.h"

#define PIECE (64U << 10)		/* what malloc(3) takes from its heap */
#define SMALL ((off_t)PIECE)		/* copied by one read(2) and one write(2) */
#define DIGEST_BYTES SHA256_DIGEST_SIZE /* of SHA-512/256, too */

/* Without holes. A clone of so little would save nothing. */
static bool is_small(const struct stat *st)
{
	return st->st_size <= SMALL && st->st_blocks >= st->st_size / 512;
}

/* digest: NULL, or of what was written. */
static int copy_small(int from, const struct stat *st, int to, char *buf, uint8_t *digest)
{
	ssize_t n = st->st_size ? pread(from, buf, (size_t)st->st_size, 0) : 0;
	if (n > 0)
		n = pwrite(to, buf, (size_t)n, 0);
	/* Whoever cut it meanwhile finds out: the copy is digested. */
	if (n < 0)
		return -errno;
	if (digest) {
		struct sha256_ctx hash;
		sha256_init(&hash);
		sha256_update(&hash, (size_t)n, (const uint8_t *)buf);
		sha256_digest(&hash, DIGEST_BYTES, digest);
	}
	return 0;
}

static int copy_large(int from, const struct stat *st, int to, char *buf)
{
	if (ftruncate(to, st->st_size) < 0)
		return -errno;
	for (off_t at = 0; at < st->st_size;) {
		off_t data = lseek(from, at, SEEK_DATA);
		if (data < 0)
			return errno == ENXIO ? 0 : -errno;
		ssize_t n = pread(from, buf, PIECE, data);
		if (n > 0)
			n = pwrite(to, buf, (size_t)n, data);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return 0;
		at = data + (n > 0 ? n : 0);
	}
	return 0;
}

static int digest_open(int fd, off_t size, uint8_t ret[DIGEST_BYTES]);

/* digest: NULL, or of what has got there; of a large file it is read again. */
static int copy_bytes(int from, const struct stat *st, int to, uint8_t *digest)
{
	const bool small = is_small(st);
	int r = 0;
	if (small || ioctl(to, FICLONE, from) < 0) {
		ward_cleanup_free char *buf = malloc(PIECE);
		r = !buf    ? -ENOMEM
		    : small ? copy_small(from, st, to, buf, digest)
			    : copy_large(from, st, to, buf);
	}
	return r == 0 && digest && !small ? digest_open(to, st->st_size, digest) : r;
}

/* Files have no default ACL. */
static bool carries(const char *name)
{
	return strncmp(name, XATTR_USER_PREFIX, XATTR_USER_PREFIX_LEN) == 0 ||
	       strcmp(name, XATTR_NAME_POSIX_ACL_ACCESS) == 0 ||
	       strcmp(name, XATTR_NAME_POSIX_ACL_DEFAULT) == 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void hash_size(uint64_t n, struct sha256_ctx *hash)
{
	const uint64_t le = htole64(n);
	sha256_update(hash, sizeof(le), (const uint8_t *)&le);
}

static void to_text(const uint8_t digest[DIGEST_BYTES], char ret[WARD_REVIEW_DIGEST_SIZE]);

int ward_content_copy_attributes(int from, int to, char ret[WARD_REVIEW_DIGEST_SIZE])
{
	const char *sorted[XATTR_LIST_MAX / 2];
	uint8_t digest[DIGEST_BYTES];
	struct sha256_ctx hash;
	size_t count = 0;
	ssize_t len = flistxattr(from, NULL, 0);
	ret[0] = '\0';
	if (len <= 0)
		return len == 0 || errno == EOPNOTSUPP ? 0 : -errno;
	ward_cleanup_free char *names = malloc(XATTR_LIST_MAX), *value = malloc(XATTR_SIZE_MAX);
	if (!names || !value)
		return -ENOMEM;
	len = flistxattr(from, names, XATTR_LIST_MAX);
	if (len < 0)
		return -errno;
	for (const char *n = names; n < names + len; n += strlen(n) + 1)
		if (carries(n))
			sorted[count++] = n;
	if (!count)
		return 0;
	qsort(sorted, count, sizeof(*sorted), by_name);
	sha256_init(&hash);
	for (size_t i = 0; i < count; i++) {
		const ssize_t size = fgetxattr(from, sorted[i], value, XATTR_SIZE_MAX);
		if (size < 0 || (to >= 0 && fsetxattr(to, sorted[i], value, (size_t)size, 0) < 0))
			return -errno;
		sha256_update(&hash, strlen(sorted[i]) + 1, (const uint8_t *)sorted[i]);
		hash_size((uint64_t)size, &hash);
		sha256_update(&hash, (size_t)size, (const uint8_t *)value);
	}
	sha256_digest(&hash, sizeof(digest), digest);
	to_text(digest, ret);
	return 0;
}

int ward_content_set_attributes(int from, int to)
{
	char digest[WARD_REVIEW_DIGEST_SIZE];
	ward_cleanup_free char *names = malloc(XATTR_LIST_MAX);
	if (!names)
		return -ENOMEM;
	const ssize_t len = flistxattr(to, names, XATTR_LIST_MAX);
	if (len < 0 && errno != EOPNOTSUPP)
		return -errno;
	for (const char *n = names; n < names + (len < 0 ? 0 : len); n += strlen(n) + 1)
		if (carries(n) && fgetxattr(from, n, NULL, 0) < 0 && fremovexattr(to, n) < 0)
			return -errno;
	return ward_content_copy_attributes(from, to, digest);
}

/* A file that stands in for another one is whose that was. */
static int give(int dir, const char *name, const struct ward_review_base *base)
{
	struct stat st;
	if (!base)
		return 0;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (st.st_uid == base->uid && st.st_gid == base->gid)
		return 0;
	return fchownat(dir, name, base->uid, base->gid, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

/* 1: it has been given away; 0: it is the right owner's already. */
static int give_open(int fd, const struct stat *now, const struct ward_review_base *base)
{
	if (!base || (now->st_uid == base->uid && now->st_gid == base->gid))
		return 0;
	return fchown(fd, base->uid, base->gid) < 0 ? -errno : 1;
}

/* ret: NULL, or what has got there. */
static int fill(int from, const struct stat *st, int to, const struct ward_review_base *base,
	struct ward_content_digests *ret)
{
	uint8_t bytes[DIGEST_BYTES];
	char attributes[WARD_REVIEW_DIGEST_SIZE];
	struct stat now;
	int r = copy_bytes(from, st, to, ret ? bytes : NULL);
	if (r == 0 && fstat(to, &now) < 0)
		r = -errno;
	if (r < 0)
		return r;
	/* The owner first: giving a file away takes setuid from it. */
	const int given = give_open(to, &now, base);
	r = given < 0 ? given : ward_content_copy_attributes(from, to, attributes);
	/* An ACL can have changed the permissions. */
	const bool same = given == 0 && r == 0 && !*attributes &&
			  (now.st_mode & 07777) == (st->st_mode & 07777);
	if (r == 0 && ((!same && fchmod(to, st->st_mode & 07777) < 0) ||
			      futimens(to, (struct timespec[2]){st->st_atim, st->st_mtim}) < 0))
		r = -errno;
	if (r == 0 && ret) {
		to_text(bytes, ret->content);
		memcpy(ret->attributes, attributes, sizeof(attributes));
	}
	return r;
}

static int stat_regular(int fd, struct stat *ret)
{
	if (fstat(fd, ret) < 0)
		return -errno;
	return S_ISREG(ret->st_mode) ? 0 : -EINVAL;
}

static int copy_regular(int from, int to_dir, const char *to_name,
	const struct ward_review_base *base, struct ward_content_digests *ret)
{
	struct stat st;
	int r = stat_regular(from, &st);
	if (r < 0)
		return r;
	ward_cleanup_fd int to =
		openat(to_dir, to_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return to < 0 ? -errno : fill(from, &st, to, base, ret);
}

int ward_content_open(int dir, const char *name)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
	int fd = openat(dir, name, flags | O_NOATIME);
	if (fd < 0 && errno == EPERM)
		fd = openat(dir, name, flags);
	return fd < 0 ? -errno : fd;
}

static int open_regular(int dir, const char *name)
{
	struct stat st;
	ward_cleanup_fd int fd = ward_content_open(dir, name);
	int r = fd < 0 ? fd : stat_regular(fd, &st);
	return r < 0 ? r : ward_steal_fd(&fd);
}

/* Without the right to link by a descriptor alone, /proc has a name of it. */
static int name_it(int fd, int to_dir, const char *to)
{
	char self[32];
	if (linkat(fd, "", to_dir, to, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno != ENOENT)
		return -errno;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, to_dir, to, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

int ward_content_copy_unnamed(int dir, const char *name, int as_in, int to_dir, const char *to,
	const struct ward_review_base *base, struct ward_content_digests *ret)
{
	struct stat st;
	ward_cleanup_fd int from = ward_content_open(dir, name);
	int r = from < 0 ? from : stat_regular(from, &st);
	if (r < 0)
		return r;
	ward_cleanup_fd int fd =
		openat(as_in, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, st.st_mode & 0777);
	/* EISDIR, ENOENT: a kernel or a file system that does not know the flag. */
	if (fd < 0)
		return errno == EISDIR || errno == ENOENT ? -EOPNOTSUPP : -errno;
	r = fill(from, &st, fd, base, ret);
	return r < 0 ? r : name_it(fd, to_dir, to);
}

int ward_content_copy(int dir, const char *name, mode_t type, int to_dir, const char *to,
	const struct ward_review_base *base)
{
	return ward_content_copy_digested(dir, name, type, to_dir, to, base, NULL);
}

int ward_content_copy_digested(int dir, const char *name, mode_t type, int to_dir, const char *to,
	const struct ward_review_base *base, struct ward_content_digests *ret)
{
	char target[PATH_MAX];
	int r;
	if (S_ISREG(type)) {
		ward_cleanup_fd int from = ward_content_open(dir, name);
		r = from < 0 ? from : copy_regular(from, to_dir, to, base, ret);
	} else if (S_ISLNK(type)) {
		ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);
		if (n < 0)
			return -errno;
		target[n] = '\0';
		r = symlinkat(target, to_dir, to) < 0 ? -errno : give(to_dir, to, base);
		if (r == 0 && ret)
			r = ward_content_digest_all(to_dir, to, type, ret);
	} else {
		return -EOPNOTSUPP;
	}
	if (r < 0 && r != -EEXIST)
		(void)unlinkat(to_dir, to, 0);
	return r;
}

static int open_dir(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int ward_content_copy_dir(
	int dir, const char *name, int to_dir, const char *to, const struct ward_review_base *base)
{
	char attributes[WARD_REVIEW_DIGEST_SIZE];
	/* Of one that nobody may read nothing is known. */
	ward_cleanup_fd int from = open_dir(dir, name);
	if (mkdirat(to_dir, to, 0700) < 0)
		return -errno;
	ward_cleanup_fd int fd = open_dir(to_dir, to);
	int r = fd < 0 ? fd : 0;
	if (r == 0 && fchown(fd, base->uid, base->gid) < 0)
		r = -errno;
	if (r == 0 && from >= 0)
		r = ward_content_copy_attributes(from, fd, attributes);
	if (r == 0 && fchmod(fd, base->mode) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(to_dir, to, AT_REMOVEDIR);
	return r;
}

int ward_content_same(int dir, const char *name, int dir2, const char *name2, mode_t type)
{
	char a[PATH_MAX], b[PATH_MAX];
	if (S_ISLNK(type)) {
		ssize_t n = readlinkat(dir, name, a, sizeof(a));
		ssize_t m = readlinkat(dir2, name2, b, sizeof(b));
		return n >= 0 && n == m && memcmp(a, b, (size_t)n) == 0;
	}
	ward_cleanup_fd int fd = open_regular(dir, name);
	ward_cleanup_fd int fd2 = fd < 0 ? -1 : open_regular(dir2, name2);
	return fd < 0 ? fd : fd2 < 0 ? fd2 : ward_host_same_content(fd, fd2, 0);
}

/* At most PIECE bytes, up to where the file ended as it was opened. */
static int read_piece(int fd, uint8_t buf[PIECE], off_t off, off_t size, size_t *ret)
{
	const size_t want = size - off < (off_t)PIECE ? (size_t)(size - off) : PIECE;
	*ret = 0;
	while (*ret < want) {
		const ssize_t n = pread(fd, buf + *ret, want - *ret, off + (off_t)*ret);
		if (n == 0)
			break;
		if (n < 0 && errno != EINTR)
			return -errno;
		*ret += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int digest_whole(int fd, off_t size, uint8_t buf[PIECE], uint8_t ret[DIGEST_BYTES])
{
	struct sha256_ctx hash;
	size_t n = PIECE;
	sha256_init(&hash);
	for (off_t off = 0; n == PIECE && off < size; off += PIECE) {
		int r = read_piece(fd, buf, off, size, &n);
		if (r < 0)
			return r;
		sha256_update(&hash, n, buf);
	}
	sha256_digest(&hash, DIGEST_BYTES, ret);
	return 0;
}

static void hash_number(uint64_t n, struct sha512_ctx *hash)
{
	const uint64_t le = htole64(n);
	sha512_256_update(hash, sizeof(le), (const uint8_t *)&le);
}

/* The size, then each piece that is not zeros with its place and length. */
static int digest_pieces(int fd, off_t size, uint8_t buf[PIECE], uint8_t ret[DIGEST_BYTES])
{
	static const uint8_t zeros[PIECE];
	struct sha512_ctx hash;
	sha512_256_init(&hash);
	hash_number((uint64_t)size, &hash);
	for (off_t off = 0; off < size; off += PIECE) {
		const off_t data = lseek(fd, off, SEEK_DATA);
		size_t n;
		if (data < 0 && errno == ENXIO)
			break;
		if (data > off)
			off = data - data % PIECE;
		int r = read_piece(fd, buf, off, size, &n);
		if (r < 0)
			return r;
		if (memcmp(buf, zeros, n) == 0)
			continue;
		hash_number((uint64_t)off, &hash);
		hash_number(n, &hash);
		sha512_256_update(&hash, n, buf);
	}
	sha512_256_digest(&hash, DIGEST_BYTES, ret);
	return 0;
}

static int digest_open(int fd, off_t size, uint8_t ret[DIGEST_BYTES])
{
	ward_cleanup_free uint8_t *buf = malloc(PIECE);
	if (!buf)
		return -ENOMEM;
	return size > WARD_CONTENT_WHOLE_MAX ? digest_pieces(fd, size, buf, ret)
					     : digest_whole(fd, size, buf, ret);
}

/* attributes: NULL, or theirs. */
static int digest_file(int dir, const char *name, uint8_t ret[DIGEST_BYTES], char *attributes)
{
	ward_cleanup_fd int fd = ward_content_open(dir, name);
	struct stat st;
	if (fd < 0)
		return fd == -EINVAL || fd == -ELOOP ? -ESTALE : fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ESTALE;
	int r = digest_open(fd, st.st_size, ret);
	return r == 0 && attributes ? ward_content_copy_attributes(fd, -1, attributes) : r;
}

static void to_text(const uint8_t digest[DIGEST_BYTES], char ret[WARD_REVIEW_DIGEST_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < DIGEST_BYTES; i++) {
		ret[2 * i] = digits[digest[i] >> 4];
		ret[2 * i + 1] = digits[digest[i] & 15];
	}
	ret[2 * DIGEST_BYTES] = '\0';
}

static int digest_any(
	int dir, const char *name, mode_t type, char ret[WARD_REVIEW_DIGEST_SIZE], char *attributes)
{
	uint8_t digest[DIGEST_BYTES];
	char to[PATH_MAX];
	int r = 0;
	if (S_ISREG(type)) {
		r = digest_file(dir, name, digest, attributes);
	} else if (S_ISLNK(type)) {
		struct sha256_ctx hash;
		ssize_t n = readlinkat(dir, name, to, sizeof(to));
		r = n < 0 ? (errno == EINVAL ? -ESTALE : -errno) : 0;
		sha256_init(&hash);
		if (n >= 0)
			sha256_update(&hash, (size_t)n, (const uint8_t *)to);
		sha256_digest(&hash, sizeof(digest), digest);
	} else {
		memcpy(ret, "-", 2);
		return 0;
	}
	if (r < 0)
		return r;
	to_text(digest, ret);
	return 0;
}

int ward_content_digest(int dir, const char *name, mode_t type, char ret[WARD_REVIEW_DIGEST_SIZE])
{
	return digest_any(dir, name, type, ret, NULL);
}

int ward_content_digest_all(
	int dir, const char *name, mode_t type, struct ward_content_digests *ret)
{
	ret->attributes[0] = '\0';
	if (S_ISDIR(type)) {
		ward_cleanup_fd int fd = open_dir(dir, name);
		memcpy(ret->content, "-", 2);
		return fd < 0 ? 0 : ward_content_copy_attributes(fd, -1, ret->attributes);
	}
	return digest_any(dir, name, type, ret->content, ret->attributes);
}
