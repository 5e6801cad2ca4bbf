/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts in which no socket answers. A read-only mount stops no connect(2) (inode_permission()
 * looks at it for files, directories and links alone). But a client needs the right to write to the
 * socket's inode, and the kernel gives that to nobody where a mount has no id for the inode's owner
 * (HAS_UNMAPPED_ID()). So the host's parts are mounted with a map that has the command's user
 * alone, and all groups: reading goes by groups and the rights of others as before, and inside,
 * other owners have no id anyway. Sockets that the command's user owns are not among it.
 *
 * Only root may make such a mount, and not of each file system (mount_setattr(2)).
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/sandbox/init/init.h"

static int write_map(pid_t pid, const char *file, const char *text)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	ward_cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : ward_fd_write_all(fd, text, strlen(text));
}

static int make_map(const struct ward_init *in, pid_t pid, int *ret_fd)
{
	char text[64];
	snprintf(text, sizeof(text), "%u %u 1\n", in->blueprint.agent_uid, in->blueprint.agent_uid);
	int r = write_map(pid, "uid_map", text);
	/* -1 is no id. */
	if (r == 0)
		r = write_map(pid, "gid_map", "0 0 4294967295\n");
	if (r < 0)
		return r;
	snprintf(text, sizeof(text), "/proc/%d/ns/user", (int)pid);
	int fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

/* A map of ids is known to the kernel as a user namespace alone: a process that only waits has it.
 */
static int make_namespace(const struct ward_init *in, int *ret_fd)
{
	int wait[2];
	char byte = 0;
	if (pipe2(wait, O_CLOEXEC) < 0)
		return -errno;
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0UL);
	if (pid == 0) {
		close(wait[1]);
		while (read(wait[0], &byte, 1) < 0 && errno == EINTR)
			continue;
		_exit(0);
	}
	int r = pid < 0 ? -errno : make_map(in, pid, ret_fd);
	close(wait[0]);
	close(wait[1]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return r;
}

int ward_init_shut_begin(struct ward_init *in)
{
	const struct ward_blueprint *p = &in->blueprint;
	bool any = false;
	in->shut = -1;
	for (size_t i = 0; i < p->n_entries && !any; i++)
		any = p->entries[i].flags & WARD_BLUEPRINT_SHUT;
	if (!any || !(p->flags & WARD_BLUEPRINT_ROOT))
		return 0;
	int r = make_namespace(in, &in->shut);
	/* A container whose root does not have all groups. */
	if (r == -EPERM)
		return 0;
	if (r == 0)
		in->applied |= WARD_INIT_SHUT;
	return r;
}

void ward_init_shut(struct ward_init *in, int mount)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)(unsigned)in->shut};
	if (in->shut < 0)
		return;
	if (mount_setattr(mount, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) == 0)
		return;
	/* All of them or none: then the uppermost alone. */
	in->applied &= ~(uint32_t)WARD_INIT_SHUT;
	(void)mount_setattr(mount, "", AT_EMPTY_PATH, &attr, sizeof(attr));
}

void ward_init_shut_end(struct ward_init *in)
{
	if (in->shut >= 0)
		close(in->shut);
	in->shut = -1;
}
