/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit attest: writes the signed statement about a session. */
#include <errno.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/audit/audit_attestation.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_output.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/say.h"

static int run_attest(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	bool intact = false;
	int r = audit_attestation_make(c, &b, &intact, err);
	if (r == 0)
		r = audit_output_write(c, c->output, &b, err);
	/* Of a trail without a genuine record there is no statement. */
	if (r == -ENODATA)
		ward_say(err->text);
	return r == -ENODATA ? 1 : r < 0 ? r : !intact;
}

/* --- on the command line --- */

static const struct argp_option attest_options[] = {
	{"output", 'o', "FILE", 0, "Into this new file (default: stdout)", 0},
	AUDIT_OUTPUT_FORCE,
	{0},
};
const struct argp audit_attest_argp = {attest_options, audit_verb_parse, "[SESSION]",
	"Writes a signed statement about a session: the policy in force, the guarantees that "
	"held, and whether the trail is complete. 'wardfs audit verify' takes it as a FILE. "
	"SESSION is a name, its unique beginning, or latest (the default).\vExit status: 0; 1 "
	"the trail or the ledger is not intact, and there is no statement if no record is "
	"genuine; 2 usage; 125 the trail cannot be read.",
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
