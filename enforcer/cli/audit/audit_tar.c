/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a bundle without unpacking it into a directory. */
#include "enforcer/cli/audit/audit_tar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/log/segments.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

#define BLOCK 512U
/* Segments, policies that came by reloads, and the seven others. */
#define MEMBERS_MAX 20000U

struct member {
	char dir[156], name[101];
	uint64_t size;
};

/* Digits, then NUL or a blank, as bundles have them. */
static bool octal(const char *p, size_t n, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i = 0;
	for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
		v = v << 3 | (uint64_t)(p[i] - '0');
	*ret = v;
	return i > 0 && i < n && (p[i] == '\0' || p[i] == ' ');
}

static bool header_is_good(const char h[BLOCK])
{
	uint64_t said = 0, sum = 0;
	for (size_t i = 0; i < BLOCK; i++)
		sum += i >= 148 && i < 156 ? ' ' : (unsigned char)h[i];
	return memcmp(h + 257, "ustar\00000", 8) == 0 && octal(h + 148, 8, &said) && said == sum;
}

/*
 * Plain files alone, with a name of one component in one directory, whose name stands in front, or
 * in the field for it.
 */
static bool take_header(const char h[BLOCK], struct member *ret)
{
	memcpy(ret->name, h, 100);
	memcpy(ret->dir, h + 345, 155);
	ret->name[100] = ret->dir[155] = '\0';
	char *slash = ret->dir[0] ? NULL : strchr(ret->name, '/');
	if (slash) {
		*slash = '\0';
		memcpy(ret->dir, ret->name, strlen(ret->name) + 1);
		memmove(ret->name, slash + 1, strlen(slash + 1) + 1);
	}
	return header_is_good(h) && h[156] == '0' && octal(h + 124, 12, &ret->size) &&
	       ret->name[0] && !strchr(ret->name, '/') && !strchr(ret->dir, '/');
}

/* The number of the segment with this name. 0: the name is not that of a segment. */
static unsigned segment_of(const char *name, bool *ret_packed)
{
	unsigned number = 1;
	char text[WARD_SEGMENT_NAME_MAX];
	if (sscanf(name, "trail.%6u.", &number) == 1 && (number < 2 || number > WARD_SEGMENTS_MAX))
		return 0;
	for (int packed = 0; packed < 2; packed++) {
		ward_segment_name(text, number, packed);
		if (strcmp(name, text) == 0) {
			*ret_packed = packed;
			return number;
		}
	}
	return 0;
}

/* What may stand behind the end: archives have records of 20 blocks. */
#define PADDING_MAX 65536U

/* "policy", "policy.txt", and "policy.N", as the N-th reload is called. */
static bool is_policy(const char *name)
{
	unsigned number = 0;
	char text[32];
	if (strcmp(name, "policy") == 0 || strcmp(name, "policy.txt") == 0)
		return true;
	if (sscanf(name, "policy.%9u", &number) != 1 || number == 0)
		return false;
	snprintf(text, sizeof(text), "policy.%u", number);
	return strcmp(name, text) == 0;
}

