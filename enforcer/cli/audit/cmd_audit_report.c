/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit report: a session on one page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/export/report.h"
#include "audit/export/report_reviews.h"
#include "audit/query/parse.h"
#include "audit/verify/verify_reviews.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_output.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/say.h"

static int put_json(struct ward_buf *b, const json_t *report)
{
	char *text = ward_json_ascii(report, JSON_INDENT(1));
	if (!text)
		return -ENOMEM;
	ward_buf_puts(b, text);
	ward_buf_putc(b, '\n');
	free(text);
	return 0;
}

/* As `verify`: what lies beside the trail counts, too, and what came of reviews is told from it. */
static int collect(struct audit_cmd *c, const char *name, struct ward_log *log,
	struct audit_verified *v, json_t **ret, struct ward_err *err)
{
	const struct ward_ledger_session *s = ward_ledger_view_find(&v->ledger, name);
	ward_cleanup_fd int dir = -1;
	int r = ward_store_open_session(c->store, name, &dir, err);
	if (r == 0)
		r = ward_verify_reviews(dir, s, &v->result, err);
	if (r == 0)
		r = ward_report_collect(log, name, &v->result, ret, err);
	return r == 0 ? ward_report_reviews(*ret, dir, s, err) : r;
}

static int run_report(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(audit_verified_clear) struct audit_verified v = {0};
	json_t *report = NULL;
	const char *format = c->format ? c->format : "html";
	if (strcmp(format, "html") != 0 && strcmp(format, "md") != 0 &&
		strcmp(format, "json") != 0) {
		ward_sayf("audit: a report is html, md or json, not %s", format);
		return 2;
	}
	int r = audit_trail_open(c, &name, &log, err);
	if (r == 0)
		r = audit_trail_verify(c, name, log, &v, err);
	if (r == 0)
		r = collect(c, name, log, &v, &report, err);
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
	if (r < 0)
		return ward_err_sys(err, r, "report");
	r = audit_output_write(c, c->output, &b, err);
	return r < 0 ? r : audit_trail_say(&v.result);
}

/* --- on the command line --- */

static const struct argp_option report_options[] = {
	{"format", AUDIT_OPTION_FORMAT, "FORMAT", 0, "html (the default), md or json", 0},
	{"output", 'o', "FILE", 0, "Into this new file (default: stdout)", 0},
	AUDIT_OUTPUT_FORCE,
	{0},
};
const struct argp audit_report_argp = {report_options, audit_verb_parse, "[SESSION]",
	"Writes a report about a session: what it did, what was refused, and whether the trail "
	"is complete. SESSION is a name, its unique beginning, or latest (the default).\vExit "
	"status: 0; 1 the trail was changed, or a later one is missing; 2 usage; 125 the trail cannot be read.",
	audit_options_sessions, NULL, NULL};
static const struct audit_verb report_verb = {
	.name = "report",
	.argp = &audit_report_argp,
	.words = "s",
	.run = run_report,
};

int ward_audit_cmd_report(int argc, char **argv)
{
	return audit_verb_call(&report_verb, argc, argv);
}
