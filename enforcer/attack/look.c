/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/attack/look.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/attack/attack.h"

static const char *const namespaces[] = {
	"user", "mnt", "pid_for_children", "net", "ipc", "uts", "cgroup", "time_for_children"};

static uint64_t mix(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3;
	return h;
}

/* A process that has ended and that nobody has waited for does nothing any more. */
static bool has_ended(const char *pid)
{
	char at[300], line[512] = "";
	snprintf(at, sizeof(at), "/proc/%s/stat", pid);
	FILE *in = fopen(at, "re");
	const bool read = in && fgets(line, sizeof(line), in);
	const char *state = read ? strrchr(line, ')') : NULL;
	if (in)
		fclose(in);
	return !state || strncmp(state, ") Z", 3) == 0 || strncmp(state, ") X", 3) == 0;
}

pid_t ward_look_find(const char *name)
{
	char at[300], comm[32];
	DIR *d = opendir("/proc");
	const struct dirent *e;
	pid_t found = -1;

	while (d && found < 0 && (e = readdir(d))) {
		if (!isdigit((unsigned char)*e->d_name))
			continue;
		snprintf(at, sizeof(at), "/proc/%s/comm", e->d_name);
		const int fd = open(at, O_RDONLY | O_CLOEXEC);
		const ssize_t n = fd < 0 ? -1 : read(fd, comm, sizeof(comm) - 1);
		if (fd >= 0)
			close(fd);
		if (n <= 0)
			continue;
		comm[n] = '\0';
		comm[strcspn(comm, "\n")] = '\0';
		if (strcmp(comm, name) == 0 && !has_ended(e->d_name))
			found = (pid_t)atol(e->d_name);
	}
	if (d)
		closedir(d);
	if (found < 0)
		errno = ESRCH;
	return found;
}

static uint64_t namespace_of(const char *process, const char *name)
{
	char at[64];
	struct stat st;
	snprintf(at, sizeof(at), "/proc/%s/ns/%s", process, name);
	return stat(at, &st) < 0 ? 0 : st.st_ino;
}

