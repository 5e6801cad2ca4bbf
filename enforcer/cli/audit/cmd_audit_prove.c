/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit prove: proofs that records are in a trail. */
#include <errno.h>
#include <inttypes.h>

#include "audit/log/chain.h"
#include "audit/log/lines.h"
#include "audit/verify/ledger_notes.h"
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
		return ward_err_set(err, -EINVAL, "%s is not the number of a record", c->object);
	r = ward_prove_record(log, &notes, seq, c->size, ret, err);
	/* Its format is C2SP's, which counts from 0; all else here counts from 1. */
	if (r == 0)
		ward_sayf("a proof of record %" PRIu64 " (\"index %" PRIu64
			  "\" in it: the format counts "
			  "from 0)",
			seq, seq - 1);
	return r;
}

/* The last entry "end" of the session. 0: there is none. */
static uint64_t find_end(int fd, const char *session)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_lines_line text = {0};
	struct ward_line l;
	uint64_t n = 0, found = 0;
	int r = ward_log_open_file(fd, &log);
	if (r == 0)
		r = ward_lines_open(&lines, log, 0);
	while (r == 0 && ward_lines_next(&lines, &text) == 1 && text.whole) {
		n++;
		if (ward_line_parse(text.p, text.len, &l) == 0 && ward_line_is(&l, "end") &&
			ward_line_of(&l, session))
			found = n;
	}
	return found;
}

/* With the last checkpoint, or, if one covers the entry, the last that a witness cosigned. */
static int make_entry(struct audit_cmd *c, struct ward_buf *ret, struct ward_err *err)
{
	ward_cleanup(ward_ledger_notes_clear) struct ward_ledger_notes notes = {0};
	ward_cleanup(ward_ledger_notes_clear) struct ward_ledger_notes cosigned = {0};
	ward_cleanup_fd int ledger = -1;
	ward_cleanup_fd int fd = -1;
	ward_cleanup_fd int cosigned_fd = -1;
	int r = ward_store_open_ledger(c->store, &ledger, err);
	if (r == 0)
		r = ward_store_open_ledger_checkpoints(c->store, &fd, err);
	if (r == 0)
		r = ward_ledger_notes_read(fd, &notes);
	if (r == 0 && ward_store_open_cosigned(c->store, &cosigned_fd, NULL) == 0)
		r = ward_ledger_notes_read(cosigned_fd, &cosigned);
	if (r < 0)
		return ward_err_sys(err, r, "ledger");
	uint64_t seq = find_end(ledger, c->session);
	if (seq == 0)
		return ward_err_set(
			err, -ENOENT, "the ledger has no end of a session %s", c->session);
	const struct ward_ledger_notes *from =
		cosigned.n > 0 && cosigned.v[cosigned.n - 1].size >= seq ? &cosigned : &notes;
	if (from->n == 0)
		return ward_err_set(err, -ENODATA, "the ledger has no checkpoint yet");
	return ward_prove_entry(ledger, from->text.data + from->offset[from->n - 1],
		&from->v[from->n - 1], seq, ret, err);
}

static int run_prove(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = {
		.max = c->prove_file ? WARD_PROOFS_TEXT_MAX : WARD_PROOF_TEXT_MAX};
	if (c->ledger && c->session && !c->object && !c->has_from && !c->prove_file) {
		int e = make_entry(c, &b, err);
		return e < 0 ? e : ward_output_write(NULL, true, &b, err);
	}
	if (c->ledger || c->has_from + (c->object != NULL) + (c->prove_file != NULL) != 1) {
		ward_sayf("audit prove: SESSION SEQ, or --file PATH SESSION, or --from SIZE "
			  "SESSION, or --ledger SESSION");
		return 2;
	}
	int r = make(c, &b, err);
	if (r < 0)
		return r;
	if (c->has_from && c->from == 0)
		ward_say("the checkpoint of 0 records begins every trail: give --from the number "
			 "of records of one that you kept (its second line)");
	return ward_output_write(NULL, true, &b, err);
}

/* --- on the command line --- */

static const struct argp_option prove_options[] = {
	{"size", AUDIT_OPTION_SIZE, "N", 0,
		"Use the checkpoint of N records (default: the last one)", 0},
	{"file", AUDIT_OPTION_FILE, "PATH", 0,
		"Prove all records of this file, under all its names", 0},
	{"from", AUDIT_OPTION_FROM, "N", 0,
		"Prove that the checkpoint of --size extends the checkpoint of N records", 0},
	{"ledger", AUDIT_OPTION_LEDGER, NULL, 0,
		"Prove that the ledger contains the end of the session", 0},
	{0},
};
const struct argp audit_prove_argp = {prove_options, audit_verb_parse,
	"SESSION SEQ\n--file PATH SESSION\n--from N SESSION\n--ledger SESSION",
	"Prints a proof that record SEQ, or all records of a file, are in the trail, or that a "
	"later checkpoint extends an earlier one. 'wardfs audit verify' takes it as a "
	"FILE.\vExit status: 0; 2 usage; 125 the trail cannot be read.",
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
