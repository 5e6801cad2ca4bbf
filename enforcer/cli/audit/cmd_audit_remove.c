/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit remove, prune: deletes trails, and has the ledger keep that they were there. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/verify/prune.h"
#include "audit/write/ledger.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/ask.h"
#include "enforcer/session/guard/system_writer.h"

/* The entry comes first: a trail that is gone without one is missing. */
static int bury(struct audit_cmd *c, const struct ward_ledger_session *s,
	const uint8_t root[WARD_KEY_BYTES], struct ward_err *err)
{
	struct ward_gone gone;
	ward_cleanup(ward_ledger_files_close) struct ward_ledger_files files =
		WARD_LEDGER_FILES_INIT;
	int r = ward_prune_sign(c->store, "removed", s, &gone, err);
	if (r == 0)
		r = ward_store_extend_ledger(c->store, &files, err);
	return r < 0 ? r
		     : ward_ledger_removed(&files, root, s->name, s->records, gone.pub,
			       gone.signature, c->reason, getuid(), err);
}

/* Its policy promised that it stays so long; who breaks that says why. */
static int check_promise(
	const struct audit_cmd *c, const struct ward_ledger_session *s, struct ward_err *err)
{
	char until[WARD_CLOCK_TEXT_MAX];
	const uint64_t over = ward_ledger_kept_until(s);
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	if (s->held)
		return ward_err_set(err, -EPERM,
			"%s is on hold since %.19sZ (user %" PRIu64
			": %s): wardfs audit release --reason TEXT %s",
			s->name, s->held_time, s->held_by, s->held_reason,
			ward_shell_quoted(&word, s->name));
	if (c->force || (over > 0 && (uint64_t)time(NULL) >= over))
		return 0;
	ward_clock_format(
		over < UINT64_MAX / WARD_NS_PER_SEC ? over * WARD_NS_PER_SEC : UINT64_MAX, until);
	return ward_err_set(err, -EPERM,
		"the policy of %s keeps the trail until %.19sZ; --force --reason TEXT removes it "
		"now",
		s->name, until);
}

static bool is_whole(const struct audit_cmd *c, const struct ward_ledger_session *s)
{
	return strcmp(c->session, s->name) == 0;
}

/* wardfs does not guess what to delete. If the name is not whole, a person must confirm it. */
static int check_named(
	const struct audit_cmd *c, const struct ward_ledger_session *s, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	if (is_whole(c, s) || ask_possible())
		return 0;
	return ward_err_set(err, -EINVAL,
		"%s means the session %s. What is deleted does not come back: type its whole name, "
		"wardfs audit remove %s",
		c->session, s->name, ward_shell_quoted(&word, s->name));
}

static int ask(const struct audit_cmd *c, const struct ward_ledger_session *s, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf question = WARD_BUF_INIT;
	if (is_whole(c, s))
		return 0;
	ward_buf_printf(&question,
		"delete the trail of %s (started %.19sZ, %" PRIu64 " records)? [y/N]", s->name,
		s->start_time, s->records);
	return ask_word(ward_buf_str(&question), "yn", 'n', 'n') == 'y'
		       ? 0
		       : ward_err_set(err, -ECANCELED, "%s was not removed", s->name);
}

/* A ledger that was cut or edited does not say what is promised of the session, nor keeps why. */
static int check_ledger(const struct audit_cmd *c, const struct ward_ledger_view *v,
	const char *name, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	if (v->result.state == WARD_VERIFY_INTACT || c->force)
		return 0;
	return ward_err_set(err, -EPERM,
		"the ledger is not intact (%s: %s), so that a hold on %s may be missing in it. "
		"wardfs audit verify --all tells more; wardfs audit remove --force --reason TEXT %s "
		"removes it all the same",
		ward_verify_state_name(v->result.state), v->result.text, name,
		ward_shell_quoted(&word, name));
}

