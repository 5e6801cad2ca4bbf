/* SPDX-License-Identifier: Apache-2.0 */
/* Notices when somebody sets the host's clock. */
#include "enforcer/session/records/wallclock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "audit/event.h"
#include "enforcer/base/cleanup.h"

/* It is to ring when the clock is set, and never by itself: seconds since 1970, in 2242. */
#define NEVER INT64_C(8589934592)

static int64_t ns_of(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

/* What passes between the two looks counts as well: some 100 ns. */
static int64_t ahead(void)
{
	struct timespec wall;
	struct timespec mono;
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	return ns_of(&wall) - ns_of(&mono);
}

int ward_wallclock_open(struct ward_wallclock *ret, struct ward_err *err)
{
	const struct itimerspec never = {.it_value = {.tv_sec = NEVER}};
	struct ward_wallclock w = {.fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK),
		.ahead_ns = ahead()};
	if (w.fd < 0 || timerfd_settime(w.fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never,
				NULL) < 0) {
		int r = ward_err_sys(err, -errno, "watch the clock");
		ward_wallclock_close(&w);
		return r;
	}
	*ret = w;
	return 0;
}

int ward_wallclock_event(struct ward_wallclock *w, struct ward_guard *g)
{
	uint64_t rang;
	const int64_t now = ahead();
	if (read(w->fd, &rang, sizeof(rang)) >= 0 || errno != ECANCELED)
		return 0;
	ward_cleanup_free struct ward_event *ev = malloc(sizeof(*ev));
	if (!ev)
		return -ENOMEM;
	ward_event_begin(ev, WARD_EVENT_CLOCK);
	ward_event_i64(ev, WARD_TAG_STEP, now - w->ahead_ns);
	w->ahead_ns = now;
	return ward_guard_put(g, ev);
}

void ward_wallclock_close(struct ward_wallclock *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}
