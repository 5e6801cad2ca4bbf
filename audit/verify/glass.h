/* SPDX-License-Identifier: Apache-2.0 */
/* Break-glass grants of a trail: does a key that the floor names stand for what they lift? */
#pragma once

#include <jansson.h>

#include "enforcer/policy/settings.h"

/*
 * Why this record `grant` does not have what the policy with these settings demands of a grant that
 * lifts guards; NULL: it has, or the grant lifts none. ward_chain_setup() first.
 */
const char *ward_glass_wrong(const struct ward_settings *s, const json_t *rec);
