/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit summary: what a session was, and what happened in it, in figures. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "audit/query/query.h"
#include "audit/query/summary.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/audit/audit_about.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_select.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/say.h"

/* Names a group. */
#define SUMMARY_LINES 10

static int compare_counts(const void *a, const void *b)
{
	const json_t *const *x = a;
	const json_t *const *y = b;
	json_int_t n = json_integer_value(json_array_get(*x, 1));
	json_int_t m = json_integer_value(json_array_get(*y, 1));
	return n < m ? 1 : n > m ? -1 : 0;
}

/* The names with the highest counts. */
static void print_counts(const char *title, json_t *counts)
{
	size_t n = json_object_size(counts);
	json_t **v = calloc(n ? n : 1, sizeof(json_t *));
	const char *name = NULL;
	json_t *count = NULL;
	size_t i = 0;
	if (!v)
		return;
	json_object_foreach(counts, name, count)
	{
		if (i < n)
			v[i++] = json_pack("[s,O]", name, count);
	}
	qsort(v, i, sizeof(json_t *), compare_counts);
	for (size_t k = 0; k < i; k++) {
		if (k < SUMMARY_LINES)
			ward_outf("%-10s %8" JSON_INTEGER_FORMAT "  %s\n", k == 0 ? title : "",
				json_integer_value(json_array_get(v[k], 1)),
				json_string_value(json_array_get(v[k], 0)));
		json_decref(v[k]);
	}
	if (i > SUMMARY_LINES)
		ward_outf("%-10s %8zu  more\n", "", i - SUMMARY_LINES);
	free(v);
}

static json_int_t figure(const json_t *o, const char *group, const char *name)
{
	return json_integer_value(json_object_get(json_object_get(o, group), name));
}

/* Where the kernel passed a file's bytes by the guard, the sums are what was seen at least. */
static void print_bytes(const json_t *o)
{
	const json_int_t unseen = figure(o, "bytes", "unseen");
	ward_outf("bytes      %8" JSON_INTEGER_FORMAT "  read, %" JSON_INTEGER_FORMAT " written",
		figure(o, "bytes", "read"), figure(o, "bytes", "written"));
	if (unseen > 0)
		ward_outf(", or more: wardfs did not see the bytes of %" JSON_INTEGER_FORMAT
			  " open file%s",
			unseen, ward_s((uint64_t)unseen));
	ward_outf("\n");
}

static void print_summary(const json_t *o)
{
	ward_outf("records    %8" JSON_INTEGER_FORMAT "  from %s to %s\n",
		json_integer_value(json_object_get(o, "records")), ward_query_text(o, "first"),
		ward_query_text(o, "last"));
	ward_outf("files      %8" JSON_INTEGER_FORMAT "  opened to read\n",
		figure(o, "files", "read"));
	ward_outf("           %8" JSON_INTEGER_FORMAT "  opened to write\n",
		figure(o, "files", "written"));
	ward_outf("           %8" JSON_INTEGER_FORMAT "  created\n", figure(o, "files", "created"));
	ward_outf("           %8" JSON_INTEGER_FORMAT "  removed\n", figure(o, "files", "removed"));
	ward_outf("           %8" JSON_INTEGER_FORMAT "  refused\n", figure(o, "files", "refused"));
	if (json_is_null(json_object_get(o, "bytes")))
		ward_outf(
			"bytes             -  a close tells neither process nor rule: leave those filters out\n");
	else
		print_bytes(o);
	print_counts("kinds", json_object_get(o, "kinds"));
	print_counts("programs", json_object_get(o, "programs"));
	print_counts("executed", json_object_get(o, "executed"));
	print_counts("refused by", json_object_get(json_object_get(o, "refusals"), "rules"));
	print_counts("hid", json_object_get(json_object_get(o, "refusals"), "hidden"));
}

static int run_summary(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(audit_selected_clear) struct audit_selected s = {0};
	ward_cleanup(ward_session_ends_clear) struct ward_session_ends ends = {0};
	json_t *o = NULL;
	int r = audit_trail_open(c, &name, &log, err);
	if (r == 0)
		r = ward_session_ends_read(log, &ends, err);
	if (r == 0)
		r = audit_select(c, name, log, &s, err);
	if (r == 0)
		r = ward_query_summary(log, s.sel, &o, err);
	if (r < 0)
		return r;
	bool none = json_integer_value(json_object_get(o, "records")) == 0;
	if (c->json) {
		json_t *about = json_object();
		audit_about_json(about, &ends);
		json_object_set_new(o, "session", json_string(name));
		json_object_set_new(o, "about", about);
		ward_print_json(json_incref(o));
	} else if (!none) {
		audit_about_print(c, name, &ends);
		print_summary(o);
	}
	json_decref(o);
	if (none && s.sel)
		ward_sayf("session %s has no such record", name);
	return audit_select_warn(c, name, log, s.indexed);
}

/* --- on the command line --- */

static const struct argp_option summary_options[] = {
	{"json", 'j', NULL, 0, "One JSON object", 0},
	{0},
};
const struct argp audit_summary_argp = {summary_options, audit_verb_parse, "[SESSION]",
	"Prints the totals of a session: files, bytes, records by kind, programs, refusals. "
	"SESSION is a name, its unique beginning, or latest (the default).\vExit status: 0; 1 the trail was changed, or a later one is missing; 2 "
	"usage; 125 the trail cannot be read.",
	audit_options_asked, NULL, NULL};
static const struct audit_verb summary_verb = {
	.name = "summary",
	.argp = &audit_summary_argp,
	.words = "s",
	.run = run_summary,
};

int ward_audit_cmd_summary(int argc, char **argv)
{
	return audit_verb_call(&summary_verb, argc, argv);
}
