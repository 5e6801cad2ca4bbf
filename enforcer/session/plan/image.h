/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [system] image: finds the image that the policy names, and refuses one in which a session could
 * reach what is ours or change what the next one runs.
 */
#pragma once

#include "enforcer/session/plan/plan.h"

/* What the policy of p names, of the key that counts in its mode; NULL: nothing. Borrowed. */
const char *ward_plan_image_name(const struct ward_run_plan *p);
/*
 * Fills p->image where the policy names one; after p->spots. 1: the store lacks it, and the policy
 * says that the run fetches it (image_fetch.h). -EINVAL for what the owner can fix in
 * the policy or command line, -ENOTSUP for what the mode or another key rules out.
 */
int ward_plan_image(struct ward_run_plan *p, struct ward_err *err) ward_must_check;
