/* SPDX-License-Identifier: Apache-2.0 */
/* Derives keys, computes the macs of records, and takes a line apart. */
#include "audit/log/chain.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "enforcer/base/clock.h"

#define RATCHET_LABEL "wardfs ratchet"
#define MAC_MEMBER ",\"mac\":\""
#define MAC_MEMBER_LEN (sizeof(MAC_MEMBER) - 1)
/* MAC_MEMBER, digits, quote, brace */
#define MAC_TAIL (MAC_MEMBER_LEN + WARD_MAC_HEX + 2)

static_assert(WARD_KEY_BYTES == crypto_generichash_KEYBYTES, "BLAKE2b's usual key");
static_assert(WARD_MAC_BYTES == crypto_generichash_BYTES, "BLAKE2b's usual output");

int ward_chain_setup(void)
{
	return sodium_init() < 0 ? -ENOSYS : 0;
}

/* H(key, a || b); cannot fail with these constant lengths. */
static void hash2(const uint8_t *key, const void *a, size_t a_len, const void *b, size_t b_len,
	uint8_t ret[WARD_MAC_BYTES])
{
	crypto_generichash_state st;
	(void)crypto_generichash_init(&st, key, key ? WARD_KEY_BYTES : 0, WARD_MAC_BYTES);
	(void)crypto_generichash_update(&st, a, a_len);
	(void)crypto_generichash_update(&st, b, b_len);
	(void)crypto_generichash_final(&st, ret, WARD_MAC_BYTES);
}

void ward_chain_derive(const uint8_t root[WARD_KEY_BYTES], const char *label, const char *session,
	uint8_t ret_key[WARD_KEY_BYTES])
{
	/* The label's NUL is the separator. */
	hash2(root, label, strlen(label) + 1, session, strlen(session), ret_key);
}

void ward_chain_first_key(
	const uint8_t root[WARD_KEY_BYTES], const char *session, uint8_t ret_key[WARD_KEY_BYTES])
{
	ward_chain_derive(root, "wardfs trail", session, ret_key);
}

void ward_chain_ratchet(uint8_t key[WARD_KEY_BYTES])
{
	uint8_t in[sizeof(RATCHET_LABEL) - 1 + WARD_KEY_BYTES];
	memcpy(in, RATCHET_LABEL, sizeof(RATCHET_LABEL) - 1);
	memcpy(in + sizeof(RATCHET_LABEL) - 1, key, WARD_KEY_BYTES);
	(void)crypto_generichash(key, WARD_KEY_BYTES, in, sizeof(in), NULL, 0);
	sodium_memzero(in, sizeof(in));
}

void ward_chain_mac(const uint8_t key[WARD_KEY_BYTES], const uint8_t prev[WARD_MAC_BYTES],
	const void *body, size_t len, uint8_t ret_mac[WARD_MAC_BYTES])
{
	hash2(key, prev, WARD_MAC_BYTES, body, len, ret_mac);
}

void ward_chain_wipe(void *p, size_t len)
{
	sodium_memzero(p, len);
}

void ward_chain_seal(const uint8_t key[WARD_KEY_BYTES], uint8_t prev[WARD_MAC_BYTES],
	struct ward_buf *b, size_t start)
{
	if (b->error || start > b->len)
		return;
	uint8_t mac[WARD_MAC_BYTES];
	ward_chain_mac(key, prev, b->data + start, b->len - start, mac);
	memcpy(prev, mac, sizeof(mac));
	ward_buf_add(b, MAC_MEMBER, MAC_MEMBER_LEN);
	ward_put_hex(b, mac, sizeof(mac));
	ward_buf_add(b, "\"}\n", 3);
}

/* --- taking apart --- */

struct cursor {
	const char *p;
	const char *end;
};

static bool skip(struct cursor *c, const char *text)
{
	size_t n = strlen(text);
	if ((size_t)(c->end - c->p) < n || memcmp(c->p, text, n) != 0)
		return false;
	c->p += n;
	return true;
}

