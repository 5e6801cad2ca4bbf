/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trail as one text, in however many segments it lies (segments.h), plain or compressed. Offsets
 * count in that text: they stay what they are when a segment is compressed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

struct ward_log;

/* All segments in a directory. -ENOENT: none. */
int ward_log_open(int dir_fd, struct ward_log **ret) ward_must_check;
/* One file, plain or compressed; fd (read-only or more) is borrowed. */
int ward_log_open_file(int fd, struct ward_log **ret) ward_must_check;
/* n >= 1 files that are segments, by rising number; their descriptors are borrowed. */
struct ward_log_file;
int ward_log_open_files(
	const struct ward_log_file *files, size_t n, struct ward_log **ret) ward_must_check;
void ward_log_close(struct ward_log *l);
/* For ward_cleanup(). */
void ward_log_closep(struct ward_log **l);

/*
 * As pread(2): up to n bytes of the text, 0 where it ends now. Finds segments that were added since
 * the last call.
 */
ssize_t ward_log_read(struct ward_log *l, void *buf, size_t n, uint64_t at) ward_must_check;
/* Bytes of the text, now. */
int ward_log_size(struct ward_log *l, uint64_t *ret) ward_must_check;
/* True while a writer (or its supervisor) has the trail. */
bool ward_log_has_writer(struct ward_log *l);
/*
 * In which segment the byte at *at of the text stands: its number, and *at becomes the offset in
 * the text of that segment. 0 of a single file, whose text it is.
 */
unsigned ward_log_place(const struct ward_log *l, uint64_t *at);
/* The number of the first missing segment before an existing one; 0: none. */
unsigned ward_log_missing(const struct ward_log *l);
/*
 * The number of the first compressed segment whose file ends within a frame, or is empty. 0: none,
 * or one that was cut between two frames.
 */
unsigned ward_log_cut(const struct ward_log *l);

/* The files: segment i, its descriptor borrowed. -ENOENT: there are no more. */
struct ward_log_file {
	unsigned number;
	bool packed;
	int fd;
	uint64_t from, size; /* of its text in that of the log, where that was read */
};
int ward_log_file(struct ward_log *l, size_t i, struct ward_log_file *ret) ward_must_check;
