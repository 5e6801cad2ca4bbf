/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host executes by another name than its own: through symbolic links of the project or of
 * a session. A link `.github` to `docs` makes `docs/workflows` one of the names that the host
 * executes; so does a link on the way of another one.
 */
#pragma once

#include "enforcer/cli/review/review_after.h"

/* Names of the project that are looked at for links, those near its top first. */
#define WARD_BEHIND_NAMES_MAX 50000U

struct ward_behind;

/* `repository` (borrowed arg): will git take the directory at path for a repository? -ENOMEM. */
typedef bool ward_behind_git_fn(void *arg, size_t root, const char *path);
int ward_behind_find(const struct ward_after *a, ward_behind_git_fn *repository, void *arg,
	struct ward_behind **ret) ward_must_check;
void ward_behind_free(struct ward_behind *b);

/* Does the change put something where the host executes it, or on the way to such a place? */
bool ward_behind_has(const struct ward_behind *b, const struct ward_change *c);
