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
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/base/quantity.h"
#include "enforcer/base/question_id.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/told.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/sessions.h"
#include "enforcer/cli/panel/count.h"
#include "enforcer/cli/panel/panel.h"
#include "enforcer/cli/policy/approve_show.h"
#include "enforcer/cli/policy/approve_sign.h"
#include "enforcer/cli/policy/policy_verbs.h"
#include "enforcer/policy/policy.h"
#include "enforcer/session/control/control.h"

/* Where nobody tells of a question, how often it looks. */
#define WATCH_MS 200
/* Questions that --watch has shown and remembers. */
#define WATCHED_MAX 1024

struct args {
	/* [sign] QUESTION ANSWER [PATTERN | TIME [PATTERN]] */
	const char *words[6];
	unsigned n;
	const char *session, *key, *output;
	const char *files[WARD_APPROVERS_MAX]; /* signed answers */
	unsigned n_files;
	uint64_t valid_s;
	bool json, watch, panel, opened, without_key;
};

enum { OPT_WATCH = 0x100, OPT_PANEL, OPT_OPENED, OPT_SIGNED, OPT_KEY, OPT_UNSIGNED, OPT_VALID };
/* How long a signed answer is good by itself, and at most. */
#define VALID_S 3600U
#define VALID_S_MAX 86400U

static bool is_sign(const struct args *a)
{
	return a->n && strcmp(a->words[0], "sign") == 0;
}

static uint64_t take_valid(const struct argp_state *state, const char *arg)
{
	struct ward_err err = WARD_ERR_INIT;
	uint64_t ns = 0;
	if (ward_quantity_duration(arg, WARD_DURATION_SEVERAL, &ns, &err) < 0 ||
		ns < WARD_NS_PER_SEC || ns / WARD_NS_PER_SEC > VALID_S_MAX)
		ward_arguments_wrong(
			state, "--valid: a time such as 10m or 1h, a day at most, is meant");
	return ns / WARD_NS_PER_SEC;
}

