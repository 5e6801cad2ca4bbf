/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the tree over the ledger's lines, and signs its checkpoints. */
#include "audit/write/ledger_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/format.h"
#include "enforcer/base/zeros.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* The ledger is read in pieces of this size, which hold any line. */
#define PIECE_BYTES ((size_t)2 * WARD_LINE_MAX)

/* The file "ledger.tree": this, and a hash for each bit set in n, from the lowest on. */
struct kept {
	uint64_t n;
	uint64_t offset;
	uint64_t synced;
	uint8_t h[64][WARD_HASH_BYTES];
};
#define KEPT_HEAD offsetof(struct kept, h)

void ward_ledger_files_close(struct ward_ledger_files *f)
{
	const int fds[] = {f->fd, f->notes_fd, f->tree_fd};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*f = WARD_LEDGER_FILES_INIT;
}

static ssize_t read_at(int fd, void *buf, size_t n, uint64_t at)
{
	ssize_t got = 0;
	do {
		got = pread(fd, buf, n, (off_t)at);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* What the file remembers; an empty tree where it makes no sense. */
static void recall(int fd, uint64_t whole, struct ward_ledger_tree *t)
{
	struct kept k;
	size_t i = 0;
	ssize_t got = read_at(fd, &k, sizeof(k), 0);
	if (got < (ssize_t)KEPT_HEAD || k.offset > whole ||
		(size_t)got < KEPT_HEAD + (size_t)__builtin_popcountll(k.n) * WARD_HASH_BYTES)
		return;
	t->tree.n = k.n;
	t->offset = k.offset;
	t->synced = k.synced;
	for (unsigned bit = 0; bit < 64; bit++)
		if (k.n >> bit & 1)
			memcpy(t->tree.h[bit], k.h[i++], WARD_HASH_BYTES);
}

static int remember(int fd, const struct ward_ledger_tree *t)
{
	struct kept k = {.n = t->tree.n, .offset = t->offset, .synced = t->synced};
	size_t n = 0;
	for (unsigned bit = 0; bit < 64; bit++)
		if (k.n >> bit & 1)
			memcpy(k.h[n++], t->tree.h[bit], WARD_HASH_BYTES);
	size_t len = KEPT_HEAD + n * WARD_HASH_BYTES;
	ssize_t put = pwrite(fd, &k, len, 0);
	return put == (ssize_t)len ? 0 : put < 0 ? -errno : -EIO;
}

static void add_line(struct ward_ledger_tree *t, const char *line, size_t len)
{
	uint8_t leaf[WARD_HASH_BYTES];
	ward_merkle_leaf(line, len, leaf);
	ward_merkle_add(&t->tree, leaf);
	t->offset += len + 1;
}

void ward_ledger_tree_add(struct ward_ledger_tree *t, const char *lines, size_t len)
{
	const char *end = lines + len;
	const char *nl = NULL;
	for (; (nl = memchr(lines, '\n', (size_t)(end - lines))); lines = nl + 1)
		add_line(t, lines, (size_t)(nl - lines));
}

/* On to `size` lines (UINT64_MAX: all of them), or to byte `whole`. -EBADMSG: a line is too long.
 */
static int read_on(int fd, uint64_t whole, uint64_t size, struct ward_ledger_tree *t)
{
	ward_cleanup_free char *text = malloc(PIECE_BYTES);
	if (!text)
		return -ENOMEM;
	while (t->tree.n < size && t->offset < whole) {
		uint64_t left = whole - t->offset;
		ssize_t got = read_at(
			fd, text, left < PIECE_BYTES ? (size_t)left : PIECE_BYTES, t->offset);
		if (got <= 0)
			return got < 0 ? (int)got : -EIO;
		const char *line = text, *end = text + got, *nl = NULL;
		for (; t->tree.n < size && (nl = memchr(line, '\n', (size_t)(end - line)));
			line = nl + 1)
			add_line(t, line, (size_t)(nl - line));
		if (line == text)
			return -EBADMSG;
	}
	return 0;
}

static bool root_is(const struct ward_merkle *m, const uint8_t root[WARD_HASH_BYTES])
{
	uint8_t have[WARD_HASH_BYTES];
	ward_merkle_root(m, have);
	return memcmp(have, root, sizeof(have)) == 0;
}

/* As far as the checkpoint, from what t remembers. True if it is the tree of the checkpoint. */
static int reach(int fd, uint64_t whole, const struct ward_tlog_note *last,
	struct ward_ledger_tree *t, bool *ret_same)
{
	int r = t->tree.n > last->size ? 0 : read_on(fd, whole, last->size, t);
	*ret_same = r == 0 && t->tree.n == last->size && root_is(&t->tree, last->root);
	return r == -EBADMSG ? 0 : r;
}

/*
 * The last checkpoint, if `key` signed it. 1: found; 0: the file has none; -EBADMSG: the file has
 * something else.
 */
static int last_note(int fd, const struct ward_note_key *key, struct ward_tlog_note *ret)
{
	char text[WARD_TLOG_TAIL];
	struct stat st;
	uint64_t size = 0;
	if (fstat(fd, &st) < 0)
		return -errno;
	int r = ward_before_zeros_of(fd, (uint64_t)st.st_size, &size);
	if (r < 0)
		return r;
	uint64_t from = size > sizeof(text) ? size - sizeof(text) : 0;
	ssize_t len = read_at(fd, text, (size_t)(size - from), from);
	if (len < 0)
		return (int)len;
	size_t at = 0;
	size_t end = ward_tlog_last(text, (size_t)len, NULL, &at, ret) ? at + ret->len : 0;
	if (end > 0 && (strcmp(ret->origin, key->name) != 0 ||
			       ward_tlog_check(ret, text + at, key, NULL) != WARD_TLOG_GOOD))
		return -EBADMSG;
	/* A crash leaves at most a piece of one note, and zeros. verify reports anything more. */
	bool torn = from + end < (uint64_t)st.st_size && (end > 0 || from == 0) &&
		    ward_tlog_torn(text + end, (size_t)len - end, key);
	if (torn && ftruncate(fd, (off_t)(from + end)) < 0)
		return -errno;
	if (!torn && end != (size_t)len)
		return -EBADMSG;
	return end > 0;
}

int ward_ledger_tree_load(const struct ward_ledger_files *f, uint64_t whole,
	const struct ward_note_key *key, struct ward_ledger_tree *ret)
{
	struct ward_ledger_tree t = {0};
	struct ward_tlog_note last = {0};
	bool same = true;
	int has = last_note(f->notes_fd, key, &last);
	if (has < 0 && has != -EBADMSG)
		return has;
	int r = 0;
	if (has == 1) {
		recall(f->tree_fd, whole, &t);
		r = reach(f->fd, whole, &last, &t, &same);
		if (r == 0 && !same) {
			t = (struct ward_ledger_tree){0};
			r = reach(f->fd, whole, &last, &t, &same);
		}
		t.covered = last.size;
		/* Whatever the file says, no entry lies beyond the last one. */
		t.synced = t.synced < last.size ? t.synced : last.size;
	}
	same = same && has != -EBADMSG;
	if (r == 0 && same)
		r = read_on(f->fd, whole, UINT64_MAX, &t);
	if (r < 0 && r != -EBADMSG)
		return r;
	t.good = same && r == 0;
	*ret = t;
	return 0;
}

int ward_ledger_tree_sign(const struct ward_ledger_files *f, struct ward_ledger_tree *t,
	const struct ward_tlog_key *key, bool sync)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	uint8_t root[WARD_HASH_BYTES];
	struct stat st;
	ward_merkle_root(&t->tree, root);
	ward_tlog_sign(&b, t->tree.n, root, key);
	int r = ward_buf_error(&b);
	if (r < 0)
		return r;
	if (fstat(f->notes_fd, &st) < 0)
		return -errno;
	r = ward_fd_write_all(f->notes_fd, b.data, b.len);
	/* Without room for it: not a piece of one either. */
	if (r < 0 && ftruncate(f->notes_fd, st.st_size) < 0)
		return -errno;
	if (r == 0 && sync && fdatasync(f->notes_fd) < 0)
		r = -errno;
	if (r == 0 && sync)
		t->synced = t->tree.n;
	/* It only saves reading: who comes next finds out whether it is right. */
	if (r == 0)
		(void)!remember(f->tree_fd, t);
	return r;
}
