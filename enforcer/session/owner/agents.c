/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the directories in which agents keep what they want to find again. */
#include "enforcer/session/owner/agents.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/policy/load.h"
#include "enforcer/session/owner/project.h"

bool ward_agents_is(const char *path, const char *home)
{
	const char *rel = home ? ward_path_beneath(path, home) : NULL;
	/* It is relative to the home, after its '/' */
	const char *name = rel ? ward_path_beneath(rel, &WARD_AGENTS_PLACE[1]) : NULL;
	return name && *name && !strchr(name, '/') && name[0] != '.';
}

int ward_agents_make(const char *path, const char *home, struct ward_err *err)
{
	struct stat st;
	if (!ward_agents_is(path, home))
		return 0;
	if (lstat(path, &st) == 0 || errno != ENOENT)
		return 0;
	ward_cleanup(ward_buf_clear) struct ward_buf copy = WARD_BUF_INIT;
	ward_buf_puts(&copy, path);
	if (ward_buf_error(&copy) < 0)
		return ward_err_sys(err, -ENOMEM, "%s", path);
	for (size_t at = strlen(home) + 1; at <= copy.len; at++) {
		if (copy.data[at] != '/' && copy.data[at])
			continue;
		char was = copy.data[at];
		copy.data[at] = '\0';
		if (mkdir(copy.data, 0700) < 0 && errno != EEXIST)
			return ward_err_sys(err, -errno, "%s", copy.data);
		copy.data[at] = was;
	}
	return 0;
}
