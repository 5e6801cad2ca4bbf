/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A destination as [network] and grants name one: HOST[:PORT,…][/udp], where HOST is a name, an
 * address or a block of addresses. Pure: no name is looked up. A name is compared with names, an
 * address with addresses and blocks of them, in whatever spelling they come.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/err.h"
#include "enforcer/policy/address.h"

/* What a session asks for, or what an entry names. */
struct ward_destination {
	char host[256];	   /* without brackets and the dot of the root */
	const char *ports; /* "443,80" or NULL: any */
	size_t n_ports;
	bool udp;
	bool is_address;
	bool odd; /* an address in a spelling that programs read in different ways: 0177.0.0.1 */
	struct ward_address address;
	unsigned bits; /* of a block; 128: one address */
};

/*
 * Takes "HOST[:PORTS][/udp]" apart; HOST may be [ADDRESS]. loose: also spellings of addresses that
 * programs read in different ways. False: the text is no destination.
 */
bool ward_destination_parse(
	const char *text, bool loose, struct ward_destination *ret) ward_must_check;
/* What names no port means the usual two, as an `allow` does. */
void ward_destination_default_ports(struct ward_destination *d);

bool ward_destination_in_block(const struct ward_destination *block, const struct ward_address *a);
/* Does what an entry names, ports aside, cover the host that is asked for? deny: "*" is all. */
bool ward_destination_names(
	const struct ward_destination *e, const struct ward_destination *asked, bool deny);
/* The same with ports and protocol. */
bool ward_destination_covers(
	const struct ward_destination *e, const struct ward_destination *asked, bool deny);
