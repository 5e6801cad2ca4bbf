/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to standard output and standard error, what is foreign in it escaped. */
#include "enforcer/base/out.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"

/* The longest conversion that a format of ours has, "%-*.*lld", and room. */
#define SPEC_MAX 24

static bool is_kept(char c, bool lines)
{
	return c == '\\' || (lines && (c == '\n' || c == '\t'));
}

/* Appends the text escaped, but for backslashes; lines: and for newlines and tabs. */
static void shown(struct ward_buf *b, const char *text, size_t len, bool lines)
{
	const char *const end = text + len;
	while (text < end) {
		const char *from = text;
		while (text < end && !is_kept(*text, lines))
			text++;
		ward_escape(b, from, (size_t)(text - from));
		from = text;
		while (text < end && is_kept(*text, lines))
			text++;
		ward_buf_add(b, from, (size_t)(text - from));
	}
}

void ward_shown(struct ward_buf *b, const char *text)
{
	shown(b, text, strlen(text), false);
}

void ward_shown_lines(struct ward_buf *b, const void *text, size_t len)
{
	shown(b, text, len, true);
}

/* --- formats --- */

/* A conversion: what stands between % and its letter, without the asterisks. */
struct spec {
	bool left, zero, has_precision;
	char flags[6]; /* those for numbers */
	int width, precision;
	char size; /* 'H' hh, 'h', 'l', 'L' ll, 'j', 'z', 't'; 0: int */
	char conversion;
};

static int take_number(const char **fmt, va_list *ap)
{
	int n = 0;
	if (**fmt == '*') {
		(*fmt)++;
		return va_arg(*ap, int);
	}
	for (; **fmt >= '0' && **fmt <= '9'; (*fmt)++)
		n = n * 10 + (**fmt - '0');
	return n;
}

/* Takes the conversion that begins behind the %. */
static struct spec take_spec(const char **fmt, va_list *ap)
{
	struct spec s = {0};
	for (size_t n = 0; **fmt && strchr("-+ #0", **fmt); (*fmt)++) {
		s.left |= **fmt == '-';
		if (**fmt != '-' && n < sizeof(s.flags) - 1)
			s.flags[n++] = **fmt;
	}
	s.width = take_number(fmt, ap);
	if (s.width < 0) {
		s.left = true;
		s.width = -s.width;
	}
	if (**fmt == '.') {
		(*fmt)++;
		s.precision = take_number(fmt, ap);
		s.has_precision = s.precision >= 0;
	}
	if (**fmt && strchr("hljzt", **fmt)) {
		s.size = *(*fmt)++;
		if ((s.size == 'h' || s.size == 'l') && **fmt == s.size) {
			s.size = s.size == 'h' ? 'H' : 'L';
			(*fmt)++;
		}
	}
	s.conversion = *(*fmt)++;
	return s;
}

static void pad(struct ward_buf *b, const struct spec *s, size_t from)
{
	const size_t width = (size_t)s->width;
	const size_t len = b->len - from;
	if (b->error || len >= width)
		return;
	for (size_t i = len; i < width; i++)
		ward_buf_putc(b, ' ');
	if (!b->error && !s->left) {
		memmove(b->data + from + (width - len), b->data + from, len);
		memset(b->data + from, ' ', width - len);
	}
}

static void put_text(struct ward_buf *b, const struct spec *s, const char *text)
{
	const size_t from = b->len;
	if (!text)
		text = "?";
	shown(b, text, s->has_precision ? strnlen(text, (size_t)s->precision) : strlen(text),
		false);
	pad(b, s, from);
}

/* The signed argument of this size. */
static intmax_t take_signed(const struct spec *s, va_list *ap)
{
	switch (s->size) {
	case 'H':
		return (signed char)va_arg(*ap, int);
	case 'h':
		return (short)va_arg(*ap, int);
	case 'l':
		return va_arg(*ap, long);
	case 'L':
		return va_arg(*ap, long long);
	case 'j':
		return va_arg(*ap, intmax_t);
	case 'z':
		return va_arg(*ap, ssize_t);
	case 't':
		return va_arg(*ap, ptrdiff_t);
	default:
		return va_arg(*ap, int);
	}
}

