/* SPDX-License-Identifier: Apache-2.0 */
/* What mode auto weighed, for the trail and for people. */
#pragma once

#include <jansson.h>

#include "enforcer/session/plan/weigh.h"

/*
 * As in session.start: points, mode, asked, least, overrode, rows that cost something, program,
 * sessions, passed; foreign texts that do not fit into a record are null. whole: every row, with
 * its sentence, and from how many points on each mode is taken (s: the policy's). The caller's
 * reference.
 */
json_t *ward_weighed_json(const struct ward_weighed *w, bool whole, const struct ward_settings *s);
