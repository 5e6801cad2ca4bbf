/* SPDX-License-Identifier: Apache-2.0 */
/* A backing of single files of the host: a tmpfs that no path leads to, with a mount for each. */
#pragma once

#include "enforcer/base/err.h"
#include "enforcer/session/owner/identity.h"

struct ward_mounted_file {
	const char *at;	  /* absolute: where in the backing */
	const char *host; /* absolute, without symbolic links */
	dev_t dev;	  /* with ino: what has to be there */
	ino_t ino;
};

/*
 * An O_PATH fd of its root. Files are opened with the owner's rights, by a child in a mount
 * namespace of its own; all of it is read-only and gone with the last descriptor. A path that is
 * given twice counts once. -ESTALE names a file that is not the one; what the system calls fail
 * with.
 */
int ward_mounted_files(const struct ward_identity *id, const struct ward_mounted_file *v, size_t n,
	int *ret_fd, struct ward_err *err) ward_must_check;
