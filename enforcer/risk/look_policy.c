/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of a policy. Pure: asks the policy alone. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/embedded.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/policy/check.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/keys.h"
#include "enforcer/policy/load.h"
#include "enforcer/policy/open_hosts.h"
#include "enforcer/risk/risk.h"

#define WORKSPACE "/workspace"
/* A name that no rule of a person's is about. */
#define FRESH "/\xfe"

struct look {
	const struct ward_policy *p;
	const struct ward_settings *s;
	struct ward_risk_facts *f;
	int error;
};

/* --- paths --- */

/* The rights of a path inside, whether `secret` holds there, and the rule that decides. */
static uint32_t rights_at(
	struct look *l, const char *path, bool *ret_secret, struct ward_buf *place)
{
	const struct ward_state *s = NULL;
	int r = ward_policy_walk(l->p, path, strlen(path), &s);
	if (r < 0) {
		l->error = l->error ? l->error : r;
		return WARD_RIGHTS_ALL;
	}
	const struct ward_request req = {.action = WARD_ACTION_ACCESS,
		.rights = WARD_RIGHT_WRITE,
		.fact = WARD_FACT_OWN,
		.state = s};
	const struct ward_decision d = ward_policy_decide(l->p, &req, NULL);
	if (ret_secret)
		*ret_secret = ward_policy_secret(s);
	if (place && d.rule) {
		ward_rule_place(d.rule, place);
		ward_buf_puts(place, "  ");
		ward_rule_text(d.rule, place);
	}
	uint32_t rights = ward_policy_rights(l->p, s);
	ward_policy_state_put(l->p, s);
	return rights;
}

static bool is_project_tree(const struct ward_tree *t)
{
	return strcmp(t->path, WORKSPACE) == 0;
}

/* Of the host, and not the home that the session keeps. */
static bool is_of_host(const struct look *l, const struct ward_tree *t)
{
	return !t->tmpfs_size &&
	       !(l->s->home == WARD_HOME_PROJECT && strcmp(t->path, WARD_HOME_PATH) == 0);
}

/* Can anything in it be changed? */
static bool may_change(struct look *l, const struct ward_tree *t)
{
	bool ret = true;
	int r = ward_policy_may_change(l->p, t->path, &ret);
	l->error = l->error ? l->error : r;
	return ret;
}

static void look_at_trees(struct look *l)
{
	for (size_t i = 0; i < l->s->n_trees; i++) {
		const struct ward_tree *t = &l->s->trees[i];
		ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
		char path[4200];
		if (!is_of_host(l, t) ||
			snprintf(path, sizeof(path), "%s" FRESH, t->path) >= (int)sizeof(path))
			continue;
		uint32_t rights = rights_at(l, path, NULL, &place);
		if (!(rights & WARD_RIGHT_WRITE)) {
			if (!may_change(l, t))
				continue;
			/* Of another tree a part is as bad: it may be what a program there reads.
			 */
			l->f->writes_part |= is_project_tree(t);
			l->f->writes_beyond += !is_project_tree(t);
			if (!is_project_tree(t))
				ward_risk_behind(
					l->f, WARD_RISK_WRITES_BEYOND, "a part of %s", t->path);
			continue;
		}
		if (is_project_tree(t))
			l->f->writes_project = true;
		else
			l->f->writes_beyond++;
		ward_risk_behind(l->f,
			is_project_tree(t) ? WARD_RISK_WRITES_PROJECT : WARD_RISK_WRITES_BEYOND,
			"%s", ward_buf_str(&place));
		if (!(rights & WARD_RIGHT_EXEC))
			continue;
		l->f->runs_written = true;
		ward_risk_behind(l->f, WARD_RISK_RUNS_WRITTEN, "%s", t->path);
	}
}