static uintmax_t take_unsigned(const struct spec *s, va_list *ap)
{
	switch (s->size) {
	case 'H':
		return (unsigned char)va_arg(*ap, unsigned);
	case 'h':
		return (unsigned short)va_arg(*ap, unsigned);
	case 'l':
		return va_arg(*ap, unsigned long);
	case 'L':
		return va_arg(*ap, unsigned long long);
	case 'j':
		return va_arg(*ap, uintmax_t);
	case 'z':
		return va_arg(*ap, size_t);
	case 't':
		return (uintmax_t)va_arg(*ap, ptrdiff_t);
	default:
		return va_arg(*ap, unsigned);
	}
}

/* The conversion again, of the largest size, with asterisks for width and precision. */
static void put_number(struct ward_buf *b, const struct spec *s, va_list *ap)
{
	const bool real = strchr("fge", s->conversion) != NULL;
	const int width = s->left ? -s->width : s->width;
	const int precision = s->has_precision ? s->precision : -1;
	char spec[SPEC_MAX];
	snprintf(spec, sizeof(spec), "%%%s*.*%s%c", s->flags, real ? "" : "j", s->conversion);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (real)
		ward_buf_printf(b, spec, width, precision, va_arg(*ap, double));
	else if (strchr("di", s->conversion))
		ward_buf_printf(b, spec, width, precision, take_signed(s, ap));
	else
		ward_buf_printf(b, spec, width, precision, take_unsigned(s, ap));
#pragma GCC diagnostic pop
}

static void put_one(struct ward_buf *b, const struct spec *s, va_list *ap)
{
	char c[2] = "";
	switch (s->conversion) {
	case '%':
		ward_buf_putc(b, '%');
		break;
	case 's':
		put_text(b, s, va_arg(*ap, const char *));
		break;
	case 'c':
		c[0] = (char)va_arg(*ap, int);
		put_text(b, s, c);
		break;
	default:
		/* The compiler has compared the format with the arguments: of us alone. */
		assert(s->conversion && strchr("diuxXofge", s->conversion));
		put_number(b, s, ap);
	}
}

void ward_vshownf(struct ward_buf *b, const char *fmt, va_list given)
{
	va_list ap;
	va_copy(ap, given);
	while (*fmt) {
		const size_t n = strcspn(fmt, "%");
		ward_buf_add(b, fmt, n);
		fmt += n;
		if (*fmt++ != '%')
			break;
		const struct spec s = take_spec(&fmt, &ap);
		put_one(b, &s, &ap);
	}
	va_end(ap);
}

void ward_shownf(struct ward_buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	ward_vshownf(b, fmt, ap);
	va_end(ap);
}

/* --- the streams --- */

/* What could not be written shows in ferror(): ward_out_flush(). */
static void put(FILE *f, const struct ward_buf *b)
{
	static const char lost[] = "wardfs: out of memory\n";
	if (ward_buf_error(b) < 0)
		(void)!fwrite(lost, 1, strlen(lost), stderr);
	else if (b->len > 0)
		(void)!fwrite(b->data, 1, b->len, f);
}

void ward_outf(const char *fmt, ...)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	va_list ap;
	va_start(ap, fmt);
	ward_vshownf(&b, fmt, ap);
	va_end(ap);
	put(stdout, &b);
}

void ward_tellf(const char *fmt, ...)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	va_list ap;
	va_start(ap, fmt);
	ward_vshownf(&b, fmt, ap);
	va_end(ap);
	put(stderr, &b);
}

void ward_out_lines(const void *text, size_t len)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_shown_lines(&b, text, len);
	put(stdout, &b);
}

void ward_out_bytes(const void *data, size_t len)
{
	if (len > 0)
		(void)!fwrite(data, 1, len, stdout);
}

bool ward_out_failed(void)
{
	return ferror(stdout) != 0;
}

int ward_out_flush(void)
{
	const bool failed = ward_out_failed();
	if (fflush(stdout) != 0)
		return -errno;
	return failed ? -EIO : 0;
}