/* The options of the wrong form. */
static void check_form(const struct argp_state *state, const struct args *a)
{
	const bool of_sign = a->key || a->without_key || a->output || a->valid_s;
	if (of_sign && !is_sign(a))
		ward_arguments_wrong(
			state, "--key, --unsigned, --output and --valid are for 'approve sign'");
	if (is_sign(a) && (a->n_files || a->watch || a->json || a->session))
		ward_arguments_wrong(state, "'approve sign' takes none of these options");
	if (is_sign(a) && a->n < 2)
		ward_arguments_wrong(
			state, "give the file of the question, '-' for standard input");
	if (is_sign(a) && (a->n > 2 ? !a->key == !a->without_key || !a->output : of_sign))
		ward_arguments_wrong(state,
			"to sign, give an answer, --output FILE, and --key FILE or --unsigned");
	if (a->n_files && a->n != 1)
		ward_arguments_wrong(state, "--signed takes the question alone: the files have "
					    "the answer");
	if (a->n && a->watch)
		ward_arguments_wrong(state, "--watch takes no answer");
	if (a->panel && (a->n || a->n_files || a->watch || a->json))
		ward_arguments_wrong(state, "--panel takes no answer, no --watch, no --json");
}

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
	case OPT_SIGNED:
		if (a->n_files == WARD_APPROVERS_MAX)
			ward_arguments_wrong(state, "too many signed answers");
		a->files[a->n_files++] = arg;
		return 0;
	case OPT_KEY:
		a->key = arg;
		return 0;
	case OPT_UNSIGNED:
		a->without_key = true;
		return 0;
	case OPT_VALID:
		a->valid_s = take_valid(state, arg);
		return 0;
	case 'o':
		a->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (a->n == sizeof(a->words) / sizeof(*a->words))
			ward_arguments_wrong(state, "too many arguments");
		a->words[a->n++] = arg;
		return 0;
	case ARGP_KEY_END:
		check_form(state, a);
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
	{"signed", OPT_SIGNED, "FILE", 0,
		"Hand in the signed answer in FILE; once for each approver. Where FILE has no signature, the one in FILE.sig counts",
		0},
	{"key", OPT_KEY, "FILE", 0, "For sign: sign with the key in FILE (wardfs token key)", 0},
	{"unsigned", OPT_UNSIGNED, NULL, 0,
		"For sign: write what 'ssh-keygen -Y sign -n wardfs-answer' is to sign", 0},
	{"valid", OPT_VALID, "TIME", 0,
		"For sign: the answer counts for TIME (10m, 1h), a day at most; default: 1h", 0},
	{"output", 'o', "FILE", 0, "For sign: write the answer to FILE, which must not exist", 0},
	{0},
};
static const struct argp argp = {options, parse,
	"\nQUESTION\nQUESTION no|yes|once|path|always\nQUESTION pattern PATTERN\nQUESTION for TIME [PATTERN]\n"
	"QUESTION --signed FILE\nsign QUESTION.json [ANSWER]",
	"Lists the questions that wait for a person, shows or answers the one named, or signs an answer to the one in a file.\v"
	"ANSWER is one of:\n"
	"  no        refuse it; the same question is not asked again for five minutes\n"
	"  yes       the same as path\n"
	"  once      allow it once, for the process that asks\n"
	"  path      allow it for this path, until the session ends\n"
	"  pattern   allow it for all paths that PATTERN covers, until the session ends\n"
	"  for       allow it for TIME (30s, 10m, 1h), for this path or for PATTERN\n"
	"  always    add the line to your policy for this project (wardfs policy add)\n"
	"QUESTION.N is a question about N paths: an answer is for those, and QUESTION alone for the first one.\n"
	"sign takes what 'wardfs approve --json QUESTION' prints, also on another machine ('-': standard input). It takes once, yes, path, pattern and for. Without an answer it shows the question.\n"
	"Guards are never lifted. Exit status: 0 answered, or listed; 1 no such question, or the session refused the answer.",
	NULL, NULL, NULL};

/* --- asking sessions --- */

/* Adds what each session answers to "questions" to list. 1: one of them did not answer. */
static int collect(const char *runtime, const json_t *sessions, json_t *list)
{
	size_t i = 0;
	const json_t *o = NULL;
	int status = 0;
	json_array_foreach(sessions, i, o)
	{
		if (strcmp(ward_approve_member(o, "verb"), "run") != 0)
			continue;
		json_t *answer = ward_sessions_ask(
			runtime, ward_approve_member(o, "session"), "{\"verb\":\"questions\"}");
		if (answer)
			json_array_extend(list, json_object_get(answer, "questions"));
		else
			status = 1;
		const long long more =
			(long long)json_integer_value(json_object_get(answer, "more"));
		if (more > 0)
			ward_sayf("session %s: %lld more questions wait; answer some of these",
				ward_approve_member(o, "session"), more);
		json_decref(answer);
	}
	return status;
}

static int list_all(const struct args *a)
{
	ward_cleanup_free char *runtime = NULL;
	json_t *sessions = NULL, *list = json_array();
	bool silent = false;
	int status = ward_sessions_choose(a->session, &runtime, &sessions, &silent);
	status |= silent;
	if (sessions)
		status |= collect(runtime, sessions, list);
	if (a->json) {
		ward_print_json(json_incref(list));
	} else {
		size_t i = 0;
		const json_t *o = NULL;
		json_array_foreach(list, i, o) ward_approve_show(o);
		if (json_array_size(list) == 0 && status == 0)
			ward_say("no question waits");
	}
	json_decref(list);
	json_decref(sessions);
	return status;
}

struct watched {
	uint32_t v[WATCHED_MAX];
	size_t paths[WATCHED_MAX];
	size_t n; /* that were seen; the last ones are in v */
};

