/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes Deno's flags from the policy (docs.deno.com/runtime/fundamentals/security). Deno has
 * lists of literal values: where a rule is finer than that, the flag gives more, and the walls
 * decide. Each flag says which line it comes from.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/modes/deno.h"
#include "enforcer/modes/operations.h"
#include "enforcer/policy/outline.h"
#include "enforcer/policy/proxy.h"

/* Ports of an `allow` that names none (wardfs-policy(5)). */
static const char *const default_ports[] = {"443", "80"};

/* A flag that is put together, value by value. */
struct list {
	struct ward_buf values; /* with commas between them */
	struct ward_buf from;
	bool bare; /* a value cannot be said to Deno: the flag stands without values */
};
#define LIST_INIT                                                                                  \
	{                                                                                          \
		WARD_BUF_INIT, WARD_BUF_INIT, false                                                \
	}

static void clear_list(struct list *l)
{
	ward_buf_clear(&l->values);
	ward_buf_clear(&l->from);
}

/* The home can be named twice: by the session, and by a tree that lies there. */
static bool has_value(const struct list *l, const char *value)
{
	const size_t n = strlen(value);
	for (const char *s = ward_buf_str(&l->values); s && *s;) {
		const size_t len = strcspn(s, ",");
		if (len == n && memcmp(s, value, n) == 0)
			return true;
		s += len + (s[len] == ',');
	}
	return false;
}

/* A comma separates values, and Deno 2.9 has no way to write one in a path. */
static void add_value(struct list *l, const char *value, const char *from)
{
	if (strchr(value, ',')) {
		l->bare = true;
		return;
	}
	if (!has_value(l, value))
		ward_buf_printf(&l->values, "%s%s", l->values.len ? "," : "", value);
	/* Each line once. */
	if (from && (!l->from.len || !strstr(ward_buf_str(&l->from), from)))
		ward_buf_printf(&l->from, "%s%s", l->from.len ? ", " : "", from);
}

/* Puts the flag out: NAME=VALUES, or NAME alone where it means everything. */
static int put_list(struct ward_mode_command *c, const char *name, struct list *l)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	if (!l->bare && l->values.len == 0)
		return ward_buf_error(&l->values);
	ward_buf_puts(&text, name);
	if (!l->bare)
		ward_buf_printf(&text, "=%s", ward_buf_str(&l->values));
	else
		ward_buf_puts(&l->from, l->from.len ? ", coarser" : "coarser than the policy");
	int r = ward_buf_error(&text);
	if (r == 0 && (r = ward_buf_error(&l->values)) == 0 && (r = ward_buf_error(&l->from)) == 0)
		r = ward_mode_put_flag(c, ward_buf_str(&text), ward_buf_str(&l->from));
	return r;
}

/* --- files --- */

/* The path as the policy has it, and as the tree's second path has it. */
static void add_path(
	const struct ward_mode_asked *a, struct list *l, const char *path, const char *from)
{
	add_value(l, path, from);
	for (size_t i = 0; i < a->n_trees; i++) {
		const struct ward_sandbox_tree *t = &a->trees[i];
		size_t n = strlen(t->path);
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		if (!t->at || strncmp(path, t->path, n) != 0 || (path[n] && path[n] != '/'))
			continue;
		ward_buf_printf(&b, "%s%s", t->at, path + n);
		if (ward_buf_error(&b))
			l->bare = true;
		else
			add_value(l, ward_buf_str(&b), from);
	}
}

static void say_rule(const struct ward_rule *rule, struct ward_buf *b)
{
	ward_buf_printf(b, WARD_PLACE_FMT, WARD_PLACE(rule->file, rule->line));
}

/* The sandbox's own directory for what lasts as long as the session. */
static void add_own(const struct ward_mode_asked *a, struct list *l)
{
	add_value(l, "/tmp", "/tmp of the session");
	if (a->home)
		add_path(a, l, a->home, "the session's home");
}

