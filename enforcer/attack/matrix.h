/* SPDX-License-Identifier: Apache-2.0 */
/* Which attempts notice that a layer of wardfs is missing. */
#pragma once

#include <stdbool.h>

#include "enforcer/attack/observe.h"

/* What is attacked: this program's `run`, with these options (NULL: none). */
struct ward_matrix_of {
	const char *wardfs, *policy, *mode;
	const char *layers; /* with commas, or "all" */
	bool json;
};

/*
 * Attacks it with all layers, and then without each that is named, in a world of its own each time;
 * prints what each lack breaks. v, n: as for ward_observe(). Returns 0; 1 if a layer is missed by
 * every attempt that names it, and no other layer stands in front of it; or -1 with errno and why;
 * ENOENT: ward_knock_make().
 */
int ward_matrix(const struct ward_matrix_of *of, struct ward_attack_outcome *v, size_t n, char *why,
	size_t size);
