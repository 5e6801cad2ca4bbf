/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of a text (text_diff.h) as hunks of a unified diff: shown, done in part, merged. */
#pragma once

#include "enforcer/review/text_diff.h"

struct ward_text_pair {
	const char *a, *b; /* borrowed */
	size_t a_len, b_len;
	struct ward_text_change *v; /* that make b of a; owned */
	size_t n;
};

/* -ENOMEM. */
int ward_text_pair_make(const char *a, size_t a_len, const char *b, size_t b_len,
	struct ward_text_pair *ret) ward_must_check;
void ward_text_pair_clear(struct ward_text_pair *p);
/* Where the hunk ends that begins with change i: so near are the others that they are one. */
size_t ward_text_hunk_end(const struct ward_text_pair *p, size_t i);
/*
 * Appends the changes [from, to) as one hunk ("@@ -1,3 +1,4 @@" and lines), with three lines around
 * it, or as many as there are between it and other changes. The lines are the bytes of the texts.
 */
void ward_text_hunk_put(
	const struct ward_text_pair *p, size_t from, size_t to, struct ward_buf *ret);
/* Appends all hunks; nothing if the texts are the same. -ENOMEM. */
int ward_text_diff(const char *a, size_t a_len, const char *b, size_t b_len,
	struct ward_buf *ret) ward_must_check;
/* Appends a with those changes that are taken (one for each). -ENOMEM. */
int ward_text_take(
	const struct ward_text_pair *p, const bool *taken, struct ward_buf *ret) ward_must_check;
/*
 * Appends what base becomes with the changes of both. 1: they touch one another, and are not the
 * same: there is no one result, and *ret is of no use. -ENOMEM.
 */
int ward_text_merge(const char *base, size_t base_len, const char *a, size_t a_len, const char *b,
	size_t b_len, struct ward_buf *ret) ward_must_check;
