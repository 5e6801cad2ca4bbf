/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit index, sql: brings the index up to date, and asks it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/index.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/audit/audit_index.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/audit/audit_left_out.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/say.h"

static int run_index(struct audit_cmd *c, struct ward_err *err)
{
	struct ward_index_result res = {0};
	int r = audit_index_update(c, c->rebuild, &res, err);
	if (r < 0)
		return r;
	if (c->json)
		ward_outf("{\"sessions\": %" PRIu64 ", \"records\": %" PRIu64
			  ", \"added\": %" PRIu64 "}\n",
			res.sessions, res.records, res.added);
	else
		ward_outf("%" PRIu64 " session%s, %" PRIu64 " record%s, %" PRIu64 " of them new\n",
			res.sessions, ward_s(res.sessions), res.records, ward_s(res.records),
			res.added);
	return 0;
}

struct rows {
	bool json;
	uint64_t n;
};

static int print_row(
	void *ctx, int n, const char *const *names, const char *const *values, const bool *numbers)
{
	struct rows *rows = ctx;
	if (rows->json) {
		json_t *o = json_object();
		for (int i = 0; i < n; i++) {
			json_t *v = !values[i] ? json_null()
				    : numbers[i] && !strpbrk(values[i], ".eEnN")
					    ? json_integer(strtoll(values[i], NULL, 10))
					    : json_string(values[i]);
			json_object_set_new(o, names[i], v ? v : json_null());
		}
		ward_outf(rows->n ? ",\n" : "");
		ward_put_json(o, JSON_COMPACT);
		json_decref(o);
	} else {
		for (int i = 0; rows->n == 0 && i < n; i++)
			ward_outf(i + 1 < n ? "%s\t" : "%s\n", names[i]);
		for (int i = 0; i < n; i++) {
			ward_outf("%s", values[i] ? values[i] : "");
			ward_outf(i + 1 < n ? "\t" : "\n");
		}
	}
	rows->n++;
	return 0;
}

static int run_sql(struct audit_cmd *c, struct ward_err *err)
{
	struct ward_index_result res = {0};
	struct rows rows = {.json = c->json};
	ward_cleanup(audit_left_out_clear) struct audit_left_out left = {0};
	int r = audit_index_update(c, false, &res, err);
	if (r < 0)
		return r;
	audit_ledger_note_question(c, c->object);
	if (c->json)
		ward_outf("[\n");
	r = ward_index_query(c->store, c->object, print_row, &rows, err);
	if (c->json)
		ward_outf("\n]\n");
	if (r == 0 && ward_out_flush() < 0)
		r = ward_err_sys(err, -EIO, "stdout");
	if (r == 0)
		r = audit_left_out_indexed(c, true, NULL, &left, err);
	return r == 0 ? audit_left_out_say(&left, err) : r;
}

/* --- on the command line --- */

static const struct argp_option index_options[] = {
	{"json", 'j', NULL, 0, "One JSON object", 0},
	{"rebuild", AUDIT_OPTION_REBUILD, NULL, 0, "Build the index from nothing", 0},
	{0},
};
const struct argp audit_index_argp = {index_options, audit_verb_parse, NULL,
	"Brings the index over all trails up to date.\vExit status: 0; 2 usage; 125 a trail "
	"cannot be read.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb index_verb = {
	.name = "index",
	.argp = &audit_index_argp,
	.words = "",
	.fills = true,
	.run = run_index,
};

int ward_audit_cmd_index(int argc, char **argv)
{
	return audit_verb_call(&index_verb, argc, argv);
}

static const struct argp_option sql_options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects", 0},
	{0},
};
const struct argp audit_sql_argp = {sql_options, audit_verb_parse, "QUERY",
	"Brings the index over all trails up to date and answers a SELECT about "
	"records(session, seq, at, time, kind, verdict, action, path, path2, pid, process, "
	"parent, comm, rule, errno, read, written, host, addr, port, proto, sent, received, "
	"duration, login, audit_session), sessions(session, started, verb, mode, project, owner, "
	"agent, login, audit_session, records) and labels(session, key, value). "
	"Without ORDER BY, rows come session by session, and a session's policies and probes after "
	"the rest. For example: wardfs audit sql \"SELECT time, kind, verdict, path FROM records "
	"WHERE verdict = 'deny'\"Exit status: 0, 2 for wrong use, 125 if "
	"it could not be read.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb sql_verb = {
	.name = "sql",
	.argp = &audit_sql_argp,
	.words = "o",
	.need = 1,
	.lacks = "a question is needed",
	.fills = true,
	.run = run_sql,
};

int ward_audit_cmd_sql(int argc, char **argv)
{
	return audit_verb_call(&sql_verb, argc, argv);
}
