/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what varies in a name. */
#include "enforcer/cli/policy/learn_names.h"

#include <ctype.h>
#include <string.h>

#include "enforcer/policy/policy.h"

/* A pattern that names this little would name everything: then the kind of the bytes stays. */
#define LITERAL_MIN 2U

static size_t run_of(const char *s, size_t len, int (*is)(int))
{
	size_t n = 0;
	while (n < len && is((unsigned char)s[n]))
		n++;
	return n;
}

static size_t digits(const char *s, size_t len)
{
	return run_of(s, len, isdigit);
}

/* 8-4-4-4-12 hexadecimal digits (RFC 9562). */
static size_t uuid(const char *s, size_t len)
{
	static const size_t groups[] = {8, 4, 4, 4, 12};
	size_t at = 0;
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		if (i > 0 && (at == len || s[at++] != '-'))
			return 0;
		if (run_of(s + at, len - at, isxdigit) != groups[i])
			return 0;
		at += groups[i];
	}
	return at;
}

/* 2026-11-23, 2026_11_23, and with 15:04:05 behind "T", "-" or "_", in the forms that files have.
 */
static size_t date(const char *s, size_t len)
{
	if (len < 10 || digits(s, len) != 4 || digits(s + 5, 2) != 2 || digits(s + 8, 2) != 2 ||
		s[4] != s[7] || !strchr("-_.", s[4]))
		return 0;
	size_t n = 10;
	if (n < len && isdigit((unsigned char)s[n]))
		return 0;
	if (len - n < 6 || !strchr("T-_", s[n]) || digits(s + n + 1, 2) != 2)
		return n;
	n += 3;
	while (n < len &&
		(isdigit((unsigned char)s[n]) ||
			(strchr(":-_.", s[n]) && n + 1 < len && isdigit((unsigned char)s[n + 1]))))
		n++;
	return n;
}

/* A hash, or a name of mkstemp(3): letters and digits that no word has. */
static bool is_hash(const char *s, size_t n)
{
	size_t hex = run_of(s, n, isxdigit), upper = 0, lower = 0, number = 0;
	for (size_t i = 0; i < n; i++) {
		upper += isupper((unsigned char)s[i]) != 0;
		lower += islower((unsigned char)s[i]) != 0;
		number += isdigit((unsigned char)s[i]) != 0;
	}
	if (n < 8)
		return false;
	if (hex == n)
		return number > 0;
	return number > 0 && upper > 0 && lower > 0;
}

/* How many bytes from s on vary; 0: this one does not. at_word: a letter or digit begins here. */
static size_t varies(const char *s, size_t len)
{
	size_t n = uuid(s, len);
	if (!n)
		n = date(s, len);
	if (n)
		return n;
	const size_t word = run_of(s, len, isalnum);
	n = digits(s, len);
	if (n >= 5 && (n == word || !is_hash(s, word)))
		return n;
	return is_hash(s, word) ? word : 0;
}

/* "*-*" is "*": one thing that varies. */
static void put_star(struct ward_buf *b)
{
	if (b->len >= 2 && strchr("-_:", b->data[b->len - 1]) && b->data[b->len - 2] == '*') {
		b->len--;
		b->data[b->len] = 0;
	} else if (b->len == 0 || b->data[b->len - 1] != '*') {
		ward_buf_putc(b, '*');
	}
}

bool learn_generalise(const char *name, size_t len, struct ward_buf *pattern)
{
	struct ward_buf b = WARD_BUF_INIT;
	const char *dot = memrchr(name, '.', len);
	const size_t stem =
		dot && dot != name ? (size_t)(dot - name) : len; /* "*.txt" is too much */
	size_t literal = 0, from = 0;				 /* of a stretch that stays */
	bool any = false;
	for (size_t i = 0; i < len;) {
		const bool word = isalnum((unsigned char)name[i]) &&
				  (i == 0 || !isalnum((unsigned char)name[i - 1]));
		const size_t n = word ? varies(name + i, len - i) : 0;
		literal += !n && i < stem && isalnum((unsigned char)name[i]);
		i += n ? n : 1;
		if (!n && i < len)
			continue;
		const size_t stays = i - n - from;
		if (stays)
			ward_pattern_quote(&b, name + from, stays);
		if (n)
			put_star(&b);
		any = any || n;
		from = i;
	}
	if (any && literal < LITERAL_MIN)
		ward_buf_puts(pattern, "[0-9a-zA-Z][0-9a-zA-Z][0-9a-zA-Z][0-9a-zA-Z]");
	if (any)
		ward_buf_puts(pattern, ward_buf_str(&b));
	ward_buf_clear(&b);
	return any;
}
