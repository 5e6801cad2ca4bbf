/* SPDX-License-Identifier: Apache-2.0 */
/* Reads tokens and checks their chain. */
#include "enforcer/session/grants/grant_token.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/policy/destination.h"
#include "enforcer/policy/pattern.h"
#include "enforcer/session/grants/grant_token_text.h"

#define R (WARD_RIGHT_STAT | WARD_RIGHT_LIST | WARD_RIGHT_READ | WARD_RIGHT_EXEC)

static const struct {
	const char *word;
	uint32_t rights;
} rights[] = {
	[WARD_TOKEN_NOTHING] = {"", 0},
	[WARD_TOKEN_READ] = {"read", R},
	[WARD_TOKEN_APPEND] = {"append", R | WARD_RIGHT_APPEND | WARD_RIGHT_CREATE},
	[WARD_TOKEN_WRITE] = {"write", WARD_RIGHTS_ALL},
	[WARD_TOKEN_CONNECT] = {"connect", 0},
};

const char *ward_token_right_name(enum ward_token_right r)
{
	return rights[r].word;
}

enum ward_token_right ward_token_right_of(const char *word)
{
	for (size_t i = WARD_TOKEN_READ; word && i < sizeof(rights) / sizeof(*rights); i++)
		if (strcmp(word, rights[i].word) == 0)
			return (enum ward_token_right)i;
	return WARD_TOKEN_NOTHING;
}

uint32_t ward_token_right_set(enum ward_token_right r)
{
	return rights[r].rights;
}

bool ward_token_id_valid(const char *id)
{
	return strlen(id) == WARD_GRANT_TOKEN_ID_SIZE - 1 && *id == 't' &&
	       strspn(id + 1, "0123456789abcdef") == WARD_GRANT_TOKEN_ID_SIZE - 2;
}

static void block_clear(struct ward_token_block *b)
{
	free(b->session);
	free(b->project);
	free(b->what);
	free(b->reason);
	free(b->lifts);
	*b = (struct ward_token_block){.right = WARD_TOKEN_NOTHING};
}

void ward_grant_token_clear(struct ward_grant_token *t)
{
	for (size_t i = 0; i < t->n; i++)
		block_clear(&t->blocks[i]);
	free(t->payload);
	free(t->signature);
	*t = (struct ward_grant_token){.n = 0};
}

/* --- what lies beneath what --- */

static bool same_component(const struct ward_pattern *a, const struct ward_component *ca,
	const struct ward_pattern *b, const struct ward_component *cb)
{
	if (ca->n != cb->n || ca->loop != cb->loop)
		return false;
	for (size_t i = 0; i < ca->n; i++) {
		const struct ward_glob_elem *x = &a->elems[ca->first + i];
		const struct ward_glob_elem *y = &b->elems[cb->first + i];
		if (x->kind != y->kind || (x->kind == WARD_GLOB_BYTE && x->byte != y->byte))
			return false;
		if (x->kind == WARD_GLOB_SET &&
			memcmp(&a->sets[x->set], &b->sets[y->set], sizeof(*a->sets)) != 0)
			return false;
	}
	return true;
}

/* The name that a literal component is. */
static size_t literal(
	const struct ward_pattern *p, const struct ward_component *c, uint8_t name[WARD_NAME_MAX])
{
	if (!c->literal || c->n > WARD_NAME_MAX)
		return 0;
	for (size_t i = 0; i < c->n; i++)
		name[i] = p->elems[c->first + i].byte;
	return c->n;
}

static bool component_beneath(const struct ward_pattern *in, const struct ward_component *ci,
	const struct ward_pattern *p, const struct ward_component *c)
{
	uint8_t name[WARD_NAME_MAX];
	if (same_component(in, ci, p, c))
		return true;
	if (ci->loop || c->loop)
		return false;
	if (ci->n == 1 && in->elems[ci->first].kind == WARD_GLOB_STAR)
		return true;
	const size_t n = literal(p, c, name);
	return n > 0 && ward_component_matches(in, ci, name, n);
}