/* With all its paths. */
static bool seen(struct watched *w, const json_t *o)
{
	const size_t paths = ward_approve_paths(o);
	uint32_t id = 0;
	if (!ward_question_parse(ward_approve_member(o, "question"), &id))
		return true;
	for (size_t i = 0; i < w->n && i < WATCHED_MAX; i++)
		if (w->v[i] == id) {
			const bool all = w->paths[i] >= paths;
			w->paths[i] = paths;
			return all;
		}
	w->paths[w->n % WATCHED_MAX] = paths;
	w->v[w->n++ % WATCHED_MAX] = id;
	return false;
}

static int watch(const struct args *a)
{
	ward_cleanup_free struct watched *w = calloc(1, sizeof(*w));
	ward_cleanup_fd int told = ward_told_open();
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
		/* Before the look: what comes after it is told. */
		ward_told_take(told);
		ward_told_watch(told, runtime);
		json_t *sessions = ward_sessions_running(runtime);
		(void)!collect(runtime, sessions, list);
		json_array_foreach(list, i, o)
		{
			if ((a->session &&
				    strcmp(ward_approve_member(o, "session"), a->session) != 0) ||
				seen(w, o))
				continue;
			if (a->json) {
				ward_put_json(o, JSON_COMPACT);
				ward_outf("\n");
			} else {
				ward_approve_show(o);
			}
		}
		json_decref(list);
		json_decref(sessions);
		if (ward_out_flush() < 0)
			return 1;
		(void)poll(&(struct pollfd){.fd = told, .events = POLLIN}, 1, WATCH_MS);
	}
	return 1;
}

/* --- answering --- */

/* QUESTION[.N]: the length of QUESTION; *ret_n: N, 0 where there is none. */
static size_t split_name(const char *word, size_t *ret_n)
{
	const size_t len = strcspn(word, ".");
	char *end = NULL;
	*ret_n = 0;
	if (!word[len])
		return len;
	const unsigned long n = strtoul(word + len + 1, &end, 10);
	if (word[len + 1] < '1' || word[len + 1] > '9' || *end || n > WARD_QUESTION_PATHS)
		return strlen(word);
	*ret_n = n;
	return len;
}

/*
 * The question of that name, from whichever session has it; NULL after a message. as_typed: with
 * the paths that the name stands for, which the person saw; else without N with all of them.
 */
static json_t *find(const struct args *a, bool as_typed, char **ret_runtime)
{
	size_t paths = 0;
	const size_t len = split_name(a->words[0], &paths);
	json_t *sessions = NULL, *list = json_array(), *found = NULL;
	size_t i = 0;
	json_t *o = NULL;
	bool silent = false;
	if (ward_sessions_choose(a->session, ret_runtime, &sessions, &silent) == 0 && sessions)
		(void)!collect(*ret_runtime, sessions, list);
	json_array_foreach(list, i, o)
	{
		const char *name = ward_approve_member(o, "question");
		if (strlen(name) == len && strncmp(name, a->words[0], len) == 0)
			found = json_incref(o);
	}
	if (found && (paths || as_typed) && ward_approve_shorten(found, paths ? paths : 1) < 0) {
		json_decref(found);
		found = NULL;
	}
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

/* The text of the path at index, or of the second one of that operation; "" for none. */
static const char *path_at(const json_t *q, size_t index, bool second)
{
	const json_t *of = index ? json_array_get(json_object_get(q, "more"), index - 1) : q;
	return ward_approve_member(of, second ? "path2" : "path");
}

/* A line for each path. */
static int add_lines(const json_t *q)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < 2 * ward_approve_paths(q); i++) {
		const char *path = path_at(q, i / 2, i % 2);
		if (!*path)
			continue;
		char *argv[] = {(char[]){"wardfs policy add"},
			(char *)(uintptr_t)verb_for(ward_approve_member(q, "rights")),
			(char *)(uintptr_t)path, NULL};
		r = ward_policy_cmd_add(3, argv);
	}
	return r;
}

