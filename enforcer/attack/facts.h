/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of the world around a sandbox, written by the observer and read by the attempts. */
#pragma once

#include <stdio.h>

#include "enforcer/attack/attack.h"

/* Writes all that is set, one line KEY=VALUE each: 0, or -1 with errno. */
int ward_facts_write(const struct ward_facts *f, FILE *out);

/*
 * Reads such lines; a later line takes the place of an earlier one. Lines that begin with '#' or
 * ';', and empty ones, are passed over. Returns 0, or the number of the first line that is wrong.
 */
int ward_facts_read(struct ward_facts *f, FILE *in);

/* Frees all strings. */
void ward_facts_clear(struct ward_facts *f);
