/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures of answers, checked once more by the policy that the trail has. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "enforcer/policy/settings.h"

/*
 * rec: a record `answer` that granted. question: its `ask`. given: grants by id, the records
 * `grant` of answers. covered: ids of grants whose answers had good signatures; those of this one
 * are added. NULL: the answer has the signatures that these settings demand, or it names only
 * grants of covered, which answered another question; else why not.
 */
const char *ward_signatures_wrong(const struct ward_settings *s, const json_t *rec,
	const json_t *question, const json_t *given, json_t *covered);
/*
 * rec: a record `answer` that granted, to the question of `question`, an `ask`. False: its scope is
 * the paths that were shown, and a grant that this question has (given, by id) is for another one.
 */
bool ward_signatures_only_shown(const json_t *rec, const json_t *question, const json_t *given);
/*
 * rec: a record `grant` that is none of an answer. NULL: these settings let it be without signed
 * answers, or a token of an approver suffices; else why not. The token is not in the trail.
 */
const char *ward_signatures_grant_wrong(const struct ward_settings *s, const json_t *rec);
