/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a log line by line, with memory for one line. */
#include "audit/log/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/format.h"
#include "enforcer/base/zeros.h"

#define CHUNK ((size_t)1 << 20)

int ward_lines_open(struct ward_lines *l, struct ward_log *log, uint64_t offset)
{
	*l = (struct ward_lines){.log = log, .cap = CHUNK, .offset = offset};
	l->buf = malloc(l->cap);
	return l->buf ? 0 : -ENOMEM;
}

int ward_lines_open_one(struct ward_lines *l, struct ward_log *log, uint64_t offset, size_t len)
{
	*l = (struct ward_lines){.log = log, .cap = len + 1, .offset = offset};
	l->buf = malloc(l->cap);
	return l->buf ? 0 : -ENOMEM;
}

void ward_lines_close(struct ward_lines *l)
{
	free(l->buf);
	l->buf = NULL;
}

/* Reads more behind what is left. 1 got some, 0 end of file. */
static int fill(struct ward_lines *l)
{
	memmove(l->buf, l->buf + l->start, l->end - l->start);
	l->offset += l->start;
	l->end -= l->start;
	l->start = 0;
	ssize_t n = ward_log_read(l->log, l->buf + l->end, l->cap - l->end, l->offset + l->end);
	if (n < 0)
		return (int)n;
	l->end += (size_t)n;
	return n > 0;
}

/* As many as WARD_LINES_PIECES_MAX pieces. */
#define ZEROS_MAX ((uint64_t)WARD_LINES_PIECES_MAX * WARD_LINE_MAX)

/* Zeros and nothing else, from what was not handed out yet to the end of the text. */
static bool ends_in_zeros(const struct ward_lines *l)
{
	char buf[4096];
	uint64_t at = l->offset + l->end;
	ssize_t n = 0;
	if (ward_before_zeros(l->buf + l->start, l->end - l->start) > 0)
		return false;
	while (at - l->offset < ZEROS_MAX &&
		(n = ward_log_read(l->log, buf, sizeof(buf), at)) > 0) {
		if (ward_before_zeros(buf, (size_t)n) > 0)
			return false;
		at += (uint64_t)n;
	}
	return n == 0;
}

int ward_lines_next(struct ward_lines *l, struct ward_lines_line *ret)
{
	size_t looked = 0;
	if (l->ended)
		return 0;
	for (;;) {
		size_t have = l->end - l->start;
		const char *p = l->buf + l->start;
		const char *nl = have > looked ? memchr(p + looked, '\n', have - looked) : NULL;
		size_t len = nl ? (size_t)(nl - p) : have;
		if (nl || have >= WARD_LINE_MAX) {
			bool whole = nl && len < WARD_LINE_MAX;
			if (!whole && !nl) {
				l->ended = l->pieces == 0 && ends_in_zeros(l);
				len = WARD_LINE_MAX - (l->ended ? 1 : 0);
			}
			*ret = (struct ward_lines_line){
				.p = p, .len = len, .offset = l->offset + l->start, .whole = whole};
			l->start += len + (nl ? 1 : 0);
			l->pieces = nl ? 0 : l->pieces + 1;
			l->ended |= l->pieces == WARD_LINES_PIECES_MAX;
			return 1;
		}
		looked = have;
		int r = fill(l);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		if (have == 0)
			return 0;
		*ret = (struct ward_lines_line){
			.p = l->buf + l->start, .len = have, .offset = l->offset + l->start};
		l->start += have;
		l->ended = true;
		return 1;
	}
}