static int count_entries(const char *process, const char *dir)
{
	char at[64];
	int n = 0;
	snprintf(at, sizeof(at), "/proc/%s/%s", process, dir);
	DIR *d = opendir(at);
	if (!d)
		return -1;
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static int read_status(const char *process, struct ward_look *l)
{
	char at[64], line[512];
	snprintf(at, sizeof(at), "/proc/%s/status", process);
	FILE *in = fopen(at, "re");
	if (!in)
		return -1;
	while (fgets(line, sizeof(line), in)) {
		if (strncmp(line, "Uid:", 4) == 0 || strncmp(line, "Gid:", 4) == 0 ||
			strncmp(line, "Groups:", 7) == 0)
			l->ids = mix(l->ids, line);
		if (strncmp(line, "Uid:", 4) == 0)
			l->uid = (unsigned)strtoul(line + 4, NULL, 10);
		if (strncmp(line, "CapEff:", 7) == 0)
			l->capabilities = strtoull(line + 7, NULL, 16);
		else if (strncmp(line, "CapBnd:", 7) == 0)
			l->bounding = strtoull(line + 7, NULL, 16);
		else if (strncmp(line, "Cap", 3) == 0)
			l->kept |= strtoull(line + 7, NULL, 16);
		else if (strncmp(line, "NoNewPrivs:", 11) == 0)
			l->no_new_privileges = atoi(line + 11) == 1;
		else if (strncmp(line, "Seccomp:", 8) == 0)
			l->filtered = atoi(line + 8) == 2;
	}
	fclose(in);
	return 0;
}

/* "Max open files            1024                 4096                 files" */
static void read_limits(const char *process, struct ward_look *l)
{
	const struct {
		const char *name;
		uint64_t *to;
	} all[] = {{"Max open files", &l->files}, {"Max processes", &l->processes},
		{"Max core file size", &l->core}};
	char at[64], line[256], hard[32];

	snprintf(at, sizeof(at), "/proc/%s/limits", process);
	FILE *in = fopen(at, "re");
	while (in && fgets(line, sizeof(line), in))
		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
			if (strncmp(line, all[i].name, strlen(all[i].name)) == 0 &&
				sscanf(line + 26, "%*s %31s", hard) == 1)
				*all[i].to = strcmp(hard, "unlimited") == 0
						     ? UINT64_MAX
						     : strtoull(hard, NULL, 10);
	if (in)
		fclose(in);
}

static unsigned count_mounts(const char *process)
{
	char at[64];
	unsigned n = 0;
	int c;
	snprintf(at, sizeof(at), "/proc/%s/mountinfo", process);
	FILE *in = fopen(at, "re");
	while (in && (c = getc(in)) != EOF)
		n += c == '\n';
	if (in)
		fclose(in);
	return n;
}

int ward_look_at(pid_t pid, struct ward_look *ret)
{
	char process[16], at[64];
	struct stat st;

	*ret = (struct ward_look){0};
	snprintf(process, sizeof(process), "%d", (int)pid);
	const int n = count_entries(process, "fd");
	if (n < 0 || read_status(process, ret) < 0)
		return -1;
	ret->descriptors = (unsigned)n;
	for (size_t i = 0; i < sizeof(namespaces) / sizeof(*namespaces); i++)
		ret->namespaces[i] = namespace_of(process, namespaces[i]);
	ret->other_user = ret->namespaces[0] != namespace_of("self", namespaces[0]);
	ret->mounts = count_mounts(process);
	read_limits(process, ret);
	snprintf(at, sizeof(at), "/proc/%s/root", process);
	if (stat(at, &st) == 0)
		ret->root = st.st_ino * 31 + st.st_dev;
	return 0;
}

const char *ward_look_gain(const struct ward_look *before, const struct ward_look *after)
{
	for (size_t i = 0; i < sizeof(namespaces) / sizeof(*namespaces); i++)
		if (before->namespaces[i] != after->namespaces[i])
			return "a namespace";
	if (before->descriptors < after->descriptors)
		return "a descriptor";
	if (before->mounts != after->mounts)
		return "a mount";
	if (after->capabilities & ~before->capabilities)
		return "a capability";
	if (before->ids != after->ids)
		return "another user or group";
	if (before->root != after->root)
		return "another root directory";
	return NULL;
}

bool ward_look_lacks(const struct ward_look *own, const struct ward_look *l, int needs)
{
	switch (needs) {
	case WARD_NEEDS_FILTER:
		return l->filtered;
	case WARD_NEEDS_LIMIT_FILES:
		return l->files < own->files;
	case WARD_NEEDS_LIMIT_PROCESSES:
		return l->processes < own->processes;
	case WARD_NEEDS_LIMIT_CORE:
		return l->core < own->core;
	default:
		return l->other_user || !(l->capabilities >> needs & 1);
	}
}

bool ward_look_state(const struct ward_look *own, const struct ward_look *l, int needs)
{
	switch ((enum ward_state_seen)needs) {
	case WARD_STATE_USER:
	case WARD_STATE_MOUNT:
	case WARD_STATE_PID:
	case WARD_STATE_NET:
	case WARD_STATE_IPC:
	case WARD_STATE_UTS:
	case WARD_STATE_CGROUP:
		return l->namespaces[needs] == own->namespaces[needs];
	case WARD_STATE_ROOT:
		return l->root == own->root;
	case WARD_STATE_UNFILTERED:
		return !l->filtered;
	case WARD_STATE_PRIVILEGES:
		return !l->no_new_privileges;
	case WARD_STATE_BOUNDING:
		return l->bounding != 0;
	case WARD_STATE_CAPABILITIES:
		return (l->kept | l->capabilities) != 0;
	case WARD_STATE_SUPERUSER:
		return l->uid == 0;
	case WARD_STATE_FILES:
		return l->files >= own->files;
	case WARD_STATE_PROCESSES:
		return l->processes >= own->processes;
	case WARD_STATE_CORE:
		return l->core > 1 && l->core >= own->core;
	}
	return true;
}
