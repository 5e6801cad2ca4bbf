/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the login and the terminal of a process. */
#include "enforcer/session/ask/answerer.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"

/* Linux, admin-guide/devices.txt: the ends of pseudo-terminals, and terminals of the console. */
#define PTS_FIRST 136U
#define PTS_LAST 143U
#define TTY_MAJOR 4U

static bool read_of(pid_t pid, const char *what, char *buf, size_t size)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);
	if (n > 0)
		buf[n] = '\0';
	return n > 0;
}

/* The seventh field of proc_pid_stat(5), counted from behind the name. */
static unsigned terminal_of(const char *stat)
{
	int tty = 0;
	const char *at = strrchr(stat, ')');
	return at && sscanf(at + 1, " %*c %*d %*d %*d %d", &tty) == 1 && tty > 0 ? (unsigned)tty
										 : 0;
}

/* The 22nd one. */
static uint64_t started_of(const char *stat)
{
	const char *at = strrchr(stat, ')');
	for (unsigned field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) * (WARD_NS_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK))
		  : 0;
}

void ward_answerer_find(pid_t pid, uid_t uid, struct ward_answerer *ret)
{
	char text[32];
	*ret = (struct ward_answerer){.pid = pid, .uid = uid, .login = (uid_t)-1};
	if (read_of(pid, "loginuid", text, sizeof(text)))
		ret->login = (uid_t)strtoul(text, NULL, 10);
	char stat[512] = "";
	(void)!read_of(pid, "stat", stat, sizeof(stat));
	ret->started_ns = started_of(stat);
	const unsigned tty = terminal_of(stat), at = major(tty);
	if (at >= PTS_FIRST && at <= PTS_LAST)
		(void)snprintf(ret->terminal, sizeof(ret->terminal), "pts/%u",
			(at - PTS_FIRST) * 256 + minor(tty));
	else if (at == TTY_MAJOR)
		(void)snprintf(ret->terminal, sizeof(ret->terminal), "tty%u", minor(tty));
}
