/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may the first line of a stream be to a server? Servers differ in what they take for a
 * request, so three readers look at the same bytes:
 *
 * - The line up to LF, in words, as nginx, Apache, Node, Python and Ruby read it. It is a request
 *   if it holds "HTTP/" anywhere, if its second word is a path or an absolute URL (RTSP and ICE to
 *   Node; HTTP/0.9 without a version to nginx and Apache), or if it is "GET WORD" (Python). With a
 *   first word that is no token (RFC 9110, 5.6.2) it is one only as "WORD WORD HTTP/…": what Python
 *   takes with any method. The numbers of other protocols begin so.
 *   CR without LF ends the line as well: thttpd takes CR CR for the end of a request, mini-httpd
 *   the end of the stream after such lines.
 * - The line up to CRLF, as the JDK's HTTP server reads it: anything without a space is a method,
 *   LF included, and anything after the target is a version.
 * - The first bytes as a ClientHello in the format of SSLv2 (RFC 5246, E.2), which OpenSSL and the
 *   JDK take, and as the PROXY protocol, which says that the rest comes from somebody else.
 *
 * Pure, and of fixed size: a line may have any length.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

enum ward_first_kind {
	WARD_FIRST_HELLO = 0, /* a ClientHello in the format of SSLv2 */
	WARD_FIRST_PROXY,     /* a header of the PROXY protocol */
	WARD_FIRST_REQUEST,   /* of HTTP, or what some server takes for one */
	WARD_FIRST_UNKNOWN,   /* more is needed */
	WARD_FIRST_OTHER,     /* to no server any of these */
};

enum ward_first_target {
	WARD_TARGET_NO = 0,
	WARD_TARGET_BEGIN,
	WARD_TARGET_SCHEME,
	WARD_TARGET_COLON,
	WARD_TARGET_STAR,
	WARD_TARGET_YES,
};

struct ward_first {
	bool body;	/* the beginning of a body instead: see ward_first_init_body() */
	uint64_t taken; /* bytes */
	/* The first bytes. */
	enum ward_first_kind by_magic;
	uint8_t magic[12];
	size_t n;
	/* The line up to LF. */
	enum ward_first_kind by_line;
	unsigned words;	 /* that have begun: 0 to 4, more are 4 */
	bool within;	 /* a word */
	size_t at;	 /* bytes of the word */
	bool odd;	 /* the first word is no token */
	bool get, proxy; /* the first word begins like it, or is it */
	bool named;	 /* "HTTP/" stands somewhere */
	bool line_cr;	 /* the last byte was CR */
	bool version;	 /* the third word begins with it */
	unsigned http;	 /* bytes of "HTTP/" up to here */
	enum ward_first_target target;
	/* The line up to CRLF. */
	enum ward_first_kind by_crlf;
	enum { WARD_CRLF_METHOD = 0, WARD_CRLF_TARGET, WARD_CRLF_VERSION } part;
	bool cr;
	bool any; /* the line is not empty */
	enum ward_first_target uri;
};

void ward_first_init(struct ward_first *f);
/*
 * For the beginning of a body: to a server that does not read bodies it is the next request. Only
 * the line up to LF is read, and only "WORD WORD HTTP/…" and "GET WORD" are requests: what is
 * uploaded may say much.
 */
void ward_first_init_body(struct ward_first *f);

/* Takes the next bytes, up to the one that decides. After a decision the answer stays. */
enum ward_first_kind ward_first_take(struct ward_first *f, const uint8_t *data, size_t len);
/* The answer if nothing follows: Python takes the end of a stream for the end of a line. */
enum ward_first_kind ward_first_end(const struct ward_first *f);
/* True if what was taken may still become a request that ward_http_head() would read. */
bool ward_first_proper(const struct ward_first *f);
