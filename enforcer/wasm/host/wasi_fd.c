/* SPDX-License-Identifier: Apache-2.0 */
/* WASI: what is done with a descriptor. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/wasm/host/wasi_own.h"

/* Pieces of one read or write. */
#define PIECES_MAX 64

static uint32_t result(int r)
{
	return r < 0 ? ward_wasi_errno(errno) : 0;
}

/* The descriptor of ours behind fd if it has the right; else -1 and *ret_why. */
static int own(struct ward_wasi *w, uint32_t fd, uint64_t right, uint32_t *ret_why)
{
	const struct ward_wasi_file *f = ward_wasi_fd(w, fd);
	*ret_why = !f ? WASI_BADF : (f->base & right) != right ? WASI_NOTCAPABLE : 0;
	return *ret_why ? -1 : f->fd;
}

/* --- reading and writing --- */

static uint32_t pieces(const struct ward_wasi *w, uint32_t iov, uint32_t n,
	struct iovec ret[PIECES_MAX], int *ret_n)
{
	*ret_n = 0;
	for (uint32_t i = 0; i < n && *ret_n < PIECES_MAX; i++) {
		uint32_t v[2];
		const void *at = ward_wasi_at(w, iov + 8 * i, sizeof(v));
		if (!at)
			return WASI_FAULT;
		memcpy(v, at, sizeof(v));
		void *data = ward_wasi_at(w, v[0], v[1]);
		if (!data)
			return WASI_FAULT;
		if (v[1])
			ret[(*ret_n)++] = (struct iovec){data, v[1]};
	}
	return 0;
}

typedef ssize_t transfer(int fd, const struct iovec *v, int n, off_t at);

static ssize_t at_place_read(int fd, const struct iovec *v, int n, off_t at)
{
	(void)at;
	return readv(fd, v, n);
}

static ssize_t at_place_write(int fd, const struct iovec *v, int n, off_t at)
{
	(void)at;
	return writev(fd, v, n);
}

static uint32_t move(struct ward_wasi *w, uint32_t fd, uint64_t right, uint32_t iov, uint32_t n,
	transfer *how, uint64_t at, uint32_t ret)
{
	struct iovec v[PIECES_MAX];
	int n_pieces;
	uint32_t why;
	int real = own(w, fd, right, &why);
	if (!why)
		why = pieces(w, iov, n, v, &n_pieces);
	if (!why && at > INT64_MAX)
		why = WASI_INVAL;
	if (why)
		return why;
	ssize_t r;
	do
		r = how(real, v, n_pieces, (off_t)at);
	while (r < 0 && errno == EINTR);
	return r < 0 ? ward_wasi_errno(errno) : ward_wasi_put32(w, ret, (uint32_t)r);
}

uint32_t Z_wasi_snapshot_preview1Z_fd_read(
	struct ward_wasi *w, uint32_t fd, uint32_t iov, uint32_t n, uint32_t ret)
{
	return move(w, fd, RIGHT_READ, iov, n, at_place_read, 0, ret);
}

uint32_t Z_wasi_snapshot_preview1Z_fd_write(
	struct ward_wasi *w, uint32_t fd, uint32_t iov, uint32_t n, uint32_t ret)
{
	return move(w, fd, RIGHT_WRITE, iov, n, at_place_write, 0, ret);
}

uint32_t Z_wasi_snapshot_preview1Z_fd_pread(
	struct ward_wasi *w, uint32_t fd, uint32_t iov, uint32_t n, uint64_t at, uint32_t ret)
{
	return move(w, fd, RIGHT_READ | RIGHT_SEEK, iov, n, preadv, at, ret);
}

uint32_t Z_wasi_snapshot_preview1Z_fd_pwrite(
	struct ward_wasi *w, uint32_t fd, uint32_t iov, uint32_t n, uint64_t at, uint32_t ret)
{
	return move(w, fd, RIGHT_WRITE | RIGHT_SEEK, iov, n, pwritev, at, ret);
}

uint32_t Z_wasi_snapshot_preview1Z_fd_seek(
	struct ward_wasi *w, uint32_t fd, uint64_t by, uint32_t whence, uint32_t ret)
{
	static const int ways[] = {SEEK_SET, SEEK_CUR, SEEK_END};
	uint32_t why;
	int real = own(w, fd, RIGHT_SEEK, &why);
	if (!why && whence >= sizeof(ways) / sizeof(ways[0]))
		why = WASI_INVAL;
	if (why)
		return why;
	off_t at = lseek(real, (off_t)by, ways[whence]);
	return at < 0 ? ward_wasi_errno(errno) : ward_wasi_put64(w, ret, (uint64_t)at);
}

