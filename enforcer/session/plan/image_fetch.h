/* SPDX-License-Identifier: Apache-2.0 */
/* [container] pull: a run fetches an image that the store lacks. */
#pragma once

#include "enforcer/session/plan/plan.h"

/*
 * name: a reference that the store does not have. Fills p->image; for a dry run sets
 * p->image_fetched, and fetches nothing. Says both. Any failure is -EIO with the command to type.
 */
int ward_plan_image_fetch(const struct ward_run_options *o, struct ward_run_plan *p,
	const char *name, struct ward_err *err) ward_must_check;
