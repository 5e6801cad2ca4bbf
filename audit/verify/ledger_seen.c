/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads what a reading of the ledger found. */
#include "audit/verify/ledger_seen.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/log/chain.h"
#include "enforcer/base/cleanup.h"

#define HEAD "wardfs ledger seen 4\n"
#define HEAD_LEN (sizeof(HEAD) - 1)
#define BODY (HEAD_LEN + WARD_MAC_BYTES)

int ward_ledger_files_id(int fd, int notes_fd, struct ward_ledger_files_id *ret)
{
	struct stat a, b;
	if (fstat(fd, &a) < 0 || fstat(notes_fd, &b) < 0)
		return -errno;
	*ret = (struct ward_ledger_files_id){{a.st_dev, a.st_ino, b.st_dev, b.st_ino}};
	return 0;
}

static void mac_of(const uint8_t root[WARD_KEY_BYTES], const char *body, size_t len,
	uint8_t ret[WARD_MAC_BYTES])
{
	uint8_t key[WARD_KEY_BYTES];
	ward_chain_derive(root, "wardfs ledger seen", "host", key);
	(void)crypto_generichash(
		ret, WARD_MAC_BYTES, (const unsigned char *)body, len, key, sizeof(key));
	ward_chain_wipe(key, sizeof(key));
}

/* --- writing --- */

/* Seven bits a byte, the lowest first: most numbers are small, and all bytes go through the MAC. */
static void put_number(struct ward_buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		ward_buf_putc(b, (char)(v | 0x80));
	ward_buf_putc(b, (char)v);
}

static void put_text(struct ward_buf *b, const char *text)
{
	const size_t n = text ? strlen(text) : 0;
	put_number(b, n);
	ward_buf_add(b, text, n);
}

/* Flags of a session. */
enum {
	STARTED = 1U << 0,
	ENDED = 1U << 1,
	COMPLETE = 1U << 2,
	EXPIRED = 1U << 3,
	REMOVED = 1U << 4,
	HELD = 1U << 5,
	LOST = 1U << 6,
	CAUSE = 1U << 7, /* there is one, perhaps empty */
	REASON = 1U << 8,
	CHECKPOINT = 1U << 9,
	WHY = 1U << 10, /* a reason of its removal */
};

static uint64_t flags_of(const struct ward_ledger_session *s)
{
	return (s->started ? STARTED : 0U) | (s->ended ? ENDED : 0U) |
	       (s->complete ? COMPLETE : 0U) | (s->expired ? EXPIRED : 0U) |
	       (s->removed ? REMOVED : 0U) | (s->held ? HELD : 0U) | (s->lost ? LOST : 0U) |
	       (s->cause ? CAUSE : 0U) | (s->held_reason ? REASON : 0U) |
	       (s->has_checkpoint ? CHECKPOINT : 0U) | (s->removed_reason ? WHY : 0U);
}

/* `before`: the keys that were written last; most sessions have the same. */
static void put_session(struct ward_buf *b, const struct ward_ledger_session *s,
	const struct ward_ledger_session *before)
{
	const bool same = before && before->n_keys == s->n_keys &&
			  memcmp(before->keys, s->keys, sizeof(s->keys)) == 0;
	put_text(b, s->name);
	put_number(b, flags_of(s));
	put_number(b, s->records);
	put_number(b, s->bytes);
	ward_buf_add(b, s->last, sizeof(s->last));
	put_text(b, s->start_time);
	put_text(b, s->end_time);
	put_number(b, s->keep_s);
	put_text(b, s->expired_time);
	put_text(b, s->removed_time);
	put_number(b, s->removed_by);
	put_text(b, s->removed_reason);
	put_text(b, s->held_time);
	put_number(b, s->held_by);
	put_text(b, s->held_reason);
	put_text(b, s->cause);
	if (s->has_checkpoint) {
		put_number(b, s->checkpoint.number);
		ward_buf_add(b, s->checkpoint.root, sizeof(s->checkpoint.root));
		ward_buf_add(b, s->checkpoint.signature, sizeof(s->checkpoint.signature));
	}
	put_number(b, same);
	if (!same) {
		put_number(b, s->n_keys);
		ward_buf_add(b, s->keys, sizeof(s->keys));
	}
}

