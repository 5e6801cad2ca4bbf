/* SPDX-License-Identifier: Apache-2.0 */
/* Shows progress on a terminal for work that takes longer than a second. */
#include "enforcer/cli/base/progress.h"

#include <inttypes.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/base/out.h"

/* Shorter work shows nothing; then the line changes ten times a second. */
#define QUIET_NS WARD_NS_PER_SEC
#define EVERY_NS (WARD_NS_PER_SEC / 10)

void ward_progress_begin(struct ward_progress *p, const char *what, const char *unit)
{
	*p = (struct ward_progress){.what = what,
		.unit = unit,
		.from_ns = ward_clock_mono_ns(),
		.terminal = isatty(STDERR_FILENO) == 1};
}

void ward_progress_tell(void *arg, uint64_t done)
{
	struct ward_progress *p = arg;
	const uint64_t now = p->terminal ? ward_clock_mono_ns() : 0;
	if (!p->terminal || now - p->from_ns < QUIET_NS || now - p->shown_ns < EVERY_NS)
		return;
	p->shown_ns = now;
	/* ECMA-48: back to the first column, the rest of the line erased */
	ward_tellf("\r\033[Kwardfs: %s: %" PRIu64 " %s", p->what, done, p->unit);
}

void ward_progress_end(struct ward_progress *p)
{
	if (p->shown_ns)
		ward_tellf("\r\033[K");
	p->shown_ns = 0;
}
