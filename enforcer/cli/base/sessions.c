/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the running sessions of the caller, and finds the one that is named. */
#include "enforcer/cli/base/sessions.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/here.h"
#include "enforcer/session/control/control.h"

/* Until a session that hung up is gone. */
#define HUNG_UP_MS 2000

/* silent: takes the names of sessions that do not answer, each with the reason; NULL: no matter. */
static json_t *running(const char *runtime, json_t *silent)
{
	json_t *all = json_array();
	ward_control_sweep(runtime);
	ward_cleanup_dir DIR *d = opendir(runtime);
	const struct dirent *e = NULL;
	while (d && (e = readdir(d))) {
		ward_cleanup_free char *answer = NULL;
		struct ward_err err = WARD_ERR_INIT;
		if (!ward_session_name_ok(e->d_name))
			continue;
		int r = ward_control_ask(
			runtime, e->d_name, "{\"verb\":\"status\"}", &answer, &err);
		json_t *o = r == 0 ? json_loads(answer, 0, NULL) : NULL;
		if (o)
			json_array_append_new(all, o);
		/* One that ends hangs up, too. Another one takes us for a process of its own, or
		 * cannot tell: it runs in other namespaces. */
		else if (r < 0 && r != -ENOENT && r != -ECONNREFUSED && silent &&
			 !(r == -EACCES && ward_control_wait_gone(runtime, e->d_name, HUNG_UP_MS)))
			json_array_append_new(silent,
				json_pack("{s:s, s:s}", "session", e->d_name, "why", err.text));
	}
	return all;
}

/* Those that wait for a run to take them have no command that anybody could mean. */
static json_t *begun(json_t *all)
{
	for (size_t i = json_array_size(all); i-- > 0;)
		if (json_is_true(json_object_get(json_array_get(all, i), "prepared")))
			(void)json_array_remove(all, i);
	return all;
}

json_t *ward_sessions_running(const char *runtime)
{
	return begun(running(runtime, NULL));
}

static const char *text_of(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	return s ? s : "";
}

static bool is_later(const json_t *a, const json_t *b)
{
	/* Times are written in one way (ward_clock_format()), so that text compares as they do. */
	return !b || strcmp(text_of(a, "started"), text_of(b, "started")) > 0;
}

/* --- which session a word means --- */

static bool of_project(const json_t *o, const void *project)
{
	return strcmp(text_of(o, "project"), project) == 0;
}

/* "dev", "dev.2", "dev.3" are sessions of the name dev. */
static bool of_name(const json_t *o, const void *name)
{
	const char *session = text_of(o, "session");
	const size_t n = strlen(name);
	return strncmp(session, name, n) == 0 &&
	       (!session[n] ||
		       (session[n] == '.' && session[n + 1] >= '1' && session[n + 1] <= '9' &&
			       strspn(session + n + 1, "0123456789") == strlen(session + n + 1)));
}

static bool is_any(const json_t *o, const void *unused)
{
	(void)o;
	(void)unused;
	return true;
}

/* The one started last of those that are so; NULL: none is. */
static const json_t *last_of(
	const json_t *all, bool is(const json_t *, const void *), const void *arg)
{
	const json_t *last = NULL;
	const json_t *o = NULL;
	size_t i = 0;
	json_array_foreach(all, i, o) if (is(o, arg) && is_later(o, last)) last = o;
	return last;
}

/* Of the project here; where that is none, of all, and then it is said which. */
static const json_t *latest_of(const json_t *all)
{
	struct ward_here here;
	if (json_array_size(all) == 0) {
		ward_say("no session is running");
		return NULL;
	}
	ward_here_find(&here);
	const json_t *last = here.project ? last_of(all, of_project, here.project) : NULL;
	if (!last && here.marked) {
		ward_sayf(
			"no session of this project (%s) is running; 'wardfs ps' lists those of other projects",
			here.project);
	} else if (!last && (last = last_of(all, is_any, NULL))) {
		ward_sayf("no session of this directory is running: 'latest' is %s, of %s",
			text_of(last, "session"),
			*text_of(last, "project") ? text_of(last, "project") : "no project");
	}
	ward_here_clear(&here);
	return last;
}

/* NAME.1 is the first of a name that several have. */
static const json_t *first_of(const json_t *all, const char *word)
{
	const size_t n = strlen(word);
	const json_t *o = NULL;
	size_t i = 0;
	if (n < 3 || strcmp(word + n - 2, ".1") != 0)
		return NULL;
	json_array_foreach(all, i, o)
	{
		const char *session = text_of(o, "session");
		if (strlen(session) == n - 2 && strncmp(session, word, n - 2) == 0)
			return o;
	}
	return NULL;
}

/* Of several sessions of the name this one is meant. The first one bears the name itself. */
static void say_newest(const json_t *all, const char *word, const char *newest)
{
	const json_t *o = NULL;
	size_t i = 0;
	bool first = false;
	json_array_foreach(all, i, o) first = first || strcmp(text_of(o, "session"), word) == 0;
	if (first)
		ward_sayf("using %s, the newest; %s.1 means the first", newest, word);
	else
		ward_sayf("using %s, the newest", newest);
}

