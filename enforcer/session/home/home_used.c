/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the note of how much a kept home holds. */
#include "enforcer/session/home/home_used.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

#define NAME "used"
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* Each line is written over the last one: a file that is cut to be written again waits for the
 * disk.
 */
#define LINE_BYTES (WARD_HOME_USED_MAX - 1)

/* The first line of a short file. False: not there, too long, no text. */
static bool read_text(int dir, const char *name, char *ret, size_t max)
{
	ward_cleanup_fd int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, max);
	if (n <= 0 || (size_t)n == max || memchr(ret, '\0', (size_t)n)) {
		ret[0] = '\0';
		return false;
	}
	ret[n] = '\0';
	char *end = strchr(ret, '\n');
	if (end)
		end[1] = '\0';
	return true;
}

/* line ends with a line feed; so does all that is behind it. */
static int write_line(int dir, const char *line)
{
	char all[LINE_BYTES];
	size_t n = strlen(line);
	ward_cleanup_fd int fd =
		openat(dir, NAME, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	memset(all, '\n', sizeof(all));
	memcpy(all, line, n < sizeof(all) ? n : sizeof(all));
	return ward_fd_write_all(fd, all, sizeof(all));
}

void ward_home_used_read(int dir, struct ward_home_used *u)
{
	*u = (struct ward_home_used){.known = false};
	if (dir >= 0)
		(void)read_text(dir, NAME, u->line, sizeof(u->line));
}

bool ward_home_used_believe(struct ward_home_used *u, uint64_t size)
{
	char boot[64], of[64], mark[64];
	uint64_t bytes = 0;
	unsigned starts = 0;
	int end = 0;
	/* Cut short, it has no line feed. */
	if (sscanf(u->line, "used %" SCNu64 " %u %63s %63s%n", &bytes, &starts, of, mark, &end) !=
			4 ||
		strcmp(u->line + end, "\n") != 0)
		return false;
	if (starts >= WARD_HOME_USED_STARTS || bytes > size / 2 ||
		!read_text(AT_FDCWD, BOOT_ID, boot, sizeof(boot)))
		return false;
	boot[strcspn(boot, "\n")] = '\0';
	if (strcmp(boot, of) != 0)
		return false;
	u->known = true;
	u->bytes = bytes;
	u->starts = starts + 1;
	return true;
}

void ward_home_used_counted(struct ward_home_used *u, uint64_t bytes)
{
	u->known = true;
	u->bytes = bytes;
	u->starts = 0;
}

int ward_home_used_begin(int dir, bool alone, struct ward_home_used *u)
{
	unsigned char random[16];
	char mark[2 * sizeof(random) + 1], line[WARD_HOME_USED_MAX], now[WARD_HOME_USED_MAX];
	randombytes_buf(random, sizeof(random));
	sodium_bin2hex(mark, sizeof(mark), random, sizeof(random));
	/* Another line: a session was here since the size was asked for. */
	(void)read_text(dir, NAME, now, sizeof(now));
	bool same = strcmp(now, u->line) == 0;
	snprintf(line, sizeof(line), "open %s\n", mark);
	int r = write_line(dir, line);
	if (r == 0 && alone && same && u->known)
		snprintf(u->mark, sizeof(u->mark), "%s", mark);
	return r;
}

void ward_home_used_end(int dir, uint64_t added, const struct ward_home_used *u)
{
	char boot[64], line[WARD_HOME_USED_MAX], own[WARD_HOME_USED_MAX];
	if (!u->mark[0] || added > UINT64_MAX - u->bytes ||
		!read_text(AT_FDCWD, BOOT_ID, boot, sizeof(boot)))
		return;
	boot[strcspn(boot, "\n")] = '\0';
	snprintf(own, sizeof(own), "open %s\n", u->mark);
	if (!read_text(dir, NAME, line, sizeof(line)) || strcmp(line, own) != 0)
		return;
	int n = snprintf(line, sizeof(line), "used %" PRIu64 " %u %s %s\n", u->bytes + added,
		u->starts, boot, u->mark);
	if (n > 0 && (size_t)n < sizeof(line))
		(void)!write_line(dir, line);
}
