/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An answer of HTTP/1.1 (RFC 9112) to one POST: status, Retry-After, body. Answers of 1xx are
 * passed over. The body has a length, or comes in chunks, or ends with the connection. Pure: no
 * I/O.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct send_answer {
	unsigned status;     /* 200 to 599 */
	int64_t retry_after; /* seconds; -1: none */
	bool json;	     /* Content-Type: application/json */
	bool until_end;	     /* the end of the connection is the end of the body */
	size_t body, len;    /* where the body begins in text, and its bytes */
};

/*
 * text: all that came so far, in which the chunks of a complete answer are moved together. now_s:
 * the time, for a Retry-After that is a date. Returns 1: it is complete (with until_end: as far as
 * came); 0: more has to come; -EBADMSG: it is no such answer.
 */
int send_answer_take(char *text, size_t len, int64_t now_s, struct send_answer *ret);
