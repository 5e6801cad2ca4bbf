/* SPDX-License-Identifier: Apache-2.0 */
/* Says in plain sentences what a session did, for the top of a report. */
#include "audit/export/report_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "audit/export/report_facts.h"
#include "audit/query/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"

/* Arguments are named whole, until they have more bytes than this together. */
#define COMMAND_MAX 120
/* So many places are named in a sentence; the table has all. */
#define PLACES_MAX 4

struct words {
	struct ward_buf *b;
	const struct ward_report_style *style;
	const json_t *report;
};

static void say(const struct words *w, const char *text)
{
	w->style->text(w->b, text);
}

static json_int_t number(const json_t *o, const char *member)
{
	return json_integer_value(json_object_get(o, member));
}

/* "1 file", "2 files", "no file". */
static void say_count(const struct words *w, json_int_t n, const char *what, const char *plural)
{
	char text[96];
	if (n == 0)
		snprintf(text, sizeof(text), "no %s", what);
	else
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT " %s%s", n, what,
			n == 1 ? "" : plural);
	say(w, text);
}

/* "23 November 2026" and "01:49" of a time. False: the text is no time (an edited trail). */
static bool split_time(const char *time, char day[32], char clock[8])
{
	static const char *const months[] = {"January", "February", "March", "April", "May", "June",
		"July", "August", "September", "October", "November", "December"};
	unsigned y = 0;
	unsigned m = 0;
	unsigned d = 0;
	unsigned h = 0;
	unsigned min = 0;
	if (!time || sscanf(time, "%4u-%2u-%2uT%2u:%2u:", &y, &m, &d, &h, &min) != 5 || m < 1 ||
		m > 12)
		return false;
	snprintf(day, 32, "%u %s %u", d, months[m - 1], y);
	snprintf(clock, 8, "%02u:%02u", h % 100, min % 100);
	return true;
}

static void say_when(const struct words *w)
{
	const json_t *summary = json_object_get(w->report, "summary");
	char day[2][32];
	char clock[2][8];
	char text[160];
	if (!split_time(ward_query_text(summary, "first"), day[0], clock[0]) ||
		!split_time(ward_query_text(summary, "last"), day[1], clock[1])) {
		say(w, "At a time that the trail does not tell, ");
		return;
	}
	if (strcmp(day[0], day[1]) != 0)
		snprintf(text, sizeof(text), "From %s, %s, to %s, %s UTC, ", day[0], clock[0],
			day[1], clock[1]);
	else if (strcmp(clock[0], clock[1]) != 0)
		snprintf(text, sizeof(text), "On %s from %s to %s UTC, ", day[0], clock[0],
			clock[1]);
	else
		snprintf(text, sizeof(text), "On %s at %s UTC, ", day[0], clock[0]);
	say(w, text);
}

static void say_command(const struct words *w, const json_t *start)
{
	ward_cleanup(ward_buf_clear) struct ward_buf argv = WARD_BUF_INIT;
	size_t i = 0;
	json_t *v = NULL;
	json_array_foreach(json_object_get(start, "argv"), i, v)
	{
		if (i > 0 && argv.len + json_string_length(v) > COMMAND_MAX) {
			ward_buf_puts(&argv, " …");
			break;
		}
		ward_buf_puts(&argv, i ? " " : "");
		ward_shell_word(&argv, json_is_string(v) ? json_string_value(v) : "?");
	}
	if (argv.len)
		w->style->name(w->b, ward_buf_str(&argv));
	else
		say(w, "a command that the trail does not name");
}

/* Whose rules decided: `under` of the report. */
static void say_policy(const struct words *w)
{
	const json_t *under = json_object_get(w->report, "under");
	const char *base = ward_query_text(under, "base");
	const char *profile = ward_query_text(under, "profile");
	/* A profile by itself is the base; a file has a whole path. */
	if (base && !strchr(base, '/')) {
		profile = base;
		base = NULL;
	}
	if (!base && !profile)
		return;
	say(w, base ? " under the policy " : " under the profile ");
	w->style->name(w->b, base ? base : profile);
	if (base && profile) {
		say(w, ", which extends ");
		w->style->name(w->b, profile);
	}
}

static void say_who(const struct words *w)
{
	const json_t *start = json_object_get(w->report, "start");
	const char *owner = ward_query_text(start, "owner");
	const char *project = ward_query_text(start, "project");
	const char *mode = ward_query_text(start, "mode");
	if (owner)
		w->style->name(w->b, owner);
	else
		say(w, "somebody");
	say(w, " ran ");
	say_command(w, start);
	if (project) {
		say(w, " in ");
		w->style->name(w->b, project);
	}
	say_policy(w);
	if (mode) {
		say(w, ", in mode ");
		w->style->name(w->b, mode);
	}
	say(w, ". ");
}

