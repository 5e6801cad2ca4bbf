/* SPDX-License-Identifier: Apache-2.0 */
/* Time, in nanoseconds, and its one text form. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define WARD_NS_PER_SEC UINT64_C(1000000000)

/* CLOCK_REALTIME since the epoch. */
uint64_t ward_clock_real_ns(void);
/* CLOCK_MONOTONIC. */
uint64_t ward_clock_mono_ns(void);

/* "2026-01-02T03:04:05.123456789Z" and NUL (RFC 3339, UTC). */
#define WARD_CLOCK_TEXT_MAX 48
void ward_clock_format(uint64_t real_ns, char ret_text[WARD_CLOCK_TEXT_MAX]);