/* A file without a name: on disk where that can be, a trail may be long. */
static int nameless(void)
{
	const char *tmp = getenv("TMPDIR");
	int fd = open(tmp && tmp[0] == '/' ? tmp : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = memfd_create("bundle", MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool is_zero(const char *p, size_t n)
{
	return n > 0 && !p[0] && memcmp(p, p + 1, n - 1) == 0;
}

/* A hole in the bundle stays a hole in the copy: a small file cannot fill disk or memory. */
static int copy_member(int from, uint64_t at, uint64_t size, int *ret)
{
	char buf[65536];
	const uint64_t whole = size;
	ward_cleanup_fd int to = nameless();
	int r = to < 0 ? to : 0;
	while (r == 0 && size > 0) {
		ssize_t n = pread(from, buf, size < sizeof(buf) ? size : sizeof(buf), (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		if (!is_zero(buf, (size_t)n))
			r = ward_fd_write_all(to, buf, (size_t)n);
		else if (lseek(to, n, SEEK_CUR) < 0)
			r = -errno;
		at += (uint64_t)n;
		size -= (uint64_t)n;
	}
	if (r == 0 && (ftruncate(to, (off_t)whole) < 0 || lseek(to, 0, SEEK_SET) < 0))
		r = -errno;
	if (r == 0)
		*ret = ward_steal_fd(&to);
	return r;
}

/* In their order, each once. */
static int add_segment(struct audit_tar *t, unsigned number, bool packed, int fd)
{
	struct ward_log_file *v = reallocarray(t->v, t->n + 1, sizeof(*v));
	if (v)
		t->v = v;
	if (!v || (t->n > 0 && number <= t->v[t->n - 1].number)) {
		close(fd);
		return v ? -EBADMSG : -ENOMEM;
	}
	t->v[t->n++] = (struct ward_log_file){.number = number, .packed = packed, .fd = fd};
	return 0;
}

/* Each once. */
static int add_text(struct audit_tar *t, const char *name, int fd)
{
	struct audit_tar_text *v = reallocarray(t->texts, t->n_texts + 1, sizeof(*v));
	bool twice = false;
	if (v)
		t->texts = v;
	for (size_t i = 0; i < t->n_texts; i++)
		twice |= strcmp(t->texts[i].name, name) == 0;
	if (!v || twice) {
		close(fd);
		return v ? -EBADMSG : -ENOMEM;
	}
	snprintf(v[t->n_texts].name, sizeof(v->name), "%s", name);
	v[t->n_texts++].fd = fd;
	return 0;
}

static int take_member(int fd, uint64_t at, const struct member *m, struct audit_tar *t)
{
	bool packed = false;
	const unsigned number = segment_of(m->name, &packed);
	int *to = strcmp(m->name, "checkpoints") == 0	     ? &t->checkpoints
		  : strcmp(m->name, "attestation.json") == 0 ? &t->attestation
		  : strcmp(m->name, "approvals.json") == 0   ? &t->approvals
		  : strcmp(m->name, "key.chain") == 0	     ? &t->chain
							     : NULL;
	bool *seen = strcmp(m->name, "README") == 0	   ? &t->readme
		     : strcmp(m->name, "public.keys") == 0 ? &t->keys
							   : NULL;
	const bool text = is_policy(m->name);
	int got = -1;
	if (seen) {
		const bool twice = *seen;
		*seen = true;
		return twice ? -EBADMSG : 0;
	}
	if ((!to && !number && !text) || (to && *to >= 0))
		return -EBADMSG;
	int r = copy_member(fd, at, m->size, &got);
	if (r < 0)
		return r;
	if (number)
		return add_segment(t, number, packed, got);
	if (text)
		return add_text(t, m->name, got);
	*to = got;
	return 0;
}

/* An archiver that reads on would find data there that was not verified. */
static int check_end(int fd, uint64_t at, uint64_t size)
{
	char h[BLOCK];
	if (size - at > PADDING_MAX)
		return -EBADMSG;
	for (; at < size; at += BLOCK) {
		const size_t n = size - at < BLOCK ? (size_t)(size - at) : BLOCK;
		if (pread(fd, h, n, (off_t)at) != (ssize_t)n || !is_zero(h, n))
			return -EBADMSG;
	}
	return 0;
}

static int read_members(int fd, uint64_t size, struct audit_tar *t)
{
	char h[BLOCK];
	uint64_t at = 0;
	for (unsigned i = 0; i < MEMBERS_MAX; i++) {
		struct member m;
		if (size - at < BLOCK || pread(fd, h, BLOCK, (off_t)at) != (ssize_t)BLOCK)
			return -EBADMSG;
		if (is_zero(h, BLOCK))
			return t->n > 0 ? check_end(fd, at, size) : -EBADMSG;
		at += BLOCK;
		if (!take_header(h, &m) || m.size > size - at ||
			(i > 0 && strcmp(t->dir, m.dir) != 0))
			return -EBADMSG;
		snprintf(t->dir, sizeof(t->dir), "%s", m.dir);
		int r = take_member(fd, at, &m, t);
		const uint64_t padded = (m.size + BLOCK - 1) / BLOCK * BLOCK;
		if (r < 0 || padded > size - at)
			return r < 0 ? r : -EBADMSG;
		at += padded;
	}
	return -EBADMSG;
}

int audit_tar_read(int fd, const char *path, struct audit_tar *ret, struct ward_err *err)
{
	char h[BLOCK];
	struct stat st;
	if (fstat(fd, &st) < 0)
		return ward_err_sys(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode) || pread(fd, h, BLOCK, 0) != (ssize_t)BLOCK ||
		memcmp(h + 257, "ustar", 5) != 0)
		return 0;
	int r = read_members(fd, (uint64_t)st.st_size, ret);
	if (r == -EBADMSG)
		return ward_err_set(
			err, r, "%s: this archive was changed or cut after wardfs wrote it", path);
	return r < 0 ? ward_err_sys(err, r, "%s", path) : 1;
}

void audit_tar_clear(struct audit_tar *t)
{
	for (size_t i = 0; i < t->n; i++)
		close(t->v[i].fd);
	free(t->v);
	for (size_t i = 0; i < t->n_texts; i++)
		close(t->texts[i].fd);
	free(t->texts);
	if (t->checkpoints >= 0)
		close(t->checkpoints);
	if (t->attestation >= 0)
		close(t->attestation);
	if (t->approvals >= 0)
		close(t->approvals);
	if (t->chain >= 0)
		close(t->chain);
	*t = AUDIT_TAR_INIT;
}
