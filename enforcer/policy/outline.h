/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy as two lists of literal paths, for a layer that knows nothing finer (the flags of a
 * language's runtime). The lists are coarser than the rules: they may give more than
 * ward_policy_decide() does, and never less.
 */
#pragma once

#include "enforcer/policy/policy.h"

/* A path inside; `rule` is why it is listed, NULL: the default. Both live as long as the policy. */
struct ward_outline_path {
	char *path; /* owned by the list */
	bool deny;  /* nothing at the path or beneath it has the right */
	const struct ward_rule *rule;
};

struct ward_outline {
	struct ward_outline_path *v; /* sorted by path */
	size_t n;
};

/*
 * Lists where paths have `right` (one of enum ward_right): the highest paths that may have it, and
 * beneath them the paths without wildcards that lack it as a whole. *ret: ward_outline_clear().
 * -ENOMEM.
 */
int ward_policy_outline(
	const struct ward_policy *p, uint32_t right, struct ward_outline *ret) ward_must_check;
void ward_outline_clear(struct ward_outline *o);

/* Lists that a runtime's flags are made from. */
enum ward_listed_key {
	WARD_LISTED_CONNECT = 0, /* [network] allow: HOST[:PORT,…][/udp] or a block of addresses */
	WARD_LISTED_PROGRAMS,	 /* [process] exec: a path or a pattern */
	WARD_LISTED_READ,	 /* [system] read: a path of the host as written */
};
/*
 * Calls fn for each value in force, in the order of the policy. place: "FILE:LINE", which lives
 * during the call. Stops at what fn returns, if that is not 0, and returns it. -ENOMEM.
 */
int ward_policy_listed_values(const struct ward_policy *p, enum ward_listed_key key,
	int (*fn)(void *user, const char *value, const char *place), void *user) ward_must_check;
