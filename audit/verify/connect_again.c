/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks ward_policy_connect() once more. What it is not told here takes away and never gives: that
 * an address is near (the networks of the host at that time), and the aliases that a name had. So
 * what it refuses now, it refused then.
 */
#include "audit/verify/connect_again.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/query.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/quantity.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/grants.h"

/* As `rule` names one. */
#define RULE "grant "
/* A name, brackets, a port, "/udp". */
#define ASKED_MAX 280

struct led {
	char *id;
	struct ward_grants *set; /* of it alone; NULL: not to be understood */
	uint64_t since, over;	 /* of `mono` */
};

struct ward_connect_again {
	struct led *v;
	size_t n;
};

/* One record: what was connected to. */
struct to {
	const char *host, *addr, *path;
	uint64_t port, mono, seq;
	bool udp, accepted;
	char asked[ASKED_MAX];	  /* HOST:PORT of it; "": it has none */
	char resolved[ASKED_MAX]; /* the address that a name led to; "": none */
};

struct ward_connect_again *ward_connect_again_new(void)
{
	return calloc(1, sizeof(struct ward_connect_again));
}

void ward_connect_again_free(struct ward_connect_again *c)
{
	for (size_t i = 0; c && i < c->n; i++) {
		free(c->v[i].id);
		ward_grants_free(c->v[i].set);
	}
	if (c)
		free(c->v);
	free(c);
}

static uint64_t number(const json_t *rec, const char *name, uint64_t none)
{
	const json_t *v = json_object_get(rec, name);
	return json_is_integer(v) ? (uint64_t)json_integer_value(v) : none;
}

static struct led *find(struct ward_connect_again *c, const char *id)
{
	for (size_t i = 0; id && i < c->n; i++)
		if (strcmp(c->v[i].id, id) == 0)
			return &c->v[i];
	return NULL;
}

/* --- grants --- */

static int set_of(const char *host, struct ward_grants **ret)
{
	struct ward_grants *set = NULL;
	struct ward_err ignored = WARD_ERR_INIT;
	const struct ward_grant g = {.id = "g000000000000",
		.host = (char *)(uintptr_t)host,
		.issuer = (char *)(uintptr_t) "",
		.session = (char *)(uintptr_t) ""};
	int r = ward_grants_new(&set);
	if (r == 0)
		r = ward_grants_add(set, &g, NULL, &ignored);
	if (r == 0)
		*ret = set;
	else
		ward_grants_free(set);
	return r == -ENOMEM ? r : 0;
}

int ward_connect_again_grant(struct ward_connect_again *c, const json_t *rec)
{
	const char *id = ward_query_text(rec, "grant"), *host = ward_query_text(rec, "host");
	if (!id || !host || find(c, id))
		return 0;
	struct led *v = reallocarray(c->v, c->n + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	c->v = v;
	v[c->n] = (struct led){.id = strdup(id),
		.since = number(rec, "mono", 0),
		.over = number(rec, "ends", UINT64_MAX)};
	if (!v[c->n].id)
		return -ENOMEM;
	return set_of(host, &v[c->n++].set);
}

void ward_connect_again_end(struct ward_connect_again *c, const json_t *rec)
{
	struct led *g = find(c, ward_query_text(rec, "grant"));
	const char *result = ward_query_text(rec, "result");
	const uint64_t mono = number(rec, "mono", UINT64_MAX);
	/* One whose uses are spent still leads what is connected. */
	if (g && result && strcmp(result, "spent") != 0 && mono < g->over)
		g->over = mono;
}

/* --- destinations --- */

static void put(char ret[ASKED_MAX], const char *host, const struct to *t)
{
	const bool brackets = strchr(host, ':') != NULL;
	const int n = snprintf(ret, ASKED_MAX, "%s%s%s:%llu%s", brackets ? "[" : "", host,
		brackets ? "]" : "", (unsigned long long)t->port, t->udp ? "/udp" : "");
	/* A longer name is none of the internet, and no policy has it. */
	if (n >= ASKED_MAX)
		snprintf(ret, ASKED_MAX, "?");
}

static void read_to(const json_t *rec, struct to *ret)
{
	const char *proto = ward_query_text(rec, "proto"), *action = ward_query_text(rec, "action");
	*ret = (struct to){.host = ward_query_text(rec, "host"),
		.addr = ward_query_text(rec, "addr"),
		.path = ward_query_text(rec, "path"),
		.port = number(rec, "port", 0),
		.mono = number(rec, "mono", 0),
		.seq = number(rec, "seq", 0),
		.udp = proto && strcmp(proto, "udp") == 0,
		.accepted = action && strcmp(action, "accept") == 0};
	if (ret->host || ret->addr)
		put(ret->asked, ret->host ? ret->host : ret->addr, ret);
	if (ret->host && ret->addr)
		put(ret->resolved, ret->addr, ret);
}

/* The port that "8080" or "8080:80" leads to. */
static bool leads_to(const char *ports, uint64_t port)
{
	const char *colon = strchr(ports, ':'), *s = colon ? colon + 1 : ports;
	uint64_t target = 0;
	return ward_quantity_digits(&s, &target) && target == port;
}

static bool any_leads_to(const struct ward_strings *list, uint64_t port)
{
	for (size_t i = 0; i < list->n; i++)
		if (leads_to(list->v[i], port))
			return true;
	return false;
}

/*
 * The record has the whole path. The policy can say ~/PATH, or a path beside the project; where one
 * with .. led, only the host knew.
 */
static bool names_socket(const char *value, const char *path)
{
	const char *rest = *value == '~' ? value + 1 : value;
	const size_t len = strlen(path), n = strlen(rest);
	if (strstr(rest, "./"))
		return true;
	if (*value == '/')
		return strcmp(value, path) == 0;
	return len > n && strcmp(path + len - n, rest) == 0 &&
	       (*rest == '/' || path[len - n - 1] == '/');
}

static bool any_socket(const struct ward_strings *list, const char *escaped)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	if (ward_unescape(&path, escaped, strlen(escaped)) < 0 || ward_buf_error(&path) < 0)
		return true;
	for (size_t i = 0; i < list->n; i++)
		if (names_socket(list->v[i], ward_buf_str(&path)))
			return true;
	return false;
}

