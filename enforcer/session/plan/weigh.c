/* SPDX-License-Identifier: Apache-2.0 */
/* Weighs a plan: gathers what enforcer/risk asks for, each look with the rights it may have. */
#include "enforcer/session/plan/weigh.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "audit/store/store.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/system.h"
#include "enforcer/policy/load.h"
#include "enforcer/policy/value.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/plan/runtime.h"

static const char *const trusts[] = {
	[WARD_TRUST_LOW] = "low", [WARD_TRUST_MEDIUM] = "medium", [WARD_TRUST_HIGH] = "high", NULL};

void ward_weighed_free(struct ward_weighed *w)
{
	if (!w)
		return;
	ward_risk_facts_clear(&w->facts);
	ward_risk_choice_clear(&w->choice);
	free(w);
}

static void freep(struct ward_weighed **w)
{
	ward_weighed_free(*w);
}

static int find_trust(const char *word, enum ward_trust *ret, struct ward_err *err)
{
	uint64_t i = WARD_TRUST_HIGH;
	int r = word ? ward_value_word(word, trusts, &i, err) : 0;
	if (r < 0)
		return ward_err_wrap(err, "--trust");
	*ret = (enum ward_trust)i;
	return 0;
}

static bool picks(const struct ward_mode *m)
{
	return m && m->strictness == 0;
}

const struct ward_mode *ward_weigh_mode(const struct ward_run_options *o,
	const struct ward_run_plan *p, const struct ward_policy *policy)
{
	const struct ward_mode *wanted = o->mode ? ward_mode_find(o->mode) : NULL;
	if (!picks(wanted) && !picks(ward_policy_settings(policy)->mode))
		return NULL;
	return p->picked ? p->picked : ward_mode_find(WARD_DEFAULT_MODE);
}

/* --- looking --- */

/* Directories that sessions write: sources of trees, kept state of agents, our own. */
struct written {
	char *v[WARD_TREES_MAX + 3];
	size_t n;
};

static void written_clear(struct written *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i]);
	*w = (struct written){.n = 0};
}

static int add(struct written *w, char *path)
{
	if (!path)
		return -ENOMEM;
	w->v[w->n++] = path;
	return 0;
}

static int find_written(const struct ward_run_plan *p, struct written *w, struct ward_err *err)
{
	int r = add(w, strdup(p->project.path));
	if (r == 0)
		r = add(w, strdup(p->state));
	char *agents = NULL;
	if (r == 0 && p->id.home)
		r = asprintf(&agents, "%s" WARD_AGENTS_PLACE, p->id.home) < 0 ? -ENOMEM
									      : add(w, agents);
	for (size_t i = 0; r == 0 && i < p->settings->n_trees && i < WARD_TREES_MAX; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		const struct ward_tree *t = &p->settings->trees[i];
		if (!t->source)
			continue;
		r = ward_tree_source_resolve(t->source, p->id.home, p->project.path, &b, err);
		if (r < 0)
			return r;
		r = add(w, ward_buf_steal(&b));
	}
	return r < 0 ? ward_err_sys(err, r, "mode auto") : 0;
}

static int look_at_program(const struct ward_run_options *o, const struct ward_run_plan *p,
	struct ward_risk_facts *f, struct ward_err *err)
{
	ward_cleanup(written_clear) struct written w = {.n = 0};
	struct ward_as_owner as;
	int r = find_written(p, &w, err);
	if (r < 0)
		return r;
	struct ward_risk_command c = {.argv = o->argv,
		.path = getenv("PATH"),
		.cwd = p->project.cwd,
		.home = p->id.home,
		.owner = p->id.owner_uid,
		.written = (const char *const *)w.v,
		.n_written = w.n,
		.signers = &p->settings->auto_signers,
		.env = (const char *const *)o->env.v,
		.n_env = o->env.n};
	clock_gettime(CLOCK_REALTIME, &c.now);
	r = ward_as_owner_begin(&p->id, &as, err);
	if (r == 0)
		r = ward_risk_look_program(&c, f, err);
	ward_as_owner_end(&as);
	return r;
}

