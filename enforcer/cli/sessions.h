/* SPDX-License-Identifier: Apache-2.0 */
/* The running sessions of the caller. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/*
 * What every session answers to "status" (enforcer/session/control.h), as an array; never NULL but
 * for want of memory. Directories of dead ones (their supervisor was killed) are removed. quiet: a
 * session that does not answer is left out without a word on stderr.
 */
json_t *ward_sessions_running(const char *runtime, bool quiet);

/*
 * Those, or the one named alone (session not NULL). 0, or 1 after a message where it does not run;
 * *ret_runtime, for ward_sessions_ask(), is the caller's to free and *ret_all to decref, NULL where
 * there is no runtime directory.
 */
int ward_sessions_choose(const char *session, char **ret_runtime, json_t **ret_all);

/* What a session answers to a request: an object without "error", or NULL after a message. */
json_t *ward_sessions_ask(const char *runtime, const char *session, const char *request);
