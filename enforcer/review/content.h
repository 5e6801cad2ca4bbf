/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a file: copied, compared, digested. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "enforcer/review/review.h"

/*
 * Opens it to be read, whatever its type; the caller's. A look that changed the time of access
 * would have to bring that to disk, for each file. Only the owner may leave that time as it is:
 * without the right to that, it changes.
 */
int ward_content_open(int dir, const char *name) ward_must_check;
/*
 * Copies the file at name in the directory dir (borrowed) to the new name to in to_dir, with
 * permissions, times, attributes of `user` and its ACL. type: S_IFREG or S_IFLNK, else -EOPNOTSUPP.
 * base: what it is to stand in for, whose owner and group it gets; NULL: the caller's. -EEXIST: to
 * is there. -EPERM: the owner or the group cannot be kept.
 */
int ward_content_copy(int dir, const char *name, mode_t type, int to_dir, const char *to,
	const struct ward_review_base *base) ward_must_check;
/* What a file has in it, and beside that. */
struct ward_content_digests {
	char content[WARD_REVIEW_DIGEST_SIZE];
	/* What ward_content_copy_attributes() says. The copy has them, and what its directory
	 * gives. */
	char attributes[WARD_REVIEW_DIGEST_SIZE];
};

/* The same; ret (NULL: nothing): of the copy, as it can be read there. */
int ward_content_copy_digested(int dir, const char *name, mode_t type, int to_dir, const char *to,
	const struct ward_review_base *base, struct ward_content_digests *ret) ward_must_check;
/*
 * The same of a regular file, where both directories are of one mount: the copy is made without a
 * name, with what files get in the directory as_in, and is complete when it has its name.
 * -EOPNOTSUPP: it cannot be made so, and nothing was.
 */
int ward_content_copy_unnamed(int dir, const char *name, int as_in, int to_dir, const char *to,
	const struct ward_review_base *base, struct ward_content_digests *ret) ward_must_check;
/*
 * Makes the new directory to in to_dir, empty, with attributes of `user`, the ACLs and the default
 * ACL of the directory name in dir, as far as it can be read, and owner and permissions of base.
 */
int ward_content_copy_dir(int dir, const char *name, int to_dir, const char *to,
	const struct ward_review_base *base) ward_must_check;
/*
 * These attributes alone, between two open files or directories (to -1: nowhere). ret: "" where
 * there are none, else SHA-256 of those that were copied, sorted: name, NUL, size, value.
 */
int ward_content_copy_attributes(
	int from, int to, char ret[WARD_REVIEW_DIGEST_SIZE]) ward_must_check;
/* `to` has the attributes of `from`, and none beside them. */
int ward_content_set_attributes(int from, int to) ward_must_check;
/* 1: both names have this type and the same content; 0: not; or a negative errno. */
int ward_content_same(
	int dir, const char *name, int dir2, const char *name2, mode_t type) ward_must_check;
/* Files up to this size, in bytes, are digested as they are. Nobody waits for terabytes. */
#define WARD_CONTENT_WHOLE_MAX ((off_t)1 << 30)

/*
 * SHA-256 of the content of a regular file, of the text of a link, in hexadecimal; "-" for any
 * other type. Of a larger file, holes or not, SHA-512/256 over its size, and the place, the length
 * and the bytes of each piece of 64 KiB that is not all zeros (numbers: 8 bytes, little endian).
 * -ESTALE: what is there is of another type.
 */
int ward_content_digest(
	int dir, const char *name, mode_t type, char ret[WARD_REVIEW_DIGEST_SIZE]) ward_must_check;
/* Both, of a directory its attributes: content is "-", and one that nobody may read has none. */
int ward_content_digest_all(
	int dir, const char *name, mode_t type, struct ward_content_digests *ret) ward_must_check;