static void put_view(struct ward_buf *b, const struct ward_ledger_view *v)
{
	put_number(b, v->claimed);
	put_number(b, v->n_host_keys);
	for (size_t i = 0; i < v->n_host_keys; i++) {
		ward_buf_add(b, &v->host_keys[i], sizeof(v->host_keys[i]));
		put_number(b, v->enrolled[i]);
	}
	put_number(b, v->n_rotations);
	for (size_t i = 0; i < v->n_rotations; i++)
		put_text(b, v->rotations[i]);
	put_number(b, v->n);
	for (size_t i = 0; i < v->n; i++)
		put_session(b, &v->v[i], i ? &v->v[i - 1] : NULL);
}

int ward_ledger_seen_put(const uint8_t root[WARD_KEY_BYTES], const struct ward_ledger_files_id *id,
	const struct ward_ledger_resume *at, const struct ward_ledger_view *v, struct ward_buf *b)
{
	static const uint8_t none[WARD_MAC_BYTES];
	uint8_t mac[WARD_MAC_BYTES];
	if (v->result.state != WARD_VERIFY_INTACT || at->n == 0 || at->notes_size == 0 ||
		v->left_out > 0)
		return -ENODATA;
	ward_buf_add(b, HEAD, HEAD_LEN);
	ward_buf_add(b, none, sizeof(none));
	ward_buf_add(b, id->v, sizeof(id->v));
	put_number(b, at->n);
	put_number(b, at->offset);
	ward_buf_add(b, at->prev, sizeof(at->prev));
	ward_buf_add(b, &at->tree, sizeof(at->tree));
	put_number(b, at->notes_at);
	put_number(b, at->notes_size);
	put_number(b, at->covered_from);
	put_view(b, v);
	int r = ward_buf_error(b);
	if (r < 0)
		return r;
	mac_of(root, b->data + BODY, b->len - BODY, mac);
	memcpy(b->data + HEAD_LEN, mac, sizeof(mac));
	return 0;
}

/* --- reading --- */

struct from {
	const char *p;
	size_t left;
	int error; /* sticky */
	/* The keys of the session that was read or passed over last. */
	uint64_t n_keys;
	const char *keys;
};

static void take_bytes(struct from *f, void *to, size_t n)
{
	if (f->error == 0 && n > f->left)
		f->error = -EBADMSG;
	if (f->error < 0) {
		memset(to, 0, n);
		return;
	}
	memcpy(to, f->p, n);
	f->p += n;
	f->left -= n;
}

static uint64_t take_number(struct from *f)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64 && f->error == 0; shift += 7) {
		if (f->left == 0)
			break;
		const uint8_t byte = (uint8_t)*f->p++;
		f->left--;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	f->error = f->error < 0 ? f->error : -EBADMSG;
	return 0;
}

/* Into room bytes, with its NUL. */
static size_t take_text(struct from *f, char *to, size_t room)
{
	uint64_t n = take_number(f);
	if (n >= room)
		f->error = -EBADMSG;
	if (f->error < 0)
		n = 0;
	take_bytes(f, to, n);
	to[n] = '\0';
	return n;
}

/* NULL where there shall be none. */
static char *take_owned(struct from *f, bool there)
{
	const uint64_t n = take_number(f);
	if (f->error < 0 || n > f->left || (!there && n > 0)) {
		f->error = f->error < 0 ? f->error : -EBADMSG;
		return NULL;
	}
	char *text = there ? strndup(f->p, n) : NULL;
	if (there && !text)
		f->error = -ENOMEM;
	f->p += n;
	f->left -= n;
	return text;
}

static void pass_bytes(struct from *f, uint64_t n)
{
	if (f->error == 0 && n > f->left)
		f->error = -EBADMSG;
	if (f->error < 0)
		return;
	f->p += n;
	f->left -= n;
}

/* Most sessions have those of the one before. */
static void pass_keys(struct from *f)
{
	const size_t size = sizeof(((struct ward_ledger_session *)NULL)->keys);
	if (take_number(f) != 0)
		return;
	f->n_keys = take_number(f);
	f->keys = f->p;
	pass_bytes(f, size);
	if (f->n_keys > size / sizeof(struct ward_public_key))
		f->error = -EBADMSG;
}

