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

/* Has it a NUL among its first 8000 bytes, as git asks, or is it too long? */
bool ward_text_is_binary(const char *text, size_t len);
/*
 * Appends the hunks that make b of a ("@@ -1,3 +1,4 @@" and lines), with three lines around each
 * change; nothing if they are the same. The lines are the bytes of the texts. Where the texts have
 * very little in common the hunks are right, and perhaps not the shortest. -ENOMEM.
 */
int ward_text_diff(const char *a, size_t a_len, const char *b, size_t b_len,
	struct ward_buf *ret) ward_must_check;
