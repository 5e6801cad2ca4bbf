/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store, private to this folder:
 *
 *   images/.lock          held by a process that adds or removes
 *   images/.fetching      held by a run that fetches an image
 *   images/.engine/       what its engine has for a home; empty
 *   images/.new-PID/      being unpacked; of nobody alive while the lock is free
 *   images/HEX/rootfs/    an image, by its digest; never changed
 *   images/HEX/image.json what it says of itself; locked shared by each session that uses it
 *   images/refs/HEX       by the SHA-256 of a name: name, digest, and for a path which file it was
 */
#pragma once

#include <jansson.h>
#include <sys/stat.h>

#include "enforcer/base/buf.h"
#include "enforcer/image/image.h"

#define WARD_IMAGE_ROOT "rootfs"
#define WARD_IMAGE_ABOUT "image.json"
#define WARD_IMAGE_REFS "refs"
#define WARD_IMAGE_NEW ".new-"
#define WARD_IMAGE_ABOUT_MAX ((size_t)1 << 20)

/* STATE/images; made, where make says so. -ENOENT without text: there is none. */
int ward_image_store_open(
	const char *state, bool make, int *ret_fd, struct ward_err *err) ward_must_check;
#define WARD_IMAGE_LOCK ".lock"
#define WARD_IMAGE_FETCHING ".fetching"
/*
 * Waits for a process that has the lock of this name. *ret_fd: the lock, the caller's. wait false:
 * -EAGAIN instead.
 */
int ward_image_store_lock(
	int store, const char *name, bool wait, int *ret_fd, struct ward_err *err) ward_must_check;
/* A file of ours in one piece: written beside, then renamed. */
int ward_image_store_write(
	int dir, const char *name, const char *text, struct ward_err *err) ward_must_check;
int ward_image_store_read(
	int dir, const char *name, json_t **ret, struct ward_err *err) ward_must_check;
/* The file name of a name's ref. */
void ward_image_ref_file(const char *name, char ret[65]);
/* Of a path: which file or layout is there. NULL: nothing that was unpacked could be. */
json_t *ward_image_source(int fd);
/* Is what wardfs-image says of an image of this name valid? -EBADMSG names the field that is not.
 */
int ward_image_about_check(
	const json_t *about, const char *name, struct ward_err *err) ward_must_check;
/* What images/HEX says; name is copied, and may be NULL. */
int ward_image_load(int store, const char *digest, const char *name, struct ward_image *ret,
	struct ward_err *err) ward_must_check;
