/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit hold, release: a trail that is not to be deleted, whatever its time. */
#include <errno.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/write/ledger.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/say.h"

/* Can it be done to what the ledger says? */
static int check(const struct ward_ledger_session *s, bool hold, struct ward_err *err)
{
	if (hold && (s->removed || s->expired))
		return ward_err_set(err, -ENOENT, "the trail of %s no longer exists", s->name);
	if (!hold && !s->held)
		return ward_err_set(err, -EINVAL, "%s is not on hold", s->name);
	return 0;
}

static int run(struct audit_cmd *c, bool hold, struct ward_err *err)
{
	struct ward_ledger_view ledger = {0};
	uint8_t root[WARD_KEY_BYTES];
	ward_cleanup(ward_ledger_files_close) struct ward_ledger_files files =
		WARD_LEDGER_FILES_INIT;
	ward_cleanup_free char *name = NULL;
	const struct ward_ledger_session *s = NULL;
	if (!c->reason) {
		ward_sayf("audit %s: give --reason TEXT, which the ledger records", c->verb);
		return 2;
	}
	int r = audit_trail_known(c, &name, err);
	if (r == 0)
		r = audit_ledger_exact(c, name, root, &ledger, &s, err);
	if (r == 0 && ledger.result.state != WARD_VERIFY_INTACT)
		ward_sayf("the ledger is not intact: %s: %s; wardfs audit verify --all tells more",
			ward_verify_state_name(ledger.result.state), ledger.result.text);
	if (r == 0)
		r = check(s, hold, err);
	if (r == 0)
		r = ward_store_extend_ledger(c->store, &files, err);
	if (r == 0)
		r = ward_ledger_hold(
			&files, root, s->name, hold ? "hold" : "release", c->reason, getuid(), err);
	ward_ledger_view_free(&ledger);
	/* Somebody may have deleted it since the ledger was read: before the entry, it counts. */
	if (r == 0)
		r = audit_ledger_exact(c, name, root, &ledger, &s, err);
	if (r == 0 && s->held != hold)
		r = ward_err_set(err, -ENOENT,
			"%s: another command changed the ledger meanwhile; try again", s->name);
	else if (r == 0 && hold)
		r = check(s, hold, err);
	if (r == 0)
		ward_outf("%s: %s\n", name, hold ? "on hold" : "released");
	ward_chain_wipe(root, sizeof(root));
	ward_ledger_view_free(&ledger);
	return r;
}

static int run_hold(struct audit_cmd *c, struct ward_err *err)
{
	return run(c, true, err);
}

static int run_release(struct audit_cmd *c, struct ward_err *err)
{
	return run(c, false, err);
}

/* --- on the command line --- */

static const struct argp_option hold_options[] = {
	{"reason", AUDIT_OPTION_REASON, "TEXT", 0, "The reason, for the ledger; required", 0},
	{0},
};
const struct argp audit_hold_argp = {hold_options, audit_verb_parse, "SESSION",
	"Keeps the trail of a session until you release it. Neither prune nor remove deletes "
	"it, even after it has expired. SESSION is a name, its unique beginning, or "
	"latest.\vExit status: 0; 2 usage; 125 it failed.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb hold_verb = {
	.name = "hold",
	.argp = &audit_hold_argp,
	.words = "s",
	.need = 1,
	.lacks = "which session?",
	.run = run_hold,
};

int ward_audit_cmd_hold(int argc, char **argv)
{
	return audit_verb_call(&hold_verb, argc, argv);
}

const struct argp audit_release_argp = {hold_options, audit_verb_parse, "SESSION",
	"Ends the hold of a session. The trail then expires as its policy says. SESSION is a "
	"name, its unique beginning, or latest.\vExit status: 0; 2 usage; 125 it failed.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb release_verb = {
	.name = "release",
	.argp = &audit_release_argp,
	.words = "s",
	.need = 1,
	.lacks = "which session?",
	.run = run_release,
};

int ward_audit_cmd_release(int argc, char **argv)
{
	return audit_verb_call(&release_verb, argc, argv);
}
