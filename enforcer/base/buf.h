/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer with a sticky error: append as often as you like, ask once at the end.
 * Not thread-safe. The content is always followed by a NUL that does not count.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "enforcer/base/err.h"

struct ward_buf {
	char *data; /* owned; NULL while empty */
	size_t len; /* bytes used */
	size_t cap; /* bytes allocated; never more than max and its NUL */
	size_t max; /* refuse to grow beyond (0: WARD_BUF_MAX) */
	int error;  /* 0, -ENOMEM or -E2BIG; sticky */
};

/* No message, record or file that we build in memory is larger. */
#define WARD_BUF_MAX ((size_t)256 << 20)

#define WARD_BUF_INIT ((struct ward_buf){0})

/* Frees the content and leaves an empty buffer. For ward_cleanup(ward_buf_clear). */
void ward_buf_clear(struct ward_buf *b);

/* ward_buf_add() where room is missing, or an error is set. */
void ward_buf_add_growing(struct ward_buf *b, const void *data, size_t len);

/* Inline: records of the trail are made of some hundred of these, most of them of a few bytes. */
static inline void ward_buf_add(struct ward_buf *b, const void *data, size_t len)
{
	if (b->error || len >= b->cap - b->len) {
		ward_buf_add_growing(b, data, len);
		return;
	}
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

static inline void ward_buf_puts(struct ward_buf *b, const char *s)
{
	ward_buf_add(b, s, strlen(s));
}

static inline void ward_buf_putc(struct ward_buf *b, char c)
{
	ward_buf_add(b, &c, 1);
}

void ward_buf_printf(struct ward_buf *b, const char *fmt, ...) ward_printf(2, 3);

/* The NUL-terminated content; "" when empty. Borrowed until the next change. */
const char *ward_buf_str(const struct ward_buf *b);

/* 0, or the sticky error. */
int ward_buf_error(const struct ward_buf *b) ward_must_check;

/* Hands the content to the caller (free()); NULL if the sticky error is set. b is empty after. */
char *ward_buf_steal(struct ward_buf *b) ward_must_check;
