/* SPDX-License-Identifier: Apache-2.0 */
/* Turns names, which are bytes, into text that steers no terminal, and back. */
#include "enforcer/base/escape.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* Length of the valid UTF-8 sequence at s (RFC 3629), its code point in *ret_cp; 0 if invalid. */
static size_t utf8_sequence(const unsigned char *s, size_t len, uint32_t *ret_cp)
{
	if (s[0] < 0x80) {
		*ret_cp = s[0];
		return 1;
	}
	size_t n = 0;
	uint32_t cp = 0;
	uint32_t least = 0;
	if ((s[0] & 0xe0) == 0xc0) {
		n = 2, cp = s[0] & 0x1f, least = 0x80;
	} else if ((s[0] & 0xf0) == 0xe0) {
		n = 3, cp = s[0] & 0x0f, least = 0x800;
	} else if ((s[0] & 0xf8) == 0xf0) {
		n = 4, cp = s[0] & 0x07, least = 0x10000;
	} else {
		return 0;
	}
	if (n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (s[i] & 0x3f);
	}
	if (cp < least || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		return 0;
	*ret_cp = cp;
	return n;
}

/*
 * Characters that change how a line looks without being seen, or are not seen at all: what reads as
 * one name would be two. Controls, separators of lines, annotations, and what Unicode calls
 * Default_Ignorable_Code_Point.
 */
static bool deceptive(uint32_t cp)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x00, 0x1f},
		{0x7f, 0x9f},
		{0xad, 0xad},
		{0x34f, 0x34f},
		{0x61c, 0x61c},
		{0x115f, 0x1160},
		{0x17b4, 0x17b5},
		{0x180b, 0x180f},
		{0x200b, 0x200f},
		{0x2028, 0x202e},
		{0x2060, 0x206f},
		{0x3164, 0x3164},
		{0xfe00, 0xfe0f},
		{0xfeff, 0xfeff},
		{0xffa0, 0xffa0},
		{0xfff0, 0xfffb},
		{0x1bca0, 0x1bca3},
		{0x1d173, 0x1d17a},
		{0xe0000, 0xe0fff},
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (cp <= ranges[i].last)
			return cp >= ranges[i].first;
	return false;
}

/* Bytes that stand for themselves: most bytes of paths and names, and each record has several of
 * these.
 */
static const bool plain[256] = {[' ' ... '['] = true, [']' ... '~'] = true};
static const bool plain_json[256] = {
	[' ' ... '!'] = true, ['#' ... '['] = true, [']' ... '~'] = true};

static void escape(struct ward_buf *b, const void *bytes, size_t len, bool json)
{
	const unsigned char *s = bytes;
	const bool *itself = json ? plain_json : plain;
	const char *bs = json ? "\\\\" : "\\"; /* one backslash of the escaped text */
	for (size_t i = 0; i < len;) {
		uint32_t cp = 0;
		const size_t start = i;
		while (i < len && itself[s[i]])
			i++;
		if (i > start) {
			ward_buf_add(b, s + start, i - start);
			continue;
		}
		size_t n = utf8_sequence(s + i, len - i, &cp);
		if (n == 1 && cp == '\\') {
			ward_buf_puts(b, bs);
			ward_buf_puts(b, bs);
		} else if (n == 1 && (cp == '\n' || cp == '\t' || cp == '\r')) {
			ward_buf_puts(b, bs);
			ward_buf_putc(b, cp == '\n' ? 'n' : cp == '\t' ? 't' : 'r');
		} else if (n == 0 || deceptive(cp)) {
			for (size_t k = 0; k < (n ? n : 1); k++)
				ward_buf_printf(b, "%sx%02x", bs, s[i + k]);
		} else if (json && cp == '"') {
			ward_buf_puts(b, "\\\"");
		} else {
			ward_buf_add(b, s + i, n);
		}
		i += n ? n : 1;
	}
}

void ward_escape(struct ward_buf *b, const void *s, size_t len)
{
	escape(b, s, len, false);
}

void ward_escape_json(struct ward_buf *b, const void *s, size_t len)
{
	ward_buf_putc(b, '"');
	escape(b, s, len, true);
	ward_buf_putc(b, '"');
}

void ward_escape_in_json(struct ward_buf *b, const void *json, size_t len)
{
	const unsigned char *s = json;
	for (size_t i = 0; i < len;) {
		uint32_t cp = 0;
		const size_t start = i;
		while (i < len && (plain[s[i]] || s[i] == '\\'))
			i++;
		ward_buf_add(b, s + start, i - start);
		if (i == len)
			break;
		const size_t n = utf8_sequence(s + i, len - i, &cp);
		if (n == 0)
			ward_buf_puts(b, "\\ufffd");
		else if (cp < 0x20)
			ward_buf_putc(b, ' ');
		else if (!deceptive(cp))
			ward_buf_add(b, s + i, n);
		else if (cp < 0x10000)
			ward_buf_printf(b, "\\u%04x", cp);
		else
			ward_buf_printf(b, "\\u%04x\\u%04x", 0xd800 + ((cp - 0x10000) >> 10),
				0xdc00 + (cp & 0x3ff));
		i += n ? n : 1;
	}
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

int ward_unescape(struct ward_buf *b, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] != '\\') {
			ward_buf_putc(b, text[i]);
			continue;
		}
		if (++i >= len)
			return -EINVAL;
		switch (text[i]) {
		case '\\':
			ward_buf_putc(b, '\\');
			break;
		case 'n':
			ward_buf_putc(b, '\n');
			break;
		case 't':
			ward_buf_putc(b, '\t');
			break;
		case 'r':
			ward_buf_putc(b, '\r');
			break;
		case 'x': {
			if (i + 2 >= len)
				return -EINVAL;
			int hi = hex(text[i + 1]);
			int lo = hex(text[i + 2]);
			if (hi < 0 || lo < 0)
				return -EINVAL;
			ward_buf_putc(b, (char)(hi << 4 | lo));
			i += 2;
			break;
		}
		default:
			return -EINVAL;
		}
	}
	return ward_buf_error(b);
}

void ward_escape_field(struct ward_buf *b, const char *s)
{
	if (!*s)
		ward_buf_putc(b, '.');
	/* A name "." does not exist; a path "." is the empty one's. */
	for (; *s; s++) {
		const unsigned char c = (unsigned char)*s;
		if (c <= 0x20 || c >= 0x7f || c == '%' || c == ';')
			ward_buf_printf(b, "%%%02X", c);
		else
			ward_buf_putc(b, (char)c);
	}
}

void ward_shell_word(struct ward_buf *b, const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "/._-:,@%+=";
	bool bare = strspn(word, safe) == strlen(word);
	ward_buf_puts(b, bare ? "" : "'");
	for (; *word; word++) {
		if (*word == '\'')
			ward_buf_puts(b, "'\\''");
		else
			ward_buf_putc(b, *word);
	}
	ward_buf_puts(b, bare ? "" : "'");
}

const char *ward_shell_quoted(struct ward_buf *b, const char *word)
{
	ward_buf_clear(b);
	ward_shell_word(b, word);
	return ward_buf_str(b);
}