static void take_session(struct from *f, struct ward_ledger_view *v)
{
	char name[WARD_SESSION_NAME_MAX + 1];
	const size_t len = take_text(f, name, sizeof(name));
	const size_t had = v->n;
	struct ward_ledger_session *s = f->error ? NULL : ward_ledger_view_take(v, name, len);
	if (!s || v->n == had) {
		f->error = f->error < 0 ? f->error : s ? -EBADMSG : -ENOMEM;
		return;
	}
	const uint64_t flags = take_number(f);
	s->started = flags & STARTED;
	s->ended = flags & ENDED;
	s->complete = flags & COMPLETE;
	s->expired = flags & EXPIRED;
	s->removed = flags & REMOVED;
	s->held = flags & HELD;
	s->lost = flags & LOST;
	s->records = take_number(f);
	s->bytes = take_number(f);
	take_bytes(f, s->last, sizeof(s->last));
	(void)take_text(f, s->start_time, sizeof(s->start_time));
	(void)take_text(f, s->end_time, sizeof(s->end_time));
	s->keep_s = take_number(f);
	(void)take_text(f, s->expired_time, sizeof(s->expired_time));
	(void)take_text(f, s->removed_time, sizeof(s->removed_time));
	s->removed_by = take_number(f);
	s->removed_reason = take_owned(f, flags & WHY);
	(void)take_text(f, s->held_time, sizeof(s->held_time));
	s->held_by = take_number(f);
	s->held_reason = take_owned(f, flags & REASON);
	s->cause = take_owned(f, flags & CAUSE);
	s->has_checkpoint = flags & CHECKPOINT;
	if (s->has_checkpoint) {
		/* It covers what the end says (take_checkpoint()). */
		s->checkpoint.size = s->records;
		s->checkpoint.number = take_number(f);
		take_bytes(f, s->checkpoint.root, sizeof(s->checkpoint.root));
		take_bytes(f, s->checkpoint.signature, sizeof(s->checkpoint.signature));
	}
	pass_keys(f);
	if (f->error < 0 || !f->keys)
		return;
	s->n_keys = f->n_keys;
	memcpy(s->keys, f->keys, sizeof(s->keys));
}

static void pass_text(struct from *f)
{
	pass_bytes(f, take_number(f));
}

/* What of a session is looked at to pass over it. */
struct passed {
	const char *name; /* len bytes */
	size_t len;
	uint64_t flags, records;
};

static void pass_session(struct from *f, struct passed *ret)
{
	const uint64_t len = take_number(f);
	ret->name = f->p;
	ret->len = len;
	pass_bytes(f, len);
	ret->flags = take_number(f);
	ret->records = take_number(f);
	(void)take_number(f); /* bytes, last */
	pass_bytes(f, WARD_MAC_BYTES);
	pass_text(f); /* start, end */
	pass_text(f);
	(void)take_number(f);
	pass_text(f); /* expired, removed */
	pass_text(f);
	(void)take_number(f);
	pass_text(f); /* why, held */
	pass_text(f);
	(void)take_number(f);
	pass_text(f); /* reason, cause */
	pass_text(f);
	if (ret->flags & CHECKPOINT) {
		(void)take_number(f);
		pass_bytes(f, WARD_HASH_BYTES + WARD_SIGN_BYTES);
	}
	pass_keys(f);
}

/* Has it ended, with records, and nothing says that they went? */
static bool is_settled(const struct passed *s)
{
	return (s->flags & (STARTED | ENDED | EXPIRED | REMOVED)) == (STARTED | ENDED) &&
	       s->records > 0;
}

static void take_sessions(struct from *f, struct ward_ledger_view *v, uint64_t n,
	const struct ward_ledger_seen_only *only)
{
	const uint64_t newest = only ? only->newest : n;
	if (f->error == 0)
		f->error = ward_ledger_view_reserve(v, newest < n ? newest : n);
	for (; f->error == 0 && n > 0; n--) {
		struct from at = *f;
		struct passed one;
		if (n <= newest) {
			take_session(f, v);
			continue;
		}
		pass_session(f, &one);
		if (f->error == 0 &&
			((only->names && ward_ledger_view_has(only->names, one.name, one.len)) ||
				(only->unsettled && !is_settled(&one)))) {
			take_session(&at, v);
			*f = at;
		} else {
			v->left_out++;
			v->left_out_sum +=
				f->error ? 0
					 : ward_chain_session_sum(one.name, one.len, one.records);
		}
	}
}

