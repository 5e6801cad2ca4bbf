/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit witness: has a witness cosign the ledger's last checkpoint (C2SP tlog-witness). */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/verify/proof.h"
#include "audit/verify/verify_anchored.h"
#include "audit/write/ledger.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/base/quantity.h"
#include "enforcer/cli/audit/audit_cmd.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/audit/witness_http.h"
#include "enforcer/cli/base/say.h"

/* tlog-witness: "The client MUST NOT send more than 63 consistency proof lines." */
#define NODES_MAX 63
/* What a witness can answer. */
enum { COSIGNED = 200, FORBIDDEN = 403, UNKNOWN_LOG = 404, CONFLICT = 409, INCONSISTENT = 422 };

/* The ledger's last checkpoint, and what the witness signed before. */
struct asked {
	struct ward_note_key log;
	char text[WARD_TLOG_TAIL]; /* the checkpoint, from text + at on */
	size_t at;
	struct ward_tlog_note note;
	uint64_t old;
	int ledger_fd;			/* read-only */
	struct ward_verify_result kept; /* the ledger against what the witness signed before */
};

/* The secret half is not in memory any more when the witness is asked. */
static int prepare(struct audit_cmd *c, struct asked *a, struct ward_err *err)
{
	ward_cleanup(ward_ledger_files_close) struct ward_ledger_files files =
		WARD_LEDGER_FILES_INIT;
	ward_cleanup(ward_ledger_notes_clear) struct ward_ledger_notes before = {0};
	ward_cleanup_fd int cosigned = -1;
	uint8_t root[WARD_KEY_BYTES];
	struct ward_tlog_key key;
	uint64_t time = 0;
	size_t bad = 0;
	int r = ward_store_read_key(c->store, root, err);
	if (r < 0)
		return r;
	ward_tlog_key_derive(root, &key);
	a->log = key.pub;
	ward_chain_wipe(&key, sizeof(key));
	r = ward_store_extend_ledger(c->store, &files, err);
	if (r == 0)
		r = ward_ledger_checkpoint(&files, root, err);
	ward_chain_wipe(root, sizeof(root));
	if (r == 0)
		r = ward_store_open_ledger(c->store, &a->ledger_fd, err);
	if (r < 0)
		return r;
	off_t end = lseek(files.notes_fd, 0, SEEK_END);
	off_t from = end > (off_t)sizeof(a->text) ? end - (off_t)sizeof(a->text) : 0;
	ssize_t n = pread(files.notes_fd, a->text, sizeof(a->text), from);
	if (n < 0 || !ward_tlog_last(a->text, (size_t)n, &a->log, &a->at, &a->note))
		return ward_err_set(err, -ENODATA, "the ledger has no checkpoint");
	r = ward_store_open_cosigned(c->store, &cosigned, err);
	if (r < 0 && r != -ENOENT)
		return r;
	r = ward_anchored_cosigned(cosigned, &a->log, &c->witness, &before, &time, &bad, err);
	if (r == 0 && before.n > 0)
		a->old = before.v[before.n - 1].size;
	return r < 0 ? r : ward_verify_anchored_ledger(a->ledger_fd, &before, &a->kept, err);
}

/* "old N", the nodes of the consistency proof, an empty line, the checkpoint. */
static int put_request(struct asked *a, struct ward_buf *b, struct ward_err *err)
{
	struct ward_merkle_plan plan;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	ward_cleanup_free struct ward_proof_nodes *n = calloc(1, sizeof(*n));
	if (!n)
		return ward_err_sys(err, -ENOMEM, "witness");
	int r = ward_merkle_plan_consistency(a->old, a->note.size, &plan);
	if (r == 0 && plan.n > NODES_MAX)
		r = -E2BIG;
	if (r == 0)
		r = ward_log_open_file(a->ledger_fd, &log);
	if (r < 0)
		return ward_err_sys(err, r, "ledger");
	n->plan = &plan;
	r = ward_proof_nodes_compute(log, a->note.size, a->note.root, 0, n, &line, err);
	if (r < 0)
		return r;
	ward_buf_printf(b, "old %" PRIu64 "\n", a->old);
	ward_proof_put_nodes(b, n->node, plan.n);
	ward_buf_add(b, a->text + a->at, a->note.len);
	return ward_buf_error(b) < 0 ? ward_err_sys(err, -ENOMEM, "witness") : 0;
}

