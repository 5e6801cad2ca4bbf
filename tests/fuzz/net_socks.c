/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a client of the proxy inside sends: the greeting and the request are taken
 * whole or not at all, the same whatever follows, and a name has no NUL and fits.
 */
#include <errno.h>
#include <string.h>

#include "enforcer/net/protocol/socks.h"
#include "tests/fuzz/fuzz.h"

static void check_request(const uint8_t *data, size_t size)
{
	struct ward_socks_request q, shorter;
	ssize_t n = ward_socks_request(data, size, &q);
	if (n <= 0) {
		fuzz_insist(n == 0 || n == -EBADMSG || n == -EOPNOTSUPP || n == -EAFNOSUPPORT);
		return;
	}
	fuzz_insist((size_t)n <= size && n >= 8);
	fuzz_insist(q.host[0] && strnlen(q.host, sizeof(q.host)) < sizeof(q.host));
	fuzz_insist(q.port == (data[n - 2] << 8 | data[n - 1]));
	/* Nothing behind the request counts, and less of it is not enough. */
	fuzz_insist(ward_socks_request(data, (size_t)n, &shorter) == n);
	fuzz_insist(strcmp(shorter.host, q.host) == 0);
	fuzz_insist(ward_socks_request(data, (size_t)n - 1, &shorter) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ssize_t n = ward_socks_greeting(data, size);
	fuzz_insist(n <= (ssize_t)size);
	if (n > 0)
		check_request(data + n, size - (size_t)n);
	check_request(data, size);
	return 0;
}