/* The caller's trails, and those that the system's writer keeps for the owner. */
static int look_at_past(
	const struct ward_run_plan *p, struct ward_risk_facts *f, struct ward_err *err)
{
	for (int system = 0; system < 2; system++) {
		struct ward_err why = WARD_ERR_INIT;
		struct ward_store *st = NULL;
		int r = system ? ward_store_open_system(
					 WARD_SYSTEM_STATE, p->id.owner_uid, &st, &why)
			       : ward_store_open(p->state, false, &st, &why);
		if (r == -ENOENT)
			continue;
		if (r == 0)
			r = ward_risk_look_past(st, p->project.path, p->id.owner_uid, f, &why);
		ward_store_close(st);
		if (r == -ENOMEM)
			return ward_err_set(err, r, "%s", why.text);
		if (r == 0)
			continue;
		f->past_cut++;
		ward_risk_behind(f, WARD_RISK_PAST_CUT, "%s", why.text);
	}
	return 0;
}

static uint64_t host_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	long size = sysconf(_SC_PAGESIZE);
	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

static int gather(const struct ward_run_options *o, const struct ward_run_plan *p,
	enum ward_trust trust, struct ward_risk_facts *f, struct ward_err *err)
{
	f->host_memory = host_memory();
	int r = ward_risk_look_policy(p->policy, trust, f, err);
	for (size_t i = 0; i < o->env.n; i++)
		ward_risk_pass(f, o->env.v[i], "--env");
	if (r == 0)
		r = look_at_program(o, p, f, err);
	if (r == 0)
		r = look_at_past(p, f, err);
	return r;
}

/* --- choosing --- */

struct asked {
	const struct ward_run_options *options;
	const struct ward_run_plan *plan;
};

/* struct ward_risk_wish */
static int suits(void *user, const struct ward_mode *m, struct ward_err *why)
{
	const struct asked *a = user;
	return ward_runtime_suits(a->plan, m, a->options->argv, why);
}

static int choose(const struct ward_run_options *o, const struct ward_run_plan *p,
	const struct ward_auto_ask *ask, struct ward_weighed *w, struct ward_err *err)
{
	struct asked asked = {o, p};
	const struct ward_risk_wish wish = {.settings = p->settings,
		.floor = ask->floor,
		.trusted = o->trust && strcmp(o->trust, trusts[WARD_TRUST_HIGH]) == 0,
		.programs = ward_policy_has_programs(p->policy),
		.suits = suits,
		.user = &asked};
	return ward_risk_choose(w->report.points, &wish, &w->choice, err);
}

static int refuse(const struct ward_weighed *w, struct ward_err *err)
{
	const struct ward_risk_choice *c = &w->choice;
	bool floor = c->least->strictness > c->asked->strictness;
	return ward_err_set(err, -ENOTSUP,
		"mode auto: %u points; %s at least mode '%s', and no mode that strict works here (%s). Nothing was started; fix: see what costs points ('wardfs risk'), or choose a mode with --mode, which the trail records",
		w->report.points, floor ? "the policy asks for" : "so many ask for",
		floor ? c->least->word : c->asked->word, c->passed ? c->passed : "");
}

int ward_weigh(const struct ward_run_options *o, struct ward_run_plan *p, struct ward_err *err)
{
	const struct ward_mode *wanted = o->mode ? ward_mode_find(o->mode) : NULL;
	struct ward_auto_ask ask;
	enum ward_trust trust = WARD_TRUST_HIGH;
	int r = find_trust(o->trust, &trust, err);
	ward_policy_auto(p->policy, &ask);
	if (r < 0 || (!ask.asked && !picks(wanted) && !o->weigh))
		return r;
	ward_cleanup(freep) struct ward_weighed *w = calloc(1, sizeof(*w));
	if (!w)
		return ward_err_sys(err, -ENOMEM, "mode auto");
	w->facts = WARD_RISK_FACTS_INIT;
	r = gather(o, p, trust, &w->facts, err);
	if (r < 0)
		return r;
	ward_risk_score(&w->facts, p->settings, &w->report);
	r = choose(o, p, &ask, w, err);
	if (r < 0)
		return r;
	if (wanted && !picks(wanted))
		w->overrode = wanted->word;
	else if (!w->choice.mode && !o->weigh)
		r = refuse(w, err);
	else if (ask.asked || picks(wanted))
		p->picked = w->choice.mode;
	ward_weighed_free(p->weighed);
	p->weighed = ward_steal_ptr(&w);
	return r;
}

/* --- telling --- */

char *ward_weighed_line(const struct ward_weighed *w)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_puts(&b, "auto: ");
	ward_risk_line(&w->report, &w->choice, &b);
	if (w->overrode)
		ward_buf_printf(&b, "; --mode %s overrides it", w->overrode);
	return ward_buf_steal(&b);
}
