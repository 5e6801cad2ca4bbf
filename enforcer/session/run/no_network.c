/* SPDX-License-Identifier: Apache-2.0 */
/* Reads whether a command without a network looked for one. */
#include "enforcer/session/run/no_network.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* The file is about 1.5 KiB. */
#define COUNTERS_MAX ((size_t)64 << 10)

int ward_offline_open(pid_t pid)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/net/snmp", (int)pid);
	return pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

/* "KIND: NAME NAME…" is followed by "KIND: NUMBER NUMBER…" (kernel: net/ipv4/proc.c). 0 if it
 * does not exist. */
static unsigned long long counter(const char *text, const char *kind, const char *name)
{
	const char *names = strstr(text, kind), *values = names ? strchr(names, '\n') : NULL;
	if (!values || strncmp(values + 1, kind, strlen(kind)) != 0)
		return 0;
	const char *end = values++;
	while (names < end && *names != '\n') {
		size_t n = strcspn(names, " \n"), v = strcspn(values, " \n");
		if (n == strlen(name) && strncmp(names, name, n) == 0)
			return strtoull(values, NULL, 10);
		if (names[n] != ' ' || values[v] != ' ')
			return 0;
		names += n + 1;
		values += v + 1;
	}
	return 0;
}

bool ward_offline_looked(int fd)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (fd < 0 || ward_fd_read_all(fd, COUNTERS_MAX, &b) < 0 || ward_buf_error(&b) < 0)
		return false;
	const char *text = ward_buf_str(&b);
	return counter(text, "Ip:", "OutNoRoutes") || counter(text, "Udp:", "NoPorts");
}
