/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, looks at and changes files of the backing, one component at a time. */
#include "fs/kernel/backing.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "fs/kernel/overlay_layers.h"
#include "fs/review/review.h"

/*
 * What stands between a session's view and the backing, of a review session; NULL: nothing does.
 * Set once, before anything is served.
 */
static struct ward_review *staged;

/* As long as a rename of another session may take. */
#define LEASE_TRIES 20
#define LEASE_PAUSE_NS 2000000L

#define STAT_MASK (STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID)

void ward_backing_stage(struct ward_review *rv)
{
	staged = rv;
}

struct ward_review *ward_backing_staged(void)
{
	return staged;
}

void ward_backing_fd_path(int fd, char ret_path[WARD_BACKING_FD_PATH_MAX])
{
	(void)snprintf(ret_path, WARD_BACKING_FD_PATH_MAX, "/proc/self/fd/%d", fd);
}

/* Does the kernel itself know what is there, without asking a server? */
static bool is_local(uint32_t type)
{
	/* statfs(2); the last two are not in <linux/magic.h>. */
	static const uint32_t types[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
		F2FS_SUPER_MAGIC, TMPFS_MAGIC, 0x2fc12fc1 /* zfs */, 0xca451a4e /* bcachefs */};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (type == types[i])
			return true;
	return false;
}

int ward_backing_init(struct ward_fs_tree *tree, struct ward_err *err)
{
	struct statx stx;
	struct statfs fs;

	if (statx(tree->root_fd, "", AT_EMPTY_PATH, STAT_MASK, &stx) < 0 ||
		fstatfs(tree->root_fd, &fs) < 0)
		return ward_err_sys(err, -errno, "%s: stat of the backing", tree->path);
	/* A single file may lie on whatever file system. */
	tree->stack_depth = tree->files || fs.f_type == OVERLAYFS_SUPER_MAGIC ? 2 : 1;
	if (!S_ISDIR(stx.stx_mode))
		return ward_err_set(
			err, -ENOTDIR, "%s: the backing is not a directory", tree->path);
	tree->dev = makedev(stx.stx_dev_major, stx.stx_dev_minor);
	tree->mnt_id = stx.stx_mask & STATX_MNT_ID ? stx.stx_mnt_id : 0;
	tree->type = (uint32_t)fs.f_type;
	tree->local = is_local(tree->type);
	return fs.f_type == OVERLAYFS_SUPER_MAGIC && !tree->files
		       ? ward_overlay_layers_check(tree, err)
		       : 0;
}

/* Is it on another mount than the tree's? */
static bool is_elsewhere(const struct ward_fs_tree *tree, const struct statx *stx)
{
	return makedev(stx->stx_dev_major, stx->stx_dev_minor) != tree->dev ||
	       (tree->mnt_id && stx->stx_mask & STATX_MNT_ID && stx->stx_mnt_id != tree->mnt_id);
}

int ward_backing_stat(
	const struct ward_fs_tree *tree, int dirfd, const char *name, struct ward_file *ret)
{
	/* No automount: a look must not mount anything. */
	const int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
	struct statx stx;

	if (staged) {
		const int r = ward_review_stat(staged, dirfd, name, ret);

		if (r != WARD_REVIEW_LOWER)
			return r;
	}
	/*
	 * What is mounted there is not served, and its server may never answer: the kernel tells
	 * the mount without asking it.
	 */
	if (!tree->files) {
		if (statx(dirfd, name, flags | AT_STATX_DONT_SYNC, STAT_MASK, &stx) < 0)
			return -errno;
		if (is_elsewhere(tree, &stx))
			return -EXDEV;
	}
	if (tree->files || !tree->local) {
		if (statx(dirfd, name, flags, STAT_MASK, &stx) < 0)
			return -errno;
		if (!tree->files && is_elsewhere(tree, &stx))
			return -EXDEV;
	}
	ward_file_from_statx(&stx, ret);
	if (staged)
		ward_review_show(staged, &stx, ret);
	return 0;
}

