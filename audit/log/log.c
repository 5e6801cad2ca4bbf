/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the segments of a trail as one text. */
#include "audit/log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/log/frames.h"
#include "audit/log/segments.h"
#include "enforcer/base/cleanup.h"

struct part {
	unsigned number;
	int fd;
	bool borrowed;
	bool packed;
	uint64_t from; /* in the text */
	uint64_t size; /* of its text; of the last one if it is plain: it can grow */
	struct ward_frames frames;
};

struct ward_log {
	int dir_fd; /* -1: a single file */
	struct part *v;
	size_t n;
	/* the frame in hand */
	const struct part *part;
	size_t frame;
	char *text;
};

/* Its size as it is now. */
static int measure(struct part *p)
{
	struct stat st;
	if (p->packed)
		return 0;
	if (fstat(p->fd, &st) < 0)
		return -errno;
	p->size = (uint64_t)st.st_size;
	return 0;
}

static void close_part(struct part *p)
{
	if (p->fd >= 0 && !p->borrowed)
		close(p->fd);
	ward_frames_clear(&p->frames);
}

static int find_frames(struct part *p)
{
	int r = p->packed ? ward_frames_find(p->fd, &p->frames) : 0;
	if (r == 0 && p->packed)
		p->size = p->frames.size;
	return r;
}

/* The plain one; the other if there is none, also where it was compressed just now. */
static int open_part(int dir_fd, unsigned number, struct part *ret)
{
	struct part p = {.number = number, .fd = -1};
	int r = ward_segment_open(dir_fd, number, false, &p.fd);
	p.packed = r == -ENOENT;
	if (p.packed)
		r = ward_segment_open(dir_fd, number, true, &p.fd);
	if (r == 0)
		r = find_frames(&p);
	if (r < 0) {
		close_part(&p);
		return r;
	}
	*ret = p;
	return 0;
}

/*
 * Up to number `last`. One that changes its name while a directory is read can be missed there
 * under both, so each is tried: the compressed one is there before the plain one goes.
 */
static int open_parts(struct ward_log *l, unsigned last)
{
	size_t cap = 0;
	for (unsigned number = 1; number <= last; number++) {
		struct part p;
		int r = open_part(l->dir_fd, number, &p);
		if (r == -ENOENT)
			continue;
		if (r < 0)
			return r;
		if (l->n == cap) {
			cap = cap ? 2 * cap : 4;
			struct part *v = reallocarray(l->v, cap, sizeof(*v));
			if (!v) {
				close_part(&p);
				return -ENOMEM;
			}
			l->v = v;
		}
		l->v[l->n++] = p;
	}
	return l->n > 0 ? 0 : -ENOENT;
}

static int fill(struct ward_log *l, unsigned last)
{
	int r = open_parts(l, last);
	/*
	 * From the end: where something is in a segment nothing follows in the one before. One that
	 * was made for a writer that did not begin it yet does not count.
	 */
	for (size_t i = l->n; r == 0 && i-- > 0;) {
		r = measure(&l->v[i]);
		if (r == 0 && l->v[i].size == 0 && i > 0 && i + 1 == l->n) {
			close_part(&l->v[i]);
			l->n--;
		}
	}
	for (size_t i = 1; i < l->n; i++)
		l->v[i].from = l->v[i - 1].from + l->v[i - 1].size;
	return r;
}

int ward_log_open(int dir_fd, struct ward_log **ret)
{
	ward_cleanup_free struct ward_segment *s = NULL;
	size_t n = 0;
	int r = ward_segments_list(dir_fd, &s, &n);
	if (r < 0 || n == 0)
		return r < 0 ? r : -ENOENT;
	struct ward_log *l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->dir_fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = l->dir_fd < 0 ? -errno : fill(l, s[n - 1].number);
	if (r < 0) {
		ward_log_close(l);
		return r;
	}
	*ret = l;
	return 0;
}

int ward_log_open_file(int fd, struct ward_log **ret)
{
	struct ward_log *l = calloc(1, sizeof(*l));
	struct part *p = calloc(1, sizeof(*p));
	if (!l || !p) {
		free(l);
		free(p);
		return -ENOMEM;
	}
	*p = (struct part){.number = 1, .fd = fd, .borrowed = true, .packed = ward_frames_are(fd)};
	*l = (struct ward_log){.dir_fd = -1, .v = p, .n = 1};
	int r = find_frames(p);
	if (r < 0) {
		ward_log_close(l);
		return r;
	}
	*ret = l;
	return 0;
}

int ward_log_open_files(const struct ward_log_file *files, size_t n, struct ward_log **ret)
{
	struct ward_log *l = calloc(1, sizeof(*l));
	struct part *v = calloc(n, sizeof(*v));
	if (!l || !v) {
		free(l);
		free(v);
		return -ENOMEM;
	}
	*l = (struct ward_log){.dir_fd = -1, .v = v};
	int r = 0;
	for (size_t i = 0; r == 0 && i < n; i++) {
		v[i] = (struct part){.number = files[i].number,
			.fd = files[i].fd,
			.borrowed = true,
			.packed = files[i].packed};
		l->n++;
		r = find_frames(&v[i]);
		if (r == 0)
			r = measure(&v[i]);
		if (i > 0)
			v[i].from = v[i - 1].from + v[i - 1].size;
	}
	if (r < 0)
		ward_log_close(l);
	else
		*ret = l;
	return r;
}

