/* SPDX-License-Identifier: Apache-2.0 */
/* What running sessions add to an answer of `policy explain`: live grants, and open questions. */
#pragma once

#include <jansson.h>
#include <stdint.h>

/*
 * Asks each of these sessions (names). Returns an array, the caller's, of
 * {"session", "grant", "rights", "left_s", "uses", "used"} for each live grant that gives one of
 * `want` on the sandbox path, and "session", "question", "action", "waits"} for each question
 * about it. A session that does not answer adds nothing.
 */
json_t *explain_running(const json_t *sessions, const char *path, uint32_t want);
/* The same as lines of text, on standard output. */
void explain_running_print(const json_t *list);
