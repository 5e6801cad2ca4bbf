/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a client sends first. A prefix of what was understood is never understood as
 * something else, and the pieces in which it comes change nothing.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "enforcer/net/inspect.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ward_tls_hello h, again;
	int r = ward_tls_hello(data, size, &h);
	if (r < 0)
		return 0;
	fuzz_insist(h.size <= size && strlen(h.name) < sizeof(h.name));
	fuzz_insist(ward_tls_hello(data, h.size, &again) == 0);
	fuzz_insist(strcmp(h.name, again.name) == 0 && h.size == again.size);
	if (h.size > 1)
		fuzz_insist(ward_tls_hello(data, h.size - 1, &again) == -EAGAIN);
	/* What is let through has this name. */
	struct ward_inspect in;
	size_t pass = 0;
	ward_inspect_init(&in, "a.example", true);
	r = ward_inspect(&in, data, h.size, &pass);
	fuzz_insist(r == 0 ? strcasecmp(h.name, "a.example") == 0 ||
				     strcasecmp(h.name, "a.example.") == 0
			   : r == -EACCES);
	return 0;
}
