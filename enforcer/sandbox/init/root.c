/* SPDX-License-Identifier: Apache-2.0 */
/* pid 1: its own /proc, and the host's root let go. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/init/init.h"

int ward_init_pivot(struct ward_init *in, struct ward_err *err)
{
	if (fchdir(in->root) < 0)
		return ward_err_sys(err, -errno, "enter the new root");
	/*
	 * While the host's /proc can still be seen: in a user namespace the kernel gives a new proc
	 * only to those who see a whole one already (mount_too_revealing()). hidepid=2 hides what
	 * the command could not trace anyway: pid 1.
	 */
	if (in->blueprint.layers & WARD_LAYER_PID &&
		mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=2") < 0)
		return ward_err_sys(err, -errno, "mount /proc%s",
			errno == EPERM ? " (the host's own /proc is partly covered, as in a "
					 "container; run the container with an uncovered /proc)"
				       : "");
	in->mounted = 0;
	/* pivot_root(2), "pivot_root(".", ".")": the old root ends up on top and is detached. */
	if (syscall(SYS_pivot_root, ".", ".") < 0)
		return ward_err_sys(err, -errno, "pivot_root");
	if (umount2(".", MNT_DETACH) < 0)
		return ward_err_sys(err, -errno, "let go of the host's root");
	if (chdir("/") < 0)
		return ward_err_sys(err, -errno, "enter /");
	close(in->root);
	in->root = -1;
	return 0;
}

static int mask_file(const char *path)
{
	/* Before the clone: to let go of one that has no place makes the kernel wait for all CPUs.
	 */
	ward_cleanup_fd int at = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	if (at < 0)
		return errno == ENOENT ? 0 : -errno;
	ward_cleanup_fd int null =
		open_tree(AT_FDCWD, "/dev/null", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (null < 0)
		return -errno;
	if (move_mount(null, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return -errno;
	return 0;
}

static int mask_dir(const char *path)
{
	if (mount("wardfs", path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
		    "mode=0555,size=4k") < 0)
		return errno == ENOENT ? 0 : -errno;
	return 0;
}

static int protect(const char *path)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
					      MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC};
	ward_cleanup_fd int fd = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (mount_setattr(fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0 ||
		move_mount(fd, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return -errno;
	return 0;
}

int ward_init_mask_proc(struct ward_init *in, struct ward_err *err)
{
	/* What describes the host or reaches it; most are closed to a non-root id already. locks: a
	 * lock of an open file belongs to no pid, so the kernel shows it in every pid namespace.
	 * fs: what file systems tell of themselves, on some of them names of open files. */
	static const char *const files[] = {"/proc/kcore", "/proc/keys", "/proc/key-users",
		"/proc/kmsg", "/proc/locks", "/proc/sysrq-trigger", "/proc/timer_list",
		"/proc/latency_stats", "/proc/sched_debug", "/proc/vmallocinfo"};
	static const char *const dirs[] = {"/proc/acpi", "/proc/fs", "/proc/scsi"};
	/* pressure: who writes there has the kernel watch the host's load, in memory that nobody
	 * counts. */
	static const char *const readonly[] = {
		"/proc/sys", "/proc/bus", "/proc/irq", "/proc/driver", "/proc/pressure"};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int r = mask_file(files[i]);
		if (r < 0)
			return ward_err_sys(err, r, "cover %s", files[i]);
	}
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		int r = mask_dir(dirs[i]);
		if (r < 0)
			return ward_err_sys(err, r, "cover %s", dirs[i]);
	}
	for (size_t i = 0; i < sizeof(readonly) / sizeof(readonly[0]); i++) {
		int r = protect(readonly[i]);
		if (r < 0)
			return ward_err_sys(err, r, "protect %s", readonly[i]);
	}
	return 0;
}
