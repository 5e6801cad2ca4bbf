/* SPDX-License-Identifier: Apache-2.0 */
/* Reads answers, a line each. */
#include "enforcer/cli/base/ask.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/out.h"

bool ask_possible(void)
{
	return isatty(STDIN_FILENO) == 1;
}

/* The first byte of the next line that is no blank; '\n': the line is empty; 0: the end. Byte by
 * byte, since what stands behind the line is for others. */
static char read_line(void)
{
	char first = '\n', c = 0;
	for (;;) {
		ssize_t n = read(STDIN_FILENO, &c, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		if (c == '\n')
			return first;
		if (first == '\n' && c != ' ' && c != '\t' && c)
			first = c;
	}
}

/* "a, d or n" */
static void say_letters(const char *letters)
{
	ward_tellf("Type ");
	for (const char *s = letters; *s; s++)
		ward_tellf("%s%c", s == letters ? "" : s[1] ? ", " : " or ", *s);
	ward_tellf(", then Enter.\n");
}

char ask_word(const char *question, const char *letters, char empty, char end)
{
	for (;;) {
		(void)!ward_out_flush();
		ward_tellf("%s ", question);
		char c = read_line();
		if (c == 0) {
			ward_tellf("\n");
			return end;
		}
		if (c == '\n')
			return empty;
		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (strchr(letters, c))
			return c;
		say_letters(letters);
	}
}