/* A decimal number without sign or leading zeros. */
static bool number(struct cursor *c, uint64_t *ret)
{
	const char *from = c->p;
	uint64_t v = 0;
	for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(*c->p - '0'), &v))
			return false;
	if (c->p == from || (*from == '0' && c->p - from > 1))
		return false;
	*ret = v;
	return true;
}

static bool name_char(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       ch == '.' || ch == '_' || ch == '-';
}

bool ward_session_name_valid(const char *s, size_t len)
{
	if (len == 0 || len > WARD_SESSION_NAME_MAX || s[0] == '.' || s[0] == '-')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!name_char(s[i]))
			return false;
	return true;
}

/* One more than the value of a hexadecimal digit, 0 for all else: each line has 64 of them. */
static const uint8_t hex_digits[256] = {['0'] = 1,
	['1'] = 2,
	['2'] = 3,
	['3'] = 4,
	['4'] = 5,
	['5'] = 6,
	['6'] = 7,
	['7'] = 8,
	['8'] = 9,
	['9'] = 10,
	['a'] = 11,
	['b'] = 12,
	['c'] = 13,
	['d'] = 14,
	['e'] = 15,
	['f'] = 16};

static bool parse_mac(const char *tail, uint8_t ret[WARD_MAC_BYTES])
{
	if (memcmp(tail, MAC_MEMBER, MAC_MEMBER_LEN) != 0 ||
		memcmp(tail + MAC_MEMBER_LEN + WARD_MAC_HEX, "\"}", 2) != 0)
		return false;
	const uint8_t *p = (const uint8_t *)tail + MAC_MEMBER_LEN;
	bool good = true;
	for (size_t i = 0; i < WARD_MAC_BYTES; i++, p += 2) {
		unsigned hi = hex_digits[p[0]];
		unsigned lo = hex_digits[p[1]];
		good &= hi && lo;
		ret[i] = (uint8_t)((hi - 1) << 4 | (lo - 1));
	}
	return good;
}

int ward_line_parse(const char *line, size_t len, struct ward_line *ret)
{
	if (len < MAC_TAIL || len >= WARD_LINE_MAX)
		return -EBADMSG;
	struct ward_line l = {.body_len = len - MAC_TAIL};
	struct cursor c = {.p = line, .end = line + l.body_len};
	if (!parse_mac(c.end, l.mac) || !skip(&c, "{\"v\":1,\"seq\":") || !number(&c, &l.seq) ||
		l.seq == 0 || !skip(&c, ",\"session\":\""))
		return -EBADMSG;
	l.session = c.p;
	while (c.p < c.end && name_char(*c.p))
		c.p++;
	l.session_len = (size_t)(c.p - l.session);
	if (!ward_session_name_valid(l.session, l.session_len) || !skip(&c, "\",\"kind\":\""))
		return -EBADMSG;
	l.kind = c.p;
	while (c.p < c.end && ((*c.p >= 'a' && *c.p <= 'z') || *c.p == '.'))
		c.p++;
	l.kind_len = (size_t)(c.p - l.kind);
	if (l.kind_len == 0 || !skip(&c, "\""))
		return -EBADMSG;
	l.rest = c.p;
	l.rest_len = (size_t)(c.end - c.p);
	*ret = l;
	return 0;
}

bool ward_line_is(const struct ward_line *l, const char *kind)
{
	return strlen(kind) == l->kind_len && memcmp(kind, l->kind, l->kind_len) == 0;
}

bool ward_line_of(const struct ward_line *l, const char *session)
{
	return strlen(session) == l->session_len &&
	       memcmp(session, l->session, l->session_len) == 0;
}

