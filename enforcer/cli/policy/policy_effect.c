/* SPDX-License-Identifier: Apache-2.0 */
/* Tells what tells two policies apart, as much as fits on a screen. */
#include "enforcer/cli/policy/policy_effect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/base/progress.h"
#include "enforcer/cli/policy/policy_difference.h"
#include "enforcer/cli/policy/policy_witness.h"
#include "enforcer/policy/explain.h"
#include "enforcer/session/owner/found_secrets.h"

/* Of settings, as many as fit on a screen; the rest is counted. */
#define SETTINGS_MAX 8U

struct finding {
	struct policy_effect *e;
	struct ward_progress progress;
	bool no_memory;
};

void policy_effect_clear(struct policy_effect *e)
{
	for (size_t i = 0; i < e->n_groups; i++) {
		free(e->groups[i].path);
		free(e->groups[i].here);
	}
	ward_buf_clear(&e->settings_text);
	*e = POLICY_EFFECT_INIT;
}

static void take_setting(struct policy_effect *e, const struct ward_difference *d)
{
	if (e->settings++ >= SETTINGS_MAX)
		return;
	ward_buf_puts(&e->settings_text, "  ");
	ward_difference_show(d, false, &e->settings_text);
	ward_buf_putc(&e->settings_text, '\n');
}

static void take_rule(struct policy_effect_group *g, const struct ward_rule *r)
{
	for (size_t i = 0; i < g->n_rules; i++)
		if (g->rules[i] == r)
			return;
	if (g->n_rules < POLICY_EFFECT_RULES_MAX)
		g->rules[g->n_rules++] = r;
}

/*
 * Classes of paths are made of every pair of rules, such as "*.log" in a directory of another
 * rule: most are no path that anybody has. What a person asks is which rights change, and whose
 * word counted before.
 */
static void take(void *user, const struct ward_difference *d)
{
	struct finding *f = user;
	struct policy_effect *e = f->e;
	struct policy_effect_group *g = NULL;
	if (!d->path) {
		take_setting(e, d);
		return;
	}
	e->paths++;
	for (size_t i = 0; i < e->n_groups && !g; i++)
		if (e->groups[i].lost == d->lost && e->groups[i].gained == d->gained)
			g = &e->groups[i];
	if (!g && e->n_groups == POLICY_EFFECT_GROUPS_MAX) {
		e->more_groups = true;
		return;
	}
	if (!g) {
		g = &e->groups[e->n_groups++];
		*g = (struct policy_effect_group){.lost = d->lost, .gained = d->gained};
		g->path = strdup(d->path);
		f->no_memory = f->no_memory || !g->path;
	}
	take_rule(g, d->a);
}

static void tell(void *user, uint64_t steps)
{
	struct finding *f = user;
	ward_progress_tell(&f->progress, steps);
}

int policy_effect_find(const struct ward_policy_place *before, const struct ward_policy *after,
	struct policy_effect *ret, struct ward_err *err)
{
	enum ward_diff_reach reach = WARD_DIFF_CUT;
	struct finding f = {.e = ret};
	ward_progress_begin(&f.progress, "comparing", "steps");
	int r = ward_policy_diff_rights(before->policy, after, take, tell, &f, &reach);
	ward_progress_end(&f.progress);
	if (r == 0)
		r = f.no_memory ? -ENOMEM : ward_buf_error(&ret->settings_text);
	if (r == 0)
		policy_witness_find(before, before->policy, after, ret);
	ret->cut = reach == WARD_DIFF_CUT;
	return r < 0 ? ward_err_sys(err, r, "comparing") : 0;
}

/* Is the path what the user wrote? A bare name is meant anywhere, and shown at the top. */
static bool is_written(const char *path, const char *pattern)
{
	static const char top[] = "/workspace/";
	return pattern &&
	       (strcmp(path, pattern) == 0 || (strncmp(path, top, strlen(top)) == 0 &&
						      strcmp(path + strlen(top), pattern) == 0));
}

/* Which rule decided before; of the first group that is what everybody knows. */
static void print_group(const struct policy_effect *e, size_t i, const char *pattern)
{
	const struct policy_effect_group *g = &e->groups[i];
	ward_cleanup(ward_buf_clear) struct ward_buf rule = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	const bool own = g->exists || is_written(g->path, pattern);
	const struct ward_difference d = {
		.path = own || !g->here ? g->path : g->here, .lost = g->lost, .gained = g->gained};
	const struct ward_rule *r = own || !g->here ? g->rules[0] : g->here_rule;
	if (i > 0 && r && r != e->groups[0].rules[0]) {
		ward_rule_text(r, &rule);
		ward_shown(&line, ward_buf_str(&rule));
	}
	if (line.len && !g->here && g->n_rules > 1)
		ward_buf_printf(&line, ", or one of %zu more", g->n_rules - 1);
	ward_difference_show(&d, false, &text);
	ward_out_lines(ward_buf_str(&text), text.len);
	const bool example = !own && !g->here;
	if (line.len || example)
		ward_outf("  (%s%s%s%s)", line.len ? "decided until now by " : "",
			ward_buf_str(&line), line.len && example ? "; " : "",
			example ? "an example: no such path exists now" : "");
	if (!own && g->n_here > 1)
		ward_outf("  and %zu more path%s", g->n_here - 1, ward_s(g->n_here - 1));
	ward_outf("\n");
}

