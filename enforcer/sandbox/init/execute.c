/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the program of a command in PATH and becomes it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/sandbox/init/init.h"

/* Where execvp(3) looks when there is no PATH. */
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* Returns only on failure. */
static void attempt(const struct ward_blueprint *p, struct ward_exec_table *told, const char *path)
{
	ward_exec_table_tell(told, path, p->argv);
	execve(path, p->argv, p->envp);
}

int ward_init_execute(const struct ward_blueprint *p, struct ward_exec_table *told)
{
	const char *name = p->argv[0];
	const char *path = DEFAULT_PATH;
	int result = -ENOENT;
	if (strchr(name, '/')) {
		attempt(p, told, name);
		return -errno;
	}
	for (size_t i = 0; i < p->n_envp; i++)
		if (strncmp(p->envp[i], "PATH=", 5) == 0)
			path = p->envp[i] + 5;
	for (;;) {
		char full[4096];
		int len = (int)strcspn(path, ":");
		int n = snprintf(full, sizeof(full), "%.*s/%s", len, path, name);
		if (len == 0)
			n = snprintf(full, sizeof(full), "./%s", name);
		struct stat st;
		if (n > 0 && (size_t)n < sizeof(full)) {
			/* Missing programs are not tried, because each try makes a record. */
			if (stat(full, &st) == 0)
				attempt(p, told, full);
			if (errno == EACCES)
				result = -EACCES;
			else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP &&
				 errno != ENODEV && errno != ESTALE)
				return -errno;
		}
		path += len;
		if (*path == '\0')
			return result;
		path++;
	}
}
