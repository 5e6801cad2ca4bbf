/* SPDX-License-Identifier: Apache-2.0 */
/* Syncs a log, and asks the file system whether that was true. */
#include "audit/write/log_sync.h"

#include <errno.h>
#include <sys/xattr.h>
#include <unistd.h>

/*
 * If ext4 gives up its journal during a sync, it still answers 0, and after the journal was
 * replayed the file is as short as before. From then on ext4 refuses every operation that needs the
 * journal. Removing an attribute that does not exist needs it, and changes nothing, so this call
 * finds out. Other file systems report the failure at once.
 */
int ward_log_sync(int fd)
{
	if (fdatasync(fd) < 0)
		return -errno;
	if (fremovexattr(fd, "user.wardfs.none") < 0 && (errno == EROFS || errno == EIO))
		return -errno;
	return 0;
}
