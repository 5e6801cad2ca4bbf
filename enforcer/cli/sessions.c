/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/cli/sessions.h"

#include <dirent.h>
#include <errno.h>

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
