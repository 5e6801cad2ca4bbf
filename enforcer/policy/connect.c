/* SPDX-License-Identifier: Apache-2.0 */
/*
 * May the session connect? Pure: no name is looked up. A name is compared with names, an address
 * with addresses and blocks of them, in whatever spelling they come. An address that is nobody's in
 * the internet (address.h) is reached by an entry of addresses alone: "*" names what is public.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/clock.h"
#include "enforcer/policy/address.h"
#include "enforcer/policy/destination.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/grants.h"
#include "enforcer/policy/internal.h"

/* Takes an entry's value apart. Without ports an `allow` means the usual two, a `deny` everything,
 * UDP as well. */
static bool parse_entry(const struct ward_entry *e, struct ward_destination *ret, bool *ret_deny)
{
	*ret_deny = e->key->type == WARD_KEY_TYPE_DENY;
	if ((!*ret_deny && e->key->type != WARD_KEY_TYPE_ALLOW) ||
		!ward_destination_parse(e->value, false, ret))
		return false;
	if (!*ret_deny)
		ward_destination_default_ports(ret);
	return true;
}

static const struct ward_entry *find_host(
	const struct ward_policy *p, bool deny, const struct ward_destination *asked)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		struct ward_destination e;
		bool is_deny;
		if (parse_entry(p->effective[i], &e, &is_deny) && is_deny == deny &&
			ward_destination_covers(&e, asked, deny))
			return p->effective[i];
	}
	return NULL;
}

/* What asks covers as what denies: without ports everything, and "*" is all. */
static bool parse_ask(const struct ward_entry *e, struct ward_destination *ret)
{
	return e->key->type == WARD_KEY_TYPE_ASK_HOST &&
	       ward_destination_parse(e->value, false, ret);
}

static const struct ward_entry *find_ask(
	const struct ward_policy *p, const struct ward_destination *asked, bool block)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		struct ward_destination e;
		if (parse_ask(p->effective[i], &e) && (!block || e.is_address) &&
			ward_destination_covers(&e, asked, true))
			return p->effective[i];
	}
	return NULL;
}

bool ward_policy_asks_hosts(const struct ward_policy *p)
{
	struct ward_destination e;
	for (size_t i = 0; i < p->n_effective; i++)
		if (parse_ask(p->effective[i], &e))
			return true;
	return false;
}

/* An `allow` of addresses that covers this one; "*" does not speak of addresses. */
static const struct ward_entry *find_block(
	const struct ward_policy *p, const struct ward_destination *asked)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		struct ward_destination e;
		bool deny;
		if (parse_entry(p->effective[i], &e, &deny) && !deny && e.is_address &&
			ward_destination_covers(&e, asked, false))
			return p->effective[i];
	}
	return NULL;
}

/* --- grants --- */

/* What a host grant is looked for with. */
struct wanted {
	const struct ward_destination *asked;
	bool block; /* only one of addresses counts */
	struct ward_grant_held *found;
};

static bool parse_granted(const char *host, struct ward_destination *ret)
{
	if (!ward_destination_parse(host, false, ret))
		return false;
	ward_destination_default_ports(ret);
	return true;
}

static void look_at(void *user, struct ward_grant_held *g)
{
	struct wanted *w = user;
	struct ward_destination e;
	if (!parse_granted(g->grant.host, &e) || (w->block && !e.is_address))
		return;
	if (ward_destination_covers(&e, w->asked, false) &&
		(!w->found || (w->found->grant.uses && !g->grant.uses)))
		w->found = g;
}

bool ward_grant_host_covers(const char *host, const char *host_port)
{
	struct ward_destination e, asked;
	return parse_granted(host, &e) && ward_destination_parse(host_port, true, &asked) &&
	       !asked.odd && ward_destination_covers(&e, &asked, false);
}

