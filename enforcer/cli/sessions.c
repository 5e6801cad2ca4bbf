/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/cli/sessions.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/say.h"
#include "enforcer/session/control.h"

json_t *ward_sessions_running(const char *runtime, bool quiet)
{
	json_t *all = json_array();
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
		else if (r == -ECONNREFUSED)
			ward_control_remove(runtime, e->d_name);
		else if (r < 0 && r != -ENOENT && !quiet)
			ward_say(err.text);
	}
	return all;
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
	for (size_t i = json_array_size(all); i-- > 0;) {
		const char *name =
			json_string_value(json_object_get(json_array_get(all, i), "session"));
		if (!name || strcmp(name, session) != 0)
			json_array_remove(all, i);
	}
	if (json_array_size(all) > 0)
		return 0;
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
