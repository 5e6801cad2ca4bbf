/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the kernel how many ranges a descriptor has locked. */
#include "fs/ops/lock_count.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* proc(5): of all lines that a file on a disk has there, a "lock:" alone begins with this. */
#define FIRST 'l'

int ward_locks_of(int fd)
{
	char text[4096];
	bool at_start = true;
	int n = 0;
	ssize_t len;
	ward_cleanup_fd int info = -1;

	snprintf(text, sizeof(text), "/proc/self/fdinfo/%d", fd);
	info = open(text, O_RDONLY | O_CLOEXEC);
	if (info < 0)
		return -errno;
	while ((len = read(info, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < len; i++) {
			n += at_start && text[i] == FIRST && n < INT_MAX;
			at_start = text[i] == '\n';
		}
	return len < 0 ? -errno : n;
}
