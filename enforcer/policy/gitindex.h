/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Git's index (gitformat-index(5), versions 2 to 4): the names of the files that git tracks. Pure:
 * opens nothing, runs nothing. A program of the host must not be asked in a repository that an
 * agent wrote: `git ls-files` may fetch what a sparse index lacks, and so runs what the
 * repository's configuration names.
 *
 *	"DIRC", version, number of entries (32 bits, big-endian, as all numbers)
 *	an entry: 40 bytes of stat(2) with the mode at 24, the object's digest, 16 bits of flags
 *(the low 12: the name's length), from version 3 on 16 more if bit 14 is set; then the name:
 *		versions 2 and 3 pad to 8 bytes with 1 to 8 NULs; version 4 says how many bytes of
 *the name before it to drop, then what follows and NUL an extension: 4 letters, 32 bits of size,
 *contents. "link": a split index: the digest that names sharedindex.DIGEST beside it, a bitmap of
 *entries that were deleted there, one of those that were replaced the digest of all before it
 *
 * Digests have 20 bytes (SHA-1), or 32 with extensions.objectFormat = sha256.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

#define WARD_GIT_DIGEST_MAX 32U

/*
 * One entry, in the index's order. name: borrowed, NUL-terminated, relative to the work tree; ""
 * for an entry of a split index that stands in place of one of the shared index. What fn returns,
 * if not 0, ends the reading. digest: of the object, digest_len bytes, borrowed.
 */
typedef int (*ward_git_index_fn)(
	void *user, uint32_t mode, const unsigned char *digest, const char *name);

/* The extension "link". */
struct ward_git_link {
	bool there;
	unsigned char digest[WARD_GIT_DIGEST_MAX]; /* all 0: there is no shared index */
	const unsigned char *deleted; /* a bitmap in the text that was read; NULL: none */
	size_t deleted_len;	      /* of it and all behind it in the extension */
};

/*
 * Calls fn for each entry. digest_len: 20 or 32. *ret_link says whether the names go on in a shared
 * index. -EBADMSG: no index, a damaged one, a name of PATH_MAX
 * bytes or more, or an extension that must be understood and is not;
 * -ENOMEM; or what fn returned.
 */
int ward_git_index_read(const unsigned char *text, size_t len, unsigned digest_len,
	ward_git_index_fn fn, void *user, struct ward_git_link *ret_link) ward_must_check;

/*
 * A bitmap as git writes it (EWAH: gitformat-bitmap(5), appendix A): sets ret[i] for each bit i
 * that is 1, of n. A bit that lies beyond n is ignored. -EBADMSG.
 */
int ward_git_bitmap_read(
	const unsigned char *text, size_t len, bool *ret, size_t n) ward_must_check;