/* A file that people and programs of the host run, though it is not guarded. */
static void look_at_people_in(struct look *l, const struct ward_tree *t)
{
	const char *list = ward_embedded_lists[0].data;
	while (*list && !l->f->people_run) {
		ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
		char where[8];
		char verb[8];
		char pattern[64];
		char path[4200];
		/* sscanf() would go on to the next line */
		bool empty = *list == '\n' || *list == '#';
		int fields = empty ? 0 : sscanf(list, "%7s %7s %63s", where, verb, pattern);
		list += strcspn(list, "\n");
		list += *list == '\n';
		if (fields != 3 || strcmp(where, "new") != 0 || strpbrk(pattern, "*?[") ||
			snprintf(path, sizeof(path), "%s/%s", t->path, pattern) >=
				(int)sizeof(path))
			continue;
		if (!(rights_at(l, path, NULL, &place) & WARD_RIGHT_WRITE))
			continue;
		l->f->people_run = true;
		ward_risk_behind(
			l->f, WARD_RISK_PEOPLE_RUN, "%s: %s", pattern, ward_buf_str(&place));
	}
}

static const char *const secrets[] = {
#define RISK_SECRET(name) name,
#include "conf/risk.table"
#undef RISK_SECRET
};

static const char *const secret_dirs[] = {
#define RISK_SECRET_DIR(name) name,
#include "conf/risk.table"
#undef RISK_SECRET_DIR
};

static bool is_one(const char *name, size_t n, const char *const *of, size_t n_of)
{
	for (size_t i = 0; i < n_of; i++)
		if (strlen(of[i]) == n && strncmp(name, of[i], n) == 0)
			return true;
	return false;
}

/* Is the path of the host one of a secret, or in a directory of them? */
static bool is_of_secrets(const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");
		if (is_one(path, n, secret_dirs, sizeof(secret_dirs) / sizeof(*secret_dirs)) ||
			(!path[n] && is_one(path, n, secrets, sizeof(secrets) / sizeof(*secrets))))
			return true;
		path += n + (path[n] == '/');
	}
	return false;
}

static void add_secret(struct look *l, const char *which)
{
	l->f->reads_secrets = true;
	ward_risk_behind(l->f, WARD_RISK_READS_SECRETS, "%s", which);
}

/* At the top of a tree; and whatever is in a tree of secrets. */
static void look_at_secrets_in(struct look *l, const struct ward_tree *t)
{
	const bool whole = t->source && is_of_secrets(t->source);
	for (size_t i = 0; i <= sizeof(secrets) / sizeof(secrets[0]); i++) {
		const bool fresh = i == sizeof(secrets) / sizeof(secrets[0]);
		char path[4200];
		bool secret = false;
		int n = snprintf(path, sizeof(path), "%s%s%s", t->path, fresh ? "" : "/",
			fresh ? FRESH : secrets[i]);
		if (n >= (int)sizeof(path) || (fresh && !whole) ||
			!(rights_at(l, path, &secret, NULL) & WARD_RIGHT_READ) || secret)
			continue;
		add_secret(l, fresh ? t->source : is_project_tree(t) ? secrets[i] : path);
	}
}

/* Files of a tree in memory belong to the session, and so does its kept home. */
static void look_into_trees(struct look *l)
{
	for (size_t i = 0; i < l->s->n_trees; i++) {
		const struct ward_tree *t = &l->s->trees[i];
		if (!is_of_host(l, t))
			continue;
		look_at_people_in(l, t);
		look_at_secrets_in(l, t);
	}
	for (size_t i = 0; i < l->s->system_read.n; i++)
		if (is_of_secrets(l->s->system_read.v[i]))
			add_secret(l, l->s->system_read.v[i]);
}

static void look_at_lift(void *user, const struct ward_rule *lift, uint32_t want)
{
	struct look *l = user;
	(void)want;
	l->f->lifts++;
	ward_risk_behind(l->f, WARD_RISK_LIFTS, WARD_PLACE_FMT " %s",
		WARD_PLACE(lift->file, lift->line), lift->pattern);
}

/* --- lines --- */

static bool fills(const struct ward_policy_line *line, size_t offset)
{
	return ward_key_fills(line->key, offset);
}
#define IS(line, member) fills(line, offsetof(struct ward_settings, member))

