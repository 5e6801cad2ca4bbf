/* SPDX-License-Identifier: Apache-2.0 */
/* A token becomes a grant of this session. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/session/grants/grant_token.h"
#include "enforcer/session/grants/granting.h"
#include "enforcer/session/grants/token_uses.h"
#include "enforcer/session/owner/as_owner.h"

/* What lifts guards: the floor names the key, nobody else can. */
static int check_glass(
	const struct ward_settings *s, const struct ward_grant_token *t, struct ward_err *err)
{
	char key[WARD_VKEY_MAX];
	ward_public_key_print(&t->issuer, key);
	for (size_t i = 0; i < s->break_glass.n; i++)
		if (strcmp(s->break_glass.v[i], key) == 0)
			return 0;
	return ward_err_set(err, -EPERM,
		"no '[approvals] break-glass' of the floor names the token's issuer %s", key);
}

/* Nobody names an issuer, so nobody's token counts. */
static int check_issuer(
	const struct ward_settings *s, const struct ward_grant_token *t, struct ward_err *err)
{
	char key[WARD_VKEY_MAX];
	ward_public_key_print(&t->issuer, key);
	for (size_t i = 0; i < s->approvers.n; i++)
		if (strcmp(s->approvers.v[i], key) == 0)
			return 0;
	return ward_err_set(err, -EPERM,
		"no '[approvals] approver' of the policy or the floor names the token's issuer %s",
		key);
}

int ward_granting_unsigned(struct ward_granting *g, uint64_t signatures, struct ward_err *err)
{
	const struct ward_granting_host *h = ward_granting_host(g);
	const uint64_t needs = ward_policy_settings(h->policy(h->session))->approvers_needed;
	if (needs <= signatures)
		return 0;
	return ward_err_set(err, -EPERM,
		"'[approvals] approvers = %u' takes %s: answer the session's question with "
		"'wardfs approve QUESTION --signed FILE'",
		(unsigned)needs,
		signatures ? "more signatures than a token has"
			   : "signatures, and this grant has none");
}

/* Ids with a space between them. */
static char *ids_of(const struct ward_grant_token *t)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	for (size_t i = 0; i < t->n; i++) {
		ward_buf_puts(&b, i ? " " : "");
		ward_buf_puts(&b, t->blocks[i].id);
	}
	return ward_buf_error(&b) < 0 ? NULL : ward_buf_steal(&b);
}

static int make_grant(
	const struct ward_grant_token *t, uint64_t now_s, uint32_t uses, struct ward_grant *ret)
{
	const struct ward_token_block *b = &t->gives;
	const bool host = b->right == WARD_TOKEN_CONNECT;
	ward_cleanup(ward_buf_clear) struct ward_buf by = WARD_BUF_INIT;
	ward_buf_printf(&by, "key %s", t->issuer.name);
	struct ward_grant g = {.rights = ward_token_right_set(b->right),
		.until_ns = ward_clock_boot_ns() + (b->until_s - now_s) * WARD_NS_PER_SEC,
		.uses = uses,
		.pattern = host ? NULL : b->what,
		.host = host ? b->what : NULL,
		.issuer = (char *)(uintptr_t)ward_buf_str(&by),
		.reason = b->reason,
		.lifts = b->lifts};
	return ward_buf_error(&by) < 0 ? -ENOMEM : ward_grant_copy(&g, ret);
}

/*
 * The lists that a policy names. The owner wrote the policy, or somebody for the owner: so a
 * supervisor with root's rights reads no file that the owner may not read.
 */
static int check_lists(const struct ward_granting_host *h, const struct ward_settings *s,
	const struct ward_grant_token *t, struct ward_err *err)
{
	struct ward_as_owner as = {0};
	int r = s->revoked.n ? ward_as_owner_begin(h->owner, &as, err) : 0;
	for (size_t i = 0; r == 0 && i < s->revoked.n; i++)
		r = ward_token_listed(s->revoked.v[i], t, err);
	ward_as_owner_end(&as);
	return r;
}

/* What can be said without this host's file of tokens. */
static int check(struct ward_granting *g, const struct ward_grant_token *t, uint64_t now_s,
	struct ward_err *err)
{
	const struct ward_granting_host *h = ward_granting_host(g);
	const struct ward_settings *s = ward_policy_settings(h->policy(h->session));
	/* Break glass is the way out: it does not wait for the approvers. */
	int r = t->gives.lifts ? check_glass(s, t, err) : check_issuer(s, t, err);
	if (r == 0 && !t->gives.lifts)
		r = ward_granting_unsigned(g, 1, err);
	if (r == 0)
		r = check_lists(h, s, t, err);
	return r < 0 ? r : ward_grant_token_meant(t, h->guard->store.name, h->project, now_s, err);
}

int ward_granting_present(struct ward_granting *g, const char *token, size_t len, uint32_t uses,
	const struct ward_grantor *by, ward_granting_fn *fn, void *arg, struct ward_err *err)
{
	ward_cleanup(ward_grant_token_clear) struct ward_grant_token t = {.n = 0};
	ward_cleanup(ward_grant_clear) struct ward_grant grant = {.rights = 0};
	ward_cleanup_free char *ids = NULL;
	uint64_t now_s = ward_clock_real_ns() / WARD_NS_PER_SEC;
	char key[WARD_VKEY_MAX];
	struct ward_grantor who = *by;
	int r = ward_chain_setup() < 0 ? ward_err_set(err, -EIO, "libsodium cannot be used")
				       : ward_grant_token_read(token, len, &t, err);
	if (r == 0)
		r = check(g, &t, now_s, err);
	if (r < 0)
		return r;
	ward_public_key_print(&t.issuer, key);
	who.token = ids = ids_of(&t);
	who.key = key;
	if (t.gives.lifts) {
		who.how = "break-glass";
		who.payload = t.payload;
		who.signature = t.signature;
	}
	if (!ids || make_grant(&t, now_s, uses, &grant) < 0)
		return ward_err_sys(err, -ENOMEM, "token");
	/* Before uses are taken, which nobody gives back. */
	r = ward_granting_may(g, &grant, err);
	if (r == 0)
		r = ward_token_take(
			ward_granting_host(g)->guard->state, &t, uses, &now_s, &uses, err);
	ward_grant_clear(&grant);
	if (r == 0 && make_grant(&t, now_s, uses, &grant) < 0)
		r = ward_err_sys(err, -ENOMEM, "token");
	return r < 0 ? r : ward_granting_add(g, &grant, &who, fn, arg, err);
}