/* `always`: the line goes into the owner's file for the session's project. */
static int add_line(const char *runtime, const json_t *q)
{
	if (*ward_approve_member(q, "host")) {
		ward_sayf(
			"no line of yours keeps '%s' from asking again: answer 'path' for this session, or remove the line from the policy",
			ward_approve_member(q, "rule_text"));
		return 1;
	}
	json_t *status = ward_sessions_ask(
		runtime, ward_approve_member(q, "session"), "{\"verb\":\"status\"}");
	if (status && !*ward_approve_member(status, "follows")) {
		ward_sayf(
			"session %s runs under a policy of its own (--policy), which 'always' cannot change: "
			"answer 'path', and add '%s = %s' behind the line %s (%s) yourself",
			ward_approve_member(q, "session"),
			verb_for(ward_approve_member(q, "rights")), ward_approve_member(q, "path"),
			ward_approve_member(q, "rule_text"), ward_approve_member(q, "rule"));
		json_decref(status);
		return 1;
	}
	int r = 1;
	if (status && chdir(ward_approve_member(status, "project")) < 0)
		ward_sayf("cannot enter %s, the project of the session",
			ward_approve_member(status, "project"));
	else if (status)
		r = add_lines(q);
	json_decref(status);
	return r;
}

/* What the words behind the question say. False after a message. */
static bool take_words(const char *const *words, unsigned n, struct ward_signed_words *ret)
{
	const bool timed = strcmp(words[0], "for") == 0;
	const bool pattern = strcmp(words[0], "pattern") == 0;
	struct ward_err err = WARD_ERR_INIT;
	uint64_t ns = 0;
	if (timed &&
		(n < 2 || ward_quantity_duration(words[1], WARD_DURATION_SEVERAL, &ns, &err) < 0 ||
			ns < WARD_NS_PER_SEC)) {
		ward_say("'for' needs a time, such as 30s, 10m or 1h");
		return false;
	}
	if (pattern && n < 2) {
		ward_say("'pattern' needs a pattern, such as '/workspace/docs/**'");
		return false;
	}
	const unsigned with = timed ? 2 : 1;
	const bool covers = (timed || pattern) && n > with;
	if (n > with + covers) {
		ward_say("too many words behind the answer; see 'wardfs approve --help'");
		return false;
	}
	*ret = (struct ward_signed_words){
		.answer = strcmp(words[0], "yes") == 0 ? "path" : words[0],
		.pattern = covers ? words[with] : NULL,
		.seconds = ns / WARD_NS_PER_SEC};
	return true;
}

/* No line goes into a policy for an answer that the session then refuses. */
static bool may_unsigned(const json_t *q, const char *answer)
{
	if (strcmp(answer, "always") != 0 ||
		json_integer_value(json_object_get(q, "approvers")) == 0)
		return true;
	ward_say(
		"this session takes signed answers, and 'always' cannot be signed: see 'wardfs approve sign'");
	return false;
}

static void say_result(const char *question, const json_t *done)
{
	if (strcmp(ward_approve_member(done, "result"), "signed") == 0)
		ward_sayf("%s: %lld of %lld approvers have answered", question,
			(long long)json_integer_value(json_object_get(done, "signed")),
			(long long)json_integer_value(json_object_get(done, "approvers")));
	else
		ward_sayf("%s: %s%s%s", question, ward_approve_member(done, "result"),
			*ward_approve_member(done, "grant") ? ", grant " : "",
			ward_approve_member(done, "grant"));
}

static int hand_in(const struct args *a)
{
	ward_cleanup_free char *runtime = NULL;
	json_t *list = json_array(), *done = NULL;
	bool good = true;
	for (unsigned i = 0; good && i < a->n_files; i++)
		good = ward_approve_signed_file(a->files[i], list);
	json_t *q = good ? find(a, false, &runtime) : NULL;
	json_t *o = q ? json_pack("{s:s, s:O, s:O}", "verb", "answer", "question",
				json_object_get(q, "question"), "signed", list)
		      : NULL;
	ward_cleanup_free char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	if (text)
		done = ward_sessions_ask(runtime, ward_approve_member(q, "session"), text);
	if (done)
		say_result(a->words[0], done);
	const int status = done ? 0 : 1;
	json_decref(done);
	json_decref(o);
	json_decref(q);
	json_decref(list);
	return status;
}

