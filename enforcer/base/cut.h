/* SPDX-License-Identifier: Apache-2.0 */
/* A text for people that has to fit: cut between words, and it shows that it is cut. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define WARD_CUT_MARK "…"

/*
 * Copies the len bytes at text (up to a NUL) into ret, of size >= 8 bytes with its NUL. What does
 * not fit ends behind a whole word with WARD_CUT_MARK; a single word that is too long, behind a
 * whole character of UTF-8.
 */
void ward_cut(char *ret, size_t size, const char *text, size_t len);
/* Was it cut? */
bool ward_cut_is(const char *text);