/* --- decisions --- */

static bool connects(struct ward_policy *p, struct ward_grants *set, const char *asked)
{
	ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_policy_use_grants(p, set);
	const bool allowed = ward_policy_connect(p, asked, &place, &text) == WARD_VERDICT_ALLOW;
	ward_policy_use_grants(p, NULL);
	return allowed;
}

static bool answers(struct ward_policy *p, struct ward_grants *set, const char *resolved)
{
	ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_policy_use_grants(p, set);
	const bool allowed =
		ward_policy_answer(p, resolved, false, &place, &text) == WARD_VERDICT_ALLOW;
	ward_policy_use_grants(p, NULL);
	return allowed;
}

/* May the name lead to that address? Any grant of that time can have a block for it. */
static bool resolves(struct ward_connect_again *c, struct ward_policy *p, const struct to *t)
{
	if (!*t->resolved || answers(p, NULL, t->resolved))
		return true;
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].set && c->v[i].since <= t->mono && t->mono <= c->v[i].over &&
			answers(p, c->v[i].set, t->resolved))
			return true;
	return false;
}

static bool forwarded(const struct ward_settings *s, const struct to *t)
{
	return !t->host && t->addr && !t->udp && ward_connect_is_loopback(t->asked) &&
	       any_leads_to(&s->net_forward, t->port);
}

static bool allows(struct ward_connect_again *c, struct ward_policy *p, struct ward_grants *set,
	const struct to *t)
{
	const struct ward_settings *s = ward_policy_settings(p);
	if (s->net == WARD_NET_NONE)
		return false;
	if (t->path)
		return any_socket(&s->net_socket, t->path);
	if (t->accepted)
		return any_leads_to(&s->net_publish, t->port);
	/* Each record says where it leads: one without that is none of the broker's. */
	if (!*t->asked || forwarded(s, t))
		return *t->asked;
	return connects(p, set, t->asked) && resolves(c, p, t);
}

static bool allowed_then(struct ward_connect_again *c, struct ward_access_again *a,
	struct ward_grants *set, const struct to *t)
{
	struct ward_policy *p[3];
	const size_t n = ward_access_again_policies(a, t->seq, p);
	for (size_t i = 0; i < n; i++)
		if (allows(c, p[i], set, t))
			return true;
	return n == 0;
}

void ward_connect_again_use(struct ward_connect_again *c, struct ward_access_again *a,
	const json_t *rec, const char **ret_why)
{
	const struct led *g = find(c, ward_query_text(rec, "grant"));
	struct to t;
	*ret_why = NULL;
	read_to(rec, &t);
	if (!g || !g->set || !*t.asked || json_object_get(rec, "cut"))
		return;
	if (!ward_grants_reach(g->set, t.asked, 0))
		*ret_why = "the grant does not lead there";
	else if (!allowed_then(c, a, g->set, &t))
		*ret_why = "a line that no grant lifts stands against the grant";
}

void ward_connect_again_done(struct ward_connect_again *c, struct ward_access_again *a,
	const json_t *rec, const char **ret_why)
{
	const char *rule = ward_query_text(rec, "rule");
	const bool granted = rule && strncmp(rule, RULE, strlen(RULE)) == 0;
	const struct led *g = granted ? find(c, rule + strlen(RULE)) : NULL;
	struct to t;
	*ret_why = NULL;
	read_to(rec, &t);
	if (json_object_get(rec, "cut") || (g && !g->set))
		return;
	if (g && *t.asked && !ward_grants_reach(g->set, t.asked, 0))
		*ret_why = "the grant does not lead there";
	else if (!allowed_then(c, a, g ? g->set : NULL, &t))
		*ret_why = "no rule of the policy that was in force allows it";
}
