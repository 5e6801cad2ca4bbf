/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines of known sandboxes, with the options that their documentation recommends. */
#pragma once

#include "enforcer/attack/world.h"

struct ward_preset {
	const char *name;
	const char *program; /* NULL: none is needed */
	const char *words;   /* with {work} and {image}; separated by blanks */
	const char *what;
};

extern const struct ward_preset ward_presets[];
extern const size_t ward_n_presets;

const struct ward_preset *ward_preset_find(const char *name);

/*
 * Splits words at blanks and puts in the workspace and the image. NULL-terminated, to be freed with
 * ward_words_free(); NULL without memory.
 */
char **ward_words_split(const char *words, const struct ward_world *w, const char *image);

/*
 * The command line of `wardfs run`; policy and mode may be NULL. session: the name of its session,
 * or of the first one. The same ownership.
 */
char **ward_words_wardfs(
	const char *wardfs, const char *policy, const char *mode, const char *session);
void ward_words_free(char **v);
