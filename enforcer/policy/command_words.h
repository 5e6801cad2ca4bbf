/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a command line as a configuration has it, and which of them a shell would run. No
 * shell is parsed: quotes only separate, variables and substitutions are cut at their ends. So it
 * may report a word that nothing runs; it reports each word of the text that is run.
 */
#pragma once

#include <stddef.h>

enum ward_word {
	WARD_WORD_OTHER = 0, /* an argument */
	WARD_WORD_PROGRAM,   /* stands where a command begins */
	WARD_WORD_SCRIPT,    /* what an interpreter before it runs, or what stands behind "$VAR/" */
};

/* word: len bytes, borrowed. What it returns, if not 0, ends the reading. */
typedef int (*ward_word_fn)(void *user, const char *word, size_t len, enum ward_word kind);

/* Calls fn for each word of the text, in order; 0, or what fn returned. */
int ward_command_words(const char *text, ward_word_fn fn, void *user);
