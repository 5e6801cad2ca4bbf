/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures of answers, checked once more by the policy that the trail has. */
#pragma once

#include <jansson.h>

#include "enforcer/policy/settings.h"

/*
 * rec: a record `answer` that granted. shown: the `detail` of its `ask`. given: grants by id, the
 * records `grant` of answers. covered: ids of grants whose answers had good signatures. NULL: the
 * answer has the signatures that these settings demand, or it names only grants of covered, which
 * answered another question; else why not. Without an ask (shown NULL) nothing is told.
 */
const char *ward_signatures_wrong(const struct ward_settings *s, const json_t *rec,
	const json_t *shown, const json_t *given, const json_t *covered);
