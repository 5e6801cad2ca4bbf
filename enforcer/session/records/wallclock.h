/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notices that the host's clock was set (not slewed), by TFD_TIMER_CANCEL_ON_SET of
 * timerfd_create(2): records before and after a step cannot be compared by their `time`.
 */
#pragma once

#include <stdint.h>

#include "enforcer/base/err.h"
#include "enforcer/session/guard/guard.h"

struct ward_wallclock {
	int fd; /* polled for POLLIN */
	int64_t ahead_ns;
};
#define WARD_WALLCLOCK_INIT ((struct ward_wallclock){.fd = -1})

int ward_wallclock_open(struct ward_wallclock *ret, struct ward_err *err) ward_must_check;
/*
 * The descriptor has something: a clock record, with how far CLOCK_REALTIME went ahead of
 * CLOCK_MONOTONIC since the last one, in ns. 0, or what ward_guard_put() says.
 */
int ward_wallclock_event(struct ward_wallclock *w, struct ward_guard *g) ward_must_check;
void ward_wallclock_close(struct ward_wallclock *w);
