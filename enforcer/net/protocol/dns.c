/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a DNS question apart and puts an answer together. */
#include "enforcer/net/protocol/dns.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HEAD 12U
#define TYPE_OPT 41U
/* Bits of the second word of the head. */
#define FLAG_QR 0x8000U
#define FLAG_AA 0x0400U
#define FLAG_RD 0x0100U
#define FLAG_RA 0x0080U
#define OPCODE(flags) (((flags) >> 11) & 15U)
/* What we offer a client that speaks EDNS: RFC 9715 and every resolver's default. */
#define UDP_SIZE 1232U

struct reader {
	const uint8_t *p;
	size_t left;
	bool bad;
};

static unsigned get8(struct reader *r)
{
	if (r->left < 1) {
		r->bad = true;
		return 0;
	}
	r->left--;
	return *r->p++;
}

static unsigned get16(struct reader *r)
{
	unsigned high = get8(r);
	return high << 8 | get8(r);
}

static void skip(struct reader *r, size_t n)
{
	if (r->left < n) {
		r->bad = true;
		n = r->left;
	}
	r->p += n;
	r->left -= n;
}

/* Appends one byte of a label to the text; "\DDD" where it is no letter, digit, '-' or '_'. */
static size_t put_byte(struct ward_dns_question *q, size_t at, unsigned c)
{
	if (c >= 'A' && c <= 'Z')
		c += 'a' - 'A';
	if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_') {
		q->text[at] = (char)c;
		return at + 1;
	}
	q->plain = false;
	snprintf(q->text + at, 5, "\\%03u", c & 255U);
	return at + 4;
}

/* RFC 1035, 3.1 and 2.3.4: labels of 1 to 63 bytes, 255 in all with their lengths. */
static void get_name(struct reader *r, struct ward_dns_question *q)
{
	size_t at = 0, bytes = 0;
	q->plain = true;
	for (;;) {
		unsigned n = get8(r);
		bytes += 1 + n;
		if (r->bad || n > 63 || bytes > 255 || n > r->left) {
			r->bad = true;
			return;
		}
		if (n == 0)
			break;
		if (at)
			q->text[at++] = '.';
		for (unsigned i = 0; i < n; i++)
			at = put_byte(q, at, get8(r));
	}
	if (at == 0) {
		q->text[at++] = '.';
		q->plain = false;
	}
	q->text[at] = 0;
}

/* An OPT record and nothing else may follow the question. */
static void get_edns(struct reader *r, struct ward_dns_question *q)
{
	if (get8(r) != 0 || get16(r) != TYPE_OPT)
		r->bad = true;
	(void)get16(r); /* the client's UDP size: our answers fit into any */
	if (get16(r) & 0xff00U)
		r->bad = true; /* an extended code in a question */
	(void)get16(r);
	skip(r, get16(r));
	q->edns = true;
}

int ward_dns_parse(const void *data, size_t len, struct ward_dns_question *ret)
{
	struct reader r = {data, len, false};
	*ret = (struct ward_dns_question){.id = (uint16_t)get16(&r)};
	unsigned flags = get16(&r);
	unsigned n_questions = get16(&r), n_answers = get16(&r), n_authority = get16(&r);
	unsigned n_more = get16(&r);
	if (r.bad || flags & FLAG_QR)
		return -EBADMSG;
	ret->recursion = flags & FLAG_RD;
	if (OPCODE(flags) != 0)
		return WARD_DNS_NOTIMP;
	if (n_questions != 1 || n_answers || n_authority || n_more > 1)
		return WARD_DNS_FORMERR;
	const uint8_t *start = r.p;
	get_name(&r, ret);
	ret->type = (uint16_t)get16(&r);
	ret->class = (uint16_t)get16(&r);
	if (r.bad)
		return WARD_DNS_FORMERR;
	/* A name of 255 bytes and two words: always fits. */
	ret->wire_len = (size_t)(r.p - start);
	memcpy(ret->wire, start, ret->wire_len);
	if (n_more)
		get_edns(&r, ret);
	return r.bad || r.left ? WARD_DNS_FORMERR : WARD_DNS_NOERROR;
}

struct writer {
	uint8_t *p;
	size_t len;
};

static void put16(struct writer *w, unsigned v)
{
	w->p[w->len++] = (uint8_t)(v >> 8);
	w->p[w->len++] = (uint8_t)v;
}

size_t ward_dns_answer(const struct ward_dns_question *q, enum ward_dns_rcode rcode,
	const void *addr, size_t addr_len, uint32_t ttl, uint8_t ret[WARD_DNS_ANSWER_MAX])
{
	struct writer w = {ret, 0};
	bool found = rcode == WARD_DNS_NOERROR && addr_len;
	put16(&w, q->id);
	put16(&w, FLAG_QR | FLAG_AA | FLAG_RA | (q->recursion ? FLAG_RD : 0U) | (unsigned)rcode);
	put16(&w, q->wire_len ? 1 : 0);
	put16(&w, found ? 1 : 0);
	put16(&w, 0);
	put16(&w, q->edns ? 1 : 0);
	memcpy(w.p + w.len, q->wire, q->wire_len);
	w.len += q->wire_len;
	if (found) {
		put16(&w, 0xc000U | HEAD); /* the name: that of the question */
		put16(&w, addr_len == 4 ? WARD_DNS_TYPE_A : WARD_DNS_TYPE_AAAA);
		put16(&w, 1);
		put16(&w, ttl >> 16);
		put16(&w, ttl & 0xffffU);
		put16(&w, (unsigned)addr_len);
		memcpy(w.p + w.len, addr, addr_len);
		w.len += addr_len;
	}
	if (q->edns) {
		w.p[w.len++] = 0;
		put16(&w, TYPE_OPT);
		put16(&w, UDP_SIZE);
		put16(&w, 0);
		put16(&w, 0);
		put16(&w, 0);
	}
	return w.len;
}

void ward_dns_type_text(uint16_t type, char ret[WARD_DNS_TYPE_TEXT_MAX])
{
	static const struct {
		uint16_t type;
		const char *name;
	} known[] = {{1, "A"}, {2, "NS"}, {5, "CNAME"}, {6, "SOA"}, {12, "PTR"}, {15, "MX"},
		{16, "TXT"}, {28, "AAAA"}, {33, "SRV"}, {35, "NAPTR"}, {64, "SVCB"}, {65, "HTTPS"},
		{255, "ANY"}};
	snprintf(ret, WARD_DNS_TYPE_TEXT_MAX, "TYPE%u", type);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].type == type)
			snprintf(ret, WARD_DNS_TYPE_TEXT_MAX, "%s", known[i].name);
}
