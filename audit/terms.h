/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that the trail uses for rights, verdicts and sources. They belong to the trail's format
 * (a trail is read years later) and so stand here, not with the policy engine.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "enforcer/policy/policy.h"

/* `name` of a record `policy`: which text of it that is a piece of. */
#define WARD_POLICY_SOURCES "sources"
#define WARD_POLICY_MEANING "meaning"
/* `result` of a session.end which says that a process of wardfs died. */
#define WARD_RESULT_INCOMPLETE "incomplete"

/* In place of `argv`, for people and in the index: nobody took a prepared session. */
#define WARD_TERM_PREPARED "prepared"

/* Name of the right with bit number `bit`; NULL where there is none. */
const char *ward_name_right(unsigned bit);
/* "deny", "hide", "ask", "allow"; NULL out of range. */
const char *ward_name_verdict(uint64_t verdict);
/* "none", "profile", "base", "floor", "project", "run", "grant"; NULL out of range. */
const char *ward_name_source(uint64_t source);
