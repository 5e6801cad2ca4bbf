/* SPDX-License-Identifier: Apache-2.0 */
/* Says that a guard is lifted. */
#include "enforcer/session/run/run_glass.h"

#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/out.h"

void ward_run_glass_changed(void *arg, const struct ward_grant_held *held)
{
	struct ward_running *r = arg;
	const struct ward_grant *g = &held->grant;
	const uint64_t now = ward_clock_boot_ns();
	const bool holds = ward_held_holds(held, now);
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf lifts = WARD_BUF_INIT;
	char until[WARD_CLOCK_TEXT_MAX];
	for (const char *p = g->lifts; *p; p++)
		ward_buf_puts(&lifts, (char[]){*p == '\n' ? ',' : *p, *p == '\n' ? ' ' : 0, 0});
	const uint64_t left = g->until_ns > now ? g->until_ns - now : 0;
	ward_clock_format(ward_clock_real_ns() + left, until);
	if (r->glass.len)
		ward_buf_putc(&r->glass, '\n');
	if (holds)
		ward_shownf(&b,
			"wardfs: BREAK GLASS: grant %s lifts [guard] %s for %s until %.19sZ (%s): %s",
			g->id, ward_buf_str(&lifts), g->pattern, until, g->issuer, g->reason);
	else
		ward_shownf(&b, "wardfs: break glass is over: grant %s, [guard] %s is in force",
			g->id, ward_buf_str(&lifts));
	ward_buf_add(&r->glass, b.data, b.len);
}

int ward_run_glass_timeout(const struct ward_running *r)
{
	return r->granting ? ward_granting_timeout(r->granting) : -1;
}

void ward_run_glass_tick(struct ward_running *r)
{
	if (r->granting)
		ward_granting_tick(r->granting);
	if (r->glass.len && r->relay && ward_relay_say(r->relay, ward_buf_str(&r->glass)))
		ward_buf_clear(&r->glass);
}

char *ward_run_glass_rest(struct ward_running *r)
{
	static const char head[] = "wardfs: ";
	if (!r->glass.len || ward_buf_error(&r->glass) < 0)
		return NULL;
	const char *text = ward_buf_str(&r->glass);
	const size_t skip = strncmp(text, head, sizeof(head) - 1) == 0 ? sizeof(head) - 1 : 0;
	char *rest = strdup(text + skip);
	ward_buf_clear(&r->glass);
	return rest;
}
