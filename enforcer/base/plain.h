/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens what a person named, where an agent may have put a symbolic link in the way. Links of
 * root's in /, /usr, /var and /home are followed, if these are root's: /home may be a link itself.
 * No other is: a session of root's makes links that are root's, too.
 */
#pragma once

#include "enforcer/base/err.h"

/*
 * The directory at path, O_PATH and close-on-exec. -ELOOP: a link is in the way; the error names it
 * and its target. *ret_fd is the caller's.
 */
int ward_plain_dir(const char *path, int *ret_fd, struct ward_err *err) ward_must_check;

/*
 * The same of the directory that the last name of path stands in. *ret_name is that name, in path;
 * what it is has not been looked at.
 */
int ward_plain_above(
	const char *path, int *ret_fd, const char **ret_name, struct ward_err *err) ward_must_check;
