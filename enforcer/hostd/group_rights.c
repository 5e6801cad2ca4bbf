/* SPDX-License-Identifier: Apache-2.0 */
/* Takes from a process that makes control groups what it does not need. */
#include "enforcer/hostd/group_rights.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/hostd/rights.h"

#define CAP(c) (1U << (c))
#define KEPT_CAPS (CAP(CAP_DAC_OVERRIDE) | CAP(CAP_KILL))
#define MAIN_CAPS (KEPT_CAPS | CAP(CAP_SETUID))
/* include/uapi/linux/landlock.h, by ABI */
#define RIGHTS_ABI_1 ((1U << 13) - 1)
#define RIGHT_REFER (1U << 13)	   /* 2 */
#define RIGHT_TRUNCATE (1U << 14)  /* 3 */
#define RIGHT_IOCTL_DEV (1U << 15) /* 5 */
#define NETWORK_RIGHTS 3U	   /* 4 */
#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

int ward_keeper_main(struct ward_err *err)
{
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	const int r = ward_rights_set(MAIN_CAPS, 0);
	return r < 0 ? ward_err_sys(err, r,
			       "CAP_DAC_OVERRIDE, CAP_KILL and CAP_SETUID (the unit gives them)")
		     : 0;
}

int ward_keeper_raise(void)
{
	return ward_rights_set(MAIN_CAPS, MAIN_CAPS);
}

int ward_keeper_act_as(uid_t uid)
{
	return syscall(SYS_setresuid, (uid_t)-1, uid, (uid_t)-1) < 0 ? -errno : 0;
}

static int leave(int ruleset, int dir, uint64_t rights)
{
	const struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = dir};

	return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0
		       ? -errno
		       : 0;
}

static int restrict_files(const struct ward_keeper_dir *dirs, size_t n, struct ward_err *err)
{
	const long abi =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct {
		uint64_t fs;
		uint64_t net;
	} attr = {.fs = RIGHTS_ABI_1};

	if (abi < 1)
		return ward_err_set(err, -ENOTSUP, "the kernel has no Landlock");
	if (abi >= 2)
		attr.fs |= RIGHT_REFER;
	if (abi >= 3)
		attr.fs |= RIGHT_TRUNCATE;
	if (abi >= 4)
		attr.net = NETWORK_RIGHTS;
	if (abi >= 5)
		attr.fs |= RIGHT_IOCTL_DEV;
	ward_cleanup_fd int set = (int)syscall(
		SYS_landlock_create_ruleset, &attr, abi >= 4 ? sizeof(attr) : sizeof(attr.fs), 0);
	ward_cleanup_fd int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (set < 0 || proc < 0)
		return ward_err_sys(err, -errno, "landlock");
	int r = leave(set, proc, READ);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = leave(set, dirs[i].fd,
			LANDLOCK_ACCESS_FS_REMOVE_DIR |
				(dirs[i].files ? READ | LANDLOCK_ACCESS_FS_WRITE_FILE : 0));
	if (r == 0 && syscall(SYS_landlock_restrict_self, set, 0) < 0)
		r = -errno;
	return r < 0 ? ward_err_sys(err, r, "landlock") : 0;
}

int ward_keeper_confine(const struct ward_keeper_dir *dirs, size_t n, struct ward_err *err)
{
	static const int calls[] = {SCMP_SYS(unlinkat), SCMP_SYS(pidfd_open),
		SCMP_SYS(pidfd_send_signal), SCMP_SYS(nanosleep), SCMP_SYS(eventfd2),
		SCMP_SYS(clock_nanosleep)};
	int r = ward_rights_set(KEPT_CAPS, KEPT_CAPS);

	if (r < 0)
		return ward_err_sys(err, r, "capset");
	r = restrict_files(dirs, n, err);
	return r < 0 ? r : ward_rights_filter(calls, sizeof(calls) / sizeof(*calls), NULL, err);
}
