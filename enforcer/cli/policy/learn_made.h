/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that a command made at names of secrets, such as the key.pem of a test. The session that
 * made one may use it; for the next session it is a secret that was there.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/base/buf.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/policy/learn.h"

/*
 * Appends to *paths, each ended by NUL, the sandbox paths of files that the session changed at
 * names under a rule of `secret` and left behind. To have changed one the session must have made
 * it, or git had it. Left out are names that differ in each run, as learn_generalise() says. place:
 * the policy and the trees of that session. -ENOMEM.
 */
int learn_made_find(const struct ward_learned *l, const struct ward_policy_place *place,
	struct ward_buf *paths) ward_must_check;
/* Is the path one of these? */
bool learn_made_has(const struct ward_buf *paths, const char *path);
/* Does the pattern name one of them, and nothing else? */
bool learn_made_has_pattern(const struct ward_buf *paths, const char *pattern);
/* Is a rule of `secret` in force at this sandbox path? True if memory is short. */
bool learn_made_is_secret(const struct ward_policy *p, const char *path);
