/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands of one container know of each other: a directory beneath WARD_OCI_PLACES, named
 * after the runtime's root and the id. It has a file `session`, {"id", "session", "runtime"}, from
 * before the container is made until the session has ended. The keeper holds a lock on the
 * directory.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"
#include "enforcer/oci/arguments.h"

/* The directory's path, whether it exists or not; the caller's. */
int ward_oci_place_path(
	const struct ward_oci_args *a, char **ret, struct ward_err *err) ward_must_check;
/* Makes it and locks it; what a killed keeper left there goes. -EBUSY: the container exists. */
int ward_oci_place_make(const char *path, int *ret_lock, struct ward_err *err) ward_must_check;
/* Writes and reads the name of the session. -ENOENT: this container has no session. */
int ward_oci_place_write(const char *path, const char *id, const char *session,
	struct ward_err *err) ward_must_check;
int ward_oci_place_read(const char *path, char **ret_session, struct ward_err *err) ward_must_check;
void ward_oci_place_remove(const char *path);
/* Removes it if nobody locks it: who had it was killed. */
void ward_oci_place_sweep(const char *path);
