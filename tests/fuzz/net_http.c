/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a program sends to a server: as a whole, byte by byte and in other pieces they
 * are judged alike, also where the stream ends, and as much of them passes; and of a request whose
 * line names HTTP nothing but a good one passes.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "enforcer/net/protocol/inspect.h"
#include "tests/fuzz/fuzz.h"

#define SIZE_MAX_HERE 4096

/* What became of a stream. */
struct fed {
	size_t passed;
	size_t shown; /* bytes in the pieces that were not refused */
	size_t first; /* of a first line up to the byte that made it a request; 0: no head waits */
	bool refused; /* with the piece behind these */
	bool end_refused; /* all passed, and then the end was */
};

/* Feeds data in steps, and the end. */
static struct fed feed(const uint8_t *data, size_t size, size_t step)
{
	struct ward_inspect in;
	struct fed f = {0};
	ward_inspect_init(&in, "a.example", 80, true);
	while (f.shown < size) {
		const size_t have = f.shown + step < size ? f.shown + step : size;
		size_t pass = 0;
		if (ward_inspect(&in, data + f.passed, have - f.passed, &pass) < 0) {
			fuzz_insist(in.complaint);
			f.refused = true;
			break;
		}
		f.shown = have;
		fuzz_insist(pass <= have - f.passed);
		f.passed += pass;
		/* What passes before it is known what it is, is kept, and bounded. */
		fuzz_insist(!in.early || (in.n_early && in.n_early <= f.passed));
		fuzz_insist(in.state != WARD_INSPECT_OPAQUE || f.passed == have);
	}
	if (!f.refused && in.state == WARD_INSPECT_HTTP && !in.requests)
		f.first = in.first.taken;
	const bool may_end = ward_inspect_may_end(&in);
	if (!f.refused && f.passed == size) {
		f.end_refused = ward_inspect_end(&in) < 0;
		fuzz_insist(f.end_refused == !may_end);
	}
	ward_inspect_free(&in);
	return f;
}

/*
 * All of f, in pieces of this size, is what the whole w is. As much passes, but for one thing:
 * while the head of a first request is not whole, nothing passes of it where it came at once, and
 * in pieces those did that came before the byte which made it a request.
 */
static void check_alike(const struct fed *f, const struct fed *w, size_t step)
{
	fuzz_insist(!f->refused && !w->refused);
	fuzz_insist(f->end_refused == w->end_refused);
	fuzz_insist(f->first == w->first);
	fuzz_insist(!w->first || w->passed == 0);
	fuzz_insist(f->passed == (w->first ? (w->first - 1) / step * step : w->passed));
}

/* As check_alike(), where a piece may have been refused: what came before it, and with it. */
static void check_pieces(const uint8_t *data, size_t size, size_t step, const struct fed *w)
{
	struct fed f = feed(data, size, step);
	fuzz_insist(f.refused == w->refused);
	if (!f.refused) {
		check_alike(&f, w, step);
		return;
	}
	const size_t with = f.shown + step < size ? f.shown + step : size;
	const struct fed before = feed(data, f.shown, f.shown ? f.shown : 1);
	fuzz_insist(w->passed == 0 && feed(data, with, with).refused);
	/* This stream did not end there. */
	f.refused = false;
	f.end_refused = before.end_refused;
	f.first = before.first;
	check_alike(&f, &before, step);
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
	       strcmp(host, "a.example") == 0 && (port == 0 || port == 80);
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
	if (size > SIZE_MAX_HERE)
		return 0;
	check_parts(data, size);
	const struct fed whole = feed(data, size, size ? size : 1);
	for (size_t step = 1; step < size; step = step * 3 + 1)
		check_pieces(data, size, step, &whole);
	if (simple_request(data, size))
		fuzz_insist(whole.passed == 0 || is_good(data, size));
	return 0;
}
