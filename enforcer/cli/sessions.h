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