/* A path, where all of the pattern is literal. */
static bool path_of(const struct ward_pattern *p, struct ward_buf *ret)
{
	uint8_t name[WARD_NAME_MAX];
	for (size_t i = 0; i < p->n; i++) {
		const struct ward_component *c = &p->components[i];
		const size_t n = c->loop ? 0 : literal(p, c, name);
		if (n == 0)
			return false;
		ward_buf_putc(ret, '/');
		ward_buf_add(ret, name, n);
	}
	return p->n > 0 && ward_buf_error(ret) == 0;
}

bool ward_token_pattern_beneath(const char *in, const char *what)
{
	struct ward_pattern a = {0}, b = {0};
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	struct ward_err none = WARD_ERR_INIT;
	bool ok = false;
	if (*in == '/' && *what == '/' && ward_pattern_parse(in, false, &a, &none) == 0 &&
		ward_pattern_parse(what, false, &b, &none) == 0) {
		ok = path_of(&b, &path) && ward_pattern_covers_path(&a, path.data, path.len);
		bool all = a.n > 0 && b.n >= a.n;
		for (size_t i = 0; !ok && all && i < a.n; i++)
			all = component_beneath(&a, &a.components[i], &b, &b.components[i]);
		ok = ok || all;
	}
	ward_pattern_clear(&a);
	ward_pattern_clear(&b);
	return ok;
}

static bool host_beneath(const char *in, const char *what)
{
	struct ward_destination a, b;
	if (!ward_destination_parse(in, false, &a) || !ward_destination_parse(what, false, &b))
		return false;
	ward_destination_default_ports(&a);
	ward_destination_default_ports(&b);
	if (a.udp || b.udp || a.is_address != b.is_address || b.odd)
		return false;
	if (a.is_address && b.bits < a.bits)
		return false;
	/* "*.example.org" is more than one name: only the same text lies beneath it. */
	if (strchr(b.host, '*')) {
		if (strcmp(a.host, b.host) != 0)
			return false;
		memcpy(a.host, "x", 2);
		memcpy(b.host, "x", 2);
	}
	const char *p = b.ports, *const end = b.ports + b.n_ports;
	bool all = b.n_ports > 0;
	while (all && p < end) {
		struct ward_destination one = b;
		const char *comma = memchr(p, ',', (size_t)(end - p));
		one.ports = p;
		one.n_ports = (size_t)((comma ? comma : end) - p);
		all = ward_destination_covers(&a, &one, false);
		p = comma ? comma + 1 : end;
	}
	return all;
}

/* --- the chain --- */

static int widens(size_t i, const char *what, struct ward_err *err)
{
	return ward_err_set(err, -EPERM, "block %zu of the token would widen its %s", i + 1, what);
}

/* What lifts guards is for one session, says why, and is over within the hour. */
static int check_lifts(const struct ward_token_block *b, struct ward_err *err)
{
	if (!b->lifts)
		return 0;
	if (b->right == WARD_TOKEN_CONNECT || !b->session)
		return ward_err_set(
			err, -EINVAL, "a break-glass token is for paths of one session");
	if (!b->reason)
		return ward_err_set(err, -EINVAL, "a break-glass token needs a reason");
	if (!b->from_s || b->until_s - b->from_s > WARD_BREAK_GLASS_S)
		return ward_err_set(err, -EINVAL,
			"a break-glass token has a beginning, and ends an hour later at most");
	return 0;
}

