/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what a program sends agree with the name that it asked for? The first bytes tell what it
 * speaks. Of TLS the names of all ClientHellos in the clear are compared, up to the server's
 * ServerHello. Of HTTP/1 the host of every request is, for as long as the connection lives. What
 * some server takes for either, and this reads as neither, is a disagreement. Only what no server
 * takes for either passes as it is; a name in it cannot be seen.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/net/protocol/first.h"
#include "enforcer/net/protocol/http.h"
#include "enforcer/net/protocol/tls.h"

enum ward_inspect_state {
	WARD_INSPECT_START = 0,
	WARD_INSPECT_TLS_NEXT, /* after a hello, until the server's: another may follow */
	WARD_INSPECT_HTTP,     /* a request's head comes next */
	WARD_INSPECT_BODY,
	WARD_INSPECT_UPGRADE, /* the server decides whether this stays HTTP */
	WARD_INSPECT_OPAQUE,  /* nothing is looked at any more */
};

struct ward_inspect {
	enum ward_inspect_state state;
	bool strict; /* sni = require */
	char name[256];
	uint16_t port;	       /* of the destination */
	char seen[256];	       /* the name that was sent last, "": none */
	const char *what;      /* "tls", "http" or NULL */
	const char *complaint; /* the last disagreement; not refused unless strict */
	struct ward_http_body body;
	size_t requests;
	bool hides; /* the upgrade that was asked for is to a protocol that names a host again */
	/* At the start, and at the start of a body: what the line so far may be. */
	struct ward_first first;
	/*
	 * The first line, while its protocol is unknown. It has passed already: a server does
	 * nothing with a part of a request, and a program that sends "ping" must not wait. It is
	 * examined again together with the bytes that follow. NULL: nothing is kept.
	 */
	uint8_t *early;
	size_t n_early;
	/* After a hello. */
	size_t record; /* bytes of the client's record that may pass */
	struct ward_tls_reply reply;
};

/* No more than this waits to be looked at. */
#define WARD_INSPECT_MAX WARD_TLS_STREAM_MAX

/* name, port: those of the destination, lower case. To be freed once it has seen something. */
void ward_inspect_init(struct ward_inspect *in, const char *name, uint16_t port, bool strict);

void ward_inspect_free(struct ward_inspect *in);

/*
 * data is what the program has sent and has not passed yet. *ret_pass bytes of it may go on; show
 * the rest again with what comes next. -EACCES: refused, complaint says why; -ENOMEM.
 */
int ward_inspect(
	struct ward_inspect *in, const uint8_t *data, size_t len, size_t *ret_pass) ward_must_check;

/*
 * The program sends nothing more; nothing waits. -EACCES as above: a server may take a line for
 * whole where its stream ends.
 */
int ward_inspect_end(struct ward_inspect *in) ward_must_check;
/* False if that would be a disagreement now: the server must see a reset rather than an end. */
bool ward_inspect_may_end(const struct ward_inspect *in);

/*
 * The server has sent something. Only its first bytes after an upgrade was asked for matter, and
 * its answer to a ClientHello.
 */
void ward_inspect_reply(struct ward_inspect *in, const uint8_t *data, size_t len);

/* True if nothing of what the program sends, or the server (reply), is looked at from now on. */
bool ward_inspect_blind(const struct ward_inspect *in, bool reply);