uint32_t Z_wasi_snapshot_preview1Z_fd_tell(struct ward_wasi *w, uint32_t fd, uint32_t ret)
{
	return Z_wasi_snapshot_preview1Z_fd_seek(w, fd, 0, 1, ret);
}

/* --- the file behind it --- */

uint32_t Z_wasi_snapshot_preview1Z_fd_advise(
	struct ward_wasi *w, uint32_t fd, uint64_t offset, uint64_t len, uint32_t advice)
{
	uint32_t why;
	(void)own(w, fd, 0, &why);
	(void)offset;
	(void)len;
	return why ? why : advice > 5 ? WASI_INVAL : 0;
}

uint32_t Z_wasi_snapshot_preview1Z_fd_allocate(
	struct ward_wasi *w, uint32_t fd, uint64_t offset, uint64_t len)
{
	uint32_t why;
	int real = own(w, fd, RIGHT_ALLOCATE | RIGHT_WRITE, &why);
	return why ? why : result(fallocate(real, 0, (off_t)offset, (off_t)len));
}

uint32_t Z_wasi_snapshot_preview1Z_fd_datasync(struct ward_wasi *w, uint32_t fd)
{
	uint32_t why;
	int real = own(w, fd, 0, &why);
	return why ? why : result(fdatasync(real));
}

uint32_t Z_wasi_snapshot_preview1Z_fd_sync(struct ward_wasi *w, uint32_t fd)
{
	uint32_t why;
	int real = own(w, fd, 0, &why);
	return why ? why : result(fsync(real));
}

uint32_t ward_wasi_put_stat(const struct ward_wasi *w, uint32_t p, const struct stat *st)
{
	uint64_t v[8] = {st->st_dev, st->st_ino, ward_wasi_type(st->st_mode), st->st_nlink,
		(uint64_t)st->st_size, ward_wasi_ns(st->st_atim), ward_wasi_ns(st->st_mtim),
		ward_wasi_ns(st->st_ctim)};
	void *to = ward_wasi_at(w, p, sizeof(v));
	if (!to)
		return WASI_FAULT;
	memcpy(to, v, sizeof(v));
	return 0;
}

uint32_t Z_wasi_snapshot_preview1Z_fd_filestat_get(struct ward_wasi *w, uint32_t fd, uint32_t ret)
{
	struct stat st;
	uint32_t why;
	int real = own(w, fd, 0, &why);
	if (why)
		return why;
	return fstat(real, &st) < 0 ? ward_wasi_errno(errno) : ward_wasi_put_stat(w, ret, &st);
}

uint32_t Z_wasi_snapshot_preview1Z_fd_filestat_set_size(
	struct ward_wasi *w, uint32_t fd, uint64_t size)
{
	uint32_t why;
	int real = own(w, fd, RIGHT_SET_SIZE | RIGHT_WRITE, &why);
	return why ? why : result(ftruncate(real, (off_t)size));
}

uint32_t Z_wasi_snapshot_preview1Z_fd_filestat_set_times(
	struct ward_wasi *w, uint32_t fd, uint64_t atim, uint64_t mtim, uint32_t flags)
{
	struct timespec t[2];
	uint32_t why;
	int real = own(w, fd, 0, &why);
	if (!why)
		why = ward_wasi_times(atim, mtim, flags, t);
	return why ? why : result(futimens(real, t));
}

/* --- the descriptor itself --- */

uint32_t Z_wasi_snapshot_preview1Z_fd_close(struct ward_wasi *w, uint32_t fd)
{
	struct ward_wasi_file *f = ward_wasi_fd(w, fd);
	if (!f)
		return WASI_BADF;
	int r = f->borrowed ? 0 : close(f->fd);
	*f = (struct ward_wasi_file){.used = false};
	return result(r);
}

uint32_t Z_wasi_snapshot_preview1Z_fd_renumber(struct ward_wasi *w, uint32_t from, uint32_t to)
{
	struct ward_wasi_file *f = ward_wasi_fd(w, from);
	struct ward_wasi_file *t = ward_wasi_fd(w, to);
	if (!f || !t)
		return WASI_BADF;
	if (f == t)
		return 0;
	if (!t->borrowed)
		close(t->fd);
	*t = *f;
	*f = (struct ward_wasi_file){.used = false};
	return 0;
}

uint32_t Z_wasi_snapshot_preview1Z_fd_fdstat_get(struct ward_wasi *w, uint32_t fd, uint32_t ret)
{
	const struct ward_wasi_file *f = ward_wasi_fd(w, fd);
	uint8_t *to = ward_wasi_at(w, ret, 24);
	if (!f || !to)
		return f ? WASI_FAULT : WASI_BADF;
	memset(to, 0, 24);
	to[0] = f->type;
	memcpy(to + 2, &f->flags, 2);
	memcpy(to + 8, &f->base, 8);
	memcpy(to + 16, &f->inheriting, 8);
	return 0;
}

