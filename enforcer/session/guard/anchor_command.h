/* SPDX-License-Identifier: Apache-2.0 */
/* An anchor that is a command. */
#pragma once

#include <stddef.h>

#include "enforcer/session/owner/identity.h"

/*
 * Runs the program at path with the note on its standard input and nothing else of ours: no other
 * descriptors, PATH and LANG alone in its environment, no terminal, "/" as its directory. As the
 * owner; id NULL: as this process. 0 when it exits with 0 within
 * ten seconds; -ETIMEDOUT: it was killed; -EREMOTEIO: it ended otherwise; or why it did not start.
 */
int ward_anchor_exec(const char *path, const struct ward_identity *id, const void *note,
	size_t len) ward_must_check;