/* Where the floor has a list of its own, nothing beside it is reached by a grant either. */
static bool floor_leaves(const struct ward_policy *p, const struct ward_destination *asked)
{
	bool any = false;
	for (size_t i = 0; i < p->n_entries; i++) {
		const struct ward_entry *entry = &p->entries[i];
		struct ward_destination e;
		bool deny;
		if (entry->source != WARD_SOURCE_FLOOR || !parse_entry(entry, &e, &deny) || deny)
			continue;
		if (ward_destination_covers(&e, asked, false))
			return true;
		any = true;
	}
	return !any;
}

/* Which grant leads there? open: also one whose uses are spent. */
static struct ward_grant_held *granted(
	const struct ward_policy *p, const struct ward_destination *asked, bool block, bool open)
{
	struct wanted w = {.asked = asked, .block = block};
	if (!ward_grants_any(p->grants) || asked->odd || !floor_leaves(p, asked))
		return NULL;
	ward_grants_hosts(p->grants, ward_clock_boot_ns(), open, look_at, &w);
	return w.found;
}

bool ward_grants_reach(struct ward_grants *s, const char *host_port, uint64_t now_ns)
{
	struct ward_destination asked;
	struct wanted w = {.asked = &asked};
	if (!ward_destination_parse(host_port, true, &asked) || asked.odd)
		return false;
	ward_grants_hosts(s, now_ns, false, look_at, &w);
	return w.found != NULL;
}

void ward_policy_use_grants(struct ward_policy *p, struct ward_grants *s)
{
	p->grants = s;
}

static void put_entry(const struct ward_entry *e, const char *otherwise, struct ward_buf *place,
	struct ward_buf *text)
{
	if (!e) {
		ward_buf_puts(place, "default");
		ward_buf_puts(text, otherwise);
		return;
	}
	ward_buf_printf(place, WARD_PLACE_FMT, WARD_PLACE(e->file, e->line));
	ward_buf_printf(text, "[network] %s = %s", e->key->name, e->value);
}

enum ward_verdict ward_policy_connect(const struct ward_policy *p, const char *host_port,
	struct ward_buf *ret_place, struct ward_buf *ret_text)
{
	struct ward_grant_held *g = NULL;
	return ward_policy_connect_by(p, host_port, false, &g, ret_place, ret_text);
}

enum ward_verdict ward_policy_connect_by(const struct ward_policy *p, const char *host_port,
	bool open, struct ward_grant_held **ret_grant, struct ward_buf *ret_place,
	struct ward_buf *ret_text)
{
	struct ward_destination asked;
	bool ok = ward_destination_parse(host_port, true, &asked);
	const struct ward_entry *mode = WARD_ENTRY(p, net);
	if (p->settings.net == WARD_NET_NONE || !ok) {
		put_entry(mode, "[network] mode = none", ret_place, ret_text);
		return WARD_VERDICT_DENY;
	}
	const struct ward_entry *e = find_host(p, true, &asked);
	/* Neither CONNECT nor the CONNECT of SOCKS5 carries datagrams. */
	bool carried = !asked.udp || p->settings.net != WARD_NET_PROXY;
	if (e || !carried) {
		put_entry(e ? e : mode, "", ret_place, ret_text);
		return WARD_VERDICT_DENY;
	}
	const struct ward_entry *ask = find_ask(p, &asked, false);
	/* What it means is a guess, which only a `deny` may take: a resolver may read another one.
	 */
	e = asked.odd || ask ? NULL : find_host(p, false, &asked);
	bool allowed = e || (!ask && p->settings.net == WARD_NET_HOST);
	*ret_grant = allowed ? NULL : granted(p, &asked, false, open);
	if (*ret_grant) {
		ward_buf_puts(ret_place, (*ret_grant)->rule.file);
		ward_buf_printf(ret_text, "connect %s", (*ret_grant)->grant.host);
		return WARD_VERDICT_ALLOW;
	}
	/* No answer could open what no grant opens. */
	if (ask && !asked.odd && floor_leaves(p, &asked)) {
		put_entry(ask, "", ret_place, ret_text);
		return WARD_VERDICT_ASK;
	}
	put_entry(e ? e : mode, "", ret_place, ret_text);
	return allowed ? WARD_VERDICT_ALLOW : WARD_VERDICT_DENY;
}

