/* SPDX-License-Identifier: Apache-2.0 */
/* Takes identity, capabilities and paths from the process before it serves. */
#include "fs/base/fs_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/helper.h"
#include "fs/base/fs.h"

#define CAP(c) (UINT64_C(1) << (c))
/* CAP_FS_SET of include/linux/capability.h, which setfsuid(2) switches, without devices. */
#define CAPS_FILES                                                                                 \
	(CAP(CAP_CHOWN) | CAP(CAP_DAC_OVERRIDE) | CAP(CAP_DAC_READ_SEARCH) | CAP(CAP_FOWNER) |     \
		CAP(CAP_FSETID) | CAP(CAP_LINUX_IMMUTABLE))

static int get_caps(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &head, data) < 0 ? -errno : 0;
}

static int set_caps(const struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capset, &head, data) < 0 ? -errno : 0;
}

static int keep_caps(uint64_t permitted, uint64_t effective)
{
	const struct __user_cap_data_struct data[2] = {
		{.permitted = (uint32_t)permitted, .effective = (uint32_t)effective},
		{.permitted = (uint32_t)(permitted >> 32),
			.effective = (uint32_t)(effective >> 32)},
	};

	return set_caps(data);
}

int ward_confine_raise(const struct ward_fs *fs, struct __user_cap_data_struct ret_before[2])
{
	struct __user_cap_data_struct data[2];
	int r = 0;

	/* A daemon that acts as its callers has other capabilities in effect at times. All others
	 * have none. */
	memset(ret_before, 0, sizeof(data));
	ret_before[0].permitted = (uint32_t)CAP(CAP_SYS_ADMIN);
	if (fs->flags & WARD_FS_ALLOW_OTHER)
		r = get_caps(ret_before);
	if (r < 0)
		return r;
	memcpy(data, ret_before, sizeof(data));
	data[0].effective = (uint32_t)CAP(CAP_SYS_ADMIN);
	data[1].effective = (uint32_t)(CAP(CAP_SYS_ADMIN) >> 32);
	return set_caps(data);
}

int ward_confine_restore(const struct __user_cap_data_struct before[2])
{
	return set_caps(before);
}

static int become_owner(const struct ward_fs *fs, struct ward_err *err)
{
	const uid_t uid = fs->ids.owner_uid;
	const gid_t gid = fs->ids.owner_gid;

	if (setgroups(fs->n_groups, fs->groups) < 0)
		return ward_err_sys(err, -errno, "setgroups");
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
		return ward_err_sys(err, -errno, "PR_SET_KEEPCAPS");
	if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return ward_err_sys(err, -errno, "becoming uid %u", uid);
	return 0;
}

static int check_owner(const struct ward_fs *fs, struct ward_err *err)
{
	if (geteuid() != fs->ids.owner_uid || getegid() != fs->ids.owner_gid)
		return ward_err_set(err, -EPERM, "started as uid %u, not as the owner %u",
			geteuid(), fs->ids.owner_uid);
	return 0;
}

int ward_confine_identity(const struct ward_fs *fs, struct ward_err *err)
{
	uint64_t permitted = 0, effective = 0;
	int r;

	if (fs->flags & WARD_FS_ALLOW_OTHER) {
		if (geteuid() != 0)
			return ward_err_set(err, -EPERM, "serving other users takes root");
		permitted = effective = CAPS_FILES | CAP(CAP_SETUID) | CAP(CAP_SETGID);
		r = 0;
	} else if (fs->flags & WARD_FS_ROOT) {
		r = become_owner(fs, err);
	} else {
		r = check_owner(fs, err);
	}
	if (r < 0)
		return r;
	if (fs->flags & WARD_FS_PASSTHROUGH)
		permitted |= CAP(CAP_SYS_ADMIN);
	r = keep_caps(permitted, effective);
	if (r == -EPERM && permitted) /* passthrough asked for by an ordinary user */
		r = keep_caps(0, 0);
	if (r < 0)
		return ward_err_sys(err, r, "capset");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return ward_err_sys(err, -errno, "prctl");
	return 0;
}

/* Rights that <linux/landlock.h> of Debian 12 lacks; include/uapi/linux/landlock.h, Linux 6.10. */
#define RIGHT_REFER (UINT64_C(1) << 13)	    /* ABI 2 */
#define RIGHT_TRUNCATE (UINT64_C(1) << 14)  /* ABI 3 */
#define RIGHT_IOCTL_DEV (UINT64_C(1) << 15) /* ABI 5 */
#define RIGHTS_ABI1 ((UINT64_C(1) << 13) - 1)

static int allow_beneath(int ruleset, int fd, uint64_t rights, struct ward_err *err)
{
	const struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = fd};

	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		return ward_err_sys(err, -errno, "landlock rule");
	return 0;
}

int ward_confine_paths(const struct ward_fs *fs, struct ward_err *err)
{
	ward_cleanup_fd int ruleset = -1;
	ward_cleanup_fd int proc = -1;
	/* The first word alone: what every ABI knows. */
	uint64_t handled = RIGHTS_ABI1;
	long abi;
	int r;

	abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	/* ABI 1 forbids renames between directories altogether: of no use here. */
	if (abi < 2)
		return 0;
	handled |= RIGHT_REFER;
	if (abi >= 3)
		handled |= RIGHT_TRUNCATE;
	if (abi >= 5)
		handled |= RIGHT_IOCTL_DEV;
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);
	if (ruleset < 0)
		return ward_err_sys(err, -errno, "landlock");
	for (size_t i = 0; i < fs->n_trees; i++) {
		/* MAKE_CHAR for the device 0:0 alone, as the filter of system calls has it.
		 * EXECUTE too: the kernel opens a passthrough handle of an execve in our name. */
		r = allow_beneath(ruleset, fs->trees[i].root_fd,
			handled & ~LANDLOCK_ACCESS_FS_MAKE_BLOCK, err);
		if (r < 0)
			return r;
	}
	if (fs->flags & WARD_FS_REVIEW) {
		r = allow_beneath(
			ruleset, WARD_FD_FS_REVIEW, handled & ~LANDLOCK_ACCESS_FS_MAKE_BLOCK, err);
		if (r < 0)
			return r;
	}
	proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return ward_err_sys(err, -errno, "/proc");
	r = allow_beneath(ruleset, proc, LANDLOCK_ACCESS_FS_READ_FILE, err);
	if (r < 0)
		return r;
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return ward_err_sys(err, -errno, "landlock");
	return 0;
}
