/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that the kernel reads and writes itself (passthrough), by handles whose rights a new policy
 * has taken: no message takes such a handle back. It ends with its inode, which goes bad in the
 * kernel when a GETATTR is answered with attributes that no inode has (fuse_do_getattr(): EIO from
 * then on). So the node gets another number, under which the kernel makes a new inode for it, and a
 * request for the attributes of the old number gets such an answer. Nothing makes the kernel ask:
 * the supervisor does (session/reload/revoke.h).
 */
#pragma once

#include "fs/node/node.h"

/*
 * Locked; no request is under way. Its handles do not count for how new ones are read and written:
 * they are another inode's. Without memory the node keeps its number and cannot be used any more.
 */
void ward_retire(struct ward_nodes *nodes, struct ward_node *node);

/* The kernel asks for attributes, or forgets, by this number: true if its inode must go bad. The
 * kernel has learned it then. */
bool ward_retire_told(struct ward_nodes *nodes, uint64_t number);

/* Up to max numbers for which the kernel has not asked yet. Returns how many; *ret_all: of all. */
size_t ward_retire_list(struct ward_nodes *nodes, uint64_t *ret, size_t max, size_t *ret_all);
