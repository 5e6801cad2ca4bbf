/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes git's index. */
#include "enforcer/policy/gitindex.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"

enum {
	HEAD_SIZE = 12,
	STAT_SIZE = 40,
	MODE_AT = 24,
	FLAG_LENGTH = 0x0fff,
	FLAG_EXTENDED = 0x4000,
};

struct reader {
	const unsigned char *s, *end;
	unsigned version, digest_len;
	struct ward_buf name; /* of the entry before; version 4 builds on it */
};

static uint32_t get_u32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint64_t get_u64(const unsigned char *p)
{
	return (uint64_t)get_u32(p) << 32 | get_u32(p + 4);
}

static size_t left(const struct reader *r)
{
	return (size_t)(r->end - r->s);
}

/* How much of the name before is dropped: seven bits a byte, each continuation counts one more. */
static int get_drop(struct reader *r, size_t *ret)
{
	size_t v = 0;
	for (bool more = true; more; r->s++) {
		if (left(r) == 0 || v > r->name.len)
			return -EBADMSG;
		v = (v << 7) + (*r->s & 0x7f);
		more = *r->s & 0x80;
		v += more;
	}
	*ret = v;
	return 0;
}

/* Reads a name up to its NUL into r->name, keeping `keep` bytes of what stands there. */
static int get_name(struct reader *r, size_t keep)
{
	const unsigned char *nul = memchr(r->s, 0, left(r));
	/* No file has a longer name: such an index only makes its reader use memory. */
	if (!nul || keep > r->name.len || keep + (size_t)(nul - r->s) >= PATH_MAX)
		return -EBADMSG;
	r->name.len = keep;
	ward_buf_add(&r->name, r->s, (size_t)(nul - r->s));
	r->s = nul;
	return ward_buf_error(&r->name);
}

static int get_entry(struct reader *r, uint32_t *ret_mode, const unsigned char **ret_digest)
{
	const unsigned char *begin = r->s;
	size_t fixed = STAT_SIZE + r->digest_len + 2, drop = 0;
	if (left(r) < fixed + 2)
		return -EBADMSG;
	*ret_mode = get_u32(begin + MODE_AT);
	*ret_digest = begin + STAT_SIZE;
	unsigned flags = (unsigned)begin[fixed - 2] << 8 | begin[fixed - 1];
	if (flags & FLAG_EXTENDED) {
		if (r->version < 3)
			return -EBADMSG;
		fixed += 2;
	}
	r->s += fixed;
	int e = 0;
	if (r->version == 4)
		e = get_drop(r, &drop);
	if (e == 0 && drop > r->name.len)
		e = -EBADMSG;
	if (e == 0)
		e = get_name(r, r->version == 4 ? r->name.len - drop : 0);
	if (e < 0)
		return e;
	size_t named = flags & FLAG_LENGTH;
	if (named < FLAG_LENGTH && named != r->name.len)
		return -EBADMSG;
	if (r->version == 4) {
		r->s++;
		return 0;
	}
	size_t size = ((size_t)(r->s - begin) + 8) & ~(size_t)7;
	if (size > (size_t)(r->end - begin))
		return -EBADMSG;
	r->s = begin + size;
	return 0;
}

static int get_link(const struct reader *r, size_t size, struct ward_git_link *ret)
{
	if (size < r->digest_len)
		return -EBADMSG;
	*ret = (struct ward_git_link){.there = true};
	memcpy(ret->digest, r->s, r->digest_len);
	if (size > r->digest_len) {
		ret->deleted = r->s + r->digest_len;
		ret->deleted_len = size - r->digest_len;
	}
	return 0;
}

/* The extensions. A capital letter first: it can be left out of account. */
static int get_extensions(struct reader *r, struct ward_git_link *ret_link)
{
	while (left(r) > 0) {
		if (left(r) < 8)
			return -EBADMSG;
		const char *what = (const char *)r->s;
		size_t size = get_u32(r->s + 4);
		r->s += 8;
		if (size > left(r))
			return -EBADMSG;
		int e = 0;
		if (memcmp(what, "link", 4) == 0)
			e = get_link(r, size, ret_link);
		else if (memcmp(what, "sdir", 4) != 0 && (what[0] < 'A' || what[0] > 'Z'))
			e = -EBADMSG;
		if (e < 0)
			return e;
		r->s += size;
	}
	return 0;
}

int ward_git_index_read(const unsigned char *text, size_t len, unsigned digest_len,
	ward_git_index_fn fn, void *user, struct ward_git_link *ret_link)
{
	struct ward_git_link link = {0};
	if (len < HEAD_SIZE + digest_len || digest_len > WARD_GIT_DIGEST_MAX ||
		memcmp(text, "DIRC", 4) != 0)
		return -EBADMSG;
	struct reader r = {.s = text + HEAD_SIZE,
		.end = text + len - digest_len,
		.version = get_u32(text + 4),
		.digest_len = digest_len,
		.name = WARD_BUF_INIT};
	int e = r.version < 2 || r.version > 4 ? -EBADMSG : 0;
	for (uint32_t n = get_u32(text + 8); e == 0 && n > 0; n--) {
		const unsigned char *digest = NULL;
		uint32_t mode = 0;
		e = get_entry(&r, &mode, &digest);
		if (e == 0)
			e = fn(user, mode, digest, ward_buf_str(&r.name));
	}
	if (e == 0)
		e = get_extensions(&r, &link);
	if (e == 0)
		*ret_link = link;
	ward_buf_clear(&r.name);
	return e;
}

static void set_bits(bool *ret, size_t n, uint64_t from, uint64_t count)
{
	for (uint64_t i = from; i < n && i - from < count; i++)
		ret[i] = true;
}

int ward_git_bitmap_read(const unsigned char *text, size_t len, bool *ret, size_t n)
{
	if (len < 8)
		return -EBADMSG;
	uint64_t at = 0, words = get_u32(text + 4);
	if (words > (len - 8) / 8)
		return -EBADMSG;
	for (uint64_t w = 0; w < words;) {
		/* A marker: the value of a run of words, its length, how many plain ones follow. */
		uint64_t marker = get_u64(text + 8 + 8 * w++);
		uint64_t run = marker >> 1 & UINT32_MAX, plain = marker >> 33;
		if (marker & 1)
			set_bits(ret, n, at, run * 64);
		at += run * 64;
		if (plain > words - w)
			return -EBADMSG;
		for (; plain > 0; plain--, at += 64) {
			uint64_t v = get_u64(text + 8 + 8 * w++);
			for (unsigned bit = 0; bit < 64; bit++)
				if (v >> bit & 1)
					set_bits(ret, n, at + bit, 1);
		}
	}
	return 0;
}