int ward_backing_fstat(int fd, struct ward_file *ret)
{
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, STAT_MASK, &stx) < 0)
		return -errno;
	ward_file_from_statx(&stx, ret);
	if (staged)
		ward_review_show(staged, &stx, ret);
	return 0;
}

/* Our descriptors ran out, not those of the program that asks: EMFILE would send it looking. */
static int not_yours(int error)
{
	return error == EMFILE ? -ENFILE : -error;
}

static bool writes(int flags)
{
	return !(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY;
}

/* resolve: besides what holds for each name. */
static int open_name(
	int dirfd, const char *name, int flags, mode_t mode, uint64_t resolve, int *ret_fd)
{
	struct open_how how = {.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve};
	int fd;

	if (flags & O_TRUNC)
		return -EINVAL;
	if (strchr(name, '/') || !strcmp(name, ".."))
		return -EINVAL;
	if (flags & O_PATH)
		flags &= O_PATH | O_DIRECTORY;
	else
		flags |= O_NOCTTY | O_NONBLOCK;
	how.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NOFOLLOW);
	/* O_TMPFILE has the bit of O_DIRECTORY in it: all of it, or none. */
	how.mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? mode & 07777 : 0;
	fd = ward_fd_openat2(dirfd, *name ? name : ".", &how);
	/* Another session has a lease, for as long as it renames the file (gate/alone.h). */
	for (int i = 0; fd == -EAGAIN && i < LEASE_TRIES && writes(flags); i++) {
		(void)nanosleep(&(const struct timespec){.tv_nsec = LEASE_PAUSE_NS}, NULL);
		fd = ward_fd_openat2(dirfd, *name ? name : ".", &how);
	}
	if (fd < 0)
		return fd == -EAGAIN ? fd : not_yours(-fd);
	*ret_fd = fd;
	return 0;
}

/* The same, of what the session sees. */
static int open_seen(
	int dirfd, const char *name, int flags, mode_t mode, uint64_t resolve, int *ret_fd)
{
	if (staged && !(flags & O_TRUNC) && !strchr(name, '/') && strcmp(name, "..") != 0) {
		int only = flags & O_PATH ? flags & (O_PATH | O_DIRECTORY) : flags;
		const int r = ward_review_open(staged, dirfd, name, only, mode, ret_fd);

		if (r != WARD_REVIEW_LOWER)
			return r;
	}
	return open_name(dirfd, name, flags, mode, resolve, ret_fd);
}

int ward_backing_open(int dirfd, const char *name, int flags, mode_t mode, int *ret_fd)
{
	return open_seen(dirfd, name, flags, mode, RESOLVE_NO_XDEV, ret_fd);
}

int ward_backing_open_shown(
	const struct ward_fs_tree *tree, int dirfd, const char *name, int flags, int *ret_fd)
{
	return open_seen(dirfd, name, flags, 0, tree->files ? 0 : RESOLVE_NO_XDEV, ret_fd);
}

int ward_backing_reopen(int fd, int flags, int *ret_fd)
{
	if (staged) {
		const int r = ward_review_reopen(staged, fd, flags, ret_fd);

		if (r != WARD_REVIEW_LOWER)
			return r;
	}
	return ward_backing_reopen_itself(fd, flags, ret_fd);
}

