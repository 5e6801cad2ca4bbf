/* SPDX-License-Identifier: Apache-2.0 */
/* The file ledger.seen: what an earlier reading of the ledger found. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/store/store.h"
#include "audit/store/store_internal.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

#define SEEN "ledger.seen"
#define FRESH "ledger.seen.new"

/*
 * Whose file it is: the directory's owner's, who can replace the ledger itself. Root reads the
 * ledgers of others, and for them keeps it as well.
 */
static int owner(const struct ward_store *st, uid_t *ret)
{
	struct stat sb;
	if (fstat(st->dir_fd, &sb) < 0)
		return -errno;
	if (sb.st_uid != geteuid() && geteuid() != 0)
		return -EPERM;
	*ret = sb.st_uid;
	return 0;
}

int ward_store_read_seen(struct ward_store *st, struct ward_buf *ret)
{
	struct stat sb;
	uid_t uid = 0;
	if (owner(st, &uid) < 0)
		return -ENOENT;
	/* O_NONBLOCK: a fifo in its place holds nobody up. */
	ward_cleanup_fd int fd =
		openat(st->dir_fd, SEEN, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &sb) < 0 || !S_ISREG(sb.st_mode) || sb.st_uid != uid ||
		sb.st_mode & 022)
		return -ENOENT;
	return ward_fd_read_all(fd, WARD_BUF_MAX - 1, ret);
}

/*
 * Not to disk: a file that is not whole has no good MAC, and the ledger is then read. So two who
 * write at a time do no harm either.
 */
int ward_store_write_seen(struct ward_store *st, const struct ward_buf *b)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	uid_t uid = 0;
	int r = owner(st, &uid);
	if (r < 0)
		return r;
	/* Of one who was killed. */
	(void)unlinkat(st->dir_fd, FRESH, 0);
	ward_cleanup_fd int fd = openat(st->dir_fd, FRESH, flags, 0600);
	if (fd < 0)
		return -errno;
	r = ward_fd_write_all(fd, b->data, b->len);
	if (r == 0 && uid != geteuid() && fchown(fd, uid, (gid_t)-1) < 0)
		r = -errno;
	if (r == 0 && renameat(st->dir_fd, FRESH, st->dir_fd, SEEN) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(st->dir_fd, FRESH, 0);
	return r;
}
