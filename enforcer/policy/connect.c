/* SPDX-License-Identifier: Apache-2.0 */
/*
 * May the session connect? Pure: no name is looked up. A name is compared with names, an address
 * with addresses and blocks of them, in whatever spelling they come.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "enforcer/policy/explain.h"
#include "enforcer/policy/internal.h"

/* An address; IPv4 as IPv4-mapped IPv6 (RFC 4291, 2.5.5.2), so that both spellings are one. */
struct address {
	unsigned char bytes[16];
};

/* What a session asks for, or what an entry names. */
struct destination {
	char host[256];	   /* without brackets and the dot of the root */
	const char *ports; /* "443,80" or NULL: any */
	size_t n_ports;
	bool udp;
	bool is_address;
	struct address address;
	unsigned bits; /* of a block; 128: one address */
};

/*
 * loose: also the short and numeric spellings that inet_aton(3) and with it many programs take
 * (127.1, 0x7f000001): what a session asks for may be spelt so.
 */
static bool parse_address(const char *text, bool loose, struct address *ret)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct in_addr v4;
	if (inet_pton(AF_INET6, text, ret->bytes) == 1)
		return true;
	if (inet_pton(AF_INET, text, &v4) != 1 && !(loose && inet_aton(text, &v4)))
		return false;
	memcpy(ret->bytes, mapped, sizeof(mapped));
	memcpy(ret->bytes + sizeof(mapped), &v4, 4);
	return true;
}

/* HOST is an address, or a block of them: fills is_address, address, bits and cuts "/BITS" off. */
static void parse_block(struct destination *d, bool loose)
{
	char *slash = strchr(d->host, '/');
	unsigned bits = 0;
	if (slash) {
		*slash = 0;
		for (const char *s = slash + 1; *s >= '0' && *s <= '9' && bits < 1000; s++)
			bits = bits * 10 + (unsigned)(*s - '0');
	}
	d->is_address = parse_address(d->host, loose, &d->address);
	d->bits = !slash ? 128 : strchr(d->host, ':') ? bits : bits + 96;
	if (d->bits > 128)
		d->is_address = false;
}

/* Takes "HOST[:PORTS][/udp]" apart; HOST may be [ADDRESS]. False: it is none. */
static bool parse_destination(const char *text, bool loose, struct destination *ret)
{
	*ret = (struct destination){.bits = 128};
	size_t len = strlen(text);
	if (len > 4 && strcmp(text + len - 4, "/udp") == 0) {
		ret->udp = true;
		len -= 4;
	}
	const char *host = text, *end = memchr(text, ':', len);
	if (text[0] == '[') {
		host = text + 1;
		end = memchr(text, ']', len);
		if (!end)
			return false;
	} else if (end && memchr(end + 1, ':', len - (size_t)(end + 1 - text))) {
		end = NULL; /* an IPv6 address without a port */
	}
	size_t n = end ? (size_t)(end - host) : len;
	const char *rest = end ? end + (*end == ']') : text + len;
	if (n > 1 && host[n - 1] == '.')
		n--;
	if (n == 0 || n >= sizeof(ret->host) || (rest < text + len && *rest != ':'))
		return false;
	memcpy(ret->host, host, n);
	ret->host[n] = 0;
	if (rest < text + len) {
		ret->ports = rest + 1;
		ret->n_ports = len - (size_t)(rest + 1 - text);
	}
	parse_block(ret, loose);
	return true;
}

static bool in_block(const struct destination *block, const struct address *a)
{
	unsigned whole = block->bits / 8, rest = block->bits % 8;
	if (memcmp(block->address.bytes, a->bytes, whole) != 0)
		return false;
	unsigned char mask = (unsigned char)(0xff00U >> rest);
	return !rest || !((block->address.bytes[whole] ^ a->bytes[whole]) & mask);
}

static bool port_listed(const struct destination *entry, const struct destination *asked)
{
	const char *s = entry->ports, *end = s ? s + entry->n_ports : NULL;
	if (!s)
		return true;
	while (s < end) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		size_t n = (size_t)((comma ? comma : end) - s);
		if (n > 0 && n == asked->n_ports && memcmp(s, asked->ports, n) == 0)
			return true;
		s += n + 1;
	}
	return false;
}

/* Does an entry's value cover what is asked? */
static bool covers(const char *value, const struct destination *asked)
{
	struct destination e;
	if (!parse_destination(value, false, &e) || e.udp != asked->udp || !port_listed(&e, asked))
		return false;
	if (strcmp(e.host, "*") == 0)
		return true;
	if (e.is_address || asked->is_address)
		return e.is_address && asked->is_address && in_block(&e, &asked->address);
	size_t len = strlen(asked->host), n = strlen(e.host);
	if (strncmp(e.host, "*.", 2) == 0)
		return len > n - 1 && strcasecmp(asked->host + len - (n - 1), e.host + 1) == 0;
	return strcasecmp(asked->host, e.host) == 0;
}

static const struct ward_entry *find_mode(const struct ward_policy *p)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (strcmp(e->key->section, "network") == 0 && strcmp(e->key->name, "mode") == 0)
			return e;
	}
	return NULL;
}

static const struct ward_entry *find_host(
	const struct ward_policy *p, const char *key, const struct destination *asked)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (strcmp(e->key->section, "network") == 0 && strcmp(e->key->name, key) == 0 &&
			covers(e->value, asked))
			return e;
	}
	return NULL;
}

static void put_entry(const struct ward_entry *e, const char *otherwise, struct ward_buf *place,
	struct ward_buf *text)
{
	if (!e) {
		ward_buf_puts(place, "default");
		ward_buf_puts(text, otherwise);
		return;
	}
	ward_buf_printf(place, "%s:%u", e->file, e->line);
	ward_buf_printf(text, "[network] %s = %s", e->key->name, e->value);
}

enum ward_verdict ward_policy_connect(const struct ward_policy *p, const char *host_port,
	struct ward_buf *ret_place, struct ward_buf *ret_text)
{
	struct destination asked;
	bool ok = parse_destination(host_port, true, &asked);
	const struct ward_entry *mode = find_mode(p);
	if (p->settings.net == WARD_NET_NONE || !ok) {
		put_entry(mode, "[network] mode = none", ret_place, ret_text);
		return WARD_VERDICT_DENY;
	}
	const struct ward_entry *e = find_host(p, "deny", &asked);
	if (e) {
		put_entry(e, "", ret_place, ret_text);
		return WARD_VERDICT_DENY;
	}
	e = find_host(p, "allow", &asked);
	bool allowed = e || p->settings.net == WARD_NET_HOST;
	put_entry(e ? e : mode, "", ret_place, ret_text);
	return allowed ? WARD_VERDICT_ALLOW : WARD_VERDICT_DENY;
}
