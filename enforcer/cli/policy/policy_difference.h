/* SPDX-License-Identifier: Apache-2.0 */
/* A difference of two policies for people. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/buf.h"
#include "enforcer/policy/diff.h"

/*
 * Appends one line without its newline, as it may be shown: "/workspace/x: no longer read", with
 * rules "/workspace/x: -read  (RULE -> RULE)"; "[limits] wall: 1h -> 2h".
 */
void ward_difference_show(const struct ward_difference *d, bool rules, struct ward_buf *b);
