/* SPDX-License-Identifier: Apache-2.0 */
/* Has an engine of the host write an image as an archive. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"

/*
 * Runs docker, podman or skopeo, from a directory where the system keeps programs; engine NULL: the
 * first of docker and podman that is there and has the image. skopeo asks a registry, so it is
 * never taken unasked. name: a reference (policy/image_name.h). *ret_fd: the archive, in a file
 * without a name below dir, the caller's.
 */
int ward_image_save(const char *engine, const char *name, const char *dir, int *ret_fd,
	struct ward_err *err) ward_must_check;
/* Appends " docker podman": those of the three that are on this host. */
struct ward_buf;
void ward_image_engines(struct ward_buf *b);
/* Is this one of the three? */
bool ward_image_engine(const char *word);