static int run_remove(struct audit_cmd *c, struct ward_err *err)
{
	struct ward_ledger_view ledger = {0};
	uint8_t root[WARD_KEY_BYTES];
	ward_cleanup_free char *name = NULL;
	const struct ward_ledger_session *s = NULL;
	int r = audit_trail_known(c, &name, err);
	if (r == 0)
		r = audit_ledger_exact(c, name, root, &ledger, &s, err);
	if (r == 0)
		r = check_named(c, s, err);
	if (r == 0)
		r = check_ledger(c, &ledger, name, err);
	if (r == 0 && !s->ended)
		r = ward_err_set(err, -EBUSY,
			"%s has no end: it still runs, or the next start of a session will end it",
			s->name);
	if (r == 0 && !s->removed && !s->expired)
		r = check_promise(c, s, err);
	if (r == 0)
		r = ask(c, s, err);
	if (r == 0 && !s->removed)
		r = bury(c, s, root, err);
	if (r == 0)
		r = ward_store_remove_session(c->store, s->name, err);
	if (r == -ENOENT)
		r = audit_ledger_explain_gone(c, s->name, r, err);
	if (r == 0)
		ward_outf("%s: removed\n", s->name);
	ward_chain_wipe(root, sizeof(root));
	ward_ledger_view_free(&ledger);
	return r;
}

static int run_prune(struct audit_cmd *c, struct ward_err *err)
{
	struct ward_prune_result res = {0};
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	if (c->system)
		return ward_err_set(err, -EPERM,
			"the system's writer cannot read files that root makes; as its user, "
			"run: wardfs audit prune --state %s",
			ward_shell_quoted(&word, ward_store_path(c->store)));
	int r = ward_prune(c->store, (uint64_t)time(NULL), UINT64_MAX, true, &res, err);
	if (c->json)
		ward_outf("{\"expired\": %" PRIu64 ", \"packed\": %" PRIu64 ", \"before\": %" PRIu64
			  ", \"after\": %" PRIu64 "}\n",
			res.expired, res.packed, res.before, res.after);
	else
		ward_outf("%" PRIu64 " trail%s expired; %" PRIu64
			  " file%s compressed, from %" PRIu64 " to %" PRIu64 " bytes\n",
			res.expired, ward_s(res.expired), res.packed, ward_s(res.packed),
			res.before, res.after);
	return r;
}

/* --- on the command line --- */

static const struct argp_option remove_options[] = {
	{"force", AUDIT_OPTION_FORCE, NULL, 0,
		"Remove the trail even if its policy ([audit] keep) promises to keep it longer, "
		"or the ledger is not intact; needs --reason",
		0},
	{"reason", AUDIT_OPTION_REASON, "TEXT", 0, "The reason, for the ledger", 0},
	{0},
};
const struct argp audit_remove_argp = {remove_options, audit_verb_parse, "SESSION",
	"Deletes the expired trail of a session. The ledger keeps a signed record that the "
	"trail existed. SESSION is its name. For a unique beginning, or latest, wardfs asks on "
	"the terminal first.\vExit status: 0; 2 usage; 125 it failed.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb remove_verb = {
	.name = "remove",
	.argp = &audit_remove_argp,
	.words = "s",
	.need = 1,
	.lacks = "which session?",
	.run = run_remove,
};

int ward_audit_cmd_remove(int argc, char **argv)
{
	return audit_verb_call(&remove_verb, argc, argv);
}

static const struct argp_option prune_options[] = {
	{"json", 'j', NULL, 0, "One JSON object", 0},
	{0},
};
const struct argp audit_prune_argp = {prune_options, audit_verb_parse, NULL,
	"Deletes the trails that are older than [audit] keep of their policy, and compresses "
	"the trails of ended sessions. The ledger records each deletion.\vExit status: 0; 2 "
	"usage; 125 a trail cannot be read.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb prune_verb = {
	.name = "prune",
	.argp = &audit_prune_argp,
	.words = "",
	.run = run_prune,
};

int ward_audit_cmd_prune(int argc, char **argv)
{
	return audit_verb_call(&prune_verb, argc, argv);
}
