/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names are bytes; what is printed or written as JSON is text. The one lossless mapping between:
 *
 *   printable characters of valid UTF-8      themselves, but for the backslash: "\\"
 *   newline, tab, carriage return            \n \t \r
 *   every other byte (controls C0 and C1, DEL, invalid UTF-8, and the bidirectional
 *   and invisible characters that can make a line read as another)          \xNN, byte by byte
 *
 * ward_unescape() takes exactly this back to the bytes. UTF-8 validity as RFC 3629.
 */
#pragma once

#include <stddef.h>

#include "enforcer/base/buf.h"

/* Appends the escaped form of the len bytes at s. */
void ward_escape(struct ward_buf *b, const void *s, size_t len);

/*
 * Appends a JSON string (RFC 8259) including its quotes, holding the escaped form: so the text that
 * a JSON parser returns is what ward_escape() gives.
 */
void ward_escape_json(struct ward_buf *b, const void *s, size_t len);

/*
 * Appends text that is JSON with what would be escaped above as \uXXXX of JSON: to a parser it is
 * the same, but bytes that are not UTF-8 become U+FFFD. Blanks between the values become
 * spaces.
 */
void ward_escape_in_json(struct ward_buf *b, const void *json, size_t len);

/* Appends the bytes that text stands for. -EINVAL for a bad escape. */
int ward_unescape(struct ward_buf *b, const char *text, size_t len) ward_must_check;

/*
 * Appends s as a field of the journals of review (fs/review/journal.h): bytes up to 0x20, from 0x7f
 * on, "%" and ";" as %XX, an empty s as ".".
 */
void ward_escape_field(struct ward_buf *b, const char *s);

/*
 * Appends word as a word of a shell's command line, in quotes where it needs them. For each name in
 * a command that a message has for its reader: an agent chooses names, and the reader pastes.
 */
void ward_shell_word(struct ward_buf *b, const char *word);
/* The same in a buffer of its own, for a format: *b is cleared first. Borrowed from b. */
const char *ward_shell_quoted(struct ward_buf *b, const char *word);