bool ward_policy_host_grantable(const struct ward_policy *p, const char *host,
	struct ward_buf *ret_place, struct ward_buf *ret_text)
{
	struct ward_destination asked;
	const bool ok = ward_destination_parse(host, false, &asked);
	const struct ward_entry *mode = WARD_ENTRY(p, net);
	if (!ok || p->settings.net == WARD_NET_NONE || p->settings.net == WARD_NET_HOST) {
		put_entry(mode, "[network] mode = none", ret_place, ret_text);
		return false;
	}
	const struct ward_entry *e = find_host(p, true, &asked);
	if (e) {
		put_entry(e, "", ret_place, ret_text);
		return false;
	}
	if (floor_leaves(p, &asked))
		return true;
	ward_buf_puts(ret_place, "floor");
	ward_buf_puts(ret_text, "the list of hosts of the floor");
	return false;
}

/* Inside, these names are the session itself, and never this host. */
static bool is_loopback(const struct ward_destination *d)
{
	static const struct ward_destination blocks[] = {
		{.bits = 104, .address = {.bytes = {[10] = 0xff, [11] = 0xff, [12] = 127}}},
		{.bits = 128, .address = {.bytes = {[15] = 1}}},		 /* ::1 */
		{.bits = 128, .address = {.bytes = {[10] = 0xff, [11] = 0xff}}}, /* 0.0.0.0 */
		{.bits = 128},							 /* :: */
	};
	const size_t len = strlen(d->host), n = sizeof(".localhost") - 1;
	if (!d->is_address)
		return strcasecmp(d->host, "localhost") == 0 ||
		       (len > n && strcasecmp(d->host + len - n, ".localhost") == 0);
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
		if (ward_destination_in_block(&blocks[i], &d->address))
			return true;
	return false;
}

bool ward_connect_is_loopback(const char *host_port)
{
	struct ward_destination d;
	return ward_destination_parse(host_port, true, &d) && is_loopback(&d);
}

/* The `forward` of that port inside. */
static const struct ward_entry *find_forward(
	const struct ward_policy *p, const struct ward_destination *asked)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		const size_t n = strcspn(e->value, ":");
		if (WARD_ENTRY_IS(e, net_forward) && n == asked->n_ports &&
			memcmp(e->value, asked->ports, n) == 0)
			return e;
	}
	return NULL;
}

enum ward_verdict ward_policy_connect_inside(const struct ward_policy *p, const char *host_port,
	struct ward_buf *ret_place, struct ward_buf *ret_text)
{
	struct ward_destination asked;
	const enum ward_net net = p->settings.net;
	if (net == WARD_NET_HOST || !ward_destination_parse(host_port, true, &asked) ||
		!is_loopback(&asked))
		return ward_policy_connect(p, host_port, ret_place, ret_text);
	const struct ward_entry *e =
		net == WARD_NET_NONE || asked.udp || !asked.ports ? NULL : find_forward(p, &asked);
	if (!e)
		e = WARD_ENTRY(p, net);
	put_entry(e, "[network] mode = none", ret_place, ret_text);
	return e && WARD_ENTRY_IS(e, net_forward) ? WARD_VERDICT_ALLOW : WARD_VERDICT_DENY;
}

static void explain_loopback(const struct ward_destination *asked, struct ward_buf *b)
{
	const int n = asked->ports ? (int)asked->n_ports : 4;
	const char *port = asked->ports ? asked->ports : "PORT";
	if (asked->udp)
		ward_buf_puts(b, "nothing permits it: forward leads TCP alone");
	else
		ward_buf_printf(b,
			"wardfs policy add forward %.*s, for this project; wardfs run --forward %.*s, for one "
			"run",
			n, port, n, port);
}

