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

/*
 * data is the beginning of what a client sends. 0: *ret is filled; -EAGAIN: more is needed;
 * -EBADMSG: it is no ClientHello, or one that no server would take for one, or over the bounds.
 */
int ward_tls_hello(const uint8_t *data, size_t len, struct ward_tls_hello *ret) ward_must_check;
