/* SPDX-License-Identifier: Apache-2.0 */
/* Names of sessions, and the directory of their sockets. */
#include "enforcer/session/owner/session_place.h"

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/format.h"
#include "audit/store/store.h"
#include "enforcer/base/cleanup.h"

bool ward_session_name_ok(const char *name)
{
	size_t n = strlen(name);
	if (n == 0 || n > WARD_SESSION_NAME_MAX || name[0] == '.' || name[0] == '-')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
			return false;
	return true;
}

static int runtime_in_state(char **ret_path, struct ward_err *err)
{
	ward_cleanup_free char *state = NULL;
	const char *home = getenv("HOME");
	const struct passwd *pw = NULL;
	if (!home || home[0] != '/')
		home = (pw = getpwuid(geteuid())) ? pw->pw_dir : NULL;
	int r = ward_store_default_path(geteuid(), getenv("XDG_STATE_HOME"), home, &state, err);
	if (r < 0)
		return r;
	return asprintf(ret_path, "%s/run", state) < 0
		       ? ward_err_sys(err, -ENOMEM, "runtime directory")
		       : 0;
}

int ward_control_runtime(char **ret_path, struct ward_err *err)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	int n = 0;
	if (xdg && xdg[0] == '/')
		n = asprintf(ret_path, "%s/wardfs", xdg);
	else if (geteuid() == 0)
		n = asprintf(ret_path, "/run/wardfs");
	else
		return runtime_in_state(ret_path, err);
	return n < 0 ? ward_err_sys(err, -ENOMEM, "runtime directory") : 0;
}
