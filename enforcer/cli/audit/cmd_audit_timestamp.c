/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit timestamp: has an authority stamp the ledger's last checkpoint (RFC 3161). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/log/tlog.h"
#include "audit/write/ledger.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/audit/audit_cmd.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/audit/timestamp_tsa.h"
#include "enforcer/cli/audit/audit_output.h"
#include "enforcer/cli/base/say.h"

/* The ledger's last checkpoint, made where entries came since; with its number of entries. */
static int last_checkpoint(
	struct audit_cmd *c, struct ward_buf *ret, uint64_t *ret_size, struct ward_err *err)
{
	ward_cleanup(ward_ledger_files_close) struct ward_ledger_files files =
		WARD_LEDGER_FILES_INIT;
	uint8_t root[WARD_KEY_BYTES];
	char text[WARD_TLOG_TAIL];
	struct ward_tlog_key key;
	struct ward_tlog_note note;
	size_t at = 0;
	int r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = ward_store_extend_ledger(c->store, &files, err);
	if (r == 0)
		r = ward_ledger_checkpoint(&files, root, err);
	if (r == 0)
		ward_tlog_key_derive(root, &key);
	ward_chain_wipe(root, sizeof(root));
	if (r < 0)
		return r;
	const struct ward_note_key log = key.pub;
	ward_chain_wipe(&key, sizeof(key));
	const off_t end = lseek(files.notes_fd, 0, SEEK_END);
	const off_t from = end > (off_t)sizeof(text) ? end - (off_t)sizeof(text) : 0;
	const ssize_t n = pread(files.notes_fd, text, sizeof(text), from);
	if (n < 0 || !ward_tlog_last(text, (size_t)n, &log, &at, &note))
		return ward_err_set(err, -ENODATA, "the ledger has no checkpoint");
	ward_buf_add(ret, text + at, note.len);
	*ret_size = note.size;
	r = ward_buf_error(ret);
	return r < 0 ? ward_err_sys(err, r, "checkpoint") : 0;
}

static int run_timestamp(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf note = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf answer = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf stamp = WARD_BUF_INIT;
	uint64_t size = 0;
	if (!c->output) {
		(void)audit_options_wrong(c, "-o FILE, for the checkpoint, is missing", "");
		return 2;
	}
	ward_buf_printf(&stamp, "%s.tsr", c->output);
	int r = last_checkpoint(c, &note, &size, err);
	if (r == 0)
		r = ward_tsa_ask(c->object, note.data, note.len, &answer, err);
	/* Without its stamp the checkpoint is still one. */
	if (r == 0)
		r = audit_output_write(c, c->output, &note, err);
	if (r == 0)
		r = audit_output_write(c, ward_buf_str(&stamp), &answer, err);
	if (r < 0)
		return r;
	ward_outf("%" PRIu64 " %s of the ledger stamped\n", size, size == 1 ? "entry" : "entries");
	ward_outf("verify the stamp:  openssl ts -verify -CAfile CA.pem -data %s",
		ward_shell_quoted(&word, c->output));
	ward_outf(" -in %s\n", ward_shell_quoted(&word, ward_buf_str(&stamp)));
	ward_outf("verify the ledger: wardfs audit verify --all --checkpoints %s\n",
		ward_shell_quoted(&word, c->output));
	return 0;
}

/* --- on the command line --- */

static const struct argp_option timestamp_options[] = {
	{"output", 'o', "FILE", 0, "A new file for the checkpoint; the stamp goes into FILE.tsr",
		0},
	AUDIT_OUTPUT_FORCE,
	{0},
};
const struct argp audit_timestamp_argp = {timestamp_options, audit_verb_parse, "COMMAND",
	"Asks a time-stamp authority (RFC 3161) to stamp the ledger's last checkpoint. The "
	"stamp proves when all sessions that ended before had ended. COMMAND is the absolute "
	"path of your program that sends its standard input to the authority and prints the "
	"answer; it gets no arguments.\vExit status: 0; 2 usage; 125 there is no stamp.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb timestamp_verb = {
	.name = "timestamp",
	.argp = &audit_timestamp_argp,
	.words = "o",
	.need = 1,
	.lacks = "COMMAND, which asks the authority, is missing",
	.run = run_timestamp,
};

int ward_audit_cmd_timestamp(int argc, char **argv)
{
	return audit_verb_call(&timestamp_verb, argc, argv);
}
