/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs doctor: namespaces and what is done inside of them, each tried in a child. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/cli/doctor/doctor.h"

static int write_file(const char *path, const char *text)
{
	ward_cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : ward_fd_write_all(fd, text, strlen(text));
}

/* A user namespace with one's own id mapped, and the other namespaces in flags. */
static int enter_user_namespace(int flags)
{
	char map[64];
	uid_t uid = geteuid();
	gid_t gid = getegid();
	if (unshare(CLONE_NEWUSER | flags) < 0)
		return -errno;
	int r = write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1\n", uid, uid);
	if (r == 0)
		r = write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1\n", gid, gid);
	return r < 0 ? r : write_file("/proc/self/gid_map", map);
}

static int try_userns(void)
{
	return enter_user_namespace(0);
}

static int try_pidns(void)
{
	return enter_user_namespace(CLONE_NEWPID);
}

static int try_netns(void)
{
	return enter_user_namespace(CLONE_NEWNET);
}

static int try_otherns(void)
{
	return enter_user_namespace(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP);
}

/* A detached mount: seen nowhere, gone with its descriptor. */
static int mount_detached(const char *type, const char *const (*options)[2], size_t n)
{
	ward_cleanup_fd int fs = fsopen(type, FSOPEN_CLOEXEC);
	if (fs < 0)
		return -errno;
	for (size_t i = 0; i < n; i++)
		if (fsconfig(fs, FSCONFIG_SET_STRING, options[i][0], options[i][1], 0) < 0)
			return -errno;
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	ward_cleanup_fd int mount = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	return mount < 0 ? -errno : 0;
}

static int try_fuse_mount(void)
{
	int r = enter_user_namespace(CLONE_NEWNS);
	if (r < 0)
		return r;
	ward_cleanup_fd int dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		return -errno;
	char fd[16], uid[16], gid[16];
	snprintf(fd, sizeof(fd), "%d", dev);
	snprintf(uid, sizeof(uid), "%u", geteuid());
	snprintf(gid, sizeof(gid), "%u", getegid());
	const char *const options[][2] = {{"source", "wardfs"}, {"fd", fd}, {"rootmode", "40000"},
		{"user_id", uid}, {"group_id", gid}};
	return mount_detached("fuse", options, sizeof(options) / sizeof(options[0]));
}

static int mount_proc(void)
{
	static const char *const options[][2] = {{"source", "proc"}};
	return mount_detached("proc", options, 1);
}

static int try_proc_mount(void)
{
	int r = enter_user_namespace(CLONE_NEWNS | CLONE_NEWPID);
	return r < 0 ? r : ward_check_in_child(mount_proc);
}

static int try_seccomp(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = {.len = 1, .filter = &allow};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
		return -errno;
	return 0;
}

static void check_try(struct ward_check *c, int (*fn)(void), const char *what, const char *fix)
{
	int r = ward_check_in_child(fn);
	if (r == 0)
		ward_check_say(c, WARD_CHECK_OK, NULL, "%s: worked", what);
	else
		ward_check_say(c, WARD_CHECK_MISSING, fix, "%s: %s", what, strerror(-r));
}

void ward_check_userns(struct ward_check *c)
{
	check_try(c, try_userns, "unshare(CLONE_NEWUSER), own id mapped",
		"as root, whichever exists: sysctl -w user.max_user_namespaces=10000; sysctl -w kernel.unprivileged_userns_clone=1; sysctl -w kernel.apparmor_restrict_unprivileged_userns=0; in a container: a seccomp profile that allows unshare");
}

void ward_check_pidns(struct ward_check *c)
{
	check_try(c, try_pidns, "unshare(CLONE_NEWPID)",
		"sysctl -w user.max_pid_namespaces=10000, or a kernel with CONFIG_PID_NS");
}

void ward_check_netns(struct ward_check *c)
{
	check_try(c, try_netns, "unshare(CLONE_NEWNET)",
		"sysctl -w user.max_net_namespaces=10000, or a kernel with CONFIG_NET_NS");
}

void ward_check_otherns(struct ward_check *c)
{
	check_try(c, try_otherns, "unshare(mount, ipc, uts, cgroup)",
		"sysctl -w user.max_mnt_namespaces=10000 (also max_ipc_, max_uts_, "
		"max_cgroup_namespaces)");
}

void ward_check_fuse_mount(struct ward_check *c)
{
	check_try(c, try_fuse_mount, "FUSE mounted in a namespace of its own",
		"see the lines on /dev/fuse and user namespaces");
}

void ward_check_proc_mount(struct ward_check *c)
{
	check_try(c, try_proc_mount, "proc mounted in a pid namespace of its own",
		"in a container: leave /proc uncovered (docker run --security-opt "
		"systempaths=unconfined)");
}

void ward_check_seccomp(struct ward_check *c)
{
	check_try(c, try_seccomp, "a filter installed", "a kernel with CONFIG_SECCOMP_FILTER");
}
