/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect NAME PORT: what passes with sni = require on the way there? Each line of stdin is a
 * stream in hex, with "!" behind it if it ends there. Answers one line each: how many bytes pass if
 * it comes as a whole, how many if it comes byte by byte, and "refused" or "passed". A server sees
 * an end only of what passed.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/net/protocol/inspect.h"

static int digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* Bytes that pass; *ret_refused. */
static size_t feed(char *const to[2], const uint8_t *data, size_t len, size_t step, bool end,
	bool *ret_refused)
{
	struct ward_inspect in;
	size_t have = 0, done = 0;
	int r = 0;
	ward_inspect_init(&in, to[0], (uint16_t)atoi(to[1]), true);
	while (r == 0 && have < len) {
		size_t pass = 0;
		have = have + step < len ? have + step : len;
		r = ward_inspect(&in, data + done, have - done, &pass);
		done += r == 0 ? pass : 0;
	}
	if (r == 0 && end)
		r = done < len ? -1 : ward_inspect_end(&in);
	ward_inspect_free(&in);
	*ret_refused = r < 0;
	return done;
}

int main(int argc, char *argv[])
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	if (argc != 3)
		return 2;
	while ((n = getline(&line, &size, stdin)) > 0) {
		uint8_t *data = (uint8_t *)line;
		const bool end = strchr(line, '!');
		const size_t len = strspn(line, "0123456789abcdefABCDEF") / 2;
		bool refused, slowly;
		for (size_t i = 0; i < len; i++)
			data[i] = (uint8_t)(digit(line[2 * i]) << 4 | digit(line[2 * i + 1]));
		size_t whole = feed(argv + 1, data, len, len ? len : 1, end, &refused);
		size_t bytes = feed(argv + 1, data, len, 1, end, &slowly);
		printf("%zu %zu %s\n", whole, bytes,
			refused != slowly ? "differs"
			: refused	  ? "refused"
					  : "passed");
		fflush(stdout);
	}
	free(line);
	return 0;
}
