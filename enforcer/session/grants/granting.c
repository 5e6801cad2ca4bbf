/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a session's grants: gives them, takes them back, tells of them. */
#include "enforcer/session/grants/granting.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/session/grants/grant_records.h"

/* At once, of a session: people present them by hand. */
#define BROKEN_MAX 8

struct ward_granting {
	struct ward_granting_host host;
	struct ward_grants *set;
	size_t n_waits;
	void (*watch)(void *arg, const struct ward_grant_held *held);
	void *watch_arg;
	/* Break-glass grants whose end is still to be said. */
	const struct ward_grant_held *broken[BROKEN_MAX];
	size_t n_broken;
};

/* What waits for a helper's answer. */
struct wait {
	struct ward_granting *g;
	const struct ward_grant_held *held;
	bool revokes;
	struct ward_grantor by;
	char *how, *reason; /* owned */
	ward_granting_fn *fn;
	void *arg;
};

int ward_granting_new(const struct ward_granting_host *host, struct ward_granting **ret)
{
	struct ward_granting *g = calloc(1, sizeof(*g));
	if (!g || ward_grants_new(&g->set) < 0) {
		free(g);
		return -ENOMEM;
	}
	g->host = *host;
	*ret = g;
	return 0;
}

void ward_granting_free(struct ward_granting *g)
{
	if (!g)
		return;
	ward_grants_free(g->set);
	free(g);
}

struct ward_grants *ward_granting_set(struct ward_granting *g)
{
	return g->set;
}

/* --- what the helper answers --- */

static void wait_free(struct wait *w)
{
	free(w->how);
	free(w->reason);
	free(w);
}

static struct wait *wait_new(struct ward_granting *g, const struct ward_grant_held *held,
	const struct ward_grantor *by, const char *reason, ward_granting_fn *fn, void *arg)
{
	struct wait *w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	*w = (struct wait){.g = g, .held = held, .by = *by, .fn = fn, .arg = arg};
	w->how = strdup(by->how ? by->how : "?");
	w->reason = reason ? strdup(reason) : NULL;
	w->by.how = w->how;
	if (w->how && (w->reason || !reason))
		return w;
	wait_free(w);
	return NULL;
}

static void broke(struct ward_granting *g, const struct ward_grant_held *held)
{
	if (g->n_broken < BROKEN_MAX)
		g->broken[g->n_broken++] = held;
	if (g->watch)
		g->watch(g->watch_arg, held);
}

/* error NULL: it is done. */
static void finish(struct wait *w, const char *error)
{
	/* A trail that failed here fails everything that follows in the session, too. */
	if (w->revokes && ward_record_revoke(w->g->host.guard, w->held, &w->by, w->reason,
				  error ? "over" : "revoked") < 0)
		w->g->host.guard->broken = true;
	/* What did not come into force gives nothing. */
	if (!w->revokes && error)
		(void)!ward_grants_revoke(w->g->set, w->held->grant.id);
	if (!w->revokes && !error && w->held->grant.lifts)
		broke(w->g, w->held);
	if (w->fn)
		w->fn(w->arg, error ? NULL : w->held, error);
	wait_free(w);
}

static void on_answer(void *arg, const char *json)
{
	json_t *o = json ? json_loads(json, 0, NULL) : NULL;
	const char *error = json_string_value(json_object_get(o, "error"));
	if (!json_is_true(json_object_get(o, "ok")) && !error)
		error = "wardfs-fs gave no answer; the session ends";
	finish(arg, error);
	json_decref(o);
}

static int send_net(struct ward_granting *g, struct ward_msg *m)
{
	int r = ward_msg_send(g->host.net_control, m, NULL, 0);
	ward_msg_clear(m);
	return r;
}

/* Hands m over; w is answered later, or now. */
static int hand_over(struct ward_granting *g, struct ward_msg *m, struct wait *w)
{
	int r;
	if (w->held->grant.host) {
		r = send_net(g, m);
		if (r == 0)
			finish(w, NULL);
		return r;
	}
	return ward_ask_fs_message_own(g->host.ask, g->host.guard->fs.control, m, on_answer, w);
}

