/* SPDX-License-Identifier: Apache-2.0 */
/* File descriptors: whole reads and writes, sealed memory files, and what a child inherits. */
#pragma once

#include <linux/openat2.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/*
 * Closes fd, which came from another process, or through which one may have sent some that nobody
 * received. The close of such a one can take as long as its sender likes: a TCP socket with
 * SO_LINGER, a file of a server that does not answer. So a thread of its own does it, and the
 * caller does not wait. Without memory for a thread the caller closes it itself.
 */
void ward_fd_drop(int fd);

/* Writes all of data. Returns 0 or a negative errno; restarts on EINTR. */
int ward_fd_write_all(int fd, const void *data, size_t len) ward_must_check;

/* Appends all that fd gives until end of file to b, at most max bytes (-EFBIG beyond). */
int ward_fd_read_all(int fd, size_t max, struct ward_buf *b) ward_must_check;
/*
 * The same from the beginning of a file, with pread(2): for a description that several processes
 * hold, whose place in it is one for all.
 */
int ward_fd_pread_all(int fd, size_t max, struct ward_buf *b) ward_must_check;

/*
 * A memfd (close-on-exec) holding data, sealed against every change (memfd_create(2),
 * F_SEAL_SHRINK|GROW|WRITE|SEAL), positioned at 0. *ret_fd is the caller's.
 */
int ward_fd_sealed(const char *name, const void *data, size_t len, int *ret_fd,
	struct ward_err *err) ward_must_check;

/*
 * The absolute path by which the kernel names fd (/proc/self/fd, proc(5)): without symbolic links
 * at that moment, " (deleted)" behind it if it has no name any more. *ret_path is the caller's.
 * -ENOENT without a path (a pipe, a detached mount), -ENAMETOOLONG from PATH_MAX bytes on, or what
 * readlink(2) fails with.
 */
int ward_fd_path(int fd, char **ret_path) ward_must_check;

/*
 * openat2(2), once more where it says EAGAIN: with RESOLVE_BENEATH or RESOLVE_IN_ROOT a ".." is
 * given up for any rename or mount on the system meanwhile. The descriptor, the caller's, or a
 * negative errno; -EAGAIN when it never came through.
 */
int ward_fd_openat2(int at, const char *path, const struct open_how *how) ward_must_check;

/*
 * flock(2) with op (LOCK_SH or LOCK_EX) that waits for at most `seconds`, because anybody who can
 * open a file can hold its lock forever. -EBUSY: somebody held it all the time.
 */
int ward_fd_lock(int fd, int op, unsigned seconds) ward_must_check;

/*
 * Makes this process's table of descriptors large enough for n of them, while it has one thread:
 * with more, each time it grows the kernel waits for a grace period of RCU, some 10 ms, in whatever
 * call needed the descriptor (expand_fdtable() in fs/file.c). Where n is beyond RLIMIT_NOFILE or
 * memory fails it stays as it is.
 */
void ward_fd_room(int n);

/*
 * A regular file beneath the directory `at`, close-on-exec, no symbolic link; flags: O_RDONLY or
 * O_RDWR, and O_APPEND. The descriptor, the caller's, or a negative errno: -EINVAL: not a regular
 * file. Never waits: opening a fifo of that name would block until somebody writes.
 */
int ward_fd_open_regular(int at, const char *name, int flags) ward_must_check;
/* The same; makes the file with this mode if it does not exist. */
int ward_fd_make_regular(int at, const char *name, int flags, mode_t mode) ward_must_check;

/*
 * A regular file anywhere beneath the directory `at`, for reading, close-on-exec. No name on the
 * way may be a symbolic link, because somebody who writes there could lead us to any file of the
 * host. Only a regular file is opened, since that alone has effects (a device, a pipe): -EINVAL.
 * The descriptor, the caller's, or a negative errno; -ELOOP: a link. Needs /proc.
 */
int ward_fd_open_beneath(int at, const char *path) ward_must_check;

/* What ward_fd_open_named() takes. */
enum ward_fd_named {
	WARD_NAMED_FILE = 0, /* a regular file */
	/* Also a pipe, of those that a caller hands to a program by a number: /dev/stdin,
	   /dev/fd/N. */
	WARD_NAMED_PIPE,
};

/*
 * The one way to a file that a person named, or that lies where the person's files lie, for
 * reading: follows links, close-on-exec. Somebody who may write there can have put a fifo, a socket
 * or a device in its place. This function never opens such a thing, so that nothing waits for it
 * and it has no effect. The reader bounds the size (ward_fd_read_all()), because a sparse file
 * takes no disk space. *ret_fd is the caller's. 0; -EINVAL (no regular file), -EISDIR, -EAGAIN
 * (somebody holds a lease on it), or what open(2) fails with; err names path and what it is. Needs
 * /proc.
 */
int ward_fd_open_named(const char *path, enum ward_fd_named what, int *ret_fd,
	struct ward_err *err) ward_must_check;

/*
 * In a child, between fork and exec: makes the n descriptors from[] the numbers to[] (both lists
 * without repeats, from[i] == -1 leaves to[i] closed) and everything else at or above 3
 * close-on-exec. Async-signal-safe. Returns 0 or a negative errno.
 */
int ward_fd_inherit(const int *from, const int *to, size_t n) ward_must_check;
