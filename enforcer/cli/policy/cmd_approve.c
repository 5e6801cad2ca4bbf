/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs approve: the questions that wait for a person, and answers to them. */
#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/out.h"
#include "enforcer/base/quantity.h"
#include "enforcer/base/question_id.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/sessions.h"
#include "enforcer/cli/panel/panel.h"
#include "enforcer/cli/policy/policy_verbs.h"
#include "enforcer/session/control/control.h"

/* How often --watch looks. */
#define WATCH_MS 200
/* Questions that --watch has shown and remembers. */
#define WATCHED_MAX 1024

struct args {
	const char *words[5]; /* QUESTION ANSWER [PATTERN | TIME [PATTERN]] */
	unsigned n;
	const char *session;
	bool json, watch, panel, opened;
};

enum { OPT_WATCH = 0x100, OPT_PANEL, OPT_OPENED };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case 'j':
		a->json = true;
		return 0;
	case 's':
		a->session = arg;
		return 0;
	case OPT_WATCH:
		a->watch = true;
		return 0;
	case OPT_PANEL:
		a->panel = true;
		return 0;
	case OPT_OPENED:
		a->opened = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->n == sizeof(a->words) / sizeof(*a->words))
			ward_arguments_wrong(state, "too many arguments");
		a->words[a->n++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (a->n == 1)
			ward_arguments_wrong(state,
				"give an answer: no, once, path, pattern, for or always. Without arguments wardfs lists the questions");
		if (a->n && a->watch)
			ward_arguments_wrong(state, "--watch takes no answer");
		if (a->panel && (a->n || a->watch || a->json))
			ward_arguments_wrong(
				state, "--panel takes no answer, no --watch, no --json");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects; with --watch one object a line", 0},
	{"session", 's', "SESSION", 0, "Only questions of this session", 0},
	{"panel", OPT_PANEL, NULL, 0,
		"Show them on the whole screen, one at a time, and answer with keys", 0},
	{"opened", OPT_OPENED, NULL, OPTION_HIDDEN, "", 0},
	{"watch", OPT_WATCH, NULL, 0, "Print each question as it comes, until a signal ends it", 0},
	{0},
};
static const struct argp argp = {options, parse,
	"\nQUESTION no|yes|once|path|always\nQUESTION pattern PATTERN\nQUESTION for TIME [PATTERN]",
	"Lists the questions that wait for a person, or answers the one named.\v"
	"ANSWER is one of:\n"
	"  no        refuse it; the same question is not asked again for five minutes\n"
	"  yes       the same as path\n"
	"  once      allow it once, for the process that asks\n"
	"  path      allow it for this path, until the session ends\n"
	"  pattern   allow it for all paths that PATTERN covers, until the session ends\n"
	"  for       allow it for TIME (30s, 10m, 1h), for this path or for PATTERN\n"
	"  always    add the line to your policy for this project (wardfs policy add)\n"
	"Guards are never lifted. Exit status: 0 answered, or listed; 1 no such question, or the session refused the answer.",
	NULL, NULL, NULL};

static const char *member(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	return s ? s : "";
}

/* --- printing --- */

static void print_list(const char *head, const json_t *list, const char *between)
{
	size_t i = 0;
	const json_t *v = NULL;
	if (json_array_size(list) == 0)
		return;
	ward_outf("    %s", head);
	json_array_foreach(list, i, v) ward_outf("%s%s", i ? between : "", json_string_value(v));
	ward_outf("\n");
}

/* What a question is about: a path, or HOST:PORT. */
static const char *what_of(const json_t *o)
{
	return *member(o, "host") ? member(o, "host") : member(o, "path");
}

static void print_question(const json_t *o)
{
	const bool waits = json_is_true(json_object_get(o, "waits"));
	const long long left = (long long)json_integer_value(json_object_get(o, "left"));
	ward_outf("%s  %s %s", member(o, "question"), member(o, "action"), what_of(o));
	if (*member(o, "path2"))
		ward_outf(" to %s", member(o, "path2"));
	if (!*member(o, "host"))
		ward_outf(" (%s)", member(o, "rights"));
	ward_outf("\n");
	if (*member(o, "program"))
		ward_outf("    asked by:  %s (%lld) in session %s\n", member(o, "program"),
			(long long)json_integer_value(json_object_get(o, "pid")),
			member(o, "session"));
	else
		ward_outf("    asked by:  a process in session %s\n", member(o, "session"));
	print_list("command:   ", json_object_get(o, "argv"), " ");
	print_list("started by: ", json_object_get(o, "ancestors"), " < ");
	ward_outf("    rule:      %s (%s)\n", member(o, "rule_text"), member(o, "rule"));
	ward_outf("    yes allows: %s on %s until the session ends\n"
		  "                (%s)\n",
		member(o, "rights"), what_of(o), member(o, "promise"));
	ward_outf("    %s%lld s: wardfs approve %s yes|once|no\n",
		waits ? "it waits for another " : "refused for now; open for another ", left,
		member(o, "question"));
}