/* The `allow` that covers it, though a mode without a network lets none decide. */
static const struct ward_entry *find_allow(const struct ward_policy *p, const char *host_port)
{
	struct ward_destination asked, e;
	if (p->settings.net != WARD_NET_NONE || !ward_destination_parse(host_port, true, &asked))
		return NULL;
	for (size_t i = 0; i < p->n_effective; i++)
		if (p->effective[i]->key->type == WARD_KEY_TYPE_ALLOW &&
			ward_destination_parse(p->effective[i]->value, false, &e) &&
			ward_destination_covers(&e, &asked, false))
			return p->effective[i];
	return NULL;
}

bool ward_explain_no_mode(
	const struct ward_policy *p, const char *host_port, struct ward_buf *ret_permit)
{
	const struct ward_entry *e = find_allow(p, host_port);
	if (!e)
		return false;
	ward_buf_printf(ret_permit,
		WARD_PLACE_FMT
		" allows it, but '[network] mode' is 'none': add 'mode = allowlist' above"
		" that line",
		WARD_PLACE(e->file, e->line));
	return true;
}

void ward_explain_connect(const char *host_port, const char *text, struct ward_buf *b)
{
	struct ward_destination asked;
	if (!ward_destination_parse(host_port, true, &asked)) {
		ward_buf_puts(b, "nothing permits it: it is no HOST:PORT");
		return;
	}
	if (is_loopback(&asked)) {
		explain_loopback(&asked, b);
		return;
	}
	if (strncmp(text, "[network] ask = ", 16) == 0) {
		ward_buf_puts(b, "a session asks a person, who answers with 'wardfs approve'");
		return;
	}
	/* Of the mode, whatever no `allow` covers; else of one line. */
	if (strncmp(text, "[network] mode = ", 17) != 0) {
		ward_buf_printf(
			b, "nothing lifts '%s': only a policy without this line permits it", text);
		return;
	}
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	(void)ward_shell_quoted(&word, host_port);
	ward_buf_printf(b,
		"wardfs policy add allow %s, for this project; wardfs run --net %s, for one run",
		ward_buf_str(&word), ward_buf_str(&word));
}

enum ward_verdict ward_policy_answer(const struct ward_policy *p, const char *host_port, bool near,
	struct ward_buf *ret_place, struct ward_buf *ret_text)
{
	struct ward_destination asked;
	bool ok = ward_destination_parse(host_port, false, &asked);
	const struct ward_entry *e = ok ? find_host(p, true, &asked) : NULL;
	if (!ok || e) {
		put_entry(e, "no destination", ret_place, ret_text);
		return WARD_VERDICT_DENY;
	}
	e = asked.is_address ? find_ask(p, &asked, true) : NULL;
	if (e && !granted(p, &asked, true, true)) {
		put_entry(e, "", ret_place, ret_text);
		return WARD_VERDICT_ASK;
	}
	if (!asked.is_address || (!near && ward_address_is_public(&asked.address)))
		return WARD_VERDICT_ALLOW;
	e = find_block(p, &asked);
	if (!e && granted(p, &asked, true, true))
		return WARD_VERDICT_ALLOW;
	put_entry(e, "a name has led to an address that is not public: allow the block by itself",
		ret_place, ret_text);
	return e ? WARD_VERDICT_ALLOW : WARD_VERDICT_DENY;
}

bool ward_policy_expects_host(const struct ward_policy *p, const char *host_port,
	const char **ret_file, unsigned *ret_line)
{
	struct ward_destination asked, e;
	if (!ward_destination_parse(host_port, true, &asked))
		return false;
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *entry = p->effective[i];
		/* As a `deny`: without ports it means all, and what it names is no more than that.
		 */
		if (entry->key->type != WARD_KEY_TYPE_EXPECTED_HOST ||
			!ward_destination_parse(entry->value, false, &e) ||
			!ward_destination_covers(&e, &asked, true))
			continue;
		*ret_file = entry->file;
		*ret_line = entry->line;
		return true;
	}
	return false;
}

