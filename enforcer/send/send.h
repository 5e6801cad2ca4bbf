/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-send: one batch over one connection, which is there already.
 *
 *     wardfs-send WHAT HOST
 *
 * WHAT  "syslog": the batch is RFC 5425 frames; it has arrived when the other side, told that there
 *       is no more, ends the connection in turn. "http": the batch is one request of HTTP/1.1,
 *       which the other side answers.
 * HOST  whose certificate the other side has to show, a name or a numeric address. "": no TLS.
 *
 * It is started with the descriptors below and an empty environment, and writes to
 * WARD_SEND_TOLD: a WARD_SEND_PROGRESS for each piece that the kernel took, then WARD_SEND_END and
 * a struct ward_send_told with its text. It waits for the other side without an end of its own: who
 * started it has the clock.
 */
#pragma once

#include <assert.h>
#include <stdint.h>

enum ward_send_fd {
	WARD_SEND_BATCH = 0,  /* sealed memfd */
	WARD_SEND_TOLD = 1,   /* write end of a pipe */
	WARD_SEND_SOCKET = 3, /* connected, non-blocking */
	/* With TLS, files of PEM: */
	WARD_SEND_CA = 4,   /* whom to trust */
	WARD_SEND_CERT = 5, /* our certificate and those that lead to it; may be missing */
	WARD_SEND_KEY = 6,  /* its key, without a passphrase; may be missing with CERT */
};

#define WARD_SEND_PROGRESS '.'
#define WARD_SEND_END 'E'

/* Each of these files. All authorities of a Debian host have 220 kB. */
#define WARD_SEND_PEM_MAX (4U << 20)
/* The head and the body of an answer, which are some words; OTLP recommends 4 MiB at most. */
#define WARD_SEND_ANSWER_MAX (1U << 20)
#define WARD_SEND_TEXT_MAX 512U
/* Bytes of a batch that are one piece of progress. */
#define WARD_SEND_PIECE (16U << 10)

enum ward_send_result {
	WARD_SEND_NOTHING = 0, /* it said nothing */
	WARD_SEND_ARRIVED,     /* syslog */
	WARD_SEND_ANSWERED,    /* http: status, rejected, and why as the text */
	WARD_SEND_CUT,	       /* the connection ended before that: another one may succeed */
	WARD_SEND_REFUSED,     /* one side does not accept the other one's certificate */
	WARD_SEND_BAD,	       /* what came is no answer */
	WARD_SEND_FILES,       /* a PEM file is not what it should be */
};

struct ward_send_told {
	uint32_t result;     /* enum ward_send_result */
	uint32_t status;     /* of HTTP; else 0 */
	int64_t retry_after; /* seconds that the answer asks to wait; -1: it does not */
	int64_t rejected; /* records that the answer says were not taken (OTLP, partial success) */
	uint32_t len;	  /* bytes of text behind this, at most WARD_SEND_TEXT_MAX */
	uint32_t zero;
};
static_assert(sizeof(struct ward_send_told) == 32, "what is told has no holes");
