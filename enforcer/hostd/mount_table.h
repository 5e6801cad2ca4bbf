/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts on which files may be registered: those of this mount namespace whose file system is
 * on a list. Looked up by the mount's number alone, because stat(2) of a file whose file system is
 * another user's program waits for that program.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

struct ward_mount_table {
	int fd; /* proc_pid_mountinfo(5) */
	uint32_t *ids;
	size_t n;
	bool read; /* since the table changed */
};

/* Opens /proc/self/mountinfo. Negative errno. */
int ward_mount_table_open(struct ward_mount_table *ret) ward_must_check;
/* Whether files of this mount may be registered; false as well where the table cannot be read. */
bool ward_mount_table_has(struct ward_mount_table *t, uint32_t id);
