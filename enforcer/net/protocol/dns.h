/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of a name server (RFC 1035), as few as it takes to answer one question about one
 * name by ourselves: a request with one question and at most an EDNS record (RFC 6891) is taken
 * apart, an answer with at most one address is put together. Pure; no length is believed before it
 * was checked, compressed names are refused (a question has nothing to refer to), trailing bytes
 * are refused.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/* RFC 1035, 4.2.1: what every client takes over UDP; no answer of ours is longer. */
#define WARD_DNS_ANSWER_MAX 512
/* A name of 255 bytes in which each needs four ("\DDD", RFC 4343, 2.1), and NUL. */
#define WARD_DNS_TEXT_MAX 1024

enum { WARD_DNS_TYPE_A = 1, WARD_DNS_TYPE_AAAA = 28 };

/* RFC 1035, 4.1.1 */
enum ward_dns_rcode {
	WARD_DNS_NOERROR = 0,
	WARD_DNS_FORMERR = 1,
	WARD_DNS_SERVFAIL = 2,
	WARD_DNS_NXDOMAIN = 3,
	WARD_DNS_NOTIMP = 4,
	WARD_DNS_REFUSED = 5,
};

struct ward_dns_question {
	uint16_t id;
	bool recursion; /* desired */
	bool edns;
	uint16_t type, class;
	bool plain; /* letters, digits, '-' and '_' alone: can be a name of a policy */
	char text[WARD_DNS_TEXT_MAX]; /* lower case, without the last dot; "." for the root */
	uint8_t wire[260];	      /* the question as it came: clients compare it */
	size_t wire_len;
};

/*
 * Takes a request apart. Returns an enum ward_dns_rcode: NOERROR, or what to answer (FORMERR,
 * NOTIMP); -EBADMSG: not to be answered at all (too short, or itself an answer: RFC 5358). In the
 * second case *ret holds what ward_dns_answer() needs.
 */
int ward_dns_parse(const void *data, size_t len, struct ward_dns_question *ret) ward_must_check;

/*
 * Puts an answer together: addr_len is 4, 16 or 0 (no address), ttl in seconds. Returns its length.
 */
size_t ward_dns_answer(const struct ward_dns_question *q, enum ward_dns_rcode rcode,
	const void *addr, size_t addr_len, uint32_t ttl, uint8_t ret[WARD_DNS_ANSWER_MAX]);

/* "A", "TXT", "TYPE65"; for records. */
#define WARD_DNS_TYPE_TEXT_MAX 16
void ward_dns_type_text(uint16_t type, char ret[WARD_DNS_TYPE_TEXT_MAX]);
