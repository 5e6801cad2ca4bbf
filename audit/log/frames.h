/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A segment of a trail, compressed: frames of zstd (RFC 8878) one behind the other and nothing
 * else. Each stands alone, so one record costs the decompression of one frame; each tells the size
 * of its text, carries a checksum, needs no dictionary and holds whole lines. `zstd -d` reads it.
 *
 * Its text, whatever was done to it (both verifiers follow this):
 *   a frame in its form, from the next one on: its text; where it does not decode to just that,
 *     as many bytes "?", the last of them a newline
 *   the file ends within a frame: the text ends before it
 *   anything else: the text ends with "?\n"
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/* A frame contains whole lines, up to this many bytes. */
#define WARD_FRAME_TEXT ((size_t)256 << 10)
/* A reader refuses a larger frame. */
#define WARD_FRAME_TEXT_MAX ((size_t)2 << 20)
/* And no more of them in a file. */
#define WARD_FRAMES_MAX ((size_t)1 << 20)

struct ward_frame {
	uint64_t at;	   /* in the file */
	uint64_t text;	   /* in the segment's text */
	uint32_t len;	   /* of the frame; 0: the bytes are not a frame */
	uint32_t text_len; /* 1 to WARD_FRAME_TEXT_MAX */
};
struct ward_frames {
	struct ward_frame *v;
	size_t n;
	uint64_t size; /* of the whole text */
	bool cut;      /* the file ends within a frame, or has none */
};

/* True if the file begins as a frame does. */
bool ward_frames_are(int fd);
/* Finds the frames of the file by their heads; decodes nothing. ward_frames_clear(). */
int ward_frames_find(int fd, struct ward_frames *ret) ward_must_check;
void ward_frames_clear(struct ward_frames *f);
/* The text of one: text_len bytes into buf. */
int ward_frames_text(int fd, const struct ward_frame *f, char *buf) ward_must_check;

/*
 * Writes the text of `from` (a finished segment, from its beginning) as frames into `to` (empty),
 * and reads each back before the next. Both to the end and synced when it returns 0. -EBADMSG: the
 * text does not end with a whole line, or has one of more than WARD_LINE_MAX bytes: leave it.
 */
int ward_frames_pack(int from, int to) ward_must_check;
