/* SPDX-License-Identifier: Apache-2.0 */
/* Removes what a killed runtime left. */
#include "enforcer/oci/groups.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/oci/runtime.h"

/* The runtime's last child ends when it finds the runtime's pipe closed. */
#define TRIES 100
#define BETWEEN_NS 100000000

const char *ward_oci_group(const json_t *config)
{
	const json_t *linux_part = json_object_get(config, "linux");
	const char *path = json_string_value(json_object_get(linux_part, "cgroupsPath"));
	if (!path || path[0] != '/' || !path[1] || path[1] == '/' || strstr(path, ".."))
		return NULL;
	return path;
}

/* True: no hierarchy has it any more, or its removal will never succeed. */
static bool removed(const char *group)
{
	bool busy = false;
	char text[4096];
	struct mntent m;
	FILE *f = setmntent("/proc/self/mounts", "re");
	while (f && getmntent_r(f, &m, text, sizeof(text))) {
		if (strcmp(m.mnt_type, "cgroup") != 0 && strcmp(m.mnt_type, "cgroup2") != 0)
			continue;
		ward_cleanup_fd int top = open(m.mnt_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (top >= 0 && unlinkat(top, group + 1, AT_REMOVEDIR) < 0 && errno == EBUSY)
			busy = true;
	}
	if (f)
		endmntent(f);
	return !busy;
}

void ward_oci_group_remove(const char *runtime, const struct ward_oci_args *a, const char *group)
{
	const struct timespec between = {.tv_nsec = BETWEEN_NS};
	pid_t pid = 0;
	if (!group || ward_oci_runtime_pid(runtime, a, &pid, NULL) < 0 || pid != -1)
		return;
	for (int i = 0; i < TRIES && !removed(group); i++)
		(void)nanosleep(&between, NULL);
}
