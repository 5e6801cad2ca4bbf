/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program writes to its terminal, cut into pieces that are whole: text, and control
 * sequences (ECMA-48, and what xterm adds: ctlseqs). A piece can be shown, left out, or followed by
 * something else, without a terminal taking what comes next for its rest.
 *
 * Pieces have one form. Controls of eight bits (U+0080 to U+009F) have become those of seven,
 * strings end with ESC \, and what no terminal agrees on (sequences that are cut short, or are too
 * long) is left out.
 *
 * The reader has no memory of its own beyond struct ward_pieces, and any bytes will do.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ward_piece {
	WARD_PIECE_NONE = 0,
	WARD_PIECE_TEXT,     /* characters, in whole; and controls of one byte */
	WARD_PIECE_SEQUENCE, /* one, from its ESC to its last byte */
	/* A part of a string that is longer than WARD_PIECE_MAX. The first has the introducer. */
	WARD_PIECE_LONG,
	WARD_PIECE_LONG_END, /* the last part of it: ESC \ */
};

/* Titles, colours and links are far shorter; pictures and what goes to a clipboard are not. */
#define WARD_PIECE_MAX 4096

/* data is borrowed for the call. */
typedef void ward_piece_fn(void *user, enum ward_piece kind, const char *data, size_t n);

/* Zero is where a terminal begins. The members are the reader's own. */
struct ward_pieces {
	unsigned state;
	bool drop;     /* of the sequence nothing is kept: it is too long */
	bool is_long;  /* of the string a part was given already */
	unsigned utf8; /* bytes that a character still wants */
	size_t n;      /* of data */
	char data[WARD_PIECE_MAX + 8];
};

/* Gives fn the pieces that end in data. What does not end is kept for the next call. */
void ward_pieces_read(
	struct ward_pieces *t, const char *data, size_t n, ward_piece_fn *fn, void *user);
/* Was a part of the current string given already? */
bool ward_pieces_in_long(const struct ward_pieces *t);
/* Is nothing under way: neither a sequence nor a character? */
bool ward_pieces_between(const struct ward_pieces *t);

/* A SEQUENCE that is a CSI, taken apart. */
struct ward_csi {
	char leader; /* one of < = > ? , or 0 */
	char middle; /* the intermediate byte, the last one if there are several, or 0 */
	char final;
	unsigned n; /* of values: at most WARD_CSI_VALUES are kept */
	unsigned value[16];
};
#define WARD_CSI_VALUES 16
/* False: no CSI sequence. A missing value is 0; sub-values (after a colon) are left out. */
bool ward_csi_parse(const char *data, size_t n, struct ward_csi *ret);

/*
 * Would a terminal answer this SEQUENCE? It is a question then, for one terminal of several: each
 * answer is typed into the program.
 */
bool ward_piece_asks(const char *data, size_t n);
