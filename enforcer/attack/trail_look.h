/* SPDX-License-Identifier: Apache-2.0 */
/* What the trail of wardfs says of a run, as `wardfs audit` prints it. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"

struct ward_trail_look;

/*
 * Reads the trails of the session and of its successors (NAME.2, …), which the program wrote.
 * NULL: there is none that it can read, or no memory.
 */
struct ward_trail_look *ward_trail_read(const char *wardfs, const char *session) ward_must_check;
void ward_trail_look_free(struct ward_trail_look *t);

/* Does a record name a path that ends so? */
bool ward_trail_names(const struct ward_trail_look *t, const char *end);

/* Is there a line that is no record, a record of this path, or a byte that steers a terminal? */
bool ward_trail_forged(const struct ward_trail_look *t, const char *path);

/* Does every trail verify as intact, or as incomplete alone? */
bool ward_trail_intact(const struct ward_trail_look *t);
