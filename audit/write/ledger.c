/* SPDX-License-Identifier: Apache-2.0 */
/* Appends lines to the ledger of the host. */
#include "audit/write/ledger.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"

/* Longer than a ledger of a million entries is read. */
#define LOCK_S 8U

/* Two whole entries are shorter than this. More is read only if the end is damaged. */
#define TAIL_BYTES 4096U
/* So many entries of sessions may follow before an end waits until their checkpoints are on disk.
 */
#define UNSYNCED_MAX 64U

void ward_ledger_keys_derive(
	const uint8_t root[WARD_KEY_BYTES], const char *session, struct ward_ledger_keys *ret)
{
	ward_chain_derive(root, "wardfs ledger start", session, ret->start);
	ward_chain_derive(root, "wardfs ledger end", session, ret->end);
	ward_chain_derive(root, "wardfs ledger torn", session, ret->torn);
}

/* Where the ledger ends, as the next entry needs it. */
struct tail {
	uint64_t seq;
	uint8_t mac[WARD_MAC_BYTES];
	off_t whole; /* bytes up to the last newline */
	off_t size;
	struct ward_ledger_tree tree;
};

/* Reads the last `size` bytes of the file, or all if it is shorter. *ret_from: where they begin. */
static int read_end(int fd, off_t file, char *text, size_t size, off_t *ret_from, size_t *ret_len)
{
	off_t from = file > (off_t)size ? file - (off_t)size : 0;
	size_t len = 0;
	while (len < (size_t)(file - from)) {
		ssize_t n = pread(fd, text + len, (size_t)(file - from) - len, from + (off_t)len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		len += (size_t)n;
	}
	*ret_from = from;
	*ret_len = len;
	return 0;
}

/* *ret: behind the last newline of the file; 0: there is none. */
static int whole_of(int fd, off_t size, off_t *ret)
{
	char text[TAIL_BYTES];
	const char *newline = NULL;
	while (size > 0 && !newline) {
		off_t from = 0;
		size_t len = 0;
		int r = read_end(fd, size, text, sizeof(text), &from, &len);
		if (r < 0)
			return r;
		newline = memrchr(text, '\n', len);
		size = newline ? from + (newline - text) + 1 : from;
	}
	*ret = size;
	return 0;
}

/* From the last `size` bytes of what is whole. *ret_more: that may be too little. */
static int look_at_end(int fd, size_t size, struct tail *t, bool *ret_more)
{
	off_t from = 0;
	size_t len = 0;
	struct ward_line l;
	ward_cleanup_free char *text = malloc(size);
	int r = text ? read_end(fd, t->whole, text, size, &from, &len) : -ENOMEM;
	if (r < 0 || len == 0)
		return r;
	const char *before = memrchr(text, '\n', len - 1);
	const char *line = before ? before + 1 : text;
	*ret_more = !before && from > 0;
	/* This code does not judge a damaged last line: verify finds it. The chain starts over
	 * behind it. */
	if (ward_line_parse(line, (size_t)(text + len - 1 - line), &l) == 0) {
		t->seq = l.seq;
		memcpy(t->mac, l.mac, sizeof(t->mac));
	}
	return 0;
}

static int read_tail(int fd, struct tail *ret)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return -errno;
	struct tail t = {.size = st.st_size};
	bool more = false;
	int r = whole_of(fd, t.size, &t.whole);
	if (r == 0)
		r = look_at_end(fd, TAIL_BYTES, &t, &more);
	if (r == 0 && more) {
		t = (struct tail){.size = t.size, .whole = t.whole};
		r = look_at_end(fd, (size_t)2 * WARD_LINE_MAX, &t, &more);
	}
	if (r == 0)
		*ret = t;
	return r;
}

static void begin_entry(struct ward_buf *b, struct tail *t, const char *session, const char *kind)
{
	ward_buf_puts(b, "{\"v\":1,\"seq\":");
	ward_put_u64(b, ++t->seq);
	ward_buf_printf(b, ",\"session\":\"%s\",\"kind\":\"%s\",\"time\":", session, kind);
	ward_put_time(b, ward_clock_real_ns());
	/* Who cuts checkpoints off cuts what this says off, too, or is found out. */
	if (t->tree.synced > 0) {
		ward_buf_puts(b, ",\"covered\":");
		ward_put_u64(b, t->tree.synced);
	}
}

