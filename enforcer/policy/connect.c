/* SPDX-License-Identifier: Apache-2.0 */
/*
 * May the session connect? Pure: no name is looked up. A name is compared with names, an address
 * with addresses and blocks of them, in whatever spelling they come. An address that is nobody's in
 * the internet (address.h) is reached by an entry of addresses alone: "*" names what is public.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/quantity.h"
#include "enforcer/policy/address.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/internal.h"

/* Ports of an `allow` that names none (wardfs-policy(5)). */
static const char default_ports[] = "443,80";

/* What a session asks for, or what an entry names. */
struct destination {
	char host[256];	   /* without brackets and the dot of the root */
	const char *ports; /* "443,80" or NULL: any */
	size_t n_ports;
	bool udp;
	bool is_address;
	bool odd; /* an address in a spelling that programs read in different ways: 0177.0.0.1 */
	struct ward_address address;
	unsigned bits; /* of a block; 128: one address */
};

/* HOST is an address, or a block of them: fills is_address, address, bits and cuts "/BITS" off. */
static void parse_block(struct destination *d, bool loose)
{
	char *slash = strchr(d->host, '/');
	uint64_t number = 0;
	if (slash) {
		const char *s = slash + 1;
		*slash = 0;
		if (!ward_quantity_digits(&s, &number) || number > 128)
			number = 1000; /* no block has so many */
	}
	const unsigned bits = (unsigned)number;
	struct ward_address strict;
	d->is_address = ward_address_parse(d->host, loose, &d->address);
	d->odd = d->is_address && !ward_address_parse(d->host, false, &strict);
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

static bool in_block(const struct destination *block, const struct ward_address *a)
{
	unsigned whole = block->bits / 8, rest = block->bits % 8;
	if (memcmp(block->address.bytes, a->bytes, whole) != 0)
		return false;
	unsigned char mask = (unsigned char)(0xff00U >> rest);
	return !rest || !((block->address.bytes[whole] ^ a->bytes[whole]) & mask);
}

static bool port_in(const char *s, size_t n_list, const char *port, size_t n_port)
{
	const char *end = s + n_list;
	while (s < end) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		size_t n = (size_t)((comma ? comma : end) - s);
		if (n > 0 && n == n_port && memcmp(s, port, n) == 0)
			return true;
		s += n + 1;
	}
	return false;
}

/* A question without a port is about any of them. */
static bool port_listed(const struct destination *entry, const struct destination *asked)
{
	return !asked->ports || !entry->ports ||
	       port_in(entry->ports, entry->n_ports, asked->ports, asked->n_ports);
}

/* Does what an entry names, ports aside, cover the host that is asked for? */
static bool names_host(const struct destination *e, const struct destination *asked, bool deny)
{
	bool star = strcmp(e->host, "*") == 0;
	if (star && asked->is_address)
		return deny || ward_address_is_public(&asked->address);
	if (star)
		return true;
	if (e->is_address || asked->is_address)
		return e->is_address && asked->is_address && in_block(e, &asked->address);
	size_t len = strlen(asked->host), n = strlen(e->host);
	if (strncmp(e->host, "*.", 2) == 0)
		return len > n - 1 && strcasecmp(asked->host + len - (n - 1), e->host + 1) == 0;
	return strcasecmp(asked->host, e->host) == 0;
}

/* Takes an entry's value apart. Without ports an `allow` means the usual two, a `deny` everything,
 * UDP as well. */
static bool parse_entry(const struct ward_entry *e, struct destination *ret, bool *ret_deny)
{
	*ret_deny = e->key->type == WARD_KEY_TYPE_DENY;
	if ((!*ret_deny && e->key->type != WARD_KEY_TYPE_ALLOW) ||
		!parse_destination(e->value, false, ret))
		return false;
	if (!ret->ports && !*ret_deny) {
		ret->ports = default_ports;
		ret->n_ports = sizeof(default_ports) - 1;
	}
	return true;
}

static bool covers(const struct destination *e, const struct destination *asked, bool deny)
{
	bool protocol = e->udp == asked->udp || (deny && !e->ports);
	return protocol && port_listed(e, asked) && names_host(e, asked, deny);
}

static const struct ward_entry *find_host(
	const struct ward_policy *p, bool deny, const struct destination *asked)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		struct destination e;
		bool is_deny;
		if (parse_entry(p->effective[i], &e, &is_deny) && is_deny == deny &&
			covers(&e, asked, deny))
			return p->effective[i];
	}
	return NULL;
}

