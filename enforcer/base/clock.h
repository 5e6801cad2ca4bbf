/* SPDX-License-Identifier: Apache-2.0 */
/* Time, in nanoseconds, and its one text form. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

#define WARD_NS_PER_SEC UINT64_C(1000000000)

/* CLOCK_REALTIME since the epoch. */
uint64_t ward_clock_real_ns(void);
/* CLOCK_MONOTONIC. */
uint64_t ward_clock_mono_ns(void);
/* CLOCK_BOOTTIME: the same, which goes on while the host is suspended. */
uint64_t ward_clock_boot_ns(void);
/* How many of these ns since then are left, by that clock; 0: none. */
uint64_t ward_clock_left_ns(uint64_t since_ns, uint64_t ns);

/* For a timer: rounded up, at most a day, so that what rings looks again. */
struct timeval ward_clock_timeval(uint64_t ns);

/* "2026-01-02T03:04:05.123456789Z" and NUL (RFC 3339, UTC). */
#define WARD_CLOCK_TEXT_MAX 48
void ward_clock_format(uint64_t real_ns, char ret_text[WARD_CLOCK_TEXT_MAX]);