uint32_t Z_wasi_snapshot_preview1Z_fd_fdstat_set_flags(
	struct ward_wasi *w, uint32_t fd, uint32_t flags)
{
	struct ward_wasi_file *f = ward_wasi_fd(w, fd);
	if (!f)
		return WASI_BADF;
	/* append and nonblock: what F_SETFL takes. */
	int set = (flags & 1 ? O_APPEND : 0) | (flags & 4 ? O_NONBLOCK : 0);
	/* Descriptions of 0, 1 and 2 are those of others, too. */
	if (flags & ~5U || f->borrowed)
		return flags & ~5U ? WASI_NOTSUP : WASI_NOTCAPABLE;
	int now = fcntl(f->fd, F_GETFL);
	if (now < 0 || fcntl(f->fd, F_SETFL, (now & ~(O_APPEND | O_NONBLOCK)) | set) < 0)
		return ward_wasi_errno(errno);
	f->flags = (uint16_t)flags;
	return 0;
}

uint32_t Z_wasi_snapshot_preview1Z_fd_fdstat_set_rights(
	struct ward_wasi *w, uint32_t fd, uint64_t base, uint64_t inheriting)
{
	struct ward_wasi_file *f = ward_wasi_fd(w, fd);
	if (!f)
		return WASI_BADF;
	if (base & ~f->base || inheriting & ~f->inheriting)
		return WASI_NOTCAPABLE;
	f->base = base;
	f->inheriting = inheriting;
	return 0;
}

/* prestat: tag 0 (a directory), the length of its path. */
uint32_t Z_wasi_snapshot_preview1Z_fd_prestat_get(struct ward_wasi *w, uint32_t fd, uint32_t ret)
{
	const struct ward_wasi_file *f = ward_wasi_fd(w, fd);
	if (!f || !f->preopen)
		return WASI_BADF;
	return ward_wasi_put64(w, ret, (uint64_t)strlen(f->preopen) << 32);
}

uint32_t Z_wasi_snapshot_preview1Z_fd_prestat_dir_name(
	struct ward_wasi *w, uint32_t fd, uint32_t path, uint32_t len)
{
	const struct ward_wasi_file *f = ward_wasi_fd(w, fd);
	if (!f || !f->preopen)
		return WASI_BADF;
	size_t n = strlen(f->preopen);
	void *to = ward_wasi_at(w, path, len);
	if (!to || n > len)
		return to ? WASI_NAMETOOLONG : WASI_FAULT;
	memcpy(to, f->preopen, n);
	return 0;
}

/* dirent: cookie of the next, inode, length of the name, type; then the name. A last one may be
 * cut: it is asked for again. */
uint32_t Z_wasi_snapshot_preview1Z_fd_readdir(
	struct ward_wasi *w, uint32_t fd, uint32_t buf, uint32_t len, uint64_t cookie, uint32_t ret)
{
	const struct ward_wasi_file *f = ward_wasi_fd(w, fd);
	uint8_t *to = ward_wasi_at(w, buf, len);
	if (!f || !to)
		return f ? WASI_FAULT : WASI_BADF;
	if (!(f->base & RIGHT_READDIR))
		return WASI_NOTCAPABLE;
	int own_fd = ward_preopens_open(f->fd, ".", O_RDONLY | O_DIRECTORY, 0);
	if (own_fd < 0)
		return ward_wasi_errno(-own_fd);
	ward_cleanup_dir DIR *d = fdopendir(own_fd);
	if (!d) {
		close(own_fd);
		return WASI_NOMEM;
	}
	if (cookie)
		seekdir(d, (long)cookie);
	uint32_t used = 0;
	for (const struct dirent *e; used < len && (e = readdir(d));) {
		uint8_t head[24] = {0};
		uint64_t next = (uint64_t)e->d_off, ino = e->d_ino;
		uint32_t n = (uint32_t)strlen(e->d_name);
		memcpy(head, &next, 8);
		memcpy(head + 8, &ino, 8);
		memcpy(head + 16, &n, 4);
		head[20] = ward_wasi_type(DTTOIF(e->d_type));
		uint32_t part = len - used < 24 ? len - used : 24;
		memcpy(to + used, head, part);
		used += part;
		part = len - used < n ? len - used : n;
		memcpy(to + used, e->d_name, part);
		used += part;
	}
	return ward_wasi_put32(w, ret, used);
}