/* The whole of what a first block needs. */
static int check_first(const struct ward_token_block *b, struct ward_err *err)
{
	struct ward_grant g = {.issuer = (char[]){"-"},
		.pattern = b->right == WARD_TOKEN_CONNECT ? NULL : b->what,
		.host = b->right == WARD_TOKEN_CONNECT ? b->what : NULL,
		.rights = rights[b->right].rights,
		.until_ns = b->lifts ? b->until_s : 0,
		.reason = b->reason,
		.lifts = b->lifts,
		.session = b->session};
	if (!b->right || !b->what)
		return ward_err_set(err, -EINVAL, "a token names a right and what it is for");
	if (!b->session == !b->project)
		return ward_err_set(
			err, -EINVAL, "a token is for one session or for those of one project");
	if (b->project && *b->project != '/')
		return ward_err_set(err, -EINVAL, "the project of a token is an absolute path");
	if (!b->until_s || b->until_s <= b->from_s)
		return ward_err_set(err, -EINVAL, "a token needs an end, after its beginning");
	const int r = check_lifts(b, err);
	if (r < 0)
		return r;
	return ward_grant_check(&g, err);
}

/* Adds what block i says to what those before it give. */
static int add_block(struct ward_token_block *to, const struct ward_token_block *b, size_t i,
	struct ward_err *err)
{
	const bool host = to->right == WARD_TOKEN_CONNECT;
	if (to->lifts)
		return ward_err_set(err, -EPERM, "a break-glass token cannot be narrowed");
	if (b->project)
		return widens(i, "project", err);
	if (b->session && to->session && strcmp(b->session, to->session) != 0)
		return widens(i, "session", err);
	if (b->right && (b->right > to->right || (b->right == WARD_TOKEN_CONNECT) != host ||
				(host && b->right != to->right)))
		return widens(i, "right", err);
	if (b->what && !(host ? host_beneath(to->what, b->what)
			      : ward_token_pattern_beneath(to->what, b->what)))
		return widens(i, host ? "host" : "pattern", err);
	if (b->from_s && b->from_s < to->from_s)
		return widens(i, "beginning", err);
	if (b->until_s && b->until_s > to->until_s)
		return widens(i, "end", err);
	if (b->uses && to->uses && b->uses > to->uses)
		return widens(i, "uses", err);
	to->session = b->session ? b->session : to->session;
	to->right = b->right ? b->right : to->right;
	to->what = b->what ? b->what : to->what;
	to->from_s = b->from_s ? b->from_s : to->from_s;
	to->until_s = b->until_s ? b->until_s : to->until_s;
	to->uses = b->uses ? b->uses : to->uses;
	to->reason = b->reason ? b->reason : to->reason;
	memcpy(to->id, b->id, sizeof(to->id));
	memcpy(to->next, b->next, sizeof(to->next));
	if (to->until_s <= to->from_s)
		return ward_err_set(
			err, -EPERM, "block %zu of the token ends before it begins", i + 1);
	return 0;
}

int ward_token_add(struct ward_grant_token *t, const struct ward_token_block *b, size_t i,
	struct ward_err *err)
{
	if (i > 0)
		return add_block(&t->gives, b, i, err);
	int r = check_first(b, err);
	if (r == 0)
		t->gives = *b;
	return r == -EINVAL ? -EBADMSG : r;
}

int ward_grant_token_meant(const struct ward_grant_token *t, const char *session,
	const char *project, uint64_t now_s, struct ward_err *err)
{
	const struct ward_token_block *b = &t->gives;
	if (t->n == 0 || !b->right)
		return ward_err_set(err, -EPERM, "the token gives nothing");
	if (b->session && (!session || strcmp(b->session, session) != 0))
		return ward_err_set(err, -EPERM,
			"the token is for session %s, and this one is %s: start a session of that name, "
			"or have a token made for this name or with --project",
			b->session, session ? session : "without a name");
	if (b->project && (!project || strcmp(b->project, project) != 0))
		return ward_err_set(err, -EPERM, "the token is for the project %s", b->project);
	if (now_s < b->from_s)
		return ward_err_set(err, -EPERM, "the token's time has not come");
	if (now_s >= b->until_s)
		return ward_err_set(err, -EPERM, "the token's time is over");
	return 0;
}