/* What `yes` would widen, counted and with examples. */
static void show_widened_at(const char *runtime, const json_t *q, size_t index, bool second)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf pattern = WARD_BUF_INIT;
	struct panel_count c = PANEL_COUNT_INIT;
	const char *shown = path_at(q, index, second), *text = NULL;
	if (!*shown || ward_unescape(&path, shown, strlen(shown)) < 0)
		return;
	ward_pattern_quote(&pattern, ward_buf_str(&path), path.len);
	json_t *status = ward_sessions_ask(
		runtime, ward_approve_member(q, "session"), "{\"verb\":\"status\"}");
	if (status && ward_buf_error(&pattern) == 0 &&
		panel_count_start(
			&c, status, ward_buf_str(&pattern), ward_approve_member(q, "rights")) == 0)
		while (!(text = panel_count_read(&c)))
			;
	if (text && (ward_approve_paths(q) > 1 || *path_at(q, 0, true)))
		ward_outf("    yes widens: %s: %s\n", shown, text);
	else if (text)
		ward_outf("    yes widens: %s\n", text);
	json_decref(status);
}

static void show_widened(const char *runtime, const json_t *q)
{
	for (size_t i = 0; i < 2 * ward_approve_paths(q); i++)
		show_widened_at(runtime, q, i / 2, i % 2);
}

static int show_one(const struct args *a)
{
	ward_cleanup_free char *runtime = NULL;
	json_t *q = find(a, false, &runtime);
	if (!q)
		return 1;
	if (a->json)
		ward_print_json(json_incref(q));
	else
		ward_approve_show(q);
	if (!a->json)
		show_widened(runtime, q);
	json_decref(q);
	return 0;
}

static int sign(const struct args *a)
{
	struct ward_approve_sign s = {.question = a->words[1],
		.key = a->key,
		.output = a->output,
		.valid_s = a->valid_s ? a->valid_s : VALID_S};
	if (a->n > 2 && !take_words(a->words + 2, a->n - 2, &s.words))
		return 2;
	return ward_approve_sign(&s);
}

static int answer(const struct args *a)
{
	ward_cleanup_free char *runtime = NULL;
	ward_cleanup_free char *text = NULL;
	json_t *q = find(a, true, &runtime);
	if (!q)
		return 1;
	struct ward_signed_words w = {.answer = NULL};
	bool good = take_words(a->words + 1, a->n - 1, &w) && may_unsigned(q, w.answer);
	json_t *o = json_pack("{s:s, s:O, s:s, s:s?}", "verb", "answer", "question",
		json_object_get(q, "question"), "digest", ward_approve_member(q, "digest"),
		"answer", w.answer);
	if (w.seconds)
		json_object_set_new(o, "seconds", json_integer((json_int_t)w.seconds));
	if (w.pattern)
		json_object_set_new(o, "pattern", json_string(w.pattern));
	if (good && strcmp(a->words[1], "always") == 0)
		good = add_line(runtime, q) == 0;
	text = good ? json_dumps(o, JSON_COMPACT) : NULL;
	json_t *done =
		text ? ward_sessions_ask(runtime, ward_approve_member(q, "session"), text) : NULL;
	const int status = done ? 0 : 1;
	if (done)
		say_result(a->words[0], done);
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
	if (is_sign(&a))
		return sign(&a);
	if (a.n_files)
		return hand_in(&a);
	if (a.n == 1)
		return show_one(&a);
	if (a.n)
		return answer(&a);
	return a.watch ? watch(&a) : list_all(&a);
}
