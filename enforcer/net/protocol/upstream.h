/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's side of a proxy ([network] proxy): what is said until the stream to the destination
 * begins, in HTTP (CONNECT, RFC 9110, 9.3.6) or SOCKS5 (RFC 1928, with RFC 1929 where it is to know
 * us). Names go to the proxy as they are. Pure; the proxy's answers are untrusted and bounded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/buf.h"
#include "enforcer/policy/proxy.h"

enum ward_upstream_state {
	WARD_UPSTREAM_FAILED = 0,
	WARD_UPSTREAM_HEAD,   /* of HTTP's answer */
	WARD_UPSTREAM_METHOD, /* SOCKS: the chosen method */
	WARD_UPSTREAM_LOGIN,  /* the answer to user and password */
	WARD_UPSTREAM_REPLY,  /* to the request */
	WARD_UPSTREAM_STREAM, /* what comes now is the destination's */
};

struct ward_upstream {
	enum ward_upstream_state state;
	struct ward_buf request; /* SOCKS: what is sent once the method is agreed on */
	struct ward_buf login;	 /* the same, before it; empty: no login */
	struct ward_buf got;	 /* of the answer under way */
	char why[128];		 /* of a failure, for people */
};

/*
 * header: NULL, or the name of the header that carries token; claim: where in token the claim
 * begins (token.h). host: a name, or an address without brackets. Appends to ret_out what to send
 * first. -ENAMETOOLONG: it does not fit into SOCKS5. ward_upstream_clear() in any case.
 */
int ward_upstream_begin(struct ward_upstream *u, const struct ward_proxy *proxy, const char *host,
	uint16_t port, const char *header, const char *token, size_t claim,
	struct ward_buf *ret_out) ward_must_check;
/*
 * The proxy has sent data: how many bytes of it were taken (never any of the stream behind the
 * answer); ret_out may grow. -ECONNREFUSED: it does not let us; -EBADMSG: it makes no sense; why
 * says more. Not after WARD_UPSTREAM_STREAM.
 */
ssize_t ward_upstream_take(struct ward_upstream *u, const uint8_t *data, size_t len,
	struct ward_buf *ret_out) ward_must_check;
void ward_upstream_clear(struct ward_upstream *u);

/* "HOST:PORT", an IPv6 address in brackets. */
void ward_upstream_destination(const char *host, uint16_t port, struct ward_buf *ret);
