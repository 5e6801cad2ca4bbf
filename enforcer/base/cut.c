/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts texts between words. */
#include "enforcer/base/cut.h"

#include <string.h>

#define MARK (sizeof(WARD_CUT_MARK) - 1)

void ward_cut(char *ret, size_t size, const char *text, size_t len)
{
	size_t n = strnlen(text, len);
	if (n < size) {
		memcpy(ret, text, n);
		ret[n] = '\0';
		return;
	}
	/* The word that begins at n may be whole: then n is where it ends. */
	n = size - 1 - MARK - 1;
	const char *blank = text[n] == ' ' ? text + n : memrchr(text, ' ', n);
	if (blank) {
		n = (size_t)(blank - text);
		memcpy(ret, text, n);
		ret[n++] = ' ';
	} else {
		/* No byte behind the first of a character begins one. */
		while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
		memcpy(ret, text, n);
	}
	memcpy(ret + n, WARD_CUT_MARK, MARK + 1);
}

bool ward_cut_is(const char *text)
{
	const size_t n = strlen(text);
	return n >= MARK && memcmp(text + n - MARK, WARD_CUT_MARK, MARK) == 0;
}