static void put_torn(struct ward_buf *b, struct tail *t, const char *session,
	const struct ward_ledger_keys *keys)
{
	size_t start = b->len;
	begin_entry(b, t, session, "torn");
	ward_buf_puts(b, ",\"bytes\":");
	ward_put_u64(b, (uint64_t)(t->size - t->whole));
	ward_chain_seal(keys->torn, t->mac, b, start);
}

static void put_signed(struct ward_buf *b, const char *key, const char *checkpoint)
{
	ward_buf_printf(b, ",\"key\":\"%s\",\"checkpoint\":", key);
	ward_escape_json(b, checkpoint, strlen(checkpoint));
}

static void put_start(struct ward_buf *b, struct tail *t, const char *session,
	const struct ward_ledger_keys *keys, const struct ward_ledger_start *begin)
{
	size_t start = b->len;
	begin_entry(b, t, session, "start");
	put_signed(b, begin->key, begin->checkpoint);
	if (begin->keep_s) {
		ward_buf_puts(b, ",\"keep\":");
		ward_put_u64(b, begin->keep_s);
	}
	ward_chain_seal(keys->start, t->mac, b, start);
}

static void put_end(struct ward_buf *b, struct tail *t, const char *session,
	const struct ward_ledger_keys *keys, const struct ward_ledger_end *end)
{
	size_t start = b->len;
	begin_entry(b, t, session, "end");
	ward_buf_puts(b, ",\"records\":");
	ward_put_u64(b, end->records);
	ward_buf_puts(b, ",\"bytes\":");
	ward_put_u64(b, end->bytes);
	ward_buf_puts(b, ",\"last\":\"");
	ward_put_hex(b, end->last, sizeof(end->last));
	ward_buf_printf(b, "\",\"verdict\":\"%s\",\"cause\":", end->verdict);
	ward_escape_json(b, end->cause, strlen(end->cause));
	put_signed(b, end->key, end->checkpoint);
	ward_chain_seal(keys->end, t->mac, b, start);
}

/* What one append needs. */
struct append {
	const struct ward_ledger_files *f;
	const struct ward_tlog_key *sign;
	struct tail t;
	struct ward_buf b; /* the entries */
};

/* Reads the end and removes what is left of an unfinished line; the entries that follow go to b. */
static int begin(struct append *a, const char *session, const struct ward_ledger_keys *keys)
{
	struct tail *t = &a->t;
	int r = read_tail(a->f->fd, t);
	if (r == 0)
		r = ward_ledger_tree_load(a->f, (uint64_t)t->whole, &a->sign->pub, &t->tree);
	/* The last line is the one that the tree ends with: else something was cut or damaged. */
	if (r == 0 && t->tree.good && t->seq != t->tree.tree.n)
		t->tree.good = false;
	if (r < 0 || t->whole == t->size)
		return r;
	if (ftruncate(a->f->fd, t->whole) < 0)
		return -errno;
	put_torn(&a->b, t, session, keys);
	return 0;
}

/*
 * Takes back what a full disk left of entries that the caller hears have failed. With something
 * torn before them it stays: the next append then tells of it.
 */
static int write_entries(struct append *a)
{
	int r = ward_fd_write_all(a->f->fd, a->b.data, a->b.len);
	if (r < 0 && a->t.whole == a->t.size && ftruncate(a->f->fd, a->t.whole) < 0)
		return -errno;
	return r;
}

/* To disk; and the checkpoint: `sync`, to disk as well. */
static int commit(struct append *a, bool sync)
{
	int r = ward_buf_error(&a->b);
	if (r == 0)
		r = write_entries(a);
	if (r == 0 && fdatasync(a->f->fd) < 0)
		r = -errno;
	if (r < 0 || !a->t.tree.good)
		return r;
	ward_ledger_tree_add(&a->t.tree, a->b.data, a->b.len);
	return ward_ledger_tree_sign(a->f, &a->t.tree, a->sign, sync);
}