const char *policy_effect_opens(const struct policy_effect *e, const char *path)
{
	for (size_t i = 0; i < e->n_groups; i++) {
		const struct policy_effect_group *g = &e->groups[i];
		if (g->here && (g->gained & WARD_RIGHT_READ) && g->here_rule &&
			g->here_rule->verb == WARD_VERB_SECRET && strcmp(g->here, path) != 0)
			return g->here;
	}
	return NULL;
}

/* Is its example a path that somebody knows? Others are made of the rules' own names. */
static bool is_known(const struct policy_effect_group *g, const char *pattern)
{
	return g->here || g->exists || is_written(g->path, pattern);
}

/* Does the example lie beneath that of another group, which is about one path and gives? */
static bool is_beneath_another(const struct policy_effect *e, const struct policy_effect_group *g)
{
	for (size_t i = 0; i < e->n_groups; i++) {
		const struct policy_effect_group *o = &e->groups[i];
		const size_t n = strlen(o->path);
		if (o != g && o->gained && !strpbrk(o->path, "*?[\\") &&
			strncmp(g->path, o->path, n) == 0 && g->path[n] == '/')
			return true;
	}
	return false;
}

/* Does the group open names of secrets that nobody has yet, such as those of a new directory? */
static bool opens_names(const struct policy_effect_group *g, const char *pattern)
{
	if (!g->gained || is_known(g, pattern) || g->n_rules == POLICY_EFFECT_RULES_MAX)
		return false;
	for (size_t i = 0; i < g->n_rules; i++)
		if (!g->rules[i] || g->rules[i]->verb != WARD_VERB_SECRET || g->rules[i]->guard)
			return false;
	return g->n_rules > 0;
}

const char *policy_effect_opens_names(const struct policy_effect *e, const char *pattern)
{
	for (size_t i = 0; i < e->n_groups; i++)
		if (!opens_names(&e->groups[i], pattern))
			return NULL;
	return e->n_groups && !e->more_groups && !e->settings && !e->cut ? e->groups[0].path : NULL;
}

void policy_effect_print(const struct policy_effect *e, const char *pattern)
{
	size_t known = 0, made = 0;
	const char *named = NULL;
	for (size_t i = 0; i < e->n_groups; i++)
		known += is_known(&e->groups[i], pattern);
	for (size_t i = 0; i < e->n_groups; i++) {
		if (e->groups[i].beneath_file && !e->groups[i].here)
			continue;
		/* Where none is known, the first stands for all. A gain is shown in any case. */
		if (!is_known(&e->groups[i], pattern) && !e->groups[i].gained &&
			(known || is_beneath_another(e, &e->groups[i]) || made++))
			continue;
		if (opens_names(&e->groups[i], pattern)) {
			/* Without that directory there is nothing to open. */
			named = named ? named : e->groups[i].in_dir ? e->groups[i].path : NULL;
			continue;
		}
		ward_outf("  ");
		print_group(e, i, pattern);
	}
	if (named)
		ward_outf("  names like %s are no longer secret there ('wardfs policy check' says "
			  "how to keep them so)\n",
			named);
	ward_out_lines(ward_buf_str(&e->settings_text), e->settings_text.len);
	if (e->more_groups)
		ward_outf("  and other paths; each loses or gains something else\n");
	if (e->settings > SETTINGS_MAX)
		ward_outf("  and %zu more settings\n", e->settings - SETTINGS_MAX);
	if (e->cut)
		ward_outf("  there are too many rules to compare all paths\n");
	else if (e->paths == 0 && e->settings == 0)
		ward_outf("  no path gains or loses a right: other rules decide (wardfs policy "
			  "check)\n");
}

uint32_t policy_effect_rights(
	const struct ward_policy_place *place, const char *path, struct ward_buf *b)
{
	const struct ward_policy *p = place->policy;
	struct ward_request req = {.action = WARD_ACTION_ACCESS, .rights = WARD_RIGHT_STAT};
	ward_cleanup_free char *host = ward_policy_place_host(place, path);
	const struct ward_state *s = NULL;
	if (ward_policy_walk(p, path, strlen(path), &s) < 0)
		return 0;
	req.state = s;
	req.fact = host && ward_policy_secret(s) ? ward_found_fact(p, AT_FDCWD, host, path)
						 : WARD_FACT_ABSENT;
	/* The line is written for the day when it is there, and the other lines speak of that. */
	if (req.fact == WARD_FACT_ABSENT && ward_policy_secret(s))
		req.fact = WARD_FACT_THERE;
	uint32_t rights = ward_policy_decide(p, &req, NULL).granted;
	ward_rights_format(b, rights);
	ward_policy_state_put(p, s);
	return rights;
}