void ward_log_close(struct ward_log *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++)
		close_part(&l->v[i]);
	if (l->dir_fd >= 0)
		close(l->dir_fd);
	free(l->v);
	free(l->text);
	free(l);
}

void ward_log_closep(struct ward_log **l)
{
	ward_log_close(*l);
}

/* --- reading --- */

/* A further segment that something is in. 1: found. */
static int grow(struct ward_log *l)
{
	struct part *last = &l->v[l->n - 1];
	struct part next;
	if (l->dir_fd < 0 || last->number == WARD_SEGMENTS_MAX)
		return 0;
	int r = open_part(l->dir_fd, last->number + 1, &next);
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = measure(&next);
	if (r < 0 || next.size == 0) {
		if (r == 0)
			close_part(&next);
		return r;
	}
	/* Now nothing follows in the last one. */
	r = measure(last);
	struct part *v = r < 0 ? NULL : reallocarray(l->v, l->n + 1, sizeof(*v));
	if (!v) {
		close_part(&next);
		return r < 0 ? r : -ENOMEM;
	}
	/* Frames in hand are known by where their segment was. */
	l->part = NULL;
	l->v = v;
	next.from = v[l->n - 1].from + v[l->n - 1].size;
	v[l->n++] = next;
	return 1;
}

/* The last part that begins at or before. */
static struct part *part_at(const struct ward_log *l, uint64_t at)
{
	size_t low = 0;
	for (size_t high = l->n; high - low > 1;) {
		size_t mid = low + (high - low) / 2;
		if (l->v[mid].from <= at)
			low = mid;
		else
			high = mid;
	}
	return &l->v[low];
}

static ssize_t read_packed(
	struct ward_log *l, const struct part *p, void *buf, size_t n, uint64_t at)
{
	size_t low = 0;
	if (at >= p->size)
		return 0;
	for (size_t high = p->frames.n; high - low > 1;) {
		size_t mid = low + (high - low) / 2;
		if (p->frames.v[mid].text <= at)
			low = mid;
		else
			high = mid;
	}
	const struct ward_frame *f = &p->frames.v[low];
	if (l->part != p || l->frame != low) {
		if (!l->text && !(l->text = malloc(WARD_FRAME_TEXT_MAX)))
			return -ENOMEM;
		l->part = NULL;
		int r = ward_frames_text(p->fd, f, l->text);
		if (r < 0)
			return r;
		l->part = p;
		l->frame = low;
	}
	size_t have = f->text_len - (size_t)(at - f->text);
	n = n < have ? n : have;
	memcpy(buf, l->text + (at - f->text), n);
	return (ssize_t)n;
}

static ssize_t read_part(struct ward_log *l, struct part *p, void *buf, size_t n, uint64_t at)
{
	if (p->packed)
		return read_packed(l, p, buf, n, at);
	/* Only the last one can have more than what was seen. */
	bool last = p == &l->v[l->n - 1];
	if (!last && at >= p->size)
		return 0;
	if (!last && n > p->size - at)
		n = (size_t)(p->size - at);
	for (;;) {
		ssize_t got = pread(p->fd, buf, n, (off_t)at);
		if (got >= 0 || errno != EINTR)
			return got < 0 ? -errno : got;
	}
}

ssize_t ward_log_read(struct ward_log *l, void *buf, size_t n, uint64_t at)
{
	for (;;) {
		struct part *p = part_at(l, at);
		ssize_t got = read_part(l, p, buf, n, at - p->from);
		if (got != 0 || n == 0)
			return got;
		/* Short of its size: something cut it while we read. */
		if (p != &l->v[l->n - 1])
			return 0;
		int r = grow(l);
		if (r <= 0)
			return r;
	}
}

int ward_log_size(struct ward_log *l, uint64_t *ret)
{
	int r = 0;
	do {
		r = grow(l);
	} while (r == 1);
	struct part *last = &l->v[l->n - 1];
	if (r == 0)
		r = measure(last);
	if (r == 0)
		*ret = last->from + last->size;
	return r;
}

bool ward_log_has_writer(struct ward_log *l)
{
	uint64_t size = 0;
	(void)!ward_log_size(l, &size);
	int fd = l->v[l->n - 1].fd;
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		return errno == EWOULDBLOCK;
	(void)flock(fd, LOCK_UN);
	return false;
}

unsigned ward_log_place(const struct ward_log *l, uint64_t *at)
{
	const struct part *p = part_at(l, *at);
	*at -= p->from;
	return l->dir_fd < 0 ? 0 : p->number;
}

unsigned ward_log_missing(const struct ward_log *l)
{
	for (size_t i = 0; i < l->n && l->dir_fd >= 0; i++)
		if (l->v[i].number != i + 1)
			return (unsigned)i + 1;
	return 0;
}

unsigned ward_log_cut(const struct ward_log *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].packed && l->v[i].frames.cut)
			return l->v[i].number;
	return 0;
}

int ward_log_file(struct ward_log *l, size_t i, struct ward_log_file *ret)
{
	if (i >= l->n)
		return -ENOENT;
	const struct part *p = &l->v[i];
	*ret = (struct ward_log_file){.number = p->number,
		.packed = p->packed,
		.fd = p->fd,
		.from = p->from,
		.size = p->size};
	return 0;
}
