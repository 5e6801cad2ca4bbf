/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the server name in a TLS ClientHello, and the answer to it. */
#include "enforcer/net/protocol/tls.h"

#include <errno.h>
#include <string.h>

enum { MESSAGE_CLIENT_HELLO = 1, MESSAGE_SERVER_HELLO = 2 };
enum { EXTENSION_SERVER_NAME = 0, EXTENSION_ECH = 0xfe0d, NAME_HOST = 0 };
/* RFC 8446, 5.1: bytes of a record's content. */
#define RECORD_MAX 16384U
/* RFC 8446, 4.1.3: the random of a ServerHello that is a HelloRetryRequest. */
static const uint8_t retry[32] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
	0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e,
	0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

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
		if (r.left && r.p[0] != WARD_TLS_HANDSHAKE)
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

/* A byte of the handshake. */
static void take_message(struct ward_tls_reply *r, uint8_t c)
{
	if (r->skip) {
		r->skip--;
		return;
	}
	r->message[r->n_message++] = c;
	if (r->message[0] != MESSAGE_SERVER_HELLO) {
		r->answer = WARD_TLS_NONE;
		return;
	}
	if (r->n_message < sizeof(r->message))
		return;
	const size_t size =
		(size_t)r->message[1] << 16 | (size_t)r->message[2] << 8 | r->message[3];
	const size_t here = sizeof(r->message) - 4;
	if (size < here)
		r->answer = WARD_TLS_NONE;
	else if (memcmp(r->message + 6, retry, sizeof(retry)) != 0)
		r->answer = WARD_TLS_ANSWERED;
	r->skip = size - here;
	r->n_message = 0;
}

/* A byte of a record's head. */
static void take_head(struct ward_tls_reply *r, uint8_t c)
{
	r->head[r->n_head++] = c;
	if (r->head[0] < WARD_TLS_FIRST || r->head[0] > WARD_TLS_LAST ||
		(r->n_head > 1 && r->head[1] != 3))
		r->answer = WARD_TLS_NONE;
	if (r->n_head == WARD_TLS_HEAD) {
		r->left = (size_t)r->head[3] << 8 | r->head[4];
		r->n_head = 0;
	}
}

void ward_tls_reply_take(struct ward_tls_reply *r, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len && r->answer == WARD_TLS_OPEN; i++) {
		if (r->left == 0) {
			take_head(r, data[i]);
			continue;
		}
		r->left--;
		if (r->head[0] == WARD_TLS_HANDSHAKE)
			take_message(r, data[i]);
	}
}
