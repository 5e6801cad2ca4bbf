/* SPDX-License-Identifier: Apache-2.0 */
/* Explains why a command was not found or not executed. */
#include "enforcer/session/plan/not_executed.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void ward_say_where(const char *name, char *const *envp, struct ward_err *err)
{
	const char *path = NULL;
	for (char *const *e = envp; *e; e++)
		if (strncmp(*e, "PATH=", 5) == 0)
			path = *e + 5;
	if (strchr(name, '/')) {
		struct stat st;
		bool there = stat(name, &st) == 0 && S_ISREG(st.st_mode);
		ward_err_set(err, -ENOENT,
			there ? "%s: not found inside, though it is on the host: it, or the "
				"interpreter that it names, is not in the view (--read shows more)"
			      : "%s: not found",
			name);
		return;
	}
	for (size_t len = 0; path && *path; path += len + (path[len] == ':')) {
		char full[4096];
		struct stat st;
		len = strcspn(path, ":");
		int n = snprintf(full, sizeof(full), "%.*s/%s", (int)len, path, name);
		if (*path != '/' || n <= 0 || (size_t)n >= sizeof(full) || stat(full, &st) < 0 ||
			!S_ISREG(st.st_mode) || !(st.st_mode & 0111))
			continue;
		ward_err_set(err, -ENOENT,
			"%s: not found inside; the host's %s is not in the view: --read %.*s shows it, "
			"for every run '[system] read' of a policy",
			name, full, (int)len, path);
		return;
	}
	ward_err_set(err, -ENOENT, "%s: not found in PATH", name);
}

void ward_say_unlisted(const char *name, struct ward_err *err)
{
	ward_err_set(err, -EACCES,
		"%s cannot be executed: permission denied; only what [process] exec lists can be, the "
		"interpreter of a script included (wardfs policy explain exec PATH)",
		name);
}