/* --- giving --- */

/* Can the pattern cover something in a tree? "No" only where its beginning leads elsewhere. */
static bool concerns_tree(const struct ward_policy *p, const char *pattern)
{
	const struct ward_settings *s = ward_policy_settings(p);
	const size_t literal = strcspn(pattern, "*?[\\");
	bool may = s->n_trees == 0;
	for (size_t i = 0; i < s->n_trees; i++) {
		const char *tree = s->trees[i].path;
		const size_t n = strlen(tree);
		const char after = literal > n ? pattern[n] : '/';
		may = may || (strncmp(pattern, tree, literal < n ? literal : n) == 0 &&
				     (literal < n || n == 1 || after == '/') &&
				     (literal >= n || pattern[literal] || tree[literal] == '/' ||
					     literal == 1));
	}
	return may;
}

static int against_path(
	struct ward_granting *g, const struct ward_grant *grant, struct ward_err *err)
{
	const struct ward_rule *rule = NULL;
	int may = grant->lifts
			  ? ward_policy_may_lift(g->host.policy(g->host.session), grant->lifts, err)
			  : 0;
	if (may < 0)
		return may;
	if (!concerns_tree(g->host.policy(g->host.session), grant->pattern))
		return ward_err_set(err, -EPERM,
			"%s is in no tree, and a grant counts in trees alone: what the session sees and "
			"executes outside of them is fixed when it starts",
			grant->pattern);
	int r = ward_policy_grant_against(g->host.policy(g->host.session), grant->pattern,
		grant->rights, grant->lifts, &rule, err);
	if (r < 0 || !rule)
		return r;
	return ward_err_set(err, -EPERM, "no grant lifts '%s%s = %s' (" WARD_PLACE_FMT ", %s)",
		rule->guard ? "[guard] " : "", ward_verb_name(rule->verb), rule->pattern,
		WARD_PLACE(rule->file, rule->line), ward_source_name(rule->source));
}

static int against_host(
	struct ward_granting *g, const struct ward_grant *grant, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	if (!ward_policy_host_grantable(
		    g->host.policy(g->host.session), grant->host, &place, &text))
		return ward_err_set(err, -EPERM, "no grant lifts '%s' (%s)", ward_buf_str(&text),
			ward_buf_str(&place));
	if (strlen(grant->host) > 4 && strcmp(grant->host + strlen(grant->host) - 4, "/udp") == 0)
		return ward_err_set(err, -EINVAL, "a grant is for connections, not for datagrams");
	if (g->host.net_control < 0)
		return ward_err_set(err, -EPERM, "this session has no network broker");
	return 0;
}

/* *own: a copy with an id and its session. */
static int complete(struct ward_granting *g, const struct ward_grant *grant, struct ward_grant *own,
	struct ward_err *err)
{
	int r = ward_grant_copy(grant, own);
	if (g->host.owned)
		return ward_err_set(err, -EPERM,
			"in this mode the command is one of its owner's processes and could grant "
			"itself anything; use mode restricted");
	if (r == 0 && !*own->id)
		r = ward_grant_make_id(own->id);
	if (r == 0 && !own->session)
		r = (own->session = strdup(g->host.guard->store.name)) ? 0 : -ENOMEM;
	if (r < 0)
		return ward_err_sys(err, r, "grant");
	r = ward_grant_check(own, err);
	if (r == 0)
		r = own->host ? against_host(g, own, err) : against_path(g, own, err);
	return r;
}

int ward_granting_may(struct ward_granting *g, const struct ward_grant *grant, struct ward_err *err)
{
	ward_cleanup(ward_grant_clear) struct ward_grant own = {.rights = 0};
	return complete(g, grant, &own, err);
}

const struct ward_granting_host *ward_granting_host(const struct ward_granting *g)
{
	return &g->host;
}

