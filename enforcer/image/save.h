/* SPDX-License-Identifier: Apache-2.0 */
/* Has an engine of the host write an image as an archive. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "enforcer/base/err.h"

struct ward_image_save {
	const char *name;   /* a reference (policy/image_name.h) */
	const char *engine; /* docker, podman or skopeo; NULL: the first of docker and podman that
			     * is there and has the image */
	bool registry;	    /* engine NULL: then skopeo, which asks a registry */
	const char *dir;    /* where the archive is written, without a name */
	/* An empty directory, in place of the caller's home and configuration; NULL: these. */
	const char *alone;
	uint64_t time_ns; /* for all of them together; WARD_UNLIMITED: whoever typed it can
			   * interrupt it */
};

/*
 * Runs one of them, from a directory where the system keeps programs. *ret_fd: the archive, the
 * caller's. *ret_engine: the word of the one that had it, static. -ETIMEDOUT: the time is over,
 * and the engine was killed.
 */
int ward_image_save(const struct ward_image_save *s, int *ret_fd, const char **ret_engine,
	struct ward_err *err) ward_must_check;
/* Appends " docker podman": those that are on this host. registry: of the three. */
struct ward_buf;
void ward_image_engines(bool registry, struct ward_buf *b);
/* Is this one of the three? */
bool ward_image_engine(const char *word);

/*
 * Calls fn for each place that decides what the engines of an s with `alone` do: the programs, and
 * where the caller's environment leads them. variable: the one that names it; NULL: a program.
 * Ends if fn returns something else than 0, and returns that.
 */
typedef int (*ward_image_place_fn)(
	void *user, const char *variable, const char *path, struct ward_err *err);
int ward_image_places(
	bool registry, ward_image_place_fn fn, void *user, struct ward_err *err) ward_must_check;