/* The ledger is the caller's own: what others append now is soon done. */
static int lock(const struct ward_ledger_files *f, struct ward_err *err)
{
	while (flock(f->fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return ward_err_sys(err, -errno, "ledger: lock");
	return 0;
}

int ward_ledger_append(const struct ward_ledger_files *f, const struct ward_tlog_key *sign,
	const char *session, const struct ward_ledger_keys *keys,
	const struct ward_ledger_start *start, const struct ward_ledger_end *end,
	struct ward_err *err)
{
	struct append a = {.f = f, .sign = sign, .b = WARD_BUF_INIT};
	int r = lock(f, err);
	if (r < 0)
		return r;
	r = begin(&a, session, keys);
	if (r == 0 && end)
		put_end(&a.b, &a.t, session, keys, end);
	else if (r == 0)
		put_start(&a.b, &a.t, session, keys, start);
	/* A command waits for its start; its end can wait for the disk once in many times. */
	const struct ward_ledger_tree *tree = &a.t.tree;
	if (r == 0)
		r = commit(&a,
			end && (tree->synced == 0 || tree->tree.n - tree->synced >= UNSYNCED_MAX));
	(void)flock(f->fd, LOCK_UN);
	ward_buf_clear(&a.b);
	return r < 0 ? ward_err_sys(err, r, "ledger") : 0;
}

#define HOST "host"

static int note_locked(struct append *a, const uint8_t root[WARD_KEY_BYTES], const char *session,
	const char *kind, const char *members)
{
	struct ward_ledger_keys keys;
	uint8_t key[WARD_KEY_BYTES];
	char label[64];
	ward_ledger_keys_derive(root, session, &keys);
	int r = begin(a, session, &keys);
	if (r == 0) {
		size_t start = a->b.len;
		begin_entry(&a->b, &a->t, session, kind);
		ward_buf_puts(&a->b, members);
		snprintf(label, sizeof(label), "wardfs ledger %s", kind);
		ward_chain_derive(root, label, session, key);
		ward_chain_seal(key, a->t.mac, &a->b, start);
		r = commit(a, true);
	}
	ward_chain_wipe(&keys, sizeof(keys));
	ward_chain_wipe(key, sizeof(key));
	return r;
}

int ward_ledger_lock(int fd, int op, struct ward_err *err)
{
	int r = ward_fd_lock(fd, op, LOCK_S);
	if (r == -EBUSY)
		return ward_err_set(err, r,
			"ledger: another process has held its lock for %u s; 'lslocks' names it. Try "
			"again when it has ended",
			LOCK_S);
	return r < 0 ? ward_err_sys(err, r, "ledger: lock") : 0;
}

static int note(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *session, const char *kind, const char *members, struct ward_err *err)
{
	struct ward_tlog_key sign;
	struct append a = {.f = f, .sign = &sign, .b = WARD_BUF_INIT};
	int r = ward_ledger_lock(f->fd, LOCK_EX, err);
	if (r < 0)
		return r;
	ward_tlog_key_derive(root, &sign);
	r = note_locked(&a, root, session, kind, members);
	(void)flock(f->fd, LOCK_UN);
	ward_chain_wipe(&sign, sizeof(sign));
	ward_buf_clear(&a.b);
	return r < 0 ? ward_err_sys(err, r, "ledger") : 0;
}

int ward_ledger_checkpoint(
	const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES], struct ward_err *err)
{
	struct ward_tlog_key sign;
	struct tail t = {0};
	int r = ward_ledger_lock(f->fd, LOCK_EX, err);
	if (r < 0)
		return r;
	ward_tlog_key_derive(root, &sign);
	r = read_tail(f->fd, &t);
	if (r == 0)
		r = ward_ledger_tree_load(f, (uint64_t)t.whole, &sign.pub, &t.tree);
	if (r == 0 && (!t.tree.good || t.seq != t.tree.tree.n))
		r = -EBADMSG;
	if (r == 0 && t.tree.covered < t.tree.tree.n)
		r = ward_ledger_tree_sign(f, &t.tree, &sign, true);
	(void)flock(f->fd, LOCK_UN);
	ward_chain_wipe(&sign, sizeof(sign));
	if (r == -EBADMSG)
		return ward_err_set(err, r,
			"the ledger differs from what its last checkpoint covers; run 'wardfs "
			"audit verify --all'");
	return r < 0 ? ward_err_sys(err, r, "ledger") : 0;
}

void ward_ledger_rotate_text(struct ward_buf *b, const char *from, const char *to)
{
	ward_buf_printf(b, "wardfs/rotate\n%s\n%s\n", from, to);
}

int ward_ledger_rotate(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *from, const char *to, const char *signature, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(
		&b, ",\"from\":\"%s\",\"to\":\"%s\",\"signature\":\"%s\"", from, to, signature);
	return note(f, root, HOST, "rotate", ward_buf_str(&b), err);
}

int ward_ledger_key(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *kind, const char *key, uint32_t by, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, ",\"key\":\"%s\",\"by\":%u", key, by);
	return note(f, root, HOST, kind, ward_buf_str(&b), err);
}

