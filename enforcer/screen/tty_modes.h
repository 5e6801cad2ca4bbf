/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which modes of a terminal a program has changed: what is needed to bring another terminal into
 * the same modes, and a terminal back out of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/buf.h"
#include "enforcer/screen/pieces.h"

#define WARD_TTY_TITLE_MAX 256

/* Zero is a terminal as it begins. The members are the module's own. */
struct ward_tty_modes {
	uint32_t changed;  /* bit i: mode i of the table is not as a terminal begins */
	unsigned alt;	   /* the mode that led to the other screen: 47, 1047, 1049; 0: not there */
	unsigned cursor;   /* DECSCUSR */
	unsigned top, end; /* DECSTBM; 0, 0: all */
	unsigned modify;   /* XTMODKEYS 4 */
	unsigned pushed[2]; /* kitty's keyboard flags, of either screen: how often pushed */
	unsigned flags[2];  /* and those of the last push */
	bool keypad;	    /* DECKPAM */
	char charset;	    /* of G0; 0: ASCII */
	bool shifted;	    /* SO */
	bool titled;
	char title[WARD_TTY_TITLE_MAX];
	size_t n_title;
};

/* A piece (pieces.h) that the terminal is shown. */
void ward_tty_modes_see(struct ward_tty_modes *m, enum ward_piece kind, const char *data, size_t n);

/* Is mode "?number" of the table on? */
bool ward_tty_modes_has(const struct ward_tty_modes *m, unsigned number);

/* What changes a terminal that begins to these modes; all but the other screen, and the title. */
void ward_tty_modes_set(const struct ward_tty_modes *m, struct ward_buf *b);
/* The title, if there is one. */
void ward_tty_modes_set_title(const struct ward_tty_modes *m, struct ward_buf *b);
/*
 * Back: whatever was under way, every mode of the table, the first screen. Without `all` it is
 * only what was changed that is changed back, and colours.
 */
void ward_tty_modes_undo(const struct ward_tty_modes *m, bool all, struct ward_buf *b);
