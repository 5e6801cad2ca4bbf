/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit report */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/chain.h"
#include "audit/report.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/cli/cmd_audit.h"
#include "enforcer/cli/output.h"
#include "enforcer/cli/say.h"

static int verify(struct audit_cmd *c, const char *name, struct ward_log *log,
	struct ward_verify_result *ret, struct ward_err *err)
{
	ward_cleanup(ward_checkpoint_list_clear) struct ward_checkpoint_list notes = {0};
	ward_cleanup_fd int notes_fd = -1;
	struct ward_ledger_view ledger = {0};
	uint8_t root[WARD_KEY_BYTES];
	int r = ward_store_open_checkpoints(c->store, name, &notes_fd, err);
	if (r == 0)
		r = ward_checkpoint_list_read(notes_fd, &notes);
	if (r == 0 || r == -ENOENT)
		r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = audit_cmd_ledger(c, root, &ledger, err);
	if (r == 0)
		r = ward_verify_trail(
			log, name, root, ward_ledger_view_find(&ledger, name), &notes, ret, err);
	ward_ledger_view_free(&ledger);
	ward_chain_wipe(root, sizeof(root));
	return r;
}

static int put_json(struct ward_buf *b, const json_t *report)
{
	char *text = json_dumps(report, JSON_INDENT(1) | JSON_ENSURE_ASCII);
	if (!text)
		return -ENOMEM;
	ward_buf_puts(b, text);
	ward_buf_putc(b, '\n');
	free(text);
	return 0;
}

int audit_cmd_write_out(const struct audit_cmd *c, const struct ward_buf *b, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	if (c->output) {
		int o = ward_output_open(c->output, 0644, true, &fd, err);
		if (o < 0)
			return o;
	}
	int r = ward_fd_write_all(fd < 0 ? STDOUT_FILENO : fd, b->data, b->len);
	return r < 0 ? ward_err_sys(err, r, "%s", c->output ? c->output : "stdout") : 0;
}

int audit_cmd_report(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	struct ward_verify_result res = {0};
	json_t *report = NULL;
	const char *format = c->format ? c->format : "html";
	if (strcmp(format, "html") != 0 && strcmp(format, "md") != 0 &&
		strcmp(format, "json") != 0) {
		ward_sayf("audit: a report is html, md or json, not %s", format);
		return 2;
	}
	int r = audit_cmd_open(c, &name, &log, err);
	if (r == 0)
		r = verify(c, name, log, &res, err);
	if (r == 0)
		r = ward_report_collect(log, name, &res, &report, err);
	if (r < 0)
		return r;
	if (format[0] == 'h')
		ward_report_html(&b, report);
	else if (format[0] == 'm')
		ward_report_markdown(&b, report);
	else
		r = put_json(&b, report);
	json_decref(report);
	if (r == 0)
		r = ward_buf_error(&b);
	return r < 0 ? ward_err_sys(err, r, "report") : audit_cmd_write_out(c, &b, err);
}
