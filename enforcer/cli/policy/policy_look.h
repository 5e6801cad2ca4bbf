/* SPDX-License-Identifier: Apache-2.0 */
/* What a mounted tree looks at before it renames a directory, looked at on the host. */
#pragma once

#include "enforcer/cli/place/policy_place.h"

/*
 * Decides a rename once more where the first decision wants a look (*d, unchanged unless what is
 * there on the host allows it). path, path2: the sandbox paths behind req's states.
 */
void ward_place_look(const struct ward_policy_place *place, struct ward_request *req,
	const char *path, const char *path2, struct ward_decision *d);
