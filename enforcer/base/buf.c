/* SPDX-License-Identifier: Apache-2.0 */
/* A byte buffer that grows and remembers the first error. */
#include "enforcer/base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ward_buf_clear(struct ward_buf *b)
{
	free(b->data);
	size_t max = b->max;
	*b = WARD_BUF_INIT;
	b->max = max;
}

/* Makes room for `more` bytes and the NUL. Returns 0 or the sticky error. */
static int reserve(struct ward_buf *b, size_t more)
{
	if (b->error)
		return b->error;
	size_t max = b->max ? b->max : WARD_BUF_MAX;
	if (more > max || b->len > max - more)
		return b->error = -E2BIG;
	size_t need = b->len + more + 1;
	if (need <= b->cap)
		return 0;
	size_t cap = b->cap ? b->cap : 64;
	while (cap < need)
		cap *= 2;
	if (cap > max + 1)
		cap = max + 1;
	char *p = realloc(b->data, cap);
	if (!p)
		return b->error = -ENOMEM;
	b->data = p;
	b->cap = cap;
	return 0;
}

void ward_buf_add_growing(struct ward_buf *b, const void *data, size_t len)
{
	if (reserve(b, len) < 0)
		return;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void ward_buf_printf(struct ward_buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || reserve(b, (size_t)n) < 0)
		return;
	va_start(ap, fmt);
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

const char *ward_buf_str(const struct ward_buf *b)
{
	return b->data ? b->data : "";
}

int ward_buf_error(const struct ward_buf *b)
{
	return b->error;
}

char *ward_buf_steal(struct ward_buf *b)
{
	if (b->error || reserve(b, 0) < 0)
		return NULL;
	char *p = b->data;
	p[b->len] = '\0';
	b->data = NULL;
	b->len = b->cap = 0;
	return p;
}
