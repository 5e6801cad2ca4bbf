/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbolic links above rules, of today: no session could make them, since a rule is on a name
 * beneath them. They are the owner's and stay; programs of the host that follow one find what no
 * rule is about.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/policy/policy.h"

/* path: the link's, in the sandbox. rule: one that is on a name beneath it. */
typedef int (*ward_link_fn)(void *user, const char *path, const struct ward_rule *rule);

/*
 * Looks for them in the tree whose directory is open as dir (O_PATH will do; kept), which the
 * sandbox sees at `at`, and calls fn for each. Looks at so many levels of directories and names at
 * most. Follows no link and opens directories alone. *ret_all: it has seen all names of these
 * levels. -ENOMEM, or what fn returned below 0.
 */
struct ward_links_bounds {
	unsigned levels, names;
};
int ward_links_above(const struct ward_policy *p, int dir, const char *at,
	const struct ward_links_bounds *most, ward_link_fn fn, void *user,
	bool *ret_all) ward_must_check;