/* An `allow` of addresses that covers this one; "*" does not speak of addresses. */
static const struct ward_entry *find_block(
	const struct ward_policy *p, const struct destination *asked)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		struct destination e;
		bool deny;
		if (parse_entry(p->effective[i], &e, &deny) && !deny && e.is_address &&
			covers(&e, asked, false))
			return p->effective[i];
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
	const struct ward_entry *mode = WARD_ENTRY(p, net);
	if (p->settings.net == WARD_NET_NONE || !ok) {
		put_entry(mode, "[network] mode = none", ret_place, ret_text);
		return WARD_VERDICT_DENY;
	}
	const struct ward_entry *e = find_host(p, true, &asked);
	/* Neither CONNECT nor the CONNECT of SOCKS5 carries datagrams. */
	bool carried = !asked.udp || p->settings.net != WARD_NET_PROXY;
	if (e || !carried) {
		put_entry(e ? e : mode, "", ret_place, ret_text);
		return WARD_VERDICT_DENY;
	}
	/* What it means is a guess, which only a `deny` may take: a resolver may read another one.
	 */
	e = asked.odd ? NULL : find_host(p, false, &asked);
	bool allowed = e || p->settings.net == WARD_NET_HOST;
	put_entry(e ? e : mode, "", ret_place, ret_text);
	return allowed ? WARD_VERDICT_ALLOW : WARD_VERDICT_DENY;
}

/* Inside, these names are the session itself, and never this host. */
static bool is_loopback(const struct destination *d)
{
	static const struct destination blocks[] = {
		{.bits = 104, .address = {.bytes = {[10] = 0xff, [11] = 0xff, [12] = 127}}},
		{.bits = 128, .address = {.bytes = {[15] = 1}}},		 /* ::1 */
		{.bits = 128, .address = {.bytes = {[10] = 0xff, [11] = 0xff}}}, /* 0.0.0.0 */
		{.bits = 128},							 /* :: */
	};
	const size_t len = strlen(d->host), n = sizeof(".localhost") - 1;
	if (!d->is_address)
		return strcasecmp(d->host, "localhost") == 0 ||
		       (len > n && strcasecmp(d->host + len - n, ".localhost") == 0);
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
		if (in_block(&blocks[i], &d->address))
			return true;
	return false;
}

bool ward_connect_is_loopback(const char *host_port)
{
	struct destination d;
	return parse_destination(host_port, true, &d) && is_loopback(&d);
}

/* The `forward` of that port inside. */
static const struct ward_entry *find_forward(
	const struct ward_policy *p, const struct destination *asked)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		const size_t n = strcspn(e->value, ":");
		if (WARD_ENTRY_IS(e, net_forward) && n == asked->n_ports &&
			memcmp(e->value, asked->ports, n) == 0)
			return e;
	}
	return NULL;
}

enum ward_verdict ward_policy_connect_inside(const struct ward_policy *p, const char *host_port,
	struct ward_buf *ret_place, struct ward_buf *ret_text)
{
	struct destination asked;
	const enum ward_net net = p->settings.net;
	if (net == WARD_NET_HOST || !parse_destination(host_port, true, &asked) ||
		!is_loopback(&asked))
		return ward_policy_connect(p, host_port, ret_place, ret_text);
	const struct ward_entry *e =
		net == WARD_NET_NONE || asked.udp || !asked.ports ? NULL : find_forward(p, &asked);
	if (!e)
		e = WARD_ENTRY(p, net);
	put_entry(e, "[network] mode = none", ret_place, ret_text);
	return e && WARD_ENTRY_IS(e, net_forward) ? WARD_VERDICT_ALLOW : WARD_VERDICT_DENY;
}

static void explain_loopback(const struct destination *asked, struct ward_buf *b)
{
	const int n = asked->ports ? (int)asked->n_ports : 4;
	const char *port = asked->ports ? asked->ports : "PORT";
	if (asked->udp)
		ward_buf_puts(b, "nothing permits it: forward leads TCP alone");
	else
		ward_buf_printf(b,
			"wardfs policy add forward %.*s, for this project; wardfs run --forward %.*s, for one "
			"run",
			n, port, n, port);
}

