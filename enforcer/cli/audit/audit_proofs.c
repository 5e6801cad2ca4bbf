/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs of many records, for prove and for the verbs that take --proof. */
#include "enforcer/cli/audit/audit_proofs.h"

#include <errno.h>
#include <inttypes.h>

#include "audit/verify/proof.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/audit/audit_cmd.h"
#include "enforcer/cli/audit/audit_filter.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/audit/audit_print.h"
#include "enforcer/cli/audit/audit_select.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/base/output.h"
#include "enforcer/cli/base/say.h"

int audit_proofs_make(struct audit_cmd *c, const char *path, const char *name, struct ward_log *log,
	const struct ward_checkpoint_list *notes, struct ward_buf *ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf inside = WARD_BUF_INIT;
	struct ward_file_names *names = NULL;
	size_t n = 0;
	uint64_t behind = 0;
	if (path)
		audit_trail_path(path, &inside);
	int r = ward_buf_error(&inside);
	if (r < 0)
		return ward_err_sys(err, r, "proof");
	if (!c->prove_file)
		r = audit_select_prepare(c, name, log, err);
	if (r == 0 && path)
		r = ward_file_names_find(log, ward_buf_str(&inside), &names, err);
	const struct ward_proof_want want = {.filter = &c->filter.f,
		.names = names,
		.size = c->size,
		.pairs = c->json && !c->prove_file};
	if (r == 0)
		r = ward_prove_records(log, notes, &want, ret, &n, &behind, err);
	if (r == 0 && ward_actors_error(c->filter.f.actors) < 0)
		r = ward_err_sys(err, -ENOMEM, "processes");
	if (r == 0)
		audit_print_names(names);
	if (r == 0)
		ward_sayf("%zu record%s%s%s", n, ward_s(n), path ? " of " : "",
			ward_buf_str(&inside));
	/* A checkpoint can be asked for: then that is meant. */
	if (r == 0 && behind > 0 && c->size == 0)
		ward_sayf("%" PRIu64 " more after the last checkpoint: no proof yet", behind);
	ward_file_names_free(names);
	return r;
}

int audit_proofs_open(struct audit_cmd *c, char **ret_name, struct ward_log **ret,
	struct ward_checkpoint_list *ret_notes, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup_fd int fd = -1;
	int r = audit_trail_meant(c, &name, err);
	if (r == 0)
		r = ward_store_open_checkpoints(c->store, name, &fd, err);
	if (r == 0) {
		r = ward_checkpoint_list_read(fd, ret_notes);
		if (r < 0)
			(void)ward_err_sys(err, r, "checkpoints of %s", name);
	}
	if (r == 0)
		r = ward_store_open_log(c->store, name, ret, err);
	if (r == 0)
		audit_ledger_note_read(c, name);
	r = audit_ledger_explain_gone(c, name ? name : c->session, r, err);
	if (r == 0)
		*ret_name = ward_steal_ptr(&name);
	return r;
}

int audit_proofs_show(struct audit_cmd *c, const char *path, bool asked, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = {.max = WARD_PROOFS_TEXT_MAX};
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_checkpoint_list_clear) struct ward_checkpoint_list notes = {0};
	ward_cleanup_free char *name = NULL;
	int r = audit_proofs_open(c, &name, &log, &notes, err);
	if (r == 0)
		r = audit_proofs_make(c, path, name, log, &notes, &b, err);
	if (r == -ENOMSG && asked) {
		ward_say(err->text);
		return 1;
	}
	if (r == 0)
		r = ward_output_write(NULL, true, &b, err);
	return r;
}
