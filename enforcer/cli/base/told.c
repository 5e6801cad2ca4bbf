/* SPDX-License-Identifier: Apache-2.0 */
/* Watches the directories of sessions. */
#include "enforcer/cli/base/told.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/owner/session_place.h"

/* As many sessions as a host has for a long time; the others are looked at as before. */
#define SESSIONS_MAX 1024
/* Of one read: some hundred events. */
#define EVENTS_SIZE 4096

int ward_told_open(void)
{
	return inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
}

void ward_told_watch(int fd, const char *runtime)
{
	char path[4096];
	if (fd < 0)
		return;
	/* A session that begins listens when its socket gets its name. */
	(void)inotify_add_watch(fd, runtime, IN_CREATE | IN_ONLYDIR);
	ward_cleanup_dir DIR *d = opendir(runtime);
	const struct dirent *e = NULL;
	for (unsigned n = 0; d && n < SESSIONS_MAX && (e = readdir(d));) {
		if (!ward_session_name_ok(e->d_name) ||
			snprintf(path, sizeof(path), "%s/%s", runtime, e->d_name) >=
				(int)sizeof(path))
			continue;
		n++;
		/* One that is watched stays so. */
		(void)inotify_add_watch(
			fd, path, IN_ATTRIB | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW);
	}
}

void ward_told_take(int fd)
{
	char events[EVENTS_SIZE];
	while (fd >= 0 && read(fd, events, sizeof(events)) > 0)
		;
}
