/* SPDX-License-Identifier: Apache-2.0 */
/* [network] proxy and identify, from text. Pure; nothing allocates. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/* The proxy inside a session (enforcer/net/entry/front.h), as http_proxy names it. */
#define WARD_PROXY_INSIDE "198.18.0.1:3128"

struct ward_proxy {
	bool socks;	/* SOCKS5 (RFC 1928), else HTTP CONNECT (RFC 9110, 9.3.6) */
	char host[256]; /* a name or an address, without brackets, lower case */
	uint16_t port;
};

/*
 * "http://HOST:PORT" or "socks5://HOST:PORT". -EINVAL with the reason: another scheme, a user and
 * password (the text of a policy stands in the trail), no port, a path.
 */
int ward_proxy_parse(const char *url, struct ward_proxy *ret, struct ward_err *err) ward_must_check;

/* A name of a header (RFC 9110, 5.6.2) that means nothing to a proxy by itself. -EINVAL. */
int ward_proxy_header(const char *name, struct ward_err *err) ward_must_check;
/* True for "proxy-authorization", in any case. */
bool ward_proxy_is_authorization(const char *name);
