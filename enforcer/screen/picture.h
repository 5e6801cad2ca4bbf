/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the terminal of a session shows now, kept by libvterm, and drawn for somebody who joins:
 * characters (wide and combined ones, too), attributes, colours, cursor, modes, title, the screen
 * beneath an alternate one, and the last lines that went off its top.
 *
 * Not kept, as libvterm 0.1 has none of it: faint and hidden text, links, pictures, tab stops,
 * lines of double size. A program that draws the whole screen draws those again when its window
 * changes, and it does when somebody joins.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/screen/pieces.h"

/* A larger window is kept as far as this. */
#define WARD_PICTURE_ROWS_MAX 400
#define WARD_PICTURE_COLUMNS_MAX 1000
/* Lines that went off the top, and what they may take in memory. */
#define WARD_PICTURE_LINES_MAX 500
#define WARD_PICTURE_LINES_BYTES ((size_t)8 << 20)
/* No drawing is longer: one that would be is an empty screen. */
#define WARD_PICTURE_MAX ((size_t)4 << 20)

struct ward_picture;

/* rows or columns of 0: 24, 80. */
int ward_picture_new(unsigned rows, unsigned columns, struct ward_picture **ret,
	struct ward_err *err) ward_must_check;
void ward_picture_free(struct ward_picture *p);
void ward_picture_resize(struct ward_picture *p, unsigned rows, unsigned columns);
/*
 * The terminal is written a piece (pieces.h). Of one that asks (ward_piece_asks()) the answer is
 * added to ret_answer; nothing, where this terminal has none.
 */
void ward_picture_write(struct ward_picture *p, enum ward_piece kind, const char *data, size_t n,
	struct ward_buf *ret_answer);
/*
 * Draws it on a terminal in whatever state. first: what that shows is moved off its top before, and
 * the lines that this one lost there are shown again.
 */
void ward_picture_draw(struct ward_picture *p, bool first, struct ward_buf *b);
/* What brings a terminal that showed all of it back to how it was. */
void ward_picture_undo(const struct ward_picture *p, struct ward_buf *b);
