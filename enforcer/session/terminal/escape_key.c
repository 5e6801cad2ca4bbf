/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises wardfs' own key in what a terminal sends. */
#include "enforcer/session/terminal/escape_key.h"

#include <stdbool.h>
#include <stdint.h>

#define LONGEST 48
#define VALUES 6

/* Values of a CSI, and the first sub-value of each. */
struct values {
	unsigned v[VALUES], sub[VALUES];
	char final;
};

/* Its length; 0: there is no CSI with values alone. */
static size_t parse(const char *data, size_t n, struct values *ret)
{
	size_t at = 0;
	unsigned colons = 0;
	*ret = (struct values){0};
	if (n < 3 || data[0] != '\033' || data[1] != '[')
		return 0;
	for (size_t i = 2; i < n && i < LONGEST; i++) {
		const char c = data[i];
		unsigned *to = colons == 0 ? &ret->v[at] : colons == 1 ? &ret->sub[at] : NULL;
		if (c >= '0' && c <= '9') {
			if (to && *to < 100000)
				*to = *to * 10 + (unsigned)(c - '0');
		} else if (c == ':') {
			colons++;
		} else if (c == ';') {
			colons = 0;
			if (++at == VALUES)
				return 0;
		} else {
			ret->final = c;
			return c >= 0x40 && c <= 0x7e ? i + 1 : 0;
		}
	}
	return 0;
}

/* Ctrl alone, whatever locks are on: 1, and 4 for Ctrl, 64 and 128 for the locks. */
static bool is_ctrl(unsigned modifiers)
{
	return modifiers > 0 && ((modifiers - 1) & 0x3f) == 4;
}

/* A terminal without these modes sends the same byte for Ctrl-5. */
static bool is_key(unsigned code)
{
	return code == ']' || code == '5';
}

size_t ward_escape_key(const char *data, size_t n)
{
	struct values s;
	if (n > 0 && data[0] == WARD_ESCAPE_KEY)
		return 1;
	const size_t len = parse(data, n, &s);
	/* kitty: CSI code ; modifiers : event u, of which event 3 is the release. */
	if (s.final == 'u' && is_key(s.v[0]) && is_ctrl(s.v[1]) && s.sub[1] != 3)
		return len;
	/* xterm: CSI 27 ; modifiers ; code ~ */
	if (s.final == '~' && s.v[0] == 27 && is_key(s.v[2]) && is_ctrl(s.v[1]))
		return len;
	/* win32: CSI key ; scan ; character ; down ; … _ */
	if (s.final == '_' && s.v[2] == WARD_ESCAPE_KEY && s.v[3] == 1)
		return len;
	return 0;
}
