/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A regular file that is read or written by a thread of its own.
 *
 * poll(2) calls each regular file ready, and read(2) and write(2) wait for its server: a
 * disk, a server that went away, a file system in user space that stopped. Nobody can end that wait
 * but who serves the file. So one thread a file waits, and the loop goes on.
 *
 * One read or write is under way at a time. Its bytes are in ward_slow_file_data(), which nobody
 * else may touch meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

struct ward_slow_file;

#define WARD_SLOW_FILE_ROOM ((size_t)64 << 10)

/* Takes fd. No thread is started yet. -ENOMEM, -EMFILE: fd is the caller's still. */
int ward_slow_file_new(int fd, struct ward_slow_file **ret) ward_must_check;
/*
 * Closes the file, by the thread, too: that may wait as well. What is under way goes on without
 * anybody to hear of it. NULL is fine.
 */
void ward_slow_file_free(struct ward_slow_file *f);

/* WARD_SLOW_FILE_ROOM bytes; borrowed. */
char *ward_slow_file_data(struct ward_slow_file *f);
/* Readable when what was begun is done; borrowed. */
int ward_slow_file_fd(const struct ward_slow_file *f);
/* Begun, and its result not taken yet? */
bool ward_slow_file_busy(const struct ward_slow_file *f);

/* Begins to read n bytes to the start of the data. -EAGAIN: no thread can be started. */
int ward_slow_file_read(struct ward_slow_file *f, size_t n) ward_must_check;
/* Begins to write the data [start..start + n), as far as the file is then no longer than max. */
int ward_slow_file_write(
	struct ward_slow_file *f, size_t start, size_t n, uint64_t max) ward_must_check;
/*
 * Takes the result of what was begun: bytes, or a negative errno; -EFBIG where max leaves no room.
 * -EINPROGRESS: it is not done yet.
 */
ssize_t ward_slow_file_done(struct ward_slow_file *f);
