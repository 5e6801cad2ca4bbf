/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what a program sends agree with the name that it asked for? The first bytes tell what it
 * speaks: of TLS the names of all ClientHellos in the clear are compared, of HTTP/1 the host of
 * every request; anything else passes as it is, a name in it cannot be seen. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/net/http.h"
#include "enforcer/net/tls.h"

enum ward_inspect_state {
	WARD_INSPECT_START = 0,
	WARD_INSPECT_TLS_NEXT, /* after a hello: another may follow a HelloRetryRequest */
	WARD_INSPECT_HTTP,     /* a request's head comes next */
	WARD_INSPECT_BODY,
	WARD_INSPECT_UPGRADE, /* the server decides whether this stays HTTP */
	WARD_INSPECT_OPAQUE,  /* nothing is looked at any more */
};

struct ward_inspect {
	enum ward_inspect_state state;
	bool strict; /* sni = require */
	char name[256];
	char seen[256];	       /* the name that was sent last, "": none */
	const char *what;      /* "tls", "http" or NULL */
	const char *complaint; /* the last disagreement; not refused unless strict */
	struct ward_http_body body;
	size_t requests;
	bool hides; /* the upgrade that was asked for is to a protocol that names a host again */
	/*
	 * The first word, where it is not known yet what it begins: it has passed already (a server
	 * does nothing with a part of a request, and a program that sends "ping" is not kept
	 * waiting), and is looked at again in front of what comes.
	 */
	uint8_t early[25];
	size_t n_early;
};

/* No more than this waits to be looked at. */
#define WARD_INSPECT_MAX WARD_TLS_STREAM_MAX

/* name: that of the destination, lower case. */
void ward_inspect_init(struct ward_inspect *in, const char *name, bool strict);

/*
 * data is what the program has sent and has not passed yet. *ret_pass bytes of it may go on; the
 * rest is to be shown again with what comes next. -EACCES: refused, complaint says why.
 */
int ward_inspect(
	struct ward_inspect *in, const uint8_t *data, size_t len, size_t *ret_pass) ward_must_check;

/* The server has sent something; only its first bytes after an upgrade was asked for matter. */
void ward_inspect_reply(struct ward_inspect *in, const uint8_t *data, size_t len);

/* True if nothing of what the program sends, or the server (reply), is looked at from now on. */
bool ward_inspect_blind(const struct ward_inspect *in, bool reply);
