/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit approvals: who allowed what, for how long, having seen what, and what used it. */
#include <errno.h>
#include <inttypes.h>

#include "audit/query/approvals.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/audit/audit_labels.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_print.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/say.h"

static void line(const char *label, const char *text)
{
	if (text && *text)
		ward_outf("    %-8s %s\n", label, text);
}

static void print_row(const json_t *row)
{
	audit_print_text("", ward_query_text(row, "time"), "  ");
	audit_print_text("", ward_query_text(row, "session"), "  ");
	audit_print_text("", ward_query_text(row, "result"), "  ");
	audit_print_text("", ward_query_text(row, "what"), "");
	ward_outf("\n");
	line("who:", ward_query_text(row, "who"));
	if (ward_query_text(row, "request"))
		line("asked:", ward_query_text(row, "saw"));
	line("shown:", ward_query_text(row, "shown"));
	line("reason:", ward_query_text(row, "text"));
	line("gave:", ward_query_text(row, "lasts"));
	line("used by:", ward_query_text(row, "used"));
}

static int add(const struct audit_cmd *c, struct ward_log *log, json_t *all, struct ward_err *err)
{
	json_t *rows = NULL;
	int r = ward_approvals_read(log, &c->filter.f, &rows, err);
	if (r == 0 && json_array_extend(all, rows) < 0)
		r = ward_err_sys(err, -ENOMEM, "approvals");
	json_decref(rows);
	return r;
}

/* *ret_damaged: the exit status if the trail is damaged, 0 otherwise. */
static int of_one(struct audit_cmd *c, json_t *all, int *ret_damaged, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	int r = audit_trail_open(c, &name, &log, err);
	if (r == 0)
		r = add(c, log, all, err);
	if (r == 0)
		*ret_damaged = audit_trail_warn(c, name, log);
	return r;
}

static int of_all(struct audit_cmd *c, json_t *all, uint64_t *ret_unread, struct ward_err *err)
{
	struct ward_store_names names = {0};
	audit_ledger_note_question(c, ward_buf_str(&c->filter.said));
	int r = ward_store_list(c->store, &names, err);
	for (size_t i = 0; r == 0 && i < names.n; i++) {
		ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
		struct ward_err why = WARD_ERR_INIT;
		if (!audit_labels_match(c, names.v[i]))
			continue;
		r = ward_store_open_log(c->store, names.v[i], &log, &why);
		if (r == 0)
			r = add(c, log, all, &why);
		/* A session that has not begun has no trail. */
		*ret_unread += r < 0 && r != -ENOENT && r != -ENOMEM;
		r = r == -ENOMEM ? ward_err_sys(err, r, "approvals") : 0;
	}
	ward_store_names_free(&names);
	return r;
}

static int run_approvals(struct audit_cmd *c, struct ward_err *err)
{
	json_t *all = json_array();
	uint64_t unread = 0;
	int damaged = 0;
	size_t i = 0;
	const json_t *row = NULL;
	int r = !all	     ? ward_err_sys(err, -ENOMEM, "approvals")
		: c->session ? of_one(c, all, &damaged, err)
			     : of_all(c, all, &unread, err);
	if (r == 0 && c->json)
		ward_print_json(json_incref(all));
	else if (r == 0)
		json_array_foreach(all, i, row) print_row(row);
	if (r == 0 && !c->json)
		ward_outf(i ? "\n" : "");
	if (r == 0 && !c->json)
		ward_outf("%zu question%s and grant%s\n", i, ward_s(i), ward_s(i));
	json_decref(all);
	if (r == 0 && ward_out_flush() < 0)
		r = ward_err_sys(err, -EIO, "stdout");
	if (r == 0 && !c->session)
		ward_say(
			"these trails were not verified; 'wardfs audit verify --all' verifies them");
	if (r == 0 && unread)
		r = ward_err_set(
			err, -EIO, "%" PRIu64 " trail%s could not be read", unread, ward_s(unread));
	return r < 0 ? r : damaged;
}

/* --- on the command line --- */

static const struct argp_option approvals_options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects", 0},
	{"since", AUDIT_FILTER_SINCE, "TIME", 0,
		"Only what was decided at TIME or later. TIME is as for --since of audit show", 0},
	{"until", AUDIT_FILTER_UNTIL, "TIME", 0, "Only what was decided at TIME or earlier", 0},
	{0},
};
const struct argp audit_approvals_argp = {approvals_options, audit_verb_parse, "[SESSION]",
	"Lists each question that was put to a person and each grant: what was allowed or refused, "
	"by whom, for how long, what that person had been shown, and which accesses used it. "
	"Without SESSION it answers for all sessions. SESSION is a name, its unique beginning, or "
	"latest.\vExit status: 0; 1 the trail of SESSION was changed; 2 usage; 125 a trail cannot be read.",
	audit_options_sessions, NULL, NULL};
static const struct audit_verb approvals_verb = {
	.name = "approvals",
	.lists = true,
	.argp = &audit_approvals_argp,
	.words = "s",
	.run = run_approvals,
};

int ward_audit_cmd_approvals(int argc, char **argv)
{
	return audit_verb_call(&approvals_verb, argc, argv);
}