int ward_backing_reopen_itself(int fd, int flags, int *ret_fd)
{
	char path[WARD_BACKING_FD_PATH_MAX];
	int r;

	ward_backing_fd_path(fd, path);
	r = openat(AT_FDCWD, path, (flags & ~O_TRUNC) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (r < 0)
		return not_yours(errno);
	*ret_fd = r;
	return 0;
}

/* The descriptor by which a file is looked at: fd itself, or one of what is staged for it, which
 * *keep closes. A negative errno. */
static int seen_by(int fd, int *keep)
{
	const int r = staged ? ward_review_shown(staged, fd, keep) : WARD_REVIEW_LOWER;

	return r == WARD_REVIEW_LOWER ? fd : r < 0 ? r : *keep;
}

/* The same, of a file whose attributes are about to change. */
static int changed_by(int fd, enum ward_review_need need, int *keep)
{
	const int r = staged ? ward_review_own(staged, fd, need, keep) : WARD_REVIEW_LOWER;

	return r == WARD_REVIEW_LOWER ? fd : r < 0 ? r : *keep;
}

/* Those of user.* are the writer's, ACLs the owner's. */
static enum ward_review_need xattr_need(const char *name)
{
	return strncmp(name, "user.", 5) ? WARD_REVIEW_OWNER : WARD_REVIEW_WRITER;
}

/* Times of now are the writer's to set, all others the owner's. */
static enum ward_review_need times_need(const struct timespec times[2])
{
	for (int i = 0; i < 2; i++)
		if (times[i].tv_nsec != UTIME_NOW && times[i].tv_nsec != UTIME_OMIT)
			return WARD_REVIEW_OWNER;
	return WARD_REVIEW_WRITER;
}

int ward_backing_access(int fd, int mask)
{
	ward_cleanup_fd int keep = -1;

	fd = seen_by(fd, &keep);
	if (fd < 0)
		return fd;
	/* faccessat2(2), Linux 5.8; glibc's wrapper emulates flags where the kernel lacks it. */
	if (syscall(SYS_faccessat2, fd, "", mask, AT_EACCESS | AT_EMPTY_PATH) < 0)
		return -errno;
	return 0;
}

int ward_backing_sync(void)
{
	return staged ? ward_review_sync(staged) : 0;
}

bool ward_backing_may_stage(int fd)
{
	return staged && ward_review_unstaged(staged, fd);
}

int ward_backing_searchable(int dirfd)
{
	return ward_backing_access(dirfd, X_OK);
}

int ward_backing_mkdir(int dirfd, const char *name, mode_t mode)
{
	if (staged) {
		const int r = ward_review_make(staged, dirfd, name, S_IFDIR | (mode & 07777), NULL);

		if (r != WARD_REVIEW_LOWER)
			return r;
	}
	return mkdirat(dirfd, name, mode & 07777) < 0 ? -errno : 0;
}

int ward_backing_mknod(int dirfd, const char *name, mode_t mode)
{
	if (staged) {
		const int r = ward_review_make(staged, dirfd, name, mode, NULL);

		if (r != WARD_REVIEW_LOWER)
			return r;
	}
	return mknodat(dirfd, name, mode & (S_IFMT | 07777), 0) < 0 ? -errno : 0;
}

int ward_backing_symlink(const char *target, int dirfd, const char *name)
{
	if (staged) {
		const int r = ward_review_make(staged, dirfd, name, S_IFLNK | 0777, target);

		if (r != WARD_REVIEW_LOWER)
			return r;
	}
	return symlinkat(target, dirfd, name) < 0 ? -errno : 0;
}

int ward_backing_unlink(int dirfd, const char *name, bool dir)
{
	if (staged) {
		const int r = ward_review_unlink(staged, dirfd, name, dir);

		if (r != WARD_REVIEW_LOWER)
			return r;
	}
	return unlinkat(dirfd, name, dir ? AT_REMOVEDIR : 0) < 0 ? -errno : 0;
}

int ward_backing_there(int dirfd, const char *name)
{
	if (staged) {
		const int r = ward_review_there(staged, dirfd, name);

		if (r != WARD_REVIEW_LOWER)
			return r;
	}
	/* To itself, without replacing: EEXIST, once the directory's lock was had. */
	if (syscall(SYS_renameat2, dirfd, name, dirfd, name, RENAME_NOREPLACE) == 0)
		return 0;
	return errno == EEXIST ? 0 : -errno;
}

int ward_backing_rename(int dirfd, const char *name, int dirfd2, const char *name2, unsigned flags)
{
	if (staged) {
		const int r = ward_review_rename(staged, dirfd, name, dirfd2, name2, flags);

		if (r != WARD_REVIEW_LOWER)
			return r;
	}
	/* The raw call: glibc's wrapper takes renameat(2) where flags are 0. */
	return syscall(SYS_renameat2, dirfd, name, dirfd2, name2, flags) < 0 ? -errno : 0;
}

int ward_backing_link(int fd, int dirfd, const char *name)
{
	char path[WARD_BACKING_FD_PATH_MAX];

	if (staged) {
		const int r = ward_review_link(staged, fd, dirfd, name);

		if (r != WARD_REVIEW_LOWER)
			return r;
	}
	/* Through the descriptor: what was checked is what gets the name. */
	ward_backing_fd_path(fd, path);
	return linkat(AT_FDCWD, path, dirfd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

ssize_t ward_backing_readlink(int fd, char *buf, size_t size)
{
	ssize_t n = readlinkat(fd, "", buf, size);

	return n < 0 ? -errno : n;
}

int ward_backing_chmod(int fd, mode_t mode)
{
	ward_cleanup_fd int keep = -1;
	char path[WARD_BACKING_FD_PATH_MAX];

	fd = changed_by(fd, WARD_REVIEW_OWNER, &keep);
	if (fd < 0)
		return fd;
	ward_backing_fd_path(fd, path);
	return fchmodat(AT_FDCWD, path, mode & 07777, 0) < 0 ? -errno : 0;
}

int ward_backing_truncate(int fd, off_t size, bool times)
{
	char path[WARD_BACKING_FD_PATH_MAX];

	if (times)
		return ftruncate(fd, size) < 0 ? -errno : 0;
	ward_backing_fd_path(fd, path);
	return truncate(path, size) < 0 ? -errno : 0;
}

int ward_backing_chown(int fd, uid_t uid, gid_t gid)
{
	ward_cleanup_fd int keep = -1;

	fd = changed_by(fd, WARD_REVIEW_OWNER, &keep);
	if (fd < 0)
		return fd;
	return fchownat(fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

int ward_backing_utimens(int fd, const struct timespec times[2])
{
	ward_cleanup_fd int keep = -1;

	fd = changed_by(fd, times_need(times), &keep);
	if (fd < 0)
		return fd;
	/* The raw call: glibc refuses the empty path of AT_EMPTY_PATH (Linux 5.8). */
	return syscall(SYS_utimensat, fd, "", times, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

ssize_t ward_backing_getxattr(int fd, const char *name, void *buf, size_t size)
{
	ward_cleanup_fd int keep = -1;
	char path[WARD_BACKING_FD_PATH_MAX];
	ssize_t n;

	fd = seen_by(fd, &keep);
	if (fd < 0)
		return fd;
	ward_backing_fd_path(fd, path);
	n = getxattr(path, name, buf, size);
	return n < 0 ? -errno : n;
}

ssize_t ward_backing_listxattr(int fd, char *buf, size_t size)
{
	ward_cleanup_fd int keep = -1;
	char path[WARD_BACKING_FD_PATH_MAX];
	ssize_t n;

	fd = seen_by(fd, &keep);
	if (fd < 0)
		return fd;
	ward_backing_fd_path(fd, path);
	n = listxattr(path, buf, size);
	return n < 0 ? -errno : n;
}

int ward_backing_setxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
	ward_cleanup_fd int keep = -1;
	char path[WARD_BACKING_FD_PATH_MAX];

	fd = changed_by(fd, xattr_need(name), &keep);
	if (fd < 0)
		return fd;
	ward_backing_fd_path(fd, path);
	return setxattr(path, name, value, size, flags) < 0 ? -errno : 0;
}

int ward_backing_removexattr(int fd, const char *name)
{
	ward_cleanup_fd int keep = -1;
	char path[WARD_BACKING_FD_PATH_MAX];

	fd = changed_by(fd, xattr_need(name), &keep);
	if (fd < 0)
		return fd;
	ward_backing_fd_path(fd, path);
	return removexattr(path, name) < 0 ? -errno : 0;
}