/* --- asking sessions --- */

/* Adds what each session answers to "questions" to list. 1: one of them did not answer. */
static int collect(const char *runtime, const json_t *sessions, json_t *list)
{
	size_t i = 0;
	const json_t *o = NULL;
	int status = 0;
	json_array_foreach(sessions, i, o)
	{
		if (strcmp(member(o, "verb"), "run") != 0)
			continue;
		json_t *answer = ward_sessions_ask(
			runtime, member(o, "session"), "{\"verb\":\"questions\"}");
		if (answer)
			json_array_extend(list, json_object_get(answer, "questions"));
		else
			status = 1;
		const long long more =
			(long long)json_integer_value(json_object_get(answer, "more"));
		if (more > 0)
			ward_sayf("session %s: %lld more questions wait; answer some of these",
				member(o, "session"), more);
		json_decref(answer);
	}
	return status;
}

static int list_all(const struct args *a)
{
	ward_cleanup_free char *runtime = NULL;
	json_t *sessions = NULL, *list = json_array();
	int status = ward_sessions_choose(a->session, &runtime, &sessions);
	if (sessions)
		status |= collect(runtime, sessions, list);
	if (a->json) {
		ward_print_json(json_incref(list));
	} else {
		size_t i = 0;
		const json_t *o = NULL;
		json_array_foreach(list, i, o) print_question(o);
		if (json_array_size(list) == 0 && status == 0)
			ward_say("no question waits");
	}
	json_decref(list);
	json_decref(sessions);
	return status;
}

struct watched {
	uint32_t v[WATCHED_MAX];
	size_t n; /* that were seen; the last ones are in v */
};

static bool seen(struct watched *w, const char *name)
{
	uint32_t id = 0;
	if (!ward_question_parse(name, &id))
		return true;
	for (size_t i = 0; i < w->n && i < WATCHED_MAX; i++)
		if (w->v[i] == id)
			return true;
	w->v[w->n++ % WATCHED_MAX] = id;
	return false;
}

static int watch(const struct args *a)
{
	ward_cleanup_free struct watched *w = calloc(1, sizeof(*w));
	while (w) {
		ward_cleanup_free char *runtime = NULL;
		struct ward_err err = WARD_ERR_INIT;
		json_t *list = json_array();
		size_t i = 0;
		const json_t *o = NULL;
		if (ward_control_runtime(&runtime, &err) < 0) {
			ward_say(err.text);
			json_decref(list);
			return 1;
		}
		json_t *sessions = ward_sessions_running(runtime, true);
		(void)!collect(runtime, sessions, list);
		json_array_foreach(list, i, o)
		{
			if ((a->session && strcmp(member(o, "session"), a->session) != 0) ||
				seen(w, member(o, "question")))
				continue;
			if (a->json) {
				ward_put_json(o, JSON_COMPACT);
				ward_outf("\n");
			} else {
				print_question(o);
			}
		}
		json_decref(list);
		json_decref(sessions);
		if (ward_out_flush() < 0)
			return 1;
		(void)poll(NULL, 0, WATCH_MS);
	}
	return 1;
}

/* --- answering --- */

/* The question of that name, from whichever session has it; NULL after a message. */
static json_t *find(const struct args *a, char **ret_runtime)
{
	json_t *sessions = NULL, *list = json_array(), *found = NULL;
	size_t i = 0;
	json_t *o = NULL;
	if (ward_sessions_choose(a->session, ret_runtime, &sessions) == 0 && sessions)
		(void)!collect(*ret_runtime, sessions, list);
	json_array_foreach(list, i, o) if (strcmp(member(o, "question"), a->words[0]) == 0) found =
		json_incref(o);
	if (!found)
		ward_sayf(
			"no question '%s' waits: it has an answer, or its time is over. 'wardfs approve' lists those that do",
			a->words[0]);
	json_decref(list);
	json_decref(sessions);
	return found;
}

/* The verb of a line of the policy that gives these rights, as a list of names. */
static const char *verb_for(const char *rights)
{
	if (strstr(rights, "write") || strstr(rights, "remove") || strstr(rights, "attr"))
		return "write";
	return strstr(rights, "append") || strstr(rights, "create") ? "append" : "read";
}