void ward_explain_connect(const char *host_port, const char *text, struct ward_buf *b)
{
	struct destination asked;
	if (!parse_destination(host_port, true, &asked)) {
		ward_buf_puts(b, "nothing permits it: it is no HOST:PORT");
		return;
	}
	if (is_loopback(&asked)) {
		explain_loopback(&asked, b);
		return;
	}
	/* Of the mode, whatever no `allow` covers; else of one line. */
	if (strncmp(text, "[network] mode = ", 17) != 0) {
		ward_buf_printf(
			b, "nothing lifts '%s': only a policy without this line permits it", text);
		return;
	}
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	(void)ward_shell_quoted(&word, host_port);
	ward_buf_printf(b,
		"wardfs policy add allow %s, for this project; wardfs run --net %s, for one run",
		ward_buf_str(&word), ward_buf_str(&word));
}

enum ward_verdict ward_policy_answer(const struct ward_policy *p, const char *host_port, bool near,
	struct ward_buf *ret_place, struct ward_buf *ret_text)
{
	struct destination asked;
	bool ok = parse_destination(host_port, false, &asked);
	const struct ward_entry *e = ok ? find_host(p, true, &asked) : NULL;
	if (!ok || e) {
		put_entry(e, "no destination", ret_place, ret_text);
		return WARD_VERDICT_DENY;
	}
	if (!asked.is_address || (!near && ward_address_is_public(&asked.address)))
		return WARD_VERDICT_ALLOW;
	e = find_block(p, &asked);
	put_entry(e, "a name has led to an address that is not public: allow the block by itself",
		ret_place, ret_text);
	return e ? WARD_VERDICT_ALLOW : WARD_VERDICT_DENY;
}

bool ward_policy_expects_host(const struct ward_policy *p, const char *host_port,
	const char **ret_file, unsigned *ret_line)
{
	struct destination asked, e;
	if (!parse_destination(host_port, true, &asked))
		return false;
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *entry = p->effective[i];
		/* As a `deny`: without ports it means all, and what it names is no more than that.
		 */
		if (entry->key->type != WARD_KEY_TYPE_EXPECTED_HOST ||
			!parse_destination(entry->value, false, &e) || !covers(&e, &asked, true))
			continue;
		*ret_file = entry->file;
		*ret_line = entry->line;
		return true;
	}
	return false;
}

static void add_port(struct ward_reach *r, const char *s, size_t n, bool udp)
{
	unsigned port = 0;
	uint16_t *v = udp ? r->udp : r->tcp;
	size_t *count = udp ? &r->n_udp : &r->n_tcp;
	for (size_t i = 0; i < n && n <= 5; i++)
		port = port * 10 + (unsigned)(s[i] - '0');
	for (size_t i = 0; i < *count; i++)
		if (v[i] == port)
			return;
	if (port == 0 || port > UINT16_MAX)
		return;
	if (*count == WARD_REACH_PORTS_MAX)
		r->more = true;
	else
		v[(*count)++] = (uint16_t)port;
}

/* The ports of one entry that no `deny` takes away for this host. */
static void add_ports(const struct ward_policy *p, const struct destination *e,
	const struct destination *host, struct ward_reach *r)
{
	const char *s = e->ports, *end = s + e->n_ports;
	if (e->udp && p->settings.net == WARD_NET_PROXY)
		return;
	while (s < end) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		struct destination asked = *host;
		asked.udp = e->udp;
		asked.ports = s;
		asked.n_ports = (size_t)((comma ? comma : end) - s);
		if (!find_host(p, true, &asked))
			add_port(r, s, asked.n_ports, e->udp);
		s += asked.n_ports + 1;
	}
}

void ward_policy_reach(const struct ward_policy *p, const char *host, struct ward_reach *ret)
{
	struct destination asked;
	*ret = (struct ward_reach){0};
	if (p->settings.net == WARD_NET_NONE || p->settings.net == WARD_NET_HOST ||
		!parse_destination(host, false, &asked) || asked.ports || asked.udp)
		return;
	for (size_t i = 0; i < p->n_effective; i++) {
		struct destination e;
		bool deny;
		if (parse_entry(p->effective[i], &e, &deny) && !deny &&
			names_host(&e, &asked, false))
			add_ports(p, &e, &asked, ret);
	}
}

void ward_policy_reach_blocks(const struct ward_policy *p, struct ward_reach *ret)
{
	*ret = (struct ward_reach){0};
	for (size_t i = 0; i < p->n_effective; i++) {
		struct destination e;
		bool deny;
		if (!parse_entry(p->effective[i], &e, &deny) || deny)
			continue;
		/* "*" is any public address as well */
		if (e.is_address || strcmp(e.host, "*") == 0)
			add_ports(p, &e, &e, ret);
	}
}
