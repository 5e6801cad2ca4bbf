/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit diff: what only one of two sessions did. */

#include "audit/query/query.h"
#include "audit/query/session_diff.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_select.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/say.h"

static int collect(struct audit_cmd *c, const char *session, char **ret_name, json_t **ret,
	bool *damaged, struct ward_err *err)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(audit_selected_clear) struct audit_selected s = {0};
	c->session = session;
	int r = audit_trail_open(c, ret_name, &log, err);
	if (r == 0)
		r = audit_select(c, *ret_name, log, &s, err);
	if (r == 0)
		r = ward_diff_collect(log, s.sel, ret, err);
	if (r == 0 && audit_select_warn(c, *ret_name, log, s.indexed))
		*damaged = true;
	return r;
}

static void print(const char *first, const char *second, const json_t *diff)
{
	size_t i = 0;
	json_t *d = NULL;
	ward_outf("- %s\n+ %s\n", first, second);
	json_array_foreach(diff, i, d)
	{
		json_int_t n = json_integer_value(json_object_get(d, "count"));
		ward_outf("%c %s  %s",
			json_integer_value(json_object_get(d, "only")) == 1 ? '-' : '+',
			ward_query_text(d, "path"), ward_query_text(d, "verb"));
		if (n > 1)
			ward_outf(" %" JSON_INTEGER_FORMAT "x", n);
		ward_outf("\n");
	}
}

static int run_diff(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup_free char *first = NULL;
	ward_cleanup_free char *second = NULL;
	json_t *a = NULL;
	json_t *b = NULL;
	json_t *diff = NULL;
	bool damaged = false;
	const char *other = c->session;
	int r = collect(c, c->object, &first, &a, &damaged, err);
	if (r == 0)
		r = collect(c, other, &second, &b, &damaged, err);
	if (r == 0)
		r = ward_diff_compare(a, b, &diff, err);
	/* Else it would look as if they did the same. */
	if (r == 0 && json_object_size(a) + json_object_size(b) == 0)
		ward_sayf("neither %s nor %s has %srecord of a file", first, second,
			ward_filter_empty(&c->filter.f) ? "a " : "such a ");
	json_decref(a);
	json_decref(b);
	if (r < 0)
		return r;
	if (c->json) {
		ward_print_json(json_incref(diff));
	} else {
		print(first, second, diff);
	}
	r = damaged || json_array_size(diff) > 0;
	json_decref(diff);
	return r;
}

/* --- on the command line --- */

static const struct argp_option diff_options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects", 0},
	{0},
};
const struct argp audit_diff_argp = {diff_options, audit_verb_parse, "SESSION SESSION",
	"Compares two sessions: for each file, what only one of them did to it.\vExit status: 0 "
	"no difference; 1 differences, or a trail was changed; 2 usage; 125 a trail cannot be read.",
	audit_options_asked, NULL, NULL};
static const struct audit_verb diff_verb = {
	.name = "diff",
	.argp = &audit_diff_argp,
	.words = "os",
	.need = 2,
	.lacks = "two sessions are needed",
	.run = run_diff,
};

int ward_audit_cmd_diff(int argc, char **argv)
{
	return audit_verb_call(&diff_verb, argc, argv);
}
