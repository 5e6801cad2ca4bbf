/* SPDX-License-Identifier: Apache-2.0 */
/* Where changes are staged ([tree] changes), nobody is asked about them while the command runs. */
#pragma once

#include "enforcer/cli/place/policy_place.h"

/*
 * *d: the decision of req without that, of the sandbox paths behind its states (path2 NULL: there
 * is none). True: it was to ask, and the change is staged instead. Then *d allows it, and has its
 * rule.
 */
bool explain_staged(const struct ward_policy_place *place, struct ward_request *req,
	const char *path, const char *path2, struct ward_decision *d);
/* Prints what becomes of it, behind a line that has no end yet. */
void explain_staged_print(void);
