/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into LTP's programs by tests/external/suites.py: where one mounts the device that it
 * has formatted, the directory WARD_DEVICE is bound there instead, so that what the test then does
 * is done to the file system of that directory. Its mkfs, put first in PATH, empties the directory.
 * What is mounted again gets its flags at that place alone; what is mounted from elsewhere is left
 * as it is.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

typedef int mount_function(const char *, const char *, const char *, unsigned long, const void *);

__attribute__((visibility("default"))) int mount(const char *source, const char *target,
	const char *type, unsigned long flags, const void *data)
{
	mount_function *next = (mount_function *)dlsym(RTLD_NEXT, "mount");
	const char *device = getenv("LTP_DEV"), *directory = getenv("WARD_DEVICE");
	const bool again = flags & MS_REMOUNT;
	int error;

	if (!next) {
		errno = ENOSYS;
		return -1;
	}
	if (!source || !device || !directory || strcmp(source, device) != 0 ||
		flags & (MS_BIND | MS_MOVE))
		return next(source, target, type, flags, data);
	if (!again && next(directory, target, NULL, MS_BIND, NULL) < 0)
		return -1;
	if (!flags || !next(NULL, target, NULL, MS_BIND | MS_REMOUNT | flags, NULL))
		return 0;
	error = errno;
	if (!again)
		(void)umount(target);
	errno = error;
	return -1;
}
