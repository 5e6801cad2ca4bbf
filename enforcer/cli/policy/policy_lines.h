/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a policy's text, and changes of single ones that leave the others as they are. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

struct policy_line {
	unsigned line; /* from 1 */
	char *section; /* "[files]", "[tree /x]"; owned, as are the others */
	char *key, *value;
};
struct policy_lines {
	struct policy_line *v;
	size_t n;
};
#define POLICY_LINES_INIT ((struct policy_lines){NULL, 0})
void policy_lines_clear(struct policy_lines *l);

/* Reads all pairs. file: for messages. -EINVAL: no text of a policy. */
int policy_lines_read(const char *file, const struct ward_buf *text, struct policy_lines *ret,
	struct ward_err *err) ward_must_check;

/* Is it the same line, whatever blanks and comments stand around it? */
bool policy_line_is(
	const struct policy_line *l, const char *section, const char *key, const char *value);
/* The first such line behind `from` lines; NULL: none. */
const struct policy_line *policy_lines_find(const struct policy_lines *l, size_t from,
	const char *section, const char *key, const char *value);

/* Adds the line at the end of text, under that section: where it decides. */
void policy_lines_append(
	struct ward_buf *text, const char *section, const char *key, const char *value);

/* Takes a line away, and the header above it where nothing is left under it. */
int policy_lines_remove(struct ward_buf *text, unsigned line) ward_must_check;

/* Appends what tells two texts apart: their lines behind "- " and "+ ". */
void policy_lines_difference(
	const struct ward_buf *before, const struct ward_buf *after, struct ward_buf *ret);
