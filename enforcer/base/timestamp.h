/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points in time as text: as records have them (RFC 3339, UTC: ward_clock_format()), and as people
 * give them to --since and --until.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/clock.h"
#include "enforcer/base/err.h"

/*
 * Nanoseconds since 1970 of "2026-01-02T03:04:05Z", or with up to nine digits behind a point. 0:
 * text is NULL or not such a time, or lies before 1970 or after 2554 (64 bits).
 */
uint64_t ward_timestamp_ns(const char *text);

/*
 * The beginning of a time as records have it, of
 *   2026-01-02T03:04:05.678Z  or what it begins with; a space for the T; the Z may be missing
 *   90s 30m 12h 2d 1w         so long before now_ns
 *   now today yesterday       the last two are days, in UTC
 * -EINVAL: another form, or a time before 1970.
 */
int ward_timestamp_beginning(const char *text, uint64_t now_ns, char ret[WARD_CLOCK_TEXT_MAX],
	struct ward_err *err) ward_must_check;

/*
 * Whether a time as records have it lies between two beginnings of times. NULL for either: no
 * bound. What begins with `until` still lies before it. False: time is NULL, and a bound is given.
 */
bool ward_timestamp_within(const char *time, const char *since, const char *until);