static void add_port(struct ward_reach *r, const char *s, size_t n, bool udp)
{
	unsigned port = 0;
	uint16_t *v = udp ? r->udp : r->tcp;
	size_t *count = udp ? &r->n_udp : &r->n_tcp;
	for (size_t i = 0; i < n && n <= 5; i++)
		port = port * 10 + (unsigned)(s[i] - '0');
	for (size_t i = 0; i < *count; i++)
		if (v[i] == port)
			return;
	if (port == 0 || port > UINT16_MAX)
		return;
	if (*count == WARD_REACH_PORTS_MAX)
		r->more = true;
	else
		v[(*count)++] = (uint16_t)port;
}

/* The ports of one entry that no `deny` takes away for this host. */
static void add_ports(const struct ward_policy *p, const struct ward_destination *e,
	const struct ward_destination *host, struct ward_reach *r)
{
	const char *s = e->ports, *end = s + e->n_ports;
	if (e->udp && p->settings.net == WARD_NET_PROXY)
		return;
	while (s < end) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		struct ward_destination asked = *host;
		asked.udp = e->udp;
		asked.ports = s;
		asked.n_ports = (size_t)((comma ? comma : end) - s);
		if (!find_host(p, true, &asked))
			add_port(r, s, asked.n_ports, e->udp);
		s += asked.n_ports + 1;
	}
}

/* What may be asked about leads somewhere: to a question. */
static bool reaches(const struct ward_entry *entry, struct ward_destination *ret)
{
	bool deny;
	if (!parse_ask(entry, ret))
		return parse_entry(entry, ret, &deny) && !deny;
	ward_destination_default_ports(ret);
	return true;
}

/* Collects what grants add to a reach. */
struct reaching {
	const struct ward_policy *p;
	const struct ward_destination *asked; /* NULL: blocks */
	struct ward_reach *ret;
};

static void reach_by(void *user, struct ward_grant_held *g)
{
	struct reaching *x = user;
	struct ward_destination e;
	if (!ward_destination_parse(g->grant.host, false, &e))
		return;
	ward_destination_default_ports(&e);
	if (x->asked ? ward_destination_names(&e, x->asked, false)
		     : e.is_address || strcmp(e.host, "*") == 0)
		add_ports(x->p, &e, x->asked ? x->asked : &e, x->ret);
}

static void reach_grants(
	const struct ward_policy *p, const struct ward_destination *asked, struct ward_reach *ret)
{
	struct reaching x = {p, asked, ret};
	if (ward_grants_any(p->grants) && (!asked || floor_leaves(p, asked)))
		ward_grants_hosts(p->grants, ward_clock_boot_ns(), false, reach_by, &x);
}

void ward_policy_reach(const struct ward_policy *p, const char *host, struct ward_reach *ret)
{
	struct ward_destination asked;
	*ret = (struct ward_reach){0};
	if (p->settings.net == WARD_NET_NONE || p->settings.net == WARD_NET_HOST ||
		!ward_destination_parse(host, false, &asked) || asked.ports || asked.udp)
		return;
	for (size_t i = 0; i < p->n_effective; i++) {
		struct ward_destination e;
		if (reaches(p->effective[i], &e) && ward_destination_names(&e, &asked, false))
			add_ports(p, &e, &asked, ret);
	}
	reach_grants(p, &asked, ret);
}

void ward_policy_reach_blocks(const struct ward_policy *p, struct ward_reach *ret)
{
	*ret = (struct ward_reach){0};
	for (size_t i = 0; i < p->n_effective; i++) {
		struct ward_destination e;
		if (!reaches(p->effective[i], &e))
			continue;
		/* "*" is any public address as well */
		if (e.is_address || strcmp(e.host, "*") == 0)
			add_ports(p, &e, &e, ret);
	}
	reach_grants(p, NULL, ret);
}
