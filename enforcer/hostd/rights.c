/* SPDX-License-Identifier: Apache-2.0 */
/* Takes from the service what it does not need, and gives each process its user's identity. */
#include "enforcer/hostd/rights.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "fs/base/fuse_kernel.h"

#define CAP(c) (1U << (c))
#define MAIN_CAPS (CAP(CAP_SYS_ADMIN) | CAP(CAP_SETUID) | CAP(CAP_SETGID))

int ward_rights_set(uint32_t permitted, uint32_t effective)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct data[2] = {
		{.permitted = permitted, .effective = effective}, {0}};

	return syscall(SYS_capset, &head, data) < 0 ? -errno : 0;
}

int ward_rights_main(struct ward_err *err)
{
	int r;

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	r = ward_rights_set(MAIN_CAPS, 0);
	return r < 0 ? ward_err_sys(err, r,
			       "CAP_SYS_ADMIN, CAP_SETUID and CAP_SETGID (the unit gives them)")
		     : 0;
}

int ward_rights_raise(bool on)
{
	return ward_rights_set(CAP(CAP_SYS_ADMIN), on ? CAP(CAP_SYS_ADMIN) : 0);
}

/* socket(7): SO_PEERGROUPS, the groups at connect(2). */
static int take_groups(int conn, struct ward_err *err)
{
	ward_cleanup_free gid_t *groups = NULL;
	socklen_t len = 0;

	if (getsockopt(conn, SOL_SOCKET, SO_PEERGROUPS, NULL, &len) < 0 && errno != ERANGE)
		return ward_err_sys(err, -errno, "SO_PEERGROUPS");
	groups = malloc(len ? len : 1);
	if (!groups)
		return ward_err_sys(err, -ENOMEM, "SO_PEERGROUPS");
	if (getsockopt(conn, SOL_SOCKET, SO_PEERGROUPS, groups, &len) < 0)
		return ward_err_sys(err, -errno, "SO_PEERGROUPS");
	if (setgroups(len / sizeof(*groups), groups) < 0)
		return ward_err_sys(err, -errno, "setgroups");
	return 0;
}

/* The ids of files alone: with another one the user could end or stop this process by a signal. */
static int act_as(int conn, const struct ucred *peer, struct ward_err *err)
{
	int r = ward_rights_set(MAIN_CAPS, CAP(CAP_SETUID) | CAP(CAP_SETGID));

	if (r < 0)
		return ward_err_sys(err, r, "capset");
	r = take_groups(conn, err);
	if (r < 0)
		return r;
	/* These return what was before, also when they failed: asked again, they tell. */
	(void)setfsgid(peer->gid);
	(void)setfsuid(peer->uid);
	if ((gid_t)setfsgid((gid_t)-1) != peer->gid || (uid_t)setfsuid((uid_t)-1) != peer->uid)
		return ward_err_set(err, -EPERM, "cannot act as user %u", (unsigned)peer->uid);
	r = ward_rights_raise(false);
	return r < 0 ? ward_err_sys(err, r, "capset") : 0;
}

/*
 * Opening is left alone: the kernel opens registered files in the name of this process, on mounts
 * too that Landlock could not find. The rights of include/uapi/linux/landlock.h, by ABI.
 */
static int restrict_files(struct ward_err *err)
{
	const uint64_t open_rights = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
				     LANDLOCK_ACCESS_FS_WRITE_FILE;
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct {
		uint64_t fs;
		uint64_t net;
	} attr = {.fs = ((1U << 13) - 1) & ~open_rights};
	ward_cleanup_fd int fd = -1;

	/* seccomp below denies all of that by itself. */
	if (abi < 1)
		return 0;
	if (abi >= 2)
		attr.fs |= 1U << 13; /* REFER */
	if (abi >= 4)
		attr.net = 3;
	fd = (int)syscall(
		SYS_landlock_create_ruleset, &attr, abi >= 4 ? sizeof(attr) : sizeof(attr.fs), 0);
	if (fd < 0 || syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return ward_err_sys(err, -errno, "landlock");
	return 0;
}

int ward_rights_filter(
	const int *calls, size_t n, int (*more)(scmp_filter_ctx ctx), struct ward_err *err)
{
	static const int common[] = {SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(poll),
		SCMP_SYS(ppoll), SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(lseek), SCMP_SYS(close),
		SCMP_SYS(openat), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(fstat),
		SCMP_SYS(newfstatat), SCMP_SYS(fcntl), SCMP_SYS(futex), SCMP_SYS(brk),
		SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(clock_gettime),
		SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(restart_syscall),
		SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(tgkill), SCMP_SYS(exit),
		SCMP_SYS(exit_group)};
	const size_t n_common = sizeof(common) / sizeof(*common);
	scmp_filter_ctx ctx;
	int r;

	/* Sanitizers map, trace and fork as they like. meson defines WARD_SANITIZED. */
	if (WARD_SANITIZED)
		return 0;
	ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	if (!ctx)
		return ward_err_sys(err, -ENOMEM, "seccomp");
	r = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, 1); /* of all threads */
	for (size_t i = 0; r == 0 && i < n_common + n; i++)
		r = seccomp_rule_add(
			ctx, SCMP_ACT_ALLOW, i < n_common ? common[i] : calls[i - n_common], 0);
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
			SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (r == 0 && more)
		r = more(ctx);
	if (r == 0)
		r = seccomp_load(ctx);
	seccomp_release(ctx);
	return r < 0 ? ward_err_sys(err, r, "seccomp") : 0;
}

static int allow_more(scmp_filter_ctx ctx)
{
	static const unsigned long ioctls[] = {
		WARD_DEV_IOC_BACKING_OPEN, WARD_DEV_IOC_BACKING_CLOSE};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(ioctls) / sizeof(*ioctls); i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
			SCMP_A1_32(SCMP_CMP_EQ, (uint32_t)ioctls[i]));
	/* Whether another process of the service is there still (bounds.h). */
	if (r == 0)
		r = seccomp_rule_add(
			ctx, SCMP_ACT_ALLOW, SCMP_SYS(kill), 1, SCMP_A1_32(SCMP_CMP_EQ, 0));
	return r;
}

int ward_rights_calls(struct ward_err *err)
{
	static const int calls[] = {SCMP_SYS(shutdown), SCMP_SYS(openat2), SCMP_SYS(open_tree),
		SCMP_SYS(mount_setattr), SCMP_SYS(capset)};

	return ward_rights_filter(calls, sizeof(calls) / sizeof(*calls), allow_more, err);
}

int ward_rights_worker(int conn, const struct ucred *peer, struct ward_err *err)
{
	int r = act_as(conn, peer, err);

	if (r == 0)
		r = restrict_files(err);
	return r;
}
