/* SPDX-License-Identifier: Apache-2.0 */
/* The text of journals: what is read was written by whoever owns the store. */
#include "enforcer/review/fields.h"

#include <string.h>

#include "enforcer/base/escape.h"

char *ward_fields_next(struct ward_fields *f)
{
	char *field = f->at;
	if (!field || !*field) {
		f->bad = true;
		return NULL;
	}
	char *space = strchr(field, ' ');
	f->at = space ? space + 1 : NULL;
	if (space)
		*space = '\0';
	if (!*field)
		f->bad = true;
	return field;
}

uint64_t ward_fields_number(const char *s, int base, uint64_t max, bool *bad)
{
	uint64_t n = 0;
	bool good = s && *s;
	/* Not strtoull(3): journals have millions of these. */
	for (; good && *s; s++) {
		const unsigned digit = (unsigned)(unsigned char)*s - '0';
		good = digit < (unsigned)base && !__builtin_mul_overflow(n, (unsigned)base, &n) &&
		       !__builtin_add_overflow(n, digit, &n);
	}
	if (!good || n > max)
		*bad = true;
	return *bad ? 0 : n;
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* In place. */
char *ward_fields_bytes(struct ward_fields *f)
{
	char *s = ward_fields_next(f), *to = s;
	if (!s)
		return NULL;
	if (strcmp(s, ".") == 0) {
		*s = '\0';
		return s;
	}
	for (char *from = s; *from; from++) {
		if (*from != '%') {
			*to++ = *from;
			continue;
		}
		int high = hex(from[1]), low = high < 0 ? -1 : hex(from[2]);
		if (low < 0 || (high == 0 && low == 0)) {
			f->bad = true;
			return NULL;
		}
		*to++ = (char)(high << 4 | low);
		from += 2;
	}
	*to = '\0';
	return s;
}

/* Beneath a root: no way up, and no way around. */
bool ward_fields_good_path(const char *path)
{
	const char *at = path;
	while (*at) {
		size_t len = 0;
		while (at[len] && at[len] != '/')
			len++;
		if (!len || (len == 1 && *at == '.') || (len == 2 && !strncmp(at, "..", 2)))
			return false;
		at += len;
		if (*at == '/' && !at[1])
			return false;
		at += *at == '/';
	}
	return true;
}

bool ward_fields_good_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

bool ward_fields_base(char *s, struct ward_review_base *b)
{
	uint64_t v[10];
	bool bad = false;
	for (size_t i = 0; i < 10; i++) {
		char *colon = s ? strchr(s, ':') : NULL;
		if (colon)
			*colon = '\0';
		if (!s || (i < 9) != (colon != NULL))
			return false;
		v[i] = ward_fields_number(s, i == 3 ? 8 : 10, UINT64_MAX, &bad);
		s = colon ? colon + 1 : NULL;
	}
	*b = (struct ward_review_base){.dev = v[0],
		.ino = v[1],
		.btime_ns = v[2],
		.mode = (uint32_t)v[3] & 07777,
		.nlink = (uint32_t)v[4],
		.uid = (uint32_t)v[5],
		.gid = (uint32_t)v[6],
		.size = v[7],
		.mtime_ns = v[8],
		.ctime_ns = v[9]};
	return !bad;
}

void ward_fields_put_base(struct ward_buf *b, const struct ward_review_base *base)
{
	ward_buf_printf(b, " %llu:%llu:%llu:%o:%u:%u:%u:%llu:%llu:%llu",
		(unsigned long long)base->dev, (unsigned long long)base->ino,
		(unsigned long long)base->btime_ns, base->mode, base->nlink, base->uid, base->gid,
		(unsigned long long)base->size, (unsigned long long)base->mtime_ns,
		(unsigned long long)base->ctime_ns);
}

void ward_fields_put_bytes(struct ward_buf *b, const char *s)
{
	ward_buf_putc(b, ' ');
	ward_escape_field(b, s);
}
