/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an attestation from a trail, and signs it. */
#include "audit/verify/attest.h"

#include <errno.h>
#include <inttypes.h>
#include <nettle/sha2.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/query.h"
#include "audit/query/session_ends.h"
#include "audit/record_table.h"
#include "audit/verify/attest_form.h"
#include "audit/verify/attest_git.h"
#include "audit/verify/attest_products.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"

/* What is known of a session from its genuine records. */
/* Reloads that are listed; a statement has its bound (WARD_ATTEST_MAX). */
#define POLICIES_MAX 256U

struct collect {
	uint64_t records; /* that are genuine */
	uint64_t seen;
	struct sha256_ctx digest; /* over their lines */
	json_t *start;		  /* session.start */
	json_t *end;		  /* session.end */
	json_t *probes;		  /* of kind probe */
	json_t *policies;	  /* what came into force later: of kind reload */
	json_int_t more;	  /* of them, that are not in the list */
	json_int_t refused;
	struct ward_products products;
	struct ward_attest_git git;
};

static void drop(struct collect *c)
{
	json_decref(c->start);
	json_decref(c->end);
	json_decref(c->probes);
	json_decref(c->policies);
	ward_products_clear(&c->products);
	ward_attest_git_clear(&c->git);
}

/* A policy that was loaded while the session ran: the statement must not be about the first alone.
 */
static int take_policy(struct collect *c, const json_t *rec)
{
	const char *result = ward_query_text(rec, "result");
	if (!result || strcmp(result, "loaded") != 0)
		return 0;
	if (json_array_size(c->policies) == POLICIES_MAX) {
		c->more++;
		return 0;
	}
	return json_array_append_new(
		c->policies, json_pack("{s:O?, s:{s:{s:O?}}}", "time", json_object_get(rec, "time"),
				     "policy", "digest", "sha256", json_object_get(rec, "policy")));
}

static int take(void *ctx, const char *line, size_t len, const json_t *rec)
{
	struct collect *c = ctx;
	const enum ward_event_kind kind = ward_query_kind(rec);
	if (c->seen == c->records)
		return 1;
	c->seen++;
	sha256_update(&c->digest, len, (const uint8_t *)line);
	sha256_update(&c->digest, 1, (const uint8_t *)"\n");
	if (!kind)
		return 0;
	json_t *own = (json_t *)(uintptr_t)rec; /* the walk's, kept by a reference */
	if (kind == WARD_EVENT_SESSION_START && !c->start)
		c->start = json_incref(own);
	else if (kind == WARD_EVENT_TAKE && c->start)
		ward_session_taken(c->start, rec);
	else if (kind == WARD_EVENT_SESSION_END && !c->end)
		c->end = json_incref(own);
	else if (kind == WARD_EVENT_PROBE)
		return json_array_append(c->probes, own) < 0 ? -ENOMEM : 0;
	else if (kind == WARD_EVENT_RELOAD)
		return take_policy(c, rec) < 0 ? -ENOMEM : 0;
	c->refused += ward_record_kind_is(kind, WARD_KIND_REFUSAL);
	int r = ward_products_take(&c->products, rec);
	return r < 0 ? r : ward_attest_git_take(&c->git, rec);
}

/* --- the parts of the predicate; NULL or a negative value: no memory --- */

/* How the supervisor came to know a member of session.start's `sandbox`. */
static const char *how(const char *name)
{
	static const char *const reported[] = {
		"landlock_abi", "groups_kept", "keyring", "userns_closed", "sockets_shut"};
	static const char *const required[] = {
		"namespaces", "network", "seccomp", "no_new_privs", "capabilities"};
	for (size_t i = 0; i < sizeof(reported) / sizeof(*reported); i++)
		if (strcmp(reported[i], name) == 0)
			return "reported by the sandbox's first process once it was applied";
	for (size_t i = 0; i < sizeof(required) / sizeof(*required); i++)
		if (strcmp(required[i], name) == 0)
			return "required: the command is not started where it cannot be set up";
	return "recorded by the supervisor at the start";
}

/* A property of the sandbox that this host did not give. */
static bool lacking(const char *name, const json_t *value)
{
	if (strcmp(name, "groups_kept") == 0)
		return json_is_true(value);
	return json_is_false(value) || (json_is_integer(value) && json_integer_value(value) == 0);
}