/* Is this name, or one that this pattern stands for, one of those that speak of secrets? */
static bool is_secret_variable(const char *value)
{
	static const char *const patterns[] = {
#define RISK_VARIABLE(pattern) pattern,
#include "conf/risk.table"
#undef RISK_VARIABLE
	};
	static const char *const samples[] = {"API_TOKEN", "CLIENT_SECRET", "DB_PASSWORD",
		"SIGNING_KEY", "CREDENTIALS", "SSH_AUTH_SOCK"};
	size_t n = strcspn(value, "=");
	char name[128];
	if (n >= sizeof(name))
		return true;
	memcpy(name, value, n);
	name[n] = '\0';
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (fnmatch(patterns[i], name, FNM_CASEFOLD) == 0)
			return true;
	for (size_t i = 0; strpbrk(name, "*?") && i < sizeof(samples) / sizeof(samples[0]); i++)
		if (fnmatch(name, samples[i], 0) == 0)
			return true;
	return false;
}

void ward_risk_pass(struct ward_risk_facts *f, const char *variable, const char *where)
{
	if (!is_secret_variable(variable))
		return;
	f->passes_secrets++;
	ward_risk_behind(f, WARD_RISK_PASSES_SECRETS, "%s %.*s", where, (int)strcspn(variable, "="),
		variable);
}

/* A block of more than one address. */
static bool is_block(const char *destination)
{
	const char *slash = strchr(destination, '/');
	return slash && strcmp(slash, "/udp") != 0 && strncmp(slash, "/32", 3) != 0 &&
	       strncmp(slash, "/128", 4) != 0;
}

static void look_at_host(struct look *l, const struct ward_policy_line *line)
{
	if (l->s->net != WARD_NET_ALLOWLIST && l->s->net != WARD_NET_PROXY)
		return;
	l->f->hosts++;
	if (strchr(line->value, '*') || is_block(line->value)) {
		l->f->wildcards++;
		ward_risk_behind(l->f, WARD_RISK_WILDCARDS, WARD_PLACE_FMT " %s",
			WARD_PLACE(line->file, line->line), line->value);
	}
	if (strcmp(line->value, "*") == 0 || ward_open_host(line->value) != WARD_HOST_CLOSED) {
		l->f->open_hosts++;
		ward_risk_behind(l->f, WARD_RISK_OPEN_HOSTS, WARD_PLACE_FMT " %s",
			WARD_PLACE(line->file, line->line), line->value);
	}
	ward_risk_behind(l->f, WARD_RISK_FEW_HOSTS, "%s", line->value);
	ward_risk_behind(l->f, WARD_RISK_MANY_HOSTS, "%s", line->value);
}

/* Rows behind which a single line of the policy stands. */
static const struct {
	size_t offset;
	enum ward_risk_row row;
} told[] = {
	{offsetof(struct ward_settings, view), WARD_RISK_SHOWS_HOST},
	{offsetof(struct ward_settings, trust), WARD_RISK_TRUST_LOW},
	{offsetof(struct ward_settings, trust), WARD_RISK_TRUST_MEDIUM},
	{offsetof(struct ward_settings, budget), WARD_RISK_LARGE_BUDGET},
	{offsetof(struct ward_settings, net), WARD_RISK_HOST_NETWORK},
	{offsetof(struct ward_settings, net), WARD_RISK_PROXY},
	{offsetof(struct ward_settings, sni), WARD_RISK_LOOSE_NAMES},
	{offsetof(struct ward_settings, wall_ns), WARD_RISK_LONG_TIME},
	{offsetof(struct ward_settings, memory), WARD_RISK_LARGE_MEMORY},
	{offsetof(struct ward_settings, processes), WARD_RISK_MANY_PROCESSES},
	{offsetof(struct ward_settings, limits_where_available), WARD_RISK_LOOSE_LIMITS},
};

static void look_at_line(void *user, const struct ward_policy_line *line)
{
	struct look *l = user;
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (fills(line, told[i].offset))
			ward_risk_behind(l->f, told[i].row, WARD_PLACE_FMT " [%s] %s = %s",
				WARD_PLACE(line->file, line->line), line->key->section->name,
				line->key->name, line->value);
	if (line->key->type == WARD_KEY_TYPE_TOOLS)
		for (unsigned row = WARD_RISK_TOOL_TERMINAL; row <= WARD_RISK_TOOL_PAYMENTS; row++)
			ward_risk_behind(l->f, (enum ward_risk_row)row,
				WARD_PLACE_FMT " tools = %s", WARD_PLACE(line->file, line->line),
				line->value);
	if (line->key->type == WARD_KEY_TYPE_ALLOW)
		look_at_host(l, line);
	if (IS(line, env_pass) || IS(line, env_set)) {
		char where[300];
		snprintf(where, sizeof(where), WARD_PLACE_FMT, WARD_PLACE(line->file, line->line));
		ward_risk_pass(l->f, line->value, where);
	}
	if ((IS(line, net_publish) || IS(line, net_forward) || IS(line, net_socket)) &&
		(l->s->net == WARD_NET_ALLOWLIST || l->s->net == WARD_NET_PROXY)) {
		l->f->ways++;
		ward_risk_behind(l->f, WARD_RISK_WAYS, WARD_PLACE_FMT " %s",
			WARD_PLACE(line->file, line->line), line->value);
	}
}