/* `always`: the line goes into the owner's file for the session's project. */
static int add_line(const char *runtime, const json_t *q)
{
	if (*member(q, "host")) {
		ward_sayf(
			"no line of yours keeps '%s' from asking again: answer 'path' for this session, or remove the line from the policy",
			member(q, "rule_text"));
		return 1;
	}
	json_t *status = ward_sessions_ask(runtime, member(q, "session"), "{\"verb\":\"status\"}");
	if (status && !*member(status, "follows")) {
		ward_sayf(
			"session %s runs under a policy of its own (--policy), which 'always' cannot change: "
			"answer 'path', and add '%s = %s' behind the line %s (%s) yourself",
			member(q, "session"), verb_for(member(q, "rights")), member(q, "path"),
			member(q, "rule_text"), member(q, "rule"));
		json_decref(status);
		return 1;
	}
	char *argv[] = {(char[]){"wardfs policy add"},
		(char *)(uintptr_t)verb_for(member(q, "rights")),
		(char *)(uintptr_t)member(q, "path"), NULL};
	int r = 1;
	if (status && chdir(member(status, "project")) < 0)
		ward_sayf("cannot enter %s, the project of the session", member(status, "project"));
	else if (status)
		r = ward_policy_cmd_add(3, argv);
	json_decref(status);
	return r;
}

/* Puts into o what the words of the command line say besides. False after a message. */
static bool add_words(const struct args *a, json_t *o)
{
	const bool timed = strcmp(a->words[1], "for") == 0;
	const bool pattern = strcmp(a->words[1], "pattern") == 0;
	struct ward_err err = WARD_ERR_INIT;
	uint64_t ns = 0;
	if (timed &&
		(a->n < 3 ||
			ward_quantity_duration(a->words[2], WARD_DURATION_SEVERAL, &ns, &err) < 0 ||
			ns < WARD_NS_PER_SEC)) {
		ward_say("'for' needs a time, such as 30s, 10m or 1h");
		return false;
	}
	if (pattern && a->n < 3) {
		ward_say("'pattern' needs a pattern, such as '/workspace/docs/**'");
		return false;
	}
	const char *with = timed ? a->words[3] : pattern ? a->words[2] : NULL;
	if (a->n > (with ? (timed ? 4U : 3U) : timed ? 3U : 2U)) {
		ward_say("too many words behind the answer; see 'wardfs approve --help'");
		return false;
	}
	if (timed)
		json_object_set_new(o, "seconds", json_integer((json_int_t)(ns / WARD_NS_PER_SEC)));
	if (with)
		json_object_set_new(o, "pattern", json_string(with));
	return true;
}

static int answer(const struct args *a)
{
	ward_cleanup_free char *runtime = NULL;
	ward_cleanup_free char *text = NULL;
	json_t *q = find(a, &runtime);
	if (!q)
		return 1;
	const bool yes = strcmp(a->words[1], "yes") == 0;
	json_t *o = json_pack("{s:s, s:s, s:s, s:s}", "verb", "answer", "question", a->words[0],
		"digest", member(q, "digest"), "answer", yes ? "path" : a->words[1]);
	bool good = add_words(a, o);
	if (good && strcmp(a->words[1], "always") == 0)
		good = add_line(runtime, q) == 0;
	text = good ? json_dumps(o, JSON_COMPACT) : NULL;
	json_t *done = text ? ward_sessions_ask(runtime, member(q, "session"), text) : NULL;
	const int status = done ? 0 : 1;
	if (done)
		ward_sayf("%s: %s%s%s", a->words[0], member(done, "result"),
			*member(done, "grant") ? ", grant " : "", member(done, "grant"));
	json_decref(done);
	json_decref(o);
	json_decref(q);
	return status;
}

static int panel(const struct args *a)
{
	struct ward_err err = WARD_ERR_INIT;
	/* Whoever opened it has the name of its session in full. */
	ward_cleanup_free char *session =
		a->session && !a->opened ? ward_sessions_meant(a->session) : NULL;
	const struct ward_panel_options o = {
		.session = a->opened ? a->session : session, .opened = a->opened};
	if (a->session && !o.session)
		return 1;
	if (ward_panel_show(&o, &err) == 0)
		return 0;
	ward_say(err.text);
	return err.code == -EINVAL ? 2 : 1;
}

int ward_cmd_approve(int argc, char **argv)
{
	struct args a = {0};
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	if (a.panel)
		return panel(&a);
	if (a.n)
		return answer(&a);
	return a.watch ? watch(&a) : list_all(&a);
}
