/* SPDX-License-Identifier: Apache-2.0 */
/* What git tracks, as git itself says it. */
#pragma once

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/*
 * Appends the names of the files that git tracks in dir, relative to it, each ended by NUL. Nothing
 * where there is no git or no repository. Runs git with core.fsmonitor off: the repository's
 * configuration starts no program. -EFBIG, -errno.
 */
int ward_git_tracked(const char *dir, struct ward_buf *names) ward_must_check;
