/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a thread act with the ids of the caller of its request. */
#include "fs/base/caller_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* What /proc/TID/status takes with n groups: ten digits and a space each; the rest is < 4 KiB. */
#define STATUS_SIZE(n) (4096 + (size_t)(n)*11)
/* More than almost every user has. Beyond it the list is on the heap. */
#define GROUPS_FEW 256
/* NGROUPS_MAX of linux/limits.h */
#define GROUPS_MAX 65536

/*
 * What this thread is known to be; false: unknown. Each of the system calls below makes new
 * credentials for the thread, and without this each request pays for eight of them.
 */
static _Thread_local struct {
	bool root; /* fsuid and fsgid are 0 */
	bool no_groups;
} now;

/*
 * The "Uid:" line: real, effective, saved, of file access. access(2) asks with the real one. A
 * thread of somebody else has the number of a caller that was killed, or lent its ring to one
 * (io_uring_register(2), personality): its groups are not the caller's.
 */
static bool is_of(const char *text, uid_t uid)
{
	const char *p = strstr(text, "\nUid:");
	unsigned id[4];

	if (!p || sscanf(p, "\nUid: %u %u %u %u", &id[0], &id[1], &id[2], &id[3]) != 4)
		return false;
	return uid == id[0] || uid == id[3];
}

struct groups {
	size_t n;
	gid_t *list; /* few, or allocated */
	gid_t few[GROUPS_FEW];
};

static void groups_free(struct groups *g)
{
	if (g->list != g->few)
		free(g->list);
}

/* The status of a thread as a string. -E2BIG: it does not fit. */
static int read_status(pid_t tid, char *text, size_t size)
{
	ward_cleanup_fd int fd = -1;
	char path[32];
	size_t len = 0;
	ssize_t got;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* A lack of descriptors is no refusal, and is ours, not the caller's. */
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE ? -ENFILE : -EACCES;
	while (len < size && (got = read(fd, text + len, size - len)) > 0)
		len += (size_t)got;
	if (len == size)
		return -E2BIG;
	text[len] = '\0';
	return 0;
}

/* The "Groups:" line of a status. -E2BIG: more than max of them. */
static int parse_groups(char *text, uid_t uid, gid_t *list, size_t max, size_t *ret_n)
{
	size_t n = 0;
	char *p, *end;

	if (!is_of(text, uid))
		return -EACCES;
	p = strstr(text, "\nGroups:");
	if (!p || !(end = strchr(p + 1, '\n')))
		return -EACCES;
	p += strlen("\nGroups:");
	*end = '\0';
	for (;;) {
		p += strspn(p, " \t");
		if (!*p)
			break;
		if (n == max)
			return -E2BIG;
		list[n++] = (gid_t)strtoul(p, &end, 10);
		if (end == p)
			return -EACCES;
		p = end;
	}
	*ret_n = n;
	return 0;
}

/* /proc/TID/status takes no lock of the task's mm. */
static int read_groups(pid_t tid, uid_t uid, struct groups *g)
{
	char few[STATUS_SIZE(GROUPS_FEW)];
	ward_cleanup_free char *text = NULL;
	int r = read_status(tid, few, sizeof(few));

	if (r == 0)
		r = parse_groups(few, uid, g->list, GROUPS_FEW, &g->n);
	if (r != -E2BIG)
		return r;
	text = malloc(STATUS_SIZE(GROUPS_MAX));
	g->list = malloc(GROUPS_MAX * sizeof(*g->list));
	if (!text || !g->list)
		return -ENOMEM;
	r = read_status(tid, text, STATUS_SIZE(GROUPS_MAX));
	return r < 0 ? r : parse_groups(text, uid, g->list, GROUPS_MAX, &g->n);
}

static bool set_groups(size_t n, const gid_t *groups)
{
	if (n == 0 && now.no_groups)
		return true;
	now.no_groups = false;
	if (syscall(SYS_setgroups, n, n ? groups : NULL) < 0)
		return false;
	now.no_groups = n == 0;
	return true;
}

void ward_identity_leave(void)
{
	/* The order matters: setgroups(2) and setfsgid(2) need capabilities that fsuid 0 has; and
	 * setfsuid(2) tells nothing of its success, so nothing here depends on it. */
	if (!now.root) {
		syscall(SYS_setfsuid, 0);
		syscall(SYS_setfsgid, 0);
	}
	(void)set_groups(0, NULL);
}

int ward_identity_enter(uid_t uid, gid_t gid, pid_t tid)
{
	__attribute__((cleanup(groups_free))) struct groups groups;
	int r = 0;

	groups.n = 0;
	groups.list = groups.few;
	/* Writeback and the kernel's own requests name no thread: their handle has been opened
	 * with the right identity. */
	if (tid > 0 && uid != 0)
		r = read_groups(tid, uid, &groups);
	if (r < 0)
		return r == -ENFILE ? r : -EACCES;
	if (!set_groups(groups.n, groups.list))
		return -EACCES;
	/* A root caller right after another one. */
	if (uid == 0 && gid == 0 && now.root)
		return 0;
	now.root = false;
	syscall(SYS_setfsgid, gid);
	syscall(SYS_setfsuid, uid);
	/* Both answer with the previous id: asking with an impossible one tells the present. */
	if ((uid_t)syscall(SYS_setfsuid, -1) != uid || (gid_t)syscall(SYS_setfsgid, -1) != gid) {
		ward_identity_leave();
		return -EACCES;
	}
	now.root = uid == 0 && gid == 0;
	return 0;
}