/* What a host that stopped left of the last answer goes: a reader would not pass over it. */
static int cut_torn(int fd, const struct ward_note_key *log)
{
	ward_cleanup(ward_ledger_notes_clear) struct ward_ledger_notes n = {0};
	int r = ward_ledger_notes_read(fd, &n);
	const size_t whole = n.text.len - n.rest;
	if (r < 0 || n.rest == 0 || !ward_tlog_torn(n.text.data + whole, n.rest - n.zeros, log))
		return r;
	return ftruncate(fd, (off_t)whole) < 0 ? -errno : 0;
}

/* Moves what the witness signed behind our own signature; a line is the witness's or passed over.
 */
static int keep(struct audit_cmd *c, struct asked *a, const struct ward_buf *body,
	uint64_t *ret_time, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf all = WARD_BUF_INIT;
	ward_cleanup_fd int fd = -1;
	const size_t own = a->note.len;
	ward_buf_add(&all, a->text + a->at, own);
	const char *end = body->data + body->len;
	for (const char *p = body->data, *nl = NULL; p && p < end; p = nl + 1) {
		ward_cleanup(ward_buf_clear) struct ward_buf one = WARD_BUF_INIT;
		struct ward_tlog_note note;
		nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl)
			break;
		ward_buf_add(&one, a->text + a->at, own);
		ward_buf_add(&one, p, (size_t)(nl - p) + 1);
		if (ward_buf_error(&one) == 0 && ward_tlog_parse(one.data, one.len, &note) == 0 &&
			note.len == one.len &&
			ward_tlog_check(&note, one.data, &c->witness, ret_time) == WARD_TLOG_GOOD)
			ward_buf_add(&all, p, (size_t)(nl - p) + 1);
	}
	if (ward_buf_error(&all) < 0)
		return ward_err_sys(err, -ENOMEM, "witness");
	if (all.len == own)
		return ward_err_set(err, -EBADMSG, "%s answered, and %s did not sign it", c->object,
			c->witness.name);
	int r = ward_store_extend_cosigned(c->store, &fd, err);
	if (r < 0)
		return r;
	r = cut_torn(fd, &a->log);
	if (r == 0)
		r = ward_fd_write_all(fd, all.data, all.len);
	if (r == 0 && fdatasync(fd) < 0)
		r = -errno;
	return r < 0 ? ward_err_sys(err, r, "ledger.cosigned") : 0;
}

/*
 * Neither answer has a signature, and anybody between here and the witness can give it. So it is no
 * verdict: a checkpoint that both signed is.
 */
#define UNSIGNED                                                                                   \
	"The answer has no signature. Ask the operator for the last checkpoint that the witness "  \
	"cosigned, and run 'wardfs audit verify --all --checkpoints FILE'"

/* 409: what the witness signed last, so it says. 0: ask again with it; -EBADMSG. */
static int take_conflict(
	struct audit_cmd *c, struct asked *a, const struct ward_buf *body, struct ward_err *err)
{
	char text[24] = "";
	const char *p = text;
	uint64_t size = 0;
	if (body->len > 1 && body->len < sizeof(text) && body->data[body->len - 1] == '\n')
		memcpy(text, body->data, body->len - 1);
	if (!ward_quantity_digits(&p, &size) || *p || size == a->old)
		return ward_err_set(err, -EBADMSG, "%s: 409 without another size", c->object);
	if (size > a->note.size)
		return ward_err_set(err, -EBADMSG,
			"%s says that %s cosigned %" PRIu64 " entries, and the ledger has %" PRIu64
			". " UNSIGNED,
			c->object, c->witness.name, size, a->note.size);
	a->old = size;
	return 0;
}

