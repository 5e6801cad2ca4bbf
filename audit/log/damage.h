/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a line that no writer writes looks like: zeros, or the place of compressed text that does
 * not decompress (frames.h).
 *
 * Zeros in a log: no record has any: what a writer puts down is text. A host that stops at the
 * wrong moment can leave a block of them, where a file has its length already and not yet what is
 * in it; anybody who can write the file can put zeros there as well. So a reader reports them, and
 * they excuse nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/log/lines.h"

/* Fewer in a row are not called a lost block: that of the smallest disks. */
#define WARD_ZEROS_MIN 512
/* Room for what is said. */
#define WARD_DAMAGE_TEXT_MAX 240

/*
 * True if a compressed segment does not decompress there, which *ret then says with the name of the
 * file; or if the line has that many zeros. *ret then says "line NUMBER is not one that the writer
 * writes", how many zeros there are and where (in the file of the segment; in the text where log is
 * a single file). Reads on behind the line while there are zeros, 64 MiB at most. False: *ret is
 * untouched.
 */
bool ward_damage_tell(struct ward_log *log, const struct ward_lines_line *line, uint64_t number,
	char ret[WARD_DAMAGE_TEXT_MAX]);