static int put_guarantees(json_t *predicate, const struct collect *c)
{
	json_t *sandbox = json_object_get(json_object_get(c->start, "detail"), "sandbox");
	json_t *all = json_array();
	json_t *not_held = json_array();
	const char *name = NULL;
	json_t *value = NULL;
	json_object_foreach(sandbox, name, value)
	{
		json_array_append_new(all, json_pack("{s:s, s:O, s:s}", "name", name, "value",
						   value, "how", how(name)));
		if (lacking(name, value))
			json_array_append_new(not_held, json_string(name));
	}
	if (json_object_set_new(predicate, "guarantees", all) < 0 ||
		json_object_set_new(predicate, "not_held", not_held) < 0)
		return -ENOMEM;
	return json_object_set(predicate, "probes", c->probes) < 0 ? -ENOMEM : 0;
}

static int put_mounts(json_t *predicate, const struct collect *c)
{
	json_t *mounts = json_object_get(json_object_get(c->start, "detail"), "mounts");
	json_t *recorded = json_array();
	json_t *not_recorded = json_array();
	size_t i = 0;
	json_t *m = NULL;
	json_array_foreach(mounts, i, m)
	{
		json_t *path = json_object_get(m, "path");
		if (path)
			json_array_append(json_is_true(json_object_get(m, "recorded"))
						  ? recorded
						  : not_recorded,
				path);
	}
	return json_object_set_new(predicate, "mounts",
		       json_pack("{s:o, s:o}", "recorded", recorded, "not_recorded",
			       not_recorded)) < 0
		       ? -ENOMEM
		       : 0;
}

/* Members of session.start that say who ran what kind of session where; neither argv nor env. */
static int put_start(json_t *predicate, const struct collect *c)
{
	static const char *const members[] = {"verb", "mode", "version", "kernel", "project",
		"owner", "owner_uid", "agent_uid", "started_by", "sudo_user", "login_uid",
		"audit_session", "labels", "clock"};
	const json_t *detail = json_object_get(c->start, "detail");
	json_t *o = json_object();
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		json_t *v = json_object_get(detail, members[i]);
		if (v && json_object_set(o, members[i], v) < 0)
			break;
	}
	json_t *policy = json_object_get(c->start, "policy");
	json_object_set(o, "time", c->start ? json_object_get(c->start, "time") : json_null());
	if (json_object_set_new(predicate, "start", c->start ? o : json_null()) < 0)
		return -ENOMEM;
	if (!c->start)
		json_decref(o);
	if (json_object_set_new(
		    predicate, "policy", json_pack("{s:{s:O?}}", "digest", "sha256", policy)) < 0)
		return -ENOMEM;
	return json_object_set_new(predicate, "reloads",
		       json_pack("{s:O, s:I}", "loaded", c->policies, "more", c->more)) < 0
		       ? -ENOMEM
		       : 0;
}

static int put_end(json_t *predicate, const struct collect *c)
{
	json_t *o = c->end ? json_pack("{s:O?, s:O?, s:O?, s:O?}", "time",
				     json_object_get(c->end, "time"), "status",
				     json_object_get(c->end, "status"), "signal",
				     json_object_get(c->end, "signal"), "cause",
				     json_object_get(c->end, "text"))
			   : json_null();
	return json_object_set_new(predicate, "end", o) < 0 ? -ENOMEM : 0;
}

static int put_verify(json_t *predicate, const struct ward_attest_about *a)
{
	const struct ward_verify_result *v = a->verify;
	json_t *o = json_pack("{s:s, s:I, s:o, s:I, s:b, s:s, s:s}", "state",
		ward_verify_state_name(v->state), "records", (json_int_t)v->records, "first_bad",
		v->first_bad ? json_integer((json_int_t)v->first_bad) : json_null(), "gaps",
		(json_int_t)v->gaps, "running", v->running, "text", v->text, "ledger",
		ward_verify_state_name(a->ledger));
	return json_object_set_new(predicate, "verify", o) < 0 ? -ENOMEM : 0;
}

static json_t *note_json(const struct ward_checkpoint_list *l, size_t i)
{
	return json_stringn(l->text.data + l->offset[i], l->v[i].len);
}

static int put_checkpoints(json_t *predicate, const struct ward_checkpoint_list *l)
{
	json_t *o = json_pack("{s:I, s:o, s:o}", "count", (json_int_t)l->n, "first",
		l->n ? note_json(l, 0) : json_null(), "last",
		l->n ? note_json(l, l->n - 1) : json_null());
	return json_object_set_new(predicate, "checkpoints", o) < 0 ? -ENOMEM : 0;
}

