/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The difference of two texts as a unified diff: E. Myers, "An O(ND) Difference Algorithm and Its
 * Variations" (1986), with linear space. It runs in this process, so that no program reads what an
 * agent wrote, and no configuration of the project counts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/buf.h"

/* A text with more is taken for binary: what a person reads is shorter. */
#define WARD_TEXT_DIFF_MAX ((size_t)64 << 20)

/* The same of more lines: each takes some 40 bytes of memory. */
#define WARD_TEXT_LINES_MAX ((size_t)1 << 21)

/* Has it a NUL among its first 8000 bytes, as git asks, or is it too long? */
bool ward_text_is_binary(const char *text, size_t len);
/* Lines of a (from 0) that become lines of b, and the same in bytes. One of both may be none. */
struct ward_text_change {
	size_t a_line, a_lines, b_line, b_lines;
	size_t a_at, a_len, b_at, b_len;
};
/*
 * The changes that make b of a, in their order, with at least one equal line between two; none if
 * they are the same. Where the texts have very little in common they are right, and perhaps not the
 * shortest. *ret is the caller's. -ENOMEM.
 */
int ward_text_changes(const char *a, size_t a_len, const char *b, size_t b_len,
	struct ward_text_change **ret, size_t *ret_n) ward_must_check;
