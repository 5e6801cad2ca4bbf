/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a packet of the agent's: the ends of it, or none; never a byte beyond what is there.
 */
#include <stdlib.h>
#include <string.h>

#include "enforcer/net/conn/refused.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	union ward_sockaddr from, to;
	bool udp = false;
	/* A copy of exactly that size, so that a sanitizer sees a byte beyond. */
	uint8_t *exact = malloc(size ? size : 1);
	fuzz_insist(exact != NULL);
	memcpy(exact, data, size);
	if (ward_refused_parse(exact, size, &from, &to, &udp)) {
		bool v4 = data[0] >> 4 == 4;
		fuzz_insist(to.sa.sa_family == (v4 ? AF_INET : AF_INET6));
		fuzz_insist(from.sa.sa_family == to.sa.sa_family);
		fuzz_insist((v4 ? data[9] : data[6]) == (udp ? IPPROTO_UDP : IPPROTO_TCP));
		if (v4)
			fuzz_insist(memcmp(&to.v4.sin_addr, data + 16, 4) == 0);
		else
			fuzz_insist(memcmp(&to.v6.sin6_addr, data + 24, 16) == 0);
	}
	/* Sealed twice is sealed once. */
	uint8_t *twice = malloc(size ? size : 1);
	fuzz_insist(twice != NULL);
	if (ward_refused_seal(exact, size)) {
		memcpy(twice, exact, size);
		fuzz_insist(ward_refused_seal(twice, size) && memcmp(twice, exact, size) == 0);
	}
	free(twice);
	free(exact);
	return 0;
}
