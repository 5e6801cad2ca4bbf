/* SPDX-License-Identifier: Apache-2.0 */
/* Takes destinations apart, and compares them. */
#include "enforcer/policy/destination.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "enforcer/base/quantity.h"

/* Ports of an `allow` that names none (wardfs-policy(5)). */
static const char default_ports[] = "443,80";

void ward_destination_default_ports(struct ward_destination *d)
{
	if (d->ports)
		return;
	d->ports = default_ports;
	d->n_ports = sizeof(default_ports) - 1;
}

/* HOST is an address, or a block of them: fills is_address, address, bits and cuts "/BITS" off. */
static void parse_block(struct ward_destination *d, bool loose)
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

/* Takes "HOST[:PORTS][/udp]" apart; HOST may be [ADDRESS]. False: no destination. */
bool ward_destination_parse(const char *text, bool loose, struct ward_destination *ret)
{
	*ret = (struct ward_destination){.bits = 128};
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

static bool in_block(const struct ward_destination *block, const struct ward_address *a)
{
	unsigned whole = block->bits / 8, rest = block->bits % 8;
	if (memcmp(block->address.bytes, a->bytes, whole) != 0)
		return false;
	unsigned char mask = (unsigned char)(0xff00U >> rest);
	return !rest || !((block->address.bytes[whole] ^ a->bytes[whole]) & mask);
}

/* What leads to an address is the same destination. */
bool ward_destination_in_block(const struct ward_destination *block, const struct ward_address *a)
{
	struct ward_address inner;
	return in_block(block, a) || (ward_address_carries(a, &inner) && in_block(block, &inner));
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
static bool port_listed(const struct ward_destination *entry, const struct ward_destination *asked)
{
	return !asked->ports || !entry->ports ||
	       port_in(entry->ports, entry->n_ports, asked->ports, asked->n_ports);
}

/* Does what an entry names, ports aside, cover the host that is asked for? */
bool ward_destination_names(
	const struct ward_destination *e, const struct ward_destination *asked, bool deny)
{
	bool star = strcmp(e->host, "*") == 0;
	if (star && asked->is_address)
		return deny || ward_address_is_public(&asked->address);
	if (star)
		return true;
	if (e->is_address || asked->is_address)
		return e->is_address && asked->is_address &&
		       ward_destination_in_block(e, &asked->address);
	size_t len = strlen(asked->host), n = strlen(e->host);
	if (strncmp(e->host, "*.", 2) == 0)
		return len > n - 1 && strcasecmp(asked->host + len - (n - 1), e->host + 1) == 0;
	return strcasecmp(asked->host, e->host) == 0;
}

bool ward_destination_covers(
	const struct ward_destination *e, const struct ward_destination *asked, bool deny)
{
	bool protocol = e->udp == asked->udp || (deny && !e->ports);
	return protocol && port_listed(e, asked) && ward_destination_names(e, asked, deny);
}
