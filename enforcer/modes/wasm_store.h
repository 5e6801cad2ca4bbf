/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that were made of modules, in the caller's state directory, which no session shows.
 * The time of a file's last change is the time of its last use. A lock on the directory (flock(2))
 * keeps an object that a start has just found from being removed by another one.
 */
#pragma once

#include <nettle/sha2.h>
#include <stddef.h>

#include "enforcer/base/err.h"

/*
 * Adds to the digest what tells this file, of the host, from another version of it: its path and
 * inode, its size, and the last change of either. A negative errno: stat(2) failed; then nothing
 * was added.
 */
int ward_wasm_store_count(struct sha256_ctx *digest, const char *path) ward_must_check;

/* The directory of the object at this path, made if need be. The descriptor, or a negative errno.
 */
int ward_wasm_store_open(const char *object, struct ward_err *err) ward_must_check;

/* 1: it is there, and counts as used now; 0: it is not; or a negative errno. */
int ward_wasm_store_use(int store, const char *object) ward_must_check;

/*
 * Puts what the file `from` holds there, at most max bytes, in place of what has that name. Then
 * removes objects: all that were not used for 30 days, and those used longest ago until the rest
 * has at most 1 GiB. One that was used within the hour stays, for its session may be starting.
 */
int ward_wasm_store_keep(
	int store, const char *object, int from, size_t max, struct ward_err *err) ward_must_check;
