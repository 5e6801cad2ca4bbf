/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces and identity: who the command is, and that it can become nobody else. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/sandbox/init/init.h"

/*
 * Without CLONE_NEWPID: pid 1 is cloned into that one; and without CLONE_NEWCGROUP, which comes
 * when pid 1 is in its groups (ward_init_unshare_cgroup()).
 */
static int namespaces(const struct ward_blueprint *p)
{
	int flags = CLONE_NEWUSER | CLONE_NEWNS;
	if (p->layers & WARD_LAYER_HOST)
		flags |= CLONE_NEWIPC | CLONE_NEWUTS;
	return p->layers & WARD_LAYER_NET ? flags | CLONE_NEWNET : flags;
}

static int write_file(const char *path, const char *text)
{
	ward_cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : ward_fd_write_all(fd, text, strlen(text));
}

static int unshare_all(struct ward_init *in, struct ward_err *err)
{
	if (unshare(namespaces(&in->blueprint)) == 0) {
		in->unshared = 0;
		return 0;
	}
	int code = -errno;
	switch (code) {
	case -ENOSPC:
		return ward_err_sys(err, code,
			"no more namespaces: user.max_user_namespaces (or another "
			"user.max_*_namespaces) is used up or 0; fix: sysctl -w "
			"user.max_user_namespaces=10000");
	case -EPERM:
	case -EACCES:
		return ward_err_sys(err, code,
			"user namespaces are refused to this user; fix: sysctl -w "
			"kernel.unprivileged_userns_clone=1 (Debian) or "
			"kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), or let the "
			"container's seccomp profile pass unshare(2)");
	case -EINVAL:
		return ward_err_sys(err, code,
			"this kernel lacks a namespace (user, mount, ipc, uts, net and cgroup are "
			"needed)");
	default:
		return ward_err_sys(err, code, "make namespaces");
	}
}

int ward_init_unshare_rootless(struct ward_init *in, struct ward_err *err)
{
	const struct ward_blueprint *p = &in->blueprint;
	char map[64];
	int r = unshare_all(in, err);
	if (r < 0)
		return r;
	/* One id onto itself is all that user_namespaces(7) lets an ordinary user map. */
	r = write_file("/proc/self/setgroups", "deny");
	if (r == 0) {
		snprintf(map, sizeof(map), "%u %u 1\n", p->agent_uid, p->owner_uid);
		r = write_file("/proc/self/uid_map", map);
	}
	if (r == 0) {
		snprintf(map, sizeof(map), "%u %u 1\n", p->agent_gid, p->owner_gid);
		r = write_file("/proc/self/gid_map", map);
	}
	if (r < 0)
		return ward_err_sys(err, r, "map user %u into the namespace", p->owner_uid);
	if (getgroups(0, NULL) > 0)
		in->applied |= WARD_INIT_GROUPS_KEPT;
	return 0;
}

int ward_init_unshare_root(struct ward_init *in, struct ward_err *err)
{
	const struct ward_blueprint *p = &in->blueprint;
	/* The owner's groups are no concern of a command that runs as somebody else. */
	bool same = p->owner_uid == p->agent_uid;
	if (setgroups(same ? p->n_groups : 0, p->groups) < 0)
		return ward_err_sys(err, -errno, "set the owner's groups");
	/*
	 * The owner must own the namespace (user_namespaces(7): the effective id of its creator).
	 * Then the file system's daemon, which runs as the owner, may look at the processes
	 * in it. Capabilities stay through the change of ids: hosts that restrict user namespaces
	 * ask for CAP_SYS_ADMIN.
	 */
	if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) < 0)
		return ward_err_sys(err, -errno, "keep capabilities for a moment");
	if (setresgid(p->owner_gid, p->owner_gid, p->owner_gid) < 0 ||
		setresuid(p->owner_uid, p->owner_uid, p->owner_uid) < 0)
		return ward_err_sys(err, -errno, "become user %u", p->owner_uid);
	return unshare_all(in, err);
}

int ward_init_unshare_cgroup(const struct ward_init *in, struct ward_err *err)
{
	if (in->blueprint.layers & WARD_LAYER_HOST && unshare(CLONE_NEWCGROUP) < 0)
		return ward_err_sys(err, -errno, "make a cgroup namespace");
	return 0;
}

int ward_init_become_agent(struct ward_init *in, struct ward_err *err)
{
	const bool zero = in->blueprint.flags & WARD_BLUEPRINT_ALL_ZERO;
	gid_t gid = zero ? 0 : in->blueprint.agent_gid;
	uid_t uid = zero ? 0 : in->blueprint.agent_uid;
	if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return ward_err_sys(err, -errno, "become user %u", uid);
	return 0;
}