static int told(struct audit_cmd *c, const struct asked *a, int status, struct ward_err *err)
{
	char vkey[WARD_NOTE_VKEY_MAX];
	ward_note_key_print(&a->log, vkey);
	if (status == INCONSISTENT)
		return ward_err_set(err, -EBADMSG,
			"%s says that what %s cosigned is not the beginning of the ledger. " UNSIGNED,
			c->object, c->witness.name);
	if (status == UNKNOWN_LOG || status == FORBIDDEN)
		return ward_err_set(err, -EACCES,
			"%s does not follow this log (%d). Give its operator the key: %s",
			c->object, status, vkey);
	return ward_err_set(err, -EIO, "%s answered %d", c->object, status);
}

static int ask(struct audit_cmd *c, struct asked *a, struct ward_err *err)
{
	uint64_t time = 0;
	/* The answer of the witness says what it has seen, once. */
	for (int i = 0; i < 2; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf request = WARD_BUF_INIT;
		ward_cleanup(ward_buf_clear) struct ward_buf body = WARD_BUF_INIT;
		int r = put_request(a, &request, err);
		if (r == 0)
			r = ward_witness_post(c->object, &request, &body, err);
		if (r == COSIGNED) {
			r = keep(c, a, &body, &time, err);
			if (r == 0)
				ward_outf("%s cosigned %" PRIu64 " %s\n", c->witness.name,
					a->note.size, a->note.size == 1 ? "entry" : "entries");
			return r;
		}
		if (r != CONFLICT)
			return r < 0 ? r : told(c, a, r, err);
		r = take_conflict(c, a, &body, err);
		if (r != 0)
			return r;
	}
	return ward_err_set(
		err, -EAGAIN, "%s has signed another checkpoint meanwhile: try again", c->object);
}

static int run_witness(struct audit_cmd *c, struct ward_err *err)
{
	struct asked a = {.ledger_fd = -1};
	if (!c->has_witness) {
		(void)audit_options_wrong(c, "--key VKEY, the key of the witness, is missing", "");
		return 2;
	}
	int r = prepare(c, &a, err);
	if (r == 0 && a.kept.state != WARD_VERIFY_INTACT) {
		ward_outf("witness: %s at record %" PRIu64 ": %s\n",
			ward_verify_state_name(a.kept.state), a.kept.first_bad, a.kept.text);
		r = 1;
	} else if (r == 0) {
		r = ask(c, &a, err);
	}
	if (a.ledger_fd >= 0)
		close(a.ledger_fd);
	return r;
}

/* --- on the command line --- */

static const struct argp_option witness_options[] = {
	{"key", AUDIT_OPTION_WITNESS, "VKEY", 0,
		"The key of the witness: NAME+ID+BASE64, type 4 (cosignature/v1)", 0},
	{0},
};
const struct argp audit_witness_argp = {witness_options, audit_verb_parse, "URL",
	"Sends the ledger's last checkpoint to a witness (C2SP tlog-witness), with a proof that "
	"it extends the checkpoint before, and keeps the witness's signature. 'wardfs audit "
	"verify --all --witness VKEY' verifies it. URL is http://HOST[:PORT][/PREFIX].\vExit "
	"status: 0; 1 the ledger is not what the witness signed before; 2 usage; 125 the "
	"witness did not cosign.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb witness_verb = {
	.name = "witness",
	.argp = &audit_witness_argp,
	.words = "o",
	.need = 1,
	.lacks = "URL, the address of the witness, is missing",
	.run = run_witness,
};

int ward_audit_cmd_witness(int argc, char **argv)
{
	return audit_verb_call(&witness_verb, argc, argv);
}
