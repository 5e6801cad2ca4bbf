/* SPDX-License-Identifier: Apache-2.0 */
/* Takes identity, capabilities, files and system calls from wardfs-net. */
#include "enforcer/net/setup/net_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/net/setup/filters.h"

/* Rights that <linux/landlock.h> of Debian 12 lacks; include/uapi/linux/landlock.h, Linux 6.10. */
#define RIGHTS_ABI1 ((UINT64_C(1) << 13) - 1)
#define RIGHT_REFER (UINT64_C(1) << 13)	    /* ABI 2 */
#define RIGHT_TRUNCATE (UINT64_C(1) << 14)  /* ABI 3 */
#define RIGHT_IOCTL_DEV (UINT64_C(1) << 15) /* ABI 5 */

static int no_capabilities(struct ward_err *err)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}, {0}};
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &head, none) < 0 ? ward_err_sys(err, -errno, "drop capabilities")
						    : 0;
}

int ward_net_become_owner(
	uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups, bool root, struct ward_err *err)
{
	if (root) {
		if (setgroups(n_groups, groups) < 0)
			return ward_err_sys(err, -errno, "setgroups");
		if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
			return ward_err_sys(err, -errno, "becoming uid %u", uid);
	} else if (geteuid() != uid || getegid() != gid) {
		return ward_err_set(
			err, -EPERM, "started as uid %u, not as the owner %u", geteuid(), uid);
	}
	return no_capabilities(err);
}

static int no_paths(struct ward_err *err)
{
	uint64_t handled = RIGHTS_ABI1;
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	/* The second layer, behind a filter that lets nothing be opened. */
	if (abi < 1)
		return 0;
	handled |= abi >= 2 ? RIGHT_REFER : 0;
	handled |= abi >= 3 ? RIGHT_TRUNCATE : 0;
	handled |= abi >= 5 ? RIGHT_IOCTL_DEV : 0;
	ward_cleanup_fd int fd =
		(int)syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);
	if (fd < 0 || syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return ward_err_sys(err, -errno, "landlock");
	return 0;
}

int ward_net_confine(struct ward_err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return ward_err_sys(err, -errno, "prctl");
	int r = no_paths(err);
	/* Sanitizers map, trace and fork as they like. meson defines WARD_SANITIZED. */
	if (r < 0 || WARD_SANITIZED)
		return r;
	const struct sock_fprog program = {.len = ward_filter_broker.n,
		.filter = (struct sock_filter *)(uintptr_t)ward_filter_broker.code};
	/* The kernel takes a copy. */
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0
		       ? ward_err_sys(err, -errno, "seccomp")
		       : 0;
}
