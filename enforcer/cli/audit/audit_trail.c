/* SPDX-License-Identifier: Apache-2.0 */
/* One trail: found by the name of its session, opened, and verified. */
#include "enforcer/cli/audit/audit_trail.h"

#include <errno.h>
#include <string.h>

#include "audit/log/chain.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/cli/audit/audit_cmd.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/base/say.h"

int audit_trail_open(
	struct audit_cmd *c, char **ret_name, struct ward_log **ret, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	int r = ward_store_find(c->store, c->session, &name, err);
	if (r == 0)
		r = ward_store_open_log(c->store, name, ret, err);
	if (r < 0)
		return audit_ledger_explain_gone(c, name ? name : c->session, r, err);
	audit_ledger_note_read(c, name);
	*ret_name = ward_steal_ptr(&name);
	return 0;
}

void audit_trail_path(const char *path, struct ward_buf *ret)
{
	if (path[0] != '/')
		ward_buf_puts(ret, "/workspace/");
	ward_escape(ret, path, strlen(path));
}

int audit_trail_verify(struct audit_cmd *c, const char *session, struct ward_log *log,
	struct audit_verified *ret, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	uint8_t root[WARD_KEY_BYTES];
	/* The checkpoints first: they speak of no more than the log then has. */
	int r = ward_store_open_checkpoints(c->store, session, &fd, err);
	if (r == 0 && (r = ward_checkpoint_list_read(fd, &ret->notes)) < 0)
		return ward_err_sys(err, r, "checkpoints of %s", session);
	if (r == 0 || r == -ENOENT)
		r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = audit_ledger_read(c, root, &ret->ledger, err);
	if (r == 0)
		r = ward_verify_trail(log, session, root,
			ward_ledger_view_find(&ret->ledger, session), &ret->notes, &ret->result,
			err);
	ward_chain_wipe(root, sizeof(root));
	return r;
}

void audit_verified_clear(struct audit_verified *v)
{
	ward_checkpoint_list_clear(&v->notes);
	ward_ledger_view_free(&v->ledger);
}

void audit_trail_warn(struct audit_cmd *c, const char *session, struct ward_log *log)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_ledger_view ledger = {0};
	struct ward_verify_result res = {0};
	uint8_t root[WARD_KEY_BYTES];
	int r = ward_store_read_key(c->store, root, &err);
	if (r == 0)
		r = audit_ledger_read(c, root, &ledger, &err);
	if (r == 0) {
		r = ward_verify_trail(log, session, root, ward_ledger_view_find(&ledger, session),
			NULL, &res, &err);
		ward_ledger_view_free(&ledger);
	}
	ward_chain_wipe(root, sizeof(root));
	if (r < 0)
		ward_sayf("this trail was not verified: %s", err.text);
	else if (res.state != WARD_VERIFY_INTACT && !res.running)
		ward_sayf("this trail is not intact: %s%s%s", ward_verify_state_name(res.state),
			res.text[0] ? ": " : "", res.text);
}
