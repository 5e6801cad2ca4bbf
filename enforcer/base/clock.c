/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the clocks, and writes a time as text. */
#include "enforcer/base/clock.h"

#include <stdio.h>
#include <time.h>

static uint64_t now_ns(clockid_t id)
{
	struct timespec ts;
	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * WARD_NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

uint64_t ward_clock_real_ns(void)
{
	return now_ns(CLOCK_REALTIME);
}

uint64_t ward_clock_mono_ns(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

uint64_t ward_clock_boot_ns(void)
{
	return now_ns(CLOCK_BOOTTIME);
}

uint64_t ward_clock_left_ns(uint64_t since_ns, uint64_t ns)
{
	const uint64_t gone = ward_clock_mono_ns() - since_ns;
	return gone < ns ? ns - gone : 0;
}

struct timeval ward_clock_timeval(uint64_t ns)
{
	const uint64_t most = 86400 * WARD_NS_PER_SEC;
	const uint64_t us = (ns < most ? ns : most) / 1000 + 1;
	return (struct timeval){
		.tv_sec = (time_t)(us / 1000000), .tv_usec = (suseconds_t)(us % 1000000)};
}

void ward_clock_format(uint64_t real_ns, char ret_text[WARD_CLOCK_TEXT_MAX])
{
	time_t sec = (time_t)(real_ns / WARD_NS_PER_SEC);
	struct tm tm;
	gmtime_r(&sec, &tm);
	char day[24];
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(ret_text, WARD_CLOCK_TEXT_MAX, "%s.%09uZ", day,
		(unsigned)(real_ns % WARD_NS_PER_SEC));
}
