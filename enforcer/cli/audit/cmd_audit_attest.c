/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit attest: writes the signed statement about a session. */
#include "enforcer/base/cleanup.h"
#include "enforcer/cli/audit/audit_attestation.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/output.h"

static int run_attest(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	bool intact = false;
	int r = audit_attestation_make(c, &b, &intact, err);
	if (r == 0)
		r = ward_output_write(c->output, true, &b, err);
	return r < 0 ? r : !intact;
}

/* --- on the command line --- */

static const struct argp_option attest_options[] = {
	{"output", 'o', "FILE", 0, "Into this file (default: stdout)", 0},
	{0},
};
const struct argp audit_attest_argp = {attest_options, audit_verb_parse, "[SESSION]",
	"Writes a signed statement of what was in force in a session, what held, and whether "
	"the trail is whole; verify takes it as a FILE. SESSION is a name, its unique "
	"beginning, or latest (the default).\vExit status: 0, 1 if trail or ledger is not "
	"intact, 2 for wrong use, 125 if it could not be read.",
	audit_options_sessions, NULL, NULL};
static const struct audit_verb attest_verb = {
	.name = "attest",
	.argp = &audit_attest_argp,
	.words = "s",
	.run = run_attest,
};

int ward_audit_cmd_attest(int argc, char **argv)
{
	return audit_verb_call(&attest_verb, argc, argv);
}