static int add_read_value(void *user, const char *value, const char *place)
{
	struct list *l = user;
	/* ~ is the owner's home: Deno would take it as it is spelled. */
	if (value[0] == '/')
		add_value(l, value, place);
	return 0;
}

static int file_flags(const struct ward_mode_asked *a, uint32_t right, const char *allow,
	const char *deny, struct ward_mode_command *ret)
{
	struct ward_outline o;
	struct list given = LIST_INIT, taken = LIST_INIT;
	int r = ward_policy_outline(a->policy, right, &o);
	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < o.n; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf from = WARD_BUF_INIT;
		say_rule(o.v[i].rule, &from);
		r = ward_buf_error(&from);
		if (r == 0 && !(o.v[i].deny && strchr(o.v[i].path, ',')))
			add_path(
				a, o.v[i].deny ? &taken : &given, o.v[i].path, ward_buf_str(&from));
	}
	ward_outline_clear(&o);
	add_own(a, &given);
	if (r == 0 && right == WARD_RIGHT_READ)
		r = ward_policy_listed_values(a->policy, WARD_LISTED_READ, add_read_value, &given);
	if (r == 0)
		r = put_list(ret, allow, &given);
	/* The walls decide about rights that no flag can give or take. */
	if (r == 0 && !taken.bare)
		r = put_list(ret, deny, &taken);
	clear_list(&given);
	clear_list(&taken);
	return r;
}

/* --- the network --- */

struct hosts {
	struct list net, import;
};

/* HOST[:PORT,…][/udp] as HOST:PORT values. */
static int add_host(void *user, const char *value, const char *place)
{
	struct hosts *h = user;
	char host[300];
	size_t len = strlen(value);
	if (len > 4 && strcmp(value + len - 4, "/udp") == 0)
		len -= 4;
	const char *colon = memchr(value, ':', len);
	const char *bracket = value[0] == '[' ? memchr(value, ']', len) : NULL;
	if (bracket)
		colon = bracket + 1 < value + len ? bracket + 1 : NULL;
	size_t n = colon ? (size_t)(colon - value) : len;
	/* All names, or addresses with colons that no brackets hold: Deno has no word for them. */
	if (n >= sizeof(host) || strncmp(value, "*", n) == 0 ||
		(!bracket && colon && memchr(colon + 1, ':', len - n - 1)) ||
		(bracket && memchr(value, '/', n))) {
		h->net.bare = true;
		return 0;
	}
	const char *p = colon ? colon + 1 : NULL;
	for (size_t i = 0; p ? p < value + len : i < 2; i++) {
		size_t digits = p ? strcspn(p, ",/") : strlen(default_ports[i]);
		snprintf(host, sizeof(host), "%.*s:%.*s", (int)n, value, (int)digits,
			p ? p : default_ports[i]);
		add_value(&h->net, host, place);
		add_value(&h->import, host, place);
		p = p ? p + digits + 1 : NULL;
	}
	return 0;
}

/* What a server inside listens at. */
static void add_published(struct list *l, const struct ward_strings *ports)
{
	static const char *const addresses[] = {"0.0.0.0", "127.0.0.1", "localhost"};
	for (size_t i = 0; i < ports->n; i++) {
		const char *colon = strchr(ports->v[i], ':');
		const char *port = colon ? colon + 1 : ports->v[i];
		for (size_t k = 0; k < sizeof(addresses) / sizeof(addresses[0]); k++) {
			char value[64];
			snprintf(value, sizeof(value), "%s:%s", addresses[k], port);
			add_value(l, value, "[network] publish");
		}
	}
}

static void add_forwarded(struct list *l, const struct ward_strings *ports)
{
	for (size_t i = 0; i < ports->n; i++) {
		char value[64];
		snprintf(value, sizeof(value), "localhost:%.*s", (int)strcspn(ports->v[i], ":"),
			ports->v[i]);
		add_value(l, value, "[network] forward");
	}
}

