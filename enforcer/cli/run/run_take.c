/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a prepared session, if there is one for this run. */
#include "enforcer/cli/run/run_take.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/run/run_prepare.h"
#include "enforcer/session/limits/delegate.h"
#include "enforcer/session/owner/exit_status.h"
#include "enforcer/session/plan/runtime.h"
#include "enforcer/session/warm/eligible.h"
#include "enforcer/session/warm/listed.h"
#include "enforcer/session/warm/take.h"

struct refill {
	const struct ward_run_take *take;
	const char *context;
};

static void refill(void *user)
{
	const struct refill *f = user;
	ward_run_prepare_later(f->take->options, f->take->argv, f->context);
}

static size_t count(char *const *v)
{
	size_t n = 0;
	while (v && v[n])
		n++;
	return n;
}

/* Everything that the plan does not have: the key is the same, so the member's plan is ours. */
static int go(const struct ward_run_take *t, struct ward_warm_claim *claim, struct refill *f,
	struct ward_err *err)
{
	const struct ward_run_options *o = t->options;
	ward_cleanup(ward_buf_clear) struct ward_buf note = WARD_BUF_INIT;
	char **envp = NULL;
	t->before(t->user);
	int r = ward_runtime_environment(t->plan, o, claim->session, &envp, &note, err);
	if (r < 0)
		return r;
	if (note.len)
		ward_say(ward_buf_str(&note));
	const struct ward_warm_taken taken = {.argv = {(char **)(uintptr_t)o->argv, count(o->argv)},
		.envp = {envp, count(envp)},
		.env = {(char **)(uintptr_t)o->env.v, o->env.n},
		.labels = {(char **)(uintptr_t)o->labels.v, o->labels.n},
		.cwd = t->plan->cwd};
	r = ward_warm_go(t->plan->runtime, claim, &taken, refill, f, err);
	ward_environment_free(envp);
	return r;
}

static int claim(const struct ward_run_take *t, const char *context, struct ward_warm_claim *ret)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_warm_key key;
	int r = ward_warm_key(t->plan, t->options, context, &key, &err);
	if (r == 0)
		r = ward_warm_claim(t->plan->runtime, &key, ret, &err);
	if (r < 0 && t->options->verbose)
		ward_sayf("%s; starting another session",
			err.code ? err.text : "no prepared session waits for this run");
	return r;
}

int ward_run_take(const struct ward_run_take *t)
{
	struct ward_err err = WARD_ERR_INIT;
	char context[WARD_WARM_KEY_SIZE];
	/* This process is the same run once more, in a control group of its own. */
	if (t->plan->settings->warm == 0 || ward_delegated())
		return -ENOENT;
	const char *why = ward_warm_why_not(t->plan, t->options, t->agent);
	if (why && t->options->verbose)
		ward_sayf("this run does not take a prepared session: %s", why);
	if (why || ward_warm_context(context, &err) < 0)
		return -ENOENT;
	struct refill f = {.take = t, .context = context};
	struct ward_warm_claim c = WARD_WARM_CLAIM_INIT;
	int r = claim(t, context, &c);
	if (r == 0)
		r = go(t, &c, &f, &err);
	ward_warm_claim_clear(&c);
	if (r < 0)
		refill(&f);
	if (err.code)
		ward_say(err.text);
	return r < 0 ? -ENOENT : r;
}

static int add(void *user, const struct ward_warm_entry *e)
{
	size_t *n = user;
	*n += e->whole;
	return 0;
}

char *ward_run_take_text(
	const struct ward_run_plan *p, const struct ward_run_options *o, bool agent)
{
	struct ward_err none = WARD_ERR_INIT;
	struct ward_warm_key key;
	char context[WARD_WARM_KEY_SIZE];
	char *text = NULL;
	size_t n = 0;
	const char *why = ward_warm_why_not(p, o, agent);
	if (p->settings->warm == 0)
		return NULL;
	if (why)
		return asprintf(&text, "not for this run: %s", why) < 0 ? NULL : text;
	if (ward_warm_context(context, &none) < 0 || ward_warm_key(p, o, context, &key, &none) < 0)
		return NULL;
	(void)ward_warm_each(p->runtime, &key, add, &n);
	return asprintf(&text, "%zu of %llu wait%s for this run", n,
		       (unsigned long long)p->settings->warm, n == 1 ? "s" : "") < 0
		       ? NULL
		       : text;
}
