/* SPDX-License-Identifier: Apache-2.0 */
/* Records for auditrun from a file: what no program of wardfs writes, for its verifiers. */
#pragma once

#include "audit/ring.h"

/*
 * Puts the records of a file into the rings, one JSON object a line: `ring` (a number), `kind`, and
 * members by their names (audit/record_members.def). `"kind":"policy"` with `compile` puts the
 * policy of that text, as a session does, and writes its sources to the file PATH.sources. Exits
 * with a message where a line is wrong.
 */
void scripted_put(const char *path, struct ward_ring *const rings[]);
