/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/review/in_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

#define PIECE (64U << 10)
#define NAME 24U

static bool is_link(int dir, const char *name)
{
	struct stat st;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

static void new_name(const char *kept, char ret[NAME])
{
	snprintf(ret, NAME, "%.15s.new", kept);
}

/* A link comes with its name. */
static int to_disk(int dir, const char *name)
{
	if (is_link(dir, name))
		return 0;
	ward_cleanup_fd int fd = ward_fd_open_regular(dir, name, O_RDONLY);
	return fd < 0 ? fd : fsync(fd) < 0 ? -errno : 0;
}

static int names_to_disk(int dir)
{
	ward_cleanup_fd int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

static void drop(const struct ward_swapping *s)
{
	ward_in_place_end(s);
	(void)unlinkat(s->keep, s->kept, 0);
}

/* What it had, and what it is to have: content first, then the names. */
static int both_to_disk(const struct ward_swapping *s, const char *new)
{
	int r = to_disk(s->keep, s->kept);
	if (r == 0)
		r = to_disk(s->keep, new);
	return r < 0 ? r : names_to_disk(s->keep);
}

int ward_in_place_prepare(const struct ward_swapping *s, int from_dir, const char *from,
	const struct ward_review_base *was, struct ward_content_digests *digests)
{
	char new[NAME];
	new_name(s->kept, new);
	drop(s);
	int r = ward_content_copy(s->dir, s->name, S_IFREG, s->keep, s->kept, was);
	if (r == 0)
		r = ward_content_copy_digested(from_dir, from, S_IFREG, s->keep, new, was, digests);
	if (r == 0)
		r = both_to_disk(s, new);
	if (r < 0)
		drop(s);
	return r;
}

int ward_in_place_instead(const struct ward_swapping *s, const struct ward_review_base *was)
{
	const char *name = NULL;
	char new[NAME];
	int dir = ward_swap_ready(s, &name);
	const mode_t type = is_link(dir, name) ? S_IFLNK : S_IFREG;
	new_name(s->kept, new);
	(void)unlinkat(s->keep, new, 0);
	int r = 0;
	if (s->elsewhere)
		r = ward_content_copy(dir, name, type, s->keep, new, was);
	else if (renameat(s->keep, s->kept, s->keep, new) < 0)
		r = -errno;
	/* Elsewhere, a copy of what it had is kept already. */
	if (r == 0 && !s->elsewhere)
		r = ward_content_copy(s->dir, s->name, type, s->keep, s->kept, was);
	if (r == 0)
		r = both_to_disk(s, new);
	if (r == 0 && s->elsewhere)
		(void)unlinkat(dir, name, 0);
	if (r < 0)
		drop(s);
	return r;
}

int ward_in_place_prepare_back(const struct ward_swapping *s)
{
	char new[NAME];
	new_name(s->kept, new);
	(void)unlinkat(s->keep, new, 0);
	const mode_t type = is_link(s->keep, s->kept) ? S_IFLNK : S_IFREG;
	int r = ward_content_copy(s->dir, s->name, type, s->keep, new, NULL);
	if (r == 0)
		r = to_disk(s->keep, new);
	if (r == 0)
		r = names_to_disk(s->keep);
	if (r < 0)
		(void)unlinkat(s->keep, new, 0);
	return r;
}

/* Bytes first, then the end: until then the file has something of both. */
static int write_over(int from, const struct stat *st, int to)
{
	ward_cleanup_free char *buf = malloc(PIECE);
	if (!buf)
		return -ENOMEM;
	for (off_t at = 0; at < st->st_size;) {
		ssize_t n = pread(from, buf, PIECE, at);
		if (n == 0)
			return -EIO;
		if (n > 0)
			n = pwrite(to, buf, (size_t)n, at);
		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? n : 0;
	}
	return ftruncate(to, st->st_size) < 0 ? -errno : 0;
}

static int write_all(int from, int to)
{
	struct stat st, now;
	if (fstat(from, &st) < 0 || fstat(to, &now) < 0)
		return -errno;
	int r = write_over(from, &st, to);
	if (r == 0)
		r = ward_content_set_attributes(from, to);
	if (r == 0 && (now.st_mode & 07777) != (st.st_mode & 07777) &&
		fchmod(to, st.st_mode & 07777) < 0)
		r = -errno;
	if (r == 0 &&
		(futimens(to, (struct timespec[2]){st.st_atim, st.st_mtim}) < 0 || fsync(to) < 0))
		r = -errno;
	return r;
}

static bool is_at(const struct ward_swapping *s, const struct ward_review_base *was)
{
	struct ward_review_base now;
	mode_t type;
	return ward_host_stat_at(s->dir, s->name, &now, &type) == 0 && now.ino == was->ino &&
	       now.dev == was->dev && now.btime_ns == was->btime_ns;
}

int ward_in_place_write(
	const struct ward_swapping *s, const struct ward_review_base *was, bool back)
{
	struct ward_review_base now;
	char new[NAME];
	mode_t type;
	new_name(s->kept, new);
	if (is_link(s->keep, s->kept))
		return ward_in_place_link(s, was, back ? s->kept : new);
	ward_cleanup_fd int to = ward_fd_open_regular(s->dir, s->name, O_RDWR);
	ward_cleanup_fd int had = ward_fd_open_regular(s->keep, s->kept, O_RDONLY);
	ward_cleanup_fd int gets = back ? -1 : ward_fd_open_regular(s->keep, new, O_RDONLY);
	if (to < 0 || had < 0 || (gets < 0 && !back))
		return to < 0 ? to : had < 0 ? had : gets;
	int r = ward_host_stat(to, &now, &type);
	if (r < 0)
		return r;
	/* Going back, it may be half of either. */
	if (now.ino != was->ino || now.dev != was->dev || now.btime_ns != was->btime_ns ||
		(!back && !ward_host_same(&now, was, true)))
		return -ESTALE;
	r = write_all(back ? had : gets, to);
	if (back || (r == 0 && is_at(s, was)))
		return r;
	/* No room, or another file has the name by now. */
	const int again = write_all(had, to);
	return again < 0 ? again : r < 0 ? r : -ESTALE;
}

void ward_in_place_end(const struct ward_swapping *s)
{
	char new[NAME];
	new_name(s->kept, new);
	(void)unlinkat(s->keep, new, 0);
}

int ward_in_place_link_back(const struct ward_swapping *s)
{
	char new[NAME];
	new_name(s->kept, new);
	return is_link(s->keep, s->kept) ? ward_in_place_restore(s, new) : -EINVAL;
}

bool ward_in_place_is_open(int keep, const char *kept)
{
	char new[NAME];
	new_name(kept, new);
	return faccessat(keep, new, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What a copy has there: behind its end are zeros. */
static int read_piece(int fd, off_t at, unsigned char buf[PIECE])
{
	size_t have = 0;
	memset(buf, 0, PIECE);
	while (have < PIECE) {
		const ssize_t n = pread(fd, buf + have, PIECE - have, at + (off_t)have);
		if (n == 0)
			break;
		if (n < 0 && errno != EINTR)
			return -errno;
		have += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int ward_in_place_is_ours(const struct ward_swapping *s)
{
	char new[NAME];
	new_name(s->kept, new);
	ward_cleanup_fd int file = ward_fd_open_regular(s->dir, s->name, O_RDONLY);
	ward_cleanup_fd int had = ward_fd_open_regular(s->keep, s->kept, O_RDONLY);
	ward_cleanup_fd int gets = ward_fd_open_regular(s->keep, new, O_RDONLY);
	ward_cleanup_free unsigned char *buf = malloc(3 * (size_t)PIECE);
	struct stat st;
	if (file < 0 || had < 0 || gets < 0 || !buf)
		return !buf ? -ENOMEM : file < 0 ? file : had < 0 ? had : gets;
	if (fstat(file, &st) < 0)
		return -errno;
	for (off_t at = 0; at < st.st_size; at += PIECE) {
		int r = read_piece(file, at, buf);
		r = r < 0 ? r : read_piece(had, at, buf + PIECE);
		r = r < 0 ? r : read_piece(gets, at, buf + 2 * (size_t)PIECE);
		if (r < 0)
			return r;
		for (size_t i = 0; i < PIECE; i++)
			if (buf[i] != buf[PIECE + i] && buf[i] != buf[2 * (size_t)PIECE + i])
				return 0;
	}
	return 1;
}
