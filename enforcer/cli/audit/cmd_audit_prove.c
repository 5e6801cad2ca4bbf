/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit prove: proofs that records are in a trail. */
#include <errno.h>

#include "audit/verify/proof.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/quantity.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_proofs.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/output.h"
#include "enforcer/cli/base/say.h"

static int make(struct audit_cmd *c, struct ward_buf *ret, struct ward_err *err)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_checkpoint_list_clear) struct ward_checkpoint_list notes = {0};
	ward_cleanup_free char *name = NULL;
	uint64_t seq = 0;
	int r = audit_proofs_open(c, &name, &log, &notes, err);
	if (r < 0)
		return r;
	if (c->prove_file)
		return audit_proofs_make(c, c->prove_file, name, log, &notes, ret, err);
	if (c->has_from)
		return ward_prove_consistency(log, &notes, c->from, c->size, ret, err);
	if (ward_quantity_whole(c->object, 1, WARD_QUANTITY_MAX, &seq, NULL) < 0)
		return ward_err_set(err, -EINVAL, "%s is no number of a record", c->object);
	return ward_prove_record(log, &notes, seq, c->size, ret, err);
}

static int run_prove(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = {
		.max = c->prove_file ? WARD_PROOFS_TEXT_MAX : WARD_PROOF_TEXT_MAX};
	if (c->has_from + (c->object != NULL) + (c->prove_file != NULL) != 1) {
		ward_sayf("audit prove: SESSION SEQ, or --file PATH SESSION, or --from SIZE "
			  "SESSION");
		return 2;
	}
	int r = make(c, &b, err);
	if (r < 0)
		return r;
	return ward_output_write(NULL, true, &b, err);
}

/* --- on the command line --- */

static const struct argp_option prove_options[] = {
	{"size", AUDIT_OPTION_SIZE, "N", 0,
		"With the checkpoint of N records (default: the last one)", 0},
	{"file", AUDIT_OPTION_FILE, "PATH", 0, "All records of this file, under all its names", 0},
	{"from", AUDIT_OPTION_FROM, "N", 0,
		"That the checkpoint of N records is the beginning of the one of --size", 0},
	{0},
};
const struct argp audit_prove_argp = {prove_options, audit_verb_parse,
	"SESSION SEQ\n--file PATH SESSION\n--from N SESSION",
	"Prints a proof that record SEQ is in the trail, or all records of a file, or that "
	"an earlier checkpoint is the beginning of a later one; verify takes it as a "
	"FILE.\vExit status: 0, 2 for wrong use, 125 if it could not be read.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb prove_verb = {
	.name = "prove",
	.argp = &audit_prove_argp,
	.words = "so",
	.run = run_prove,
};

int ward_audit_cmd_prove(int argc, char **argv)
{
	return audit_verb_call(&prove_verb, argc, argv);
}
