/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a file: copied, compared, digested. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "enforcer/review/review.h"

/*
 * Copies the file at name in the directory dir (borrowed) to the new name to in to_dir, with
 * permissions, times, attributes of `user` and its ACL. type: S_IFREG or S_IFLNK, else -EOPNOTSUPP.
 * base: what it is to stand in for, whose owner and group it gets; NULL: the caller's. -EEXIST: to
 * is there. -EPERM: the owner or the group cannot be kept.
 */
int ward_content_copy(int dir, const char *name, mode_t type, int to_dir, const char *to,
	const struct ward_review_base *base) ward_must_check;
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
