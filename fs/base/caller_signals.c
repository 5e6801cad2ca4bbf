/* SPDX-License-Identifier: Apache-2.0 */
/* Reads whether a thread of a client has a signal waiting. */
#include "fs/base/caller_signals.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* Without the groups (up to 65536), all of it is shorter (proc_pid_status(5)). */
#define STATUS_MAX 8192

/* The set of signals of a line, 0 where it does not exist. */
static uint64_t set(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	return p ? strtoull(p + strlen(name), NULL, 16) : 0;
}

bool ward_pending(pid_t tid)
{
	ward_cleanup_fd int fd = -1;
	char path[32], text[STATUS_MAX + 1];
	size_t len = 0;
	ssize_t n;

	if (tid <= 0)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/status", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	/* The end of the file: the signals come after the groups. */
	while ((n = read(fd, text + len, STATUS_MAX - len)) > 0) {
		len += (size_t)n;
		if (len == STATUS_MAX) {
			memmove(text, text + STATUS_MAX / 2, STATUS_MAX / 2);
			len = STATUS_MAX / 2;
		}
	}
	text[len] = '\0';
	return (set(text, "\nSigPnd:") | set(text, "\nShdPnd:")) & ~set(text, "\nSigBlk:") &
	       ~set(text, "\nSigIgn:");
}