/* The places that the counts cover: wardfs records nothing of the others. */
static void say_unrecorded(const struct words *w)
{
	ward_cleanup(ward_buf_clear) struct ward_buf yes = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf no = WARD_BUF_INIT;
	const size_t n = ward_report_places(&no, w->report, false, PLACES_MAX);
	if (n == 0)
		return;
	if (ward_report_places(&yes, w->report, true, 0) > 0) {
		say(w, "These counts cover only ");
		w->style->name(w->b, ward_buf_str(&yes));
		say(w, ". ");
	}
	say(w, "wardfs does not record which files were read or changed in ");
	w->style->name(w->b, ward_buf_str(&no));
	if (n > PLACES_MAX) {
		say(w, " and in ");
		say_count(w, (json_int_t)(n - PLACES_MAX), "more place", "s");
	}
	say(w, ". ");
}

static void say_files(const struct words *w)
{
	const json_t *files = json_object_get(json_object_get(w->report, "summary"), "files");
	say(w, "It opened ");
	say_count(w, number(files, "read"), "file", "s");
	say(w, " to read and ");
	say_count(w, number(files, "written"), "file", "s");
	say(w, " to write, created ");
	say_count(w, number(files, "created"), "name", "s");
	say(w, " and removed ");
	say_count(w, number(files, "removed"), "name", "s");
	say(w, ". ");
	say_unrecorded(w);
}

static void say_network(const struct words *w)
{
	const char *network = ward_query_text(
		json_object_get(json_object_get(w->report, "start"), "sandbox"), "network");
	json_int_t made = 0;
	size_t i = 0;
	json_t *row = NULL;
	if (network && strcmp(network, "none") == 0) {
		say(w, ward_report_no_network(w->report));
		say(w, " ");
		return;
	}
	json_array_foreach(json_object_get(w->report, "network"), i, row)
	{
		const char *decision = ward_query_text(row, "decision");
		if (decision && strcmp(decision, "allowed") == 0)
			made += number(row, "times");
	}
	say(w, "It made ");
	say_count(w, made, "network connection", "s");
	say(w, ". ");
}

static void say_refusals(const struct words *w)
{
	const json_t *refusals = json_object_get(json_object_get(w->report, "summary"), "refusals");
	const json_int_t n = number(refusals, "count");
	const json_int_t expected = number(refusals, "expected");
	char text[64];
	if (n == 0) {
		say(w, "Nothing was refused. ");
		return;
	}
	say_count(w, n, "access", "es");
	say(w, n == 1 ? " was refused" : " were refused");
	if (expected == n) {
		say(w, ", as the policy expects");
	} else if (expected > 0) {
		snprintf(text, sizeof(text),
			", %" JSON_INTEGER_FORMAT " of them expected by the policy", expected);
		say(w, text);
	}
	say(w, ". ");
}

static void say_end(const struct words *w)
{
	const json_t *end = json_object_get(w->report, "end");
	const char *reason = ward_query_text(end, "text");
	char text[64];
	if (!json_is_object(end)) {
		say(w, "The trail has no end of the session. ");
		return;
	}
	if (json_is_integer(json_object_get(end, "signal")))
		snprintf(text, sizeof(text), "Signal %" JSON_INTEGER_FORMAT " ended the command",
			number(end, "signal"));
	else if (json_is_integer(json_object_get(end, "status")))
		snprintf(text, sizeof(text), "The command ended with status %" JSON_INTEGER_FORMAT,
			number(end, "status"));
	else
		snprintf(text, sizeof(text), "The session ended");
	say(w, text);
	if (reason && *reason) {
		say(w, ": ");
		w->style->name(w->b, reason);
	}
	say(w, ". ");
}

bool ward_report_mode_warns(const char *mode)
{
	return mode && (strcmp(mode, "none") == 0 || strcmp(mode, "process") == 0);
}

static bool is_state(const struct words *w, const char *name)
{
	const char *state = ward_query_text(json_object_get(w->report, "verify"), "state");
	return state && strcmp(state, name) == 0;
}

/* A trail that somebody changed, or that does not verify for another reason. */
static bool is_doubtful(const struct words *w)
{
	return !is_state(w, "intact") && !is_state(w, "gap") && !is_state(w, "incomplete");
}

/* What verification found, in a sentence; the words of verification themselves stand below. */
static void say_whole(const struct words *w)
{
	if (is_state(w, "intact"))
		say(w, "The trail is complete and unaltered.");
	else if (is_state(w, "gap"))
		say(w, "Nobody altered the trail, but the trail itself says that records are "
		       "missing.");
	else if (is_state(w, "incomplete"))
		say(w, "Nobody altered the trail, but it has no regular end: the session still "
		       "ran, or crashed.");
	const char *mode = ward_query_text(json_object_get(w->report, "start"), "mode");
	if (!ward_report_mode_warns(mode))
		return;
	say(w, " In mode ");
	say(w, mode);
	say(w, WARD_REPORT_COULD_CHANGE);
}

void ward_report_words(
	struct ward_buf *b, const json_t *report, const struct ward_report_style *style)
{
	const struct words w = {b, style, report};
	if (is_doubtful(&w))
		say(&w, "The trail does not verify: what this page says may be wrong. ");
	say_when(&w);
	say_who(&w);
	say_files(&w);
	say_network(&w);
	say_refusals(&w);
	say_end(&w);
	say_whole(&w);
}
