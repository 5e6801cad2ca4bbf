/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a program sends to a server: as a whole and byte by byte the same passes, and
 * no request whose host is another one does. The last is asked of a second, lenient reader that
 * looks for the host of the first request alone.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "enforcer/net/inspect.h"
#include "tests/fuzz/fuzz.h"

#define SIZE_MAX_HERE 4096

/* Feeds data in steps; returns the bytes that passed, *ret_refused. */
static size_t feed(const uint8_t *data, size_t size, size_t step, bool *ret_refused)
{
	struct ward_inspect in;
	size_t done = 0, have = 0;
	ward_inspect_init(&in, "a.example", true);
	*ret_refused = false;
	while (have < size) {
		size_t pass = 0;
		have = have + step < size ? have + step : size;
		if (ward_inspect(&in, data + done, have - done, &pass) < 0) {
			*ret_refused = true;
			return done;
		}
		fuzz_insist(pass <= have - done);
		done += pass;
	}
	return done;
}

static void check_parts(const uint8_t *data, size_t size)
{
	struct ward_http_head h;
	struct ward_http_text authority, path;
	char host[256];
	uint16_t port;
	if (ward_http_head((const char *)data, size, &h) < 0)
		return;
	fuzz_insist(h.size <= size && h.size >= 4);
	fuzz_insist(memcmp(data + h.size - 4, "\r\n\r\n", 4) == 0);
	fuzz_insist(!(h.chunked && h.has_length));
	if (h.host.p && ward_http_authority(h.host.p, h.host.len, host, &port))
		for (const char *s = host; *s; s++)
			fuzz_insist(!isupper((unsigned char)*s) && *s != '/' && *s != '@');
	if (ward_http_absolute(&h.target, &authority, &path))
		fuzz_insist(authority.len + path.len + 7 == h.target.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool refused, refused_slowly;
	if (size > SIZE_MAX_HERE)
		return 0;
	check_parts(data, size);
	size_t whole = feed(data, size, size ? size : 1, &refused);
	size_t slowly = feed(data, size, 1, &refused_slowly);
	/* Byte by byte, more of it may have passed before the bad byte came. */
	fuzz_insist(refused == refused_slowly);
	fuzz_insist(refused ? slowly >= whole : slowly == whole);
	return 0;
}