int ward_granting_add(struct ward_granting *g, const struct ward_grant *grant,
	const struct ward_grantor *by, ward_granting_fn *fn, void *arg, struct ward_err *err)
{
	ward_cleanup(ward_grant_clear) struct ward_grant own = {.rights = 0};
	const struct ward_grant_held *held = NULL;
	struct ward_msg m;
	int r = complete(g, grant, &own, err);
	if (r == 0 && own.lifts && g->n_broken == BROKEN_MAX)
		r = ward_err_set(err, -ENOSPC, "the session has too many break-glass grants");
	ward_grants_ended(g->set, ward_clock_boot_ns(), NULL, NULL);
	if (r == 0)
		r = ward_grants_add(g->set, &own, &held, err);
	if (r < 0)
		return r;
	struct wait *w = wait_new(g, held, by, NULL, fn, arg);
	ward_msg_init(&m, own.host ? WARD_MSG_NET_GRANT : WARD_MSG_FS_GRANT);
	ward_grant_put(&m, &own);
	/* Text first: no grant is in force that the trail does not have. */
	r = w ? ward_record_grant(g->host.guard, &own, by) : -ENOMEM;
	if (r == 0)
		r = hand_over(g, &m, w);
	else
		ward_msg_clear(&m);
	if (r == 0)
		return 0;
	(void)!ward_grants_revoke(g->set, held->grant.id);
	if (w)
		wait_free(w);
	return ward_err_sys(err, r, "grant");
}

int ward_granting_revoke(struct ward_granting *g, const char *id, const struct ward_grantor *by,
	const char *reason, ward_granting_fn *fn, void *arg, struct ward_err *err)
{
	const struct ward_grant_held *held = ward_grants_find(g->set, id);
	struct ward_msg m;
	if (!held || ward_held_end(held, ward_clock_boot_ns()) == WARD_GRANT_EXPIRED ||
		ward_grants_revoke(g->set, id) < 0)
		return ward_err_set(err, -ENOENT, "no grant '%s' is in force", id);
	struct wait *w = wait_new(g, held, by, reason, fn, arg);
	if (!w)
		return ward_err_sys(err, -ENOMEM, "grant");
	w->revokes = true;
	ward_msg_init(&m, held->grant.host ? WARD_MSG_NET_REVOKE : WARD_MSG_FS_REVOKE);
	ward_msg_put_str(&m, id);
	int r = hand_over(g, &m, w);
	if (r == 0)
		return 0;
	wait_free(w);
	/* It would live on at the helper, and nobody could take it back. */
	g->host.guard->broken = true;
	return ward_err_sys(err, r, "the grant could not be taken back");
}

void ward_granting_watch(struct ward_granting *g,
	void (*fn)(void *arg, const struct ward_grant_held *held), void *arg)
{
	g->watch = fn;
	g->watch_arg = arg;
}

int ward_granting_timeout(struct ward_granting *g)
{
	const uint64_t now = ward_clock_boot_ns();
	int ms = -1;
	for (size_t i = 0; i < g->n_broken; i++) {
		const uint64_t end = g->broken[i]->grant.until_ns;
		const int left =
			!ward_held_holds(g->broken[i], now) ? 0 : (int)((end - now) / 1000000) + 1;
		ms = ms < 0 || left < ms ? left : ms;
	}
	return ms;
}

void ward_granting_tick(struct ward_granting *g)
{
	const uint64_t now = ward_clock_boot_ns();
	for (size_t i = g->n_broken; i-- > 0;) {
		const struct ward_grant_held *held = g->broken[i];
		if (ward_held_holds(held, now))
			continue;
		g->broken[i] = g->broken[--g->n_broken];
		if (g->watch)
			g->watch(g->watch_arg, held);
	}
}

void ward_granting_used(struct ward_granting *g, const char *id, uint32_t used)
{
	ward_grants_set_used(g->set, id, used);
}

void ward_granting_ask_used(struct ward_granting *g, ward_ask_fs_fn *fn, void *arg)
{
	ward_ask_fs_own(g->host.ask, g->host.guard->fs.control, WARD_FS_QUERY_GRANTS, -1, fn, arg);
}
