/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a program sends to a server: as a whole, byte by byte and in other pieces they
 * are judged alike, also where the stream ends, and of a request whose line names HTTP nothing but
 * a good one passes.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "enforcer/net/protocol/inspect.h"
#include "tests/fuzz/fuzz.h"

#define SIZE_MAX_HERE 4096

/* Feeds data in steps, and the end; returns the bytes that passed, *ret_refused. */
static size_t feed(const uint8_t *data, size_t size, size_t step, bool *ret_refused)
{
	struct ward_inspect in;
	size_t done = 0, have = 0;
	bool may_end;
	ward_inspect_init(&in, "a.example", true);
	*ret_refused = false;
	while (have < size) {
		size_t pass = 0;
		have = have + step < size ? have + step : size;
		if (ward_inspect(&in, data + done, have - done, &pass) < 0) {
			fuzz_insist(in.complaint);
			*ret_refused = true;
			ward_inspect_free(&in);
			return done;
		}
		fuzz_insist(pass <= have - done);
		done += pass;
		/* What passes before it is known what it is, is kept, and bounded. */
		fuzz_insist(!in.early || (in.n_early && in.n_early <= done));
		fuzz_insist(in.state != WARD_INSPECT_OPAQUE || done == have);
	}
	may_end = ward_inspect_may_end(&in);
	if (done == size) {
		*ret_refused = ward_inspect_end(&in) < 0;
		fuzz_insist(*ret_refused == !may_end);
	}
	ward_inspect_free(&in);
	return done;
}

/* A first line of words that names HTTP is looked at, by this simple reader as well. */
static bool simple_request(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = memchr(p, '\n', size);
	size_t word = 0;
	while (end && p + word < end && ward_http_is_token((unsigned char)p[word]))
		word++;
	if (!end || word == 0 || p + word == end || p[word] != ' ')
		return false;
	for (p += word; end - p >= 5; p++)
		if (strncasecmp(p, "HTTP/", 5) == 0)
			return true;
	return false;
}

static bool is_good(const uint8_t *data, size_t size)
{
	struct ward_http_head h;
	char host[256];
	uint16_t port;
	return ward_http_head((const char *)data, size, &h) == 0 && h.host.p &&
	       ward_http_authority(h.host.p, h.host.len, host, &port) &&
	       strcmp(host, "a.example") == 0;
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
	for (size_t step = 1; step < size; step = step * 3 + 1) {
		size_t slowly = feed(data, size, step, &refused_slowly);
		/* In pieces, more of it may have passed before a bad byte, or a request's, came. */
		fuzz_insist(refused == refused_slowly);
		fuzz_insist(slowly >= whole);
	}
	if (simple_request(data, size))
		fuzz_insist(whole == 0 || is_good(data, size));
	return 0;
}
