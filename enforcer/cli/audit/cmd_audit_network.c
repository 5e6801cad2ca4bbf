/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit network: what left a session, or all of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/traffic.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/audit/audit_index.h"
#include "enforcer/cli/audit/audit_labels.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/audit/audit_left_out.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_print.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/say.h"

/* By the tables: the view begins with all records. */
static const char question[] =
	"SELECT session.name AS session, strftime('%Y-%m-%dT%H:%M:%S', time / 1000000000,"
	" 'unixepoch') || printf('.%09dZ', time % 1000000000) AS time, k.text AS kind,"
	" a.text AS action, h.text AS host, d.text AS addr, port, p.text AS proto, c.text AS comm,"
	" v.text AS via, r.text AS rule, sent, received, duration FROM net JOIN record ON"
	" record.session = net.session AND record.seq = net.seq JOIN session ON"
	" session.id = net.session LEFT JOIN word k ON k.id = kind LEFT JOIN word a ON"
	" a.id = action LEFT JOIN word h ON h.id = host LEFT JOIN word d ON d.id = addr"
	" LEFT JOIN word p ON p.id = proto LEFT JOIN word v ON v.id = via LEFT JOIN word c ON c.id = comm LEFT JOIN word r ON"
	" r.id = rule WHERE k.text IN ('connect', 'deny') ORDER BY session.name, net.seq";

struct asking {
	struct audit_cmd *c;
	struct ward_traffic *n;
	char session[WARD_SESSION_NAME_MAX + 1]; /* the one at hand */
	bool wanted;				 /* it has the labels */
};

/* A row of the index is a record again, with what this asks about. */
static int take_row(
	void *ctx, int n, const char *const *names, const char *const *values, const bool *numbers)
{
	struct asking *a = ctx;
	const char *session = values[0] ? values[0] : "?";
	/* Rows come session by session. */
	if (strcmp(session, a->session) != 0) {
		snprintf(a->session, sizeof(a->session), "%s", session);
		a->wanted = audit_labels_match(a->c, session);
	}
	if (!a->wanted)
		return 0;
	json_t *rec = json_object();
	for (int i = 1; rec && i < n; i++)
		if (values[i])
			json_object_set_new(rec, names[i],
				numbers[i] ? json_integer(strtoll(values[i], NULL, 10))
					   : json_string(values[i]));
	int r = rec ? ward_traffic_take(a->n, session, rec) : -ENOMEM;
	json_decref(rec);
	return r;
}

static int ask_all(struct audit_cmd *c, struct ward_traffic *n, struct audit_left_out *left,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf said = WARD_BUF_INIT;
	struct ward_index_result res = {0};
	struct ward_err none = WARD_ERR_INIT;
	ward_buf_printf(&said, "%s%s%s%s%s%s", c->host ? "--host " : "", c->host ? c->host : "",
		c->since ? " --since " : "", c->since ? c->since : "", c->until ? " --until " : "",
		c->until ? c->until : "");
	int r = audit_index_update(c, false, &res, &none);
	/* Another user's, who keeps it: as it stands. */
	if (r < 0 && r != -EPERM) {
		*err = none;
		return r;
	}
	audit_ledger_note_question(c, ward_buf_str(&said));
	struct asking a = {.c = c, .n = n};
	r = ward_index_query(c->store, question, take_row, &a, err);
	return r == 0 ? audit_left_out_indexed(c, true, NULL, left, err) : r;
}

/* *ret_damaged: the exit status if the trail is damaged, 0 otherwise. */
static int ask_one(
	struct audit_cmd *c, struct ward_traffic *n, int *ret_damaged, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	int r = audit_trail_open(c, &name, &log, err);
	if (r == 0)
		r = ward_traffic_read(n, name, log, err);
	if (r == 0)
		*ret_damaged = audit_trail_warn(c, name, log);
	return r;
}

static void print_number(const json_t *row, const char *member)
{
	const json_t *v = json_object_get(row, member);
	if (json_is_integer(v))
		ward_outf(" %10" JSON_INTEGER_FORMAT, json_integer_value(v));
	else
		ward_outf(" %10s", "-");
}

