/* SPDX-License-Identifier: Apache-2.0 */
/* SOCKS version 5 (RFC 1928), CONNECT without authentication: a server's decoder. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

enum ward_socks_reply {
	WARD_SOCKS_GRANTED = 0,
	WARD_SOCKS_FAILED = 1,
	WARD_SOCKS_NOT_ALLOWED = 2,
	WARD_SOCKS_UNREACHABLE = 4,
	WARD_SOCKS_BAD_COMMAND = 7,
	WARD_SOCKS_BAD_ADDRESS = 8,
};
/* A reply with an IPv4 address of zeros. */
#define WARD_SOCKS_REPLY_LEN 10
void ward_socks_reply(enum ward_socks_reply code, uint8_t ret[WARD_SOCKS_REPLY_LEN]);

/* The greeting: its length if it offers "no authentication"; 0: more is needed; -EACCES: it does
 * not; -EBADMSG. */
ssize_t ward_socks_greeting(const uint8_t *data, size_t len) ward_must_check;

struct ward_socks_request {
	char host[256]; /* a name as it was sent, or an address as text; no NUL inside */
	uint16_t port;
};
/*
 * The request: its length; 0: more is needed; -EBADMSG; -EOPNOTSUPP: not CONNECT; -EAFNOSUPPORT: an
 * address of no known kind, or a name that is none (empty, with a NUL).
 */
ssize_t ward_socks_request(
	const uint8_t *data, size_t len, struct ward_socks_request *ret) ward_must_check;
