/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Part of the index: each text stands there once, and rows have its number. The numbers that were
 * asked for are remembered, since a trail says the same few thousand texts all the time.
 */
#pragma once

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

struct ward_index_words;

/* db is borrowed. NULL without memory. ward_index_words_free() before the database is closed. */
struct ward_index_words *ward_index_words_new(sqlite3 *db);
void ward_index_words_free(struct ward_index_words *w);
/* The number of a text, which becomes one of the index. Returns SQLITE_OK or what went wrong. */
int ward_index_words_number(struct ward_index_words *w, const char *text, size_t len, int64_t *ret);
