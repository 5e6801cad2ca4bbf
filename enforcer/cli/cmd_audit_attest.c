/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit attest */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/attest.h"
#include "audit/chain.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/cli/cmd_audit.h"
#include "enforcer/cli/say.h"

/* What is known of a session and was verified. */
struct look {
	char *name;
	struct ward_log *log;
	struct ward_checkpoint_list notes;
	struct ward_ledger_view ledger;
	struct ward_verify_result verify;
};

static void clear(struct look *l)
{
	ward_log_close(l->log);
	ward_checkpoint_list_clear(&l->notes);
	ward_ledger_view_free(&l->ledger);
	free(l->name);
}

static int look(struct audit_cmd *c, struct look *l, struct ward_err *err)
{
	uint8_t root[WARD_KEY_BYTES];
	ward_cleanup_fd int notes_fd = -1;
	int r = audit_cmd_open(c, &l->name, &l->log, err);
	if (r < 0)
		return r;
	/* The checkpoints first: they speak of no more than what the log then has. */
	r = ward_store_open_checkpoints(c->store, l->name, &notes_fd, err);
	if (r == 0 && (r = ward_checkpoint_list_read(notes_fd, &l->notes)) < 0)
		return ward_err_sys(err, r, "checkpoints of %s", l->name);
	if (r == 0 || r == -ENOENT)
		r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = audit_cmd_ledger(c, root, &l->ledger, err);
	if (r == 0)
		r = ward_verify_trail(l->log, l->name, root,
			ward_ledger_view_find(&l->ledger, l->name), &l->notes, &l->verify, err);
	ward_chain_wipe(root, sizeof(root));
	return r;
}

static int sign(
	struct audit_cmd *c, const json_t *statement, struct ward_buf *ret, struct ward_err *err)
{
	uint8_t seed[WARD_KEY_BYTES];
	struct ward_signing_key key;
	int r = ward_store_read_seed(c->store, seed, err);
	if (r < 0)
		return r;
	ward_signing_key_from_seed(seed, &key);
	r = ward_attest_sign(statement, &key, ret, err);
	ward_chain_wipe(seed, sizeof(seed));
	ward_chain_wipe(&key, sizeof(key));
	return r;
}

int audit_cmd_attest_make(
	struct audit_cmd *c, struct ward_buf *ret, bool *ret_intact, struct ward_err *err)
{
	ward_cleanup(clear) struct look l = {0};
	json_t *statement = NULL;
	int r = look(c, &l, err);
	if (r < 0)
		return r;
	struct ward_attest_about about = {.session = l.name,
		.version = "wardfs " WARD_VERSION,
		.verify = &l.verify,
		.ledger = l.ledger.result.state,
		.notes = &l.notes};
	r = ward_attest_state(l.log, &about, &statement, err);
	if (r < 0)
		return r;
	r = sign(c, statement, ret, err);
	json_decref(statement);
	if (r < 0)
		return r;
	*ret_intact =
		l.verify.state == WARD_VERIFY_INTACT && l.ledger.result.state == WARD_VERIFY_INTACT;
	if (l.ledger.result.state != WARD_VERIFY_INTACT)
		ward_sayf("the statement says that the ledger is not intact: %s: %s",
			ward_verify_state_name(l.ledger.result.state), l.ledger.result.text);
	if (l.verify.state != WARD_VERIFY_INTACT)
		ward_sayf("the statement says that the trail is not intact: %s%s%s",
			ward_verify_state_name(l.verify.state), l.verify.text[0] ? ": " : "",
			l.verify.text);
	return 0;
}

int audit_cmd_attest(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	bool intact = false;
	int r = audit_cmd_attest_make(c, &b, &intact, err);
	if (r == 0)
		r = audit_cmd_write_out(c, &b, err);
	return r < 0 ? r : !intact;
}
