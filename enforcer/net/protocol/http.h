/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of HTTP/1 (RFC 9112), strictly: what two readers could read in two ways is refused,
 * since the server behind might be the other reader (request smuggling). Pure; nothing is kept
 * beyond a call but in struct ward_http_body.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/* A request line and fields; servers stop at 8 or 16 kilobytes. */
#define WARD_HTTP_HEAD_MAX 16384U
#define WARD_HTTP_FIELDS_MAX 128

struct ward_http_text {
	const char *p; /* into the request */
	size_t len;
};

struct ward_http_head {
	size_t size; /* with the empty line */
	struct ward_http_text method, target;
	unsigned minor;		    /* HTTP/1.minor */
	struct ward_http_text host; /* p NULL: none */
	bool chunked;
	bool has_length;
	uint64_t length;
	bool upgrade_hides; /* to a protocol in which a host is named again, or which tunnels */
	bool upgrade;	    /* an Upgrade field */
	/* fields that speak to a proxy, for leaving them out */
	struct ward_http_text fields[WARD_HTTP_FIELDS_MAX]; /* whole lines without CRLF */
	size_t n_fields;
};

/* 0: *ret is filled, its texts point into data; -EAGAIN: more is needed; -EBADMSG: refused. */
int ward_http_head(const char *data, size_t len, struct ward_http_head *ret) ward_must_check;

/* RFC 9110, 5.6.2: a byte of a method or of a field's name. */
bool ward_http_is_token(unsigned char c);

/* Compares a field line's name. */
bool ward_http_field_is(const struct ward_http_text *line, const char *name);

/*
 * "HOST", "HOST:PORT", "[v6]:PORT" as in Host and CONNECT: the host in lower case without brackets,
 * the port or 0. False: not of this form.
 */
bool ward_http_authority(const char *p, size_t len, char ret_host[256], uint16_t *ret_port);

/* Takes the last dot of a host's name away: DNS means the same without it. */
void ward_http_undot(char host[256]);

/* "http://AUTHORITY/path" (no user information): its parts. False: not of this form. */
bool ward_http_absolute(const struct ward_http_text *target, struct ward_http_text *ret_authority,
	struct ward_http_text *ret_path);

/* So much of a trailer's name is kept: more than "Transfer-Encoding" has. */
#define WARD_HTTP_TRAILER_NAME_MAX 20

/* Where in a body a stream stands. */
struct ward_http_body {
	enum {
		WARD_BODY_END = 0,
		WARD_BODY_LENGTH,
		WARD_BODY_SIZE,
		WARD_BODY_DATA,
		WARD_BODY_DATA_END,
		WARD_BODY_TRAILER
	} state;
	uint64_t left;
	size_t line; /* bytes of the line that we are in */
	size_t trailer;
	char field[WARD_HTTP_TRAILER_NAME_MAX]; /* of a trailer: how its name begins */
	bool named;				/* its name is over */
	unsigned http;				/* of "HTTP/" in it so far */
	bool cr;				/* the last byte was CR */
	bool digits;				/* the size has begun */
	bool ext;				/* past the size */
};

/* The body that follows a head. */
void ward_http_body_start(const struct ward_http_head *head, struct ward_http_body *ret);
/*
 * Bytes of data that belong to the body, at most len; afterwards state tells whether it is at its
 * end. -EBADMSG: chunks that are none.
 */
ssize_t ward_http_body_take(struct ward_http_body *b, const char *data, size_t len) ward_must_check;