int ward_ledger_read(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *session, const char *verb, uint32_t by, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, ",\"verb\":\"%s\",\"by\":%u", verb, by);
	return note(f, root, session, "read", ward_buf_str(&b), err);
}

int ward_ledger_question(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *verb, const char *text, uint32_t by, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	size_t len = strnlen(text, WARD_LEDGER_QUESTION_MAX);
	ward_buf_printf(&b, ",\"verb\":\"%s\",\"question\":", verb);
	ward_escape_json(&b, text, len);
	ward_buf_printf(&b, ",\"by\":%u", by);
	return note(f, root, HOST, "question", ward_buf_str(&b), err);
}

void ward_ledger_gone_text(struct ward_buf *b, const char *kind, const char *session,
	uint64_t records, const uint8_t last[WARD_MAC_BYTES])
{
	ward_buf_printf(b, "wardfs/%s/%s\n%llu\n", kind, session, (unsigned long long)records);
	ward_put_hex(b, last, WARD_MAC_BYTES);
	ward_buf_putc(b, '\n');
}

static void put_reason(struct ward_buf *b, const char *reason)
{
	ward_buf_puts(b, ",\"reason\":");
	ward_escape_json(b, reason, strnlen(reason, WARD_LEDGER_REASON_MAX));
}

int ward_ledger_hold(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *session, const char *kind, const char *reason, uint32_t by,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	put_reason(&b, reason);
	ward_buf_printf(&b, ",\"by\":%u", by);
	return note(f, root, session, kind, ward_buf_str(&b), err);
}

int ward_ledger_removed(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *session, uint64_t records, const char *key, const char *signature,
	const char *reason, uint32_t by, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, ",\"records\":%llu", (unsigned long long)records);
	if (reason)
		put_reason(&b, reason);
	ward_buf_printf(&b, ",\"by\":%u,\"key\":\"%s\",\"signature\":\"%s\"", by, key, signature);
	return note(f, root, session, "removed", ward_buf_str(&b), err);
}

int ward_ledger_expired(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *session, uint64_t records, const char *key, const char *signature,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, ",\"records\":%llu,\"key\":\"%s\",\"signature\":\"%s\"",
		(unsigned long long)records, key, signature);
	return note(f, root, session, "expired", ward_buf_str(&b), err);
}

int ward_ledger_review(const struct ward_ledger_files *f, const uint8_t root[WARD_KEY_BYTES],
	const char *session, const struct ward_ledger_review *w, uint32_t by, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, ",\"verb\":\"%s\",\"manifest\":\"%s\",\"changes\":%llu,\"left\":%llu",
		w->verb, w->manifest, (unsigned long long)w->changes, (unsigned long long)w->left);
	if (w->file)
		ward_buf_printf(&b, ",\"file\":%u,\"digest\":\"%s\"", w->file, w->digest);
	ward_buf_printf(&b, ",\"by\":%u", by);
	return note(f, root, session, "review", ward_buf_str(&b), err);
}
