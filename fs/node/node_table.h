/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that are known in one directory, by a hash of the name. Each directory has a table of
 * its own: who lists a directory, or looks at one name of it after the other, stays within a few
 * pages of memory, however much else is known. Everything is locked (nodes->lock).
 */
#pragma once

#include "fs/node/node.h"

/* n->parent, n->text and n->len are set; no such name is there. The parent is a directory. */
void ward_node_table_add(struct ward_nodes *nodes, struct ward_name *n);
/* n is there. */
void ward_node_table_take(struct ward_nodes *nodes, struct ward_name *n);
/*
 * All names of dir, one after the other: begins with *io_at = 0 and n = NULL, and is given the name
 * that it returned last. NULL: no more. No name comes or goes meanwhile.
 */
struct ward_name *ward_node_table_next(
	const struct ward_dir *dir, const struct ward_name *n, size_t *io_at);
/* Any name of dir, NULL: there is none. *io_at is 0 at first; none comes between two calls. */
struct ward_name *ward_node_table_any(const struct ward_dir *dir, size_t *io_at);