static const json_t *named(const json_t *all, const char *word)
{
	const json_t *last = last_of(all, of_name, word);
	if (!last)
		last = first_of(all, word);
	else if (strcmp(text_of(last, "session"), word) != 0)
		say_newest(all, word, text_of(last, "session"));
	return last;
}

/* Says so where several sessions of the name run. */
static bool is_ambiguous(const json_t *all, const char *word)
{
	const json_t *o = NULL;
	size_t i = 0, n = 0;
	json_array_foreach(all, i, o) n += of_name(o, word);
	if (n > 1)
		ward_sayf(
			"%zu running sessions are called %s, so wardfs ended none of them. Write %s.1 for the first, %s.2 for the second",
			n, word, word, word);
	return n > 1;
}

static char *meant(const char *word, bool alone)
{
	ward_cleanup_free char *runtime = NULL;
	struct ward_err err = WARD_ERR_INIT;
	if (ward_control_runtime(&runtime, &err) < 0) {
		ward_say(err.text);
		return NULL;
	}
	const bool latest = strcmp(word, "latest") == 0;
	json_t *all = running(runtime, NULL);
	all = latest ? begun(all) : all;
	if (!latest && alone && is_ambiguous(all, word)) {
		json_decref(all);
		return NULL;
	}
	const json_t *o = latest ? latest_of(all) : named(all, word);
	/* The code that asks it reports that it does not run, or does not answer. */
	const char *found = o ? text_of(o, "session") : latest ? NULL : word;
	char *name = found ? strdup(found) : NULL;
	if (found && !name)
		ward_say("out of memory");
	json_decref(all);
	return name;
}

char *ward_sessions_meant(const char *word)
{
	return meant(word, false);
}

char *ward_sessions_meant_alone(const char *word)
{
	return meant(word, true);
}

error_t ward_sessions_parse(int key, char *arg, struct argp_state *state)
{
	struct ward_sessions_asked *a = state->input;
	if (key == 'j') {
		a->json = true;
		return 0;
	}
	if (key != ARGP_KEY_ARG || a->session)
		return ARGP_ERR_UNKNOWN;
	a->session = arg;
	return 0;
}

void ward_sessions_need(const struct argp_state *state, const char *session)
{
	if (!session)
		ward_arguments_wrong(state, "a session is needed; wardfs ps lists them");
}

/* Says which sessions do not answer: those of the name, or all (NULL). How many that were. */
static size_t say_silent(const json_t *silent, const char *name)
{
	const json_t *o = NULL;
	size_t i = 0, n = 0;
	json_array_foreach(silent, i, o)
	{
		if (name && !of_name(o, name))
			continue;
		ward_say(text_of(o, "why"));
		n++;
	}
	return n;
}

int ward_sessions_choose(
	const char *session, char **ret_runtime, json_t **ret_all, bool *ret_silent)
{
	struct ward_err err = WARD_ERR_INIT;
	*ret_runtime = NULL;
	*ret_all = NULL;
	*ret_silent = false;
	if (ward_control_runtime(ret_runtime, &err) < 0) {
		ward_say(err.text);
		return 1;
	}
	json_t *silent = json_array(), *all = running(*ret_runtime, silent);
	const bool latest = session && strcmp(session, "latest") == 0;
	*ret_all = all;
	*ret_silent = say_silent(silent, latest ? NULL : session) > 0;
	json_decref(silent);
	if (!session)
		return 0;
	/* Among those that answer none may be meant; that none runs would be wrong. */
	const bool none = latest && *ret_silent && json_array_size(all) == 0;
	const json_t *meant = none ? NULL : latest ? latest_of(all) : named(all, session);
	for (size_t i = json_array_size(all); i-- > 0;)
		if (json_array_get(all, i) != meant)
			json_array_remove(all, i);
	if (!meant && !latest && !*ret_silent)
		ward_sayf("no session '%s' is running; 'wardfs ps' lists the running sessions",
			session);
	return meant ? 0 : 1;
}

void ward_sessions_say_none(void)
{
	ward_say(
		"no session is running. 'wardfs run -- CMD' starts one; 'wardfs audit list' lists those that have ended");
}

json_t *ward_sessions_ask(const char *runtime, const char *session, const char *request)
{
	ward_cleanup_free char *text = NULL;
	struct ward_err err = WARD_ERR_INIT;
	int r = ward_control_ask(runtime, session, request, &text, &err);
	json_t *answer = r == 0 ? json_loads(text, 0, NULL) : NULL;
	const char *error = answer ? json_string_value(json_object_get(answer, "error")) : err.text;
	if (answer && !error)
		return answer;
	ward_sayf("session %s: %s", session,
		error && *error ? error : "the session's answer is not valid");
	json_decref(answer);
	return NULL;
}
