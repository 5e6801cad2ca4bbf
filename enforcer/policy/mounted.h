/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories of a tree that is searched, where something may be mounted in it. The server of a
 * mount may be gone, and an open of it then waits forever. Where the way to a directory crosses
 * no mount, opening it costs one system call. Else a thread opens it (base/patient.h).
 */
#pragma once

#include <stdint.h>

/* Where the last mount was found. */
struct ward_mounted {
	char *path; /* relative to the tree, owned; NULL: none so far */
	int fd;	    /* its directory */
};
#define WARD_MOUNTED_INIT ((struct ward_mounted){.path = NULL, .fd = -1})
void ward_mounted_clear(struct ward_mounted *m);

/*
 * Opens the directory at path, relative to tree ("" for itself), to be read. No symbolic link is
 * followed, and path cannot lead out of the tree. m: NULL: no mount is kept in mind. The
 * descriptor, the caller's; -ETIMEDOUT: what is mounted on the way does not answer; another
 * negative errno.
 */
int ward_mounted_open(struct ward_mounted *m, int tree, const char *path);

/* The same with any flags of open(2), and with resolve of openat2(2) in addition; waits. */
int ward_mounted_open_in(int tree, const char *path, uint64_t flags, uint64_t resolve);
