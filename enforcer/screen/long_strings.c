/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the long strings that several terminals may be shown. */
#include "enforcer/screen/long_strings.h"

#include <string.h>

static bool begins(const char *data, size_t n, const char *with)
{
	const size_t len = strlen(with);
	return n >= len && memcmp(data, with, len) == 0;
}

/* DCS P1 ; P2 ; P3 q: the numbers are sixel's, and no byte between them and q makes it another. */
static bool is_sixel(const char *data, size_t n)
{
	size_t i = 2;
	if (!begins(data, n, "\033P"))
		return false;
	while (i < n && ((data[i] >= '0' && data[i] <= '9') || data[i] == ';'))
		i++;
	return i < n && data[i] == 'q';
}

/* What these carry is base64, or a name in it: it has no "?", which would make a question. */
static bool is_data(const char *data, size_t n)
{
	static const char *const kinds[] = {
		"\033]52;", "\033]1337;File=", "\033]1337;FilePart=", "\033]1337;MultipartFile="};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (begins(data, n, kinds[i]))
			return true;
	return false;
}

enum ward_long_part ward_long_next(
	struct ward_long *l, enum ward_piece kind, const char *data, size_t n)
{
	if (kind == WARD_PIECE_LONG_END) {
		const bool shown = l->shown;
		*l = (struct ward_long){.began = false};
		return shown ? WARD_LONG_SHOW : WARD_LONG_HIDE;
	}
	const bool first = !l->began;
	if (first) {
		l->began = true;
		l->osc = is_data(data, n);
		l->shown = l->osc || is_sixel(data, n);
	}
	if (!l->shown)
		return WARD_LONG_HIDE;
	l->n += n;
	if (l->n <= WARD_LONG_MAX && !(l->osc && memchr(data, '?', n)))
		return WARD_LONG_SHOW;
	l->shown = false;
	return first ? WARD_LONG_HIDE : WARD_LONG_CUT;
}

bool ward_long_shown(const struct ward_long *l)
{
	return l->shown;
}
