/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the version of the running kernel with the oldest that is supported. */
#include "enforcer/base/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CREATE_RULESET_VERSION (1U << 0) /* linux/landlock.h */

int ward_kernel_version(unsigned *ret_major, unsigned *ret_minor)
{
	struct utsname u;
	unsigned major = 0;
	unsigned minor = 0;
	if (uname(&u) < 0)
		return -errno;
	if (sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return -EPROTO;
	*ret_major = major;
	*ret_minor = minor;
	return 0;
}

int ward_kernel_check(struct ward_err *err)
{
	struct utsname u;
	unsigned major = 0;
	unsigned minor = 0;
	int r = ward_kernel_version(&major, &minor);
	if (r == 0 &&
		(major > WARD_KERNEL_FLOOR_MAJOR ||
			(major == WARD_KERNEL_FLOOR_MAJOR && minor >= WARD_KERNEL_FLOOR_MINOR)))
		return 0;
	return ward_err_set(err, -ENOTSUP,
		"the kernel is too old: Linux " WARD_KERNEL_FLOOR
		" or newer is needed, this is Linux %s; fix: boot a newer kernel (Debian 12, "
		"Ubuntu 24.04 and Fedora have one)",
		uname(&u) < 0 ? "?" : u.release);
}

bool ward_kernel_drops_pages(const char *release)
{
	unsigned major = 0;
	unsigned minor = 0;
	unsigned patch = 0;
	int n = sscanf(release, "%u.%u.%u", &major, &minor, &patch);
	if (n < 2)
		return false;
	if (major != 6)
		return major > 6;
	switch (minor) {
	case 12:
		return patch >= 64;
	case 18:
		return patch >= 3;
	default:
		return minor > 18;
	}
}

bool ward_kernel_drops_pages_here(void)
{
	struct utsname u;
	return uname(&u) == 0 && ward_kernel_drops_pages(u.release);
}

unsigned ward_kernel_landlock(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
	return abi >= 2 ? (unsigned)abi : 0;
}
