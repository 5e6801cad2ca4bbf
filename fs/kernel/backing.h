/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backing directory: the one place where files of it are opened or named to the kernel.
 *
 * Every name is one component below a directory's descriptor, never followed if it is a symbolic
 * link (openat2(2): BENEATH, NO_MAGICLINKS, NO_XDEV). The component "" stands for the directory
 * itself. What lies on another file system or mount than the tree's root is refused with -EXDEV,
 * except for single files (struct ward_fs_tree, `files`), each a mount of its own.
 */
#pragma once

#include <linux/stat.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "enforcer/base/err.h"
#include "fs/base/backing_file.h"
#include "fs/base/fs.h"

/*
 * Takes up the root of a tree: fills dev, mnt_id and type from root_fd. What stat fails with.
 */
int ward_backing_init(struct ward_fs_tree *tree, struct ward_err *err) ward_must_check;

/*
 * Review sessions: all functions here ask the staged layer (review/review.h) before the backing.
 * Once, before anything is served.
 */
struct ward_review;
void ward_backing_stage(struct ward_review *rv);
/* NULL: nothing is staged. */
struct ward_review *ward_backing_staged(void);

/* Metadata of name below dirfd, of the link if it is one. -EXDEV: not of this tree. */
int ward_backing_stat(const struct ward_fs_tree *tree, int dirfd, const char *name,
	struct ward_file *ret) ward_must_check;
/* The same of an open file. */
int ward_backing_fstat(int fd, struct ward_file *ret) ward_must_check;

/*
 * Opens name below dirfd; O_CLOEXEC, O_NOFOLLOW, O_NOCTTY and O_NONBLOCK are added, O_TRUNC is
 * refused (-EINVAL: the caller truncates after it knows what it opened). *ret_fd is the caller's.
 */
int ward_backing_open(
	int dirfd, const char *name, int flags, mode_t mode, int *ret_fd) ward_must_check;
/* The same of what a tree shows, for reading or O_PATH: also a single file. */
int ward_backing_open_shown(const struct ward_fs_tree *tree, int dirfd, const char *name, int flags,
	int *ret_fd) ward_must_check;
/* Opens the file of fd once more: a new open file description, permission checked again. */
int ward_backing_reopen(int fd, int flags, int *ret_fd) ward_must_check;

/* The file of fd, whatever is staged for it: for locks. */
int ward_backing_reopen_itself(int fd, int flags, int *ret_fd) ward_must_check;

/* 0 if the daemon's present identity may search the directory dirfd, -EACCES if not. */
int ward_backing_searchable(int dirfd) ward_must_check;
/* Names that were staged survive a power cut from then on; where nothing is staged, nothing to do.
 */
int ward_backing_sync(void) ward_must_check;
/* Is fd's file the host's, which may yet be staged? Then no backing id is for it. */
bool ward_backing_may_stage(int fd);
/* access(2) of an O_PATH descriptor; mask of R_OK, W_OK, X_OK. */
int ward_backing_access(int fd, int mask) ward_must_check;

/* --- changes; all return 0 or a negative errno --- */
int ward_backing_mkdir(int dirfd, const char *name, mode_t mode) ward_must_check;
int ward_backing_mknod(int dirfd, const char *name, mode_t mode) ward_must_check;
int ward_backing_symlink(const char *target, int dirfd, const char *name) ward_must_check;
int ward_backing_unlink(int dirfd, const char *name, bool dir) ward_must_check;
/*
 * 0: the name is there, and nobody is about to remove it. A removed name is found until the caller
 * of unlink(2) is done, its link no longer counts by then; so this waits for him, and changes
 * nothing.
 */
int ward_backing_there(int dirfd, const char *name) ward_must_check;
int ward_backing_rename(
	int dirfd, const char *name, int dirfd2, const char *name2, unsigned flags) ward_must_check;
/* A further name for the file of the O_PATH descriptor fd. */
int ward_backing_link(int fd, int dirfd, const char *name) ward_must_check;
/* The n bytes of the target of the link fd (O_PATH) into buf; the length or a negative errno. */
ssize_t ward_backing_readlink(int fd, char *buf, size_t size) ward_must_check;
int ward_backing_chmod(int fd, mode_t mode) ward_must_check;
int ward_backing_chown(int fd, uid_t uid, gid_t gid) ward_must_check;
/*
 * fd is open for writing. times: those of the file change also where it has that size already, as
 * by ftruncate(2); else what truncate(2) does there, which on xfs and btrfs is nothing.
 */
int ward_backing_truncate(int fd, off_t size, bool times) ward_must_check;
int ward_backing_utimens(int fd, const struct timespec times[2]) ward_must_check;

/* Extended attributes of an O_PATH descriptor; lengths or a negative errno, as the system calls. */
ssize_t ward_backing_getxattr(int fd, const char *name, void *buf, size_t size) ward_must_check;
ssize_t ward_backing_listxattr(int fd, char *buf, size_t size) ward_must_check;
int ward_backing_setxattr(
	int fd, const char *name, const void *value, size_t size, int flags) ward_must_check;
int ward_backing_removexattr(int fd, const char *name) ward_must_check;

/* "/proc/self/fd/" and a number: names the open file fd for calls that take paths only. */
#define WARD_BACKING_FD_PATH_MAX 40
void ward_backing_fd_path(int fd, char ret_path[WARD_BACKING_FD_PATH_MAX]);
