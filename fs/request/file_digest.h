/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 of files for the trail ([audit] hash). A digest costs a pass over the file, so it is made
 * on a thread of the pool alone, of at most WARD_DIGEST_MAX bytes, and kept at the node with the
 * size and times that the file had: as long as these are the same, and were old enough to tell a
 * later change by, it is not made again. A change through a mapping that lives on after the close
 * of its handle, or within one tick of the clock of the backing's file system, is not seen.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "fs/handle/handle.h"

/* Bytes of the largest file that is read: about a second of one CPU with SHA instructions. */
#define WARD_DIGEST_MAX (UINT64_C(1) << 30)

/* Does the policy ask for a digest when a file is opened so? */
bool ward_digest_wanted(const struct ward_fs *fs, int acc);

/*
 * The digest of what the file of h contains now, kept from earlier or from reading the file.
 * ret->why says why there is no digest. `size` is known in any case, unless the file could not be
 * asked.
 */
void ward_digest_make(
	struct ward_fs_tree *tree, const struct ward_handle *h, struct ward_digest *ret);
