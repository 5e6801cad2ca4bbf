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

/* Two entries of ours are shorter; what a damaged end needs is read when it is there. */
#define TAIL_BYTES 4096U

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
};

/* The end of the file, `size` bytes of it if there are so many: *ret_from is where it begins. */
static int read_end(int fd, off_t file, char *text, size_t size, off_t *ret_from, size_t *ret_len)
{
	off_t from = file > (off_t)size ? file - (off_t)size : 0;
	size_t len = 0;
	while (len < (size_t)(file - from)) {
		ssize_t n = pread(fd, text + len, size - len, from + (off_t)len);
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

/* From what the last `size` bytes of the file hold. *ret_more: that may be too little. */
static int look_at_end(int fd, size_t size, struct tail *t, bool *ret_more)
{
	off_t from = 0;
	size_t len = 0;
	ward_cleanup_free char *text = malloc(size);
	int r = text ? read_end(fd, t->size, text, size, &from, &len) : -ENOMEM;
	if (r < 0)
		return r;
	const char *newline = memrchr(text, '\n', len);
	const char *before = newline ? memrchr(text, '\n', (size_t)(newline - text)) : NULL;
	*ret_more = !before && from > 0;
	t->whole = newline ? from + (newline - text) + 1 : 0;
	if (newline) {
		const char *line = before ? before + 1 : text;
		struct ward_line l;
		/*
		 * A damaged last line is not ours to judge: verify finds it. The chain begins anew
		 * behind it.
		 */
		if (ward_line_parse(line, (size_t)(newline - line), &l) == 0) {
			t->seq = l.seq;
			memcpy(t->mac, l.mac, sizeof(t->mac));
		}
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
	int r = look_at_end(fd, TAIL_BYTES, &t, &more);
	if (r == 0 && more) {
		t = (struct tail){.size = st.st_size};
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

/* Reads the end and removes what is left of an unfinished line; the entries that follow go to b. */
static int begin(int fd, const char *session, const struct ward_ledger_keys *keys, struct tail *ret,
	struct ward_buf *b)
{
	int r = read_tail(fd, ret);
	if (r < 0 || ret->whole == ret->size)
		return r;
	if (ftruncate(fd, ret->whole) < 0)
		return -errno;
	put_torn(b, ret, session, keys);
	return 0;
}

static int commit(int fd, const struct ward_buf *b)
{
	int r = ward_buf_error(b);
	if (r == 0)
		r = ward_fd_write_all(fd, b->data, b->len);
	if (r == 0 && fdatasync(fd) < 0)
		r = -errno;
	return r;
}

static int append_locked(int fd, const char *session, const struct ward_ledger_keys *keys,
	const struct ward_ledger_start *start, const struct ward_ledger_end *end)
{
	struct tail t = {0};
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	int r = begin(fd, session, keys, &t, &b);
	if (r < 0)
		return r;
	if (end)
		put_end(&b, &t, session, keys, end);
	else
		put_start(&b, &t, session, keys, start);
	return commit(fd, &b);
}

int ward_ledger_append(int fd, const char *session, const struct ward_ledger_keys *keys,
	const struct ward_ledger_start *start, const struct ward_ledger_end *end,
	struct ward_err *err)
{
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return ward_err_sys(err, -errno, "ledger: lock");
	int r = append_locked(fd, session, keys, start, end);
	(void)flock(fd, LOCK_UN);
	return r < 0 ? ward_err_sys(err, r, "ledger") : 0;
}

#define HOST "host"

static int note_locked(int fd, const uint8_t root[WARD_KEY_BYTES], const char *session,
	const char *kind, const char *members)
{
	struct tail t = {0};
	struct ward_ledger_keys keys;
	uint8_t key[WARD_KEY_BYTES];
	char label[64];
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_ledger_keys_derive(root, session, &keys);
	int r = begin(fd, session, &keys, &t, &b);
	if (r == 0) {
		size_t start = b.len;
		begin_entry(&b, &t, session, kind);
		ward_buf_puts(&b, members);
		snprintf(label, sizeof(label), "wardfs ledger %s", kind);
		ward_chain_derive(root, label, session, key);
		ward_chain_seal(key, t.mac, &b, start);
		r = commit(fd, &b);
	}
	ward_chain_wipe(&keys, sizeof(keys));
	ward_chain_wipe(key, sizeof(key));
	return r;
}

static int note(int fd, const uint8_t root[WARD_KEY_BYTES], const char *session, const char *kind,
	const char *members, struct ward_err *err)
{
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return ward_err_sys(err, -errno, "ledger: lock");
	int r = note_locked(fd, root, session, kind, members);
	(void)flock(fd, LOCK_UN);
	return r < 0 ? ward_err_sys(err, r, "ledger") : 0;
}

void ward_ledger_rotate_text(struct ward_buf *b, const char *from, const char *to)
{
	ward_buf_printf(b, "wardfs/rotate\n%s\n%s\n", from, to);
}

int ward_ledger_rotate(int fd, const uint8_t root[WARD_KEY_BYTES], const char *from, const char *to,
	const char *signature, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(
		&b, ",\"from\":\"%s\",\"to\":\"%s\",\"signature\":\"%s\"", from, to, signature);
	return note(fd, root, HOST, "rotate", ward_buf_str(&b), err);
}

int ward_ledger_key(int fd, const uint8_t root[WARD_KEY_BYTES], const char *kind, const char *key,
	uint32_t by, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, ",\"key\":\"%s\",\"by\":%u", key, by);
	return note(fd, root, HOST, kind, ward_buf_str(&b), err);
}

int ward_ledger_read(int fd, const uint8_t root[WARD_KEY_BYTES], const char *session,
	const char *verb, uint32_t by, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, ",\"verb\":\"%s\",\"by\":%u", verb, by);
	return note(fd, root, session, "read", ward_buf_str(&b), err);
}

int ward_ledger_question(int fd, const uint8_t root[WARD_KEY_BYTES], const char *verb,
	const char *text, uint32_t by, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	size_t len = strnlen(text, WARD_LEDGER_QUESTION_MAX);
	ward_buf_printf(&b, ",\"verb\":\"%s\",\"question\":", verb);
	ward_escape_json(&b, text, len);
	ward_buf_printf(&b, ",\"by\":%u", by);
	return note(fd, root, HOST, "question", ward_buf_str(&b), err);
}

void ward_ledger_gone_text(struct ward_buf *b, const char *kind, const char *session,
	uint64_t records, const uint8_t last[WARD_MAC_BYTES])
{
	ward_buf_printf(b, "wardfs/%s/%s\n%llu\n", kind, session, (unsigned long long)records);
	ward_put_hex(b, last, WARD_MAC_BYTES);
	ward_buf_putc(b, '\n');
}

int ward_ledger_removed(int fd, const uint8_t root[WARD_KEY_BYTES], const char *session,
	uint64_t records, const char *key, const char *signature, uint32_t by, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, ",\"records\":%llu,\"by\":%u,\"key\":\"%s\",\"signature\":\"%s\"",
		(unsigned long long)records, by, key, signature);
	return note(fd, root, session, "removed", ward_buf_str(&b), err);
}

int ward_ledger_expired(int fd, const uint8_t root[WARD_KEY_BYTES], const char *session,
	uint64_t records, const char *key, const char *signature, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, ",\"records\":%llu,\"key\":\"%s\",\"signature\":\"%s\"",
		(unsigned long long)records, key, signature);
	return note(fd, root, session, "expired", ward_buf_str(&b), err);
}
