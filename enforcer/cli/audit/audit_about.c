/* SPDX-License-Identifier: Apache-2.0 */
/* Tells what a session was from the first and the last record of its trail. */
#include "enforcer/cli/audit/audit_about.h"

#include <stdio.h>
#include <string.h>

#include "audit/export/report_words.h"
#include "audit/query/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"

static const json_t *detail(const json_t *record)
{
	return json_object_get(record, "detail");
}

static json_t *or_null(json_t *v)
{
	return v ? json_incref(v) : json_null();
}

void audit_about_json(json_t *o, const struct ward_session_ends *e)
{
	json_object_set_new(o, "project", or_null(json_object_get(detail(e->start), "project")));
	json_t *argv = json_object_get(detail(e->start), "argv");
	json_object_set_new(o, "command", or_null(json_is_array(argv) ? argv : NULL));
	/* Nobody took it. */
	if (json_is_string(argv))
		json_object_set(o, "prepared", json_true());
	json_object_set_new(o, "mode", or_null(json_object_get(detail(e->start), "mode")));
	json_object_set_new(o, "status", or_null(json_object_get(e->end, "status")));
	json_object_set_new(o, "signal", or_null(json_object_get(e->end, "signal")));
}

void audit_about_command(const struct ward_session_ends *e, struct ward_buf *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf words = WARD_BUF_INIT;
	const json_t *v = NULL;
	size_t i = 0;
	if (json_is_string(json_object_get(detail(e->start), "argv")))
		ward_buf_puts(&words, "(prepared, never taken)");
	json_array_foreach(json_object_get(detail(e->start), "argv"), i, v)
	{
		ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
		const char *text = json_string_value(v);
		if (!text || ward_unescape(&word, text, strlen(text)) < 0)
			continue;
		ward_buf_puts(&words, words.len ? " " : "");
		ward_shell_word(&words, ward_buf_str(&word));
	}
	ward_shown(ret, ward_buf_str(&words));
}

void audit_about_exit(const struct ward_session_ends *e, char *ret, size_t size)
{
	const json_t *status = json_object_get(e->end, "status");
	const json_t *signal = json_object_get(e->end, "signal");
	if (json_is_integer(signal))
		snprintf(ret, size, "signal %" JSON_INTEGER_FORMAT, json_integer_value(signal));
	else if (json_is_integer(status))
		snprintf(ret, size, "%" JSON_INTEGER_FORMAT, json_integer_value(status));
	else
		snprintf(ret, size, "-");
}

void audit_about_path(const struct ward_session_ends *e, const char *member, struct ward_buf *ret)
{
	const char *text = json_string_value(json_object_get(detail(e->start), member));
	if (text && ward_unescape(ret, text, strlen(text)) < 0)
		ward_buf_clear(ret);
}

void audit_about_column(struct ward_buf *b, const char *text, size_t columns)
{
	size_t n = 0, cut = 0;
	/* The bytes behind the first of a character have its top bits: 10. */
	for (const char *p = text; *p; p++)
		if (((unsigned char)*p & 0xc0) != 0x80 && n++ == columns - 1)
			cut = (size_t)(p - text);
	if (n <= columns)
		ward_buf_puts(b, text);
	else
		ward_buf_printf(b, "%.*s…", (int)cut, text);
	for (; n < columns; n++)
		ward_buf_puts(b, " ");
}

static void print_number(const char *before, const json_t *v)
{
	if (json_is_integer(v))
		ward_outf("%s%" JSON_INTEGER_FORMAT, before, json_integer_value(v));
}

static void print_who(const json_t *start)
{
	const char *owner = ward_query_text(start, "owner");
	if (!owner && !json_object_get(start, "owner_uid"))
		return;
	ward_outf("who        %s", owner ? owner : "?");
	print_number(" (uid ", json_object_get(start, "owner_uid"));
	ward_outf(json_is_integer(json_object_get(start, "owner_uid")) ? ")" : "");
	print_number(", started by uid ", json_object_get(start, "started_by"));
	print_number(", login uid ", json_object_get(start, "login_uid"));
	print_number(", audit session ", json_object_get(start, "audit_session"));
	ward_outf("\n");
}

static void print_labels(const json_t *labels)
{
	const char *key = NULL;
	json_t *v = NULL;
	const char *before = "labels     ";
	json_object_foreach((json_t *)(uintptr_t)labels, key, v)
	{
		ward_outf("%s%s=%s", before, key, json_is_string(v) ? json_string_value(v) : "?");
		before = " ";
	}
	if (json_object_size(labels))
		ward_outf("\n");
}

static void print_result(const struct ward_session_ends *e)
{
	char status[32];
	const char *cause = ward_query_text(e->end, "text");
	const char *by = ward_query_text(detail(e->end), "ended_by");
	audit_about_exit(e, status, sizeof(status));
	if (!e->end)
		ward_outf("result     none: the trail has no end, or the session runs\n");
	else
		ward_outf("result     %s%s%s%s%s%s\n",
			strncmp(status, "signal", 6) == 0 ? "" : "exit ", status, cause ? ": " : "",
			cause ? cause : "", by && strcmp(by, "exit") != 0 ? ", ended by " : "",
			by && strcmp(by, "exit") != 0 ? by : "");
}

void audit_about_print(
	const struct audit_cmd *c, const char *session, const struct ward_session_ends *e)
{
	const json_t *start = detail(e->start);
	const char *begun = ward_query_text(e->start, "time");
	const char *ended = ward_query_text(e->end, "time");
	const char *mode = ward_query_text(start, "mode");
	const char *policy = ward_query_text(e->start, "policy");
	const char *network = ward_query_text(json_object_get(start, "sandbox"), "network");
	ward_cleanup(ward_buf_clear) struct ward_buf command = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf project = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	audit_about_command(e, &command);
	audit_about_path(e, "project", &project);
	ward_outf("session    %s\n", session);
	if (begun)
		ward_outf("when       %.19sZ to %.19s%s\n", begun, ended ? ended : "?",
			ended ? "Z" : "");
	print_who(start);
	print_labels(json_object_get(start, "labels"));
	if (project.len)
		ward_outf("project    %s\n", ward_buf_str(&project));
	if (command.len)
		ward_outf("command    %s\n", ward_buf_str(&command));
	if (mode)
		ward_outf("mode       %s\n", mode);
	if (ward_report_mode_warns(mode))
		ward_outf("           In mode %s%s\n", mode, WARD_REPORT_COULD_CHANGE);
	if (network && strcmp(network, "none") == 0)
		ward_outf(
			"network    none: the kernel refuses every connection, and wardfs records "
			"no attempt\n");
	if (policy)
		ward_outf("policy     %.16s…  printed by wardfs audit%s policy %s\n", policy,
			c->system ? " --system" : "", ward_shell_quoted(&word, session));
	if (e->start)
		print_result(e);
	ward_outf("\n");
}