static void print(const struct ward_traffic *n)
{
	size_t i = 0;
	const json_t *row = NULL;
	ward_outf("%-30s %-8s %-3s %6s %10s %10s  %-15s %s\n", "SESSION", "DECISION", "WAY",
		"TIMES", "SENT", "RECEIVED", "PROGRAM", "DESTINATION");
	json_array_foreach(n->rows, i, row)
	{
		const char *host = json_string_value(json_object_get(row, "host"));
		const char *addr = json_string_value(json_object_get(row, "addr"));
		const char *comm = json_string_value(json_object_get(row, "comm"));
		const char *proto = json_string_value(json_object_get(row, "proto"));
		const json_t *port = json_object_get(row, "port");
		ward_outf("%-30s %-8s %-3s %6" JSON_INTEGER_FORMAT,
			json_string_value(json_object_get(row, "session")),
			json_string_value(json_object_get(row, "decision")),
			json_string_value(json_object_get(row, "direction")),
			json_integer_value(json_object_get(row, "times")));
		print_number(row, "sent");
		print_number(row, "received");
		ward_outf("  %-15s %s", comm ? comm : "-", host ? host : addr ? addr : "-");
		if (json_is_integer(port))
			ward_outf(":%" JSON_INTEGER_FORMAT, json_integer_value(port));
		ward_outf("%s%s%s%s", proto ? " " : "", proto ? proto : "",
			host && addr ? " at " : "", host && addr ? addr : "");
		audit_print_text(" via ", json_string_value(json_object_get(row, "via")), "");
		ward_outf("\n");
	}
}

/* An empty answer is a different one where no attempt leaves a record. */
static void say_nothing(
	const struct audit_cmd *c, const struct ward_traffic *n, const struct audit_left_out *left)
{
	const char *in = left->n_lost ? "in the trails that wardfs could read, " : "";
	if (!c->session)
		ward_sayf(
			"%sno connection or attempt is recorded; sessions without a network ([network] mode = none) record none",
			in);
	else if (n->unrecorded)
		ward_say(
			"this session had no network ([network] mode = none): the kernel refuses each connection, and no attempt is recorded");
	else
		ward_say("no connection or attempt is recorded");
}

static int run_network(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup(ward_traffic_clear) struct ward_traffic n = {.host = c->host,
		.since = c->since ? c->since_time : NULL,
		.until = c->until ? c->until_time : NULL};
	ward_cleanup(audit_left_out_clear) struct audit_left_out left = {0};
	int damaged = 0;
	int r = c->session ? ask_one(c, &n, &damaged, err) : ask_all(c, &n, &left, err);
	if (r < 0)
		return r;
	if (c->json)
		ward_print_json(n.rows ? json_incref(n.rows) : json_array());
	else if (n.rows)
		print(&n);
	if (!n.rows)
		say_nothing(c, &n, &left);
	if (ward_out_flush() < 0)
		return ward_err_sys(err, -EIO, "stdout");
	if (n.not_listed)
		ward_sayf("%" JSON_INTEGER_FORMAT " more connections are not listed", n.not_listed);
	if (!c->session)
		ward_say(
			"found in the index; these trails were not verified: 'wardfs audit verify --all' verifies them");
	r = audit_left_out_say(&left, err);
	return r < 0 ? r : damaged;
}

/* --- on the command line --- */

static const struct argp_option network_options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects", 0},
	{"host", AUDIT_OPTION_HOST, "NAME", 0,
		"Only this name or address, or a pattern with '*' or '?'", 0},
	{"since", AUDIT_OPTION_SINCE, "TIME", 0,
		"Only records from TIME on. TIME is as for --since of audit show", 0},
	{"until", AUDIT_OPTION_UNTIL, "TIME", 0,
		"Only records up to and including that second, minute or day", 0},
	{0},
};
const struct argp audit_network_argp = {network_options, audit_verb_parse, "[SESSION]",
	"Lists connections to other hosts, connections from this host to published ports, and "
	"refused ones: direction, program, destination, bytes and decision. Without SESSION it "
	"answers for all sessions from the index. SESSION is a name, its unique beginning, or "
	"latest.\vExit status: 0; 1 the trail of SESSION was changed; 2 usage; 125 a trail cannot be read.",
	audit_options_sessions, NULL, NULL};
static const struct audit_verb network_verb = {
	.name = "network",
	.lists = true,
	.argp = &audit_network_argp,
	.words = "s",
	.fills = true,
	.run = run_network,
};

int ward_audit_cmd_network(int argc, char **argv)
{
	return audit_verb_call(&network_verb, argc, argv);
}
