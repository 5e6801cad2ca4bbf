/* SPDX-License-Identifier: Apache-2.0 */
/* Freezes and thaws the control group of a session. */
#include "fs/fs_still.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/helper.h"
#include "fs/request/questions.h"

void ward_still_take(struct ward_still *s, uint32_t which, int *fd)
{
	int *to = which == WARD_FREEZER_FREEZE ? &s->freeze : &s->events;

	if (*to < 0)
		*to = ward_steal_fd(fd);
}

void ward_still_close(struct ward_still *s)
{
	if (s->freeze >= 0)
		ward_fd_drop(s->freeze);
	if (s->events >= 0)
		ward_fd_drop(s->events);
	*s = WARD_STILL_INIT;
}

static bool is_frozen(const struct ward_still *s)
{
	char text[256];
	const ssize_t n = pread(s->events, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return strstr(text, "frozen 1\n") != NULL;
}

void ward_still_begin(struct ward_fs *fs, const struct ward_still *s, int ms)
{
	const uint64_t until = ward_clock_mono_ns() + (uint64_t)ms * 1000000U;
	struct pollfd p = {.fd = s->events, .events = POLLPRI};

	if (s->freeze < 0 || s->events < 0 || ward_questions_wait(fs))
		return;
	if (write(s->freeze, "1", 1) != 1)
		return;
	/* Changes since it was read last wake the poll. */
	while (!is_frozen(s)) {
		const uint64_t now = ward_clock_mono_ns();

		if (now >= until || poll(&p, 1, (int)((until - now) / 1000000U) + 1) < 0)
			return;
	}
}

void ward_still_end(const struct ward_still *s)
{
	if (s->freeze >= 0)
		(void)!write(s->freeze, "0", 1);
}
