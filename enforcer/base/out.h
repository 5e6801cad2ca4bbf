/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way to a terminal. No other file writes to standard output or standard error
 * (tests/static/terminal.py).
 *
 * The format of ward_outf() and ward_tellf() is ours: its line breaks and colours are printed as
 * they are. Every %s and %c is foreign: names from a repository, the agent, the network, a trail
 * that somebody edited. They are shown by ward_shown(), so that they can neither steer a terminal
 * nor begin a line.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/*
 * Appends text as base/escape.h has it, but for backslashes, which stay single: paths in messages
 * are copied and used, and what a trail holds is in the escaped form already.
 */
void ward_shown(struct ward_buf *b, const char *text);

/* The same of len bytes that have lines: newlines and tabs stay. */
void ward_shown_lines(struct ward_buf *b, const void *text, size_t len);

/*
 * Appends the format with each %s and %c as ward_shown() has it; NULL is "?". It takes the
 * conversions d i u x X o c s p f g e %, and no positions.
 */
void ward_shownf(struct ward_buf *b, const char *fmt, ...) ward_printf(2, 3);
void ward_vshownf(struct ward_buf *b, const char *fmt, va_list ap) ward_printf(2, 0);

/* Prints on standard output. Whether it took all, ward_out_flush() says. */
void ward_outf(const char *fmt, ...) ward_printf(1, 2);

/* Prints on standard error, each call in one piece. */
void ward_tellf(const char *fmt, ...) ward_printf(1, 2);

/* Prints a text of several lines on standard output as ward_shown_lines() has it. */
void ward_out_lines(const void *text, size_t len);

/*
 * Prints bytes on standard output as they are: what a program made of known characters (JSON in
 * ASCII), or a file that is no text and goes to no terminal.
 */
void ward_out_bytes(const void *data, size_t len);

/* Standard output has not taken all: nothing more needs to be printed. */
bool ward_out_failed(void);

/* Writes out what is left for standard output: 0, or a negative errno if any of it was lost. */
int ward_out_flush(void) ward_must_check;
