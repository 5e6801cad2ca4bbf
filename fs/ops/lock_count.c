/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the kernel which ranges a descriptor has locked. */
#include "fs/ops/lock_count.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* A line "lock:\t1: OFDLCK  ADVISORY  READ -1 08:01:123 0 EOF". 0: no such lock. */
static int read_lock(const char *line, struct flock *ret)
{
	char class[8], kind[8], last[24];
	long long first;

	if (sscanf(line, "lock: %*s %7s %*s %7s %*s %*s %lld %23s", class, kind, &first, last) !=
			4 ||
		strcmp(class, "OFDLCK"))
		return 0;
	if (strcmp(kind, "READ"))
		return -ENOLCK;
	*ret = (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = first};
	if (strcmp(last, "EOF"))
		ret->l_len = strtoll(last, NULL, 10) - first + 1;
	return 1;
}

int ward_locks_copy(int from, int to)
{
	char path[64], *line = NULL;
	struct flock lock;
	size_t size = 0;
	FILE *info;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", from);
	info = fopen(path, "re");
	if (!info)
		return -errno;
	while (r == 0 && getline(&line, &size, info) > 0) {
		r = read_lock(line, &lock);
		if (r > 0)
			r = fcntl(to, F_OFD_SETLK, &lock) < 0 ? -ENOLCK : 0;
	}
	free(line);
	fclose(info);
	return r;
}
