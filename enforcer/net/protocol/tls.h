/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name in a TLS ClientHello (RFC 8446, 4.1.2; RFC 6066, 3), and no more of TLS than it takes to
 * find it. Pure; every length is checked against what is there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/* Hellos with post-quantum keys have two kilobytes; RFC 8446 lets one have 16 MB. */
#define WARD_TLS_HELLO_MAX 16384U
/* The same with a record header for every few bytes. */
#define WARD_TLS_STREAM_MAX (2UL * WARD_TLS_HELLO_MAX)

struct ward_tls_hello {
	char name[256]; /* as it was sent; "": none */
	size_t size;	/* bytes of the stream up to the end of the last record of the hello */
	bool ech;	/* it has an encrypted_client_hello extension (or its grease) */
};

/* Types of records (RFC 8446, B.1; RFC 6520): the first and the last that any server takes. */
#define WARD_TLS_FIRST 20U
#define WARD_TLS_HANDSHAKE 22U
#define WARD_TLS_LAST 24U
#define WARD_TLS_HEAD 5U /* bytes of a record's head: type, version, length */

/*
 * data is the beginning of what a client sends. 0: *ret is filled; -EAGAIN: more is needed;
 * -EBADMSG: it is no ClientHello, or one that no server would take for one, or over the bounds.
 */
int ward_tls_hello(const uint8_t *data, size_t len, struct ward_tls_hello *ret) ward_must_check;

enum ward_tls_answer {
	WARD_TLS_OPEN = 0, /* nothing has answered a hello so far, or a HelloRetryRequest has */
	WARD_TLS_ANSWERED, /* a ServerHello: no other ClientHello is taken after it */
	WARD_TLS_NONE,	   /* what comes is not TLS, or not an answer: it teaches nothing */
};

/* What a server sends, up to its answer to the hello. All zero at the beginning. */
struct ward_tls_reply {
	enum ward_tls_answer answer;
	uint8_t head[WARD_TLS_HEAD];
	size_t n_head;
	size_t left;	     /* bytes of the record */
	uint8_t message[38]; /* type, length, version, random */
	size_t n_message;
	size_t skip; /* bytes of the message */
};

/* Takes the next bytes, in whatever pieces. */
void ward_tls_reply_take(struct ward_tls_reply *r, const uint8_t *data, size_t len);