/* --- what policy check warns of --- */

static void look_at_finding(void *user, const struct ward_finding *found)
{
	struct look *l = user;
	if (found->note || found->advice)
		return;
	switch (found->about) {
	case WARD_ABOUT_REACH:
		return; /* rows of the network count that */
	case WARD_ABOUT_HOST_EXECUTED:
		l->f->host_executes = true;
		ward_risk_behind(l->f, WARD_RISK_HOST_EXECUTES, WARD_PLACE_FMT " %s",
			WARD_PLACE(found->file, found->line), found->what);
		return;
	case WARD_ABOUT_POLICY:
		l->f->anti_patterns++;
		ward_risk_behind(l->f, WARD_RISK_ANTI_PATTERN, WARD_PLACE_FMT " %s: %s",
			WARD_PLACE(found->file, found->line), found->what, found->why);
		return;
	}
}

/* --- limits --- */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Is path at dir, or beneath it? */
static bool lies_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);
	return strcmp(dir, "/") == 0 ||
	       (strncmp(path, dir, n) == 0 && (path[n] == '/' || !path[n]));
}

/* The most that a tree of the host may grow: its quotas, least first. 0: none can be written. */
static uint64_t growth(struct look *l)
{
	uint64_t most = 0;
	for (size_t i = 0; i < l->s->n_trees; i++) {
		const struct ward_tree *t = &l->s->trees[i];
		uint64_t found = WARD_UNLIMITED;
		if (!is_of_host(l, t) || !may_change(l, t))
			continue;
		for (size_t k = 0; k < l->s->n_quotas; k++) {
			const struct ward_quota *q = &l->s->quotas[k];
			if (lies_in(t->path, q->path))
				found = least(found, q->limits[WARD_QUOTA_GROWTH].value);
		}
		most = most > found ? most : found;
	}
	return most;
}

static void copy_settings(struct look *l, enum ward_trust trust)
{
	const struct ward_settings *s = l->s;
	struct ward_risk_facts *f = l->f;
	f->trust = trust < s->trust ? trust : s->trust;
	f->tools = s->agent_tools;
	f->budget = s->budget;
	f->net = s->net;
	f->sni = s->sni;
	f->shows_host = s->view == WARD_VIEW_READONLY;
	f->any_program = !ward_policy_has_programs(l->p) && s->seccomp != WARD_LIST_NO_EXEC;
	f->time_ns = least(least(s->wall_ns, s->idle_ns), s->cpu_time_ns);
	f->memory = s->memory;
	f->cpus = s->cpus;
	f->processes = s->processes;
	f->limits_where_available = s->limits_where_available;
	if (trust < s->trust)
		for (unsigned row = WARD_RISK_TRUST_LOW; row <= WARD_RISK_TRUST_MEDIUM; row++)
			ward_risk_behind(f, (enum ward_risk_row)row, "--trust");
}

int ward_risk_look_policy(const struct ward_policy *p, enum ward_trust trust,
	struct ward_risk_facts *f, struct ward_err *err)
{
	struct look l = {.p = p, .s = ward_policy_settings(p), .f = f};
	copy_settings(&l, trust);
	look_at_trees(&l);
	look_into_trees(&l);
	ward_policy_each_lift(p, look_at_lift, &l);
	ward_policy_each_line(p, look_at_line, &l);
	f->growth = growth(&l);
	int r = l.error;
	if (r == 0)
		r = ward_policy_check_regrets(p, look_at_finding, &l);
	return r < 0 ? ward_err_sys(err, r, "mode auto: policy") : 0;
}
