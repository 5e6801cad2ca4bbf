/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors of files whose last name was removed here: a process that holds such a file by O_PATH
 * alone still reaches it. Each is closed when its node ends, which is at once where nobody holds
 * the file; past WARD_REMOVED_MAX the oldest is.
 */
#pragma once

#include "fs/node/node.h"

#define WARD_REMOVED_MAX 256U

struct ward_removed {
	struct ward_node *node; /* NULL: none */
	int fd;			/* O_PATH */
};

/* Locked: n is about to go; is it the only name of a file, so that a descriptor is wanted? */
bool ward_removed_wanted(const struct ward_name *n);
/* Locked: fd (taken) is what stands there; ward_removed_wanted(). */
void ward_removed_keep(struct ward_nodes *nodes, const struct ward_name *n, int fd);
/* A copy of the node's, the caller's; -ESTALE: none is kept. */
int ward_removed_fd(struct ward_nodes *nodes, const struct ward_node *node) ward_must_check;
/* Locked: closes the node's. */
void ward_removed_drop(struct ward_nodes *nodes, struct ward_node *node);
