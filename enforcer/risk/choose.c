/* SPDX-License-Identifier: Apache-2.0 */
/* From points to a mode: the weakest that suffices, never a weaker one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/risk/risk.h"

void ward_risk_choice_clear(struct ward_risk_choice *c)
{
	free(c->passed);
	*c = (struct ward_risk_choice){.mode = NULL};
}

unsigned ward_risk_threshold(const struct ward_mode *m, const struct ward_settings *s)
{
	unsigned from = ward_risk_from(m);
	/* Each was checked when the policy was loaded. */
	for (size_t i = 0; s && i < s->auto_from.n; i++) {
		const struct ward_mode *of = NULL;
		unsigned points = 0;
		if (ward_auto_from(s->auto_from.v[i], &of, &points, NULL) == 0 && of == m &&
			points < from)
			from = points;
	}
	return from;
}

/* The weakest wall of the table. Every table has one. */
static const struct ward_mode *weakest(void)
{
	const struct ward_mode *found = ward_modes;
	for (const struct ward_mode *m = ward_modes; m->word; m++)
		if (m->strictness > 0 && m->strictness < found->strictness)
			found = m;
	return found;
}

/* The strictest one whose number the points reach. */
static const struct ward_mode *asked_by(unsigned points, const struct ward_settings *s)
{
	const struct ward_mode *found = weakest();
	for (const struct ward_mode *m = ward_modes; m->word; m++) {
		unsigned from = m->strictness ? ward_risk_threshold(m, s) : WARD_RISK_NEVER;
		if (from != WARD_RISK_NEVER && points >= from && m->strictness > found->strictness)
			found = m;
	}
	return found;
}

/* What of the policy a mode without it would leave undone. */
static uint32_t needed(const struct ward_risk_wish *w)
{
	const struct ward_settings *s = w->settings;
	uint32_t takes = w->programs ? WARD_TAKES_PROGRAMS : 0;
	if (s->seccomp != WARD_LIST_DEFAULT)
		takes |= WARD_TAKES_SECCOMP;
	if (s->net == WARD_NET_ALLOWLIST || s->net == WARD_NET_PROXY)
		takes |= WARD_TAKES_BROKER;
	if (s->home == WARD_HOME_PROJECT)
		takes |= WARD_TAKES_HOME;
	if (s->image)
		takes |= WARD_TAKES_IMAGE;
	if (s->engine || s->container_image)
		takes |= WARD_TAKES_ENGINE;
	return takes;
}

/* Are the host's processes in reach? Then both policy and owner must say `trust = high`. */
static bool is_open(const struct ward_mode *m)
{
	return !(m->guarantees & WARD_GUARANTEE_BIT(WARD_GUARANTEE_PROCESSES));
}

/* 1: it works here and takes the command; 0: it does not, and *why says so; -ENOMEM. */
static int fits(const struct ward_mode *m, const struct ward_risk_wish *w, struct ward_err *why)
{
	int r = ward_mode_usable(m, why);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (is_open(m) && !(w->trusted && w->settings->trust == WARD_TRUST_HIGH)) {
		(void)ward_err_set(why, -EPERM,
			"it requires trust = high in the policy, and run --trust high");
		return 0;
	}
	const uint32_t lacks = needed(w) & ~m->takes;
	if (lacks) {
		(void)ward_err_set(why, -ENOTSUP, "%s",
			lacks & WARD_TAKES_ENGINE  ? "the policy asks for an engine ([container])"
			: lacks & WARD_TAKES_IMAGE ? "the policy asks for an image"
						   : "it does not support everything that the "
						     "policy asks for");
		return 0;
	}
	r = w->suits ? w->suits(w->user, m, why) : 0;
	return r == -ENOMEM ? r : r == 0;
}

/* The weakest one that is stricter than `than`; NULL: none is. */
static const struct ward_mode *next_stricter(unsigned than)
{
	const struct ward_mode *found = NULL;
	for (const struct ward_mode *m = ward_modes; m->word; m++)
		if (m->strictness > than && (!found || m->strictness < found->strictness))
			found = m;
	return found;
}

int ward_risk_choose(unsigned points, const struct ward_risk_wish *w, struct ward_risk_choice *ret,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf passed = WARD_BUF_INIT;
	struct ward_risk_choice c = {
		.asked = asked_by(points, w->settings), .least = w->settings->auto_least};
	if (w->floor && w->floor->strictness > c.least->strictness)
		c.least = w->floor;
	unsigned from = c.asked->strictness > c.least->strictness ? c.asked->strictness
								  : c.least->strictness;
	for (const struct ward_mode *m = next_stricter(from - 1); m && !c.mode;
		m = next_stricter(m->strictness)) {
		struct ward_err why = WARD_ERR_INIT;
		int r = fits(m, w, &why);
		if (r < 0)
			return ward_err_sys(err, r, "mode auto");
		if (r > 0)
			c.mode = m;
		else
			ward_buf_printf(
				&passed, "%s%s: %s", passed.len ? "; " : "", m->word, why.text);
	}
	int r = ward_buf_error(&passed);
	if (r < 0)
		return ward_err_sys(err, r, "mode auto");
	if (passed.len)
		c.passed = ward_buf_steal(&passed);
	*ret = c;
	return 0;
}