static void take_keys(struct from *f, struct ward_ledger_view *v)
{
	const uint64_t keys = take_number(f);
	if (keys > f->left / sizeof(*v->host_keys))
		f->error = -EBADMSG;
	if (f->error == 0 && keys > 0) {
		v->host_keys = calloc(keys, sizeof(*v->host_keys));
		v->enrolled = calloc(keys, sizeof(*v->enrolled));
		f->error = v->host_keys && v->enrolled ? 0 : -ENOMEM;
	}
	for (uint64_t i = 0; f->error == 0 && i < keys; i++) {
		take_bytes(f, &v->host_keys[i], sizeof(v->host_keys[i]));
		v->enrolled[i] = take_number(f);
		v->n_host_keys++;
	}
	const uint64_t rotations = take_number(f);
	if (rotations > f->left)
		f->error = -EBADMSG;
	if (f->error == 0 && rotations > 0) {
		v->rotations = calloc(rotations, sizeof(*v->rotations));
		f->error = v->rotations ? 0 : -ENOMEM;
	}
	for (uint64_t i = 0; f->error == 0 && i < rotations; i++) {
		(void)take_text(f, v->rotations[i], sizeof(v->rotations[i]));
		v->n_rotations++;
	}
}

int ward_ledger_seen_take(const uint8_t root[WARD_KEY_BYTES], const struct ward_ledger_files_id *id,
	const char *data, size_t len, const struct ward_ledger_seen_only *only,
	struct ward_ledger_resume *ret_at, struct ward_ledger_view *ret)
{
	struct ward_ledger_resume at = {0};
	struct ward_ledger_files_id of;
	struct ward_ledger_view v = {0};
	uint8_t mac[WARD_MAC_BYTES];
	if (len < BODY || memcmp(data, HEAD, HEAD_LEN) != 0)
		return -EBADMSG;
	mac_of(root, data + BODY, len - BODY, mac);
	if (sodium_memcmp(mac, data + HEAD_LEN, sizeof(mac)) != 0)
		return -EBADMSG;
	struct from f = {.p = data + BODY, .left = len - BODY};
	take_bytes(&f, of.v, sizeof(of.v));
	if (memcmp(of.v, id->v, sizeof(of.v)) != 0)
		return -EBADMSG;
	at.n = take_number(&f);
	at.offset = take_number(&f);
	take_bytes(&f, at.prev, sizeof(at.prev));
	take_bytes(&f, &at.tree, sizeof(at.tree));
	at.notes_at = take_number(&f);
	at.notes_size = take_number(&f);
	at.covered_from = take_number(&f);
	v.claimed = take_number(&f);
	take_keys(&f, &v);
	uint64_t n = take_number(&f);
	/* Each takes more bytes than that. */
	if (n > f.left / WARD_MAC_BYTES)
		f.error = -EBADMSG;
	v.seen_at = (size_t)(f.p - data);
	take_sessions(&f, &v, n, only);
	if (f.error == 0 && (f.left > 0 || at.n == 0 || at.tree.n != at.n || at.notes_size == 0))
		f.error = -EBADMSG;
	if (f.error < 0) {
		ward_ledger_view_free(&v);
		return f.error;
	}
	*ret_at = at;
	*ret = v;
	return 0;
}

bool ward_ledger_seen_left_out_one_of(
	const char *data, size_t len, const struct ward_ledger_view *v, size_t had)
{
	struct from f = {.p = data + v->seen_at, .left = len - v->seen_at};
	if (v->n == had || v->left_out == 0)
		return false;
	/* Those behind `had` alone are asked for. */
	while (f.left > 0 && f.error == 0) {
		struct passed one;
		pass_session(&f, &one);
		if (f.error == 0 && ward_ledger_view_has(v, one.name, one.len) > had)
			return true;
	}
	return f.error < 0;
}
