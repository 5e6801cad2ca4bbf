/* SPDX-License-Identifier: Apache-2.0 */
/* What the guard knows of the host, looked at on the host: before it renames a directory, and where
 * trees lie. */
#pragma once

#include "enforcer/cli/place/policy_place.h"
#include "enforcer/session/plan/tree_spots.h"

/*
 * Decides a rename once more where the first decision wants a look (*d, unchanged unless what is
 * there on the host allows it). path, path2: the sandbox paths behind req's states.
 */
void ward_place_look(const struct ward_policy_place *place, struct ward_request *req,
	const char *path, const char *path2, struct ward_decision *d);

/* Where the trees of the policy lie; clear it. Errors as ward_tree_spots_find(). */
int ward_place_trees(const struct ward_policy_place *place, struct ward_tree_spots *ret,
	struct ward_err *err) ward_must_check;
