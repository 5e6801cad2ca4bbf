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
#include "enforcer/session/control/control.h"

json_t *ward_sessions_running(const char *runtime, bool quiet)
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
		else if (r < 0 && r != -ENOENT && r != -ECONNREFUSED && !quiet)
			ward_say(err.text);
	}
	return all;
}

static const char *text_of(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	return s ? s : "";
}

/* Times are written in one way (ward_clock_format()), so that text compares as they do. */
static const char *latest_of(const json_t *all)
{
	const json_t *latest = NULL;
	const json_t *o = NULL;
	size_t i = 0;
	json_array_foreach(all, i, o)
	{
		if (!latest || strcmp(text_of(o, "started"), text_of(latest, "started")) > 0)
			latest = o;
	}
	return latest ? text_of(latest, "session") : NULL;
}

char *ward_sessions_meant(const char *word)
{
	ward_cleanup_free char *runtime = NULL;
	struct ward_err err = WARD_ERR_INIT;
	char *name = NULL;
	if (strcmp(word, "latest") == 0) {
		if (ward_control_runtime(&runtime, &err) < 0) {
			ward_say(err.text);
			return NULL;
		}
		json_t *all = ward_sessions_running(runtime, true);
		const char *latest = latest_of(all);
		if (!latest)
			ward_say("no session is running");
		name = latest ? strdup(latest) : NULL;
		json_decref(all);
		return name;
	}
	name = strdup(word);
	if (!name)
		ward_say("out of memory");
	return name;
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

int ward_sessions_choose(const char *session, char **ret_runtime, json_t **ret_all)
{
	struct ward_err err = WARD_ERR_INIT;
	*ret_runtime = NULL;
	*ret_all = NULL;
	if (ward_control_runtime(ret_runtime, &err) < 0) {
		ward_say(err.text);
		return 1;
	}
	json_t *all = ward_sessions_running(*ret_runtime, false);
	*ret_all = all;
	if (!session)
		return 0;
	ward_cleanup_free char *latest = NULL;
	if (strcmp(session, "latest") == 0) {
		const char *name = latest_of(all);
		latest = name ? strdup(name) : NULL;
	}
	for (size_t i = json_array_size(all); i-- > 0;) {
		const char *name =
			json_string_value(json_object_get(json_array_get(all, i), "session"));
		if (!name || strcmp(name, latest ? latest : session) != 0)
			json_array_remove(all, i);
	}
	if (json_array_size(all) > 0)
		return 0;
	if (strcmp(session, "latest") == 0) {
		ward_say("no session is running");
		return 1;
	}
	ward_sayf("no session '%s' is running; wardfs ps lists them", session);
	return 1;
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
	ward_sayf("session %s: %s", session, error && *error ? error : "an answer that is none");
	json_decref(answer);
	return NULL;
}
