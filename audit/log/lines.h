/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a log line by line, in pieces, from the beginning. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/log/log.h"
#include "enforcer/base/err.h"

/*
 * Pieces of one line that is too long, 64 MiB together. A sparse file can have a line of a terabyte
 * on almost no disk space, so nothing beyond this many bytes is read.
 */
#define WARD_LINES_PIECES_MAX 512U

struct ward_lines {
	struct ward_log *log; /* borrowed */
	char *buf;
	size_t cap;
	size_t start; /* of what was not handed out yet */
	size_t end;
	uint64_t offset; /* in the text, of buf[0] */
	uint32_t pieces; /* of the line at hand */
	bool ended;	 /* a line without its end was handed out: what comes now is not one */
};

/* One line. Borrowed until the next call. */
struct ward_lines_line {
	const char *p; /* without its newline */
	size_t len;
	uint64_t offset; /* in the text */
	bool whole;	 /* false: the text ends before a newline does, or the line is too long */
};

int ward_lines_open(struct ward_lines *l, struct ward_log *log, uint64_t offset) ward_must_check;
/* The same for the one line of len bytes at offset, with a small buffer. */
int ward_lines_open_one(
	struct ward_lines *l, struct ward_log *log, uint64_t offset, size_t len) ward_must_check;
void ward_lines_close(struct ward_lines *l);
/*
 * 1 got a line, 0 end of file, negative errno. A line longer than WARD_LINE_MAX comes in pieces
 * that are not whole; the text ends behind WARD_LINES_PIECES_MAX of them. If the text ends with
 * zeros alone, however many, they are one line without its end (zeros.h). Behind a line that is not
 * whole because the text ends there nothing comes, also if a writer goes on with it meanwhile: open
 * again at its offset.
 */
int ward_lines_next(struct ward_lines *l, struct ward_lines_line *ret) ward_must_check;
