/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/net/tls.h"

#include <errno.h>
#include <string.h>

enum { RECORD_HANDSHAKE = 22, MESSAGE_CLIENT_HELLO = 1 };
enum { EXTENSION_SERVER_NAME = 0, EXTENSION_ECH = 0xfe0d, NAME_HOST = 0 };
/* RFC 8446, 5.1: bytes of a record's content. */
#define RECORD_MAX 16384U

struct reader {
	const uint8_t *p;
	size_t left;
	bool bad;
};

static unsigned get(struct reader *r, unsigned bytes)
{
	unsigned v = 0;
	if (r->left < bytes) {
		r->bad = true;
		r->left = 0;
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | r->p[i];
	r->p += bytes;
	r->left -= bytes;
	return v;
}

/* A vector with a length of so many bytes in front. */
static struct reader get_vector(struct reader *r, unsigned bytes)
{
	size_t n = get(r, bytes);
	struct reader v = {r->p, n, false};
	if (n > r->left) {
		r->bad = v.bad = true;
		v.left = 0;
		return v;
	}
	r->p += n;
	r->left -= n;
	return v;
}

static bool take_name(struct reader *ext, struct ward_tls_hello *ret)
{
	struct reader list = get_vector(ext, 2);
	bool found = false;
	while (!list.bad && list.left) {
		unsigned type = get(&list, 1);
		struct reader name = get_vector(&list, 2);
		/* One name of a type (RFC 6066); no other type was ever defined. */
		if (list.bad || found || type != NAME_HOST || name.left == 0 ||
			name.left >= sizeof(ret->name) || memchr(name.p, 0, name.left))
			return false;
		memcpy(ret->name, name.p, name.left);
		ret->name[name.left] = 0;
		found = true;
	}
	return found && !list.bad && ext->left == 0;
}

static int read_extensions(struct reader *all, struct ward_tls_hello *ret)
{
	bool named = false;
	while (all->left) {
		unsigned type = get(all, 2);
		struct reader ext = get_vector(all, 2);
		if (all->bad)
			return -EBADMSG;
		if (type == EXTENSION_ECH)
			ret->ech = true;
		if (type != EXTENSION_SERVER_NAME)
			continue;
		if (named || !take_name(&ext, ret))
			return -EBADMSG;
		named = true;
	}
	return 0;
}

/* The message without its head of four bytes. */
static int read_hello(struct reader *r, struct ward_tls_hello *ret)
{
	unsigned version = get(r, 2);
	for (int i = 0; i < 4; i++)
		(void)get(r, 4); /* random: 32 bytes */
	for (int i = 0; i < 4; i++)
		(void)get(r, 4);
	(void)get_vector(r, 1); /* session */
	(void)get_vector(r, 2); /* ciphers */
	(void)get_vector(r, 1); /* compression */
	if (r->bad || version >> 8 != 3)
		return -EBADMSG;
	if (r->left == 0)
		return 0; /* TLS 1.2 without extensions */
	struct reader all = get_vector(r, 2);
	return r->bad || r->left ? -EBADMSG : read_extensions(&all, ret);
}

int ward_tls_hello(const uint8_t *data, size_t len, struct ward_tls_hello *ret)
{
	uint8_t hello[WARD_TLS_HELLO_MAX];
	size_t n = 0, need = 4;
	struct reader r = {data, len, false};
	*ret = (struct ward_tls_hello){0};
	while (n < need) {
		if (r.left && r.p[0] != RECORD_HANDSHAKE)
			return -EBADMSG;
		if (r.left > 1 && r.p[1] != 3)
			return -EBADMSG;
		if (r.left < 5)
			return len < WARD_TLS_STREAM_MAX ? -EAGAIN : -EBADMSG;
		(void)get(&r, 3);
		size_t size = get(&r, 2);
		if (size == 0 || size > RECORD_MAX || n + size > sizeof(hello))
			return -EBADMSG;
		size_t here = size < r.left ? size : r.left;
		memcpy(hello + n, r.p, here);
		n += here;
		if (n && hello[0] != MESSAGE_CLIENT_HELLO)
			return -EBADMSG;
		if (n >= 4)
			need = 4 + ((size_t)hello[1] << 16 | (size_t)hello[2] << 8 | hello[3]);
		if (need > sizeof(hello))
			return -EBADMSG;
		if (here < size)
			return len < WARD_TLS_STREAM_MAX ? -EAGAIN : -EBADMSG;
		r.p += size;
		r.left -= size;
	}
	/* Nothing may follow it in its last record: a client has nothing more to say. */
	if (n != need)
		return -EBADMSG;
	ret->size = len - r.left;
	struct reader body = {hello + 4, n - 4, false};
	return read_hello(&body, ret);
}
