/* SPDX-License-Identifier: Apache-2.0 */
/* A question to the caller, answered by one letter. */
#pragma once

#include <stdbool.h>

/* Is there somebody to ask: a terminal to read from? */
bool ask_possible(void);

/*
 * Asks on stderr until standard input has a line that begins with one of letters; an empty line
 * means `empty`, the end of the input `end`.
 */
char ask_word(const char *question, const char *letters, char empty, char end);
