/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit prove */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/proof.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/cli/cmd_audit.h"
#include "enforcer/cli/say.h"

/* All records of a file, under all its names. */
static int make_file(struct audit_cmd *c, struct ward_log *log,
	const struct ward_checkpoint_list *notes, struct ward_buf *ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	struct ward_file_names *names = NULL;
	size_t n = 0;
	audit_cmd_inside(c->prove_file, &path);
	int r = ward_buf_error(&path);
	if (r < 0)
		return ward_err_sys(err, r, "proof");
	r = ward_file_names_find(log, ward_buf_str(&path), &names, err);
	if (r == 0)
		r = ward_prove_file(log, notes, names, c->size, ret, &n, err);
	for (size_t i = 1; r == 0 && ward_file_names_get(names, i); i++)
		if (!ward_file_names_elsewhere(names, i))
			ward_sayf("it was %s as well", ward_file_names_get(names, i));
	if (r == 0)
		ward_sayf("%zu records of %s", n, ward_buf_str(&path));
	ward_file_names_free(names);
	return r;
}

static int make(struct audit_cmd *c, struct ward_buf *ret, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup_fd int fd = -1;
	ward_cleanup(ward_checkpoint_list_clear) struct ward_checkpoint_list notes = {0};
	char *end = NULL;
	int r = ward_store_find(c->store, c->session, &name, err);
	if (r == 0)
		r = ward_store_open_checkpoints(c->store, name, &fd, err);
	if (r == 0) {
		r = ward_checkpoint_list_read(fd, &notes);
		if (r < 0)
			(void)ward_err_sys(err, r, "checkpoints of %s", name);
	}
	if (r == 0)
		r = ward_store_open_log(c->store, name, &log, err);
	if (r < 0)
		return r;
	audit_cmd_note_read(c, name);
	if (c->prove_file)
		return make_file(c, log, &notes, ret, err);
	if (c->has_from)
		return ward_prove_consistency(log, &notes, c->from, c->size, ret, err);
	errno = 0;
	uint64_t seq = strtoull(c->object, &end, 10);
	if (errno || *end || c->object[0] < '1' || c->object[0] > '9')
		return ward_err_set(err, -EINVAL, "%s is no number of a record", c->object);
	return ward_prove_record(log, &notes, seq, c->size, ret, err);
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
	if (fwrite(b.data, 1, b.len, stdout) != b.len || fflush(stdout) != 0)
		return ward_err_sys(err, -EIO, "stdout");
	return 0;
}