static json_t *statement(const struct ward_attest_about *a, struct collect *c, json_t *predicate)
{
	uint8_t sum[SHA256_DIGEST_SIZE];
	char hex[2 * sizeof(sum) + 1];
	ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT;
	sha256_digest(&c->digest, sizeof(sum), sum);
	(void)sodium_bin2hex(hex, sizeof(hex), sum, sizeof(sum));
	ward_buf_printf(&name, "wardfs/trail/%s", a->session);
	json_t *subjects =
		json_pack("[{s:s, s:{s:s}}]", "name", ward_buf_str(&name), "digest", "sha256", hex);
	json_t *products = NULL, *git = NULL;
	if (!subjects || ward_products_list(&c->products, subjects, &products) < 0 ||
		json_object_set_new(predicate, "products", products) < 0 ||
		ward_attest_git_list(&c->git, subjects, &git) < 0 ||
		json_object_set_new(predicate, "git", git) < 0) {
		json_decref(subjects);
		return NULL;
	}
	return json_pack("{s:s, s:o, s:s, s:O}", "_type", WARD_ATTEST_STATEMENT, "subject",
		subjects, "predicateType", WARD_ATTEST_PREDICATE, "predicate", predicate);
}

int ward_attest_state(
	struct ward_log *log, const struct ward_attest_about *a, json_t **ret, struct ward_err *err)
{
	ward_cleanup(drop) struct collect c = {
		.records = a->verify->records, .probes = json_array(), .policies = json_array()};
	char now[WARD_CLOCK_TEXT_MAX];
	if (a->verify->records == 0)
		return ward_err_set(err, -ENODATA, "cannot attest %s: %s%s%s, no record is genuine",
			a->session, ward_verify_state_name(a->verify->state),
			a->verify->text[0] ? ": " : "", a->verify->text);
	sha256_init(&c.digest);
	int r = ward_query_walk(log, true, take, &c, err);
	if (r < 0)
		return r;
	ward_clock_format(ward_clock_real_ns(), now);
	json_t *predicate = json_pack("{s:s, s:s, s:s, s:I}", "session", a->session, "attested",
		now, "by", a->version, "refused", c.refused);
	r = predicate ? put_start(predicate, &c) : -ENOMEM;
	r = r < 0 ? r : put_guarantees(predicate, &c);
	r = r < 0 ? r : put_mounts(predicate, &c);
	r = r < 0 ? r : put_end(predicate, &c);
	r = r < 0 ? r : put_verify(predicate, a);
	r = r < 0 ? r : put_checkpoints(predicate, a->notes);
	json_t *s = r < 0 ? NULL : statement(a, &c, predicate);
	json_decref(predicate);
	if (!s)
		return ward_err_sys(err, -ENOMEM, "attestation");
	*ret = s;
	return 0;
}

int ward_attest_sign(const json_t *s, const struct ward_signing_key *key, struct ward_buf *ret,
	struct ward_err *err)
{
	uint8_t sig[WARD_SIGN_BYTES];
	ward_cleanup(ward_buf_clear) struct ward_buf pae = WARD_BUF_INIT;
	ward_cleanup_free char *payload = json_dumps(s, JSON_COMPACT | JSON_ENSURE_ASCII);
	if (!payload)
		return ward_err_sys(err, -ENOMEM, "attestation");
	ward_attest_pae(&pae, payload, strlen(payload));
	int r = ward_buf_error(&pae);
	if (r == 0)
		(void)crypto_sign_detached(
			sig, NULL, (const uint8_t *)pae.data, pae.len, key->secret);
	ward_buf_puts(ret, WARD_ATTEST_BEGIN);
	ward_put_base64(ret, (const uint8_t *)payload, strlen(payload));
	ward_buf_puts(ret, WARD_ATTEST_KEY);
	ward_buf_puts(ret, key->pub.name);
	ward_buf_puts(ret, WARD_ATTEST_SIG);
	ward_put_base64(ret, sig, sizeof(sig));
	ward_buf_puts(ret, WARD_ATTEST_END);
	r = r < 0 ? r : ward_buf_error(ret);
	/* A reader would refuse it. */
	if (r == 0 && ret->len > WARD_ATTEST_MAX)
		r = -E2BIG;
	return r < 0 ? ward_err_sys(err, r, "attestation") : 0;
}
