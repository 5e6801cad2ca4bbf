/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit policy: which policy was in force in a session, and when. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/query/policies.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/base/timestamp.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_policies.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/say.h"

static json_t *policy_json(const struct ward_policy_text *t)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_shown_lines(&b, t->meaning.data, t->meaning.len);
	return json_pack("{s:s, s:I, s:s?, s:s?, s:s}", "since", t->since ? t->since : "", "seq",
		(json_int_t)t->seq, "by", t->by, "sha256", t->digest, "text", ward_buf_str(&b));
}

/*
 * The one in force at the end of a second, minute or day, the beginning of a time as records have
 * it: `audit list` prints starts in whole seconds. NULL: the session began later.
 */
static const struct ward_policy_text *at(const struct ward_policy_texts *t, const char *time)
{
	const struct ward_policy_text *found = NULL;
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].loaded && t->v[i].since &&
			ward_timestamp_within(t->v[i].since, NULL, time))
			found = &t->v[i];
	return found;
}

/*
 * Had the session begun by then, by its entry in the ledger? That is what `audit list` prints, and
 * it comes before the first record.
 */
static bool has_begun(struct audit_cmd *c, const char *name)
{
	struct ward_err none = WARD_ERR_INIT;
	struct ward_ledger_view v = {0};
	uint8_t root[WARD_KEY_BYTES];
	bool has = false;
	if (ward_store_read_key(c->store, root, &none) < 0)
		return false;
	if (audit_ledger_list(c, root, NULL, &v, &none) == 0) {
		const struct ward_ledger_session *s = ward_ledger_view_find(&v, name);
		has = s && s->started && ward_timestamp_within(s->start_time, NULL, c->at_time);
		ward_ledger_view_free(&v);
	}
	ward_chain_wipe(root, sizeof(root));
	return has;
}

static void print_all(const struct ward_policy_texts *t, bool json)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	json_t *all = json ? json_array() : NULL;
	for (size_t i = 0; i < t->n; i++)
		if (json && t->v[i].loaded)
			json_array_append_new(all, policy_json(&t->v[i]));
	if (json) {
		ward_print_json(all);
		return;
	}
	audit_policies_write(t, &b);
	ward_print_policy(ward_buf_str(&b), b.len);
}

static int print_at(struct audit_cmd *c, const char *name, const struct ward_policy_texts *t,
	struct ward_err *err)
{
	const struct ward_policy_text *one = at(t, c->at_time);
	if (!one && t->n > 0 && has_begun(c, name))
		one = &t->v[0];
	if (!one)
		return ward_err_set(err, -ENOENT, "%s began later than %s%s%s", name, c->at_time,
			t->n && t->v[0].since ? ": it started at " : "",
			t->n && t->v[0].since ? t->v[0].since : "");
	if (c->json)
		ward_print_json(policy_json(one));
	else
		ward_print_policy(one->meaning.data, one->meaning.len);
	return 0;
}

static int run_policy(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_policy_texts_clear) struct ward_policy_texts t = {0};
	int r = audit_trail_open(c, &name, &log, err);
	if (r == 0)
		r = audit_policies_read(log, name, &t, err);
	if (r < 0)
		return r;
	if (c->at)
		r = print_at(c, name, &t, err);
	else
		print_all(&t, c->json);
	if (r == 0 && ward_out_flush() < 0)
		r = ward_err_sys(err, -EIO, "stdout");
	if (r == 0)
		r = audit_trail_warn(c, name, log);
	return r;
}

/* --- on the command line --- */

static const struct argp_option policy_options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects; with --at one object", 0},
	{"at", AUDIT_OPTION_AT, "TIME", 0,
		"Print only the policy in force at TIME, without a heading: its SHA-256 is the "
		"digest in the records. TIME is as for --since of audit show; of a second, minute "
		"or day, its end counts",
		0},
	{0},
};
const struct argp audit_policy_argp = {policy_options, audit_verb_parse, "[SESSION]",
	"Prints the policies that were in force in a session, including those of a reload. Each "
	"is one text, merged from all its sources, and is itself a policy. SESSION is a name, "
	"its unique beginning, or latest (the default).\vExit status: 0; 1 the trail was changed, or a later one is missing; 2 usage; 125 the trail "
	"cannot be read, or the digest of the text is not the one in the records.",
	audit_options_sessions, NULL, NULL};
static const struct audit_verb policy_verb = {
	.name = "policy",
	.argp = &audit_policy_argp,
	.words = "s",
	.run = run_policy,
};

int ward_audit_cmd_policy(int argc, char **argv)
{
	return audit_verb_call(&policy_verb, argc, argv);
}
