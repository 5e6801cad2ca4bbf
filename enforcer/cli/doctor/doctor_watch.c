/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs doctor: watches on what sessions serve. */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/cli/base/sessions.h"
#include "enforcer/cli/doctor/doctor.h"
#include "enforcer/session/control/control.h"

static const char fix_room[] = "as root: sysctl -w user.max_fanotify_marks=1048576 "
			       "user.max_fanotify_groups=1024";
static const char fix_none[] = "none; changes that the host makes there show inside after a second";

static long bound(const char *path)
{
	char text[32] = "";
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	return n > 0 ? strtol(text, NULL, 10) : -1;
}

/* The first tree that is not watched whole; what the others lack shows once this is mended. */
static bool lacking(const char *session, const json_t *answer, struct ward_check *c)
{
	size_t i = 0;
	const json_t *t = NULL;
	json_array_foreach(json_object_get(answer, "trees"), i, t)
	{
		const char *why = json_string_value(json_object_get(t, "why"));
		const char *path = json_string_value(json_object_get(t, "path"));
		long long refused = (long long)json_integer_value(json_object_get(t, "refused"));
		long long watched = (long long)json_integer_value(json_object_get(t, "watched"));
		if (!why)
			continue;
		const char *fix = strstr(why, "no room") ? fix_room : fix_none;
		if (refused)
			ward_check_say(c, WARD_CHECK_UNUSABLE, fix,
				"session %s: %lld of %lld directories of %s are not watched: %s",
				session, refused, refused + watched, path ? path : "?", why);
		else
			ward_check_say(c, WARD_CHECK_UNUSABLE, fix,
				"session %s: %s is not watched: %s", session, path ? path : "?",
				why);
		return true;
	}
	return false;
}

static bool ask_sessions(struct ward_check *c)
{
	ward_cleanup_free char *runtime = NULL;
	if (ward_control_runtime(&runtime, NULL) < 0)
		return false;
	json_t *all = ward_sessions_running(runtime);
	bool found = false;
	for (size_t i = 0; !found && i < json_array_size(all); i++) {
		ward_cleanup_free char *answer = NULL;
		const char *name =
			json_string_value(json_object_get(json_array_get(all, i), "session"));
		if (!name || ward_control_ask(runtime, name, "{\"verb\":\"watch\"}", &answer, NULL))
			continue;
		json_t *o = json_loads(answer, 0, NULL);
		found = o && lacking(name, o, c);
		json_decref(o);
	}
	json_decref(all);
	return found;
}

void ward_check_watches(struct ward_check *c)
{
	long marks = bound("/proc/sys/user/max_fanotify_marks");
	long groups = bound("/proc/sys/user/max_fanotify_groups");
	if (ask_sessions(c))
		return;
	if (marks < 0 || groups < 0)
		ward_check_say(c, WARD_CHECK_UNUSABLE, "Linux 5.13 or newer, with fanotify",
			"/proc/sys/user/max_fanotify_marks does not exist; changes on the host show inside after a second");
	else if (geteuid() == 0)
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"fanotify: %ld trees at once, any number of directories", groups);
	else
		ward_check_say(c, WARD_CHECK_OK, NULL,
			"fanotify: %ld trees at once, %ld directories for all of them", groups,
			marks);
}
