/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit prove; show, file and process with --proof */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/proof.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/cli/cmd_audit.h"
#include "enforcer/cli/say.h"

/* All records of a file, under all its names, or (path NULL) all that the filter matches. */
static int make_many(struct audit_cmd *c, const char *path, const char *name, struct ward_log *log,
	const struct ward_checkpoint_list *notes, struct ward_buf *ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf inside = WARD_BUF_INIT;
	struct ward_file_names *names = NULL;
	size_t n = 0;
	uint64_t behind = 0;
	if (path)
		audit_cmd_inside(path, &inside);
	int r = ward_buf_error(&inside);
	if (r < 0)
		return ward_err_sys(err, r, "proof");
	if (!c->prove_file)
		r = audit_filter_prepare(c, name, log, err);
	if (r == 0 && path)
		r = ward_file_names_find(log, ward_buf_str(&inside), &names, err);
	const struct ward_proof_want want = {.filter = &c->filter->f,
		.names = names,
		.size = c->size,
		.pairs = c->json && !c->prove_file};
	if (r == 0)
		r = ward_prove_records(log, notes, &want, ret, &n, &behind, err);
	if (r == 0 && ward_actors_error(c->filter->f.actors) < 0)
		r = ward_err_sys(err, -ENOMEM, "processes");
	if (r == 0)
		audit_cmd_say_names(names);
	if (r == 0)
		ward_sayf("%zu records%s%s", n, path ? " of " : "", ward_buf_str(&inside));
	/* A checkpoint can be asked for: then that is meant. */
	if (r == 0 && behind > 0 && c->size == 0)
		ward_sayf("%" PRIu64 " more come after the last checkpoint: they have no proof yet",
			behind);
	ward_file_names_free(names);
	return r;
}

/* The trail and the checkpoints of the session that was asked for. */
static int open_trail(struct audit_cmd *c, char **ret_name, struct ward_log **ret,
	struct ward_checkpoint_list *notes, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup_fd int fd = -1;
	int r = ward_store_find(c->store, c->session, &name, err);
	if (r == 0)
		r = ward_store_open_checkpoints(c->store, name, &fd, err);
	if (r == 0) {
		r = ward_checkpoint_list_read(fd, notes);
		if (r < 0)
			(void)ward_err_sys(err, r, "checkpoints of %s", name);
	}
	if (r == 0)
		r = ward_store_open_log(c->store, name, ret, err);
	if (r == 0)
		audit_cmd_note_read(c, name);
	r = audit_cmd_gone(c, name ? name : c->session, r, err);
	if (r == 0)
		*ret_name = ward_steal_ptr(&name);
	return r;
}

static int make(struct audit_cmd *c, struct ward_buf *ret, struct ward_err *err)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_checkpoint_list_clear) struct ward_checkpoint_list notes = {0};
	ward_cleanup_free char *name = NULL;
	char *end = NULL;
	int r = open_trail(c, &name, &log, &notes, err);
	if (r < 0)
		return r;
	if (c->prove_file)
		return make_many(c, c->prove_file, name, log, &notes, ret, err);
	if (c->has_from)
		return ward_prove_consistency(log, &notes, c->from, c->size, ret, err);
	errno = 0;
	uint64_t seq = strtoull(c->object, &end, 10);
	if (errno || *end || c->object[0] < '1' || c->object[0] > '9')
		return ward_err_set(err, -EINVAL, "%s is no number of a record", c->object);
	return ward_prove_record(log, &notes, seq, c->size, ret, err);
}

static int put_out(const struct ward_buf *b, struct ward_err *err)
{
	if (fwrite(b->data, 1, b->len, stdout) != b->len || fflush(stdout) != 0)
		return ward_err_sys(err, -EIO, "stdout");
	return 0;
}

int audit_cmd_show_proofs(struct audit_cmd *c, const char *path, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = {.max = WARD_PROOFS_TEXT_MAX};
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_checkpoint_list_clear) struct ward_checkpoint_list notes = {0};
	ward_cleanup_free char *name = NULL;
	int r = open_trail(c, &name, &log, &notes, err);
	if (r == 0)
		r = make_many(c, path, name, log, &notes, &b, err);
	return r < 0 ? r : put_out(&b, err);
}

int audit_cmd_prove(struct audit_cmd *c, struct ward_err *err)
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
	return put_out(&b, err);
}
