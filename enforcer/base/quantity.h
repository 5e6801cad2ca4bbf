/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities as people write them, in policies and on command lines: sizes, counts, durations,
 * rates, percentages. The one place that knows their units. Nothing allocates. Each function takes
 * the whole text, or nothing of it: -EINVAL, and err says what is wrong with it and what is
 * accepted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/* The largest size and count. What is multiplied later still fits. */
#define WARD_QUANTITY_MAX (UINT64_C(1) << 62)

/* Bytes: "512", "64K", "10M", "4G", "1T", powers of 1024. */
int ward_quantity_size(const char *text, uint64_t *ret, struct ward_err *err) ward_must_check;
/* "200", "200k", "3M": thousands. */
int ward_quantity_count(const char *text, uint64_t *ret, struct ward_err *err) ward_must_check;

/* How a duration may be written; "30s", "10m", "12h", "2d" always. A set. */
enum ward_duration_form {
	WARD_DURATION_BARE = 1U << 0,	 /* "90": seconds */
	WARD_DURATION_SEVERAL = 1U << 1, /* "1h30m", the largest unit first */
	WARD_DURATION_WEEKS = 1U << 2,	 /* "1w" */
};
/* Nanoseconds, up to 2^33 seconds. */
int ward_quantity_duration(
	const char *text, unsigned forms, uint64_t *ret_ns, struct ward_err *err) ward_must_check;

/* The same in its largest unit that leaves a whole number: "2d", "36h", "90s". */
#define WARD_DURATION_TEXT_MAX 24
void ward_quantity_duration_text(uint64_t ns, char ret[WARD_DURATION_TEXT_MAX]);

/* So many bytes (size) or things in so many seconds: "10M/s", "100/m", "2k/h". */
int ward_quantity_rate(const char *text, bool size, uint64_t *ret_n, uint32_t *ret_per_s,
	struct ward_err *err) ward_must_check;
/* Tenths, not 0: "2", "1.5"; more digits behind the point are an error. */
int ward_quantity_tenths(const char *text, uint64_t *ret, struct ward_err *err) ward_must_check;
/* Thousandths of "75%" or "12.5%": from 0.1 % to 100 %. */
int ward_quantity_percent(const char *text, uint64_t *ret, struct ward_err *err) ward_must_check;
/* Decimal digits alone, from min to max. */
int ward_quantity_whole(const char *text, uint64_t min, uint64_t max, uint64_t *ret,
	struct ward_err *err) ward_must_check;

/* Decimal digits at *s, which moves behind them. False: there are none, or more than
 * WARD_QUANTITY_MAX says. */
bool ward_quantity_digits(const char **s, uint64_t *ret);
