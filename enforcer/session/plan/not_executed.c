/* SPDX-License-Identifier: Apache-2.0 */
/* Explains why a command was not found or not executed. */
#include "enforcer/session/plan/not_executed.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"

/*
 * A link is of no use without the directory that it leads to, which is where the program's other
 * files are.
 */
static void say_hidden(const char *name, const char *full, struct ward_err *err)
{
	ward_cleanup_free char *program = realpath(full, NULL);
	const char *link = strrchr(full, '/'), *end = program ? strrchr(program, '/') : NULL;
	const int dir = (int)(link - full);
	if (!end || end == program ||
		(end - program == dir && strncmp(full, program, (size_t)dir) == 0))
		ward_err_set(err, -ENOENT,
			"%s: not found inside, because %s of the host is not in the view. To show it in one run: --read %.*s; in every run: '[system] read' in a policy",
			name, full, dir, full);
	else
		ward_err_set(err, -ENOENT,
			"%s: not found inside: %s of the host is a link to %s, and one of them is not in the view. To show both in one run: --read %.*s --read %.*s; in every run: '[system] read' in a policy",
			name, full, program, dir, full, (int)(end - program), program);
}

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
			there ? "%s: not found inside, though the host has it: this file, or the interpreter that it names, is not in the view; fix: --read FILE shows it"
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
		say_hidden(name, full, err);
		return;
	}
	ward_err_set(err, -ENOENT, "%s: not found in PATH", name);
}

void ward_say_unlisted(const char *name, const char *runtime, struct ward_err *err)
{
	if (runtime) {
		ward_err_set(err, -EACCES,
			"%s was not started: this mode runs it with %s, and [process] exec does not list that program. Add the line exec = %s",
			name, runtime, runtime);
		return;
	}
	ward_err_set(err, -EACCES,
		"cannot execute %s: permission denied. [process] exec must list each program, and the interpreter of each script (wardfs policy explain exec PATH)",
		name);
}
