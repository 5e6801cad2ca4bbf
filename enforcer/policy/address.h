/* SPDX-License-Identifier: Apache-2.0 */
/* Internet addresses: one form for both families, and which of them are public. Pure. */
#pragma once

#include <stdbool.h>

/* An address; IPv4 as IPv4-mapped IPv6 (RFC 4291, 2.5.5.2), so that both spellings are one. */
struct ward_address {
	unsigned char bytes[16];
};

/*
 * text is an address, without brackets. loose: also the short and numeric spellings that
 * inet_aton(3) and with it many programs take (127.1, 0x7f000001).
 */
bool ward_address_parse(const char *text, bool loose, struct ward_address *ret);

/*
 * False for what no server of the internet has: private, loopback, link-local, shared, multicast,
 * reserved blocks, the metadata services of clouds among them, and IPv6 forms that carry such an
 * IPv4 address (RFC 6890 and the registries that it made; RFC 6052, RFC 3056, RFC 4380). So do the
 * blocks for benchmarks (RFC 2544, RFC 5180): labs have networks there, and inside a session
 * 198.18.0.0/15 stands for names. The blocks for documentation (RFC 5737, RFC 3849) count as
 * public: nobody has them, so there is nothing to protect.
 */
bool ward_address_is_public(const struct ward_address *a);

/*
 * True for an address that carries another one, which a translator or router of the host's network
 * reaches for it: NAT64 (RFC 6052), 6to4 (RFC 3056). *ret is the one that it leads to.
 */
bool ward_address_carries(const struct ward_address *a, struct ward_address *ret);