static int loopback_up(void)
{
	ward_cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		/* Without IPv4 there is no loopback to raise. */
		return errno == EAFNOSUPPORT ? 0 : -errno;
	struct ifreq ifr = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	return ioctl(fd, SIOCSIFFLAGS, &ifr) < 0 ? -errno : 0;
}

/*
 * What the kernel counts for a user as a whole, over all namespaces: a quarter stays to the owner's
 * programs outside. ENOENT: a kernel without it.
 */
static int leave_shares(struct ward_err *err)
{
	static const char *const shared[][2] = {
		{"/proc/sys/fs/inotify/max_user_instances", "/proc/sys/user/max_inotify_instances"},
		{"/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches"}};
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		char text[32];
		ward_cleanup_fd int fd = open(shared[i][0], O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		if (n < 0 && errno == ENOENT)
			continue;
		if (n < 0)
			return ward_err_sys(err, -errno, "read %s", shared[i][0]);
		text[n] = '\0';
		long all = strtol(text, NULL, 10);
		snprintf(text, sizeof(text), "%ld", all - all / 4);
		int r = write_file(shared[i][1], text);
		if (r < 0 && r != -ENOENT)
			return ward_err_sys(err, r, "write %s", shared[i][1]);
	}
	return 0;
}

/*
 * The engine makes one, and pid 1 of the container another, in which the command has its own id
 * again (engine.c). The kernel counts those within against this number, too, so nobody inside can
 * make a third. Where the sandbox's own takes the place of the engine's, one is left. A kernel of
 * its own answers its processes itself; what it needs are some for its
 * parts.
 */
static const char *namespaces_left(const struct ward_blueprint *p)
{
	return !(p->flags & WARD_BLUEPRINT_ENGINE)  ? "0"
	       : p->flags & WARD_BLUEPRINT_FOREIGN  ? "8"
	       : p->flags & WARD_BLUEPRINT_ALL_ZERO ? "1"
						    : "2";
}

int ward_init_furnish(struct ward_init *in, struct ward_err *err)
{
	const char *host = in->blueprint.hostname;
	uint32_t layers = in->blueprint.layers;
	if (layers & WARD_LAYER_HOST &&
		(sethostname(host, strlen(host)) < 0 || setdomainname("(none)", 6) < 0))
		return ward_err_sys(err, -errno, "set the host name %s", host);
	int r = layers & WARD_LAYER_NET ? loopback_up() : 0;
	if (r < 0)
		return ward_err_sys(err, r, "raise the loopback interface");
	/* The host's session keyring must not come along (keyctl(2)). */
	if (layers & WARD_LAYER_KEYRING) {
		if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0)
			in->applied |= WARD_INIT_KEYRING;
		else if (errno != ENOSYS)
			return ward_err_sys(err, -errno,
				"join a new session keyring (fix: in a container, a seccomp "
				"profile that passes keyctl)");
	}
	if (!(layers & WARD_LAYER_HOST))
		return 0;
	/* ENODEV: a kernel without message queues. */
	char queues[32];
	snprintf(queues, sizeof(queues), "%s/dev/mqueue", in->view[1] ? in->view : "");
	if (layers & WARD_LAYER_VIEW &&
		mount("mqueue", queues, "mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0 &&
		errno != ENODEV)
		return ward_err_sys(err, -errno, "mount /dev/mqueue");
	/* Of this namespace only: a second wall behind seccomp. */
	r = write_file("/proc/sys/user/max_user_namespaces", namespaces_left(&in->blueprint));
	if (r < 0)
		return ward_err_sys(err, r, "forbid further user namespaces");
	in->applied |= WARD_INIT_NO_USERNS;
	return leave_shares(err);
}

int ward_init_drop(struct ward_err *err)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}, {0}};
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap) < 0)
			return ward_err_sys(err, -errno, "drop capability %lu", cap);
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return ward_err_sys(err, -errno, "clear ambient capabilities");
	if (prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |
					     SECBIT_NO_SETUID_FIXUP_LOCKED |
					     SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
					     SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED) < 0)
		return ward_err_sys(err, -errno, "lock the secure bits");
	if (syscall(SYS_capset, &head, none) < 0)
		return ward_err_sys(err, -errno, "drop all capabilities");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return ward_err_sys(err, -errno, "set no_new_privs");
	/* Nobody inside may trace pid 1 or read its /proc files. exec sets the command's back. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return ward_err_sys(err, -errno, "become non-dumpable");
	return 0;
}
