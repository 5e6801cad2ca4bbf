/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a caller gave as 0, 1, 2, and what of that a command may get itself.
 *
 * A descriptor gives more than reading and writing. Its holder may change the file's mode, its
 * attributes, its length and its locks (fchmod(2), fsetxattr(2), ftruncate(2), fcntl(2), ioctl(2)),
 * and read or write it where it was not meant (pread(2), mmap(2), copy_file_range(2)). A socket
 * stays in the network namespace that it was made in, and a command may connect it to something
 * else. No flag of a descriptor takes that away. So a command gets a pipe, and wardfs moves the
 * bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "enforcer/base/err.h"

enum ward_given {
	/* A file, a named pipe, a device, an eventfd(2): everything that has no other kind here. */
	WARD_GIVEN_FILE = 0,
	WARD_GIVEN_SOCKET,
	/* A pipe without a name, or /dev/null and the other devices that are memory alone. */
	WARD_GIVEN_PLAIN,
	WARD_GIVEN_TERMINAL,
};

/*
 * -EINVAL for what nobody gets: a directory, which leads to the whole file system that it lies in
 * (fchdir(2), openat(2)); a disk; an O_PATH descriptor, which stands for either; a socket that
 * listens, which cannot be read. name is for the message.
 */
int ward_given_look(
	int fd, const char *name, enum ward_given *ret, struct ward_err *err) ward_must_check;

/* What goes through pipes: a set. */
enum ward_given_apart {
	WARD_APART_FILES = 1,
	WARD_APART_SOCKETS = 2,
};
#define WARD_APART_ALL 3U

/*
 * For a mode with these guarantees (a set of WARD_GUARANTEE_BIT()). Files, where the host's files
 * are out of reach; sockets there, too, and where there is a network of the session's own.
 */
unsigned ward_given_apart(uint32_t guarantees, bool own_network);
/* Does what was given as this go through a pipe, with this set? */
bool ward_given_is_apart(enum ward_given g, unsigned apart);

/*
 * A pipe without a name, opened again: flags of a descriptor (O_NONBLOCK, O_ASYNC and its owner)
 * are its description's, which the caller's programs share. *ret is the caller's; -1: not such a
 * pipe. -EACCES, -EPERM: another user's.
 */
int ward_given_own_pipe(int fd, int *ret) ward_must_check;
