/* SPDX-License-Identifier: Apache-2.0 */
/* Times as people give them to wardfs audit --since and --until. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/clock.h"

/* What there is, for those who wrote something else. */
#define AUDIT_TIME_FORMS                                                                            \
	"a time is written 2026-01-02T03:04 (UTC; date alone, or up to nanoseconds), 30m (so long " \
	"ago; s, m, h, d, w), today or yesterday"

/*
 * The beginning of a time as records have it, of
 *   2026-01-02T03:04:05.678Z  or what it begins with; a space for the T; the Z may be missing
 *   90s 30m 12h 2d 1w         so long before now_ns
 *   now today yesterday       the last two are days, in UTC
 * 0; -EINVAL: it is none of these, or before 1970.
 */
int audit_time_parse(const char *text, uint64_t now_ns, char ret[WARD_CLOCK_TEXT_MAX]);