int ward_line_source(const struct ward_line *l, int64_t *ret_ring, uint64_t *ret_pos)
{
	struct cursor c = {.p = l->rest, .end = l->rest + l->rest_len};
	uint64_t mono = 0;
	uint64_t ring = 0;
	uint64_t pos = 0;
	if (!skip(&c, ",\"time\":\""))
		return -EBADMSG;
	const char *quote = memchr(c.p, '"', (size_t)(c.end - c.p));
	if (!quote)
		return -EBADMSG;
	c.p = quote;
	if (!skip(&c, "\",\"mono\":") || !number(&c, &mono) || !skip(&c, ",\"ring\":"))
		return -EBADMSG;
	bool negative = skip(&c, "-");
	if (!number(&c, &ring) || ring > INT32_MAX || !skip(&c, ",\"pos\":") || !number(&c, &pos))
		return -EBADMSG;
	*ret_ring = negative ? -(int64_t)ring : (int64_t)ring;
	*ret_pos = pos;
	return 0;
}

/* --- text --- */

/* "00" to "99": a record has some twenty numbers, and each division is two digits then. */
static const char pairs[] = "00010203040506070809101112131415161718192021222324"
			    "25262728293031323334353637383940414243444546474849"
			    "50515253545556575859606162636465666768697071727374"
			    "75767778798081828384858687888990919293949596979899";

void ward_put_u64(struct ward_buf *b, uint64_t v)
{
	char text[20];
	size_t i = sizeof(text);
	for (; v >= 100; v /= 100)
		memcpy(text + (i -= 2), pairs + 2 * (v % 100), 2);
	if (v >= 10)
		memcpy(text + (i -= 2), pairs + 2 * v, 2);
	else
		text[--i] = (char)('0' + v);
	ward_buf_add(b, text + i, sizeof(text) - i);
}

static void digits(char *to, unsigned n, uint64_t v)
{
	for (; n >= 2; v /= 100)
		memcpy(to + (n -= 2), pairs + 2 * (v % 100), 2);
	if (n > 0)
		*to = (char)('0' + v % 10);
}

void ward_put_time(struct ward_buf *b, uint64_t real_ns)
{
	uint64_t sec = real_ns / WARD_NS_PER_SEC;
	uint64_t day = sec / 86400;
	uint64_t in_day = sec % 86400;
	/* Civil date from days: eras of 400 years that begin on 1 March. */
	uint64_t z = day + 719468;
	uint64_t era = z / 146097;
	uint64_t doe = z % 146097;
	uint64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	uint64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	uint64_t mp = (5 * doy + 2) / 153;
	uint64_t month = mp < 10 ? mp + 3 : mp - 9;
	char t[] = "\"0000-00-00T00:00:00.000000000Z\"";
	digits(t + 1, 4, yoe + era * 400 + (month <= 2));
	digits(t + 6, 2, month);
	digits(t + 9, 2, doy - (153 * mp + 2) / 5 + 1);
	digits(t + 12, 2, in_day / 3600);
	digits(t + 15, 2, in_day / 60 % 60);
	digits(t + 18, 2, in_day % 60);
	digits(t + 21, 9, real_ns % WARD_NS_PER_SEC);
	ward_buf_add(b, t, sizeof(t) - 1);
}

void ward_put_hex(struct ward_buf *b, const uint8_t *p, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	for (size_t i = 0; i < n; i += 32) {
		char text[64];
		size_t k = n - i < 32 ? n - i : 32;
		for (size_t j = 0; j < k; j++) {
			text[2 * j] = hex[p[i + j] >> 4];
			text[2 * j + 1] = hex[p[i + j] & 15];
		}
		ward_buf_add(b, text, 2 * k);
	}
}

uint64_t ward_chain_session_sum(const char *name, size_t len, uint64_t records)
{
	unsigned char key[crypto_shorthash_KEYBYTES] = {0};
	uint64_t sum = 0;
	static_assert(crypto_shorthash_BYTES == sizeof(sum), "a sum");
	memcpy(key, &records, sizeof(records));
	(void)crypto_shorthash((unsigned char *)&sum, (const unsigned char *)name, len, key);
	return sum >> 24;
}