static int network_flags(const struct ward_mode_asked *a, struct ward_mode_command *ret)
{
	const struct ward_settings *s = ward_policy_settings(a->policy);
	struct hosts h = {LIST_INIT, LIST_INIT};
	int r = 0;
	if (s->net == WARD_NET_HOST)
		r = ward_mode_put_flag(ret, "--allow-net", "[network] mode = host");
	else if (s->net != WARD_NET_NONE)
		r = ward_policy_listed_values(a->policy, WARD_LISTED_CONNECT, add_host, &h);
	if (r == 0 && s->net != WARD_NET_NONE && s->net != WARD_NET_HOST) {
		add_published(&h.net, &s->net_publish);
		add_forwarded(&h.net, &s->net_forward);
		/* fetch() asks for the proxy as well, which decides about each destination. */
		add_value(&h.net, WARD_PROXY_INSIDE, "the proxy inside");
		r = put_list(ret, "--allow-net", &h.net);
	}
	/* Modules of the network come from hosts that are named; npm: takes the whole of it. */
	if (r == 0 && h.import.values.len && !h.import.bare)
		r = put_list(ret, "--allow-import", &h.import);
	else if (r == 0)
		r = ward_mode_put_flag(ret, "--no-remote", "no host of [network] allow is named");
	clear_list(&h.net);
	clear_list(&h.import);
	return r;
}

/* --- environment and programs --- */

static int env_flags(const struct ward_mode_asked *a, struct ward_mode_command *ret)
{
	struct list l = LIST_INIT;
	for (size_t i = 0; a->envp[i]; i++) {
		char name[256];
		size_t n = strcspn(a->envp[i], "=");
		if (n == 0 || n >= sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)n, a->envp[i]);
		add_value(&l, name, "what [env] passes");
	}
	int r = put_list(ret, "--allow-env", &l);
	clear_list(&l);
	return r;
}

struct programs {
	struct list list;
	const char *deno; /* a second Deno would choose its own flags */
};

/* Deno compares whole paths: a pattern or a directory cannot be said, so Deno refuses those. */
static int add_program(void *user, const char *value, const char *place)
{
	struct programs *p = user;
	if (!strpbrk(value, "*?[\\") && value[0] == '/' && strcmp(value, p->deno) != 0)
		add_value(&p->list, value, place);
	return 0;
}

static int program_flags(const struct ward_mode_asked *a, struct ward_mode_command *ret)
{
	struct programs p = {LIST_INIT, a->found->program};
	int r = 0;
	if (ward_policy_has_programs(a->policy))
		r = ward_policy_listed_values(a->policy, WARD_LISTED_PROGRAMS, add_program, &p);
	/* Without a value the flag would mean every program. */
	p.list.bare = false;
	if (r == 0)
		r = put_list(ret, "--allow-run", &p.list);
	clear_list(&p.list);
	return r;
}

int ward_deno_flags(
	const struct ward_mode_asked *a, struct ward_mode_command *ret, struct ward_err *err)
{
	static const char mode[] = "mode deno";
	int r = ward_mode_put_flag(ret, "--no-prompt", mode);
	/* A project's deno.json and package.json are the agent's to write. */
	if (r == 0)
		r = ward_mode_put_flag(ret, "--no-config", mode);
	if (r == 0)
		r = ward_mode_put_flag(ret, "--no-lock", mode);
	if (r == 0)
		r = ward_mode_put_flag(ret, "--no-npm", mode);
	if (r == 0)
		r = file_flags(a, WARD_RIGHT_READ, "--allow-read", "--deny-read", ret);
	if (r == 0)
		r = file_flags(a, WARD_RIGHT_WRITE, "--allow-write", "--deny-write", ret);
	if (r == 0)
		r = network_flags(a, ret);
	if (r == 0)
		r = env_flags(a, ret);
	if (r == 0)
		r = program_flags(a, ret);
	/* About the session, whose host name, users and figures are the sandbox's. */
	if (r == 0)
		r = ward_mode_put_flag(ret, "--allow-sys", mode);
	return r < 0 ? ward_err_sys(err, r, "mode deno") : 0;
}
