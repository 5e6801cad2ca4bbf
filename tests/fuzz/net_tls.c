/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a client sends first, and as what a server answers. A prefix of what was
 * understood is never understood as something else, and the pieces in which it comes change
 * nothing.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "enforcer/net/protocol/inspect.h"
#include "tests/fuzz/fuzz.h"

static enum ward_tls_answer reply(const uint8_t *data, size_t size, size_t step)
{
	struct ward_tls_reply r = {0};
	for (size_t at = 0; at < size; at += step) {
		const enum ward_tls_answer was = r.answer;
		ward_tls_reply_take(&r, data + at, step < size - at ? step : size - at);
		fuzz_insist(was == WARD_TLS_OPEN || r.answer == was);
	}
	return r.answer;
}

/* A client's records, then bytes of a server, then the client again: every hello has the name. */
static void check_stream(const uint8_t *data, size_t size)
{
	const size_t first = size ? data[0] % size : 0;
	struct ward_inspect in[2];
	for (int k = 0; k < 2; k++) {
		size_t done = 0, step = k ? 1 : size + 1;
		int r = 0;
		ward_inspect_init(&in[k], "a.example", 80, true);
		for (size_t have = 0; r == 0 && have < size;) {
			size_t pass = 0;
			have = have + step < size ? have + step : size;
			r = ward_inspect(&in[k], data + done, have - done, &pass);
			done += r == 0 ? pass : 0;
		}
		ward_inspect_reply(&in[k], data, first);
		ward_inspect_free(&in[k]);
	}
	fuzz_insist(!in[0].complaint == !in[1].complaint);
	if (!in[0].complaint)
		fuzz_insist(in[0].state == in[1].state);
	if (in[0].what && !in[0].complaint && in[0].seen[0])
		fuzz_insist(strncasecmp(in[0].seen, "a.example", 9) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 4096)
		return 0;
	fuzz_insist(reply(data, size, size + 1) == reply(data, size, 1));
	check_stream(data, size);
	struct ward_tls_hello h, again;
	int r = ward_tls_hello(data, size, &h);
	if (r < 0)
		return 0;
	fuzz_insist(h.size <= size && strlen(h.name) < sizeof(h.name));
	fuzz_insist(ward_tls_hello(data, h.size, &again) == 0);
	fuzz_insist(strcmp(h.name, again.name) == 0 && h.size == again.size);
	if (h.size > 1)
		fuzz_insist(ward_tls_hello(data, h.size - 1, &again) == -EAGAIN);
	/* Every hello that passes has this name. */
	struct ward_inspect in;
	size_t pass = 0;
	ward_inspect_init(&in, "a.example", 80, true);
	r = ward_inspect(&in, data, h.size, &pass);
	fuzz_insist(r == 0 ? strcasecmp(h.name, "a.example") == 0 : r == -EACCES);
	return 0;
}
