/* SPDX-License-Identifier: Apache-2.0 */
/* Parses internet addresses and blocks of them, and tells which are public. */
#include "enforcer/policy/address.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

bool ward_address_parse(const char *text, bool loose, struct ward_address *ret)
{
	struct in_addr v4;
	if (inet_pton(AF_INET6, text, ret->bytes) == 1)
		return true;
	if (inet_pton(AF_INET, text, &v4) != 1 && !(loose && inet_aton(text, &v4)))
		return false;
	memcpy(ret->bytes, mapped, sizeof(mapped));
	memcpy(ret->bytes + sizeof(mapped), &v4, 4);
	return true;
}

static bool is_v4(const struct ward_address *a)
{
	return memcmp(a->bytes, mapped, sizeof(mapped)) == 0;
}

struct block {
	unsigned char bytes[16];
	unsigned bits;
};

static bool within(const unsigned char *a, const struct block *b)
{
	unsigned whole = b->bits / 8, rest = b->bits % 8;
	if (memcmp(a, b->bytes, whole) != 0)
		return false;
	unsigned char mask = (unsigned char)(0xff00U >> rest);
	return !rest || !((a[whole] ^ b->bytes[whole]) & mask);
}

static bool public_v4(const unsigned char *a)
{
	static const struct block closed[] = {
		{{0}, 8},	     /* "this" network, RFC 791 */
		{{10}, 8},	     /* RFC 1918 */
		{{100, 64}, 10},     /* carrier-grade NAT, RFC 6598; some clouds' metadata */
		{{127}, 8},	     /* RFC 1122 */
		{{169, 254}, 16},    /* RFC 3927; 169.254.169.254: metadata */
		{{172, 16}, 12},     /* RFC 1918 */
		{{192, 0, 0}, 24},   /* RFC 6890 */
		{{192, 88, 99}, 24}, /* relays of 6to4, deprecated, RFC 7526 */
		{{192, 168}, 16},    /* RFC 1918 */
		{{198, 18}, 15},     /* benchmarks, RFC 2544; labs, made-up addresses of TUNs */
		{{168, 63, 129, 16}, 32}, /* Azure's agent and metadata address */
		{{224}, 4},		  /* multicast, RFC 5771 */
		{{240}, 4},		  /* RFC 1112; broadcast */
	};
	for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++)
		if (within(a, &closed[i]))
			return false;
	return true;
}

/* The IPv4 address that a carries, as it is; NULL: none. Teredo's is not there as it is. */
static const unsigned char *carried(const struct ward_address *a)
{
	static const struct {
		struct block block;
		unsigned at;
	} carriers[] = {
		{{{0x00, 0x64, 0xff, 0x9b}, 96}, 12}, /* NAT64, RFC 6052 */
		{{{0x20, 0x02}, 16}, 2},	      /* 6to4, RFC 3056 */
	};
	for (size_t i = 0; i < sizeof(carriers) / sizeof(carriers[0]); i++)
		if (within(a->bytes, &carriers[i].block))
			return a->bytes + carriers[i].at;
	return NULL;
}

bool ward_address_carries(const struct ward_address *a, struct ward_address *ret)
{
	const unsigned char *v4 = is_v4(a) ? NULL : carried(a);
	if (!v4)
		return false;
	struct ward_address inner = {{0}};
	inner.bytes[10] = inner.bytes[11] = 0xff;
	memcpy(inner.bytes + 12, v4, 4);
	*ret = inner;
	return true;
}

bool ward_address_is_public(const struct ward_address *a)
{
	/* In use for unicast: 2000::/3 alone (RFC 4291, 2.4), less what follows. */
	static const struct block global = {{0x20}, 3};
	static const struct block closed[] = {
		{{0x20, 0x01, 0x00, 0x00}, 32}, /* Teredo, RFC 4380: leads to any IPv4 address */
		{{0x20, 0x01, 0x00, 0x02}, 48}, /* benchmarks, RFC 5180 */
		{{0x20, 0x01, 0x00, 0x10}, 28}, /* ORCHID, deprecated, RFC 4843 */
	};
	if (is_v4(a))
		return public_v4(a->bytes + 12);
	if (carried(a))
		return public_v4(carried(a));
	for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++)
		if (within(a->bytes, &closed[i]))
			return false;
	return within(a->bytes, &global);
}
